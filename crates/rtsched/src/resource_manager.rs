//! `RTScheduling::ResourceManager`: mutual exclusion of distributable threads.
//!
//! Decisions are made under the dispatcher's lock: the next owner is ready before the inheritance of the
//! previous owner ends, so no other thread can intervene. Cycles are refused.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use punctual_sched::dynamic::{SchedulingParameters, Time, resource::ResourceId};
use punctual_types::{DistributableThreadId, SystemException};

use crate::{
    activations,
    dispatcher::{SchedulingPoint, now},
    endsystem::Endsystem,
    error::SchedulingError,
    scheduling::RtScheduling,
};

/// A resource that one distributable thread uses at a time: `RTScheduling::ResourceManager`, which is an
/// `RTCORBA::Mutex`.
///
/// The distributable thread owns it, on any OS thread: an owner that returns in a callback still owns it, and
/// acquires it once more. Waiters acquire it in the order of the scheduler. An owner is scheduled by the
/// parameters of its most eligible waiter if those are more eligible than its own; with a ceiling, by at
/// least the ceiling from the start. This extends along chains of owners that wait themselves.
///
/// It is local to this host, and the thread keeps it while it calls other hosts. When the last activation of
/// the thread here ends, resources that it still owns are released, the last acquisition first. Clones share
/// the resource.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{RtScheduling, SchedulingParameters};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let map = scheduling.create_resource_manager("map", None)?;
/// let important = SchedulingParameters::Importance { importance: 5 };
/// scheduling.current().segment("track", important, |_| -> Result<(), Box<dyn std::error::Error>> {
///     let _outer = map.lock()?;
///     let _inner = map.lock()?;
///     // No other thread uses it now.
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ResourceManager {
    resource: Arc<Resource>,
}

struct Resource {
    endsystem: Arc<Endsystem>,
    id: ResourceId,
    name: Box<str>,
}

impl RtScheduling {
    /// `Scheduler::create_resource_manager`: creates a resource. With a ceiling, owners are scheduled by at
    /// least these parameters: those of the most eligible thread that uses it. Without, owners inherit.
    ///
    /// # Errors
    /// The ceiling is for another scheduler.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let ceiling = SchedulingParameters::Importance { importance: 9 };
    /// let antenna = scheduling.create_resource_manager("antenna", Some(ceiling))?;
    /// assert_eq!(antenna.name(), "antenna");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_resource_manager(
        &self,
        name: &str,
        ceiling: Option<SchedulingParameters>,
    ) -> Result<ResourceManager, SchedulingError> {
        let endsystem = &self.endsystem;
        if let Some(ceiling) = &ceiling {
            endsystem.check(ceiling)?;
        }
        let resource = Resource {
            id: endsystem.dispatcher.create_resource(ceiling),
            endsystem: Arc::clone(endsystem),
            name: name.into(),
        };
        Ok(ResourceManager {
            resource: Arc::new(resource),
        })
    }
}

impl ResourceManager {
    /// Returns the name of the resource, for display.
    pub fn name(&self) -> &str {
        &self.resource.name
    }

    /// Waits until the current distributable thread owns the resource, or the deadline of its operation has
    /// passed. Dropping the guard releases the resource, and is a scheduling point.
    ///
    /// # Errors
    /// BAD_INV_ORDER: no distributable thread runs here, or the owner waits for a resource of this thread
    /// (deadlock). THREAD_CANCELLED, also during the wait. TIMEOUT: the deadline of the operation has passed.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// use punctual::rtscheduling::RtScheduling;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let map = scheduling.create_resource_manager("map", None)?;
    /// assert!(map.lock().is_err(), "no distributable thread runs here");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock(&self) -> Result<ResourceGuard<'_>, SystemException> {
        loop {
            if let Some(guard) = self.acquire(Time::NEVER)? {
                return Ok(guard);
            }
        }
    }

    /// Like [`lock`](Self::lock), but waits for at most `max_wait`, and not at all if that is zero; `None` if
    /// another thread still owns the resource. The CORBA operation counts units of 100 ns; this one has a
    /// resolution of one nanosecond, on the monotonic clock.
    ///
    /// # Errors
    /// As those of [`lock`](Self::lock).
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use std::time::Duration;
    /// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let map = scheduling.create_resource_manager("map", None)?;
    /// let important = SchedulingParameters::Importance { importance: 5 };
    /// scheduling.current().segment("track", important, |_| {
    ///     let guard = map.try_lock(Duration::ZERO)?;
    ///     assert!(guard.is_some(), "it had no owner");
    ///     Ok::<(), SchedulingError>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_lock(&self, max_wait: Duration) -> Result<Option<ResourceGuard<'_>>, SystemException> {
        self.acquire(now() + max_wait)
    }

    /// Returns the distributable thread that owns the resource.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// let scheduling = punctual::rtscheduling::RtScheduling::builder().build()?;
    /// assert_eq!(scheduling.create_resource_manager("map", None)?.owner(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn owner(&self) -> Option<DistributableThreadId> {
        self.resource.endsystem.dispatcher.owner_of(self.resource.id)
    }

    fn acquire(&self, deadline: Time) -> Result<Option<ResourceGuard<'_>>, SystemException> {
        let Resource { endsystem, id, .. } = &*self.resource;
        let (point, thread) = activations::scheduling_point(endsystem)?;
        let acquired = endsystem.dispatcher.acquire(*id, point, deadline);
        let acquired = acquired.map_err(activations::interrupted_at_point)?;
        Ok(acquired.then_some(ResourceGuard {
            manager: self,
            point,
            thread,
            on_this_thread: PhantomData,
        }))
    }
}

impl fmt::Debug for ResourceManager {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResourceManager")
            .field("name", &self.name())
            .field("owner", &self.owner())
            .finish()
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        self.endsystem.dispatcher.destroy_resource(self.id);
    }
}

/// Ownership of a [`ResourceManager`]'s resource; releases it when dropped. It stays on the OS thread that
/// locked.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
/// use punctual::{SystemException, rtscheduling::{ResourceGuard, ResourceManager, RtScheduling}};
///
/// /// The caller owns the map.
/// fn draw(_map: &ResourceGuard<'_>) {}
///
/// fn redraw(map: &ResourceManager) -> Result<(), SystemException> {
///     draw(&map.lock()?);
///     Ok(())
/// }
/// ```
#[must_use = "the resource is released when this is dropped"]
pub struct ResourceGuard<'r> {
    manager: &'r ResourceManager,
    point: SchedulingPoint,
    thread: DistributableThreadId,
    on_this_thread: PhantomData<*const ()>,
}

impl fmt::Debug for ResourceGuard<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ResourceGuard")
            .field(&self.manager.name())
            .finish()
    }
}

impl Drop for ResourceGuard<'_> {
    fn drop(&mut self) {
        let Resource { endsystem, id, .. } = &*self.manager.resource;
        endsystem.dispatcher.release(*id, self.point, Some(self.thread));
    }
}
