use serde::Deserialize;
use serde_json::Value;

/// What an ORB says of itself; spans of time are in nanoseconds.
#[derive(Clone, Debug, Deserialize)]
pub struct Snapshot {
    pub pid: u32,
    pub program: String,
    /// Since the ORB can be looked into.
    pub uptime_ns: u64,
    pub lanes: Vec<Lane>,
    pub client: Client,
    /// As it came.
    #[serde(skip)]
    pub raw: Value,
}

/// Counters of one lane: those that only grow are from the start on.
#[derive(Clone, Debug, Deserialize)]
pub struct Lane {
    pub lane: String,
    pub priority: Option<i16>,
    /// `None`: threads that call `Orb::run`.
    pub class: Option<String>,
    pub native_priority: Option<i16>,
    pub realtime: bool,
    pub threads: u64,
    pub busy_threads: u64,
    pub connections: u64,
    pub queued_requests: Option<u64>,
    pub queue_limit_requests: Option<u64>,
    pub requests: u64,
    pub queue_refused: u64,
    pub expired: u64,
    pub late: u64,
    pub refused_priorities: u64,
    pub refused_connections: u64,
    pub protocol_errors: u64,
    pub deadlocks: u64,
    pub borrowed: u64,
    pub service: Service,
    pub connections_by_band: Vec<Connections>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Service {
    pub max_ns: u64,
    /// What the times in a bucket are below, and how many there are.
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

/// The one that this program understands.
const SCHEMA: u64 = 1;

impl Snapshot {
    /// Reads the line that an ORB sends. The error is a sentence.
    pub fn parse(line: &str) -> Result<Self, String> {
        let raw: Value = serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}"))?;
        if let Some(error) = raw["error"].as_str() {
            return Err(error.to_owned());
        }
        if raw["schema"] != SCHEMA {
            let schema = &raw["schema"];
            return Err(format!(
                "its format is {schema} and this program's is {SCHEMA}; use the `punctual` of its release"
            ));
        }
        let snapshot: Self =
            Self::deserialize(&raw).map_err(|error| format!("it is no snapshot: {error}"))?;
        Ok(Self { raw, ..snapshot })
    }
}

impl Lane {
    /// Requests and connections that were turned away, for whatever reason.
    pub fn rejections(&self) -> u64 {
        self.refused_priorities
            + self.refused_connections
            + self.queue_refused
            + self.deadlocks
            + self.protocol_errors
    }

    /// Requests that were dropped for their deadline, or answered after it.
    pub fn deadline_misses(&self) -> u64 {
        self.expired + self.late
    }
}
