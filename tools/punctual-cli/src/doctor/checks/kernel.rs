use punctual_system::throttling::RealtimeRuntime;

use crate::doctor::{
    finding::{Finding, Remedy, Subject, quoted},
    system::{System, Unread},
};

/// How much of each second real-time threads may use.
pub fn throttling(system: &System) -> Finding {
    let subject = Subject {
        id: "realtime-throttling",
        title: "Real-time throttling",
        why: "As a safety net, the kernel stops all real-time threads for the rest of each second once they have used most of \
              it, for 50 ms as Linux comes. A busy real-time program then misses deadlines for no fault of its own. Without \
              the net, a real-time thread that never rests freezes its CPU: keep it while you develop, take it away when \
              you measure or are sure.",
    };
    let remedy = || {
        Remedy::lasting(
            "sudo sysctl kernel.sched_rt_runtime_us=-1",
            "# CAUTION: from now on a real-time thread that never rests freezes its CPU.\n\
             echo 'kernel.sched_rt_runtime_us = -1' > /etc/sysctl.d/90-punctual.conf\n\
             sysctl -q -p /etc/sysctl.d/90-punctual.conf",
        )
    };
    let runtime = system.read("/proc/sys/kernel/sched_rt_runtime_us");
    let period = system
        .number("/proc/sys/kernel/sched_rt_period_us")
        .unwrap_or(1_000_000);
    match runtime.map(|text| RealtimeRuntime::parse(&text)) {
        Ok(Some(RealtimeRuntime::Unlimited)) => subject.fine("it is off"),
        Ok(Some(RealtimeRuntime::Microseconds(runtime))) => subject.lacks(
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

/// The fair server of Linux 6.12 and later.
pub fn fair_server(system: &System) -> Finding {
    const FOLDER: &str = "/sys/kernel/debug/sched/fair_server";
    let subject = Subject {
        id: "fair-server",
        title: "Fair server",
        why: "Since 6.12 the kernel takes up to 50 ms of each second from real-time threads wherever an ordinary thread has \
              waited for long, and throttling has no say in it. An ordinary thread on the CPU of a busy real-time one is \
              enough.",
    };
    let remedy = |now: &str| {
        Remedy::lasting(
            now,
            format!(
                "# Until the next start. Where the kernel is locked down this is refused: keep ordinary threads off the CPU instead.\n\
                 for runtime in {FOLDER}/cpu*/runtime; do\n    \
                 if [ -e \"$runtime\" ]; then echo 0 > \"$runtime\" || echo \"refused: $runtime\" >&2; fi\ndone"
            ),
        )
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
        ([(_, nanoseconds), ..], _) => subject.lacks(
            format!("it is on: up to {} ms at a time, on {} CPUs", *nanoseconds as f64 / 1e6, on.len()),
            remedy(all),
        ),
        ([], _) if !runtimes.is_empty() => subject.fine("it is off on every CPU"),
        ([], Some(version)) if version < (6, 12) => subject.fine("this kernel has none (it came with 6.12)"),
        ([], Some(_)) => subject.unknown(
            "this kernel has one, and whether it is on cannot be seen (root can, with debugfs mounted and no lockdown)",
            remedy("keep ordinary threads off the CPUs of real-time ones: then it has nothing to do"),
        ),
        ([], None) => subject.unknown("the kernel does not say its version", Remedy::advice("mount /proc")),
    }
}

/// When the kernel lets go of the CPU.
pub fn preemption(system: &System) -> Finding {
    let subject = Subject {
        id: "preemption",
        title: "Preemption of the kernel",
        why: "While the kernel works for one program it lets others wait. How long depends on how it was built: PREEMPT_RT \
              bounds it to some tens of microseconds, `full` to a millisecond or so, `voluntary` and `none` are made for \
              throughput and do not bound it.",
    };
    let remedy = Remedy::lasting(
        "sudo apt install linux-image-rt-amd64   (Debian; Ubuntu: sudo pro enable realtime-kernel), then restart",
        "# A kernel of another kind has to be installed and started. Debian: apt install linux-image-rt-amd64\n\
         # Ubuntu: pro enable realtime-kernel. Fedora, RHEL: dnf install kernel-rt\n\
         # Until then the best of this kernel, where it can choose and is not locked down:\n\
         if [ -w /sys/kernel/debug/sched/preempt ]; then echo full > /sys/kernel/debug/sched/preempt || true; fi",
    );
    let (_, version) = system.kernel();
    if system.read("/sys/kernel/realtime").as_deref() == Ok("1") || version.contains("PREEMPT_RT") {
        return subject.fine("PREEMPT_RT");
    }
    if version.is_empty() {
        return subject.unknown(
            "the kernel does not say how it was built",
            Remedy::advice("mount /proc"),
        );
    }
    let chosen = system.read("/sys/kernel/debug/sched/preempt").ok();
    let chosen = chosen.and_then(|models| Some(models.split_once('(')?.1.split_once(')')?.0.to_owned()));
    let asked = system.read("/proc/cmdline").unwrap_or_default();
    let asked = asked
        .split_whitespace()
        .find_map(|word| word.strip_prefix("preempt="));
    let found = match (chosen.as_deref().or(asked), version.contains("PREEMPT_DYNAMIC")) {
        (Some(model), _) => format!("`{model}`, not PREEMPT_RT"),
        (None, true) => {
            "chosen at the start (PREEMPT_DYNAMIC), not PREEMPT_RT; which one, root sees with debugfs mounted"
                .to_owned()
        }
        (None, false) if version.contains("PREEMPT") => "`full`, not PREEMPT_RT".to_owned(),
        (None, false) => "`none` or `voluntary`, not PREEMPT_RT".to_owned(),
    };
    subject.lacks(found, remedy)
}

/// How exactly ordinary threads are woken.
pub fn timer_slack(system: &System) -> Finding {
    let subject = Subject {
        id: "timer-slack",
        title: "Timer slack",
        why: "To save power the kernel may wake an ordinary thread a little later than it asked for, by 50 µs as Linux comes. \
              Real-time threads have no slack; clients and drivers that run as ordinary threads do.",
    };
    const COARSE: i64 = 50_000;
    match system.number("/proc/self/timerslack_ns") {
        Ok(slack) if slack > COARSE => subject.lacks(
            format!("{} µs, more than Linux comes with", slack as f64 / 1e3),
            Remedy::lasting(
                "echo 1 > /proc/$$/timerslack_ns   (for what this shell starts from now on)",
                "# It is each process's own and is handed on to what it starts: there is no switch for all.\n\
                 # In a systemd unit file: TimerSlackNSec=1",
            ),
        ),
        Ok(slack) if system.rights.priority.is_some() => subject.fine(format!(
            "{} µs for ordinary threads; those in the real-time class have none",
            slack as f64 / 1e3
        )),
        Ok(slack) => subject.fine(format!(
            "{} µs; it goes when threads may be real-time",
            slack as f64 / 1e3
        )),
        Err(Unread::Absent | Unread::Denied) => subject.unknown(
            "/proc/self/timerslack_ns cannot be read",
            Remedy::advice("it is 50 µs where nobody changed it"),
        ),
    }
}

/// What tells the time.
pub fn clock_source(system: &System) -> Finding {
    const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
    let subject = Subject {
        id: "clock-source",
        title: "Clock",
        why: "Programs look at the clock all the time. With a good one that takes 20 to 50 ns; with an old one (hpet, acpi_pm) \
              each look goes into the kernel and to a slow device, which takes a microsecond or more, and may wait for \
              other CPUs.",
    };
    let Ok(current) = system.read(&format!("{FOLDER}/current_clocksource")) else {
        return subject.unknown(
            "the kernel does not say which it uses",
            Remedy::advice("mount /sys"),
        );
    };
    let slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];
    if !slow.contains(&&current[..]) {
        return subject.fine(format!("`{current}`"));
    }
    let available = system
        .read(&format!("{FOLDER}/available_clocksource"))
        .unwrap_or_default();
    let better = available.split_whitespace().find(|name| !slow.contains(name));
    let remedy = match better.map(quoted) {
        Some(better) => Remedy::lasting(
            format!("echo {better} | sudo tee {FOLDER}/current_clocksource"),
            format!(
                "# Until the next start; `clocksource={better}` on the kernel's command line does it for good.\n\
                     echo {better} > {FOLDER}/current_clocksource"
            ),
        ),
        None => Remedy::advice(
            "the kernel has found the fast clock unfit; look for `tsc` in `dmesg`, and try `tsc=reliable` on the kernel's command \
             line if the machine's clocks do agree",
        ),
    };
    subject.lacks(format!("`{current}`, a slow one; there are: {available}"), remedy)
}
