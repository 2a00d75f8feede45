//! Schedulers made of disciplines.

use alloc::vec::Vec;
use core::{cmp::Ordering, time::Duration};

use super::{
    Claim, Discipline, ParameterKind, Ranking, ReadyQueue, Scheduler, SchedulingParameters, Slot, Time,
    TranslationDefaults, UserParameters,
};

/// The scheduler of a [`Discipline`].
///
/// Running threads are kept apart from waiting ones: a decision takes O((m + 1) log n) comparisons for m
/// processors and n ready threads. Among equals the thread that became ready first runs first, but a running
/// thread is not preempted by an equal. A thread keeps its position among equals when its parameters change.
///
/// Parameters of another kind are translated with [`TranslationDefaults::default`]; a caller with better
/// defaults translates them before.
#[derive(Clone, Debug)]
pub struct Ranked<D: Discipline> {
    discipline: D,
    /// Claims of the ready threads, by slot.
    claims: Vec<Option<Claim>>,
    waiting: ReadyQueue<D::Rank>,
    /// Running threads, the most eligible first.
    running: Vec<Running<D::Rank>>,
    arrivals: u64,
    reconsider: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Running<R> {
    ranking: Ranking<R>,
    /// Processor time that it had received when it was chosen.
    since: Duration,
}

impl<D: Discipline> Ranked<D> {
    /// Creates the scheduler of a discipline.
    pub fn of(discipline: D) -> Self {
        Self {
            discipline,
            claims: Vec::new(),
            waiting: ReadyQueue::new(),
            running: Vec::new(),
            arrivals: 0,
            reconsider: None,
        }
    }

    /// Creates the scheduler of a discipline with default settings.
    pub fn new() -> Self
    where
        D: Default,
    {
        Self::of(D::default())
    }

    /// Returns the discipline.
    pub fn discipline(&self) -> &D {
        &self.discipline
    }
}

impl<D: Discipline + Default> Default for Ranked<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D: Discipline> Scheduler for Ranked<D> {
    fn name(&self) -> &str {
        self.discipline.name()
    }

    fn kind(&self) -> ParameterKind {
        self.discipline.kind()
    }

    fn reserve(&mut self, threads: usize) {
        self.waiting.reserve(threads);
        self.running.reserve(threads.saturating_sub(self.running.len()));
        if self.claims.len() < threads {
            self.claims.resize(threads, None);
        }
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        let claim = self.claim(parameters, received, now);
        let needed = thread.index() + 1;
        if self.claims.len() < needed {
            self.claims.resize(needed, None);
        }
        if self.claims[thread.index()].replace(claim).is_some() {
            return self.set_rank(thread, self.rank(&claim, now));
        }
        self.arrivals += 1;
        self.waiting.insert(Ranking {
            thread,
            rank: self.rank(&claim, now),
            arrival: self.arrivals,
        });
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        let changed = self.claim(parameters, received, now);
        let Some(Some(claim)) = self.claims.get_mut(thread.index()) else {
            return;
        };
        *claim = changed;
        self.set_rank(thread, self.rank(&changed, now));
    }

    fn remove(&mut self, thread: Slot, _: Time) {
        let Some(claim) = self.claims.get_mut(thread.index()) else {
            return;
        };
        *claim = None;
        if self.waiting.remove(thread).is_none() {
            self.running.retain(|running| running.ranking.thread != thread);
        }
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        self.lower_ranks(now, received);
        while self.running.len() > processors {
            self.stop_last();
        }
        while self.running.len() < processors {
            self.lower_first(now, received);
            let Some(first) = self.waiting.pop() else {
                break;
            };
            self.start(first, received);
        }
        // More changes are only possible with inconsistent ranks, for which no choice is correct.
        for _ in 0..=processors {
            self.lower_first(now, received);
            let (Some(first), Some(last)) = (self.waiting.first(), self.running.last()) else {
                break;
            };
            if first.rank <= last.ranking.rank {
                break;
            }
            // Removed first, so that the stopped thread cannot become the first waiting one.
            let first = self.waiting.pop();
            self.stop_last();
            if let Some(first) = first {
                self.start(first, received);
            }
        }
        self.reconsider = self.overtaking(now, received);
        chosen.extend(self.running.iter().map(|running| running.ranking.thread));
    }

    fn reconsider_at(&self, _: Time) -> Option<Time> {
        self.reconsider
    }

    fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        self.discipline.marshal(parameters, received)
    }

    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        self.discipline.unmarshal(parameters)
    }

    fn adopt(&self, parameters: &SchedulingParameters, now: Time) -> Option<UserParameters> {
        self.discipline.adopt(parameters, now)
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        self.discipline.fixed_eligibility(parameters)
    }

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        let rank = |claim: &Claim| {
            let claim = self.claim(&claim.parameters, claim.received, now);
            self.rank(&claim, now)
        };
        rank(one).cmp(&rank(other))
    }
}

impl<D: Discipline> Ranked<D> {
    fn claim(&self, parameters: &SchedulingParameters, received: Duration, now: Time) -> Claim {
        let kind = self.discipline.kind();
        if parameters.kind() == kind {
            return Claim::new(*parameters, received);
        }
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        Claim::new(parameters.translated(kind, &defaults), received)
    }

    fn rank(&self, claim: &Claim, now: Time) -> D::Rank {
        match claim.is_hopeless(now) {
            true => self.discipline.late_rank(claim),
            false => self.discipline.rank(claim),
        }
    }

    fn set_rank(&mut self, thread: Slot, rank: D::Rank) {
        if self.waiting.set_rank(thread, rank) {
            return;
        }
        let index = self
            .running
            .iter()
            .position(|running| running.ranking.thread == thread);
        if let Some(index) = index {
            let mut running = self.running.remove(index);
            running.ranking.rank = rank;
            self.insert_running(running);
        }
    }

    fn insert_running(&mut self, running: Running<D::Rank>) {
        let goes_first = |other: &Running<_>| other.ranking.precedes(&running.ranking);
        let index = self.running.partition_point(goes_first);
        self.running.insert(index, running);
    }

    fn start(&mut self, ranking: Ranking<D::Rank>, received: &dyn Fn(Slot) -> Duration) {
        let since = match self.discipline.quantum() {
            None => Duration::ZERO,
            Some(_) => received(ranking.thread),
        };
        self.insert_running(Running { ranking, since });
    }

    /// Stops the last running thread. Its rank may have fallen, which is checked when it is the first waiting
    /// one.
    fn stop_last(&mut self) {
        if let Some(last) = self.running.pop() {
            self.waiting.insert(last.ranking);
        }
    }

    /// Returns the present rank of a thread, given its received time; `None` if ranks do not fall.
    fn lowered(&mut self, thread: Slot, now: Time, received: &dyn Fn(Slot) -> Duration) -> Option<D::Rank> {
        self.discipline.quantum()?;
        let claim = self.claims[thread.index()].as_mut()?;
        claim.received = received(thread);
        let claim = *claim;
        Some(self.rank(&claim, now))
    }

    /// Lowers the ranks of running threads whose quantum is over.
    fn lower_ranks(&mut self, now: Time, received: &dyn Fn(Slot) -> Duration) {
        let Some(quantum) = self.discipline.quantum() else {
            return;
        };
        for index in 0..self.running.len() {
            let Running { ranking, since } = self.running[index];
            if received(ranking.thread) < since.saturating_add(quantum) {
                continue;
            }
            if let Some(rank) = self.lowered(ranking.thread, now, received) {
                self.running[index].ranking.rank = rank;
            }
        }
        self.running
            .sort_unstable_by(|one, other| match one.ranking.precedes(&other.ranking) {
                true => Ordering::Less,
                false => Ordering::Greater,
            });
    }

    /// Lowers the rank of the first waiting thread until it is accurate: a thread that has run, or that has
    /// become hopeless while it waited, is less urgent than in the queue. No thread is more urgent, so
    /// checking the first is enough.
    fn lower_first(&mut self, now: Time, received: &dyn Fn(Slot) -> Duration) {
        for _ in 0..self.waiting.len() {
            let Some(&Ranking { thread, rank, .. }) = self.waiting.first() else {
                return;
            };
            match self.lowered(thread, now, received) {
                Some(lowered) if lowered < rank => self.waiting.set_rank(thread, lowered),
                _ => return,
            };
        }
    }

    /// Returns the time at which the first waiting thread precedes a running one.
    fn overtaking(&self, now: Time, received: &dyn Fn(Slot) -> Duration) -> Option<Time> {
        let quantum = self.discipline.quantum()?;
        let first = self.waiting.first()?.rank;
        let overtaken = |running: &Running<D::Rank>| {
            let thread = running.ranking.thread;
            let mut claim = self.claims[thread.index()]?;
            claim.received = received(thread);
            let kept = running
                .since
                .saturating_add(quantum)
                .saturating_sub(claim.received);
            let after = self.discipline.overtaken_after(&claim, &first, now)?;
            Some(now + after.max(kept))
        };
        self.running.iter().filter_map(overtaken).min()
    }
}
