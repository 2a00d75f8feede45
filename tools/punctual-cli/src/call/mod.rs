//! `punctual call`: calls an operation of any object, without generated code.

mod binary128;
mod conversion;
pub mod from_idl;
mod from_repository;
mod known;
mod literal;
mod named;
mod operation;
pub mod printed;
mod types;

use std::{
    fmt,
    io::{self, IsTerminal},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use punctual::{
    ExceptionOrigin, Minor, ObjectRef, Orb, OrbError, Priority, ResolveError, SchedulingClass,
    SystemException, SystemExceptionKind,
    any::{Any, Kind, TypeCode},
    dynamic::{Reply, RequestError},
};
use punctual_idl::Specification;
use punctual_report::terminal::{complain, fitted, printable};

use self::{
    conversion::Reading,
    from_idl::IdlFile,
    known::Known,
    operation::{Operation, Parameter},
};
use crate::{
    arguments::{priority, seconds, value},
    default_priority,
    tls::{self, TlsFile},
};

pub const HELP: &str = "\
Examples:
  punctual call corbaloc::radar:2809/Tracker --idl FILE.idl            what can it do?
  punctual call corbaloc::radar:2809/Tracker track 17 --idl FILE.idl
  punctual call IOR:0123 move \"{x: 1, y: -2}\" RED --idl FILE.idl
  punctual call corbaloc::radar:2809/Tracker range --idl FILE.idl      an attribute
  punctual call corbaloc::radar:2809/Tracker range 500 --idl FILE.idl  sets it
  punctual call corbaloc::radar:2809/Tracker _non_existent
  punctual call corbaname::radar#tracks/fast track 17 --idl FILE.idl   by name
  punctual call corbaloc:ssliop:1.2@radar:2810/Tracker --idl FILE.idl --tls tls.toml

Values of `in` and `inout` parameters, in order, are JSON or literals of IDL:
  long, double, …          5  -3  0xff  2.5e3       boolean      true  FALSE
  string, wstring, char    Ada  \"two words\"         enum         RED
  struct                   {\"x\": 1, \"y\": 2}  or  {1, 2}
  union                    {\"switch\": 1, \"speed\": 2.5}  or  {\"speed\": 2.5}
  sequence, array          [1, 2, 3]                fixed        \"12.50\"
  any                      5  \"text\"  {\"type\": \"Radar::Point\", \"value\": {1, 2}}
  object reference         IOR:…  corbaloc:…  corbaname:…  null
  value type               {\"id\": 5, \"next\": null}  null     boxed        \"red\"

The result is printed as JSON: the return value alone, or, with `inout` and \
`out` parameters, an object of all of them, with the return value as \"return\". \
An exception goes to standard error, with its members as JSON. A value of a \
value type that was printed before is {\"again\": N}, where N counts them from 1.

_is_a ID, _non_existent, _interface, _component and _repository_id need no IDL; \
neither does any operation of a server that has an interface repository.

Exit code: 0 the operation has returned; 1 it has raised an exception of its \
`raises` clause; 2 nothing was sent: command line, IDL or a value is wrong; \
3 a system exception: the object cannot be reached, or the call has failed.";

/// Settings of `call`.
#[derive(Args, Debug)]
pub struct Options {
    /// Reference to the object: `corbaloc:`, `corbaname:`, `file:` or `IOR:`
    #[arg(value_name = "REF")]
    reference: String,
    /// Operation or attribute; without one, all are listed
    #[arg(value_name = "OPERATION")]
    operation: Option<String>,
    /// Values of the `in` and `inout` parameters
    #[arg(value_name = "ARGS", value_parser = value)]
    arguments: Vec<String>,
    #[command(flatten)]
    idl: IdlFile,
    /// Interface to use [default: the object's own]
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Value for the operation's `context` clause
    #[arg(long, value_name = "NAME=VALUE", value_parser = context_value)]
    context: Vec<(String, String)>,
    /// CORBA priority of the call, such as that of one of the server's lanes; default: the priority that the
    /// object's adapter gives to requests without one, or 0
    #[arg(long, value_parser = priority)]
    priority: Option<Priority>,
    /// Longest wait for the reply
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    timeout: Duration,
    #[command(flatten)]
    tls: TlsFile,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    match call(options) {
        Ok(text) => {
            if !text.is_empty() {
                println!("{}", printable(&text));
            }
            ExitCode::SUCCESS
        }
        Err(failed) => {
            match &failed {
                Failed::Raised(_) => eprintln!("{}", printable(&failed.to_string())),
                _ => complain(&printable(&failed.to_string())),
            }
            ExitCode::from(failed.code())
        }
    }
}

/// Why there is no result.
enum Failed {
    /// The request was not sent.
    NotSent(String),
    /// The operation has raised a user exception.
    Raised(Any),
    /// The call has failed.
    System(SystemException),
    /// The object cannot be reached.
    Unreachable(String),
    /// The received reply cannot be shown.
    Unreadable(String),
}

impl Failed {
    fn code(&self) -> u8 {
        match self {
            Self::Raised(_) => 1,
            Self::NotSent(_) => 2,
            Self::System(_) | Self::Unreachable(_) | Self::Unreadable(_) => 3,
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised(exception) => {
                let id = exception.type_code().view().id().unwrap_or_default();
                let members = printed::json(exception, false);
                write!(
                    f,
                    "exception {id} {}",
                    members.unwrap_or_else(|error| error.to_string())
                )
            }
            Self::System(exception) => {
                write!(f, "{exception}")?;
                match exception.minor {
                    // Its advice is for programs. The server's own calls have its priority.
                    Minor::NO_ENDPOINT_FOR_PRIORITY if exception.origin() != ExceptionOrigin::Reply => {
                        f.write_str("; `punctual call` sets the priority with `--priority`")
                    }
                    _ => Ok(()),
                }
            }
            Self::NotSent(text) | Self::Unreachable(text) | Self::Unreadable(text) => f.write_str(text),
        }
    }
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Self::NotSent(text)
    }
}

impl From<OrbError> for Failed {
    fn from(error: OrbError) -> Self {
        Self::NotSent(error.to_string())
    }
}

impl From<SystemException> for Failed {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<RequestError> for Failed {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::System(exception) => Self::System(exception),
            RequestError::User(exception) => Self::Raised(exception),
        }
    }
}

fn call(options: &Options) -> Result<String, Failed> {
    let idl = options.idl.read()?;
    let builder = Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .call_timeout(options.timeout);
    let builder = options.tls.applied_to(builder);
    let orb = builder
        .map_err(|error| Failed::NotSent(error.to_string()))?
        .build()?;
    if let Some(priority) = options.priority {
        orb.current().set_priority(priority)?;
    }
    let object = orb
        .resolve_object(&options.reference)
        .map_err(|error| match error {
            ResolveError::Call { .. } => Failed::Unreachable(error.to_string()),
            error => Failed::NotSent(tls::missing(&error).unwrap_or_else(|| error.to_string())),
        })?;
    if options.priority.is_none() {
        default_priority::apply(&orb, &object)?;
    }
    let Some(name) = &options.operation else {
        return list(options, &object, idl.as_ref());
    };
    let operation = find(options, &object, idl.as_ref(), name)?;
    let values = values(&operation, options, &orb, idl.as_ref())?;
    let request = operation.request(&object, values, &options.context);
    if operation.is_oneway {
        request.invoke_oneway()?;
        return Ok(String::new());
    }
    match request.invoke() {
        // The object does not exist, which is a valid answer.
        Err(RequestError::System(exception))
            if operation.name == "_non_existent" && exception.kind == SystemExceptionKind::ObjectNotExist =>
        {
            Ok("true".to_owned())
        }
        reply => {
            let reply = reply?;
            warn_of_undecoded(&operation, &reply);
            show(&reply).map_err(|error| Failed::Unreadable(format!("the reply has come: {error}")))
        }
    }
}

/// Warns on standard error if the reply is longer than its results.
fn warn_of_undecoded(operation: &Operation, reply: &Reply) {
    if reply.undecoded() > 0 {
        let octets = reply.undecoded();
        eprintln!(
            "warning: {octets} octets of the reply to `{operation}` follow the stated results; is this the \
             IDL of the server?"
        );
    }
}

/// The operation with this name, or the one that reads or writes the attribute.
fn find(
    options: &Options,
    object: &ObjectRef,
    idl: Option<&Specification>,
    name: &str,
) -> Result<Operation, Failed> {
    if let Some(operation) = Operation::of_object(name) {
        return Ok(operation);
    }
    let prefix = if options.arguments.is_empty() {
        "_get_"
    } else {
        "_set_"
    };
    let get = format!("_get_{name}");
    let names = [name.to_owned(), format!("{prefix}{name}"), get.clone()];
    let known = Known::find(options, object, idl, &names)?;
    let found = names[..2]
        .iter()
        .find_map(|name| known.operation(name))
        .ok_or_else(|| {
            let (interface, all) = (known.title(), known.names().join(", "));
            Failed::NotSent(match known.operation(&get) {
                Some(_) => format!(
                    "attribute `{name}` of interface `{interface}` is readonly, so it takes no value; read it \
                     without one"
                ),
                None => {
                    format!("interface `{interface}` has no operation or attribute `{name}`; it has {all}")
                }
            })
        })?;
    Ok(found?)
}

/// The operations and attributes of the object's interface, and the types that they use, as IDL.
fn list(options: &Options, object: &ObjectRef, idl: Option<&Specification>) -> Result<String, Failed> {
    let known = Known::find(options, object, idl, &[])?;
    let names = known.names();
    let mut lines: Vec<_> = names.iter().map(|name| known.declaration(name)).collect();
    let operation = |name: &String| {
        let get = || known.operation(&format!("_get_{name}"));
        known.operation(name).or_else(get)?.ok()
    };
    let operations: Vec<_> = names.iter().filter_map(operation).collect();
    let types = types::declarations(&operations);
    if !types.is_empty() {
        lines.push(String::new());
        lines.extend(types);
    }
    Ok(fitted(&lines.join("\n")))
}

fn values(
    operation: &Operation,
    options: &Options,
    orb: &Orb,
    idl: Option<&Specification>,
) -> Result<Vec<Any>, Failed> {
    let given: Vec<&Parameter> = operation.given().collect();
    if given.len() != options.arguments.len() {
        let plural = if given.len() == 1 { "" } else { "s" };
        let (wanted, found) = (given.len(), options.arguments.len());
        let called = match operation.name.strip_prefix("_set_") {
            Some(attribute) => format!("attribute `{attribute}`"),
            None => format!("`{operation}`"),
        };
        return Err(Failed::NotSent(format!(
            "{called} takes {wanted} value{plural}, not {found}"
        )));
    }
    let types = |name: &str| basic_type(name).or_else(|| from_idl::named_type(idl?, name));
    let reading = Reading { orb, types: &types };
    let values = given.iter().zip(&options.arguments).map(|(parameter, text)| {
        let value = reading.argument(text, &parameter.of);
        value.map_err(|problem| Failed::NotSent(format!("`{}`: {problem}", parameter.name)))
    });
    values.collect()
}

/// The type with this name in IDL.
fn basic_type(name: &str) -> Option<TypeCode> {
    let kinds = (0..=36).filter_map(Kind::from_number);
    let mut basic = kinds.filter(|kind| {
        use Kind as K;
        matches!(
            kind,
            K::Short | K::Long | K::UShort | K::ULong | K::Float | K::Double | K::Boolean
        ) || matches!(
            kind,
            K::Char | K::Octet | K::Any | K::TypeCode | K::String | K::LongLong
        ) || matches!(kind, K::ULongLong | K::LongDouble | K::WChar | K::WString)
    });
    basic.find(|kind| kind.idl() == name).map(TypeCode::basic)
}

fn show(reply: &Reply) -> Result<String, punctual::any::AnyError> {
    let is_tall = io::stdout().is_terminal();
    let is_void = reply.result().type_code().kind() == Ok(Kind::Void);
    let result = || printed::json(reply.result(), is_tall);
    if reply.outputs().is_empty() {
        return if is_void { Ok(String::new()) } else { result() };
    }
    let mut members = Vec::new();
    if !is_void {
        members.push(("return".to_owned(), result()?));
    }
    for (name, value) in reply.outputs() {
        members.push((name.clone(), printed::json(value, is_tall)?));
    }
    Ok(printed::object(&members, is_tall))
}

/// Parses `--context`.
fn context_value(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| "expected NAME=VALUE".to_owned())
}
