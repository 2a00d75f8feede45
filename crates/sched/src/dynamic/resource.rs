//! Resources that one distributable thread owns at a time, without priority inversion: owners, waiters, and
//! the parameters by which owners are scheduled. RTCORBA 1.2, `RTScheduling::ResourceManager`.
//!
//! This module only decides, as [`Scheduler`] does: the caller makes threads wait and continue, and informs
//! the scheduler.

mod table;
mod waiters;

use alloc::vec::Vec;
use core::{cmp::Ordering, fmt, time::Duration};

use table::{Owned, Thread};

use super::{Claim, Scheduler, SchedulingParameters, Slot, Time};

/// The resources of one endsystem and the threads that use them.
///
/// - The owner of a resource inherits the parameters of its most eligible waiter if they are more eligible
///   than its own, and so do further owners along a chain of waits. With a [ceiling](Protocol::Ceiling) it
///   has at least that from the start.
/// - A released resource is handed to its most eligible waiter, so no other thread can take it in between.
///   Equals are served in the order of their arrival.
/// - Ownership is reentrant: the owner may take the resource again, and has to release it as often.
/// - A wait that would be a deadlock is refused.
///
/// The progress of an owner serves its waiters, but their laxities decrease meanwhile: owners inherit the
/// latest start, not the execution time ([`Claim::lent`]), and their own latest start is constant while other
/// threads wait.
///
/// Taking a free resource and releasing one without waiters take O(resources that the thread owns). Waiting
/// also takes O(waiters of the resource + length of the chain) in the worst case, because each inheriting
/// thread is moved among the waiters that it belongs to. No operation allocates within the reserved memory.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Acquisition, Criteria, Protocol, Release, Resources};
///
/// let scheduler = MostImportantFirst::new();
/// let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// let important = |importance| SchedulingParameters::Importance { importance };
/// let (mut resources, mut changed) = (Resources::new(), Vec::new());
///
/// let (low, high) = (Slot(0), Slot(1));
/// resources.set_base(low, &important(1), &by, &mut changed);
/// resources.set_base(high, &important(9), &by, &mut changed);
/// let map = resources.create(Protocol::Inheritance);
///
/// changed.clear();
/// assert_eq!(resources.acquire(map, low, &by, &mut changed), Ok(Acquisition::Taken));
/// assert_eq!(resources.acquire(map, high, &by, &mut changed), Ok(Acquisition::Waits));
/// // The caller informs the scheduler that `low` is now as important as `high`.
/// assert_eq!((&changed[..], resources.effective(low)), (&[low][..], Some(&important(9))));
///
/// assert_eq!(resources.release(map, low, &by, &mut changed), Ok(Release::HandedTo(high)));
/// assert_eq!(resources.effective(low), Some(&important(1)));
/// # Ok::<(), punctual_sched::dynamic::resource::ResourceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Threads by slot.
    threads: Vec<Option<Thread>>,
    /// Resources by id; `None` for ids that can be reused.
    resources: Vec<Option<Resource>>,
}

/// Identity of a resource in [`Resources`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Criteria, Protocol, ResourceId, Resources};
///
/// # let scheduler = MostImportantFirst::new();
/// # let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// # let important = |importance| SchedulingParameters::Importance { importance };
/// # let (mut resources, mut changed) = (Resources::new(), Vec::new());
/// # let (low, high) = (Slot(0), Slot(1));
/// # resources.set_base(low, &important(1), &by, &mut changed);
/// # resources.set_base(high, &important(9), &by, &mut changed);
/// let map: ResourceId = resources.create(Protocol::Inheritance);
/// resources.acquire(map, low, &by, &mut changed)?;
/// assert_eq!(resources.owner(map), Some(low));
/// assert_eq!(resources.last_taken(low), Some(map));
/// # Ok::<(), punctual_sched::dynamic::resource::ResourceError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ResourceId(pub u32);

/// Parameters by which the owner of a resource is scheduled.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Criteria, Protocol, Resources};
///
/// # let scheduler = MostImportantFirst::new();
/// # let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// # let important = |importance| SchedulingParameters::Importance { importance };
/// # let (mut resources, mut changed) = (Resources::new(), Vec::new());
/// # let (low, high) = (Slot(0), Slot(1));
/// # resources.set_base(low, &important(1), &by, &mut changed);
/// # resources.set_base(high, &important(9), &by, &mut changed);
/// // The most eligible thread that uses the map has importance 9.
/// let map = resources.create(Protocol::Ceiling(important(9)));
/// resources.acquire(map, low, &by, &mut changed)?;
/// assert_eq!(resources.effective(low), Some(&important(9)), "before anyone waits");
/// # Ok::<(), punctual_sched::dynamic::resource::ResourceError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// Its own. For comparisons: other threads can delay the owner, and with it all waiters, for any time.
    None,
    /// Its own, or those of the most eligible waiter.
    Inheritance,
    /// The owner has at least these parameters from the beginning of the ownership, which should be those of
    /// the most eligible thread that uses the resource. A waiter of still greater eligibility lends its
    /// parameters. Deadlines are points in time: `Time(0)` precedes all others.
    Ceiling(SchedulingParameters),
}

