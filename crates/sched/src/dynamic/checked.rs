//! A guard around schedulers that may be faulty.

use alloc::vec::Vec;
use core::{cmp::Ordering, fmt, time::Duration};

use super::{
    Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time, UserParameters,
    arrival_order::ArrivalOrder,
};

/// A guard around a scheduler that may be faulty. Invalid decisions are counted, the first is reported once,
/// and threads run in the order of their arrival until a decision is valid again.
///
/// Panics cannot be caught here: the caller catches them and calls [`disable`](Self::disable). The guard
/// updates its own records before it calls the scheduler, so they are valid after a panic. It also shields
/// the scheduler from mistakes of the caller: a thread that becomes ready twice is updated, and an unknown
/// thread is not removed.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Checked, Fault, ParameterKind, Scheduler, SchedulingParameters, Slot, Time};
///
/// /// Chooses the thread that became ready last, even after it was removed.
/// struct Careless(Slot);
///
/// impl Scheduler for Careless {
///     fn name(&self) -> &str {
///         "careless"
///     }
///     fn kind(&self) -> ParameterKind {
///         ParameterKind::Importance
///     }
///     fn reserve(&mut self, _: usize) {}
///     fn ready(&mut self, thread: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
///         self.0 = thread;
///     }
///     fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}
///     fn remove(&mut self, _: Slot, _: Time) {}
///     fn choose(&mut self, _: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
///         chosen.push(self.0);
///     }
/// }
///
/// let mut scheduler = Checked::new(Careless(Slot(0)));
/// let parameters = SchedulingParameters::Importance { importance: 1 };
/// scheduler.ready(Slot(4), &parameters, Duration::ZERO, Time(0));
/// scheduler.ready(Slot(7), &parameters, Duration::ZERO, Time(0));
/// scheduler.remove(Slot(7), Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(4)]);
/// assert_eq!(scheduler.take_first_fault(), Some(Fault::NotReady(Slot(7))));
/// assert_eq!((scheduler.take_first_fault(), scheduler.faults()), (None, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Checked<S> {
    scheduler: S,
    order: ArrivalOrder,
    /// Number of the last decision that named each slot.
    seen: Vec<u64>,
    decisions: u64,
    faults: u64,
    first_fault: Option<Fault>,
    is_disabled: bool,
    reconsider: Option<Time>,
}

/// Interval after which a scheduler that requested a time in the past is queried again.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// Invalid decision of a scheduler.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{Checked, Fault, MostImportantFirst};
///
/// let mut scheduler = Checked::new(MostImportantFirst::new());
/// // The dispatcher has caught a panic.
/// scheduler.disable();
/// let fault = scheduler.take_first_fault().expect("it was recorded");
/// assert_eq!(fault, Fault::Disabled);
/// assert!(fault.to_string().ends_with("threads run in the order of their arrival instead"));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// It chose a thread that is not ready.
    NotReady(Slot),
    /// It chose the same thread twice.
    Twice(Slot),
    /// It chose more threads than there are processors.
    TooMany {
        /// Number of chosen threads.
        chosen: usize,
        /// Number of processors.
        processors: usize,
    },
    /// It chose no thread, although some are ready.
    Idle,
    /// It requested a decision at a past time, which would never end. It is queried a millisecond later.
    Past(Time),
    /// It was disabled after a panic.
    Disabled,
}

impl<S: Scheduler> Checked<S> {
    /// Wraps a scheduler that knows no threads yet.
    pub fn new(scheduler: S) -> Self {
        Self {
            scheduler,
            order: ArrivalOrder::default(),
            seen: Vec::new(),
            decisions: 0,
            faults: 0,
            first_fault: None,
            is_disabled: false,
            reconsider: None,
        }
    }

    /// Returns the wrapped scheduler.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Returns the number of invalid decisions.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Returns the first invalid decision, once.
    pub fn take_first_fault(&mut self) -> Option<Fault> {
        self.first_fault.take()
    }

    /// Stops using the scheduler, except for its name and kind, because it has panicked. Threads run in the
    /// order of their arrival.
    pub fn disable(&mut self) {
        if !self.is_disabled {
            self.is_disabled = true;
            self.record(Fault::Disabled);
        }
    }

