//! The handle of an endsystem.

use std::sync::Arc;

use punctual_orb::{Orb, OrbError};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_stub::ObjectRef;
use punctual_types::DistributableThreadId;

use crate::{
    current::Current,
    dispatcher::{self, Decision, ThreadSnapshot},
    distributable_thread::DistributableThread,
    endsystem::Endsystem,
    error::SchedulingError,
    manager::SchedulerManager,
    remote::{ThreadControl, ThreadControlSpec},
    storage::RetainedStorage,
};

/// Real-time CORBA 1.2 at one endsystem: its scheduler, and the distributable threads that are here. Clones
/// are cheap and share the endsystem.
///
/// A process has one, in all of its ORBs; two would each run as many threads as there are processors.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{
///     Mechanism, MostImportantFirst, RtScheduling, SchedulingError, SchedulingParameters,
/// };
///
/// let scheduling = RtScheduling::builder()
///     .scheduler(MostImportantFirst::new())
///     .mechanism(Mechanism::ReadyQueue)
///     .build()?;
/// let important = SchedulingParameters::Importance { importance: 5 };
/// let answer = scheduling.current().segment("track", important, |segment| {
///     segment.update(SchedulingParameters::Importance { importance: 7 })?;
///     Ok::<_, SchedulingError>(42)
/// })?;
/// assert_eq!(answer, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RtScheduling {
    pub(crate) endsystem: Arc<Endsystem>,
}

