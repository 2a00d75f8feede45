use std::{sync::Arc, time::Duration};

use punctual_sched::dynamic::{MostImportantFirst, Scheduler, SchedulingParameters};

use crate::{
    dispatcher::{Mechanism, NativePriorities, Preemption},
    endsystem::{Endsystem, EndsystemSettings},
    error::BuildError,
    scheduling::RtScheduling,
    storage::RetentionLimits,
    wire::PeerLayout,
};

/// Makes an [`RtScheduling`].
///
/// ```
/// use punctual_rtsched::{Mechanism, RtScheduling};
/// use punctual_sched::dynamic::EarliestDeadlineFirst;
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
    /// Who decides. Default: [`MostImportantFirst`].
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual_sched::dynamic::MaximumUrgencyFirst;
    ///
    /// let scheduling = RtScheduling::builder().scheduler(MaximumUrgencyFirst::new()).build()?;
    /// assert_eq!(scheduling.manager().scheduler_name(), "MUF");
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn scheduler(mut self, scheduler: impl Scheduler + 'static) -> Self {
        self.scheduler = Box::new(scheduler);
        self
    }

    /// How decisions are carried out. Default: [`Mechanism::ReadyQueue`].
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual_rtsched::Mechanism;
    ///
    /// let scheduling = RtScheduling::builder().mechanism(Mechanism::ReadyQueue).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn mechanism(mut self, mechanism: Mechanism) -> Self {
        self.mechanism = mechanism;
        self
    }

    /// What becomes of a running thread that others pass. Default: [`Preemption::Native`].
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual_rtsched::Preemption;
    ///
    /// let scheduling = RtScheduling::builder().preemption(Preemption::Cooperative).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn preemption(mut self, preemption: Preemption) -> Self {
        self.settings.dispatcher.preemption = preemption;
        self
    }

    /// Which native priorities threads get. Default: those of [`NativePriorities`].
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual_rtsched::NativePriorities;
    /// use punctual_types::NativePriority;
    ///
    /// let native = NativePriorities { inactive: NativePriority(5), ..NativePriorities::default() };
    /// let scheduling = RtScheduling::builder().native_priorities(native).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn native_priorities(mut self, native: NativePriorities) -> Self {
        self.settings.dispatcher.native = native;
        self
    }

    /// How many threads run at a time. Default 1, at least 1.
    ///
    /// It is the application that keeps the threads to these processors: pin the process, or the lanes and the threads that begin
    /// segments, to as many CPUs. With fewer CPUs than processors the kernel chooses among those that were let run; with more, CPUs
    /// stay free, and a thread that was passed over may go on there.
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

    /// How many distributable threads may be here at a time; memory for them is taken at the start. Default 1024. Over it a begin, a
    /// spawn or a request fails with IMP_LIMIT.
    ///
    /// ```
    /// use punctual_rtsched::RtScheduling;
    /// use punctual_sched::dynamic::SchedulingParameters;
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

    /// How deep the segments of a thread may be nested at this host. Default 32. Over it a begin fails with IMP_LIMIT.
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

    /// Keeps so many decisions, for tests and measurements; see [`RtScheduling::decisions`]. Default 0.
    ///
    /// With mechanisms that leave the choice to the kernel, these are the decisions that the scheduler would take; they cost a
    /// choice at each scheduling point.
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

    /// What threads are scheduled by that bring no parameters, or none that are known here. Default: importance 0; translated to
    /// the scheduler's kind.
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual_sched::dynamic::SchedulingParameters;
    ///
    /// let least = SchedulingParameters::Importance { importance: -1 };
    /// let scheduling = RtScheduling::builder().default_parameters(least).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn default_parameters(mut self, parameters: SchedulingParameters) -> Self {
        self.settings.default_parameters = parameters;
        self
    }

    /// For how long, and of how many, what threads of other hosts have stored here is kept after they have left.
    ///
    /// Nothing is destroyed by a thread of a lane while there is room: start a
    /// [`Housekeeper`](crate::storage::Housekeeper) with [`RtScheduling::retained_storage`].
    pub fn retention_limits(mut self, limits: RetentionLimits) -> Self {
        self.settings.retention = limits;
        self
    }

    /// How far the calendars of hosts may be apart: no deadline comes nearer by more than this because they are. Default 10 ms.
    ///
    /// ```
    /// # use punctual_rtsched::RtScheduling;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// // The hosts' calendars are kept by PTP.
    /// let scheduling = RtScheduling::builder().max_clock_skew(Duration::from_micros(50)).build()?;
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn max_clock_skew(mut self, skew: Duration) -> Self {
        self.settings.max_clock_skew = skew;
        self
    }

    /// Which contexts of other ORBs are understood beside our own. Default: none.
    pub fn peer_layout(mut self, layout: PeerLayout) -> Self {
        self.settings.peer_layout = layout;
        self
    }

    /// Takes the memory, tries the mechanism, and starts the thread `rt-dispatch` where the scheduler's decisions change with time.
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
