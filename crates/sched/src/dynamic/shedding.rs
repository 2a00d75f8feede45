//! Shedding: the treatment of work that can no longer meet its deadline. \[Gill 2004\] sections 2.4 and 3.2.

use core::time::Duration;

use super::{SchedulingParameters, Time};

/// Policy for work that can no longer meet its deadline: whether and where it is cancelled, and how often it
/// is retried. One policy serves segments and operations in live operation and in the simulator.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{SheddingPoint, SheddingPolicy, Time, TimedWork};
///
/// let milliseconds = Duration::from_millis;
/// let display = TimedWork {
///     deadline: Time(0) + milliseconds(10),
///     execution_time: milliseconds(4),
///     is_critical: false,
/// };
/// let policy = SheddingPolicy::before_dispatch().sparing_critical().retrying(1);
/// let sheds = |work: &TimedWork, at_ms| {
///     policy.sheds(work, Duration::ZERO, Time(0) + milliseconds(at_ms), SheddingPoint::Dispatch)
/// };
/// assert!(!sheds(&display, 6), "it ends just in time");
/// assert!(sheds(&display, 7));
/// assert!(!sheds(&TimedWork { is_critical: true, ..display }, 7));
/// assert_eq!((policy.retry_after(0), policy.retry_after(1)), (Some(Duration::ZERO), None));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SheddingPolicy {
    /// The last kind of point at which work is shed; `None`: nowhere.
    until: Option<SheddingPoint>,
    spares_critical: bool,
    is_idempotent: bool,
    retries: u32,
    retry_delay: Duration,
}

/// Point at which work is examined.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{SheddingPoint, SheddingPolicy, Time, TimedWork};
///
/// let late = TimedWork { deadline: Time(10), execution_time: Duration::ZERO, is_critical: false };
/// let sheds = |policy: SheddingPolicy, at| policy.sheds(&late, Duration::ZERO, Time(11), at);
/// assert!(!sheds(SheddingPolicy::before_dispatch(), SheddingPoint::Checkpoint), "it runs already");
/// assert!(sheds(SheddingPolicy::at_checkpoints(), SheddingPoint::Checkpoint));
/// assert!(sheds(SheddingPolicy::at_checkpoints(), SheddingPoint::Dispatch));
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum SheddingPoint {
    /// It is about to run: it begins, arrives from another host, returns from a call, or has waited.
    Dispatch,
    /// Any other scheduling point of running work.
    Checkpoint,
}

/// Work that is useless after its deadline.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{SchedulingParameters, Time, TimedWork};
///
/// let parameters = SchedulingParameters::Urgency {
///     criticality: SchedulingParameters::CRITICAL,
///     deadline: Time(10_000),
///     execution_time: Duration::from_micros(4),
///     importance: 0,
/// };
/// let work = TimedWork::of(&parameters).expect("it has a deadline");
/// assert!(work.is_critical && !work.is_hopeless(Duration::ZERO, Time(6_000)));
/// assert!(work.is_hopeless(Duration::ZERO, Time(6_001)));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimedWork {
    /// Deadline of the work.
    pub deadline: Time,
    /// Declared execution time of the whole work; zero if unknown: it is hopeless from its deadline on.
    pub execution_time: Duration,
    /// Whether policies may [spare](SheddingPolicy::sparing_critical) it.
    pub is_critical: bool,
}

impl SheddingPolicy {
    /// Late work runs to its end.
    pub const fn never() -> Self {
        Self {
            until: None,
            spares_critical: false,
            is_idempotent: false,
            retries: 0,
            retry_delay: Duration::ZERO,
        }
    }

    /// Hopeless work is cancelled instead of being dispatched. Work that runs is not examined again.
    pub const fn before_dispatch() -> Self {
        Self {
            until: Some(SheddingPoint::Dispatch),
            ..Self::never()
        }
    }

    /// Hopeless work is cancelled before dispatch and at each scheduling point.
    pub const fn at_checkpoints() -> Self {
        Self {
            until: Some(SheddingPoint::Checkpoint),
            ..Self::never()
        }
    }

    /// Does not cancel critical work ([`SchedulingParameters::CRITICAL`]).
    pub const fn sparing_critical(mut self) -> Self {
        self.spares_critical = true;
        self
    }

    /// Retries cancelled work, at most this number of times, each time with a new deadline.
    pub const fn retrying(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the time between a cancellation and the retry. Default: zero.
    pub const fn retrying_after(mut self, delay: Duration) -> Self {
        self.retry_delay = delay;
        self
    }

    /// Declares that the work may run more than once: it is also retried if it may have run. The simulator's
    /// work always may.
    pub const fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    /// Returns whether no work is ever cancelled.
    pub const fn is_never(&self) -> bool {
        self.until.is_none()
    }

    /// Returns whether work may run more than once.
    pub const fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// Returns whether running work is examined at scheduling points.
    pub const fn examines_checkpoints(&self) -> bool {
        matches!(self.until, Some(SheddingPoint::Checkpoint))
    }

    /// Returns whether work that has received this processor time is cancelled at a point.
    pub fn sheds(&self, work: &TimedWork, received: Duration, now: Time, at: SheddingPoint) -> bool {
        self.until.is_some_and(|until| at <= until)
            && !(self.spares_critical && work.is_critical)
            && work.is_hopeless(received, now)
    }

    /// Returns the delay before another attempt after this number of retries; `None`: there is none.
    pub fn retry_after(&self, retries: u32) -> Option<Duration> {
        (retries < self.retries).then_some(self.retry_delay)
    }
}

impl TimedWork {
    /// Returns the work that parameters describe; `None` if they state no deadline. Work with a utility is
    /// useless when that has decayed; work whose parameters have no criticality is not critical.
    pub fn of(parameters: &SchedulingParameters) -> Option<Self> {
        let decay = match parameters {
            SchedulingParameters::Utility { utility, .. } => utility.decay,
            _ => Duration::ZERO,
        };
        let deadline = parameters
            .deadline()
            .filter(|deadline| *deadline != Time::NEVER)?;
        Some(Self {
            deadline: deadline + decay,
            execution_time: parameters.execution_time().unwrap_or_default(),
            is_critical: parameters
                .criticality()
                .is_some_and(|criticality| criticality >= SchedulingParameters::CRITICAL),
        })
    }

    /// Returns whether it cannot meet its deadline, even if it ran alone from now on.
    pub fn is_hopeless(&self, received: Duration, now: Time) -> bool {
        now + self.execution_time.saturating_sub(received) > self.deadline
    }
}
