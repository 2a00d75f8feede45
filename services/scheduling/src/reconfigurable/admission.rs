//! Admission of rates by utilisation.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use super::{Criticality, Operation, RateTuple, Strategy, graph::nanoseconds, system::System};

/// Alternative rates of all sources in the order of admission, and which of them were admitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Admission {
    /// Sources, ascending by operation.
    sources: Vec<Source>,
    /// State of each source while rates are admitted.
    rooms: Vec<Room>,
    /// Indices of the sources in the order of their admission within a round.
    ranked: Vec<u32>,
    /// All rates that can be admitted, in the order of admission.
    entries: Vec<Entry>,
    /// Utilisation of the processor by everything that was admitted.
    pub(super) utilization: f64,
    /// Number of sources of which no rate was admitted.
    resting: usize,
    /// Number of sources of which a lower rate than the highest was admitted.
    lower: usize,
}

/// An enabled operation with rates of its own.
#[derive(Clone, Copy, Debug)]
struct Source {
    operation: u32,
    /// Number of rates that can be admitted: none if they contradict each other.
    rates: u32,
    /// Shortest of their periods.
    shortest: Duration,
    /// Criticality that counts for the order of admission.
    criticality: Criticality,
    /// Its place among the ranked sources.
    rank: u32,
    /// Number of the admitted rate; [`NONE`] if it does not run.
    admitted: u32,
}

/// State of a source while rates are admitted. Between computations, no rate is admitted here, and
/// nothing has changed.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Share of the processor that is admitted so far.
    share: f64,
    admitted: u32,
    change: Change,
    /// Utilisation up to which it is admitted.
    threshold: f64,
}

/// Change of a source since the computation before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Change {
    None,
    /// Its rates, or what follows from it.
    Rates,
    /// Also its shortest period, by which sources are ranked.
    Shortest,
}

/// The number that stands for no rate.
const NONE: u32 = u32::MAX;

/// One rate of a source.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Share of the processor of the source at this rate, and of everything that follows from it.
    utilization: f64,
    /// Index in the list of sources.
    source: u32,
    /// Number of the rate.
    tuple: u32,
}

/// Place in the order of admission: the smallest first. Round, rank of the source, and number of the rate.
type Place = (u32, u32, u32);

/// A source, and what has been decided for it.
pub(super) struct Decision {
    pub(super) operation: u32,
    /// Number of the admitted rate; `None`: it does not run.
    pub(super) admitted: Option<u32>,
}

impl Admission {
    /// Admits rates of all sources.
    pub(super) fn new(system: System<'_>, contradictory: &BTreeSet<u32>, follow_up: &[f64]) -> Self {
        let mut admission = Self::default();
        for (operation, index) in system.operations.iter().zip(0u32..) {
            if !operation.enabled || !operation.is_source() {
                continue;
            }
            let rates = admissible(system.operations, contradictory, index);
            let criticality = operation.criticality;
            admission.sources.push(Source {
                operation: index,
                rates: rates.len() as u32,
                shortest: shortest(rates),
                criticality: system.strategy.criticality(criticality),
                rank: 0,
                admitted: NONE,
            });
            admission.rooms.push(Room {
                share: 0.0,
                admitted: NONE,
                change: Change::Rates,
                threshold: system.threshold(criticality) + ROUNDING,
            });
        }
        admission.ranked = (0..admission.sources.len() as u32).collect();
        admission.rank();
        admission.enter_all(system, follow_up);
        admission.admit();
        admission
    }

    /// Ranks all sources.
    fn rank(&mut self) {
        let sources = &mut self.sources;
        self.ranked
            .sort_by_key(|source| sources[*source as usize].key(*source));
        for (source, rank) in self.ranked.iter().zip(0..) {
            sources[*source as usize].rank = rank;
        }
    }

    /// Enters the rates of all sources, round by round.
    fn enter_all(&mut self, system: System<'_>, follow_up: &[f64]) {
        let System {
            strategy, operations, ..
        } = system;
        let sources = &self.sources;
        let rates = sources.iter().map(|source| source.rates as usize);
        self.entries.reserve_exact(rates.sum());
        // Sources with the numbers of their next rates.
        let mut waiting: Vec<(u32, u32)> = self.ranked.iter().map(|source| (*source, 0)).collect();
        let mut round = 0;
        while !waiting.is_empty() {
            waiting.retain_mut(|(source, next)| {
                let own = &sources[*source as usize];
                let rates = &operations[own.operation as usize].tuples[..own.rates as usize];
                let following = follow_up[own.operation as usize];
                while let Some(rate) = rates.get(*next as usize)
                    && strategy.round(*next) == round
                {
                    self.entries.push(Entry::new(rate, following, *source, *next));
                    *next += 1;
                }
                *next < own.rates
            });
            round += 1;
        }
    }

