//! Counters of an ORB at one moment, and their form in JSON.

use std::{fmt::Write as _, time::Duration};

use punctual_lane::{LaneStatistics, ServiceTimes};
use punctual_os::{Scheduling, SchedulingClass};

use crate::{
    ContractState, Counted, SchedulerState,
    metrics::METRICS,
    schedulers::{SCHEDULER_COUNTERS, SCHEDULER_GAUGES},
};

/// Counters of an ORB, read one after the other.
#[derive(Default)]
pub struct Snapshot {
    /// Lanes of all pools, the lowest priority of each pool first.
    pub lanes: Vec<LaneSnapshot>,
    /// Connections to servers by priority band.
    pub client_connections: Vec<(Counted, usize)>,
    /// Calls whose replies did not arrive in time.
    pub late_replies: u64,
    /// Schedulers that the program shows.
    pub schedulers: Vec<SchedulerState>,
    /// Contracts that the program shows.
    pub contracts: Vec<ContractState>,
}

/// Counters of a lane.
pub struct LaneSnapshot {
    /// Number of the thread pool.
    pub pool: u32,
    /// Name of the lane.
    pub name: String,
    /// CORBA priority; `None`: the one lane of a pool without lanes.
    pub priority: Option<i16>,
    /// Scheduling of its threads; `None`: the user's own threads.
    pub scheduling: Option<Scheduling>,
    /// Whether every thread of the pool runs in the real-time class that it was configured with.
    pub realtime: bool,
    /// Counters and present state.
    pub statistics: LaneStatistics,
    /// Accepted connections by the band that their clients have bound them to.
    pub connections: Vec<(Counted, usize)>,
    /// Service times.
    pub times: ServiceTimesSnapshot,
}

/// Service times of a lane, in nanoseconds.
#[derive(Default)]
pub struct ServiceTimesSnapshot {
    /// Exclusive upper bound and count of each bucket that is not empty.
    pub buckets: Vec<(u64, u64)>,
    /// Sum of all times.
    pub sum: u64,
    /// Longest time.
    pub longest: u64,
}

impl From<&ServiceTimes> for ServiceTimesSnapshot {
    fn from(times: &ServiceTimes) -> Self {
        Self {
            buckets: times.buckets().collect(),
            sum: times.sum(),
            longest: times.longest(),
        }
    }
}

/// A snapshot, and how long the ORB has been inspected.
pub(crate) struct UptimeSnapshot {
    pub(crate) snapshot: Snapshot,
    pub(crate) uptime: Duration,
}

impl UptimeSnapshot {
    pub(crate) fn to_json(&self) -> String {
        self.snapshot.to_json(self.uptime)
    }
}

