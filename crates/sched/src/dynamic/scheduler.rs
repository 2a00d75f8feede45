//! The interface of schedulers.

use alloc::{boxed::Box, vec::Vec};
use core::{
    cmp::{Ordering, Reverse},
    time::Duration,
};

use super::{Claim, ParameterKind, SchedulingParameters, Time, UserParameters};

/// Chooses which of the ready distributable threads of an endsystem run: the decision of
/// `RTScheduling::Scheduler`, without threads, clocks and wire formats. The same code decides in live
/// operation and in the simulator.
///
/// The caller (the runtime's dispatcher or the simulator) identifies each thread by a [`Slot`] and reports
/// its changes of state. A thread is known from [`ready`](Self::ready) to [`remove`](Self::remove).
///
/// Calls are sequential and must not block. After [`reserve`](Self::reserve) they must not allocate for slots
/// below the reserved number.
///
/// Most schedulers are orders of threads: for them only a [`Discipline`](super::Discipline) needs to be
/// written, and [`Ranked`](super::Ranked) implements the scheduler.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Scheduler, SchedulingParameters, Slot, Time, standard};
///
/// // What a dispatcher does at each change of a thread.
/// let mut scheduler: Box<dyn Scheduler> = standard("MIF").expect("it is a standard scheduler");
/// let important = |importance| SchedulingParameters::Importance { importance };
/// scheduler.ready(Slot(0), &important(3), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &important(5), Duration::ZERO, Time(0));
/// scheduler.update(Slot(0), &important(7), Duration::ZERO, Time(10));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(10), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(0)]);
/// ```
pub trait Scheduler: Send {
    /// Returns the name, such as `EDF`: `scheduling_discipline_name`.
    fn name(&self) -> &str;

    /// Returns the kind of its parameters; parameters of other kinds are translated before they are passed to
    /// it.
    fn kind(&self) -> ParameterKind;

    /// Reserves memory for the slots below `threads`.
    fn reserve(&mut self, threads: usize);

    /// Adds a thread that is ready: it begins, arrives from another host, returns from a call, or has been
    /// given a resource.
    ///
    /// `received` is the processor time that its present segment has received. Never called twice without
    /// [`remove`](Self::remove) in between.
    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time);

    /// Changes the parameters of a ready thread: a segment has begun, ended or been updated, or the thread
    /// inherits.
    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time);

    /// Removes a thread that is no longer ready: it waits, is on another host, or has ended.
    fn remove(&mut self, thread: Slot, now: Time);

    /// Appends the threads that run now on `processors` processors, the most eligible first, to `chosen`,
    /// which is empty.
    ///
    /// They run until the next choice. A running thread should not be preempted by an equal. `received`
    /// returns the processor time that the present segment of a thread has received.
    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    );

    /// Returns when the choice may change without any event; `None`: never. Called after each choice.
    fn reconsider_at(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// Returns the eligibility of a thread with these parameters as a number, greater for more eligible
    /// threads; `None` if eligibility changes with time. Only schedulers with such a number can use the
    /// kernel's priorities.
    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        let _ = parameters;
        None
    }

    /// Marshals its own parameters ([`ParameterKind::User`]) for a two-way request to another host: those of
    /// the work that is left after this processor time. By default the octets travel unchanged. RTCORBA 1.2:
    /// `send_request`.
    fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        let _ = received;
        *parameters
    }

    /// Unmarshals parameters of its own kind that a request has brought; `None` refuses the request with
    /// MARSHAL. The octets are a peer's: of any content, and of any length up to
    /// [`UserParameters::MOST`]. By default they are accepted as they are. RTCORBA 1.2: `receive_request`.
    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        Some(*parameters)
    }

    /// Returns parameters of its own kind for a thread that has those of another one; `None`, the default:
    /// [empty](UserParameters::empty) ones with the deadline.
    fn adopt(&self, parameters: &SchedulingParameters, now: Time) -> Option<UserParameters> {
        let _ = (parameters, now);
        None
    }

    /// Compares the present eligibility of two claims: [`Ordering::Greater`] if `one` is more eligible. A
    /// total order at each point in time, by which resources are handed over and parameters inherited.
    ///
    /// By default it compares [`fixed_eligibility`](Self::fixed_eligibility), then deadlines, the earlier
    /// first.
    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        let _ = now;
        let eligibility = |claim: &Claim| self.fixed_eligibility(&claim.parameters);
        let deadline = |claim: &Claim| Reverse(claim.parameters.deadline().unwrap_or(Time::NEVER));
        eligibility(one)
            .cmp(&eligibility(other))
            .then_with(|| deadline(one).cmp(&deadline(other)))
    }
}

/// A scheduler chosen at run time.
impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn kind(&self) -> ParameterKind {
        (**self).kind()
    }

    fn reserve(&mut self, threads: usize) {
        (**self).reserve(threads);
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        (**self).ready(thread, parameters, received, now);
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        (**self).update(thread, parameters, received, now);
    }

    fn remove(&mut self, thread: Slot, now: Time) {
        (**self).remove(thread, now);
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        (**self).choose(processors, now, received, chosen);
    }

    fn reconsider_at(&self, now: Time) -> Option<Time> {
        (**self).reconsider_at(now)
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        (**self).fixed_eligibility(parameters)
    }

    fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        (**self).marshal(parameters, received)
    }

    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        (**self).unmarshal(parameters)
    }

    fn adopt(&self, parameters: &SchedulingParameters, now: Time) -> Option<UserParameters> {
        (**self).adopt(parameters, now)
    }

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        (**self).compare(one, other, now)
    }
}

/// Identity of a distributable thread in a [`Scheduler`]: a small number, reused after the thread was
/// removed.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = MostImportantFirst::new();
/// let parameters = SchedulingParameters::Importance { importance: 1 };
/// scheduler.ready(Slot(0), &parameters, Duration::ZERO, Time(0));
/// scheduler.remove(Slot(0), Time(5));
/// // Another thread has the number now.
/// scheduler.ready(Slot(0), &parameters, Duration::ZERO, Time(9));
/// # let mut chosen = Vec::new();
/// # scheduler.choose(1, Time(9), &|_| Duration::ZERO, &mut chosen);
/// # assert_eq!(chosen, [Slot(0)]);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);

impl Slot {
    /// Returns the index in a table by slots.
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}
