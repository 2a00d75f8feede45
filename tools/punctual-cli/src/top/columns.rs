//! Columns of the tables of lanes, schedulers and contracts.

use super::{
    change::{LaneChange, Times},
    snapshot::{Condition, Contract, Lane, Scheduler},
};
use crate::columns::{Column, column, text_column};

/// All columns of the table of lanes.
pub const COLUMNS: &[Column<Lane, LaneChange>] = &[
    column("lane", 13, 0, |lane, _| lane.lane.clone()),
    column("priority", 8, 1, |lane, _| {
        lane.priority
            .map_or_else(|| "-".into(), |priority| priority.to_string())
    }),
    column("class", 8, 8, |lane, _| class(lane)),
    column("busy", 7, 0, |lane, _| {
        format!("{}/{}", lane.threads.busy, lane.threads.present)
    }),
    column("queue", 9, 2, |lane, _| {
        match (lane.queue.requests, lane.queue.limit) {
            (Some(queued), Some(limit)) => format!("{queued}/{limit}"),
            _ => "-".into(),
        }
    }),
    column("stack", 10, 9, |lane, _| stack(lane)),
    column("conns", 5, 6, |lane, _| lane.connections.to_string()),
    column("calls/s", 7, 0, |_, change| format!("{:.0}", change.calls_per_s)),
    column("p50", 6, 5, |_, change| times(change, |times| times.p50)),
    column("p99.9", 7, 3, |_, change| times(change, |times| times.p999)),
    column("max", 7, 2, |_, change| times(change, |times| times.max)),
    column("max ever", 8, 7, |lane, _| {
        format!("{:.0}", lane.service.max_ns as f64 / 1e3)
    }),
    column("borrowed", 8, 7, |lane, _| lane.borrowed.to_string()),
    column("misses", 6, 1, |lane, _| lane.deadline_misses().to_string()),
    column("rejected", 8, 4, |lane, _| lane.rejections.total().to_string()),
];

/// Columns of the table of schedulers.
pub const SCHEDULERS: &[Column<Scheduler, ()>] = &[
    column("schedule", 8, 0, |own, ()| own.scheduler.clone()),
    column("order", 8, 5, |own, ()| own.strategy.clone()),
    column("use", 6, 4, |own, ()| {
        format!("{:.1}%", own.utilization.unwrap_or_default() * 100.0)
    }),
    column("running", 7, 1, |own, ()| {
        format!("{}/{}", own.running, own.operations)
    }),
    column("computed", 8, 3, |own, ()| own.computations.to_string()),
    column("refused", 7, 0, |own, ()| own.refused.to_string()),
    column("cycles", 6, 2, |own, ()| own.cycles.to_string()),
    column("no rate", 7, 2, |own, ()| own.unresolved.to_string()),
    column("contrary", 8, 2, |own, ()| own.contradictions.to_string()),
    column("no room", 7, 1, |own, ()| own.not_admitted.to_string()),
    column("lowered", 7, 3, |own, ()| own.lower_rates.to_string()),
];

/// Columns of the table of contracts.
pub const CONTRACTS: &[Column<Contract, ()>] = &[
    column("contract", 12, 0, |own, ()| own.contract.clone()),
    column("region", 12, 0, |own, ()| own.region.clone()),
    column("transitions", 11, 2, |own, ()| own.transitions.to_string()),
    text_column("conditions", 14, 1, |own, ()| conditions(own)),
];

fn conditions(contract: &Contract) -> String {
    let condition = |Condition { condition, value }: &Condition| match value {
        Some(value) => format!("{condition} {value:.4}"),
        None => format!("{condition} ?"),
    };
    let all: Vec<_> = contract.conditions.iter().map(condition).collect();
    all.join(", ")
}

fn class(lane: &Lane) -> String {
    match (&lane.class, lane.native_priority) {
        (Some(class), Some(priority)) if class != "other" => {
            let denied = if lane.is_denied() { "!" } else { "" };
            format!("{class} {priority}{denied}")
        }
        (Some(class), _) => class.clone(),
        (None, _) => "run()".into(),
    }
}

/// Used and available, in KiB.
fn stack(lane: &Lane) -> String {
    match (lane.threads.stack_used_bytes, lane.threads.stack_bytes) {
        (Some(used), Some(size)) => format!("{}/{}K", used.div_ceil(1024), size / 1024),
        _ => "-".into(),
    }
}

fn times(change: &LaneChange, one: fn(&Times) -> f64) -> String {
    change
        .times
        .as_ref()
        .map_or_else(|| "-".into(), |times| format!("{:.0}", one(times)))
}
