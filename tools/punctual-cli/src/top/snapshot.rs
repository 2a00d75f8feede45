//! A snapshot of an ORB, as received.

use serde::Deserialize;
use serde_json::Value;

/// Snapshot of an ORB; durations in nanoseconds.
#[derive(Clone, Debug, Deserialize)]
pub struct Snapshot {
    pub pid: u32,
    pub program: String,
    /// Time since inspection began.
    pub uptime_ns: u64,
    pub lanes: Vec<Lane>,
    pub client: Client,
    #[serde(default)]
    pub schedulers: Vec<Scheduler>,
    #[serde(default)]
    pub contracts: Vec<Contract>,
    /// The JSON object as received.
    #[serde(skip)]
    pub raw: Value,
}

/// State and counters of one lane; counters start with the ORB.
#[derive(Clone, Debug, Deserialize)]
pub struct Lane {
    pub lane: String,
    pub priority: Option<i16>,
    /// Scheduling class; `None` for threads that call `Orb::run`.
    pub class: Option<String>,
    pub native_priority: Option<i16>,
    pub realtime: bool,
    #[serde(flatten)]
    pub threads: Threads,
    #[serde(flatten)]
    pub queue: Queue,
    pub connections: u64,
    pub requests: u64,
    pub expired: u64,
    pub late: u64,
    #[serde(flatten)]
    pub rejections: Rejections,
    pub borrowed: u64,
    pub service: Service,
    pub connections_by_band: Vec<Connections>,
}

/// Threads of a lane.
#[derive(Clone, Debug, Deserialize)]
pub struct Threads {
    #[serde(rename = "threads")]
    pub present: u64,
    #[serde(rename = "busy_threads")]
    pub busy: u64,
    /// Most octets of stack that one thread has used, and the size of each stack; `None` for threads that
    /// call `Orb::run`.
    pub stack_used_bytes: Option<u64>,
    pub stack_bytes: Option<u64>,
}

/// Request queue of a lane; `None` without one.
#[derive(Clone, Debug, Deserialize)]
pub struct Queue {
    #[serde(rename = "queued_requests")]
    pub requests: Option<u64>,
    #[serde(rename = "queue_limit_requests")]
    pub limit: Option<u64>,
}

/// Refused requests and connections of a lane, by reason.
#[derive(Clone, Debug, Deserialize)]
pub struct Rejections {
    queue_refused: u64,
    refused_priorities: u64,
    refused_connections: u64,
    #[serde(default)]
    exhausted_budgets: u64,
    protocol_errors: u64,
    deadlocks: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Service {
    pub max_ns: u64,
    /// Upper bound of each bucket and number of times in it.
    pub buckets_below_ns: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Client {
    pub connections_by_band: Vec<Connections>,
    pub late_replies: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Connections {
    pub band: String,
    pub open: u64,
}

/// A scheduler of operations; counters start with it.
#[derive(Clone, Debug, Deserialize)]
pub struct Scheduler {
    pub scheduler: String,
    pub strategy: String,
    /// Share of the processor, 0 to 1.
    pub utilization: Option<f64>,
    pub operations: u64,
    pub running: u64,
    pub computations: u64,
    pub refused: u64,
    pub cycles: u64,
    pub unresolved: u64,
    pub contradictions: u64,
    pub not_admitted: u64,
    #[serde(default)]
    pub lower_rates: u64,
}

/// A contract of adaptive quality of service.
#[derive(Clone, Debug, Deserialize)]
pub struct Contract {
    pub contract: String,
    pub region: String,
    pub transitions: u64,
    pub conditions: Vec<Condition>,
}

/// A condition of a contract, and its value once it has been measured.
#[derive(Clone, Debug, Deserialize)]
pub struct Condition {
    pub condition: String,
    pub value: Option<f64>,
}

/// Version of the format that this program reads.
const SCHEMA: u64 = 1;

impl Snapshot {
    /// Parses the line that an ORB sends. The error is a sentence.
    pub fn parse(line: &str) -> Result<Self, String> {
        let raw: Value = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
        if let Some(error) = raw["error"].as_str() {
            return Err(error.to_owned());
        }
        if raw["schema"] != SCHEMA {
            let schema = &raw["schema"];
            return Err(format!(
                "format {schema} instead of {SCHEMA}; use the `punctual` of the ORB's release"
            ));
        }
        let snapshot: Self = Self::deserialize(&raw).map_err(|error| format!("not a snapshot: {error}"))?;
        Ok(Self { raw, ..snapshot })
    }
}

impl Rejections {
    /// Refused requests and connections, for all reasons.
    pub fn total(&self) -> u64 {
        self.refused_priorities
            + self.refused_connections
            + self.exhausted_budgets
            + self.queue_refused
            + self.deadlocks
            + self.protocol_errors
    }
}

impl Lane {
    /// Whether the class was requested and denied.
    pub fn is_denied(&self) -> bool {
        let requested = self.class.as_deref().is_some_and(|class| class != "other");
        requested && !self.realtime
    }

    /// Requests that were dropped at their deadline or answered after it.
    pub fn deadline_misses(&self) -> u64 {
        self.expired + self.late
    }
}