/// Criteria by which eligibilities are compared.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Criteria, Resources};
///
/// // The dispatcher passes its scheduler, its clock, and what threads have received.
/// let scheduler = MostImportantFirst::new();
/// let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// let (mut resources, mut changed) = (Resources::new(), Vec::new());
/// let important = SchedulingParameters::Importance { importance: 9 };
/// resources.set_base(Slot(0), &important, &by, &mut changed);
/// assert_eq!(resources.effective(Slot(0)), Some(&important));
/// ```
#[derive(Clone, Copy)]
pub struct Criteria<'a> {
    /// Scheduler of the endsystem. All parameters are of its kind.
    pub scheduler: &'a dyn Scheduler,
    /// Processor time that the present segment of a thread has received.
    pub received: &'a dyn Fn(Slot) -> Duration,
    /// Present time.
    pub now: Time,
}

/// Result of [`Resources::acquire`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Acquisition, Criteria, Protocol, Resources};
///
/// # let scheduler = MostImportantFirst::new();
/// # let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// # let important = |importance| SchedulingParameters::Importance { importance };
/// # let (mut resources, mut changed) = (Resources::new(), Vec::new());
/// # let (low, high) = (Slot(0), Slot(1));
/// # resources.set_base(low, &important(1), &by, &mut changed);
/// # resources.set_base(high, &important(9), &by, &mut changed);
/// let map = resources.create(Protocol::Inheritance);
/// assert_eq!(resources.acquire(map, low, &by, &mut changed)?, Acquisition::Taken);
/// assert_eq!(resources.acquire(map, low, &by, &mut changed)?, Acquisition::Reentered);
/// assert_eq!(resources.acquire(map, high, &by, &mut changed)?, Acquisition::Waits);
/// # Ok::<(), punctual_sched::dynamic::resource::ResourceError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Acquisition {
    /// The thread now owns the resource.
    Taken,
    /// The thread owned the resource already.
    Reentered,
    /// The thread waits and is not ready until [`Release::HandedTo`] names it or [`Resources::stop_waiting`]
    /// is called.
    Waits,
}

/// Result of [`Resources::release`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Criteria, Protocol, Release, Resources};
///
/// # let scheduler = MostImportantFirst::new();
/// # let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// # let important = |importance| SchedulingParameters::Importance { importance };
/// # let (mut resources, mut changed) = (Resources::new(), Vec::new());
/// # let (low, high) = (Slot(0), Slot(1));
/// # resources.set_base(low, &important(1), &by, &mut changed);
/// # resources.set_base(high, &important(9), &by, &mut changed);
/// let map = resources.create(Protocol::Inheritance);
/// resources.acquire(map, low, &by, &mut changed)?;
/// resources.acquire(map, high, &by, &mut changed)?;
/// assert_eq!(resources.release(map, low, &by, &mut changed)?, Release::HandedTo(high));
/// assert_eq!(resources.release(map, high, &by, &mut changed)?, Release::Free);
/// # Ok::<(), punctual_sched::dynamic::resource::ResourceError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Release {
    /// The thread still owns the resource, which it has taken several times.
    StillOwned,
    /// The resource is free.
    Free,
    /// This thread waited for the resource and now owns it. It is ready.
    HandedTo(Slot),
}

