//! Hosts and resources of a schedule.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::threads::is_default;

/// A computer: in a file its name, or a table.
///
/// ```
/// use punctual_scheduling::{HostOrder, Schedule};
///
/// let text = "hosts = [\"console\", { name = \"radar\", cpus = [2, 3], order = \"deadline\" }]";
/// let schedule = Schedule::parse("hosts.toml", text)?;
/// assert_eq!((schedule.hosts[0].name.as_str(), schedule.hosts[0].order), ("console", HostOrder::Priority));
/// assert_eq!(schedule.hosts[1].cpus, [2, 3]);
/// # Ok::<(), punctual_scheduling::FileError>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "HostEntry", into = "HostEntry")]
pub struct Host {
    /// Name.
    pub name: String,
    /// Numbers of the CPUs for this work, to which threads are bound one by one (partitioned scheduling).
    /// Empty: one CPU of any number.
    pub cpus: Vec<usize>,
    /// Order in which each CPU serves threads.
    pub order: HostOrder,
}

impl Host {
    /// Creates a host with one CPU that serves by priority.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            cpus: Vec::new(),
            order: HostOrder::default(),
        }
    }
}

/// Order in which a CPU serves threads.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostOrder {
    /// `"priority"`: SCHED_FIFO.
    #[default]
    Priority,
    /// `"deadline"`: the earliest deadline first, that of the activity, as Real-time CORBA 1.2's
    /// `EDF_Scheduling` does. Priorities of lanes do not matter there, but lanes need a thread for each
    /// request that they may have at a time.
    Deadline,
}

/// A host as the file states it.
#[derive(Clone, Deserialize, Serialize)]
#[serde(untagged, expecting = "expected a name, or a table with `name`")]
enum HostEntry {
    Name(String),
    Table(HostTable),
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct HostTable {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cpus: Vec<usize>,
    #[serde(default, skip_serializing_if = "is_default")]
    order: HostOrder,
}

impl From<HostEntry> for Host {
    fn from(entry: HostEntry) -> Self {
        match entry {
            HostEntry::Name(name) => Self::new(name),
            HostEntry::Table(HostTable { name, cpus, order }) => Self { name, cpus, order },
        }
    }
}

impl From<Host> for HostEntry {
    fn from(host: Host) -> Self {
        if host == Host::new(host.name.as_str()) {
            return Self::Name(host.name);
        }
        let Host { name, cpus, order } = host;
        Self::Table(HostTable { name, cpus, order })
    }
}

/// A resource that one thread at a time owns; each host has its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Name.
    pub name: String,
    /// Protocol against priority inversion. Default: inheritance, that of `RTCORBA::Mutex` here.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protocol: Protocol,
}

/// Protocol against priority inversion. Without one, no delay by lower priorities is bounded.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `"inheritance"`: the owner runs at the highest priority of those that wait.
    #[default]
    Inheritance,
    /// `"ceiling"`: the owner runs at the highest priority of all users.
    Ceiling,
}

/// A CPU of a schedule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Processor<'s> {
    /// Its host.
    pub host: &'s Host,
    /// Its number, if the host has several.
    pub cpu: Option<usize>,
}

/// `HOST`, or `HOST/CPU` if the host has several.
impl fmt::Display for Processor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host.name)?;
        self.cpu.map_or(Ok(()), |cpu| write!(f, "/{cpu}"))
    }
}
