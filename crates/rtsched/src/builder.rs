//! Builder of the scheduling of an endsystem.

use std::{sync::Arc, time::Duration};

use punctual_orb::Peers;
use punctual_sched::dynamic::{MostImportantFirst, Scheduler, SchedulingParameters, SheddingPolicy};

use crate::{
    accepted_claims::AcceptedClaims,
    dispatcher::{Mechanism, NativePriorities, Preemption},
    endsystem::{Endsystem, EndsystemSettings},
    error::BuildError,
    scheduling::RtScheduling,
    storage::RetentionLimits,
    unknown_policy::UnknownPolicy,
    wire::PeerLayout,
};

/// Builds an [`RtScheduling`].
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{EarliestDeadlineFirst, Mechanism, RtScheduling};
///
/// let scheduling = RtScheduling::builder()
///     .scheduler(EarliestDeadlineFirst::new())
///     .mechanism(Mechanism::ReadyQueue)
///     .processors(1)
///     .max_threads(200)
///     .build()?;
/// assert_eq!(scheduling.manager().scheduler_name(), "EDF");
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
pub struct RtSchedulingBuilder {
    scheduler: Box<dyn Scheduler>,
    mechanism: Mechanism,
    settings: EndsystemSettings,
}

impl RtScheduling {
    /// Starts a builder with default settings.
    pub fn builder() -> RtSchedulingBuilder {
        RtSchedulingBuilder {
            scheduler: Box::new(MostImportantFirst::new()),
            mechanism: Mechanism::default(),
            settings: EndsystemSettings::default(),
        }
    }
}

impl RtSchedulingBuilder {
    /// Sets the scheduler. Default: [`MostImportantFirst`].
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual::rtscheduling::MaximumUrgencyFirst;
    ///
    /// let scheduling = RtScheduling::builder().scheduler(MaximumUrgencyFirst::new()).build()?;
    /// assert_eq!(scheduling.manager().scheduler_name(), "MUF");
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn scheduler(mut self, scheduler: impl Scheduler + 'static) -> Self {
        self.scheduler = Box::new(scheduler);
        self
    }

    /// Sets the treatment of segments that can no longer meet the deadlines of their parameters
    /// ([`TimedWork::of`](punctual_sched::dynamic::TimedWork::of)), requests of other hosts included.
    /// Default: [`SheddingPolicy::never`]. A [`timed_segment`](crate::Current::timed_segment) has its own
    /// policy.
    ///
    /// A cancelled segment ends with TIMEOUT, minor OPERATION_CANCELLED, with COMPLETED_NO if it has not
    /// begun; its thread continues in the enclosing segment or at the caller. Segments are not retried: use
    /// [`Current::operation`](crate::Current::operation) around them.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use std::time::Duration;
    /// use punctual::rtscheduling::{
    ///     MinimumLaxityFirst, RtScheduling, SchedulingError, SchedulingParameters, SheddingPolicy,
    /// };
    ///
    /// let scheduling = RtScheduling::builder()
    ///     .scheduler(MinimumLaxityFirst::new())
    ///     .shedding(SheddingPolicy::before_dispatch())
    ///     .build()?;
    /// let hopeless = SchedulingParameters::Laxity {
    ///     deadline: scheduling.now() + Duration::from_millis(1),
    ///     execution_time: Duration::from_millis(2),
    ///     importance: 0,
    /// };
    /// let result = scheduling.current().segment("display", hopeless, |_| {
    ///     unreachable!("it would be late");
    ///     #[allow(unreachable_code)]
    ///     Ok::<(), SchedulingError>(())
    /// });
    /// assert!(result.unwrap_err().is_lateness());
    /// assert_eq!(scheduling.manager().shed(), 1);
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn shedding(mut self, policy: SheddingPolicy) -> Self {
        self.settings.shedding = policy;
        self
    }

