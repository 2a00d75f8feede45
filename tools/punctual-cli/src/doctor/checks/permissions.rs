//! Rights of the user, and swap space.

use crate::doctor::{
    finding::{Finding, Remedy, Subject},
    system::System,
};

/// Checks the right to SCHED_FIFO.
pub fn realtime_class(system: &System) -> Finding {
    let subject = Subject {
        id: "realtime-class",
        title: "Real-time priorities",
        why: "Linux shares the CPU among ordinary programs, so an urgent one waits for others. A program \
              in the real-time class SCHED_FIFO runs at once, ahead of ordinary programs. Users need a \
              right to it; without it, nothing else on this list helps.",
    };
    match system.rights.priority {
        Some(99) => subject.passed("SCHED_FIFO is allowed, with all priorities from 1 to 99"),
        Some(highest) => subject.failed(
            format!("SCHED_FIFO is allowed up to {highest} only; the highest CORBA priority maps to 99"),
            limit(system, "rtprio", "99"),
        ),
        None => {
            let reason = system
                .rights
                .reasons
                .iter()
                .find(|reason| reason.contains("real-time"));
            subject.failed(
                reason.cloned().unwrap_or_else(|| "SCHED_FIFO is denied".into()),
                limit(system, "rtprio", "99"),
            )
        }
    }
}

/// Checks whether all memory may be locked.
pub fn memory_lock(system: &System) -> Finding {
    let subject = Subject {
        id: "memory-lock",
        title: "Locked memory",
        why: "The kernel may reclaim memory that a program has not used for a while, and reload it, \
              perhaps from a disk, at the worst moment. A program that locks its memory never waits for \
              that. By default users may lock only a little.",
    };
    if system.rights.memory_lock {
        return subject.passed("a program may lock all of its memory");
    }
    let reason = system
        .rights
        .reasons
        .iter()
        .find(|reason| reason.contains("memory"));
    subject.failed(
        reason
            .cloned()
            .unwrap_or_else(|| "not all memory may be locked".into()),
        limit(system, "memlock", "unlimited"),
    )
}

/// How to raise a limit for the current user.
fn limit(system: &System, item: &str, value: &str) -> Remedy {
    if system.is_container() {
        return Remedy::advice(
            "start the container with this right: docker run --cap-add=SYS_NICE --cap-add=IPC_LOCK --ulimit \
             rtprio=99 --ulimit memlock=-1 … (Kubernetes: securityContext.capabilities.add: [SYS_NICE, \
             IPC_LOCK])",
        );
    }
    let file = format!("/etc/security/limits.d/90-punctual-{item}.conf");
    let systemd = match item {
        "rtprio" => "LimitRTPRIO=99",
        _ => "LimitMEMLOCK=infinity",
    };
    Remedy::lasting(
        format!("echo \"$USER - {item} {value}\" | sudo tee {file}"),
        format!(
            "# For all programs that this user starts after the next login.\n\
             echo \"${{SUDO_USER:-root}} - {item} {value}\" > {file}\n\
             # A systemd service needs this in its unit file instead: {systemd}\n\
             # For a single program, after each build: setcap cap_sys_nice,cap_ipc_lock+ep PROGRAM"
        ),
    )
    .and("then log in again")
}

/// Checks whether memory can be swapped out.
pub fn swap(system: &System) -> Finding {
    let subject = Subject {
        id: "swap",
        title: "Swapping",
        why: "With swap space, the kernel moves memory to a disk when memory becomes scarce, and a program \
              that needs it back waits for milliseconds. Locked memory is not swapped out, so this matters \
              only if memory cannot be locked.",
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
        subject.passed("no swap space")
    } else if system.rights.memory_lock {
        subject.passed(format!(
            "swap space exists ({}), but memory may be locked",
            areas.join(", ")
        ))
    } else {
        subject.failed(
            format!(
                "swap space is in use ({}), and memory may not be locked",
                areas.join(", ")
            ),
            Remedy::lasting(
                "sudo swapoff -a",
                "# Until the next boot; permanent: remove it from /etc/fstab or mask the systemd unit.\n\
                 swapoff -a",
            ),
        )
    }
}
