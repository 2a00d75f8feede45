//! `RTScheduling::Current`.

use std::{sync::Arc, time::Duration};

use punctual_sched::dynamic::{SchedulingParameters, SheddingPolicy, Time, TimedWork};
use punctual_types::{DistributableThreadId, SystemException};

use crate::{
    activations::{self, OpaqueParameters, SegmentSpec},
    dispatcher,
    distributable_thread::DistributableThread,
    endsystem::Endsystem,
    error::SchedulingError,
    operation::{self, Failure},
    segment::{self, Segment},
    spawn::{self, SpawnSpec},
};

/// `RTScheduling::Current`: the distributable thread that the calling OS thread executes.
///
/// Each operation except the first `begin` requires a distributable thread; without one, it fails with
/// BAD_INV_ORDER and minor code NO_DISTRIBUTABLE_THREAD. Operations that are scheduling points may wait for
/// the thread's turn, and fail with THREAD_CANCELLED after the thread was cancelled. A cancelled thread has
/// no open segments except scoped ones; what the OS thread does afterwards belongs to no distributable
/// thread.
///
/// ```
/// # mod punctual {
/// #     pub use punctual_types::*;
/// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
/// # }
/// use punctual::{Minor, rtscheduling::{RtScheduling, SchedulingParameters}};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let current = scheduling.current();
/// assert_eq!(current.id().unwrap_err().minor, Minor::NO_DISTRIBUTABLE_THREAD);
///
/// // As in the IDL. A segment of `segment` cannot be left open by mistake.
/// let parameters = SchedulingParameters::Importance { importance: 5 };
/// current.begin_scheduling_segment("track", parameters, None)?;
/// current.begin_scheduling_segment("correlate", parameters, None)?;
/// assert_eq!(current.current_scheduling_segment_names()?, ["correlate", "track"]);
/// current.end_scheduling_segment("correlate")?;
/// current.end_scheduling_segment("track")?;
/// # Ok::<(), punctual_rtsched::SchedulingError>(())
/// # .or_else(|error| Err(Box::<dyn std::error::Error>::from(error)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Current<'s> {
    endsystem: &'s Arc<Endsystem>,
}

impl<'s> Current<'s> {
    pub(crate) fn new(endsystem: &'s Arc<Endsystem>) -> Self {
        Self { endsystem }
    }