    fn record(&mut self, fault: Fault) {
        if self.faults == 0 {
            self.first_fault = Some(fault);
        }
        self.faults += 1;
    }

    /// Returns the fault of a decision, if it is invalid.
    fn fault(&mut self, processors: usize, chosen: &[Slot]) -> Option<Fault> {
        if chosen.len() > processors {
            let chosen = chosen.len();
            return Some(Fault::TooMany { chosen, processors });
        }
        if chosen.is_empty() && processors > 0 && !self.order.is_empty() {
            return Some(Fault::Idle);
        }
        self.decisions += 1;
        for thread in chosen {
            if !self.order.contains(*thread) {
                return Some(Fault::NotReady(*thread));
            }
            let seen = &mut self.seen[thread.index()];
            if *seen == self.decisions {
                return Some(Fault::Twice(*thread));
            }
            *seen = self.decisions;
        }
        None
    }
}

impl<S: Scheduler> Scheduler for Checked<S> {
    fn name(&self) -> &str {
        self.scheduler.name()
    }

    fn kind(&self) -> ParameterKind {
        self.scheduler.kind()
    }

    fn reserve(&mut self, threads: usize) {
        self.order.reserve(threads);
        if self.seen.len() < threads {
            self.seen.resize(threads, 0);
        }
        if !self.is_disabled {
            self.scheduler.reserve(threads);
        }
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        if self.order.contains(thread) {
            return self.update(thread, parameters, received, now);
        }
        self.order.push(thread);
        if self.seen.len() <= thread.index() {
            self.seen.resize(thread.index() + 1, 0);
        }
        if !self.is_disabled {
            self.scheduler.ready(thread, parameters, received, now);
        }
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        if !self.is_disabled && self.order.contains(thread) {
            self.scheduler.update(thread, parameters, received, now);
        }
    }

    fn remove(&mut self, thread: Slot, now: Time) {
        if self.order.remove(thread) && !self.is_disabled {
            self.scheduler.remove(thread, now);
        }
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        self.reconsider = None;
        let mut is_valid = false;
        if !self.is_disabled {
            chosen.clear();
            self.scheduler.choose(processors, now, received, chosen);
            match self.fault(processors, chosen) {
                Some(fault) => self.record(fault),
                None => is_valid = true,
            }
            self.reconsider = self.scheduler.reconsider_at(now);
        }
        if let Some(past) = self.reconsider.filter(|at| *at <= now) {
            self.record(Fault::Past(past));
            self.reconsider = Some(now + LEAST_INTERVAL);
        }
        if !is_valid {
            chosen.clear();
            chosen.extend(self.order.iter().take(processors));
        }
    }

    fn reconsider_at(&self, _: Time) -> Option<Time> {
        self.reconsider
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        match self.is_disabled {
            true => None,
            false => self.scheduler.fixed_eligibility(parameters),
        }
    }

    fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        self.scheduler.marshal(parameters, received)
    }

    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        self.scheduler.unmarshal(parameters)
    }

    fn adopt(&self, parameters: &SchedulingParameters, now: Time) -> Option<UserParameters> {
        self.scheduler.adopt(parameters, now)
    }

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        match self.is_disabled {
            true => Ordering::Equal,
            false => self.scheduler.compare(one, other, now),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady(thread) => write!(f, "it chose thread {}, which is not ready", thread.0)?,
            Self::Twice(thread) => write!(f, "it chose thread {} twice", thread.0)?,
            Self::TooMany { chosen, processors } => {
                write!(f, "it chose {chosen} threads for {processors} processors")?;
            }
            Self::Idle => write!(f, "it chose no thread, although some are ready")?,
            Self::Past(time) => {
                return write!(
                    f,
                    "it requested a decision at {} ns, which is in the past; it is asked again after {:?} \
                     instead",
                    time.0, LEAST_INTERVAL
                );
            }
            Self::Disabled => write!(f, "it panicked and is disabled")?,
        }
        write!(f, "; threads run in the order of their arrival instead")
    }
}
