//! Admission of rates by utilisation.

use std::time::Duration;

use super::{Operation, Solution, Strategy, graph::Graph, strategy::Key};

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
pub(super) fn entries(operations: &[Operation], graph: &Graph, strategy: Strategy) -> Vec<Entry> {
    let tuples = graph
        .sources
        .iter()
        .map(|source| operations[*source as usize].tuples.len());
    let mut entries = Vec::with_capacity(tuples.sum());
    for source in &graph.sources {
        entries.extend(of_source(operations, graph, strategy, *source));
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    entries
}

fn of_source<'a>(
    operations: &'a [Operation],
    graph: &'a Graph,
    strategy: Strategy,
    source: u32,
) -> impl Iterator<Item = Entry> + 'a {
    let operation = &operations[source as usize];
    let admissible = operation.enabled && operation.contradiction().is_none();
    let shortest = operation
        .tuples
        .last()
        .map_or(Duration::ZERO, |tuple| tuple.period);
    let tuples = operation.tuples.iter().filter(move |_| admissible);
    tuples.zip(0u32..).map(move |(_, number)| Entry {
        key: strategy.key(source, number, operation.criticality, shortest),
        is_critical: operation.criticality.is_critical(),
        utilization: utilization(operation, graph.weights[source as usize], number),
    })
}

/// Returns the share of a source at one of its rates; `weight` is its execution time at the longest, with
/// that of everything that follows.
fn utilization(operation: &Operation, weight: f64, tuple: u32) -> f64 {
    let tuple = &operation.tuples[tuple as usize];
    let following = weight - operation.wcet().as_secs_f64();
    (tuple.wcet.as_secs_f64() + following) / tuple.period.as_secs_f64()
}

/// Updates the entries of these sources; only those of changed sources can have another place.
pub(super) fn update_entries(
    operations: &[Operation],
    solution: &mut Solution,
    strategy: Strategy,
    sources: &[u32],
) {
    let mut is_updated = vec![false; operations.len()];
    sources
        .iter()
        .for_each(|source| is_updated[*source as usize] = true);
    let mut moved: Vec<u32> = solution.graph.changed.clone();
    moved.retain(|operation| operations[*operation as usize].is_source());
    moved.retain(|source| !keeps_places(operations, solution, strategy, *source));
    moved.sort_unstable();
    moved.dedup();
    if !moved.is_empty() {
        let new = moved
            .iter()
            .flat_map(|source| of_source(operations, &solution.graph, strategy, *source));
        let mut new: Vec<Entry> = new.collect();
        new.sort_unstable_by_key(|entry| entry.key);
        let entries = &mut solution.entries;
        entries.retain(|entry| moved.binary_search(&entry.key.source).is_err());
        merge(entries, new);
    }
    let weights = &solution.graph.weights;
    for entry in &mut solution.entries {
        let source = entry.key.source as usize;
        if is_updated[source] {
            entry.utilization = utilization(&operations[source], weights[source], entry.key.tuple);
        }
    }
}

/// Returns whether a changed source has the same places in the order of admission as before.
fn keeps_places(operations: &[Operation], solution: &Solution, strategy: Strategy, source: u32) -> bool {
    let operation = &operations[source as usize];
    let count = of_source(operations, &solution.graph, strategy, source).count() as u32;
    let Some(shortest) = operation.tuples.last().map(|tuple| tuple.period) else {
        return false;
    };
    // All places of a source have the same shortest period: there was one more, or all are these.
    let has = |tuple| {
        let key = strategy.key(source, tuple, operation.criticality, shortest);
        solution
            .entries
            .binary_search_by_key(&key, |entry| entry.key)
            .is_ok()
    };
    count > 0 && (0..count).all(has) && !has(count)
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

/// Admits entries in order: a rate replaces a lower one of its source. Returns the utilisation.
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
        // The next rate of a source is tried only after the one before it.
        if admitted[source].map_or(0, |tuple| tuple + 1) != entry.key.tuple {
            continue;
        }
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