impl RtScheduling {
    /// `RTScheduling::Current` of the calling OS thread.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// let scheduling = punctual::rtscheduling::RtScheduling::builder().build()?;
    /// assert!(scheduling.current().id().is_err(), "none yet");
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn current(&self) -> Current<'_> {
        Current::new(&self.endsystem)
    }

    /// `RTScheduler_Manager`: inspects and replaces the scheduler.
    pub fn manager(&self) -> SchedulerManager<'_> {
        SchedulerManager::new(&self.endsystem)
    }

    /// Resolves the local objects of `ORB::resolve_initial_references`: `RTScheduler`, `RTScheduler_Current`,
    /// `RTScheduler_Manager` (\[Gill 2004\]) or `RTSchedulerManager` (TAO). `None` for other names.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// use punctual::rtscheduling::{InitialReference, RtScheduling};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let found = scheduling.resolve_initial_reference("RTScheduler");
    /// let Some(InitialReference::Scheduler(name)) = found else { panic!("RTScheduler is known") };
    /// assert_eq!(name, "MIF");
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn resolve_initial_reference(&self, name: &str) -> Option<InitialReference<'_>> {
        match name {
            "RTScheduler" => Some(InitialReference::Scheduler(self.manager().scheduler_name())),
            "RTScheduler_Current" => Some(InitialReference::Current(self.current())),
            "RTScheduler_Manager" | "RTSchedulerManager" => Some(InitialReference::Manager(self.manager())),
            _ => None,
        }
    }

    /// Returns the thread with this id, if it is known at this endsystem: it began here and has not ended, or
    /// has an activation here.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{DistributableThreadState, RtScheduling, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
    /// let id = current.id()?;
    /// assert_eq!(scheduling.lookup(id).unwrap().state()?, DistributableThreadState::Active);
    /// current.end_scheduling_segment("track")?;
    /// assert!(scheduling.lookup(id).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup(&self, id: DistributableThreadId) -> Option<DistributableThread> {
        self.endsystem.dispatcher.is_cancelled(id)?;
        Some(DistributableThread::new(&self.endsystem, id))
    }

    /// Returns the distributable threads that are known here, unordered, for inspection only. Allocates.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters, ThreadStatus};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
    /// let threads = scheduling.snapshot();
    /// assert_eq!((threads[0].name.as_str(), threads[0].status), ("track", ThreadStatus::Running));
    /// current.end_scheduling_segment("track")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Vec<ThreadSnapshot> {
        self.endsystem.dispatcher.inspect(|state| state.snapshot())
    }

    /// Lets other hosts locate and cancel the distributable threads of this endsystem: see
    /// [`remote`](crate::remote). The control covers the threads of all ORBs of this endsystem, and is
    /// reached through this ORB.
    ///
    /// Open it before the ORB creates the references that other hosts call: only those contain its reference.
    ///
    /// # Errors
    /// As for creating a thread pool and publishing an object; an ORB has one control.
    ///
    /// ```
    /// # mod punctual {
    /// #     pub use {punctual_orb::*, punctual_stub::Interface};
    /// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
    /// # }
    /// use std::time::Duration;
    ///
    /// use punctual::{Interface, Orb};
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters};
    /// use punctual::rtscheduling::remote::{RemoteThread, ThreadControlRef, ThreadControlSpec};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let control = scheduling.open_control(&orb, ThreadControlSpec::default())?;
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
    ///
    /// // At another host, which has received the id and the reference:
    /// let (id, reference) = (current.id()?, control.reference().as_object().to_ior());
    /// let other = Orb::builder().build()?;
    /// let control: ThreadControlRef = other.resolve(&reference)?;
    /// let thread = RemoteThread::find(id, &[control], Duration::from_secs(1))?;
    /// assert!(thread.cancel(Duration::from_secs(1))?.cancelled);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_control(&self, orb: &Orb, spec: ThreadControlSpec) -> Result<ThreadControl, OrbError> {
        ThreadControl::open(orb, self.endsystem.clone(), spec)
    }

    /// `Scheduler::set_scheduling_parameter`: lets one distributable thread at a time execute operations of
    /// the object, scheduled there by at least these parameters: those of the most eligible thread that calls
    /// it. A second call sets other parameters for later threads.
    ///
    /// The object behaves as a [`ResourceManager`](crate::ResourceManager) that each request locks before the
    /// servant is called, and releases before the reply is sent; the owner may call back. Threads wait
    /// without a deadline, on the lane thread that serves them, so the lane needs as many threads as there
    /// are callers. A request without a distributable thread gets one until it ends, with the endsystem's
    /// default parameters.
    ///
    /// # Errors
    /// The parameters are for another scheduler; BAD_PARAM: the reference has no known profile.
    pub fn set_scheduling_parameter(
        &self,
        object: &ObjectRef,
        parameters: SchedulingParameters,
    ) -> Result<(), SchedulingError> {
        self.endsystem.check(&parameters)?;
        let dispatcher = &self.endsystem.dispatcher;
        Ok(self.endsystem.objects.set(dispatcher, object, parameters)?)
    }

    /// Returns the number of distributable threads that are known here.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// let scheduling = punctual::rtscheduling::RtScheduling::builder().build()?;
    /// assert_eq!(scheduling.threads(), 0);
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn threads(&self) -> usize {
        self.endsystem.dispatcher.inspect(|state| state.thread_count())
    }

    /// Returns the storage of threads of other hosts that have left and may return.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// let scheduling = punctual::rtscheduling::RtScheduling::builder().build()?;
    /// assert!(scheduling.retained_storage().is_empty());
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn retained_storage(&self) -> &Arc<RetainedStorage> {
        &self.endsystem.retained
    }

    /// Reads the clock of deadlines: CLOCK_MONOTONIC.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// use std::time::Duration;
    ///
    /// let scheduling = punctual::rtscheduling::RtScheduling::builder().build()?;
    /// let deadline = scheduling.now() + Duration::from_millis(20);
    /// assert!(scheduling.now() < deadline);
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn now(&self) -> Time {
        dispatcher::now()
    }

    /// Returns the newest decisions, the oldest first;
    /// [`RtSchedulingBuilder::record_decisions`](crate::RtSchedulingBuilder::record_decisions) sets their
    /// number.
    pub fn decisions(&self) -> Vec<Decision> {
        self.endsystem
            .dispatcher
            .inspect(|state| state.decisions().to_vec())
    }

    /// Removes all recorded decisions.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// let scheduling = punctual::rtscheduling::RtScheduling::builder().record_decisions(10).build()?;
    /// scheduling.clear_decisions();
    /// assert!(scheduling.decisions().is_empty());
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn clear_decisions(&self) {
        self.endsystem
            .dispatcher
            .inspect(|state| state.decisions().clear());
    }
}

/// Result of [`RtScheduling::resolve_initial_reference`].
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{InitialReference, RtScheduling};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let found = scheduling.resolve_initial_reference("RTScheduler_Manager");
/// assert!(matches!(found, Some(InitialReference::Manager(_))));
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
pub enum InitialReference<'s> {
    /// Name of the installed scheduler; the scheduler itself belongs to the endsystem.
    Scheduler(String),
    /// The current thread of the calling OS thread.
    Current(Current<'s>),
    /// The scheduler manager.
    Manager(SchedulerManager<'s>),
}
