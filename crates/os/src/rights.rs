//! Rights of the process, determined by trying, and the commands that grant missing ones.

use std::io;

use punctual_types::NativePriority;
use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

use crate::capability::has_capability;
use crate::{Scheduling, ThreadSpec, memory, scheduling};

/// Rights that real-time operation needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rights {
    /// Whether threads may be in a real-time class.
    pub realtime: bool,
    /// Highest permitted priority in that class.
    pub highest_realtime_priority: Option<NativePriority>,
    /// Whether all memory may be locked ([`memory::lock_all`]).
    pub memory_lock: bool,
    /// Reasons, one sentence for each missing right; empty if the rights are complete.
    pub reasons: Vec<String>,
    remedies: Vec<String>,
}

impl Rights {
    /// Returns whether no right is missing.
    pub fn are_complete(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Returns the commands that grant missing rights, simplest first; each is sufficient for the rights that
    /// it names. Empty if the rights are complete.
    pub fn advice(&self) -> &[String] {
        &self.remedies
    }
}

/// Determines the rights of the calling thread by trying them in a short-lived thread with the same rights.
/// The caller's own scheduling does not change.
pub fn probe() -> Rights {
    let highest = ThreadSpec::new("probe-rights")
        .spawn(highest_realtime_priority)
        .and_then(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the probe panicked")))
        });
    let memory = memory::may_lock_all();
    let mut rights = Rights {
        realtime: highest.is_ok(),
        highest_realtime_priority: highest.as_ref().ok().copied(),
        memory_lock: memory.is_ok(),
        reasons: Vec::new(),
        remedies: Vec::new(),
    };
    let mut capabilities = Vec::new();
    if let Err(error) = &highest {
        if has_capability(CapabilitySet::SYS_NICE) {
            rights.reasons.push(format!(
                "no real-time scheduling class despite CAP_SYS_NICE ({error}): the control group of the process has no \
                 real-time budget"
            ));
            rights.remedies.push(BUDGET_REMEDY.to_owned());
        } else {
            rights.reasons.push(format!(
                "no real-time scheduling class ({error}): the process has neither CAP_SYS_NICE nor a real-time \
                 priority limit (`ulimit -r`) above 0"
            ));
            capabilities.push("sys_nice");
        }
    }
    if let Err(denied) = memory {
        rights.reasons.push(denied.to_string());
        capabilities.push("ipc_lock");
    }
    if !capabilities.is_empty() {
        rights.remedies.extend(capability_remedies(&capabilities));
    }
    rights
}

/// Runs in the probing thread and leaves that thread in the class it found.
fn highest_realtime_priority() -> io::Result<NativePriority> {
    let try_it = |priority| scheduling::set_current(Scheduling::fifo(priority)).map(|()| priority);
    let absolute = NativePriority(*scheduling::priority_range(crate::SchedulingClass::Fifo).end());
    try_it(absolute).or_else(|refused| {
        // Without the capability the limit is the highest permitted priority.
        match getrlimit(Resource::Rtprio)
            .current
            .and_then(|limit| i16::try_from(limit).ok())
        {
            Some(limit) if limit > 0 => try_it(NativePriority(limit.min(absolute.0))),
            _ => Err(refused),
        }
    })
}

const BUDGET_REMEDY: &str = "move the shell to the root control group: `echo $$ | sudo tee \
    /sys/fs/cgroup/cpu/tasks` (version 2: `/sys/fs/cgroup/cgroup.procs`)";

fn capability_remedies(capabilities: &[&str]) -> Vec<String> {
    let binary =
        std::env::current_exe().map_or_else(|_| "BINARY".to_owned(), |path| path.display().to_string());
    let joined = |prefix: &str| {
        capabilities
            .iter()
            .map(|c| format!("{prefix}{c}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let (file, ambient) = (joined("cap_"), joined("+"));
    let mut remedies = vec![
        format!("sudo setcap {file}+ep '{binary}'   (again after each build)"),
        format!(
            "sudo setpriv --reuid=\"$(id -u)\" --regid=\"$(id -g)\" --init-groups --inh-caps={ambient} \
             --ambient-caps={ambient} '{binary}'"
        ),
    ];
    let mut limits = Vec::new();
    if capabilities.contains(&"sys_nice") {
        limits.push("`* - rtprio 99`");
    }
    if capabilities.contains(&"ipc_lock") {
        limits.push("`* - memlock unlimited`");
    }
    remedies.push(format!(
        "add {} to /etc/security/limits.conf and log in again",
        limits.join(" and ")
    ));
    remedies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::give_up_capabilities;
    use punctual_fixtures::realtime_or_skip;

    #[test]
    fn probing_does_not_change_the_caller() {
        let before = scheduling::current();
        let rights = probe();
        assert_eq!(scheduling::current(), before);
        assert_eq!(rights.realtime, rights.highest_realtime_priority.is_some());
        assert_eq!(rights.are_complete(), rights.advice().is_empty());
    }

    #[test]
    fn a_reported_right_is_granted() {
        if !realtime_or_skip() {
            return;
        }
        let highest = probe().highest_realtime_priority.unwrap();
        let spec = ThreadSpec::new("highest").scheduling(Scheduling::fifo(highest));
        assert_eq!(spec.spawn(|| ()).unwrap().granted(), crate::Granted::RealTime);
    }

    #[test]
    fn without_rights_the_advice_names_each_capability() {
        let limited = |resource| getrlimit(resource).current;
        if limited(Resource::Rtprio) != Some(0) || limited(Resource::Memlock).is_none() {
            return punctual_fixtures::skip(
                punctual_fixtures::Missing::Machine,
                "the limits grant the rights to every user",
            );
        }
        let rights = ThreadSpec::new("no-rights").spawn(|| {
            give_up_capabilities();
            probe()
        });
        let rights = rights.unwrap().join().unwrap();
        assert!(!rights.realtime && !rights.memory_lock && !rights.are_complete());
        assert_eq!(rights.reasons.len(), 2);
        let setcap = &rights.advice()[0];
        assert!(
            setcap.starts_with("sudo setcap cap_sys_nice,cap_ipc_lock+ep '/"),
            "{setcap}"
        );
    }
}
