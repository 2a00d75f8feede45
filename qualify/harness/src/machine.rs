//! Description of the machine in the JSON of a measurement.

use punctual_os::{CpuSet, rights};
use punctual_system::throttling::RealtimeRuntime;
use serde::{Deserialize, Serialize};

/// Facts about the machine that every result includes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct MachineFacts {
    /// Kernel release (`uname -r`).
    pub kernel: String,
    /// Kernel version (`uname -v`).
    pub kernel_version: String,
    /// Settings of the kernel that affect latencies.
    #[serde(flatten)]
    pub settings: KernelSettings,
    /// Number of online CPUs.
    pub cpus: usize,
    /// Model name of the first CPU.
    pub cpu_model: String,
    /// Scheduler ticks per second.
    pub tick_hz: u32,
    /// Scheduling classes that the process may use.
    pub scheduling_rights: SchedulingRights,
    /// Highest permitted native priority; null without the right.
    pub highest_realtime_priority: Option<i16>,
    /// Whether memory may be locked.
    pub memory_lock: bool,
    /// Real-time throttling at the time of reading: microseconds of each period; -1: none.
    pub realtime_runtime_us: Option<i64>,
    /// CPUs to which the experiment was pinned, ascending.
    pub pinned_cpus: Vec<usize>,
    /// Missing rights, one sentence each.
    pub missing: Vec<String>,
    /// Commands that grant them, simplest first.
    pub remedies: Vec<String>,
}

/// Settings of the kernel that affect latencies.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct KernelSettings {
    /// Preemption model of the kernel, with the model in force if readable.
    #[serde(default)]
    pub preemption: String,
    /// Clock source of the kernel.
    #[serde(default)]
    pub clock_source: Option<String>,
    /// Frequency governors; null if there are none, as in most virtual machines.
    #[serde(default)]
    pub governor: Option<String>,
    /// CPUs excluded from load balancing, ascending.
    #[serde(default)]
    pub isolated_cpus: Vec<usize>,
    /// CPUs without a tick while a single thread runs on them, ascending.
    #[serde(default)]
    pub tickless_cpus: Vec<usize>,
}

/// Scheduling classes that a process may use.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingRights {
    /// Real-time classes are permitted.
    RealTime,
    /// Everything ran in the ordinary class.
    Ordinary,
}

impl MachineFacts {
    /// Reads the facts and probes the rights. `pinned` are the CPUs of the experiment.
    pub fn read(pinned: &CpuSet) -> Self {
        let machine = punctual_system::machine::machine();
        let rights = rights::probe();
        Self {
            kernel: machine.kernel_release,
            kernel_version: machine.kernel_version,
            settings: KernelSettings {
                preemption: machine.settings.preemption,
                clock_source: machine.settings.clock_source,
                governor: machine.settings.governor,
                isolated_cpus: machine.settings.isolated_cpus.iter().collect(),
                tickless_cpus: machine.settings.tickless_cpus.iter().collect(),
            },
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

    /// Returns whether the run used real-time classes.
    pub fn is_realtime(&self) -> bool {
        self.scheduling_rights == SchedulingRights::RealTime
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_fields_of_the_contract() {
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
