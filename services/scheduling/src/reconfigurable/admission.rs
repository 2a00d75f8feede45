//! Admission of rates by utilisation.

use std::time::Duration;

use super::{Operation, RateTuple, Solution, Strategy, strategy::Key};

/// One rate of a source, with its place in the order of admission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    /// Names source and tuple.
    pub(super) key: Key,
    /// Share of the processor of the source at this rate, and of everything that follows from it.
    utilization: f64,
    is_critical: bool,
}

/// Returns the entries of all sources, in the order of admission.
pub(super) fn entries(operations: &[Operation], solution: &Solution, strategy: Strategy) -> Vec<Entry> {
    let sources = &solution.graph.sources;
    let tuples = sources
        .iter()
        .map(|source| operations[*source as usize].tuples.len());
    let mut entries = Vec::with_capacity(tuples.sum());
    for source in sources {
        entries.extend(of_source(operations, solution, strategy, *source));
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    entries
}

fn of_source<'a>(
    operations: &'a [Operation],
    solution: &Solution,
    strategy: Strategy,
    source: u32,
) -> impl Iterator<Item = Entry> + use<'a> {
    let operation = &operations[source as usize];
    let tuples = admissible(operations, solution, source);
    let shortest = tuples.last().map_or(Duration::ZERO, |tuple| tuple.period);
    let following = following(operation, solution.graph.weights[source as usize]);
    tuples.iter().zip(0u32..).map(move |(tuple, number)| Entry {
        key: strategy.key(source, number, operation.criticality, shortest),
        is_critical: operation.criticality.is_critical(),
        utilization: utilization(tuple, following),
    })
}

/// Returns the rates of a source that can be admitted.
fn admissible<'a>(operations: &'a [Operation], solution: &Solution, source: u32) -> &'a [RateTuple] {
    let operation = &operations[source as usize];
    match operation.enabled && !solution.contradictory.contains(&source) {
        true => &operation.tuples,
        false => &[],
    }
}

/// Returns the execution time of the operations that follow from a source; `weight` includes its own at the
/// longest.
fn following(operation: &Operation, weight: f64) -> f64 {
    weight - operation.wcet().as_secs_f64()
}

/// Returns the share of a source at one of its rates, with everything that follows.
fn utilization(tuple: &RateTuple, following: f64) -> f64 {
    (tuple.wcet.as_secs_f64() + following) / tuple.period.as_secs_f64()
}

/// Change of a source's entries.
#[derive(Clone, Copy)]
struct Update {
    /// Execution time of the operations that follow from the source.
    following: f64,
    /// Number of rates that keep their places in the order of admission, at most; the slowest ones.
    keeps: u32,
    /// Number of rates that have kept their places.
    kept: u32,
}

/// Updates the entries of these sources. Places are kept as far as possible, so that fewer rates, or others
/// with the same shortest period, cost no search.
pub(super) fn update_entries(
    operations: &[Operation],
    solution: &mut Solution,
    strategy: Strategy,
    sources: &[u32],
) {
    let mut updates: Vec<Option<Update>> = vec![None; operations.len()];
    for &source in sources {
        let weight = solution.graph.weights[source as usize];
        updates[source as usize] = Some(Update {
            following: following(&operations[source as usize], weight),
            keeps: u32::MAX,
            kept: 0,
        });
    }
    for &changed in &solution.graph.changed {
        if let Some(update) = &mut updates[changed as usize] {
            update.keeps = places_kept(operations, solution, strategy, changed);
        }
    }
    solution.entries.retain_mut(|entry| {
        let source = entry.key.source as usize;
        let Some(update) = &mut updates[source] else {
            return true;
        };
        if entry.key.tuple >= update.keeps {
            return false;
        }
        update.kept += 1;
        let tuple = &operations[source].tuples[entry.key.tuple as usize];
        entry.utilization = utilization(tuple, update.following);
        true
    });
    let new = sources.iter().flat_map(|source| {
        let kept = updates[*source as usize].map_or(0, |update| update.kept);
        of_source(operations, solution, strategy, *source).skip(kept as usize)
    });
    let mut new: Vec<Entry> = new.collect();
    if !new.is_empty() {
        new.sort_unstable_by_key(|entry| entry.key);
        merge(&mut solution.entries, new);
    }
}

/// Returns how many rates of a changed source can keep their places: all, or none if their order among other
/// sources has changed.
fn places_kept(operations: &[Operation], solution: &Solution, strategy: Strategy, source: u32) -> u32 {
    let tuples = admissible(operations, solution, source);
    let Some(shortest) = tuples.last().map(|tuple| tuple.period) else {
        return 0;
    };
    // All places of a source depend on its shortest period: if one is found, all others are where they were.
    let first = strategy.key(source, 0, operations[source as usize].criticality, shortest);
    let found = solution.entries.binary_search_by_key(&first, |entry| entry.key);
    found.map_or(0, |_| tuples.len() as u32)
}

/// Merges two lists that are in order.
fn merge(entries: &mut Vec<Entry>, new: Vec<Entry>) {
    let mut merged = Vec::with_capacity(entries.len() + new.len());
    let mut new = new.into_iter().peekable();
    for entry in entries.iter() {
        while let Some(first) = new.next_if(|first| first.key < entry.key) {
            merged.push(first);
        }
        merged.push(*entry);
    }
    merged.extend(new);
    *entries = merged;
}

/// Admits entries in order, in which those of a source ascend: a rate that has room replaces a lower one of
/// its source. Returns the utilisation.
pub(super) fn admit(
    entries: &[Entry],
    strategy: Strategy,
    (critical, other): (f64, f64),
    admitted: &mut [Option<u32>],
) -> f64 {
    admitted.fill(None);
    let mut shares = vec![0.0; admitted.len()];
    let mut total: f64 = 0.0;
    for entry in entries {
        let critical_work = strategy.knows_criticality() && entry.is_critical;
        let threshold = if critical_work { critical } else { other };
        let source = entry.key.source as usize;
        let with = total - shares[source] + entry.utilization;
        if with <= threshold + ROUNDING {
            total = with;
            shares[source] = entry.utilization;
            admitted[source] = Some(entry.key.tuple);
        }
    }
    total
}

/// Upper bound of the rounding errors of sums.
const ROUNDING: f64 = 1e-9;
