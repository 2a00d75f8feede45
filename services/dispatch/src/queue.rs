//! The bounded queue of a level: which command is next, given the time. It has no clock, lock or thread.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, binary_heap::PeekMut},
    time::Duration,
};

use punctual_sched::dynamic::{SheddingPoint, SheddingPolicy, Time};

use crate::{Command, Level, Order, Qos};

/// A command in a queue.
#[derive(Debug)]
pub(crate) struct Queued<C> {
    pub(crate) command: C,
    pub(crate) qos: Qos,
    /// Position in the order of arrival at the dispatcher.
    pub(crate) sequence: u64,
    /// Time from which its deadline was stated; a retry has as long again.
    pub(crate) arrival: Time,
    pub(crate) retries: u32,
}

impl<C> Queued<C> {
    fn order_of_arrival(&self) -> (Time, u64) {
        (self.qos.released, self.sequence)
    }
}

/// Next action of a thread.
pub(crate) enum Next<C> {
    Execute(Queued<C>),
    /// It can no longer meet its deadline.
    Cancel(Queued<C>),
    /// It will be retried: check the queue again.
    Deferred,
    /// Hopeless commands have been set aside: let others have the lock, and check the queue again.
    SetAside,
    /// Wait until this time, unless a command arrives earlier.
    Wait(Option<Time>),
}

/// Maximum number of hopeless commands that are set aside while the lock is held.
const SET_ASIDE_AT_ONCE: usize = 16;

/// Commands of one level. Adding and taking one takes O(log capacity) steps and allocates nothing.
#[derive(Debug)]
pub(crate) struct Queue<C> {
    order: Order,
    ready: BinaryHeap<Ranked<C>>,
    /// Hopeless commands that are executed nevertheless, under [`Order::Laxity`]: after all that are ready.
    hopeless: BinaryHeap<Ranked<C>>,
    /// Retries whose time has not come.
    deferred: BinaryHeap<Ranked<C>>,
}

/// The greatest is the next one.
#[derive(Debug)]
struct Ranked<C> {
    rank: Reverse<(Time, Reverse<i32>, Time, u64)>,
    queued: Queued<C>,
}

impl<C> Queue<C> {
    /// Reserves memory for the commands of a level.
    pub(crate) fn of(level: &Level) -> Self {
        let may_retry = level.shedding.retry_after(0).is_some();
        // A command that is retried from a checkpoint may find its place taken.
        let most = level.capacity + if may_retry { level.threads } else { 0 };
        let room = |is_needed: bool| BinaryHeap::with_capacity(if is_needed { most } else { 0 });
        Self {
            order: level.order,
            ready: room(true),
            hopeless: room(level.order == Order::Laxity),
            deferred: room(may_retry),
        }
    }

    /// Creates a queue that reserves nothing.
    pub(crate) fn empty() -> Self {
        Self {
            order: Order::Arrival,
            ready: BinaryHeap::new(),
            hopeless: BinaryHeap::new(),
            deferred: BinaryHeap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ready.len() + self.hopeless.len() + self.deferred.len()
    }

    pub(crate) fn push(&mut self, queued: Queued<C>) {
        self.ready.push(self.ranked(queued));
    }

    fn ranked(&self, queued: Queued<C>) -> Ranked<C> {
        let (time, importance) = match self.order {
            Order::Arrival => (Time(0), 0),
            Order::Deadline => (queued.qos.deadline, queued.qos.importance),
            // Laxities shrink alike while commands wait: the order of the latest beginnings is theirs.
            Order::Laxity => (latest_beginning(&queued.qos), queued.qos.importance),
        };
        Ranked::new(time, importance, queued)
    }

    /// Takes the next deferred command whose time has come.
    fn take_due(&mut self, now: Time) -> Option<Queued<C>> {
        let first = self.deferred.peek_mut()?;
        (first.rank.0.0 <= now).then(|| PeekMut::pop(first).queued)
    }

    /// Defers a hopeless command to its next attempt; returns it if it has none left.
    pub(crate) fn retry(
        &mut self,
        mut queued: Queued<C>,
        now: Time,
        shedding: SheddingPolicy,
    ) -> Result<(), Queued<C>> {
        let Some(delay) = shedding.retry_after(queued.retries) else {
            return Err(queued);
        };
        let begins = now + delay;
        queued.retries += 1;
        queued.qos.deadline = begins + queued.qos.deadline.since(queued.arrival);
        queued.arrival = begins;
        self.deferred.push(Ranked::new(begins, 0, queued));
        Ok(())
    }

    /// Takes the command that has waited longest.
    pub(crate) fn take_oldest(&mut self) -> Option<Queued<C>> {
        if self.order == Order::Arrival && self.deferred.is_empty() {
            return self.ready.pop().map(|first| first.queued);
        }
        let oldest = self
            .ready
            .iter()
            .chain(&self.hopeless)
            .chain(&self.deferred)
            .map(|any| any.queued.order_of_arrival())
            .min()?;
        [&mut self.ready, &mut self.hopeless, &mut self.deferred]
            .into_iter()
            .find_map(|heap| remove(heap, |queued| queued.order_of_arrival() == oldest))
    }

    /// Takes a command out of the middle, unless it is deferred.
    pub(crate) fn remove(&mut self, is_it: impl Fn(&C) -> bool) -> Option<Queued<C>> {
        [&mut self.ready, &mut self.hopeless]
            .into_iter()
            .find_map(|heap| remove(heap, |queued| is_it(&queued.command)))
    }

    /// Takes all commands, with the time until which they are deferred.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Queued<C>, Option<Time>)) {
        for Ranked { queued, .. } in self.ready.drain().chain(self.hopeless.drain()) {
            take(queued, None);
        }
        for Ranked { queued, rank } in self.deferred.drain() {
            take(queued, Some(rank.0.0));
        }
    }

