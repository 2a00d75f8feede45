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

/// A resource that one distributable thread uses at a time: `RTScheduling::ResourceManager`, which is an `RTCORBA::Mutex`.
///
/// It belongs to the distributable thread, whatever thread of the system runs it: a thread that has it and comes back in a call
/// back has it still, and takes it once more. Waiters get it in the order of the scheduler. Whoever has it is scheduled by the
/// parameters of its most eligible waiter where those are more eligible than its own; with a ceiling, by at least that from the
/// start. That holds along chains of owners that wait themselves.
///
/// It is of this host, and stays the thread's while the thread calls other hosts. When the thread's last visit here ends, what it
/// has not released is released, the last first. Cloning shares it.
///
/// ```
/// use punctual_rtsched::RtScheduling;
/// use punctual_sched::dynamic::SchedulingParameters;
///
/// let scheduling = RtScheduling::builder().build()?;
/// let map = scheduling.create_resource_manager("map", None)?;
/// let important = SchedulingParameters::Importance { importance: 5 };
/// scheduling.current().segment("track", important, |_| -> Result<(), Box<dyn std::error::Error>> {
///     let _outer = map.lock()?;
///     let _inner = map.lock()?;
///     // Nobody else uses it now.
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
    /// `Scheduler::create_resource_manager`. With `ceiling` whoever has the resource is scheduled by at least these parameters: those
    /// of the most eligible thread that uses it. Without, it inherits.
    ///
    /// # Errors
    /// The ceiling is for another scheduler.
    ///
    /// ```
    /// use punctual_rtsched::RtScheduling;
    /// use punctual_sched::dynamic::SchedulingParameters;
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
    /// As it was given; for people.
    pub fn name(&self) -> &str {
        &self.resource.name
    }

    /// Waits until the current distributable thread has the resource, or its operation's limit has passed; dropping the guard
    /// releases it, and is a scheduling point.
    ///
    /// # Errors
    /// BAD_INV_ORDER: no distributable thread runs here, or the owner waits for what this thread has, so that both would wait for
    /// ever. THREAD_CANCELLED, also while it waits. TIMEOUT: the limit of the operation has passed.
    ///
    /// ```
    /// use punctual_rtsched::RtScheduling;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let map = scheduling.create_resource_manager("map", None)?;
    /// assert!(map.lock().is_err(), "no distributable thread runs here");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock(&self) -> Result<ResourceGuard<'_>, SystemException> {
        let guard = self.acquire(Time::NEVER)?;
        Ok(guard.expect("without a time-out it waits until it has it"))
    }

    /// As [`lock`](Self::lock), for `max_wait` at most, with zero not at all; `None` where another thread has it to the end. The
    /// CORBA operation counts in units of 100 ns; this one to the nanosecond, on the monotonic clock.
    ///
    /// # Errors
    /// As those of [`lock`](Self::lock).
    ///
    /// ```
    /// use std::time::Duration;
    /// use punctual_rtsched::{RtScheduling, SchedulingError};
    /// use punctual_sched::dynamic::SchedulingParameters;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let map = scheduling.create_resource_manager("map", None)?;
    /// let important = SchedulingParameters::Importance { importance: 5 };
    /// scheduling.current().segment("track", important, |_| {
    ///     let guard = map.try_lock(Duration::ZERO)?;
    ///     assert!(guard.is_some(), "nobody had it");
    ///     Ok::<(), SchedulingError>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_lock(&self, max_wait: Duration) -> Result<Option<ResourceGuard<'_>>, SystemException> {
        self.acquire(now() + max_wait)
    }

    /// Which distributable thread has it.
    ///
    /// ```
    /// let scheduling = punctual_rtsched::RtScheduling::builder().build()?;
    /// assert_eq!(scheduling.create_resource_manager("map", None)?.owner(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn owner(&self) -> Option<DistributableThreadId> {
        self.resource.endsystem.dispatcher.owner_of(self.resource.id)
    }

    fn acquire(&self, until: Time) -> Result<Option<ResourceGuard<'_>>, SystemException> {
        let Resource { endsystem, id, .. } = &*self.resource;
        let (point, thread) = activations::scheduling_point(endsystem)?;
        let acquired = endsystem.dispatcher.acquire(*id, point, until);
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

/// The right to what a [`ResourceManager`] stands for; releases it when dropped. It stays on the thread of the system that locked.
///
/// ```
/// use punctual_rtsched::{ResourceGuard, ResourceManager, RtScheduling};
/// use punctual_types::SystemException;
///
/// /// Whoever calls it has the map.
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
