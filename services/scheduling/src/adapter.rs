//! Object adapters and objects in a schedule.

use punctual::{Priority, PriorityModel};
use serde::{Deserialize, Serialize};

/// An object adapter.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "AdapterEntry", into = "AdapterEntry")]
pub struct Adapter {
    /// Name, the argument of `create_poa`.
    pub name: String,
    /// Name of the pool that serves its objects.
    pub pool: String,
    /// Priority at which its requests are executed.
    pub model: PriorityModel,
}

impl Adapter {
    /// Returns whether requests are executed at the priorities of their objects.
    pub(crate) fn is_server_declared(&self) -> bool {
        matches!(self.model, PriorityModel::ServerDeclared(_))
    }
}

/// An adapter as the file states it.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct AdapterEntry {
    name: String,
    pool: String,
    model: ModelName,
    #[serde(with = "punctual_toml::priority")]
    priority: Priority,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ModelName {
    ClientPropagated,
    ServerDeclared,
}

impl From<AdapterEntry> for Adapter {
    fn from(entry: AdapterEntry) -> Self {
        let default = entry.priority;
        Self {
            name: entry.name,
            pool: entry.pool,
            model: match entry.model {
                ModelName::ClientPropagated => PriorityModel::ClientPropagated { default },
                ModelName::ServerDeclared => PriorityModel::ServerDeclared(default),
            },
        }
    }
}

impl From<Adapter> for AdapterEntry {
    fn from(adapter: Adapter) -> Self {
        Self {
            model: if adapter.is_server_declared() {
                ModelName::ServerDeclared
            } else {
                ModelName::ClientPropagated
            },
            priority: adapter.model.server_priority(),
            name: adapter.name,
            pool: adapter.pool,
        }
    }
}

/// An object that has its own priority.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Name, the argument of `schedule_object`.
    pub name: String,
    /// Name of its adapter, which is server-declared.
    pub adapter: String,
    /// Priority of requests to it.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
}
