use alloc::{boxed::Box, vec::Vec};
use core::{
    cmp::{Ordering, Reverse},
    time::Duration,
};

use super::{Claim, ParameterKind, SchedulingParameters, Time};

/// Decides which of the distributable threads that are ready at one endsystem run: the decision of `RTScheduling::Scheduler`,
/// without threads, clocks and wires. The same code decides live and in the simulator.
///
/// Whoever drives it (the runtime's dispatcher or the simulator) names each thread by a [`Slot`] and tells what becomes of it. A
/// thread is known from [`ready`](Self::ready) to [`remove`](Self::remove).
///
/// Calls come one at a time and must not block. After [`reserve`](Self::reserve) they must not allocate as long as slots stay
/// below what was reserved for.
///
/// Most schedulers are an order: then [`Ranked`](super::Ranked) does all of this, and [`Discipline`](super::Discipline) is what
/// remains to be written.
pub trait Scheduler: Send {
    /// Its name, such as `EDF`: `scheduling_discipline_name`.
    fn name(&self) -> &str;

    /// The parameters it schedules by; those of others are translated before it sees them.
    fn kind(&self) -> ParameterKind;

    /// Makes room for the slots below `threads`.
    fn reserve(&mut self, threads: usize);

    /// A thread gets ready: it begins, arrives from another host, returns from one, or a lock has been given to it.
    ///
    /// `received` is the processor time that its present segment has had. Never called twice without
    /// [`remove`](Self::remove) in between.
    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time);

    /// The parameters of a thread that is ready have changed: a segment has begun, ended or was updated, or it inherits.
    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time);

    /// A thread is not ready any more: it waits, is on another host, or has ended.
    fn remove(&mut self, thread: Slot, now: Time);

    /// Those that are to run now on `processors` processors, the most eligible first, into `chosen`, which is empty.
    ///
    /// They run until the next choice. One that runs should not give way to an equal. `received` says how much processor time
    /// the present segment of a thread has had.
    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    );

    /// When the choice may become another one although nothing happens; `None`: never. Asked after each choice.
    fn reconsider_at(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// How eligible a thread with these parameters is, the greater the more, where that does not change with time; `None` where
    /// it does. Threads can be given to the kernel's priorities only where there is such a number.
    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        let _ = parameters;
        None
    }

    /// Which of two claims is the more eligible now; [`Ordering::Greater`]: `one`. A total order at each point in time: who
    /// gets a lock first, and whose parameters the owner of a lock inherits.
    ///
    /// As it stands: by [`fixed_eligibility`](Self::fixed_eligibility), and where there is none the earlier deadline.
    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        let _ = now;
        let eligibility = |claim: &Claim| self.fixed_eligibility(&claim.parameters);
        let deadline = |claim: &Claim| Reverse(claim.parameters.deadline().unwrap_or(Time::NEVER));
        eligibility(one)
            .cmp(&eligibility(other))
            .then_with(|| deadline(one).cmp(&deadline(other)))
    }
}

/// One that is chosen while the program runs.
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

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        (**self).compare(one, other, now)
    }
}

/// A distributable thread as a [`Scheduler`] knows it: a small number, used again when that one has left.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);

impl Slot {
    /// Its place in a table by slots.
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}
