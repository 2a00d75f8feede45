//! Entries for the system on which tasks run: hosts, network, resources, cancellations.

use punctual_toml::Span;
use serde::Deserialize;

use crate::{ParametersEntry, task::single};

/// Operations that are cancelled before dispatch.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum SheddingEntry {
    /// None.
    #[default]
    None,
    /// Operations below criticality 3.
    NonCritical,
    /// All operations.
    All,
}

/// Delays of messages from one host to another.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NetworkEntry {
    /// Minimum latency. Default: 0.
    #[serde(default)]
    pub latency: Span,
    /// Maximum additional latency. Default: 0.
    #[serde(default)]
    pub jitter: Span,
    /// Bandwidth per direction. Default: unlimited.
    pub bytes_per_second: Option<u64>,
}

/// An endsystem, or a group of identical ones.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HostEntry {
    /// Name. With a `count` this is the name of the group, and its members are `NAME-1`, `NAME-2`, ….
    pub name: String,
    /// Number of hosts. Default: 1.
    #[serde(default = "single")]
    pub count: usize,
    /// Processors of each host. Default: 1.
    #[serde(default = "single")]
    pub processors: usize,
    /// Scheduler. Default: the scenario's.
    pub scheduler: Option<String>,
    /// Processor time of a scheduling decision. Default: 0.
    #[serde(default)]
    pub decision: Span,
    /// Processor time of a switch to another thread. Default: 0.
    #[serde(default)]
    pub hand_over: Span,
    /// Processor time of the check, before dispatch, whether an operation can meet its deadline. Default: 0.
    #[serde(default)]
    pub check: Span,
    /// Processor time of cancelling an operation or unwinding a cancelled thread. Default: 0.
    #[serde(default)]
    pub cancellation: Span,
}

/// Delays of messages between two hosts, or each pair of two groups.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// Sending host or group.
    pub from: String,
    /// Receiving host or group. The opposite direction is another link.
    pub to: String,
    /// [`NetworkEntry::latency`].
    #[serde(default)]
    pub latency: Span,
    /// [`NetworkEntry::jitter`].
    #[serde(default)]
    pub jitter: Span,
    /// [`NetworkEntry::bytes_per_second`].
    pub bytes_per_second: Option<u64>,
}

/// A resource that one thread at a time owns.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ResourceEntry {
    /// Name.
    pub name: String,
    /// Protocol against priority inversion. Default: inheritance.
    #[serde(default)]
    pub protocol: ProtocolEntry,
    /// Minimum parameters of the owner. Required with protocol `ceiling`, invalid otherwise.
    pub ceiling: Option<ParametersEntry>,
}

/// Parameters by which the owner of a resource is scheduled.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolEntry {
    /// Its own.
    None,
    /// The owner has the parameters of the most eligible waiter.
    #[default]
    Inheritance,
    /// The owner has at least the parameters of the ceiling.
    Ceiling,
}

/// Cancellation of all threads of a task from outside.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CancelEntry {
    /// Name of the task.
    pub task: String,
    /// Time of the cancellation.
    pub at: Span,
}
