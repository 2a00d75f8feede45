//! Checks on imitated machines.

use std::{
    collections::HashSet,
    fs,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use super::{
    checks::examine,
    finding::{Finding, State, quoted},
    report::{self, Appearance},
    script,
    system::{Rights, System},
    verdict,
};

/// Appearance of the report in a file.
const PLAIN: Appearance = Appearance {
    width: 80,
    is_coloured: false,
};

/// A folder that imitates a machine; removed when dropped.
struct Tree(PathBuf);

type Files<'f> = &'f [(&'f str, &'f str)];

impl Tree {
    fn new(files: Files<'_>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("punctual-doctor-{}-{number}", std::process::id()));
        fs::create_dir(&root).unwrap();
        let tree = Self(root);
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    /// A machine that passes all checks, changed by these files.
    fn fine_but(files: Files<'_>) -> Self {
        let tree = Self::new(FINE);
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.0.join(path.trim_start_matches('/'))).unwrap();
    }

    fn system(&self) -> System {
        self.system_with(all_rights())
    }

    fn system_with(&self, rights: Rights) -> System {
        System::at(&self.0, rights)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn all_rights() -> Rights {
    Rights {
        priority: Some(99),
        memory_lock: true,
        is_root: true,
        reasons: Vec::new(),
    }
}

fn no_rights() -> Rights {
    Rights {
        priority: None,
        memory_lock: false,
        is_root: false,
        reasons: vec![
            "no real-time class: no right".into(),
            "locked memory is limited to 8 MiB".into(),
        ],
    }
}

const FINE: Files<'static> = &[
    ("/proc/sys/kernel/osrelease", "6.1.0-56-rt-amd64"),
    ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.1.1-1"),
    ("/proc/sys/kernel/sched_rt_runtime_us", "-1"),
    ("/proc/sys/kernel/sched_rt_period_us", "1000000"),
    ("/proc/cmdline", "quiet"),
    ("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority"),
    ("/proc/self/timerslack_ns", "50000"),
    ("/proc/self/cgroup", "1:cpu,cpuacct:/\n0::/user.slice"),
    (
        "/proc/self/mountinfo",
        "31 30 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
         33 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct",
    ),
    ("/sys/kernel/realtime", "1"),
    ("/sys/devices/system/cpu/online", "0-3"),
    ("/sys/devices/system/cpu/isolated", "2-3"),
    (
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance",
    ),
    (
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc",
    ),
    (
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        "tsc hpet acpi_pm",
    ),
];

fn of<'f>(findings: &'f [Finding], id: &str) -> &'f Finding {
    findings
        .iter()
        .find(|finding| finding.id == id)
        .unwrap_or_else(|| panic!("{id}"))
}

#[test]
fn a_good_machine_passes_all_checks() {
    let tree = Tree::fine_but(&[]);
    let system = tree.system();
    let findings = examine(&system);
    let others: Vec<_> = findings
        .iter()
        .filter(|finding| finding.state != State::Passed)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(verdict(&findings), 0);
    let ids: HashSet<_> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!((findings.len(), ids.len()), (15, 15));
    assert!(report::text(&system, &findings, PLAIN).contains("All checks passed."));
    assert!(script::of(&system, &findings).contains("All checks passed."));
}

const CPU: &str = "/sys/fs/cgroup/cpu,cpuacct";

