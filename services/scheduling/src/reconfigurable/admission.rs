//! Admission of rates by utilisation.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use super::{Criticality, Operation, RateTuple, Strategy, solution::System};

/// Alternative rates of all sources in the order of admission, and which of them were admitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Admission {
    /// Sources, ascending by operation.
    sources: Vec<Source>,
    /// State of each source while rates are admitted.
    rooms: Vec<Room>,
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
    /// Shortest of their periods, in nanoseconds.
    shortest: u64,
    /// Criticality that counts for the order of admission.
    criticality: Criticality,
    /// Number of the admitted rate; [`NONE`] if it does not run.
    admitted: u32,
}

/// What the walk along the entries needs of a source. Between computations, no rate is admitted here, and
/// nothing has changed.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Share of the processor that is admitted so far.
    share: f64,
    admitted: u32,
    change: Change,
    /// Whether the threshold of critical work applies.
    is_critical: bool,
}

/// Change of a source since the computation before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Change {
    None,
    /// Its rates, or what follows from it.
    Rates,
    /// Also its place among the sources.
    Place,
}

/// Number of no rate.
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

/// Place in the order of admission: the smallest first. Round, place of the source, and number of the rate.
type Place = (u32, (Reverse<Criticality>, u64, u32), u32);

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
                admitted: NONE,
            });
            admission.rooms.push(Room {
                share: 0.0,
                admitted: NONE,
                change: Change::Rates,
                is_critical: system.strategy.knows_criticality() && criticality.is_critical(),
            });
        }
        admission.enter_all(system, follow_up);
        admission.admit(system.thresholds);
        admission
    }

    /// Enters the rates of all sources, round by round.
    fn enter_all(
        &mut self,
        System {
            strategy, operations, ..
        }: System<'_>,
        follow_up: &[f64],
    ) {
        let sources = &self.sources;
        let mut waiting: Vec<(u32, u32)> = (0..sources.len() as u32).map(|source| (source, 0)).collect();
        waiting.sort_unstable_by_key(|(source, _)| sources[*source as usize].place(*source));
        let rates = sources.iter().map(|source| source.rates as usize);
        self.entries.reserve_exact(rates.sum());
        let mut round = 0;
        while !waiting.is_empty() {
            waiting.retain_mut(|(source, next)| {
                let own = &sources[*source as usize];
                let rates = &operations[own.operation as usize].tuples[..own.rates as usize];
                let following = follow_up[own.operation as usize];
                while let Some(rate) = rates.get(*next as usize)
                    && strategy.round(*next) == round
                {
                    self.entries.push(Entry {
                        utilization: utilization(rate, following),
                        source: *source,
                        tuple: *next,
                    });
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
        for operation in changed {
            let found = self
                .sources
                .binary_search_by_key(operation, |source| source.operation);
            let Ok(index) = found else {
                continue;
            };
            let rates = admissible(system.operations, contradictory, *operation);
            let source = &mut self.sources[index];
            let following = follow_up[*operation as usize];
            let added = rates.iter().zip(0u32..).skip(source.rates as usize);
            new.extend(added.map(|(rate, tuple)| Entry {
                utilization: utilization(rate, following),
                source: index as u32,
                tuple,
            }));
            let shortest = shortest(rates);
            let room = &mut self.rooms[index];
            match shortest == source.shortest {
                true if room.change == Change::None => room.change = Change::Rates,
                true => {}
                false => room.change = Change::Place,
            }
            source.shortest = shortest;
            source.rates = rates.len() as u32;
        }
        let is_in_order = self.update_entries(system, follow_up);
        if is_in_order && new.is_empty() {
            return;
        }
        if !is_in_order {
            // Entries of other places are taken out and put in again.
            let rooms = &self.rooms;
            self.entries.retain(|entry| {
                let has_moved = rooms[entry.source as usize].change == Change::Place;
                new.extend(has_moved.then_some(*entry));
                !has_moved
            });
        }
        self.merge(system.strategy, new);
        for room in &mut self.rooms {
            (room.share, room.admitted) = (0.0, NONE);
        }
        self.admit(system.thresholds);
    }

    /// Updates the entries of changed sources, removes those that are no longer admissible, and admits the
    /// others; returns whether these are still in order.
    fn update_entries(&mut self, system: System<'_>, follow_up: &[f64]) -> bool {
        let (sources, rooms) = (&self.sources, &mut self.rooms);
        let mut total = Total::new(system.thresholds);
        let (mut kept, mut last_has_moved, mut is_in_order) = (0, false, true);
        for index in 0..self.entries.len() {
            let mut entry = self.entries[index];
            let room = &mut rooms[entry.source as usize];
            if room.change != Change::None || last_has_moved {
                let source = &sources[entry.source as usize];
                if room.change != Change::None {
                    if entry.tuple >= source.rates {
                        continue;
                    }
                    let rate = &system.operations[source.operation as usize].tuples[entry.tuple as usize];
                    entry.utilization = utilization(rate, follow_up[source.operation as usize]);
                }
                // Only an entry of another place can be out of order with its neighbours.
                let has_moved = room.change == Change::Place;
                if (has_moved || last_has_moved)
                    && let Some(last) = self.entries[..kept].last()
                    && last.source != entry.source
                {
                    let place = |entry: &Entry| place(system.strategy, sources, entry);
                    is_in_order &= place(last) < place(&entry);
                }
                last_has_moved = has_moved;
            }
            total.admit(room, &entry);
            self.entries[kept] = entry;
            kept += 1;
        }
        self.entries.truncate(kept);
        self.utilization = total.utilization;
        is_in_order
    }

    /// Merges entries into those that are in order.
    fn merge(&mut self, strategy: Strategy, mut new: Vec<Entry>) {
        let place = |entry: &Entry| place(strategy, &self.sources, entry);
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

    /// Admits entries in order, in which those of a source ascend.
    fn admit(&mut self, thresholds: (f64, f64)) {
        let mut total = Total::new(thresholds);
        for entry in &self.entries {
            total.admit(&mut self.rooms[entry.source as usize], entry);
        }
        self.utilization = total.utilization;
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

    /// Returns the decisions for sources of which a lower rate than the highest was admitted.
    pub(super) fn lower(&self) -> impl Iterator<Item = Decision> + '_ {
        let lower = self.sources.iter().filter(|source| source.is_lower());
        lower.map(Source::decision).take(self.lower)
    }
}

/// Sum of what has been admitted.
struct Total {
    utilization: f64,
    critical: f64,
    other: f64,
}

impl Total {
    fn new((critical, other): (f64, f64)) -> Self {
        Self {
            utilization: 0.0,
            critical: critical + ROUNDING,
            other: other + ROUNDING,
        }
    }

    /// Admits a rate if it has room: it replaces a lower one of its source.
    fn admit(&mut self, room: &mut Room, entry: &Entry) {
        let threshold = if room.is_critical {
            self.critical
        } else {
            self.other
        };
        let with = self.utilization - room.share + entry.utilization;
        if with <= threshold {
            self.utilization = with;
            (room.share, room.admitted) = (entry.utilization, entry.tuple);
        }
    }
}

impl Source {
    /// Returns its place among all sources, of which it has this index.
    fn place(&self, index: u32) -> (Reverse<Criticality>, u64, u32) {
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

fn place(strategy: Strategy, sources: &[Source], entry: &Entry) -> Place {
    let source = sources[entry.source as usize].place(entry.source);
    (strategy.round(entry.tuple), source, entry.tuple)
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

/// Returns the shortest period in nanoseconds.
fn shortest(rates: &[RateTuple]) -> u64 {
    let shortest = rates.last().map_or(Duration::ZERO, |rate| rate.period);
    let seconds = shortest.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(shortest.subsec_nanos().into())
}

/// Returns the share of a source at one of its rates, with what follows in nanoseconds.
fn utilization(rate: &RateTuple, following: f64) -> f64 {
    (nanoseconds(rate.wcet) + following) / nanoseconds(rate.period)
}

/// Returns a duration in nanoseconds.
pub(super) fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs() as f64 * 1e9 + f64::from(duration.subsec_nanos())
}

/// Upper bound of the rounding errors of sums.
const ROUNDING: f64 = 1e-9;
