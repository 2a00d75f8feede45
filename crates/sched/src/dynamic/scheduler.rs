use alloc::vec::Vec;
use core::time::Duration;

use super::{ParameterKind, SchedulingParameters, Time};

/// Decides which of the distributable threads that are ready at one endsystem run: the decision of `RTScheduling::Scheduler`,
/// without threads, clocks and wires. The same code decides live and in the simulator.
///
/// Whoever drives it (the runtime's dispatcher or the simulator) names each thread by a [`Slot`] and tells what becomes of it. A
/// thread is known from [`ready`](Self::ready) to [`remove`](Self::remove).
///
/// Calls come one at a time and must not block. After [`reserve`](Self::reserve) they must not allocate as long as no more
/// threads are ready than were reserved for.
pub trait Scheduler: Send {
    /// Its name, such as `EDF`: `scheduling_discipline_name`.
    fn name(&self) -> &str;

    /// The parameters it schedules by; those of others are translated before it sees them.
    fn kind(&self) -> ParameterKind;

    /// Makes room for so many ready threads.
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
    /// `received` says how much processor time the present segment of a thread has had.
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
}

/// A distributable thread as a [`Scheduler`] knows it: a small number, used again when that one has left.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);
