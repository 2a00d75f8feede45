//! The checks; each is a function of the [`System`] only.

mod cpus;
mod groups;
mod kernel;
mod network;
mod permissions;

use super::{finding::Finding, system::System};

/// Runs all checks, the fundamental ones first.
pub fn examine(system: &System) -> Vec<Finding> {
    let checks: [fn(&System) -> Finding; 15] = [
        permissions::realtime_class,
        permissions::memory_lock,
        groups::realtime_budget,
        groups::container_limits,
        kernel::throttling,
        kernel::fair_server,
        kernel::preemption,
        cpus::isolated,
        cpus::governor,
        permissions::swap,
        kernel::timer_slack,
        kernel::clock_source,
        network::interrupts,
        network::interrupt_threads,
        network::napi,
    ];
    checks.iter().map(|check| check(system)).collect()
}