/// Error of a call that had no effect.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SchedulingParameters, Slot, Time};
/// use punctual::rtscheduling::resource::{Criteria, Protocol, ResourceError, Resources};
///
/// # let scheduler = MostImportantFirst::new();
/// # let by = Criteria { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
/// # let important = |importance| SchedulingParameters::Importance { importance };
/// # let (mut resources, mut changed) = (Resources::new(), Vec::new());
/// # let (low, high) = (Slot(0), Slot(1));
/// # resources.set_base(low, &important(1), &by, &mut changed);
/// # resources.set_base(high, &important(9), &by, &mut changed);
/// let (map, log) = (resources.create(Protocol::Inheritance), resources.create(Protocol::Inheritance));
/// resources.acquire(map, low, &by, &mut changed)?;
/// resources.acquire(log, high, &by, &mut changed)?;
/// resources.acquire(map, high, &by, &mut changed)?;
/// // `high` waits for the map of `low`, which would wait for the log of `high`.
/// let refused = resources.acquire(log, low, &by, &mut changed);
/// assert_eq!(refused, Err(ResourceError::Deadlock { resource: log, owner: high }));
/// # Ok::<(), ResourceError>(())
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum ResourceError {
    /// The resource does not exist.
    NoSuchResource(ResourceId),
    /// The thread has no parameters; call [`Resources::set_base`] first.
    NoSuchThread(Slot),
    /// The thread already waits for a resource.
    Waits(Slot),
    /// The wait would be a deadlock: the owner of the resource waits for a resource of the thread.
    Deadlock {
        /// Requested resource.
        resource: ResourceId,
        /// Its owner.
        owner: Slot,
    },
    /// The thread does not own the resource.
    NotOwner(ResourceId),
    /// The resource has an owner and cannot be destroyed.
    Owned(ResourceId),
    /// The thread owns this resource and cannot leave.
    Owns(ResourceId),
}

punctual_types::debug_as_display!(ResourceError);

#[derive(Clone, Copy, Debug)]
struct Resource {
    protocol: Protocol,
    owned: Option<Owned>,
    first_waiter: Option<Slot>,
    last_waiter: Option<Slot>,
}

impl Resources {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves memory for the slots below `threads`, and for `resources` resources.
    pub fn reserve(&mut self, threads: usize, resources: usize) {
        if self.threads.len() < threads {
            self.threads.resize(threads, None);
        }
        let missing = resources.saturating_sub(self.resources.len());
        self.resources.reserve(missing);
    }

    /// Creates a free resource. Takes O(resources) to reuse ids.
    pub fn create(&mut self, protocol: Protocol) -> ResourceId {
        let resource = Some(Resource {
            protocol,
            owned: None,
            first_waiter: None,
            last_waiter: None,
        });
        let index = match self.resources.iter().position(Option::is_none) {
            Some(index) => {
                self.resources[index] = resource;
                index
            }
            None => {
                self.resources.push(resource);
                self.resources.len() - 1
            }
        };
        ResourceId(index as u32)
    }

    /// Sets the protocol of a resource. It applies to a present owner from its next change on.
    pub fn set_protocol(&mut self, resource: ResourceId, protocol: Protocol) -> Result<(), ResourceError> {
        self.resource_mut(resource)?.protocol = protocol;
        Ok(())
    }

    /// Destroys a free resource.
    pub fn destroy(&mut self, resource: ResourceId) -> Result<(), ResourceError> {
        match self.resource(resource)?.owned {
            Some(_) => Err(ResourceError::Owned(resource)),
            None => {
                self.resources[resource.index()] = None;
                Ok(())
            }
        }
    }

