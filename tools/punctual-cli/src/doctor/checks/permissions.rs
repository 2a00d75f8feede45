use crate::doctor::{
    finding::{Finding, Remedy, Subject},
    system::System,
};

/// SCHED_FIFO.
pub fn realtime_class(system: &System) -> Finding {
    let subject = Subject {
        id: "realtime-class",
        title: "Real-time priorities",
        why: "Linux gives the CPU to ordinary programs in turn, so an urgent one waits for others. A program in the real-time \
              class SCHED_FIFO runs at once, whatever ordinary programs do. Users need a right to it. Without it nothing else \
              here helps.",
    };
    match system.rights.priority {
        Some(99) => subject.fine("SCHED_FIFO is allowed, with all priorities from 1 to 99"),
        Some(highest) => subject.lacks(
            format!("SCHED_FIFO is allowed up to {highest} only; the highest CORBA priority becomes 99"),
            limit(system, "rtprio", "99", "cap_sys_nice"),
        ),
        None => {
            let reason = system
                .rights
                .reasons
                .iter()
                .find(|reason| reason.contains("real-time"));
            subject.lacks(
                reason.cloned().unwrap_or_else(|| "SCHED_FIFO is denied".into()),
                limit(system, "rtprio", "99", "cap_sys_nice"),
            )
        }
    }
}

/// mlockall.
pub fn memory_lock(system: &System) -> Finding {
    let subject = Subject {
        id: "memory-lock",
        title: "Locked memory",
        why: "The kernel may take memory from a program that has not used it for a while, and fetches it again, from a disk \
              perhaps, at the worst moment. A program that locks its memory never waits for that. Users may lock a little only.",
    };
    if system.rights.memory_lock {
        return subject.fine("all memory of a program may be locked");
    }
    let reason = system
        .rights
        .reasons
        .iter()
        .find(|reason| reason.contains("memory"));
    subject.lacks(
        reason
            .cloned()
            .unwrap_or_else(|| "not all memory may be locked".into()),
        limit(system, "memlock", "unlimited", "cap_ipc_lock"),
    )
}

/// A limit that is raised for the user who asks.
fn limit(system: &System, item: &str, value: &str, capability: &str) -> Remedy {
    if system.is_container() {
        return Remedy::advice(
            "start the container with this right: docker run --cap-add=SYS_NICE --cap-add=IPC_LOCK --ulimit rtprio=99 --ulimit \
             memlock=-1 … (Kubernetes: securityContext.capabilities.add: [SYS_NICE, IPC_LOCK])",
        );
    }
    let file = format!("/etc/security/limits.d/90-punctual-{item}.conf");
    let systemd = match item {
        "rtprio" => "LimitRTPRIO=99",
        _ => "LimitMEMLOCK=infinity",
    };
    Remedy::lasting(
        format!("echo \"$USER - {item} {value}\" | sudo tee {file}   (then log in again)"),
        format!(
            "# For everything that this user starts after the next login.\n\
             echo \"${{SUDO_USER:-root}} - {item} {value}\" > {file}\n\
             # A program that systemd starts needs this in its unit file instead: {systemd}\n\
             # For one program alone, again after each time it is built: setcap {capability}+ep PROGRAM"
        ),
    )
}

/// Whether memory may go to a disk.
pub fn swap(system: &System) -> Finding {
    let subject = Subject {
        id: "swap",
        title: "Swapping",
        why: "With swap space, the kernel moves memory to a disk when it becomes scarce. Whoever needs it back waits for \
              milliseconds. Locked memory stays, so this matters where memory cannot be locked.",
    };
    let Ok(swaps) = system.read("/proc/swaps") else {
        return subject.unknown("/proc/swaps cannot be read", Remedy::advice("mount /proc"));
    };
    let areas: Vec<_> = swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    if areas.is_empty() {
        subject.fine("there is no swap space")
    } else if system.rights.memory_lock {
        subject.fine(format!(
            "there is swap space ({}), but memory may be locked",
            areas.join(", ")
        ))
    } else {
        subject.lacks(
            format!("swap space is used ({}), and memory may not be locked", areas.join(", ")),
            Remedy::lasting(
                "sudo swapoff -a",
                "# Until the next start; take swap out of /etc/fstab (or mask the systemd unit) for good.\nswapoff -a",
            ),
        )
    }
}
