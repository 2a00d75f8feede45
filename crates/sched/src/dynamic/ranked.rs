use alloc::vec::Vec;
use core::{cmp::Ordering, time::Duration};

use super::{
    Claim, Discipline, ParameterKind, Ranking, ReadyQueue, Scheduler, SchedulingParameters, Slot, Time,
    TranslationDefaults,
};

/// The scheduler that goes by the ranks of a [`Discipline`].
///
/// Those that run are kept apart from those that wait: a decision takes O((m + 1) log n) comparisons for m processors and n
/// ready threads, however few of them have changed. Among equals the one that became ready first goes first, but one that runs
/// is not displaced by an equal. A thread keeps its place among equals when its parameters change.
///
/// Parameters of another kind are translated with [`TranslationDefaults::default`]; who has better defaults translates before.
#[derive(Clone, Debug)]
pub struct Ranked<D: Discipline> {
    discipline: D,
    /// By slot: what those that are ready ask for.
    claims: Vec<Option<Claim>>,
    waiting: ReadyQueue<D::Rank>,
    /// The most eligible first.
    running: Vec<Running<D::Rank>>,
    arrivals: u64,
    reconsider: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Running<R> {
    ranking: Ranking<R>,
    /// What it had received when it was chosen.
    since: Duration,
}

impl<D: Discipline> Ranked<D> {
    /// That goes by this discipline.
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

    /// That goes by this discipline with its default settings.
    pub fn new() -> Self
    where
        D: Default,
    {
        Self::of(D::default())
    }

    /// The discipline, to look at its settings.
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
        self.let_ranks_fall(now, received);
        while self.running.len() > processors {
            self.stop_last();
        }
        while self.running.len() < processors {
            self.let_first_fall(now, received);
            let Some(first) = self.waiting.pop() else {
                break;
            };
            self.start(first, received);
        }
        // More than so many can change only where ranks do not make sense, and then nothing ever would be right.
        for _ in 0..=processors {
            self.let_first_fall(now, received);
            let (Some(first), Some(last)) = (self.waiting.first(), self.running.last()) else {
                break;
            };
            if first.rank <= last.ranking.rank {
                break;
            }
            // Out before in: among the waiting ones it must not be taken for the first.
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
        let place = self
            .running
            .iter()
            .position(|running| running.ranking.thread == thread);
        if let Some(place) = place {
            let mut running = self.running.remove(place);
            running.ranking.rank = rank;
            self.insert_running(running);
        }
    }

    fn insert_running(&mut self, running: Running<D::Rank>) {
        let goes_first = |other: &Running<_>| other.ranking.goes_before(&running.ranking);
        let place = self.running.partition_point(goes_first);
        self.running.insert(place, running);
    }

    fn start(&mut self, ranking: Ranking<D::Rank>, received: &dyn Fn(Slot) -> Duration) {
        let since = match self.discipline.quantum() {
            None => Duration::ZERO,
            Some(_) => received(ranking.thread),
        };
        self.insert_running(Running { ranking, since });
    }

    /// Its rank may have fallen: it is looked at when it is the first that waits.
    fn stop_last(&mut self) {
        if let Some(last) = self.running.pop() {
            self.waiting.insert(last.ranking);
        }
    }

    /// The rank now, after what a thread has received; `None` where ranks do not fall.
    fn fallen(&mut self, thread: Slot, now: Time, received: &dyn Fn(Slot) -> Duration) -> Option<D::Rank> {
        self.discipline.quantum()?;
        let claim = self.claims[thread.index()].as_mut()?;
        claim.received = received(thread);
        let claim = *claim;
        Some(self.rank(&claim, now))
    }

    /// Those that run fall as they run, once their quantum is over.
    fn let_ranks_fall(&mut self, now: Time, received: &dyn Fn(Slot) -> Duration) {
        let Some(quantum) = self.discipline.quantum() else {
            return;
        };
        for place in 0..self.running.len() {
            let Running { ranking, since } = self.running[place];
            if received(ranking.thread) < since.saturating_add(quantum) {
                continue;
            }
            if let Some(rank) = self.fallen(ranking.thread, now, received) {
                self.running[place].ranking.rank = rank;
            }
        }
        self.running
            .sort_unstable_by(|one, other| match one.ranking.goes_before(&other.ranking) {
                true => Ordering::Less,
                false => Ordering::Greater,
            });
    }

    /// One that has run, perhaps a little longer than it was told to, is not as urgent as the queue has it; nor is one that has
    /// become hopeless as it waited. No thread is more
    /// urgent than the queue has it, so looking at the first is enough.
    fn let_first_fall(&mut self, now: Time, received: &dyn Fn(Slot) -> Duration) {
        for _ in 0..self.waiting.len() {
            let Some(&Ranking { thread, rank, .. }) = self.waiting.first() else {
                return;
            };
            match self.fallen(thread, now, received) {
                Some(fallen) if fallen < rank => self.waiting.set_rank(thread, fallen),
                _ => return,
            };
        }
    }

    /// When the first that waits goes before one that runs.
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