impl Snapshot {
    /// One line of JSON. Numbers have the names that [`METRICS`] gives them; spans of time are in
    /// nanoseconds.
    pub(crate) fn to_json(&self, uptime: Duration) -> String {
        let mut json = format!(
            r#"{{"schema":1,"pid":{},"program":"{}","uptime_ns":{},"lanes":["#,
            std::process::id(),
            escaped(&program()),
            uptime.as_nanos()
        );
        for (number, lane) in self.lanes.iter().enumerate() {
            json.push_str(if number == 0 { "" } else { "," });
            lane.write_json(&mut json);
        }
        json.push_str(r#"],"client":{"connections_by_band":["#);
        write_connections(&mut json, &self.client_connections);
        let _ = write!(json, r#"],"late_replies":{}}},"schedulers":["#, self.late_replies);
        for (number, scheduler) in self.schedulers.iter().enumerate() {
            json.push_str(if number == 0 { "" } else { "," });
            write_scheduler(&mut json, scheduler);
        }
        json.push_str(r#"],"contracts":["#);
        for (number, contract) in self.contracts.iter().enumerate() {
            json.push_str(if number == 0 { "" } else { "," });
            write_contract(&mut json, contract);
        }
        json.push_str("]}");
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
        let ServiceTimesSnapshot {
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

fn write_scheduler(json: &mut String, own: &SchedulerState) {
    let _ = write!(
        json,
        r#"{{"scheduler":"{}","strategy":"{}","utilization":{},"last_duration_ns":{}"#,
        escaped(&own.scheduler),
        escaped(&own.strategy),
        finite(Some(own.statistics.utilization)),
        own.statistics.last_duration.as_nanos()
    );
    for (name, _, value) in SCHEDULER_GAUGES.iter().chain(&SCHEDULER_COUNTERS) {
        let _ = write!(json, r#","{name}":{}"#, value(&own.statistics));
    }
    json.push('}');
}

fn write_contract(json: &mut String, contract: &ContractState) {
    let _ = write!(
        json,
        r#"{{"contract":"{}","region":"{}","transitions":{},"evaluations":{},"conditions":["#,
        escaped(&contract.contract),
        escaped(&contract.region),
        contract.transitions,
        contract.evaluations
    );
    for (number, (condition, value)) in contract.conditions.iter().enumerate() {
        let value = finite(*value);
        let _ = write!(
            json,
            r#"{}{{"condition":"{}","value":{value}}}"#,
            if number == 0 { "" } else { "," },
            escaped(condition)
        );
    }
    json.push_str("]}");
}

/// A number; JSON has no infinity.
fn finite(value: Option<f64>) -> String {
    let value = value.filter(|value| value.is_finite());
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

fn write_connections(json: &mut String, connections: &[(Counted, usize)]) {
    for (number, (counted, open)) in connections.iter().enumerate() {
        json.push_str(if number == 0 { "" } else { "," });
        let _ = write!(json, r#"{{"band":"{}","open":{open}}}"#, band(*counted));
    }
}

/// A band in readable form.
pub(crate) fn band(counted: Counted) -> String {
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

/// A text in the form between quotation marks in JSON.
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
    use crate::SchedulerStatistics;

    #[test]
    fn contracts_have_regions_and_conditions() {
        let contract = ContractState {
            contract: "ima\"ge".to_owned(),
            region: "coarse".to_owned(),
            transitions: 2,
            evaluations: 9,
            conditions: vec![("ms".to_owned(), Some(12.5)), ("cpu".to_owned(), None)],
        };
        let snapshot = Snapshot {
            contracts: vec![
                contract.clone(),
                ContractState {
                    conditions: Vec::new(),
                    ..contract
                },
            ],
            ..Snapshot::default()
        };
        let first =
            r#"{"contract":"ima\"ge","region":"coarse","transitions":2,"evaluations":9,"conditions":"#;
        let conditions = r#"[{"condition":"ms","value":12.5},{"condition":"cpu","value":null}]"#;
        let expected = format!(r#""contracts":[{first}{conditions}}},{first}[]}}]}}"#);
        let json = snapshot.to_json(Duration::ZERO);
        assert!(json.ends_with(&expected), "{json}");
    }

    #[test]
    fn schedulers_have_their_counters() {
        let statistics = SchedulerStatistics {
            operations: 5,
            running: 4,
            levels: 2,
            utilization: 0.75,
            last_duration: Duration::from_micros(3),
            computations: 9,
            refused: 8,
            cycles: 1,
            unresolved: 2,
            contradictions: 3,
            not_admitted: 6,
            lower_rates: 7,
        };
        let snapshot = Snapshot {
            schedulers: vec![SchedulerState {
                scheduler: "ra\"dar".to_owned(),
                strategy: "MUF".to_owned(),
                statistics,
            }],
            ..Snapshot::default()
        };
        let json = snapshot.to_json(Duration::ZERO);
        let numbers = r#""operations":5,"running":4,"levels":2,"computations":9,"refused":8,"cycles":1"#;
        let more = r#""unresolved":2,"contradictions":3,"not_admitted":6,"lower_rates":7}]"#;
        let name = r#""schedulers":[{"scheduler":"ra\"dar","strategy":"MUF","utilization":0.75"#;
        let expected = format!(r#"{name},"last_duration_ns":3000,{numbers},{more}"#);
        assert!(json.contains(&expected), "{json}");
        let text = snapshot.to_prometheus(Duration::ZERO);
        for line in [
            "# TYPE punctual_scheduler_running gauge",
            "# TYPE punctual_scheduler_cycles_total counter",
            "punctual_scheduler_running{scheduler=\"ra\\\"dar\"} 4",
            "punctual_scheduler_cycles_total{scheduler=\"ra\\\"dar\"} 1",
            "punctual_scheduler_utilization{scheduler=\"ra\\\"dar\"} 0.75",
            "punctual_scheduler_computation_seconds{scheduler=\"ra\\\"dar\"} 0.000003",
        ] {
            assert!(text.lines().any(|own| own == line), "{text}");
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("a\"b\\c\n\u{1}é"), "a\\\"b\\\\c\\u000a\\u0001é");
    }
}
