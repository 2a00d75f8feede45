//! Servants of any interface, and why a servant manager gives none.

use std::sync::Arc;

use punctual_stub::{ObjectRef, Servant, Skeleton, servant};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// A servant of any interface: what an adapter gets for its default servant, and from servant managers.
/// Copies are the same servant, so that one can serve several objects (IdUniquenessPolicy MULTIPLE_ID).
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::AnyServant;
///
/// let servant = AnyServant::new::<DoublerRef, _>(Doubler);
/// assert_eq!(servant.repository_id(), "IDL:Doubler:1.0");
/// ```
#[derive(Clone)]
pub struct AnyServant {
    pub(crate) servant: Arc<dyn Servant>,
    pub(crate) values_on_stack: usize,
}

impl AnyServant {
    /// Creates the servant `implementation` of the interface of `R`.
    pub fn new<R, S>(implementation: S) -> Self
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        Self {
            servant: servant::<R, S>(implementation),
            values_on_stack: R::VALUES_ON_STACK,
        }
    }

    /// Returns the id of its interface.
    pub fn repository_id(&self) -> &str {
        self.servant.repository_id()
    }
}

/// Why a [`ServantActivator`](crate::ServantActivator) gives no servant.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Declined, SystemExceptionKind};
///
/// let Declined::Exception(exception) = Declined::no_object() else {
///     unreachable!("it is not elsewhere")
/// };
/// assert_eq!(exception.kind, SystemExceptionKind::ObjectNotExist);
/// ```
#[derive(Clone, Debug)]
pub enum Declined {
    /// The object is elsewhere: `PortableServer::ForwardRequest`, LOCATION_FORWARD.
    Forward(ObjectRef),
    /// The caller gets this exception.
    Exception(SystemException),
}

impl Declined {
    /// Returns OBJECT_NOT_EXIST: no object has this id.
    pub fn no_object() -> Self {
        Self::Exception(no_object())
    }
}

impl From<SystemException> for Declined {
    fn from(exception: SystemException) -> Self {
        Self::Exception(exception)
    }
}

/// The object does not exist.
pub(crate) fn no_object() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN);
    SystemException::new(kind, minor, Completion::No)
}
