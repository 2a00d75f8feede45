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
    let following = solution.graph.follow_up[source as usize];
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

/// Returns the share of a source at one of its rates, with everything that follows.
fn utilization(tuple: &RateTuple, following: f64) -> f64 {
    (tuple.wcet.as_secs_f64() + following) / tuple.period.as_secs_f64()
}

/// Change of a source's entries.
#[derive(Clone, Copy)]
struct Update<'a> {
    /// Rates that can be admitted.
    rates: &'a [RateTuple],
    /// Execution time of the operations that follow from the source, in seconds.
    following: f64,
    /// Key of the first rate.
    key: Key,
    /// Number of entries that it had and still has.
    kept: u32,
}

/// Updates the entries of these sources. Where they are still in order, as after changes of execution times
/// or with fewer rates, this costs no search.
pub(super) fn update_entries(
    operations: &[Operation],
    solution: &mut Solution,
    strategy: Strategy,
    sources: &[u32],
) {
    let mut updates: Vec<Option<Update<'_>>> = vec![None; operations.len()];
    for &source in sources {
        let operation = &operations[source as usize];
        let rates = admissible(operations, solution, source);
        let shortest = rates.last().map_or(Duration::ZERO, |tuple| tuple.period);
        updates[source as usize] = Some(Update {
            rates,
            following: solution.graph.follow_up[source as usize],
            key: strategy.key(source, 0, operation.criticality, shortest),
            kept: 0,
        });
    }
    // Only an entry of another place can be out of order with its neighbours.
    let (mut last, mut last_has_moved, mut in_order) = (None, false, true);
    let mut entries = std::mem::take(&mut solution.entries);
    entries.retain_mut(|entry| {
        let Key { source, tuple, .. } = entry.key;
        let mut has_moved = false;
        if let Some(update) = &mut updates[source as usize] {
            let Some(rate) = update.rates.get(tuple as usize) else {
                return false;
            };
            let key = strategy.key_of_rate(update.key, tuple);
            has_moved = key != entry.key;
            *entry = Entry {
                key,
                utilization: utilization(rate, update.following),
                is_critical: entry.is_critical,
            };
            update.kept += 1;
        }
        in_order &= !(has_moved || last_has_moved) || last.is_none_or(|last| last < entry.key);
        (last, last_has_moved) = (Some(entry.key), has_moved);
        true
    });
    // Entries of other places are taken out and put in again.
    let mut new = Vec::new();
    if !in_order {
        entries.retain(|entry| {
            let is_updated = updates[entry.key.source as usize].is_some();
            new.extend(is_updated.then_some(*entry));
            !is_updated
        });
    }
    for source in sources {
        if let Some(update) = updates[*source as usize]
            && (update.kept as usize) < update.rates.len()
        {
            new.extend(of_source(operations, solution, strategy, *source).skip(update.kept as usize));
        }
    }
    if !new.is_empty() {
        new.sort_unstable_by_key(|entry| entry.key);
        merge(&mut entries, new);
    }
    solution.entries = entries;
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
