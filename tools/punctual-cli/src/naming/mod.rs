//! `punctual naming`: serves a naming service, and binds and looks up names in any.

mod client;
mod list;
mod serve;

use std::{fmt, io, process::ExitCode};

use clap::Subcommand;
use punctual::{OrbError, SystemException, SystemExceptionKind, naming::NotFoundReason};
use punctual_naming::{NamingError, ServiceError};
use punctual_report::terminal::{complain, printable};

use crate::tls;

#[derive(Debug, Subcommand)]
pub enum Naming {
    /// Serve a naming service (CosNaming) until Ctrl-C or SIGTERM
    ///
    /// Clients of any ORB find its root context at the printed address, and at `corbaname::HOST` if it
    /// listens at port 2809. It can replace omniNames, TAO's Naming_Service and JacORB's NameServer.
    #[command(after_help = serve::HELP)]
    Serve(serve::Options),
    /// List the names that are bound in a context
    #[command(after_help = list::HELP)]
    List(list::Options),
    /// Print the reference that is bound to a name
    #[command(after_help = client::RESOLVE)]
    Resolve(client::Resolve),
    /// Bind an object, or a context, to a name
    #[command(after_help = client::BIND)]
    Bind(client::Bind),
    /// Remove the binding of a name; the object or context that it was bound to remains
    #[command(after_help = client::UNBIND)]
    Unbind(client::Named),
    /// Create a context, and bind it to a name
    #[command(after_help = client::CREATE)]
    Create(client::Named),
    /// Destroy an empty context, and remove the binding of its name
    #[command(after_help = client::DESTROY)]
    Destroy(client::Named),
}

/// Runs a command.
pub fn run(command: &Naming) -> ExitCode {
    let done = match command {
        Naming::Serve(options) => serve::run(options),
        Naming::List(options) => list::run(options),
        Naming::Resolve(options) => client::resolve(options),
        Naming::Bind(options) => client::bind(options),
        Naming::Unbind(options) => client::unbind(options),
        Naming::Create(options) => client::create(options),
        Naming::Destroy(options) => client::destroy(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            complain(&printable(&failed.to_string()));
            ExitCode::from(match failed {
                Failed::Refused(_) => 1,
                Failed::NotBegun(_) => 2,
                Failed::Unreachable(_) => 3,
            })
        }
    }
}

/// Why a command ended.
#[derive(Debug)]
enum Failed {
    /// The naming service has refused.
    Refused(String),
    /// The command line is wrong, or the service cannot be started.
    NotBegun(String),
    /// A naming service or an object cannot be reached.
    Unreachable(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(text) | Self::NotBegun(text) | Self::Unreachable(text)) = self;
        f.write_str(text)
    }
}

impl Failed {
    /// The reason that an exception means.
    fn of(exception: &SystemException, text: String) -> Self {
        use SystemExceptionKind as Kind;
        match exception.kind {
            Kind::Transient | Kind::CommFailure | Kind::Timeout | Kind::NoResponse | Kind::ObjectNotExist => {
                Self::Unreachable(text)
            }
            _ => Self::Refused(text),
        }
    }
}

/// Whether the context no longer exists.
fn is_gone(error: &NamingError) -> bool {
    matches!(error, NamingError::Call(exception) if exception.kind == SystemExceptionKind::ObjectNotExist)
}

impl From<NamingError> for Failed {
    fn from(error: NamingError) -> Self {
        use punctual::ResolveError as Resolve;
        let text = error.to_string();
        match error {
            NamingError::Context(Resolve::Call { exception, .. }) => match Self::of(&exception, text) {
                Self::Unreachable(text) => Self::Unreachable(format!(
                    "{text}; is a naming service running there, such as `punctual naming serve`?"
                )),
                refused => refused,
            },
            NamingError::Call(exception) => Self::of(&exception, text),
            NamingError::AlreadyBound(name) => Self::Refused(format!(
                "`{name}` is bound already; `punctual naming bind --replace` replaces what it is bound to, and \
                 `punctual naming unbind` makes the name free"
            )),
            NamingError::NotFound(why) if why.reason == NotFoundReason::NotObject => Self::Refused(
                text.replace("`rebind_context`", "`--context` to replace it by another context"),
            ),
            NamingError::Context(Resolve::WrongInterface { text, wanted, .. }) => Self::NotBegun(format!(
                "`{text}` is the address of an object that is not a naming context: it does not support {wanted}; \
                 `punctual naming serve` prints the address of its root context"
            )),
            NamingError::Context(ref resolve @ Resolve::Url(_)) => {
                Self::NotBegun(tls::missing(resolve).unwrap_or(text))
            }
            NamingError::Name(..)
            | NamingError::Context(
                Resolve::UnknownInitialReference(_) | Resolve::TooManySteps(_) | Resolve::File { .. },
            ) => Self::NotBegun(text),
            _ => Self::Refused(text),
        }
    }
}

impl From<OrbError> for Failed {
    fn from(error: OrbError) -> Self {
        Self::NotBegun(error.to_string())
    }
}

impl From<ServiceError> for Failed {
    fn from(error: ServiceError) -> Self {
        Self::NotBegun(match error {
            ServiceError::StoreTooLarge {
                path,
                contexts,
                octets,
                limits,
            } => format!(
                "the store `{}` has {contexts} contexts and {octets} octets, more than the limits of {} and {}; \
                 raise `--contexts` and `--octets`, or drop contexts without a name with `--prune`",
                path.display(),
                limits.contexts,
                limits.octets
            ),
            error => error.to_string(),
        })
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::NotBegun(error.to_string())
    }
}
