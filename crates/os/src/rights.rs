//! What the process may do, found out by trying, and which command grants what it may not.

use std::io;

use punctual_types::NativePriority;
use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

use crate::{Scheduling, ThreadSpec, memory, scheduling};

/// The rights that real-time operation needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rights {
    /// Whether threads may have a real-time class at all.
    pub realtime: bool,
    /// The highest priority that threads may have in it.
    pub highest_realtime_priority: Option<NativePriority>,
    /// Whether all memory may be locked ([`memory::lock_all`]).
    pub memory_lock: bool,
    /// What is missing, one sentence each; empty when nothing is.
    pub reasons: Vec<String>,
    remedies: Vec<String>,
}

impl Rights {
    /// Whether nothing is missing.
    pub fn are_complete(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The commands that grant what is missing, the simplest first; each is enough for what it names. Empty when
    /// nothing is missing.
    pub fn advice(&self) -> &[String] {
        &self.remedies
    }
}

/// Finds out the rights of the calling thread, by trying them in a thread of a few microseconds that it starts and that
/// has the same rights. The caller's own scheduling stays as it is.
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
                "no real-time class in spite of CAP_SYS_NICE ({error}): the control group of the process has no \
                 real-time budget"
            ));
            rights.remedies.push(BUDGET_REMEDY.to_owned());
        } else {
            rights.reasons.push(format!(
                "no real-time class: neither CAP_SYS_NICE nor a real-time priority limit (`ulimit -r`) above 0 ({error})"
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

/// Whether the calling thread has a capability in its effective set.
pub(crate) fn has_capability(capability: CapabilitySet) -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}

/// Runs in the probing thread and leaves that in the class it found.
fn highest_realtime_priority() -> io::Result<NativePriority> {
    let try_it = |priority| scheduling::set_current(Scheduling::fifo(priority)).map(|()| priority);
    let absolute = NativePriority(*scheduling::priority_range(crate::SchedulingClass::Fifo).end());
    try_it(absolute).or_else(|refused| {
        // Without the capability the limit is the highest priority that is granted.
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
    use crate::test_support::{give_up_capabilities, realtime_or_skip};

    #[test]
    fn probing_leaves_the_caller_as_it_was() {
        let before = scheduling::current();
        let rights = probe();
        assert_eq!(scheduling::current(), before);
        assert_eq!(rights.realtime, rights.highest_realtime_priority.is_some());
        assert_eq!(rights.are_complete(), rights.advice().is_empty());
    }

    #[test]
    fn what_is_promised_is_granted() {
        if !realtime_or_skip("what_is_promised_is_granted") {
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
            return crate::test_support::say_skipped(
                "without_rights",
                "the limits grant rights to everybody",
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
