//! A client of interface repositories: the description of an object's interface.
//!
//! Source: CORBA 3.3 part 1, 14.5 "Interface Repository Interfaces".

use punctual_any::TypeCode;
use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Ior};
use punctual_types::{SystemException, SystemExceptionKind};

use crate::{ObjectRef, Phase, Results, asynchronous::ReplyValues, one_result};

/// The description of an interface: `CORBA::InterfaceDef::FullInterfaceDescription`, from
/// [`ObjectRef::describe_interface`].
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// use punctual::{ObjectRef, SystemException, dynamic::InterfaceDescription};
///
/// /// Asks an object of an unknown interface what it can do.
/// fn describe(object: &ObjectRef) -> Result<Option<InterfaceDescription>, SystemException> {
///     object.interface()?.map(|interface| interface.describe_interface()).transpose()
/// }
///
/// fn summary(of: &InterfaceDescription) -> String {
///     format!("{}: {} operations, {} attributes", of.name, of.operations.len(), of.attributes.len())
/// }
/// # let tracker = InterfaceDescription {
/// #     name: "Tracker".into(),
/// #     id: "IDL:radar/Tracker:1.0".into(),
/// #     operations: Vec::new(),
/// #     attributes: Vec::new(),
/// #     bases: Vec::new(),
/// # };
/// assert_eq!(summary(&tracker), "Tracker: 0 operations, 0 attributes");
/// ```
#[derive(Clone, Debug)]
pub struct InterfaceDescription {
    /// Name without scope.
    pub name: String,
    /// Repository id.
    pub id: String,
    /// All operations, inherited ones included.
    pub operations: Vec<OperationDescription>,
    /// All attributes, inherited ones included.
    pub attributes: Vec<AttributeDescription>,
    /// Repository ids of the direct bases.
    pub bases: Vec<String>,
}

/// The description of an operation.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// # use punctual_stub::{Interface, dynamic::{ParameterDescription, ParameterMode}};
/// use punctual::{ObjectRef, any::{Any, AnyError, Kind, TypeCode}, dynamic::{OperationDescription, Request}};
///
/// /// Builds the request of an operation with one `in` parameter from its description.
/// fn request(object: &ObjectRef, operation: &OperationDescription, argument: Any) -> Request {
///     let request = object.request(&operation.name).returns(operation.returns.clone());
///     let request = operation.raises.iter().cloned().fold(request, Request::raises);
///     request.argument(&operation.parameters[0].name, argument)
/// }
/// # let (doubler, long): (DoublerRef, _) = (local::activate(Doubler), TypeCode::basic(Kind::Long));
/// # let twice = OperationDescription {
/// #     name: "twice".into(),
/// #     returns: long.clone(),
/// #     is_oneway: false,
/// #     contexts: Vec::new(),
/// #     parameters: vec![ParameterDescription { name: "value".into(), of: long, mode: ParameterMode::In }],
/// #     raises: Vec::new(),
/// # };
/// let reply = request(doubler.as_object(), &twice, Any::new(&21)?).invoke()?;
/// assert_eq!(reply.result().get::<i32>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OperationDescription {
    /// Name in IDL.
    pub name: String,
    /// Type of the return value.
    pub returns: TypeCode,
    /// Whether it has no reply.
    pub is_oneway: bool,
    /// Names of the `context` clause.
    pub contexts: Vec<String>,
    /// Parameters in order.
    pub parameters: Vec<ParameterDescription>,
    /// Exceptions of the `raises` clause.
    pub raises: Vec<TypeCode>,
}

/// The description of a parameter.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// use punctual::{any::{Kind, TypeCode}, dynamic::{ParameterDescription, ParameterMode}};
///
/// let value = ParameterDescription {
///     name: "value".into(),
///     of: TypeCode::basic(Kind::Long),
///     mode: ParameterMode::In,
/// };
/// assert_eq!(format!("in {} {}", value.of, value.name), "in long value");
/// ```
#[derive(Clone, Debug)]
pub struct ParameterDescription {
    /// Name in IDL.
    pub name: String,
    /// Its type.
    pub of: TypeCode,
    /// Direction.
    pub mode: ParameterMode,
}

