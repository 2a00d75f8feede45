//! Settings of the kernel that affect latencies.

use punctual_os::CpuSet;

/// Settings of the kernel that affect latencies.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KernelSettings {
    /// Preemption model: `PREEMPT_RT`, `PREEMPT_DYNAMIC` (with the model in force, if readable), `PREEMPT`;
    /// `none or voluntary` if the kernel names none.
    pub preemption: String,
    /// Clock source (`tsc`, `hpet`, …); `None` if the kernel does not report it.
    pub clock_source: Option<String>,
    /// Frequency governors of the CPUs, each once; `None` if there are none, as in most virtual machines.
    pub governor: Option<String>,
    /// CPUs excluded from load balancing (`isolcpus=`, isolated partitions).
    pub isolated_cpus: CpuSet,
    /// CPUs without a tick while a single thread runs on them (`nohz_full=`).
    pub tickless_cpus: CpuSet,
}

impl KernelSettings {
    /// Reads the present settings. `version` is the output of `uname -v`.
    pub(super) fn read(version: &str) -> Self {
        Self {
            preemption: preemption(version, line_of(PREEMPT).as_deref()),
            clock_source: line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            governor: governor(),
            isolated_cpus: cpus_of("/sys/devices/system/cpu/isolated"),
            tickless_cpus: cpus_of("/sys/devices/system/cpu/nohz_full"),
        }
    }
}

/// Lists the models of a dynamic kernel with the one in force in parentheses. Readable by root only.
const PREEMPT: &str = "/sys/kernel/debug/sched/preempt";

fn preemption(version: &str, models: Option<&str>) -> String {
    let named = version
        .split_whitespace()
        .find(|word| word.starts_with("PREEMPT"));
    let Some(named) = named else {
        return "none or voluntary".to_owned();
    };
    let chosen = models.and_then(|models| {
        let (_, rest) = models.split_once('(')?;
        Some(rest.split_once(')')?.0)
    });
    match chosen {
        Some(chosen) => format!("{named} ({chosen})"),
        None => named.to_owned(),
    }
}

fn governor() -> Option<String> {
    let governor = |cpu| {
        line_of(&format!(
            "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
        ))
    };
    let mut governors: Vec<String> = CpuSet::all().iter().filter_map(governor).collect();
    governors.sort_unstable();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(", "))
}

fn cpus_of(file: &str) -> CpuSet {
    let list = line_of(file).unwrap_or_default();
    CpuSet::parse(&list).unwrap_or_else(CpuSet::empty)
}

fn line_of(file: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preemption_model_in_force_is_shown_if_readable() {
        let version = "#1 SMP PREEMPT_DYNAMIC Tue Nov 3";
        assert_eq!(preemption(version, None), "PREEMPT_DYNAMIC");
        let models = Some("none voluntary (full) lazy");
        assert_eq!(preemption(version, models), "PREEMPT_DYNAMIC (full)");
        assert_eq!(preemption("#1 SMP PREEMPT_RT Debian", None), "PREEMPT_RT");
        assert_eq!(preemption("#1 SMP Tue", None), "none or voluntary");
    }

    #[test]
    fn missing_files_give_no_value() {
        assert_eq!(line_of("/sys/no/such/file"), None);
        assert_eq!(cpus_of("/sys/no/such/file"), CpuSet::empty());
    }
}
