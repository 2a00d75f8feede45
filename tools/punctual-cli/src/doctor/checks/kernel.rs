//! Settings of the kernel: throttling, fair server, preemption, timer slack, clock.

use punctual_system::throttling::RealtimeRuntime;

use crate::doctor::{
    finding::{Finding, Remedy, Subject, quoted},
    system::{System, Unread},
};

const DEBUGFS: &str = "/sys/kernel/debug";
const MODEL: &str = "/sys/kernel/debug/sched/preempt";
const REFUSED: &str = "the kernel refuses to show the model: it is locked down, or this is a container";

/// Checks how much of each second real-time threads may use.
pub fn throttling(system: &System) -> Finding {
    let subject = Subject {
        id: "realtime-throttling",
        title: "Real-time throttling",
        why: "As a safety net, the kernel stops all real-time threads for the rest of each second once \
              they have used most of it, by default for 50 ms. A busy real-time program then misses \
              deadlines through no fault of its own. Without the safety net, a real-time thread that never \
              sleeps freezes its CPU: keep it during development, and remove it for measurements and for \
              tested systems.",
    };
    let remedy = || {
        Remedy::lasting(
            "sudo sysctl kernel.sched_rt_runtime_us=-1",
            "# CAUTION: from now on a real-time thread that never sleeps freezes its CPU.\n\
             echo 'kernel.sched_rt_runtime_us = -1' > /etc/sysctl.d/90-punctual.conf\n\
             sysctl -q -p /etc/sysctl.d/90-punctual.conf",
        )
    };
    let runtime = system.read("/proc/sys/kernel/sched_rt_runtime_us");
    let period = system
        .number("/proc/sys/kernel/sched_rt_period_us")
        .unwrap_or(1_000_000);
    match runtime.map(|text| RealtimeRuntime::parse(&text)) {
        Ok(Some(RealtimeRuntime::Unlimited)) => subject.passed("off"),
        Ok(Some(RealtimeRuntime::Microseconds(runtime))) => subject.failed(
            format!(
                "real-time threads are stopped after {} ms of each {} ms",
                f64::from(runtime) / 1e3,
                period as f64 / 1e3
            ),
            remedy(),
        ),
        _ => subject.unknown(
            "/proc/sys/kernel/sched_rt_runtime_us cannot be read",
            Remedy::advice("mount /proc"),
        ),
    }
}

/// Checks the fair server of Linux 6.12 and later.
pub fn fair_server(system: &System) -> Finding {
    const FOLDER: &str = "/sys/kernel/debug/sched/fair_server";
    let subject = Subject {
        id: "fair-server",
        title: "Fair server",
        why: "Since 6.12 the kernel takes up to 50 ms of each second from real-time threads on a CPU on \
              which an ordinary thread has waited for a long time, independently of throttling. One ordinary \
              thread on the CPU of a busy real-time thread is enough.",
    };
    let remedy = |remedy: Remedy| {
        remedy.with_script(format!(
            "# Until the next boot. Refused by a locked-down kernel: keep ordinary threads off the CPU.\n\
                 for runtime in {FOLDER}/cpu*/runtime; do\n    \
                 if [ -e \"$runtime\" ]; then\n        \
                 echo 0 > \"$runtime\" || echo \"refused: $runtime\" >&2\n    fi\ndone"
        ))
    };
    let all = "for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do echo 0 | sudo tee \"$f\"; done";
    let cpus = system.list(FOLDER);
    let runtimes: Vec<_> = cpus
        .iter()
        .flatten()
        .filter_map(|cpu| Some((cpu, system.number(&format!("{FOLDER}/{cpu}/runtime")).ok()?)))
        .collect();
    let on: Vec<_> = runtimes.iter().filter(|(_, runtime)| *runtime > 0).collect();
    match (&on[..], system.kernel_version()) {
        ([(_, nanoseconds), ..], _) => subject.failed(
            format!(
                "on: up to {} ms at a time, on {} CPUs",
                *nanoseconds as f64 / 1e6,
                on.len()
            ),
            remedy(Remedy::lasting(all, "")),
        ),
        ([], _) if !runtimes.is_empty() => subject.passed("off on every CPU"),
        ([], Some(version)) if version < (6, 12) => {
            subject.passed("this kernel has none (introduced in 6.12)")
        }
        ([], Some(_)) => {
            let (reason, advice) = unread_fair_server(system, cpus.as_ref().err().copied());
            subject.unknown(
                format!("state unknown: {reason}"),
                remedy(Remedy::advice(format!(
                    "{advice}; or keep ordinary threads off the CPUs of real-time threads: then it has no effect"
                ))),
            )
        }
        ([], None) => subject.unknown("the kernel version cannot be read", Remedy::advice("mount /proc")),
    }
}

