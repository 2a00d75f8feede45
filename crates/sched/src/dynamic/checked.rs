use alloc::vec::Vec;
use core::{cmp::Ordering, fmt, time::Duration};

use super::{Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time, arrival_order::ArrivalOrder};

/// A guard around a scheduler that may be wrong. What makes no sense is counted and told once, and the threads run in the order
/// in which they became ready instead, until a decision makes sense again.
///
/// Panics cannot be caught here: who drives it catches them and calls [`give_up`](Self::give_up). The guard's own records are
/// made before the scheduler is called, so they are right after a panic too. It also keeps mistakes of the driver away from the
/// scheduler: a thread that gets ready twice is an update, and one that is not known is not removed.
///
/// ```
/// use core::time::Duration;
/// use punctual_sched::dynamic::{
///     Checked, Nonsense, ParameterKind, Scheduler, SchedulingParameters, Slot, Time,
/// };
///
/// /// Chooses whoever was ready last, also after it has left.
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
/// assert_eq!(scheduler.take_complaint(), Some(Nonsense::NotReady(Slot(7))));
/// assert_eq!((scheduler.take_complaint(), scheduler.nonsense()), (None, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Checked<S> {
    scheduler: S,
    order: ArrivalOrder,
    /// By slot: in which decision it was seen last.
    seen: Vec<u64>,
    decisions: u64,
    nonsense: u64,
    complaint: Option<Nonsense>,
    has_given_up: bool,
    reconsider: Option<Time>,
}

/// When a scheduler is asked again that wants to be asked in the past.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// What a scheduler must not decide.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nonsense {
    /// A thread that is not ready.
    NotReady(Slot),
    /// The same thread twice.
    Twice(Slot),
    /// More threads than there are processors.
    TooMany {
        /// So many were chosen.
        chosen: usize,
        /// So many could run.
        processors: usize,
    },
    /// None, although some are ready.
    Idle,
    /// To be asked again at a time that is over: that would be for ever. It is asked a millisecond later.
    Past(Time),
    /// It has panicked, or broken down otherwise.
    GaveUp,
}

impl<S: Scheduler> Checked<S> {
    /// Around a scheduler that does not know any threads yet.
    pub fn new(scheduler: S) -> Self {
        Self {
            scheduler,
            order: ArrivalOrder::default(),
            seen: Vec::new(),
            decisions: 0,
            nonsense: 0,
            complaint: None,
            has_given_up: false,
            reconsider: None,
        }
    }

    /// The one inside.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// How many decisions have made no sense.
    pub fn nonsense(&self) -> u64 {
        self.nonsense
    }

    /// The first decision that made no sense, once: to be told to who has to mend it.
    pub fn take_complaint(&mut self) -> Option<Nonsense> {
        self.complaint.take()
    }

    /// From now on the scheduler is not asked for anything but its name and kind: it has panicked. All is in the order of
    /// arrival.
    pub fn give_up(&mut self) {
        if !self.has_given_up {
            self.has_given_up = true;
            self.complain(Nonsense::GaveUp);
        }
    }

    fn complain(&mut self, nonsense: Nonsense) {
        if self.nonsense == 0 {
            self.complaint = Some(nonsense);
        }
        self.nonsense += 1;
    }

    fn fault(&mut self, processors: usize, chosen: &[Slot]) -> Option<Nonsense> {
        if chosen.len() > processors {
            let chosen = chosen.len();
            return Some(Nonsense::TooMany { chosen, processors });
        }
        if chosen.is_empty() && processors > 0 && !self.order.is_empty() {
            return Some(Nonsense::Idle);
        }
        self.decisions += 1;
        for thread in chosen {
            if !self.order.contains(*thread) {
                return Some(Nonsense::NotReady(*thread));
            }
            let seen = &mut self.seen[thread.index()];
            if *seen == self.decisions {
                return Some(Nonsense::Twice(*thread));
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
        if !self.has_given_up {
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
        if !self.has_given_up {
            self.scheduler.ready(thread, parameters, received, now);
        }
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        if !self.has_given_up && self.order.contains(thread) {
            self.scheduler.update(thread, parameters, received, now);
        }
    }

    fn remove(&mut self, thread: Slot, now: Time) {
        if self.order.remove(thread) && !self.has_given_up {
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
        let mut makes_sense = false;
        if !self.has_given_up {
            chosen.clear();
            self.scheduler.choose(processors, now, received, chosen);
            match self.fault(processors, chosen) {
                Some(fault) => self.complain(fault),
                None => makes_sense = true,
            }
            self.reconsider = self.scheduler.reconsider_at(now);
        }
        if let Some(past) = self.reconsider.filter(|at| *at <= now) {
            self.complain(Nonsense::Past(past));
            self.reconsider = Some(now + LEAST_INTERVAL);
        }
        if !makes_sense {
            chosen.clear();
            chosen.extend(self.order.iter().take(processors));
        }
    }

    fn reconsider_at(&self, _: Time) -> Option<Time> {
        self.reconsider
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        match self.has_given_up {
            true => None,
            false => self.scheduler.fixed_eligibility(parameters),
        }
    }

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        match self.has_given_up {
            true => Ordering::Equal,
            false => self.scheduler.compare(one, other, now),
        }
    }
}

impl fmt::Display for Nonsense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady(thread) => write!(f, "it chose thread {}, which is not ready", thread.0)?,
            Self::Twice(thread) => write!(f, "it chose thread {} twice", thread.0)?,
            Self::TooMany { chosen, processors } => {
                write!(f, "it chose {chosen} threads for {processors} processors")?;
            }
            Self::Idle => write!(f, "it chose none, although some are ready")?,
            Self::Past(time) => {
                return write!(
                    f,
                    "it wants to be asked again at {} ns, which is over; it is asked again after {:?} instead",
                    time.0, LEAST_INTERVAL
                );
            }
            Self::GaveUp => write!(f, "it has panicked and is not asked any more")?,
        }
        write!(f, "; threads run in the order of their arrival instead")
    }
}