    /// Updates the rates of changed sources, and admits anew.
    pub(super) fn update(
        &mut self,
        system: System<'_>,
        contradictory: &BTreeSet<u32>,
        follow_up: &[f64],
        changed: &[u32],
    ) {
        // Rates beyond those that a source has had.
        let mut new = Vec::new();
        let (mut has_more, mut has_moved) = (false, false);
        for operation in changed {
            let index = self.index(*operation);
            let Some(index) = index.filter(|index| self.rooms[*index].change == Change::None) else {
                continue;
            };
            let rates = admissible(system.operations, contradictory, *operation);
            let following = follow_up[*operation as usize];
            has_more |= !self.refresh(system.strategy, index, rates, following);
            let source = &mut self.sources[index];
            let added = rates.iter().zip(0u32..).skip(source.rates as usize);
            new.extend(added.map(|(rate, tuple)| Entry::new(rate, following, index as u32, tuple)));
            let former = source.shortest;
            (source.rates, source.shortest) = (rates.len() as u32, shortest(rates));
            let has_same = source.shortest == former;
            self.rooms[index].change = if has_same { Change::Rates } else { Change::Shortest };
            has_moved |= !has_same;
        }
        if has_more {
            let sources = &self.sources;
            self.entries
                .retain(|entry| entry.tuple < sources[entry.source as usize].rates);
        }
        let is_ranked = |operation: &u32| self.index(*operation).is_none_or(|index| self.is_ranked(index));
        if has_moved && !changed.iter().all(is_ranked) {
            // Entries that may have other places are taken out and put in again.
            let rooms = &self.rooms;
            self.entries.retain(|entry| {
                let may_move = rooms[entry.source as usize].change == Change::Shortest;
                new.extend(may_move.then_some(*entry));
                !may_move
            });
            self.rank();
        }
        if !new.is_empty() {
            self.merge(system.strategy, new);
        }
        self.admit();
    }

    /// Updates the entries that a source keeps, and removes those that it loses, as far as they are in one
    /// place; returns whether this is so.
    fn refresh(&mut self, strategy: Strategy, index: usize, rates: &[RateTuple], following: f64) -> bool {
        let Source {
            rank, rates: former, ..
        } = self.sources[index];
        let source = index as u32;
        let mut next = 0;
        let found = |own: &Self, next: usize, tuple: u32| match own.entries.get(next) {
            Some(entry) if (entry.source, entry.tuple) == (source, tuple) => next,
            _ => own.find(next, (strategy.round(tuple), rank, tuple), strategy),
        };
        for (rate, tuple) in rates.iter().zip(0..former) {
            next = found(self, next, tuple);
            if let Some(entry) = self.entries.get_mut(next) {
                *entry = Entry::new(rate, following, source, tuple);
            }
            next += 1;
        }
        let lost = (former as usize).saturating_sub(rates.len());
        if lost == 0 {
            return true;
        }
        next = found(self, next, rates.len() as u32);
        let together = self.entries[next..]
            .iter()
            .take_while(|entry| entry.source == source);
        let together = together.count();
        self.entries.drain(next..next + together);
        together == lost
    }

    /// Finds the entry of a place; it is not before this index, and often near.
    fn find(&self, mut from: usize, wanted: Place, strategy: Strategy) -> usize {
        let is_before = |entry: &Entry| entry.place(strategy, &self.sources) < wanted;
        let mut step = 1;
        while self.entries.get(from + step - 1).is_some_and(is_before) {
            from += step;
            step *= 2;
        }
        let end = self.entries.len().min(from + step - 1);
        from + self.entries[from..end].partition_point(is_before)
    }

    /// Returns the index of an operation among the sources; `None`: it is none.
    fn index(&self, operation: u32) -> Option<usize> {
        let found = self
            .sources
            .binary_search_by_key(&operation, |source| source.operation);
        found.ok()
    }

    /// Returns whether the rank of a source still agrees with its neighbours'.
    fn is_ranked(&self, index: usize) -> bool {
        let key = |rank: usize| {
            let source = *self.ranked.get(rank)?;
            Some(self.sources[source as usize].key(source))
        };
        let rank = self.sources[index].rank as usize;
        let own = self.sources[index].key(index as u32);
        let before = rank.checked_sub(1).and_then(key);
        before.is_none_or(|before| before < own) && key(rank + 1).is_none_or(|next| own < next)
    }

