//! A whole scenario file.

mod build;
mod check;

use std::path::Path;

use punctual_sched::{
    dynamic::{Scheduler, standard},
    simulator::Model,
};
use punctual_toml::{FileError, Span};
use serde::Deserialize;

use crate::{CancelEntry, HostEntry, LinkEntry, NetworkEntry, ResourceEntry, SheddingEntry, TaskEntry};

/// A distributed system and the work of its distributable threads, as a file describes it.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use punctual_simulation::Scenario;
/// use punctual::rtscheduling::{Time, simulator::Simulation};
///
/// let text = r#"
///     scheduler = "EDF"
///     until = "1 s"
///     [[host]]
///     name = "radar"
///     [[task]]
///     name = "track"
///     host = "radar"
///     period = "10 ms"
///     parameters = { deadline = "8 ms" }
///     steps = [{ compute = "2 ms" }]
/// "#;
/// let scenario = Scenario::parse("radar.toml", text)?;
/// let model = scenario.model();
/// let mut simulation = Simulation::new(&model, scenario.seed, |host| scenario.scheduler_of(host, None))?;
/// simulation.run_until(Time(0) + scenario.until.0, &mut ())?;
/// let statistics = simulation.finish();
/// // The thread that arrives at the end is unfinished.
/// assert_eq!((statistics.tasks[0].made, statistics.tasks[0].unfinished), (100, 1));
///
/// let text = text.replace("host = \"radar\"", "host = \"rader\"");
/// let error = Scenario::parse("radar.toml", &text).unwrap_err();
/// assert!(error.to_string().ends_with("task[1].host: unknown host `rader`; known: `radar`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Default scheduler of the hosts: one of [`STANDARD`](punctual_sched::dynamic::STANDARD).
    pub scheduler: String,
    /// Length of the simulation in virtual time.
    pub until: Span,
    /// Seed of the random numbers. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// Operations that are cancelled before dispatch because they would miss their deadlines. Default: none.
    #[serde(default)]
    pub cancellation: SheddingEntry,
    /// Network between hosts. Default: messages take no time.
    #[serde(default)]
    pub network: NetworkEntry,
    /// Endsystems.
    #[serde(default, rename = "host")]
    pub hosts: Vec<HostEntry>,
    /// Exceptions to `network`.
    #[serde(default, rename = "link")]
    pub links: Vec<LinkEntry>,
    /// Resources that threads lock; each host has one of each.
    #[serde(default, rename = "resource")]
    pub resources: Vec<ResourceEntry>,
    /// Tasks, whose arrivals are distributable threads.
    #[serde(default, rename = "task")]
    pub tasks: Vec<TaskEntry>,
    /// Cancellations from outside.
    #[serde(default, rename = "cancel")]
    pub cancels: Vec<CancelEntry>,
}

impl Scenario {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn read(file: impl AsRef<Path>) -> Result<Self, FileError> {
        punctual_toml::read(file, check::check)
    }

    /// Parses and checks a text; `file` is its name in errors.
    ///
    /// # Errors
    /// [`FileError::Invalid`].
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        punctual_toml::parse(file, text, check::check)
    }

    /// Returns the simulator's model. A host entry with a `count` becomes that many hosts.
    pub fn model(&self) -> Model {
        build::model(self)
    }

    /// Creates the scheduler of a host of the model; `instead` names one that replaces the schedulers of all
    /// hosts.
    ///
    /// # Panics
    /// If `host` is not a host of the model, or `instead` not a known scheduler.
    pub fn scheduler_of(&self, host: usize, instead: Option<&str>) -> Box<dyn Scheduler> {
        let name = instead.unwrap_or_else(|| self.scheduler_name(host));
        standard(name).expect("the schedulers of a checked scenario are known")
    }

    /// Returns the name of the scheduler of a host of the model.
    pub fn scheduler_name(&self, host: usize) -> &str {
        let mut end = 0;
        let entry = self.hosts.iter().find(|entry| {
            end += entry.count;
            host < end
        });
        let own = entry.and_then(|entry| entry.scheduler.as_deref());
        own.unwrap_or(&self.scheduler)
    }
}

fn one() -> u64 {
    1
}
