//! Registration of interceptors with an ORB that is being created.

use std::sync::Arc;

use thiserror::Error;

use super::Orb;
use crate::interception::{
    ClientRequestInterceptor, Interceptors, IorInterceptor, ServerRequestInterceptor, SlotId,
};

/// Registers interceptors with an ORB that is being created, `PortableInterceptor::ORBInitializer`. A panic
/// of an initializer propagates to the caller of [`OrbBuilder::build`](crate::OrbBuilder::build).
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
///
/// use punctual::{Orb, interceptors::*};
///
/// #[derive(Clone, Default)]
/// struct Counter(Arc<AtomicU32>);
///
/// impl ClientRequestInterceptor for Counter {
///     fn name(&self) -> &str {
///         "counter"
///     }
///
///     fn send_request(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(())
///     }
/// }
///
/// impl OrbInitializer for Counter {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_client_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let counter = Counter::default();
/// let orb = Orb::builder().initializer(&counter).build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub trait OrbInitializer: Send + Sync {
    /// Called before the ORB exists.
    fn pre_init(&self, info: &mut OrbInitInfo<'_>);

    /// Called with the ORB after [`Self::pre_init`] of all initializers; nothing more can be registered.
    fn post_init(&self, _orb: &Orb) {}
}

/// ORB that is being created, `PortableInterceptor::ORBInitInfo`.
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::Arc;
///
/// use punctual::{Orb, interceptors::*};
///
/// /// Seen by every outgoing and every incoming request.
/// #[derive(Clone)]
/// struct Badge;
///
/// impl ClientRequestInterceptor for Badge {
///     fn name(&self) -> &str {
///         "badge"
///     }
/// }
///
/// impl ServerRequestInterceptor for Badge {
///     fn name(&self) -> &str {
///         "badge"
///     }
/// }
///
/// impl OrbInitializer for Badge {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         // Names are unique among interceptors of a kind.
///         info.add_client_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///         info.add_server_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let orb = Orb::builder().initializer(&Badge).build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub struct OrbInitInfo<'i> {
    interceptors: &'i mut Interceptors,
}

/// Error: an interceptor with this name is already registered.
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::Arc;
///
/// use punctual::{Orb, interceptors::*};
///
/// #[derive(Clone)]
/// struct Badge;
///
/// impl ClientRequestInterceptor for Badge {
///     fn name(&self) -> &str {
///         "badge"
///     }
/// }
///
/// impl OrbInitializer for Badge {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_client_request_interceptor(Arc::new(Badge)).expect("the name is free");
///         let again = info.add_client_request_interceptor(Arc::new(Badge));
///         assert_eq!(again, Err(DuplicateName("badge".into())));
///     }
/// }
///
/// let orb = Orb::builder().initializer(&Badge).build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Eq, Error, PartialEq)]
#[error("an interceptor named `{0}` is already registered; choose another name or an empty one")]
pub struct DuplicateName(pub String);

punctual_types::debug_as_display!(DuplicateName);

impl<'i> OrbInitInfo<'i> {
    pub(crate) fn new(interceptors: &'i mut Interceptors) -> Self {
        Self { interceptors }
    }

    /// Registers an interceptor of outgoing requests after those registered before. Fails if another
    /// interceptor has the same, non-empty name.
    pub fn add_client_request_interceptor(
        &mut self,
        interceptor: Arc<dyn ClientRequestInterceptor>,
    ) -> Result<(), DuplicateName> {
        let interceptors = &mut self.interceptors.client;
        check_name(interceptor.name(), interceptors.iter().map(|other| other.name()))?;
        interceptors.push(interceptor);
        Ok(())
    }

    /// Registers an interceptor of incoming requests after those registered before. Fails if another
    /// interceptor has the same, non-empty name.
    pub fn add_server_request_interceptor(
        &mut self,
        interceptor: Arc<dyn ServerRequestInterceptor>,
    ) -> Result<(), DuplicateName> {
        let interceptors = &mut self.interceptors.server;
        check_name(interceptor.name(), interceptors.iter().map(|other| other.name()))?;
        interceptors.push(interceptor);
        Ok(())
    }

    /// Registers an IOR interceptor after those registered before. Fails if another interceptor has the same,
    /// non-empty name.
    pub fn add_ior_interceptor(&mut self, interceptor: Arc<dyn IorInterceptor>) -> Result<(), DuplicateName> {
        let interceptors = &mut self.interceptors.ior;
        check_name(interceptor.name(), interceptors.iter().map(|other| other.name()))?;
        interceptors.push(interceptor);
        Ok(())
    }

    /// Allocates a new slot of the ORB's [`PiCurrent`](super::PiCurrent).
    pub fn allocate_slot_id(&mut self) -> SlotId {
        self.interceptors.slots.allocate()
    }
}

fn check_name<'n>(name: &str, mut others: impl Iterator<Item = &'n str>) -> Result<(), DuplicateName> {
    if !name.is_empty() && others.any(|other| other == name) {
        return Err(DuplicateName(name.to_owned()));
    }
    Ok(())
}