    /// Adds a command of another queue, which was deferred there until `begins`.
    pub(crate) fn adopt(&mut self, queued: Queued<C>, begins: Option<Time>) {
        match begins {
            None => self.push(queued),
            Some(begins) => self.deferred.push(Ranked::new(begins, 0, queued)),
        }
        // What exceeds the level's capacity can be moved without memory, too. Heaps without any are not used.
        let all = self.len();
        for heap in [&mut self.ready, &mut self.hopeless, &mut self.deferred] {
            if heap.capacity() > 0 {
                heap.reserve(all - heap.len());
            }
        }
    }
}

impl<C: Command> Queue<C> {
    /// Takes the next command at this time.
    pub(crate) fn next(&mut self, now: Time, shedding: SheddingPolicy) -> Next<C> {
        while let Some(due) = self.take_due(now) {
            self.push(due);
        }
        if self.order == Order::Laxity && !self.set_aside(now, shedding) {
            return Next::SetAside;
        }
        let first = self.ready.pop().or_else(|| self.hopeless.pop());
        let Some(Ranked { queued, .. }) = first else {
            return Next::Wait(self.deferred.peek().map(|first| first.rank.0.0));
        };
        let work = queued.qos.timed_work();
        if !shedding.sheds(&work, Duration::ZERO, now, SheddingPoint::Dispatch) {
            return Next::Execute(queued);
        }
        match self.retry(queued, now, shedding) {
            Ok(()) => Next::Deferred,
            Err(queued) => Next::Cancel(queued),
        }
    }

    /// Sets hopeless commands aside that are executed nevertheless: with their negative laxity they would
    /// make those late that can still be in time. Those with other work that can be in time stay. Returns
    /// `false` if there may be more of them.
    ///
    /// The first one that the policy cancels stays first, so that it frees its place at once.
    fn set_aside(&mut self, now: Time, shedding: SheddingPolicy) -> bool {
        for _ in 0..SET_ASIDE_AT_ONCE {
            let Some(first) = self.ready.peek_mut() else {
                return true;
            };
            let qos = &first.queued.qos;
            if !qos.is_hopeless(now)
                || shedding.sheds(&qos.timed_work(), Duration::ZERO, now, SheddingPoint::Dispatch)
            {
                return true;
            }
            let mut queued = PeekMut::pop(first).queued;
            if let Some(most_urgent) = queued.command.taken_up(now) {
                queued.qos = most_urgent;
            }
            let ranked = self.ranked(queued);
            match ranked.queued.qos.is_hopeless(now) {
                true => self.hopeless.push(ranked),
                false => self.ready.push(ranked),
            }
        }
        false
    }
}

/// Takes a command out of the middle. Costs time proportional to the length.
fn remove<C>(heap: &mut BinaryHeap<Ranked<C>>, is_it: impl Fn(&Queued<C>) -> bool) -> Option<Queued<C>> {
    let place = heap.iter().position(|any| is_it(&any.queued))?;
    let mut all = std::mem::take(heap).into_vec();
    let found = all.swap_remove(place);
    *heap = all.into();
    Some(found.queued)
}

fn latest_beginning(qos: &Qos) -> Time {
    match qos.deadline {
        Time::NEVER => Time::NEVER,
        deadline => deadline - qos.execution_time,
    }
}

impl<C> Ranked<C> {
    fn new(time: Time, importance: i32, queued: Queued<C>) -> Self {
        let (released, sequence) = queued.order_of_arrival();
        let rank = Reverse((time, Reverse(importance), released, sequence));
        Self { rank, queued }
    }
}

impl<C> Ord for Ranked<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl<C> PartialOrd for Ranked<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C> PartialEq for Ranked<C> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl<C> Eq for Ranked<C> {}

#[cfg(test)]
mod tests;