/// Observation, state and a part of the fix; each on a machine that is otherwise good.
#[test]
fn each_problem_is_found_with_its_fix() {
    let in_group = (
        "/proc/self/cgroup",
        "1:cpu,cpuacct:/radar/a\n0::/user.slice/radar",
    );
    let budget = |group: &str| format!("{CPU}{group}/cpu.rt_runtime_us");
    let (own, above, root) = (budget("/radar/a"), budget("/radar"), budget(""));
    let quota = format!("{CPU}/radar/cpu.cfs_quota_us");
    let quota_period = format!("{CPU}/radar/cpu.cfs_period_us");
    let server = "/sys/kernel/debug/sched/fair_server/cpu0/runtime";
    let server_1 = "/sys/kernel/debug/sched/fair_server/cpu1/runtime";
    let clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let available = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let version = "/proc/sys/kernel/version";
    let release = "/proc/sys/kernel/osrelease";
    let dynamic = (version, "#1 SMP PREEMPT_DYNAMIC");
    let not_rt = ("/sys/kernel/realtime", "0");
    use State::{Failed, Passed, Unknown};
    let cases: &[(Files<'_>, &str, State, &str, &str)] = &[
        (
            &[("/proc/sys/kernel/sched_rt_runtime_us", "950000")],
            "realtime-throttling",
            Failed,
            "950 ms of each 1000 ms",
            "sysctl kernel.sched_rt_runtime_us=-1",
        ),
        (
            &[("/proc/sys/kernel/sched_rt_runtime_us", "what?")],
            "realtime-throttling",
            Unknown,
            "cannot be read",
            "",
        ),
        (
            &[in_group, (&own, "0"), (&above, "400000"), (&root, "950000")],
            "group-budget",
            Failed,
            "/radar/a/cpu.rt_runtime_us is 0",
            "echo 400000 | sudo tee '/sys/fs/cgroup/cpu,cpuacct/radar/a/cpu.rt_runtime_us'",
        ),
        (
            &[in_group, (&own, "100000"), (&above, "400000")],
            "group-budget",
            Passed,
            "100 of each 1000 ms",
            "",
        ),
        (
            &[in_group, (&root, "-1")],
            "group-budget",
            Passed,
            "no real-time budgets",
            "",
        ),
        (
            &[in_group, (&quota, "150000"), (&quota_period, "100000")],
            "container-limits",
            Failed,
            "limited to 1.50 CPUs",
            "echo -1 | sudo tee",
        ),
        (
            &[in_group, (&quota, "-1"), (&quota_period, "100000")],
            "container-limits",
            Passed,
            "no CPU quota",
            "",
        ),
        (
            &[
                in_group,
                ("/sys/fs/cgroup/unified/user.slice/cpu.max", "50000 100000"),
            ],
            "container-limits",
            Failed,
            "limited to 0.50 CPUs",
            "echo max | sudo tee",
        ),
        (
            &[
                in_group,
                ("/sys/fs/cgroup/unified/user.slice/cpu.max", "max 100000"),
                ("/sys/fs/cgroup/unified/user.slice/memory.max", "1073741824"),
            ],
            "container-limits",
            Passed,
            "memory up to 1024 MiB",
            "",
        ),
        (
            &[
                ("/.dockerenv", ""),
                ("/sys/fs/cgroup/unified/user.slice/cpu.max", "50000 100000"),
            ],
            "container-limits",
            Failed,
            "a container; CPU time",
            "without --cpus",
        ),
        (
            &[(release, "6.18.1"), (server, "50000000"), (server_1, "0")],
            "fair-server",
            Failed,
            "50 ms at a time, on 1 CPUs",
            "fair_server",
        ),
        (
            &[(release, "6.18.1"), (server, "0"), (server_1, "0")],
            "fair-server",
            Passed,
            "off on every CPU",
            "",
        ),
        (
            &[(release, "6.18.1")],
            "fair-server",
            Unknown,
            "state unknown",
            "keep ordinary threads off",
        ),
        (
            &[(release, "6.11.9-generic")],
            "fair-server",
            Passed,
            "has none",
            "",
        ),
        (&[(release, "?")], "fair-server", Unknown, "version", ""),
        (
            &[
                not_rt,
                dynamic,
                ("/sys/kernel/debug/sched/preempt", "none (voluntary) full lazy"),
            ],
            "preemption",
            Failed,
            "`voluntary`",
            "linux-image-rt",
        ),
        (
            &[not_rt, dynamic, ("/proc/cmdline", "quiet preempt=full")],
            "preemption",
            Failed,
            "`full`",
            "linux-image-rt",
        ),
        (
            &[not_rt, dynamic],
            "preemption",
            Failed,
            "only a kernel with debugfs shows the model",
            "linux-image-rt",
        ),
        (
            &[not_rt, dynamic, ("/sys/kernel/debug/sched/preempt", "refused")],
            "preemption",
            Failed,
            "the kernel refuses to show the model: it is locked down, or this is a container",
            "linux-image-rt",
        ),
        (
            &[not_rt, dynamic, ("/sys/kernel/debug/sched/features", "")],
            "preemption",
            Failed,
            "debugfs is mounted, and does not have the model",
            "linux-image-rt",
        ),
        (
            &[not_rt, (version, "#1 SMP PREEMPT")],
            "preemption",
            Failed,
            "`full`",
            "linux-image-rt",
        ),
        (
            &[not_rt, (version, "#1 SMP")],
            "preemption",
            Failed,
            "`none` or `voluntary`",
            "linux-image-rt",
        ),
        (
            &[not_rt, (version, "")],
            "preemption",
            Unknown,
            "cannot be read",
            "",
        ),
        (
            &[("/sys/devices/system/cpu/isolated", "")],
            "isolated-cpus",
            Failed,
            "none of 4",
            "isolcpus=managed_irq,domain,3",
        ),
        // Some kernels list CPUs that do not exist.
        (
            &[("/sys/devices/system/cpu/isolated", "4-127")],
            "isolated-cpus",
            Failed,
            "none of 4",
            "isolcpus",
        ),
        (
            &[
                ("/sys/devices/system/cpu/online", "0"),
                ("/sys/devices/system/cpu/isolated", ""),
            ],
            "isolated-cpus",
            Failed,
            "only one CPU",
            "two or more CPUs",
        ),
        (
            &[(
                "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
                "powersave",
            )],
            "governor",
            Failed,
            "`powersave`",
            "echo performance",
        ),
        (
            &[("/proc/self/timerslack_ns", "4000000")],
            "timer-slack",
            Failed,
            "4000 µs",
            "timerslack_ns",
        ),
        (
            &[("/proc/self/timerslack_ns", "x")],
            "timer-slack",
            Unknown,
            "cannot be read",
            "",
        ),
        (
            &[(clock, "hpet")],
            "clock-source",
            Failed,
            "`hpet`",
            "echo tsc | sudo tee",
        ),
        (
            &[(clock, "hpet"), (available, "hpet acpi_pm")],
            "clock-source",
            Failed,
            "`hpet`",
            "dmesg",
        ),
        (&[(clock, "kvm-clock")], "clock-source", Passed, "`kvm-clock`", ""),
        (
            &[("/proc/swaps", "Filename Type\n/dev/sda2 partition 8 0 -2")],
            "swap",
            Passed,
            "/dev/sda2",
            "",
        ),
    ];
    for (files, id, state, found, fix) in cases {
        let tree = Tree::fine_but(files);
        let findings = examine(&tree.system());
        let finding = of(&findings, id);
        assert_eq!(finding.state, *state, "{files:?}: {finding:#?}");
        assert!(finding.found.contains(found), "{files:?}: {finding:#?}");
        assert!(finding.remedy.now().contains(fix), "{files:?}: {finding:#?}");
        // No other check fails.
        let failed = findings
            .iter()
            .filter(|other| other.state == Failed && other.id != *id);
        assert_eq!(failed.count(), 0, "{files:?}: {findings:#?}");
        let expected = match state {
            Failed => 1,
            Unknown => 2,
            Passed => 0,
        };
        assert_eq!(verdict(&findings), expected, "{files:?}: {findings:#?}");
    }
}

/// The status of a kernel thread with this name, number and real-time priority.
fn kernel_thread(name: &str, pid: u32, priority: u32) -> [(String, String); 2] {
    let fields = format!("{}{priority} 1 0", "0 ".repeat(36));
    [
        (format!("/proc/{pid}/comm"), name.to_owned()),
        (format!("/proc/{pid}/stat"), format!("{pid} ({name}) S {fields}")),
    ]
}

#[test]
fn the_way_of_a_packet_is_examined() {
    let examined = |irq: &str, threaded: Option<&str>, threads: &[(&str, u32)]| {
        let tree = Tree::fine_but(&[
            ("/sys/class/net/lo/operstate", "unknown"),
            ("/sys/class/net/eth0/device/msi_irqs/24", "msix"),
            (
                "/proc/interrupts",
                "  CPU0 CPU1\n 25:  3  4  PCI-MSI  eth0-rx-0\n 26:  1  1  PCI-MSI  eth01",
            ),
            ("/proc/irq/24/smp_affinity_list", irq),
            ("/proc/irq/25/smp_affinity_list", "0"),
        ]);
        if let Some(threaded) = threaded {
            tree.write("/sys/class/net/eth0/threaded", threaded);
        }
        for ((name, priority), pid) in threads.iter().zip(70..) {
            for (path, text) in kernel_thread(name, pid, *priority) {
                tree.write(&path, &text);
            }
        }
        let findings = examine(&tree.system());
        ["network-interrupts", "network-interrupt-threads", "napi-threads"]
            .map(|id| of(&findings, id).clone())
    };
    let states = |findings: &[Finding; 3]| findings.each_ref().map(|finding| finding.state);
    use State::{Failed, Passed};

    let good = examined("2", Some("1"), &[("irq/24-eth0", 95), ("napi/eth0-8193", 92)]);
    assert_eq!(states(&good), [Passed; 3], "{good:#?}");
    assert!(
        good[0].found.starts_with("2 interrupts"),
        "not that of eth01: {good:#?}"
    );
    let no_threads = examined("0-1", None, &[("napi/eth1-1", 0)]);
    assert_eq!(
        states(&no_threads),
        [Passed; 3],
        "isolated CPUs are left alone: {no_threads:#?}"
    );

    let bad = examined(
        "0-3",
        Some("1"),
        &[("irq/25-eth0-rx-0", 50), ("napi/eth0-8193", 0)],
    );
    assert_eq!(states(&bad), [Failed; 3], "{bad:#?}");
    assert_eq!(bad[0].found, "24 of eth0 to CPUs 0-3");
    assert!(
        bad[0].remedy.now().contains("/proc/irq/24/smp_affinity_list"),
        "{bad:#?}"
    );
    assert!(
        bad[1].found.contains("irq/25-eth0-rx-0 runs at priority 50"),
        "{bad:#?}"
    );
    assert_eq!(bad[1].remedy.now(), "sudo chrt --fifo --pid 90 70");
    assert!(
        bad[2].found.contains("napi/eth0-8193 is an ordinary thread"),
        "{bad:#?}"
    );
    let shared = examined("2", Some("0"), &[]);
    assert_eq!(states(&shared), [Passed, Passed, Failed], "{shared:#?}");
    assert!(
        shared[2].remedy.now().contains("/sys/class/net/eth0/threaded"),
        "{shared:#?}"
    );
}

#[test]
fn rights_are_those_that_were_tried() {
    let tree = Tree::fine_but(&[("/proc/swaps", "Filename Type\n/swapfile file 8 0 -2")]);
    let findings = examine(&tree.system_with(no_rights()));
    let expected = [
        ("realtime-class", "no real-time class", "rtprio 99"),
        ("memory-lock", "limited to 8 MiB", "memlock unlimited"),
        ("swap", "/swapfile", "swapoff"),
    ];
    for (id, found, fix) in expected {
        let finding = of(&findings, id);
        assert_eq!(finding.state, State::Failed, "{id}");
        assert!(
            finding.found.contains(found) && finding.remedy.now().contains(fix),
            "{finding:#?}"
        );
    }
    let some = Rights {
        priority: Some(50),
        ..all_rights()
    };
    let findings = examine(&tree.system_with(some));
    assert!(of(&findings, "realtime-class").found.contains("up to 50"));
    let image = Tree::fine_but(&[("/.dockerenv", ""), ("/proc/2/comm", "kthreadd")]);
    assert!(!image.system().is_container(), "only its files come from one");
    let container = Tree::fine_but(&[("/proc/1/cgroup", "0::/kubepods.slice/pod1")]);
    let findings = examine(&container.system_with(no_rights()));
    assert!(
        of(&findings, "memory-lock")
            .remedy
            .now()
            .contains("docker run --cap-add=SYS_NICE")
    );
}

/// A sandbox without /proc and /sys.
#[test]
fn checks_that_cannot_be_made_are_unknown() {
    let tree = Tree::new(&[]);
    let system = tree.system();
    let findings = examine(&system);
    assert_eq!(verdict(&findings), 2);
    let unknown: Vec<_> = findings
        .iter()
        .filter(|finding| finding.state == State::Unknown)
        .map(|finding| finding.id)
        .collect();
    let expected = [
        "container-limits",
        "realtime-throttling",
        "fair-server",
        "preemption",
        "isolated-cpus",
        "swap",
        "timer-slack",
        "clock-source",
    ];
    assert_eq!(unknown, expected);
    assert!(report::text(&system, &findings, PLAIN).contains("8 unknown"));
}

#[test]
fn the_reason_why_the_fair_server_is_unknown_is_the_true_one() {
    let debug = "/sys/kernel/debug";
    let found = |tree: &Tree| {
        let findings = examine(&tree.system());
        let finding = of(&findings, "fair-server");
        assert_eq!(finding.state, State::Unknown);
        (finding.found.clone(), finding.remedy.advice.clone())
    };
    let tree = Tree::fine_but(&[("/proc/sys/kernel/osrelease", "6.18.1")]);
    let (reason, _) = found(&tree);
    assert_eq!(reason, "state unknown: /sys/kernel/debug does not exist");
    fs::create_dir_all(tree.0.join(&debug[1..])).unwrap();
    let (reason, advice) = found(&tree);
    assert_eq!(reason, "state unknown: debugfs is not mounted");
    assert!(
        advice.contains("`sudo mount -t debugfs none /sys/kernel/debug`"),
        "{advice}"
    );
    tree.write("/sys/kernel/debug/sched/features", "");
    assert_eq!(
        found(&tree).0,
        "state unknown: debugfs is mounted, and has no sched/fair_server"
    );
    tree.write("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "refused");
    let (reason, advice) = found(&tree);
    assert!(
        reason.ends_with("the kernel refuses to read it: it is locked down, or this is a container"),
        "{reason}"
    );
    // No command can help.
    assert!(
        !advice.contains('`') && advice.starts_with("in a container, check on its host; or keep"),
        "{advice}"
    );
}

#[test]
fn a_missing_file_alone_is_no_failure() {
    for (path, _) in FINE {
        let tree = Tree::fine_but(&[]);
        tree.remove(path);
        assert_ne!(verdict(&examine(&tree.system())), 1, "without {path}");
    }
}

#[test]
fn text_and_json_agree() {
    let tree = Tree::new(&[]);
    let system = tree.system_with(no_rights());
    let findings = examine(&system);
    let text = report::text(&system, &findings, PLAIN);
    assert!(
        text.contains("✗ Real-time priorities: no real-time class"),
        "{text}"
    );
    assert!(text.contains("? Clock: "), "{text}");
    assert!(text.contains("    why   Linux shares the CPU"), "{text}");
    let object = report::json(&system, &findings);
    let listed = object["findings"].as_array().unwrap();
    assert_eq!(listed.len(), findings.len());
    assert_eq!(
        (&listed[0]["id"], &listed[0]["state"]),
        (&"realtime-class".into(), &"failed".into())
    );
    assert!(
        listed
            .iter()
            .all(|finding| !finding["why"].as_str().unwrap().is_empty())
    );
}

/// The shell parses the script without running it.
#[test]
fn the_script_is_valid_shell_for_any_group_name() {
    let hostile = "1:cpu,cpuacct:/a'; touch gotcha; '$(touch gotcha)\n0::/x";
    let folder = format!("{CPU}/a'; touch gotcha; '$(touch gotcha)");
    let tree = Tree::fine_but(&[
        ("/proc/self/cgroup", hostile),
        (&format!("{folder}/cpu.rt_runtime_us"), "0"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("/sys/devices/system/cpu/isolated", ""),
        (
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "ondemand",
        ),
        ("/sys/kernel/realtime", "0"),
        ("/proc/sys/kernel/version", "#1 SMP"),
        ("/proc/sys/kernel/osrelease", "6.18"),
        ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000"),
        ("/proc/self/timerslack_ns", "60000"),
        (
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            "hpet",
        ),
        ("/proc/swaps", "Filename Type\n/swapfile file 8 0 -2"),
        ("/sys/class/net/eth0/device/msi_irqs/24", "msix"),
        ("/sys/class/net/eth0/threaded", "0"),
        ("/proc/irq/24/smp_affinity_list", "0-3"),
        ("/proc/70/comm", "irq/24-eth0"),
        ("/proc/70/stat", &kernel_thread("irq/24-eth0", 70, 50)[1].1),
    ]);
    let system = tree.system_with(no_rights());
    let findings = examine(&system);
    assert!(
        findings
            .iter()
            .all(|finding| finding.state == State::Failed || finding.id == "container-limits"),
        "{findings:#?}"
    );
    let script = script::of(&system, &findings);
    let file = tree.0.join("fix.sh");
    fs::write(&file, &script).unwrap();
    let checked = Command::new("sh").arg("-n").arg(&file).output().unwrap();
    assert!(
        checked.status.success(),
        "{}\n{script}",
        String::from_utf8_lossy(&checked.stderr)
    );
    for part in [
        "/etc/sysctl.d/90-punctual.conf",
        "swapoff -a",
        "rtprio 99",
        "isolcpus=",
        "set -eu",
    ] {
        assert!(script.contains(part), "{part}: {script}");
    }
    // The name of the group is one shell word.
    let named = script
        .lines()
        .find(|line| line.starts_with("echo 950000 > "))
        .unwrap();
    assert_eq!(
        named,
        format!("echo 950000 > {}", quoted(&format!("{folder}/cpu.rt_runtime_us")))
    );
    let shown = Command::new("sh")
        .arg("-c")
        .arg(format!("printf %s {}", quoted(&folder)))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&shown.stdout), folder);
}

/// A machine on which everything fails.
fn everything_fails() -> Tree {
    Tree::fine_but(&[
        ("/proc/self/cgroup", "1:cpu,cpuacct:/user.slice"),
        (&format!("{CPU}/user.slice/cpu.rt_runtime_us"), "0"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("/sys/devices/system/cpu/isolated", ""),
        ("/sys/kernel/realtime", "0"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC"),
        ("/proc/sys/kernel/osrelease", "6.18"),
        ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000"),
        ("/proc/self/timerslack_ns", "60000"),
        (
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            "hpet",
        ),
        ("/proc/swaps", "Filename Type\n/swapfile file 8 0 -2"),
        ("/sys/class/net/eth0/device/msi_irqs/24", "msix"),
        ("/sys/class/net/eth0/threaded", "0"),
        ("/proc/irq/24/smp_affinity_list", "0-3"),
    ])
}

#[test]
fn the_report_fits_the_terminal_and_its_commands_can_be_copied() {
    let tree = everything_fails();
    let system = tree.system_with(no_rights());
    let findings = examine(&system);
    let failed = findings.iter().filter(|finding| finding.state == State::Failed);
    assert!(failed.count() >= 10, "{findings:#?}");
    for width in [60, 80, 100] {
        let appearance = Appearance { width, ..PLAIN };
        let text = report::text(&system, &findings, appearance);
        for line in text.lines() {
            // A single word may be longer than the narrowest terminal.
            let is_word = line.trim_end_matches(" \\").split_whitespace().count() <= 2 && width < 80;
            assert!(line.chars().count() <= width || is_word, "{width}: {line}");
        }
        // As the shell joins the lines.
        let joined = text.replace(" \\\n          ", " ");
        for finding in findings.iter().filter(|finding| finding.state == State::Failed) {
            assert!(
                joined.contains(&finding.remedy.command),
                "{width}: {finding:#?}\n{text}"
            );
        }
    }
}

#[test]
fn colours_change_no_text() {
    let tree = everything_fails();
    let system = tree.system_with(no_rights());
    let findings = examine(&system);
    let coloured = Appearance {
        is_coloured: true,
        ..PLAIN
    };
    let text = report::text(&system, &findings, coloured);
    assert!(
        text.contains("\x1b[1;31m✗\x1b[0m \x1b[1mReal-time priorities\x1b[0m: "),
        "{text}"
    );
    let without: String = text
        .split('\x1b')
        .map(|part| {
            part.strip_prefix('[')
                .map_or(part, |part| part.split_once('m').unwrap().1)
        })
        .collect();
    assert_eq!(without, report::text(&system, &findings, PLAIN));
}
