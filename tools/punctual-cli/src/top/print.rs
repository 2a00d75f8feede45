//! The table and the JSON object of `top`.

use punctual_report::terminal::fitted;
use serde_json::{Value, json};

use super::{
    change::Change,
    columns::{COLUMNS, CONTRACTS, SCHEDULERS},
    snapshot::{Connections, Lane, Snapshot},
};
use crate::columns::{self, Column};

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
    if !now.schedulers.is_empty() {
        text += &format!("{}\n\n", table_of(SCHEDULERS, &now.schedulers));
    }
    if !now.contracts.is_empty() {
        text += &format!("{}\n\n", table_of(CONTRACTS, &now.contracts));
    }
    text += &fitted(&remarks(now));
    let what = format!(
        "Calls per second and times in µs cover {:.1} s; max ever, borrowed, misses and rejected count from \
         the start.",
        change.span.as_secs_f64()
    );
    text + "\n\n" + &fitted(&what) + "\n"
}

fn table_of<T>(columns: &[Column<T, ()>], rows: &[T]) -> String {
    columns::to_text(columns, rows.iter().map(|row| (row, &())))
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
