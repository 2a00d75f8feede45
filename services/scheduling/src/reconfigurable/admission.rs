//! Admission of rates by utilisation.

use std::time::Duration;

use super::{Operation, RateTuple, Solution, Strategy, graph::Graph, strategy::Key};

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
    let tuples = admissible(operation);
    let shortest = tuples.last().map_or(Duration::ZERO, |tuple| tuple.period);
    let following = following(operation, graph.weights[source as usize]);
    tuples.iter().zip(0u32..).map(move |(tuple, number)| Entry {
        key: strategy.key(source, number, operation.criticality, shortest),
        is_critical: operation.criticality.is_critical(),
        utilization: utilization(tuple, following),
    })
}

/// Returns the rates of a source that can be admitted.
fn admissible(operation: &Operation) -> &[RateTuple] {
    match operation.enabled && operation.contradiction().is_none() {
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

/// Updates the entries of these sources; only those of changed sources can have another place.
pub(super) fn update_entries(
    operations: &[Operation],
    solution: &mut Solution,
    strategy: Strategy,
    sources: &[u32],
) {
    // Execution time of the operations that follow from the sources to update.
    let mut updated: Vec<Option<f64>> = vec![None; operations.len()];
    for &source in sources {
        let weight = solution.graph.weights[source as usize];
        updated[source as usize] = Some(following(&operations[source as usize], weight));
    }
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
    for entry in &mut solution.entries {
        let source = entry.key.source as usize;
        if let Some(following) = updated[source] {
            let tuple = &operations[source].tuples[entry.key.tuple as usize];
            entry.utilization = utilization(tuple, following);
        }
    }
}

/// Returns whether a changed source has the same places in the order of admission as before.
fn keeps_places(operations: &[Operation], solution: &Solution, strategy: Strategy, source: u32) -> bool {
    let operation = &operations[source as usize];
    let tuples = admissible(operation);
    let Some(shortest) = tuples.last().map(|tuple| tuple.period) else {
        return false;
    };
    let count = tuples.len() as u32;
    // All places of a source have the same shortest period: there was one more, or all are these.
    let has = |tuple| {
        let key = strategy.key(source, tuple, operation.criticality, shortest);
        solution
            .entries
            .binary_search_by_key(&key, |entry| entry.key)
            .is_ok()
    };
    (0..count).all(has) && !has(count)
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