/// Returns why the state of the fair server cannot be read, and the remedy.
fn unread_fair_server(system: &System, folder: Option<Unread>) -> (&'static str, &'static str) {
    match (system.list(DEBUGFS), folder) {
        (Err(Unread::Denied), _) | (Ok(_), Some(Unread::Denied)) if !system.rights.is_root => {
            ("only root can read it", "`sudo punctual doctor`")
        }
        (Err(Unread::Denied), _) | (Ok(_), None | Some(Unread::Denied)) => (
            "the kernel refuses to read it: it is locked down, or this is a container",
            "in a container, check on its host",
        ),
        (Err(Unread::Absent), _) => (
            "/sys/kernel/debug does not exist",
            "use a kernel with debugfs (CONFIG_DEBUG_FS), and mount /sys",
        ),
        (Ok(entries), _) if entries.is_empty() => (
            "debugfs is not mounted",
            "`sudo mount -t debugfs none /sys/kernel/debug`",
        ),
        (Ok(_), Some(Unread::Absent)) => (
            "debugfs is mounted, and has no sched/fair_server",
            "`sudo ls /sys/kernel/debug/sched`",
        ),
    }
}

/// Returns why the preemption model of a kernel that has several cannot be seen.
fn unseen_model(system: &System) -> &'static str {
    match system.list(DEBUGFS) {
        Err(Unread::Denied) if !system.rights.is_root => "root sees the model",
        Err(Unread::Denied) => REFUSED,
        Err(Unread::Absent) => "only a kernel with debugfs shows the model",
        Ok(entries) if entries.is_empty() => "root sees the model with debugfs mounted",
        Ok(_) if system.exists(MODEL) => REFUSED,
        Ok(_) => "debugfs is mounted, and does not have the model",
    }
}

/// Checks the preemption model of the kernel.
pub fn preemption(system: &System) -> Finding {
    let subject = Subject {
        id: "preemption",
        title: "Kernel preemption",
        why: "While the kernel works for one program, others wait. How long depends on its build: \
              PREEMPT_RT bounds the wait to some tens of microseconds, `full` to about a millisecond; \
              `voluntary` and `none` are made for throughput and do not bound it.",
    };
    let remedy = Remedy::lasting(
        "sudo apt install linux-image-rt-amd64",
        "# Install and boot another kernel. Debian: apt install linux-image-rt-amd64\n\
         # Ubuntu: pro enable realtime-kernel. Fedora, RHEL: dnf install kernel-rt\n\
         # Until then, the best model of this kernel, if it can be selected:\n\
         model=/sys/kernel/debug/sched/preempt; if [ -w $model ]; then echo full > $model || true; fi",
    )
    .and("then reboot; on Ubuntu: sudo pro enable realtime-kernel");
    let (_, version) = system.kernel();
    if system.read("/sys/kernel/realtime").as_deref() == Ok("1") || version.contains("PREEMPT_RT") {
        return subject.passed("PREEMPT_RT");
    }
    if version.is_empty() {
        return subject.unknown(
            "/proc/sys/kernel/version cannot be read",
            Remedy::advice("mount /proc"),
        );
    }
    let chosen = system.read(MODEL).ok();
    let chosen = chosen.and_then(|models| Some(models.split_once('(')?.1.split_once(')')?.0.to_owned()));
    let asked = system.read("/proc/cmdline").unwrap_or_default();
    let asked = asked
        .split_whitespace()
        .find_map(|word| word.strip_prefix("preempt="));
    let found = match (chosen.as_deref().or(asked), version.contains("PREEMPT_DYNAMIC")) {
        (Some(model), _) => format!("`{model}`, not PREEMPT_RT"),
        (None, true) => format!(
            "selected at boot (PREEMPT_DYNAMIC), not PREEMPT_RT; {}",
            unseen_model(system)
        ),
        (None, false) if version.contains("PREEMPT") => "`full`, not PREEMPT_RT".to_owned(),
        (None, false) => "`none` or `voluntary`, not PREEMPT_RT".to_owned(),
    };
    subject.failed(found, remedy)
}

