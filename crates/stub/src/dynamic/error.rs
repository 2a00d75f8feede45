//! The error of an operation whose exceptions are known at run time only.

use std::{error::Error, fmt};

use punctual_any::{Any, AnyError};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// The error of a dynamic call, which [`Request`](super::Request) returns and a
/// [`DynamicServant`](super::DynamicServant) raises.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// use punctual::{any::{Any, TypeCode, Value}, dynamic::RequestError};
///
/// let reason = ("reason", TypeCode::string(0));
/// let refused = TypeCode::exception("IDL:Refused:1.0", "Refused", [reason]);
/// let value = Value::Struct(vec![("reason".into(), "full".into())]);
/// let error = RequestError::User(Any::from_value(refused, &value)?);
/// assert_eq!(error.repository_id(), "IDL:Refused:1.0");
/// assert_eq!(error.to_string(), "user exception IDL:Refused:1.0");
/// assert!(format!("{error:?}").contains("full"), "{error:?}");
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone)]
pub enum RequestError {
    /// A system exception.
    System(SystemException),
    /// A user exception: an `any` whose type code is that of the exception.
    User(Any),
}

/// Formats the error like [`Display`](fmt::Display), with the members of a user exception.
impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(exception) => exception.fmt(f),
            Self::User(exception) => write!(f, "{self}: {exception:?}"),
        }
    }
}

impl RequestError {
    /// Returns the repository id of the exception.
    pub fn repository_id(&self) -> &str {
        match self {
            Self::System(exception) => exception.repository_id(),
            Self::User(exception) => exception.type_code().view().id().unwrap_or_default(),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(exception) => exception.fmt(f),
            Self::User(_) => write!(f, "user exception {}", self.repository_id()),
        }
    }
}

impl Error for RequestError {}

impl From<SystemException> for RequestError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// Returns the exception of a servant that cannot read its arguments: MARSHAL or the like for malformed
/// octets, BAD_PARAM for a value of another type.
impl From<AnyError> for RequestError {
    fn from(error: AnyError) -> Self {
        Self::System(match error {
            AnyError::Malformed(error) => error.system_exception(Completion::Maybe),
            AnyError::OtherType { .. } | AnyError::NotOfType(_) => {
                SystemException::new(SystemExceptionKind::BadParam, Minor::NONE, Completion::Maybe)
            }
        })
    }
}