    /// Runs `work` in a scheduling segment: nested in the open segment, or of a new distributable thread
    /// where there is none.
    ///
    /// The scheduler sets the native priority of the OS thread. A thread that has set no CORBA priority
    /// derives the priority of its calls from the native one: set it if the objects have lanes.
    ///
    /// The segment ends with `work`, however that ends. Beginning and ending are scheduling points; if `work`
    /// succeeds and ending fails, that failure is the result.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let (outer, inner) = (
    ///     SchedulingParameters::Importance { importance: 5 },
    ///     SchedulingParameters::Importance { importance: 9 },
    /// );
    /// let current = scheduling.current();
    /// let names = current.segment("track", outer, |_| {
    ///     current.segment("correlate", inner, |_| {
    ///         Ok::<_, SchedulingError>(current.current_scheduling_segment_names()?)
    ///     })
    /// })?;
    /// assert_eq!(names, ["correlate", "track"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `work`; UNSUPPORTED_SCHEDULING_DISCIPLINE; THREAD_CANCELLED; IMP_LIMIT; NO_RESOURCES if the
    /// kernel does not admit a deadline.
    pub fn segment<R, E: From<SchedulingError>>(
        &self,
        name: &str,
        parameters: SchedulingParameters,
        work: impl FnOnce(&Segment<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        segment::run(self.endsystem, name, parameters, None, None, work)
    }

    /// Executes a segment like [`Self::segment`], with its own deadline and its own policy for work that can
    /// no longer meet it, instead of those of the parameters and of the endsystem.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use std::time::Duration;
    /// use punctual::rtscheduling::{
    ///     RateMonotonic, RtScheduling, SchedulingError, SchedulingParameters, SheddingPolicy, TimedWork,
    /// };
    ///
    /// let scheduling = RtScheduling::builder().scheduler(RateMonotonic::new()).build()?;
    /// let current = scheduling.current();
    /// let (period, importance) = (Duration::from_millis(20), 0);
    /// // It arrived long ago; with its execution time it would be late.
    /// let display = TimedWork {
    ///     deadline: current.now() + Duration::from_millis(1),
    ///     execution_time: Duration::from_millis(2),
    ///     is_critical: false,
    /// };
    /// let rate = SchedulingParameters::Rate { period, importance };
    /// let policy = SheddingPolicy::before_dispatch();
    /// let shed = current.timed_segment("display", rate, display, policy, |_| Ok::<_, SchedulingError>(()));
    /// assert!(shed.unwrap_err().is_lateness());
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Self::segment`]; TIMEOUT with OPERATION_CANCELLED if it was cancelled, with COMPLETED_NO before
    /// its beginning.
    pub fn timed_segment<R, E: From<SchedulingError>>(
        &self,
        name: &str,
        parameters: SchedulingParameters,
        timed: TimedWork,
        policy: SheddingPolicy,
        work: impl FnOnce(&Segment<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        segment::run(
            self.endsystem,
            name,
            parameters,
            None,
            Some((timed, policy)),
            work,
        )
    }

    /// Executes a segment like [`Self::segment`], with parameters for threads that are spawned in it,
    /// implicitly by oneway and asynchronous calls as well.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let (own, of_others) = (
    ///     SchedulingParameters::Importance { importance: 5 },
    ///     SchedulingParameters::Importance { importance: 2 },
    /// );
    /// let current = scheduling.current();
    /// current.segment_with_implicit("track", own, of_others, |_| {
    ///     assert_eq!(current.implicit_scheduling_parameter()?, Some(of_others));
    ///     Ok::<_, SchedulingError>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Self::segment`].
    pub fn segment_with_implicit<R, E: From<SchedulingError>>(
        &self,
        name: &str,
        parameters: SchedulingParameters,
        implicit: SchedulingParameters,
        work: impl FnOnce(&Segment<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        segment::run(self.endsystem, name, parameters, Some(implicit), None, work)
    }

    /// `begin_scheduling_segment`: begins a nested segment, or a new distributable thread where there is
    /// none. `implicit`: parameters of threads spawned in it; `None`: those of the segment.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// current.begin_scheduling_segment("track", parameters, None)?;
    /// current.end_scheduling_segment("track")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Self::segment`]; nothing has changed then.
    pub fn begin_scheduling_segment(
        &self,
        name: &str,
        parameters: SchedulingParameters,
        implicit: Option<SchedulingParameters>,
    ) -> Result<(), SchedulingError> {
        let segment = SegmentSpec {
            name,
            parameters,
            implicit,
            opaque: OpaqueParameters::default(),
            scoped: false,
            timed: None,
        };
        activations::begin(self.endsystem, &segment)?;
        Ok(())
    }

    /// `update_scheduling_segment`: updates the parameters of the innermost segment, which must have that
    /// name. A scheduling point. `implicit`: `None` leaves them.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// let importance = |importance| SchedulingParameters::Importance { importance };
    /// current.begin_scheduling_segment("track", importance(1), None)?;
    /// current.update_scheduling_segment("track", importance(2), None)?;
    /// assert_eq!(current.scheduling_parameter()?, importance(2));
    /// assert!(current.update_scheduling_segment("tarck", importance(3), None).is_err());
    /// current.end_scheduling_segment("track")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_PARAM with SEGMENT_NAME_WRONG and UNSUPPORTED_SCHEDULING_DISCIPLINE, which change nothing;
    /// THREAD_CANCELLED; TIMEOUT in an operation whose deadline has passed.
    pub fn update_scheduling_segment(
        &self,
        name: &str,
        parameters: SchedulingParameters,
        implicit: Option<SchedulingParameters>,
    ) -> Result<(), SchedulingError> {
        activations::update(self.endsystem, name, parameters, implicit)
    }

    /// `end_scheduling_segment`: ends the innermost segment, which must have that name. The end of the
    /// outermost one ends the thread. A scheduling point; if it fails with THREAD_CANCELLED or TIMEOUT, the
    /// segment has ended as well.
    ///
    /// ```
    /// # mod punctual {
    /// #     pub use punctual_types::*;
    /// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
    /// # }
    /// use punctual::{Minor, rtscheduling::{RtScheduling, SchedulingParameters}};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
    /// let wrong = current.end_scheduling_segment("correlate").unwrap_err();
    /// assert_eq!(wrong.minor, Minor::SEGMENT_NAME_WRONG);
    /// current.end_scheduling_segment("track")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_PARAM with SEGMENT_NAME_WRONG, or BAD_INV_ORDER with SEGMENT_IS_SCOPED: the segment is still open.
    /// Otherwise as above.
    pub fn end_scheduling_segment(&self, name: &str) -> Result<(), SystemException> {
        activations::end(self.endsystem, name)
    }

    /// `spawn`: starts a distributable thread on a new OS thread of the same name, which runs `action` in a
    /// segment of that name. Returns immediately. A scheduling point.
    ///
    /// `parameters`: `None` selects the implicit parameters of the open segment, or its own if it has none.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters, SpawnSpec};
    /// use std::sync::mpsc;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// let (sender, receiver) = mpsc::channel();
    /// current.segment("track", SchedulingParameters::Importance { importance: 1 }, |_| {
    ///     current.spawn("display", None, None, SpawnSpec::default(), move || {
    ///         sender.send("shown").expect("it is received")
    ///     })?;
    ///     Ok::<_, SchedulingError>(())
    /// })?;
    /// assert_eq!(receiver.recv()?, "shown");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread; UNSUPPORTED_SCHEDULING_DISCIPLINE; THREAD_CANCELLED;
    /// IMP_LIMIT; NO_RESOURCES with SPAWN_FAILED if the system creates no OS thread; DATA_CONVERSION if the
    /// base priority maps to no native one.
    pub fn spawn(
        &self,
        name: &str,
        parameters: Option<SchedulingParameters>,
        implicit: Option<SchedulingParameters>,
        spec: SpawnSpec,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<DistributableThread, SchedulingError> {
        spawn::spawn(self.endsystem, name, parameters, implicit, spec, action)
    }

    /// `id`: id of the current thread.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// let id = current.segment("track", parameters, |_| Ok::<_, SchedulingError>(current.id()?))?;
    /// assert_eq!(id.to_string().len(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread.
    pub fn id(&self) -> Result<DistributableThreadId, SystemException> {
        Ok(activations::current_thread(self.endsystem)?.id)
    }

    /// Returns the thread itself, to be cancelled from elsewhere.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let importance = SchedulingParameters::Importance { importance: 1 };
    /// let cancelled = scheduling.current().segment("track", importance, |segment| {
    ///     scheduling.current().distributable_thread()?.cancel()?;
    ///     // From here on each scheduling point reports it.
    ///     segment.update(SchedulingParameters::Importance { importance: 2 })
    /// });
    /// assert!(cancelled.unwrap_err().is_cancellation());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread.
    pub fn distributable_thread(&self) -> Result<DistributableThread, SystemException> {
        Ok(DistributableThread::new(self.endsystem, self.id()?))
    }

    /// `lookup`: returns the thread with that id, if it is known at this endsystem.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// current.segment("track", parameters, |_| {
    ///     let own = current.lookup(current.id()?).expect("it is here");
    ///     assert_eq!(own.id(), current.id()?);
    ///     Ok::<_, SchedulingError>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup(&self, id: DistributableThreadId) -> Option<DistributableThread> {
        self.endsystem.dispatcher.is_cancelled(id)?;
        Some(DistributableThread::new(self.endsystem, id))
    }

    /// `scheduling_parameter`: parameters of the innermost segment.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// let own = current.segment("track", parameters, |_| {
    ///     Ok::<_, SchedulingError>(current.scheduling_parameter()?)
    /// })?;
    /// assert_eq!(own, parameters);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread.
    pub fn scheduling_parameter(&self) -> Result<SchedulingParameters, SystemException> {
        Ok(activations::current_thread(self.endsystem)?.parameters)
    }

    /// `implicit_scheduling_parameter`: parameters of threads that are spawned in the innermost segment, if
    /// they were set.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// let none = current.segment("track", parameters, |_| {
    ///     Ok::<_, SchedulingError>(current.implicit_scheduling_parameter()?)
    /// })?;
    /// assert_eq!(none, None, "nothing was said");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread.
    pub fn implicit_scheduling_parameter(&self) -> Result<Option<SchedulingParameters>, SystemException> {
        Ok(activations::current_thread(self.endsystem)?.implicit)
    }

    /// `current_scheduling_segment_names`: names of the segments at this host since the thread last arrived,
    /// the innermost first. The segment of a request has the name of its operation.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// let names = current.segment("track", parameters, |_| {
    ///     Ok::<_, SchedulingError>(current.current_scheduling_segment_names()?)
    /// })?;
    /// assert_eq!(names, ["track"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread.
    pub fn current_scheduling_segment_names(&self) -> Result<Vec<String>, SystemException> {
        activations::names(self.endsystem)
    }

    /// A scheduling point without any other effect: more eligible threads go first, and a cancellation is
    /// reported.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// current.segment("track", parameters, |_| {
    ///     for _part in 0..3 {
    ///         // Some work.
    ///         current.scheduling_point()?;
    ///     }
    ///     Ok::<_, SchedulingError>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER without a distributable thread; THREAD_CANCELLED; TIMEOUT in an operation whose deadline
    /// has passed.
    pub fn scheduling_point(&self) -> Result<(), SystemException> {
        activations::pass(self.endsystem)
    }

    /// Sleeps until `time`, outside of the ready queue, so that others run. A cancellation or the deadline of
    /// an operation ends the sleep early.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters};
    /// use std::time::Duration;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// current.segment("track", SchedulingParameters::Importance { importance: 1 }, |_| {
    ///     let next = current.now() + Duration::from_millis(2);
    ///     current.sleep_until(next)?;
    ///     assert!(current.now() >= next);
    ///     Ok::<_, SchedulingError>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`Self::scheduling_point`].
    pub fn sleep_until(&self, time: Time) -> Result<(), SystemException> {
        activations::wait_until(self.endsystem, time)
    }

    /// Runs an operation with a deadline, `timeout` from now. `policy` determines its treatment when it is
    /// late:
    ///
    /// - [`at_checkpoints`](SheddingPolicy::at_checkpoints): it is cancelled at its next scheduling point,
    ///   call or wait, and the thread continues. Calls inside end with TIMEOUT at the deadline. A nested
    ///   operation ends with the outer one at the latest.
    /// - [`before_dispatch`](SheddingPolicy::before_dispatch): it is cancelled if its deadline has passed
    ///   when it gets its turn; once begun it runs to its end.
    /// - [`never`](SheddingPolicy::never): it runs to its end.
    ///
    /// The policy also determines whether it is retried. Each attempt has the whole timeout; `attempt` counts
    /// from 1. A retry requires that neither the deadline of an enclosing operation nor that of the segment
    /// has passed, and never follows THREAD_CANCELLED. Unless the operation is
    /// [idempotent](SheddingPolicy::idempotent), it also requires certainty that the operation has not run: a
    /// system exception with COMPLETED_NO.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use std::time::Duration;
    ///
    /// use punctual::rtscheduling::{
    ///     RtScheduling, SchedulingError, SchedulingParameters, SheddingPolicy, Time,
    /// };
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// let once_more = SheddingPolicy::at_checkpoints().retrying(1).idempotent();
    /// let attempts = current.segment("track", SchedulingParameters::Importance { importance: 1 }, |_| {
    ///     current.operation(Duration::from_millis(5), once_more, |attempt| {
    ///         if attempt == 1 {
    ///             // Too late.
    ///             current.sleep_until(Time::NEVER)?;
    ///         }
    ///         Ok::<_, SchedulingError>(attempt)
    ///     })
    /// })?;
    /// assert_eq!(attempts, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of the last attempt; TIMEOUT with OPERATION_CANCELLED if it was cancelled, or ended after its
    /// deadline in spite of checkpoints.
    pub fn operation<R, E: From<SchedulingError> + Failure>(
        &self,
        timeout: Duration,
        policy: SheddingPolicy,
        work: impl FnMut(u32) -> Result<R, E>,
    ) -> Result<R, E> {
        operation::run(self.endsystem, timeout, policy, work)
    }

    /// Reads the clock of deadlines.
    ///
    /// ```
    /// # use punctual_rtsched::{RtScheduling, SchedulingError};
    /// # use punctual_sched::dynamic::SchedulingParameters;
    /// # let scheduling = RtScheduling::builder().build()?;
    /// # let current = scheduling.current();
    /// # let parameters = SchedulingParameters::Importance { importance: 1 };
    /// assert!(current.now() <= scheduling.now());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn now(&self) -> Time {
        dispatcher::now()
    }
}
