//! Resources that one distributable thread uses at a time, without priority inversion: who owns them, who waits, and which
//! parameters the owner is scheduled by. RT-CORBA 1.2, `RTScheduling::ResourceManager`.
//!
//! Decisions only, as in [`Scheduler`]: who drives it makes threads wait and go on, and tells the scheduler.

mod table;
mod waiters;

use alloc::vec::Vec;
use core::{cmp::Ordering, fmt, time::Duration};

use table::{Owned, Thread};

use super::{Claim, Scheduler, SchedulingParameters, Slot, Time};

/// The resources of one endsystem and the threads that use them.
///
/// - The owner of a resource inherits the parameters of its most eligible waiter, if they are more eligible than its own; along
///   chains of owners that wait themselves too. With a [ceiling](Protocol::Ceiling) it has at least that from the start.
/// - A resource is handed to the most eligible waiter when it is released: no thread can come in between. Equals go in the order
///   in which they came.
/// - A thread may take what it owns again; it has to release it as often.
/// - What would wait for ever in a circle is refused.
///
/// What makes progress in a resource does so for its waiters too, but a waiter's laxity shrinks meanwhile: owners inherit the
/// latest start, not the execution time ([`Claim::lent`]), and as long as somebody waits, their own latest start stays as it is.
///
/// Taking a resource that is free or releasing one for which nobody waits costs O(resources that the thread owns). Waiting costs
/// also O(waiters of that resource + length of the chain), at the worst: each that inherits takes its new place among those it
/// waits with. Nothing allocates within what was reserved.
///
/// ```
/// use core::time::Duration;
/// use punctual_sched::dynamic::{
///     MostImportantFirst, SchedulingParameters, Slot, Time,
///     resource::{Acquisition, By, Protocol, Release, Resources},
/// };
///
/// let scheduler = MostImportantFirst::new();
/// let by = By { scheduler: &scheduler, received: &|_| Duration::ZERO, now: Time(0) };
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
/// // The scheduler is to be told that `low` is as important as `high`.
/// assert_eq!((&changed[..], resources.effective(low)), (&[low][..], Some(&important(9))));
///
/// assert_eq!(resources.release(map, low, &by, &mut changed), Ok(Release::HandedTo(high)));
/// assert_eq!(resources.effective(low), Some(&important(1)));
/// # Ok::<(), punctual_sched::dynamic::resource::ResourceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// By slot.
    threads: Vec<Option<Thread>>,
    /// By id; `None`: to be used again.
    resources: Vec<Option<Resource>>,
}

/// One of the [`Resources`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ResourceId(pub u32);

/// What its owner is scheduled by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// By its own parameters, whoever waits. For comparison: waits are then as long as less eligible threads keep the owner from
    /// running.
    None,
    /// By its own parameters, or those of the most eligible waiter.
    Inheritance,
    /// At least by these from the moment it owns it: those of the most eligible thread that uses the resource. (And by those of
    /// a waiter that is still more eligible.) Deadlines are points in time here too: `Time(0)` is before all others.
    Ceiling(SchedulingParameters),
}

/// By what eligibilities are compared.
#[derive(Clone, Copy)]
pub struct By<'a> {
    /// The endsystem's scheduler. Parameters are of its kind.
    pub scheduler: &'a dyn Scheduler,
    /// The processor time that the present segment of a thread has had.
    pub received: &'a dyn Fn(Slot) -> Duration,
    /// The present time.
    pub now: Time,
}

/// What has come of [`Resources::acquire`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Acquisition {
    /// The thread owns it now.
    Taken,
    /// The thread owned it already.
    Again,
    /// It waits: it is not ready, until [`Release::HandedTo`] names it or [`Resources::stop_waiting`] is called.
    Waits,
}

/// What has come of [`Resources::release`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Release {
    /// The thread has taken it more often than released.
    Kept,
    /// Nobody owns it.
    Free,
    /// This thread waited for it, and now owns it. It is ready.
    HandedTo(Slot),
}

/// Why a call had no effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ResourceError {
    /// There is no such resource.
    NoSuchResource(ResourceId),
    /// The thread has no parameters yet: [`Resources::set_base`].
    NoSuchThread(Slot),
    /// The thread waits already.
    Waits(Slot),
    /// The thread would wait for ever: for the resource's owner, which waits for what the thread owns.
    Deadlock {
        /// What was asked for.
        resource: ResourceId,
        /// Who owns it.
        owner: Slot,
    },
    /// The resource is not the thread's.
    NotOwner(ResourceId),
    /// Somebody owns it, so it cannot be destroyed.
    Owned(ResourceId),
    /// The thread owns this resource, so it cannot leave.
    Owns(ResourceId),
}

#[derive(Clone, Copy, Debug)]
struct Resource {
    protocol: Protocol,
    owned: Option<Owned>,
    first_waiter: Option<Slot>,
    last_waiter: Option<Slot>,
}

