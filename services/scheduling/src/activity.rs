//! Activities of clients, and their steps.

use punctual::Priority;
use punctual_toml::Span;
use serde::{Deserialize, Serialize};

/// A recurring activity of a client, or one that an event triggers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Name, the argument of `schedule_activity`.
    pub name: String,
    /// Priority of its thread, and of its calls if they propagate it.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
    /// Minimum time between two starts. The analysis ignores an activity without a period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Span>,
    /// Deadline of its last step, from its nominal start, without jitter. Default: the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Maximum delay of its start. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub jitter: Span,
    /// Its steps, executed one after the other.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// Work of an activity in one place: exactly one of `host`, `pool`, `adapter` and `object`.
///
/// A servant that makes calls itself ([`Self::calls`]) occupies its lane's thread meanwhile: give such a lane
/// one thread for each activity that uses it, or the others wait for the whole time.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Work in the client's own thread, on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// With `host`: number of the CPU, if the host has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// Call of an object that this pool serves, through any of its adapters: at the client's priority if the
    /// pool has no adapter or a client-propagated one, at the declared priority of each server-declared one;
    /// without lanes, at the pool's priority, too. The analysis takes the worst of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Call of an object of this adapter, at the priority of the adapter's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// Call of this object, at its own priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Worst-case execution time on an idle CPU, including the ORB's own work.
    pub wcet: Span,
    /// Best-case execution time, at most `wcet`: the closer it is to `wcet`, the tighter the bounds of later
    /// steps. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub bcet: Span,
    /// Maximum time for which lower priorities delay it, in addition to `locks`: by a lock that it needs, and
    /// by any lock of a lower activity that inherits a priority at least as high, even if this step never
    /// uses it (push-through blocking: a waiter for that lock lifts its owner above this step). Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub blocking: Span,
    /// Its critical sections, a part of `wcet`, one after the other. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<Lock>,
    /// Maximum delay of the message to it. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub delay: Span,
    /// Minimum delay of the message, at most `delay`. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub least_delay: Span,
    /// Calls of the servant after `wcet`, one after the other, at the priority at which the servant runs.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Step>,
    /// Work of the servant after the last of its calls. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
}

/// A critical section: execution that owns a resource.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Name of the resource.
    pub resource: String,
    /// Longest execution time with the resource.
    pub length: Span,
}

/// Work of a servant after its calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// [`Step::wcet`].
    pub wcet: Span,
    /// [`Step::blocking`].
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub blocking: Span,
    /// Maximum delay of the last reply. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub delay: Span,
}

impl Step {
    /// Returns where it runs; `None` if that is stated more than once or not at all, which a checked schedule
    /// excludes.
    pub fn place(&self) -> Option<Place<'_>> {
        match (&self.host, &self.pool, &self.adapter, &self.object) {
            (Some(host), None, None, None) => Some(Place::Host(host)),
            (None, Some(pool), None, None) => Some(Place::Pool(pool)),
            (None, None, Some(adapter), None) => Some(Place::Adapter(adapter)),
            (None, None, None, Some(object)) => Some(Place::Object(object)),
            _ => None,
        }
    }
}

/// Place at which a step runs, by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place<'s> {
    /// The client's thread on this host.
    Host(&'s str),
    /// A thread of this pool.
    Pool(&'s str),
    /// A thread of the pool that serves this adapter.
    Adapter(&'s str),
    /// A thread of the pool that serves this object.
    Object(&'s str),
}