    /// Sets the base parameters of a thread, by which it is scheduled without resources: when it begins, and
    /// when a segment begins, ends or is updated. Its [effective](Self::effective) parameters follow.
    ///
    /// This and all other calls append the threads whose effective parameters have changed to `changed`,
    /// possibly twice. The caller updates those that are ready in the scheduler.
    pub fn set_base(
        &mut self,
        thread: Slot,
        parameters: &SchedulingParameters,
        by: &Criteria<'_>,
        changed: &mut Vec<Slot>,
    ) {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, None);
        }
        match &mut self.threads[thread.index()] {
            Some(known) => known.base = *parameters,
            unknown => *unknown = Some(Thread::new(*parameters)),
        }
        self.inherit(thread, by, changed);
    }

    /// Removes a thread that has ended or left this host for good. It must have released all resources; see
    /// [`last_taken`](Self::last_taken).
    pub fn leave(&mut self, thread: Slot) -> Result<(), ResourceError> {
        let known = self.thread(thread)?;
        if let Some(resource) = known.last_taken {
            return Err(ResourceError::Owns(resource));
        }
        if known.waits_for.is_some() {
            return Err(ResourceError::Waits(thread));
        }
        self.threads[thread.index()] = None;
        Ok(())
    }

    /// Takes a resource for a thread, or makes the thread wait for it.
    pub fn acquire(
        &mut self,
        resource: ResourceId,
        thread: Slot,
        by: &Criteria<'_>,
        changed: &mut Vec<Slot>,
    ) -> Result<Acquisition, ResourceError> {
        if self.thread(thread)?.waits_for.is_some() {
            return Err(ResourceError::Waits(thread));
        }
        match &mut self.resource_mut(resource)?.owned {
            None => {
                self.take(resource, thread, by, changed);
                Ok(Acquisition::Taken)
            }
            Some(owned) if owned.owner == thread => {
                owned.depth += 1;
                Ok(Acquisition::Reentered)
            }
            Some(owned) => {
                let owner = owned.owner;
                if self.waits_for_thread(owner, thread) {
                    return Err(ResourceError::Deadlock { resource, owner });
                }
                self.wait(resource, thread, by);
                self.inherit(owner, by, changed);
                Ok(Acquisition::Waits)
            }
        }
    }

    /// Releases a resource once; the thread owns it until it has released it as often as taken.
    pub fn release(
        &mut self,
        resource: ResourceId,
        thread: Slot,
        by: &Criteria<'_>,
        changed: &mut Vec<Slot>,
    ) -> Result<Release, ResourceError> {
        match &mut self.resource_mut(resource)?.owned {
            Some(owned) if owned.owner == thread => {
                owned.depth -= 1;
                if owned.depth > 0 {
                    return Ok(Release::StillOwned);
                }
            }
            _ => return Err(ResourceError::NotOwner(resource)),
        }
        self.give_back(resource, thread);
        let next = self.first_waiter(resource);
        if let Some(next) = next {
            self.stop(next);
            self.take(resource, next, by, changed);
        }
        self.inherit(thread, by, changed);
        Ok(next.map_or(Release::Free, Release::HandedTo))
    }

    /// Ends the wait of a thread that is cancelled or whose timeout has expired. Returns the resource; `None`
    /// if the thread does not wait, possibly because it now owns the resource.
    pub fn stop_waiting(
        &mut self,
        thread: Slot,
        by: &Criteria<'_>,
        changed: &mut Vec<Slot>,
    ) -> Option<ResourceId> {
        let resource = self.thread(thread).ok()?.waits_for?;
        self.stop(thread);
        if let Some(owner) = self.owner(resource) {
            self.inherit(owner, by, changed);
        }
        Some(resource)
    }

    /// Returns the parameters by which a thread is scheduled; `None` if it is unknown.
    pub fn effective(&self, thread: Slot) -> Option<&SchedulingParameters> {
        Some(&self.thread(thread).ok()?.effective)
    }

    /// Returns the owner of a resource.
    pub fn owner(&self, resource: ResourceId) -> Option<Slot> {
        Some(self.resource(resource).ok()?.owned?.owner)
    }

    /// Returns the waiters of a resource, the most eligible first.
    pub fn waiters(&self, resource: ResourceId) -> impl Iterator<Item = Slot> + '_ {
        core::iter::successors(self.first_waiter(resource), |waiter| {
            self.thread(*waiter).ok()?.after
        })
    }

    /// Returns the resource for which a thread waits.
    pub fn waits_for(&self, thread: Slot) -> Option<ResourceId> {
        self.thread(thread).ok()?.waits_for
    }

    /// Returns the resource that a thread has taken last and still owns: a cancelled thread releases its
    /// resources in this order.
    pub fn last_taken(&self, thread: Slot) -> Option<ResourceId> {
        self.thread(thread).ok()?.last_taken
    }
}

impl ResourceId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Criteria<'_> {
    /// Compares lent parameters, which are independent of received processor time.
    fn compare(&self, one: &SchedulingParameters, other: &SchedulingParameters) -> Ordering {
        let claim = |parameters: &SchedulingParameters| Claim::new(*parameters, Duration::ZERO);
        self.scheduler.compare(&claim(one), &claim(other), self.now)
    }
}

impl fmt::Debug for Criteria<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Criteria")
            .field("scheduler", &self.scheduler.name())
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

impl core::error::Error for ResourceError {}

impl fmt::Display for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchResource(ResourceId(id)) => {
                write!(
                    f,
                    "resource {id} does not exist; it was destroyed or never created"
                )
            }
            Self::NoSuchThread(Slot(slot)) => {
                write!(
                    f,
                    "thread {slot} has no parameters; begin a segment before it takes resources"
                )
            }
            Self::Waits(Slot(slot)) => {
                write!(
                    f,
                    "thread {slot} already waits for a resource; end that wait first"
                )
            }
            Self::Deadlock {
                resource: ResourceId(id),
                owner: Slot(owner),
            } => write!(
                f,
                "waiting for resource {id} would be a deadlock: its owner, thread {owner}, waits for a \
                 resource of this thread; take resources in the same order everywhere"
            ),
            Self::NotOwner(ResourceId(id)) => {
                write!(
                    f,
                    "this thread does not own resource {id}; only its owner can release it"
                )
            }
            Self::Owned(ResourceId(id)) => {
                write!(f, "resource {id} has an owner; release it before it is destroyed")
            }
            Self::Owns(ResourceId(id)) => {
                write!(
                    f,
                    "the thread owns resource {id}; release it before the thread leaves"
                )
            }
        }
    }
}