/// Direction of a parameter.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// use punctual::{any::Any, dynamic::{ParameterDescription, ParameterMode, Request}};
///
/// /// Adds a parameter to a request; `value` is what the client sends.
/// fn with_parameter(request: Request, parameter: &ParameterDescription, value: Any) -> Request {
///     match parameter.mode {
///         ParameterMode::In => request.argument(&parameter.name, value),
///         ParameterMode::InOut => request.inout_argument(&parameter.name, value),
///         ParameterMode::Out => request.out_argument(&parameter.name, parameter.of.clone()),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParameterMode {
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// The description of an attribute.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// use punctual::{any::{Kind, TypeCode}, dynamic::AttributeDescription};
///
/// /// The operations with which a client accesses an attribute.
/// fn operations(attribute: &AttributeDescription) -> Vec<String> {
///     let set = (!attribute.is_readonly).then(|| format!("_set_{}", attribute.name));
///     [format!("_get_{}", attribute.name)].into_iter().chain(set).collect()
/// }
/// let range = AttributeDescription {
///     name: "range".into(),
///     of: TypeCode::basic(Kind::Double),
///     is_readonly: true,
///     get_raises: Vec::new(),
///     set_raises: Vec::new(),
/// };
/// assert_eq!(operations(&range), ["_get_range"]);
/// ```
#[derive(Clone, Debug)]
pub struct AttributeDescription {
    /// Name in IDL.
    pub name: String,
    /// Its type.
    pub of: TypeCode,
    /// `readonly`
    pub is_readonly: bool,
    /// Exceptions of the `getraises` clause, or `raises` of a readonly attribute. Empty if the repository is
    /// older than CORBA 3.0.
    pub get_raises: Vec<TypeCode>,
    /// Exceptions of the `setraises` clause; likewise.
    pub set_raises: Vec<TypeCode>,
}

impl ObjectRef {
    /// Asks the object for the description of its interface in an interface repository: `_get_interface`.
    /// `None` if its server has none. The result is an `InterfaceDef`: see [`Self::describe_interface`].
    ///
    /// # Errors
    /// Fails like any call.
    pub fn interface(&self) -> Result<Option<Self>, SystemException> {
        let mut interface: Option<Self> = None;
        let called = self.call::<SystemException>("_interface", |phase| match phase {
            Phase::Arguments(_) => Ok(()),
            Phase::Results(decoder) => interface.decode_into(decoder),
        });
        match called {
            Err(exception) if exception.kind == SystemExceptionKind::IntfRepos => Ok(None),
            called => called.map(|()| interface),
        }
    }

    /// Asks an `InterfaceDef` of an interface repository what it describes: `describe_interface`, and if it
    /// has attributes, also `describe_ext_interface`, which describes their exceptions.
    ///
    /// # Errors
    /// Fails like any call; MARSHAL if the answer is malformed.
    pub fn describe_interface(&self) -> Result<InterfaceDescription, SystemException> {
        let mut described: InterfaceDescription = self.ask("describe_interface")?;
        if described.attributes.is_empty() {
            return Ok(described);
        }
        match self.ask::<ExtendedAttributes>("describe_ext_interface") {
            // Some repositories have the operation, and answer with nothing.
            Ok(extended) if extended.0.len() == described.attributes.len() => {
                described.attributes = extended.0.into_iter().map(|attribute| attribute.0).collect();
            }
            Ok(_) => {}
            Err(exception) if is_not_supported(exception.kind) => {}
            Err(exception) => return Err(exception),
        }
        Ok(described)
    }

    /// Calls an operation without arguments that returns a description.
    fn ask<T: for<'a> Decode<'a>>(&self, operation: &str) -> Result<T, SystemException> {
        let reply: Results<T> = one_result;
        let mut result = None;
        let mut values = ReplyValues::new(&reply, &mut result);
        let end = values.run(operation, &mut |_| Ok(()), |call| self.target().invoke(call));
        values.conclude(end);
        result.expect("the call has ended")
    }
}

