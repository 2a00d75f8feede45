//! The table and the JSON object of `top`.

use punctual_report::{Table, terminal::fitted};
use serde_json::{Value, json};

use super::{
    change::Change,
    columns::COLUMNS,
    snapshot::{Condition, Connections, Contract, Lane, Scheduler, Snapshot},
};
use crate::columns;

/// The snapshot as the ORB sent it; each lane also has the counters of the interval.
pub fn json(now: &Snapshot, change: &Change) -> Value {
    let mut object = now.raw.clone();
    object["span_s"] = json!(change.span.as_secs_f64());
    for (number, lane) in change.lanes.iter().enumerate() {
        let times = lane.times.as_ref();
        let entry = &mut object["lanes"][number];
        entry["calls_per_s"] = json!(lane.calls_per_s);
        entry["p50_us"] = json!(times.map(|times| times.p50));
        entry["p999_us"] = json!(times.map(|times| times.p999));
        entry["max_us"] = json!(times.map(|times| times.max));
        entry["deadline_misses"] = json!(now.lanes[number].deadline_misses());
        entry["rejections"] = json!(now.lanes[number].rejections.total());
    }
    object
}

/// The table that is printed without a terminal.
pub fn table(now: &Snapshot, change: &Change) -> String {
    let lanes = columns::to_text(COLUMNS, now.lanes.iter().zip(&change.lanes));
    let mut text = format!("{}\n\n{lanes}\n\n", title(now));
    for part in parts(now) {
        let row = |cells: Vec<String>| {
            let cells = part.columns.iter().zip(cells);
            let cells = cells.map(|((heading, _), cell)| ((*heading).to_owned(), json!(cell)));
            cells.collect::<serde_json::Map<_, _>>()
        };
        let rows: Vec<_> = part.rows.into_iter().map(row).collect();
        let headings: Vec<_> = part
            .columns
            .iter()
            .map(|(heading, _)| (*heading, *heading))
            .collect();
        text += &format!("{}\n\n", Table::of(&rows).columns(&headings).to_text());
    }
    text += &fitted(&remarks(now));
    let what = format!(
        "Calls per second and times in µs cover {:.1} s; max ever, borrowed, misses and rejected count from \
         the start.",
        change.span.as_secs_f64()
    );
    text + "\n\n" + &fitted(&what) + "\n"
}

/// Program, process and uptime of the ORB.
pub fn title(now: &Snapshot) -> String {
    let seconds = now.uptime_ns / 1_000_000_000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!(
        "{}, process {}, up {hours}:{minutes:02}:{:02}",
        now.program,
        now.pid,
        seconds % 60
    )
}

/// A table below that of the lanes.
pub struct Part {
    /// Headings, and widths on the screen; 0: the width that the others leave.
    pub columns: &'static [(&'static str, u16)],
    pub rows: Vec<Vec<String>>,
}

/// Tables of the states that the program shows beside its lanes; none is empty.
pub fn parts(now: &Snapshot) -> Vec<Part> {
    let schedulers = Part {
        columns: &SCHEDULER_COLUMNS,
        rows: now.schedulers.iter().map(scheduler_cells).collect(),
    };
    let contracts = Part {
        columns: &CONTRACT_COLUMNS,
        rows: now.contracts.iter().map(contract_cells).collect(),
    };
    let mut parts = vec![schedulers, contracts];
    parts.retain(|part| !part.rows.is_empty());
    parts
}

const SCHEDULER_COLUMNS: [(&str, u16); 10] = [
    ("scheduler", 0),
    ("order", 8),
    ("use", 6),
    ("running", 7),
    ("computed", 8),
    ("refused", 7),
    ("cycles", 6),
    ("no rate", 7),
    ("contrary", 8),
    ("no room", 7),
];
const CONTRACT_COLUMNS: [(&str, u16); 4] = [
    ("contract", 12),
    ("region", 12),
    ("transitions", 11),
    ("conditions", 0),
];

fn scheduler_cells(own: &Scheduler) -> Vec<String> {
    let part = own.utilization.unwrap_or_default() * 100.0;
    let counters = [
        own.computations,
        own.refused,
        own.cycles,
        own.unresolved,
        own.contradictions,
        own.not_admitted,
    ];
    let mut cells = vec![
        own.scheduler.clone(),
        own.strategy.clone(),
        format!("{part:.1}%"),
        format!("{}/{}", own.running, own.operations),
    ];
    cells.extend(counters.map(|counter| counter.to_string()));
    cells
}

fn contract_cells(contract: &Contract) -> Vec<String> {
    let condition = |Condition { condition, value }: &Condition| match value {
        Some(value) => format!("{condition} {value:.4}"),
        None => format!("{condition} ?"),
    };
    let conditions: Vec<_> = contract.conditions.iter().map(condition).collect();
    vec![
        contract.contract.clone(),
        contract.region.clone(),
        contract.transitions.to_string(),
        conditions.join(", "),
    ]
}

/// Lines below the tables: connections by band, those that clients have bound at each lane and those of the
/// ORB as a client, and the meaning of a mark.
pub fn remarks(now: &Snapshot) -> String {
    let mut lanes = String::new();
    for lane in &now.lanes {
        // Without bands, the table has the number.
        if lane.connections_by_band.iter().any(|entry| entry.band != "none") {
            lanes += &format!(" {}: {};", lane.lane, bands(&lane.connections_by_band));
        }
    }
    let bound = match &lanes[..] {
        "" => String::new(),
        lanes => format!("Bands of connections:{lanes}\n"),
    };
    format!(
        "{bound}Connections to other servers: {}. Replies after their timeout: {}.{}",
        bands(&now.client.connections_by_band),
        now.client.late_replies,
        match now.lanes.iter().any(Lane::is_denied) {
            true => "\n!: this scheduling class was denied; `punctual doctor` prints how to grant it.",
            false => "",
        }
    )
}

fn bands(connections: &[Connections]) -> String {
    let open = connections.iter().filter(|entry| entry.open > 0);
    let texts: Vec<_> = open
        .map(|entry| match &entry.band[..] {
            "none" => format!("{} without band", entry.open),
            band => format!("{} in {band}", entry.open),
        })
        .collect();
    if texts.is_empty() {
        "none".to_owned()
    } else {
        texts.join(", ")
    }
}
