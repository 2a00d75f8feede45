//! Servants of any interface, and the reasons for which a servant manager provides none.

use std::{borrow::Cow, marker::PhantomData, sync::Arc};

use punctual_stub::{ObjectRef, Servant, Skeleton, Upcall, servant};
use punctual_types::{CORBA_OBJECT, Completion, Minor, SystemException, SystemExceptionKind};

/// A servant of any interface: what an adapter gets for its default servant, from servant managers, and for
/// objects that share a servant. Copies are the same servant, so one servant can serve several objects
/// ([`ObjectBuilder::activate_shared`](crate::ObjectBuilder::activate_shared), IdUniquenessPolicy
/// MULTIPLE_ID).
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

    /// Creates a servant of the interface of `R` whose implementation the program also keeps, to access its
    /// state.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use std::sync::Arc;
    ///
    /// use punctual::{AnyServant, Orb};
    ///
    /// let orb = Orb::builder().build()?;
    /// let doubler = Arc::new(Doubler);
    /// let servant = AnyServant::of_arc::<DoublerRef, _>(Arc::clone(&doubler));
    /// let reference: DoublerRef = orb.root_poa().object(servant).activate_shared()?;
    /// assert_eq!(reference.twice(4)?, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_arc<R, S>(implementation: Arc<S>) -> Self
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        let servant = Kept {
            repository_id: R::repository_id(&implementation),
            implementation,
            interface: PhantomData::<fn() -> R>,
        };
        Self {
            servant: Arc::new(servant),
            values_on_stack: R::VALUES_ON_STACK,
        }
    }

    /// Returns the repository id of the servant's interface.
    pub fn repository_id(&self) -> &str {
        self.servant.repository_id()
    }
}

/// A servant whose implementation the program keeps.
struct Kept<R, S> {
    repository_id: Cow<'static, str>,
    implementation: Arc<S>,
    interface: PhantomData<fn() -> R>,
}

impl<R: Skeleton<S>, S: Send + Sync> Servant for Kept<R, S> {
    fn repository_id(&self) -> &str {
        &self.repository_id
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == CORBA_OBJECT
            || repository_id == self.repository_id
            || R::supports(&self.implementation, repository_id)
    }

    fn interface(&self) -> Option<ObjectRef> {
        R::interface(&self.implementation)
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        R::dispatch(&self.implementation, upcall)
    }
}

/// Reason why a [`ServantActivator`](crate::ServantActivator) provides no servant.
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