/// Whether a server answers so if it does not know an operation.
fn is_not_supported(kind: SystemExceptionKind) -> bool {
    use SystemExceptionKind::{BadOperation, NoImplement};
    matches!(kind, BadOperation | NoImplement)
}

/// Name and repository id, with which each description begins. Where it is defined and its version follow.
fn named(decoder: &mut Decoder<'_>) -> Result<(String, String), CdrError> {
    let named = (String::decode(decoder)?, String::decode(decoder)?);
    String::decode(decoder)?;
    String::decode(decoder)?;
    Ok(named)
}

/// Octets of the least description: four texts.
const NAMED: usize = 16;

impl<'a> Decode<'a> for InterfaceDescription {
    const MIN_SIZE: usize = NAMED + 12;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let (name, id) = named(decoder)?;
        // The type code of its references, and whether it is abstract in older versions, follow.
        Ok(Self {
            name,
            id,
            operations: Vec::decode(decoder)?,
            attributes: Vec::decode(decoder)?,
            bases: Vec::decode(decoder)?,
        })
    }
}

impl<'a> Decode<'a> for OperationDescription {
    const MIN_SIZE: usize = NAMED + 20;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let (name, _) = named(decoder)?;
        Ok(Self {
            name,
            returns: TypeCode::decode(decoder)?,
            is_oneway: one_of(&[false, true], decoder)?,
            contexts: Vec::decode(decoder)?,
            parameters: Vec::decode(decoder)?,
            raises: exceptions(decoder)?,
        })
    }
}

impl<'a> Decode<'a> for ParameterDescription {
    const MIN_SIZE: usize = 20;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let (name, of) = (String::decode(decoder)?, TypeCode::decode(decoder)?);
        // The object that describes the type.
        Ior::decode(decoder)?;
        let mode = one_of(
            &[ParameterMode::In, ParameterMode::Out, ParameterMode::InOut],
            decoder,
        )?;
        Ok(Self { name, of, mode })
    }
}

fn exceptions(decoder: &mut Decoder<'_>) -> Result<Vec<TypeCode>, CdrError> {
    let exceptions = Vec::<Exception>::decode(decoder)?;
    Ok(exceptions.into_iter().map(|exception| exception.0).collect())
}

/// The description of an exception.
struct Exception(TypeCode);

impl<'a> Decode<'a> for Exception {
    const MIN_SIZE: usize = NAMED + 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        named(decoder)?;
        TypeCode::decode(decoder).map(Self)
    }
}

impl<'a> Decode<'a> for AttributeDescription {
    const MIN_SIZE: usize = NAMED + 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let (name, _) = named(decoder)?;
        Ok(Self {
            name,
            of: TypeCode::decode(decoder)?,
            is_readonly: one_of(&[false, true], decoder)?,
            get_raises: Vec::new(),
            set_raises: Vec::new(),
        })
    }
}

/// The attributes of an `InterfaceAttrExtension::ExtFullInterfaceDescription`.
struct ExtendedAttributes(Vec<ExtendedAttribute>);

impl<'a> Decode<'a> for ExtendedAttributes {
    const MIN_SIZE: usize = NAMED + 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        named(decoder)?;
        Vec::<OperationDescription>::decode(decoder)?;
        // The bases and the type code follow, as in the other description.
        Vec::decode(decoder).map(Self)
    }
}

/// The description of an attribute, with its exceptions.
struct ExtendedAttribute(AttributeDescription);

impl<'a> Decode<'a> for ExtendedAttribute {
    const MIN_SIZE: usize = AttributeDescription::MIN_SIZE + 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let attribute = AttributeDescription::decode(decoder)?;
        Ok(Self(AttributeDescription {
            get_raises: exceptions(decoder)?,
            set_raises: exceptions(decoder)?,
            ..attribute
        }))
    }
}

/// Returns a value of an enum.
fn one_of<T: Copy>(values: &[T], decoder: &mut Decoder<'_>) -> Result<T, CdrError> {
    let ordinal = u32::decode(decoder)? as usize;
    let value = values.get(ordinal).copied();
    value.ok_or_else(|| decoder.error(CdrErrorKind::EnumOutOfRange))
}
