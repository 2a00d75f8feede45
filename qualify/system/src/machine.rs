//! Facts about the machine that every measurement is reported with.

mod settings;

pub use settings::KernelSettings;

use punctual_os::CpuSet;

use crate::throttling::{self, RealtimeRuntime};

/// Kernel and processors of the machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Kernel release, as printed by `uname -r`.
    pub kernel_release: String,
    /// Kernel version, as printed by `uname -v`; usually names the preemption model (`PREEMPT_RT`,
    /// `PREEMPT_DYNAMIC`, …).
    pub kernel_version: String,
    /// CPUs that are online.
    pub online_cpus: CpuSet,
    /// Model name of the first CPU; empty if the kernel reports none.
    pub cpu_model: String,
    /// Scheduler ticks per second (CONFIG_HZ).
    pub tick_hz: u32,
    /// Share of each period that real-time threads may use; `None` if the kernel does not report it.
    pub realtime_runtime: Option<RealtimeRuntime>,
    /// Settings of the kernel.
    pub settings: KernelSettings,
}

/// Reads the present facts; CPUs can go offline and throttling can be changed later.
pub fn machine() -> Machine {
    let names = rustix::system::uname();
    let kernel_version = names.version().to_string_lossy().into_owned();
    Machine {
        kernel_release: names.release().to_string_lossy().into_owned(),
        settings: KernelSettings::read(&kernel_version),
        kernel_version,
        online_cpus: CpuSet::all(),
        cpu_model: cpu_model().unwrap_or_default(),
        tick_hz: tick_hz(),
        realtime_runtime: throttling::runtime().ok(),
    }
}

fn cpu_model() -> Option<String> {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpus.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Returns the tick rate: the resolution of the coarse clocks is the tick's period.
fn tick_hz() -> u32 {
    let period = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    u32::try_from(1_000_000_000 / period.tv_nsec.max(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_plausible() {
        let machine = machine();
        assert!(
            machine.kernel_release.starts_with(|c: char| c.is_ascii_digit()),
            "{machine:?}"
        );
        assert!(machine.kernel_version.starts_with('#'), "{machine:?}");
        assert!([100, 250, 300, 1000].contains(&machine.tick_hz), "{machine:?}");
        assert!(!machine.online_cpus.is_empty());
    }
}
