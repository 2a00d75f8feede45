use std::{fmt::Write as _, time::Duration};

use punctual_os::{Scheduling, SchedulingClass};

use super::metrics::METRICS;
use crate::{LaneStatistics, open_by_band::Counted, orb_core::OrbCore};

/// What an ORB's counters say at one moment, or rather while they are read one after the other.
pub(super) struct Snapshot {
    /// Since the inspection began.
    pub(super) uptime: Duration,
    /// The lowest priority of each pool first.
    pub(super) lanes: Vec<LaneSnapshot>,
    pub(super) client_connections: Vec<(Counted, usize)>,
    pub(super) late_replies: u64,
}

pub(super) struct LaneSnapshot {
    pub(super) pool: u32,
    pub(super) name: String,
    /// `None`: of a pool without lanes.
    pub(super) priority: Option<i16>,
    /// `None`: threads of the user's own.
    pub(super) scheduling: Option<Scheduling>,
    pub(super) realtime: bool,
    pub(super) statistics: LaneStatistics,
    pub(super) connections: Vec<(Counted, usize)>,
    pub(super) times: Times,
}

#[derive(Default)]
pub(super) struct Times {
    /// What the times are below, in nanoseconds, and how many there are; only those of which there are any.
    pub(super) buckets: Vec<(u64, u64)>,
    pub(super) sum: u64,
    pub(super) longest: u64,
}

impl Snapshot {
    pub(super) fn of(core: &OrbCore, uptime: Duration) -> Self {
        let pools = core.all_pools();
        let lanes = pools.iter().flat_map(|pool| {
            pool.lanes.iter().map(|lane| LaneSnapshot {
                pool: pool.id,
                name: lane.name().to_owned(),
                priority: lane.priority().map(|priority| priority.value()),
                scheduling: lane.scheduling(),
                realtime: pool.is_realtime(),
                statistics: lane.statistics(),
                connections: lane.data.by_band.counts().collect(),
                times: lane.service_times().map_or_else(Times::default, |times| Times {
                    buckets: times.buckets().collect(),
                    sum: times.sum(),
                    longest: times.longest(),
                }),
            })
        });
        let lanes = lanes.collect();
        let caches = pools
            .iter()
            .flat_map(|pool| &pool.lanes)
            .map(|lane| &lane.data.calls);
        let mut client_connections: Vec<(Counted, usize)> = Vec::new();
        for cache in caches.chain([&core.connections]) {
            for (counted, open) in cache.by_band.counts() {
                match client_connections.iter_mut().find(|(known, _)| *known == counted) {
                    Some((_, sum)) => *sum += open,
                    None => client_connections.push((counted, open)),
                }
            }
        }
        Self {
            uptime,
            lanes,
            client_connections,
            late_replies: core.late_replies(),
        }
    }

    /// One line of JSON. Numbers have the names that [`METRICS`] gives them; spans of time are in nanoseconds.
    pub(super) fn to_json(&self) -> String {
        let mut json = format!(
            r#"{{"schema":1,"pid":{},"program":"{}","uptime_ns":{},"lanes":["#,
            std::process::id(),
            escaped(&program()),
            self.uptime.as_nanos()
        );
        for (number, lane) in self.lanes.iter().enumerate() {
            json.push_str(if number == 0 { "" } else { "," });
            lane.write_json(&mut json);
        }
        json.push_str(r#"],"client":{"connections_by_band":["#);
        write_connections(&mut json, &self.client_connections);
        let _ = write!(json, r#"],"late_replies":{}}}}}"#, self.late_replies);
        json
    }
}

impl LaneSnapshot {
    fn write_json(&self, json: &mut String) {
        let number = |value: Option<i64>| value.map_or_else(|| "null".to_owned(), |value| value.to_string());
        let _ = write!(
            json,
            r#"{{"pool":{},"lane":"{}","priority":{},"class":{},"native_priority":{},"realtime":{}"#,
            self.pool,
            escaped(&self.name),
            number(self.priority.map(i64::from)),
            self.scheduling
                .map_or_else(|| "null".to_owned(), |own| format!("\"{}\"", class(own))),
            number(self.scheduling.map(|own| i64::from(own.priority.0))),
            self.realtime
        );
        for metric in METRICS {
            let value =
                (metric.value)(&self.statistics).map_or_else(|| "null".to_owned(), |value| value.to_string());
            let _ = write!(json, r#","{}":{value}"#, metric.name);
        }
        let Times {
            buckets,
            sum,
            longest,
        } = &self.times;
        let _ = write!(
            json,
            r#","service":{{"sum_ns":{sum},"max_ns":{longest},"buckets_below_ns":["#
        );
        for (number, (below, count)) in buckets.iter().enumerate() {
            let _ = write!(json, "{}[{below},{count}]", if number == 0 { "" } else { "," });
        }
        json.push_str(r#"]},"connections_by_band":["#);
        write_connections(json, &self.connections);
        json.push_str("]}");
    }
}

fn write_connections(json: &mut String, connections: &[(Counted, usize)]) {
    for (number, (counted, open)) in connections.iter().enumerate() {
        json.push_str(if number == 0 { "" } else { "," });
        let _ = write!(json, r#"{{"band":"{}","open":{open}}}"#, band(*counted));
    }
}

/// A band as people write it.
pub(super) fn band(counted: Counted) -> String {
    match counted {
        Counted::Unbanded => "none".to_owned(),
        Counted::Band((low, high)) => format!("{low}..{high}"),
        Counted::Others => "others".to_owned(),
    }
}

fn class(scheduling: Scheduling) -> &'static str {
    match scheduling.class {
        SchedulingClass::Fifo => "fifo",
        SchedulingClass::RoundRobin => "rr",
        SchedulingClass::Other => "other",
    }
}

fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A text as it stands between quotation marks in JSON.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(control));
            }
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("a\"b\\c\n\u{1}é"), "a\\\"b\\\\c\\u000a\\u0001é");
    }
}