    /// Merges entries into those that are in order.
    fn merge(&mut self, strategy: Strategy, mut new: Vec<Entry>) {
        let place = |entry: &Entry| entry.place(strategy, &self.sources);
        new.sort_unstable_by_key(place);
        let mut merged = Vec::with_capacity(self.entries.len() + new.len());
        let mut new = new.into_iter().peekable();
        for entry in &self.entries {
            while let Some(first) = new.next_if(|first| place(first) < place(entry)) {
                merged.push(first);
            }
            merged.push(*entry);
        }
        merged.extend(new);
        self.entries = merged;
    }

    /// Admits entries in order, in which those of a source ascend: a rate that has room replaces a lower one
    /// of its source.
    fn admit(&mut self) {
        let mut total: f64 = 0.0;
        for entry in &self.entries {
            let room = &mut self.rooms[entry.source as usize];
            // In this order, the sum does not wait for the difference, which is known early.
            let with = total + (entry.utilization - room.share);
            if with <= room.threshold {
                total = with;
                (room.share, room.admitted) = (entry.utilization, entry.tuple);
            }
        }
        self.utilization = total;
    }

    /// Takes over what was admitted: calls this with the decisions for sources that have changed, or have
    /// another rate than before.
    pub(super) fn decide(&mut self, mut decided: impl FnMut(Decision)) {
        (self.resting, self.lower) = (0, 0);
        for (source, room) in self.sources.iter_mut().zip(&mut self.rooms) {
            let differs = room.change != Change::None || source.admitted != room.admitted;
            source.admitted = room.admitted;
            (room.share, room.admitted, room.change) = (0.0, NONE, Change::None);
            self.resting += usize::from(source.is_resting());
            self.lower += usize::from(source.is_lower());
            if differs {
                decided(source.decision());
            }
        }
    }

    /// Returns the number of sources that do not run at their highest rate.
    pub(super) fn reduced(&self) -> usize {
        self.resting + self.lower
    }

    /// Returns the sources of which no rate was admitted.
    pub(super) fn resting(&self) -> impl Iterator<Item = u32> + '_ {
        let resting = self.sources.iter().filter(|source| source.is_resting());
        resting.map(|source| source.operation).take(self.resting)
    }

    /// Returns the sources of which a lower rate than the highest was admitted, with their shortest periods.
    pub(super) fn lower(&self) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let lower = self.sources.iter().filter(|source| source.is_lower());
        lower
            .map(|source| (source.operation, source.shortest))
            .take(self.lower)
    }
}

impl Source {
    /// Returns the key by which sources are ranked; it has this index.
    fn key(&self, index: u32) -> (Reverse<Criticality>, Duration, u32) {
        (Reverse(self.criticality), self.shortest, index)
    }

    fn is_resting(&self) -> bool {
        self.admitted == NONE
    }

    fn is_lower(&self) -> bool {
        !self.is_resting() && self.admitted + 1 < self.rates
    }

    fn decision(&self) -> Decision {
        Decision {
            operation: self.operation,
            admitted: (!self.is_resting()).then_some(self.admitted),
        }
    }
}

impl Entry {
    /// Creates the entry of a rate, with what follows from the source in nanoseconds.
    fn new(rate: &RateTuple, following: f64, source: u32, tuple: u32) -> Self {
        Self {
            utilization: (nanoseconds(rate.wcet) + following) / nanoseconds(rate.period),
            source,
            tuple,
        }
    }

    fn place(&self, strategy: Strategy, sources: &[Source]) -> Place {
        (
            strategy.round(self.tuple),
            sources[self.source as usize].rank,
            self.tuple,
        )
    }
}

/// Returns the rates of a source that can be admitted.
fn admissible<'a>(
    operations: &'a [Operation],
    contradictory: &BTreeSet<u32>,
    source: u32,
) -> &'a [RateTuple] {
    match contradictory.contains(&source) {
        true => &[],
        false => &operations[source as usize].tuples,
    }
}

/// Returns the shortest period.
fn shortest(rates: &[RateTuple]) -> Duration {
    rates.last().map_or(Duration::ZERO, |rate| rate.period)
}

/// Upper bound of the rounding errors of sums.
const ROUNDING: f64 = 1e-9;
