//! Managers: whether adapters serve their requests, hold them, discard them, or refuse them for good.

use std::{sync::Arc, time::Duration};

use punctual_lane::QueueLimits;

use super::Poa;
use crate::{
    OrbError, PoaManagerState,
    config::limits::checked_queue_limits,
    orb_core::OrbCore,
    poa_state::{core::PoaCore, manager::ManagerCore},
};

/// Controls whether adapters serve their requests: `PortableServer::POAManager`; from [`Poa::manager`].
///
/// Each adapter has its own manager unless [`PoaBuilder::manager`](crate::PoaBuilder::manager) gives it one
/// that it shares. Unlike CORBA's, a new manager is active: an adapter without objects serves nothing, so a
/// server that wants to start everything at once holds requests before it activates objects.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Orb, OrbError, PoaManagerState, SystemExceptionKind};
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("numbers").build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
/// let manager = poa.manager();
/// manager.discard()?;
/// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::Transient);
/// manager.activate()?;
/// assert_eq!(doubler.twice(3).unwrap(), 6);
/// manager.deactivate();
/// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::ObjAdapter);
/// assert_eq!(manager.state(), PoaManagerState::Inactive);
/// assert!(matches!(manager.activate(), Err(OrbError::ManagerInactive)));
/// # Ok::<(), OrbError>(())
/// ```
#[derive(Clone)]
pub struct PoaManager {
    orb: Arc<OrbCore>,
    pub(super) core: Arc<ManagerCore>,
}

impl Poa {
    /// Returns the adapter's manager.
    pub fn manager(&self) -> PoaManager {
        PoaManager {
            orb: Arc::clone(&self.orb),
            core: Arc::clone(&self.core.processing.manager),
        }
    }
}

impl PoaManager {
    /// Returns the state.
    pub fn state(&self) -> PoaManagerState {
        self.core.state()
    }

    /// Serves requests, beginning with those that were held.
    ///
    /// # Errors
    /// [`OrbError::ManagerInactive`] after [`Self::deactivate`].
    pub fn activate(&self) -> Result<(), OrbError> {
        self.enter(PoaManagerState::Active)
    }

    /// Keeps requests until [`Self::activate`], within these limits for each lane of the adapters' pools;
    /// further requests are refused with TRANSIENT. Requests that are being served are completed.
    ///
    /// The callers of collocated calls, at most `limits.requests`, wait on their own threads until the
    /// deadlines of their requests; without one, such a wait ends with the state, the adapter or the ORB. A
    /// thread of a lane with [`crate::LaneWait::Blocking`] waits with the request of its connection, which no
    /// limit counts, in the same way, but without a deadline.
    ///
    /// The memory is allocated here and kept.
    ///
    /// # Errors
    /// [`OrbError::ManagerInactive`] after [`Self::deactivate`], [`OrbError::QueueWithoutRoom`] for limits of
    /// 0, and [`OrbError::Os`] if the system refuses a descriptor.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::{Orb, PoaManagerState, QueueLimits};
    ///
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").build()?;
    /// let limits = QueueLimits { requests: 16, octets: 64 << 10 };
    /// poa.manager().hold(limits)?;
    /// assert_eq!(poa.manager().state(), PoaManagerState::Holding(limits));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn hold(&self, limits: QueueLimits) -> Result<(), OrbError> {
        let limits = checked_queue_limits(limits)?;
        for pool in self.pools() {
            self.orb.provide_held(pool, limits)?;
        }
        self.enter(PoaManagerState::Holding(limits))
    }

    /// Refuses requests with TRANSIENT (minor code 1 of the OMG), including those that were held.
    ///
    /// # Errors
    /// [`OrbError::ManagerInactive`] after [`Self::deactivate`].
    pub fn discard(&self) -> Result<(), OrbError> {
        self.enter(PoaManagerState::Discarding)
    }

    /// Refuses requests with OBJ_ADAPTER from now on. Requests that are being served are completed; objects
    /// remain until [`Self::deactivate_and_etherealize`], [`Poa::deactivate`] or [`Poa::destroy`].
    pub fn deactivate(&self) {
        // It is final, so entering it again changes nothing.
        let _ = self.enter(PoaManagerState::Inactive);
    }

    /// Refuses requests with OBJ_ADAPTER from now on, and deactivates the objects of adapters with a servant
    /// activator: `deactivate` with `etherealize_objects`. Each is etherealized after its last request, for
    /// which this does not wait; [`Self::wait_for_completion`] does.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use std::time::Duration;
    ///
    /// use punctual::{AnyServant, Declined, Etherealized, Orb, Poa, ServantActivator};
    ///
    /// struct Sensors;
    ///
    /// impl ServantActivator for Sensors {
    ///     fn incarnate(&self, _: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
    ///         Ok(AnyServant::new::<DoublerRef, _>(Doubler))
    ///     }
    ///
    ///     fn etherealize(&self, id: &[u8], ended: Etherealized) {
    ///         assert!(id == b"radar" && ended.cleanup);
    ///     }
    /// }
    ///
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("sensors").user_ids().servant_activator(Sensors).build()?;
    /// let radar: DoublerRef = poa.reference().id("radar").create()?;
    /// assert_eq!(radar.twice(4).unwrap(), 8);
    /// poa.manager().deactivate_and_etherealize();
    /// poa.manager().wait_for_completion(Duration::from_secs(1))?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn deactivate_and_etherealize(&self) {
        self.core.note_end_of_objects();
        self.deactivate();
        for poa in self.adapters() {
            self.orb.objects.end_all(&poa);
        }
    }

    /// Waits, after a change to another state, until the manager's adapters execute no request, and the
    /// servant activators have been notified of the objects that were deactivated: `wait_for_completion`.
    /// Returns early if the manager is active again.
    ///
    /// # Errors
    /// [`OrbError::RequestsInProgress`] if that takes longer than `timeout`; [`OrbError::InUpcall`] inside an
    /// upcall, which could wait for itself.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use std::time::Duration;
    ///
    /// use punctual::Orb;
    ///
    /// let orb = Orb::builder().build()?;
    /// let manager = orb.root_poa().child("numbers").build()?.manager();
    /// manager.discard()?;
    /// manager.wait_for_completion(Duration::from_secs(1))?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn wait_for_completion(&self, timeout: Duration) -> Result<(), OrbError> {
        let is_active = || self.core.state() == PoaManagerState::Active;
        let objects = &self.orb.objects;
        objects.await_requests(&self.adapters(), timeout, is_active)
    }

    fn adapters(&self) -> Vec<Arc<PoaCore>> {
        let mut adapters = self.orb.root.subtree();
        adapters.retain(|poa| Arc::ptr_eq(&poa.processing.manager, &self.core));
        adapters
    }

    /// Returns the pools at whose lanes requests arrive that depend on the manager.
    fn pools(&self) -> Vec<u32> {
        if self.core.makes_adapters() {
            return self.orb.pools.all().iter().map(|pool| pool.info.id).collect();
        }
        self.core.pools()
    }

    fn enter(&self, state: PoaManagerState) -> Result<(), OrbError> {
        if !self.core.set(state) {
            return Err(OrbError::ManagerInactive);
        }
        for pool in self.pools() {
            self.orb.release_held(pool);
        }
        // For threads in `wait_for_completion`.
        self.orb.objects.quiescence.announce();
        for interceptor in &self.orb.dispatcher.interceptors.ior {
            interceptor.adapter_manager_state_changed(self.core.id(), state);
        }
        Ok(())
    }
}