impl Resources {
    /// Without resources and threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for the slots below `threads`, and for so many resources.
    pub fn reserve(&mut self, threads: usize, resources: usize) {
        if self.threads.len() < threads {
            self.threads.resize(threads, None);
        }
        let missing = resources.saturating_sub(self.resources.len());
        self.resources.reserve(missing);
    }

    /// Makes a resource that nobody owns. Takes O(resources), to use old ids again.
    pub fn create(&mut self, protocol: Protocol) -> ResourceId {
        let resource = Some(Resource {
            protocol,
            owned: None,
            first_waiter: None,
            last_waiter: None,
        });
        let place = match self.resources.iter().position(Option::is_none) {
            Some(place) => {
                self.resources[place] = resource;
                place
            }
            None => {
                self.resources.push(resource);
                self.resources.len() - 1
            }
        };
        ResourceId(place as u32)
    }

    /// What the resource's owners are scheduled by from now on; an owner that it has already from its next change on.
    pub fn set_protocol(&mut self, resource: ResourceId, protocol: Protocol) -> Result<(), ResourceError> {
        self.resource_mut(resource)?.protocol = protocol;
        Ok(())
    }

    /// Ends a resource that nobody owns.
    pub fn destroy(&mut self, resource: ResourceId) -> Result<(), ResourceError> {
        match self.resource(resource)?.owned {
            Some(_) => Err(ResourceError::Owned(resource)),
            None => {
                self.resources[resource.index()] = None;
                Ok(())
            }
        }
    }

    /// What a thread is scheduled by without resources: when it begins, and when a segment begins, ends or is updated. Its
    /// [effective](Self::effective) parameters follow.
    ///
    /// All calls add the threads whose effective parameters have become others to `changed`, some perhaps twice: those that are
    /// ready are to be updated with the scheduler.
    pub fn set_base(
        &mut self,
        thread: Slot,
        parameters: &SchedulingParameters,
        by: &By<'_>,
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

    /// The thread has ended, or left this host for good. It has to have released all: see [`last_taken`](Self::last_taken).
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

    /// The thread wants the resource.
    pub fn acquire(
        &mut self,
        resource: ResourceId,
        thread: Slot,
        by: &By<'_>,
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
                Ok(Acquisition::Again)
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

    /// The thread gives the resource back, as often as it has taken it.
    pub fn release(
        &mut self,
        resource: ResourceId,
        thread: Slot,
        by: &By<'_>,
        changed: &mut Vec<Slot>,
    ) -> Result<Release, ResourceError> {
        match &mut self.resource_mut(resource)?.owned {
            Some(owned) if owned.owner == thread => {
                owned.depth -= 1;
                if owned.depth > 0 {
                    return Ok(Release::Kept);
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

    /// The thread does not want any more what it waits for: it is cancelled, or its time is over. Gives what it was; `None`
    /// where it does not wait, perhaps because it owns the resource in the meantime.
    pub fn stop_waiting(&mut self, thread: Slot, by: &By<'_>, changed: &mut Vec<Slot>) -> Option<ResourceId> {
        let resource = self.thread(thread).ok()?.waits_for?;
        self.stop(thread);
        if let Some(owner) = self.owner(resource) {
            self.inherit(owner, by, changed);
        }
        Some(resource)
    }

    /// By what the thread is to be scheduled; `None` where it is not known.
    pub fn effective(&self, thread: Slot) -> Option<&SchedulingParameters> {
        Some(&self.thread(thread).ok()?.effective)
    }

    /// Whose it is; `None`: nobody's.
    pub fn owner(&self, resource: ResourceId) -> Option<Slot> {
        Some(self.resource(resource).ok()?.owned?.owner)
    }

    /// For what the thread waits.
    pub fn waits_for(&self, thread: Slot) -> Option<ResourceId> {
        self.thread(thread).ok()?.waits_for
    }

    /// Of what the thread owns, what it has taken last: a cancelled thread releases everything in this order.
    pub fn last_taken(&self, thread: Slot) -> Option<ResourceId> {
        self.thread(thread).ok()?.last_taken
    }
}

impl ResourceId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

impl By<'_> {
    /// Of parameters that were lent: what a thread has received makes no difference to them.
    fn compare(&self, one: &SchedulingParameters, other: &SchedulingParameters) -> Ordering {
        let claim = |parameters: &SchedulingParameters| Claim::new(*parameters, Duration::ZERO);
        self.scheduler.compare(&claim(one), &claim(other), self.now)
    }
}

impl fmt::Debug for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("By")
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
                    "there is no resource {id}; it has been destroyed, or never was created"
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
                    "thread {slot} waits for a resource already; end that wait first"
                )
            }
            Self::Deadlock {
                resource: ResourceId(id),
                owner: Slot(owner),
            } => write!(
                f,
                "waiting for resource {id} would never end: its owner, thread {owner}, waits for what this thread owns; \
                 take resources in the same order everywhere"
            ),
            Self::NotOwner(ResourceId(id)) => {
                write!(
                    f,
                    "resource {id} is not this thread's; only its owner can release it"
                )
            }
            Self::Owned(ResourceId(id)) => {
                write!(f, "resource {id} has an owner; destroy it once it is released")
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
