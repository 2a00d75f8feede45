//! The machine that a measurement ran on, as its JSON tells.

use punctual_os::{CpuSet, rights};
use punctual_system::throttling::RealtimeRuntime;
use serde::{Deserialize, Serialize};

/// The facts that belong beside every figure.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct MachineFacts {
    /// As `uname -r` prints it.
    pub kernel: String,
    /// As `uname -v` prints it.
    pub kernel_version: String,
    /// The kernel's preemption model, with the one in force where that can be read.
    #[serde(default)]
    pub preemption: String,
    /// Where the kernel's time comes from.
    #[serde(default)]
    pub clock_source: Option<String>,
    /// How the CPUs' frequencies are chosen; null where there is no choice, as in most virtual machines.
    #[serde(default)]
    pub governor: Option<String>,
    /// The CPUs that the scheduler leaves alone, ascending.
    #[serde(default)]
    pub isolated_cpus: Vec<usize>,
    /// The CPUs without a tick while one thread runs there, ascending.
    #[serde(default)]
    pub tickless_cpus: Vec<usize>,
    /// How many CPUs are online.
    pub cpus: usize,
    /// The model name of the first CPU.
    pub cpu_model: String,
    /// Ticks of the scheduler per second.
    pub tick_hz: u32,
    /// What the process was allowed to do.
    pub scheduling_rights: SchedulingRights,
    /// The highest native priority of a real-time thread; null without the right.
    pub highest_realtime_priority: Option<i16>,
    /// Whether memory could be locked.
    pub memory_lock: bool,
    /// The kernel's real-time throttling when the facts were read: microseconds of each period, -1 for none.
    pub realtime_runtime_us: Option<i64>,
    /// The CPUs that the experiment was pinned to, ascending.
    pub pinned_cpus: Vec<usize>,
    /// What is missing for real time, one sentence each.
    pub missing: Vec<String>,
    /// The commands that grant it, the simplest first.
    pub remedies: Vec<String>,
}

/// Whether threads could have a real-time class.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingRights {
    /// They could.
    RealTime,
    /// They could not: everything ran in the ordinary class.
    Ordinary,
}

impl MachineFacts {
    /// Reads the facts now, and tries the rights. `pinned` is where the experiment runs.
    pub fn read(pinned: &CpuSet) -> Self {
        let machine = punctual_system::machine::machine();
        let rights = rights::probe();
        Self {
            kernel: machine.kernel_release,
            kernel_version: machine.kernel_version,
            preemption: machine.settings.preemption,
            clock_source: machine.settings.clock_source,
            governor: machine.settings.governor,
            isolated_cpus: machine.settings.isolated_cpus.iter().collect(),
            tickless_cpus: machine.settings.tickless_cpus.iter().collect(),
            cpus: machine.online_cpus.len(),
            cpu_model: machine.cpu_model,
            tick_hz: machine.tick_hz,
            scheduling_rights: if rights.realtime {
                SchedulingRights::RealTime
            } else {
                SchedulingRights::Ordinary
            },
            highest_realtime_priority: rights.highest_realtime_priority.map(|priority| priority.0),
            memory_lock: rights.memory_lock,
            realtime_runtime_us: machine.realtime_runtime.map(|runtime| match runtime {
                RealtimeRuntime::Unlimited => -1,
                RealtimeRuntime::Microseconds(runtime) => runtime.into(),
            }),
            pinned_cpus: pinned.iter().collect(),
            remedies: rights.advice().to_vec(),
            missing: rights.reasons,
        }
    }

    /// Whether the run was a real-time one.
    pub fn is_realtime(&self) -> bool {
        self.scheduling_rights == SchedulingRights::RealTime
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_names_its_fields() {
        let facts = MachineFacts::read(&CpuSet::single(1));
        let json = serde_json::to_value(&facts).unwrap();
        assert_eq!(json["pinned_cpus"], serde_json::json!([1]));
        assert!(json["kernel"].as_str().unwrap().contains('.'));
        assert!(json["cpus"].as_u64().unwrap() >= 1);
        let rights = json["scheduling_rights"].as_str().unwrap();
        assert_eq!(rights == "real-time", facts.is_realtime());
        assert_eq!(facts.is_realtime(), facts.highest_realtime_priority.is_some());
        assert_eq!(serde_json::from_value::<MachineFacts>(json).unwrap(), facts);
    }
}
