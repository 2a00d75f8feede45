//! Admission of rates by utilisation.

use std::time::Duration;

use super::{Operation, Solution, Strategy, graph::Graph, strategy::Key};

/// One rate of a source, with its place in the order of admission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) source: u32,
    pub(super) tuple: u32,
    pub(super) is_critical: bool,
    /// Share of the processor of the source at this rate, and of everything that follows from it.
    pub(super) utilization: f64,
}

/// Returns the entries of all sources, in the order of admission.
pub(super) fn entries(operations: &[Operation], graph: &Graph, strategy: Strategy) -> Vec<Entry> {
    let sources = graph.sources.iter();
    let mut entries: Vec<Entry> = sources
        .flat_map(|source| of_source(operations, graph, strategy, *source))
        .collect();
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
        source,
        tuple: number,
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
    let changed = solution.graph.changed.iter().copied();
    let changed = changed.filter(|operation| operations[*operation as usize].is_source());
    let mut changed: Vec<u32> = changed.collect();
    changed.sort_unstable();
    changed.dedup();
    if !changed.is_empty() {
        let mut new: Vec<Entry> = changed
            .iter()
            .flat_map(|source| of_source(operations, &solution.graph, strategy, *source))
            .collect();
        new.sort_unstable_by_key(|entry| entry.key);
        solution
            .entries
            .retain(|entry| changed.binary_search(&entry.source).is_err());
        merge(&mut solution.entries, new);
    }
    let weights = &solution.graph.weights;
    for entry in &mut solution.entries {
        let source = entry.source as usize;
        if is_updated[source] {
            entry.utilization = utilization(&operations[source], weights[source], entry.tuple);
        }
    }
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
        let source = entry.source as usize;
        // The next rate of a source is tried only after the one before it.
        if admitted[source].map_or(0, |tuple| tuple + 1) != entry.tuple {
            continue;
        }
        let with = total - shares[source] + entry.utilization;
        if with <= threshold + ROUNDING {
            total = with;
            shares[source] = entry.utilization;
            admitted[source] = Some(entry.tuple);
        }
    }
    total
}

/// Upper bound of the rounding errors of sums.
const ROUNDING: f64 = 1e-9;