    /// Sets how decisions are carried out. Default: [`Mechanism::ReadyQueue`].
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual::rtscheduling::Mechanism;
    ///
    /// let scheduling = RtScheduling::builder().mechanism(Mechanism::ReadyQueue).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn mechanism(mut self, mechanism: Mechanism) -> Self {
        self.mechanism = mechanism;
        self
    }

    /// Sets the treatment of a running thread that others pass. Default: [`Preemption::Native`].
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual::rtscheduling::Preemption;
    ///
    /// let scheduling = RtScheduling::builder().preemption(Preemption::Cooperative).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn preemption(mut self, preemption: Preemption) -> Self {
        self.settings.dispatcher.preemption = preemption;
        self
    }

    /// Sets the native priorities of threads. Default: those of [`NativePriorities`].
    ///
    /// ```
    /// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual::{NativePriority, rtscheduling::NativePriorities};
    ///
    /// let native = NativePriorities { inactive: NativePriority(5), ..NativePriorities::default() };
    /// let scheduling = RtScheduling::builder().native_priorities(native).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn native_priorities(mut self, native: NativePriorities) -> Self {
        self.settings.dispatcher.native = native;
        self
    }

    /// Sets the number of threads that run at a time. Default 1, at least 1.
    ///
    /// The application confines the threads to these processors: pin the process, or the lanes and the
    /// threads that begin segments, to as many CPUs. With fewer CPUs than processors, the kernel chooses
    /// among the chosen threads; with more, CPUs are idle, and a thread that was passed may continue there.
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// let scheduling = RtScheduling::builder().processors(2).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn processors(mut self, processors: usize) -> Self {
        self.settings.dispatcher.processors = processors;
        self
    }

    /// Sets the maximum number of distributable threads at this host; their memory is allocated at the start.
    /// Default 1024. Above it, a begin, a spawn or a request fails with IMP_LIMIT.
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters};
    ///
    /// let scheduling = RtScheduling::builder().max_threads(1).build()?;
    /// let parameters = SchedulingParameters::Importance { importance: 1 };
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("one", parameters, None)?;
    /// assert!(current.spawn("two", None, None, Default::default(), || ()).is_err());
    /// # current.end_scheduling_segment("one")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_threads(mut self, max_threads: usize) -> Self {
        self.settings.dispatcher.max_threads = max_threads;
        self
    }

    /// Sets the maximum nesting depth of a thread's segments at this host. Default 32. Above it, a begin
    /// fails with IMP_LIMIT.
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// let scheduling = RtScheduling::builder().max_segments(8).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn max_segments(mut self, max_segments: usize) -> Self {
        self.settings.max_segments = max_segments;
        self
    }

    /// Sets the number of recorded decisions, for tests and measurements; see [`RtScheduling::decisions`].
    /// Default 0.
    ///
    /// With mechanisms that leave the choice to the kernel, these are the decisions that the scheduler would
    /// take; they cost a choice at each scheduling point.
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// let scheduling = RtScheduling::builder().record_decisions(10_000).build()?;
    /// assert!(scheduling.decisions().is_empty());
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn record_decisions(mut self, decisions: usize) -> Self {
        self.settings.dispatcher.decisions = decisions;
        self
    }

    /// Sets the parameters of threads that arrive without parameters, or with unknown ones. Default:
    /// importance 0; translated to the scheduler's kind.
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual::rtscheduling::SchedulingParameters;
    ///
    /// let least = SchedulingParameters::Importance { importance: -1 };
    /// let scheduling = RtScheduling::builder().default_parameters(least).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn default_parameters(mut self, parameters: SchedulingParameters) -> Self {
        self.settings.default_parameters = parameters;
        self
    }

    /// Adds a rule: which scheduling claims of these peers count. The first rule that includes a peer
    /// applies. Default: none, so requests of other processes run as requests without a distributable thread,
    /// at the priority of their lane.
    ///
    /// ```
    /// # mod punctual { pub(crate) use {punctual_orb::*, punctual_rtsched as rtscheduling}; }
    /// use punctual::{Peers, rtscheduling::{AcceptedClaims, RtScheduling}};
    ///
    /// // The hosts of the machine room form one system.
    /// let room = Peers::network("192.168.7.0".parse()?, 24);
    /// let scheduling = RtScheduling::builder().accept_claims(room, AcceptedClaims::all()).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn accept_claims(mut self, peers: Peers, claims: AcceptedClaims) -> Self {
        self.settings.claims.add(peers, claims);
        self
    }

    /// Sets limits on the storage that is retained for threads of other hosts after they have left.
    ///
    /// Up to these limits, lanes destroy nothing. Start a [`Housekeeper`](crate::storage::Housekeeper) with
    /// [`RtScheduling::retained_storage`] to destroy it.
    pub fn retention_limits(mut self, limits: RetentionLimits) -> Self {
        self.settings.retention = limits;
        self
    }

    /// Sets the maximum difference between the calendars of hosts: it moves no deadline forward by more than
    /// this. Default 10 ms.
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// // PTP synchronises the calendars of the hosts.
    /// let scheduling = RtScheduling::builder().max_clock_skew(Duration::from_micros(50)).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn max_clock_skew(mut self, skew: Duration) -> Self {
        self.settings.max_clock_skew = skew;
        self
    }

    /// Sets the treatment of threads that arrive with parameters of user-defined kinds that are not the
    /// scheduler's. Default: [`UnknownPolicy::Carry`].
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters, UnknownPolicy};
    ///
    /// // Kind 0x8001 is that of a scheduler of the neighbours, whose first octet is an importance.
    /// let scheduling = RtScheduling::builder()
    ///     .unknown_parameters(UnknownPolicy::Translate(|unknown| {
    ///         let user = unknown.user().filter(|_| unknown.kind() == 0x8001)?;
    ///         let importance = i32::from(*user.octets().first()?);
    ///         Some(SchedulingParameters::Importance { importance })
    ///     }))
    ///     .build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn unknown_parameters(mut self, policy: UnknownPolicy) -> Self {
        self.settings.unknown = policy;
        self
    }

    /// Sets which contexts of other ORBs are understood besides our own, and sent to servers whose references
    /// identify TAO. Default: none; a thread that calls such a server then waits for the reply, and the
    /// server does not see it.
    pub fn peer_layout(mut self, layout: PeerLayout) -> Self {
        self.settings.peer_layout = layout;
        self
    }

    /// Allocates the memory, tries the mechanism, and starts the thread `rt-dispatch` if the scheduler's
    /// decisions change with time.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(self) -> Result<RtScheduling, BuildError> {
        let endsystem = Endsystem::new(self.scheduler, self.mechanism, self.settings)?;
        Ok(RtScheduling {
            endsystem: Arc::new(endsystem),
        })
    }
}