/// Checks how precisely ordinary threads are woken.
pub fn timer_slack(system: &System) -> Finding {
    let subject = Subject {
        id: "timer-slack",
        title: "Timer slack",
        why: "To save power, the kernel may wake an ordinary thread later than requested, by default up to \
              50 µs. Real-time threads have no slack; clients and drivers that run as ordinary threads \
              do.",
    };
    const COARSE: i64 = 50_000;
    match system.number("/proc/self/timerslack_ns") {
        Ok(slack) if slack > COARSE => subject.failed(
            format!("{} µs, more than the default", slack as f64 / 1e3),
            Remedy::lasting(
                "echo 1 > /proc/$$/timerslack_ns",
                "# A setting of each process, inherited by its children: there is no global switch.\n\
                 # In a systemd unit file: TimerSlackNSec=1",
            )
            .and("for programs that this shell starts"),
        ),
        Ok(slack) if system.rights.priority.is_some() => subject.passed(format!(
            "{} µs for ordinary threads, none for real-time threads",
            slack as f64 / 1e3
        )),
        Ok(slack) => subject.passed(format!(
            "{} µs; none as soon as threads may be real-time",
            slack as f64 / 1e3
        )),
        Err(Unread::Absent | Unread::Denied) => subject.unknown(
            "/proc/self/timerslack_ns cannot be read",
            Remedy::advice("the default is 50 µs"),
        ),
    }
}

/// Checks the clock source.
pub fn clock_source(system: &System) -> Finding {
    const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
    let subject = Subject {
        id: "clock-source",
        title: "Clock",
        why: "Programs read the clock all the time. A good clock takes 20 to 50 ns; an old one (hpet, \
              acpi_pm) needs a system call and a slow device, takes a microsecond or more, and may wait \
              for other CPUs.",
    };
    let Ok(current) = system.read(&format!("{FOLDER}/current_clocksource")) else {
        return subject.unknown(
            "the current clock source cannot be read",
            Remedy::advice("mount /sys"),
        );
    };
    let slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];
    if !slow.contains(&&current[..]) {
        return subject.passed(format!("`{current}`"));
    }
    let available = system
        .read(&format!("{FOLDER}/available_clocksource"))
        .unwrap_or_default();
    let better = available.split_whitespace().find(|name| !slow.contains(name));
    let remedy = match better.map(quoted) {
        Some(better) => Remedy::lasting(
            format!("echo {better} | sudo tee {FOLDER}/current_clocksource"),
            format!(
                "# Until the next boot; `clocksource={better}` on the kernel command line is permanent.\n\
                     echo {better} > {FOLDER}/current_clocksource"
            ),
        ),
        None => Remedy::advice(
            "the kernel has rejected the fast clock; search `dmesg` for `tsc`, and try `tsc=reliable` on the \
             kernel command line if the clocks of all CPUs agree",
        ),
    };
    subject.failed(
        format!("`{current}`, which is slow; available: {available}"),
        remedy,
    )
}
