//! Servants that learn the operation at run time.

use std::borrow::Cow;

use punctual_any::{Any, Kind};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::RequestError;
use crate::{ObjectRef, Skeleton, Upcall};

/// A servant for operations that are known at run time only: `PortableServer::DynamicImplementation`.
///
/// It becomes an object like any other servant, with an [`ObjectRef`] as its reference.
///
/// ```
/// # mod punctual {
/// #     pub(crate) use {punctual_any as any, punctual_stub::*};
/// #     pub mod dynamic { pub use punctual_stub::{Upcall, dynamic::*}; }
/// # }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// use punctual::{ObjectRef, any::{Any, Kind, TypeCode}, dynamic::{DynamicServant, RequestError, Upcall}};
///
/// /// Multiplies a number of any type.
/// struct Multiplier(i32);
///
/// impl DynamicServant for Multiplier {
///     fn repository_id(&self) -> String {
///         "IDL:Doubler:1.0".into()
///     }
///
///     fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
///         if request.operation() != "twice" {
///             return Err(request.unknown_operation().into());
///         }
///         let value: i32 = request.argument()?;
///         Ok(vec![Any::new(&(self.0 * value))?])
///     }
/// }
///
/// let object: ObjectRef = local::activate(Multiplier(2));
/// let request = object.request("twice").argument("value", Any::new(&21)?);
/// let reply = request.returns(TypeCode::basic(Kind::Long)).invoke()?;
/// assert_eq!(reply.result().get::<i32>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DynamicServant: Send + Sync + 'static {
    /// Returns the id of the most derived interface. Called once, when the servant becomes an object.
    fn repository_id(&self) -> String;

    /// Returns whether the servant supports another interface: a base of its own one.
    fn supports(&self, _repository_id: &str) -> bool {
        false
    }

    /// Returns the description of its interface in an interface repository: what callers of
    /// `_get_interface` get.
    fn interface(&self) -> Option<ObjectRef> {
        None
    }

    /// Executes an operation. Attributes are `_get_name` and `_set_name`.
    ///
    /// The arguments are decoded in order, by [`Upcall::argument_of`] with their type codes or by
    /// [`Upcall::argument`] as Rust types. The result is the return value, unless it is `void`, then the
    /// `inout` and `out` parameters. Behind the arguments of an operation with a `context` clause,
    /// [`Upcall::context`] decodes the context properties.
    ///
    /// # Errors
    /// The exception for the caller: BAD_OPERATION for an unknown operation
    /// ([`Upcall::unknown_operation`]).
    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError>;
}

impl<S: DynamicServant> Skeleton<S> for ObjectRef {
    fn dispatch(servant: &S, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        match servant.invoke(upcall) {
            Ok(results) => upcall.reply(|reply| {
                let mut results = results.iter();
                results.try_for_each(|result| result.view().encode_value(reply))
            }),
            Err(RequestError::System(exception)) => upcall.fail(exception),
            // Its encoded form begins with the repository id.
            Err(RequestError::User(exception)) if exception.type_code().kind() == Ok(Kind::Except) => {
                upcall.user_exception(|reply| exception.view().encode_value(reply))
            }
            Err(RequestError::User(_)) => {
                let (kind, minor) = (SystemExceptionKind::Unknown, Minor::NONE);
                Err(SystemException::new(kind, minor, Completion::Maybe))
            }
        }
    }

    fn repository_id(servant: &S) -> Cow<'static, str> {
        servant.repository_id().into()
    }

    fn supports(servant: &S, repository_id: &str) -> bool {
        servant.supports(repository_id)
    }

    fn interface(servant: &S) -> Option<ObjectRef> {
        servant.interface()
    }
}
