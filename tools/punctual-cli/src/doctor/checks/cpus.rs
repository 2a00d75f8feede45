//! CPUs: isolation and frequency.

use crate::doctor::{
    finding::{Finding, Remedy, Subject},
    system::{System, cpus_in},
};

/// Checks for CPUs on which the kernel runs only threads that are pinned to them.
pub fn isolated(system: &System) -> Finding {
    let subject = Subject {
        id: "isolated-cpus",
        title: "Isolated CPUs",
        why: "Even with correct priorities, other programs and the kernel's own work disturb the CPU on \
              which they run: caches, interrupts, deferred work. An isolated CPU is left to the real-time \
              threads that are pinned to it (`LaneSpec::affinity`).",
    };
    let cpus = system.online_cpus();
    let Ok(isolated) = system.read("/sys/devices/system/cpu/isolated") else {
        return subject.unknown(
            "/sys/devices/system/cpu/isolated cannot be read",
            Remedy::advice("mount /sys"),
        );
    };
    // The kernel also lists CPUs that do not exist.
    let isolated: Vec<_> = cpus_in(&isolated)
        .into_iter()
        .filter(|cpu| cpus.contains(cpu))
        .collect();
    if !isolated.is_empty() {
        let list: Vec<_> = isolated.iter().map(u32::to_string).collect();
        return subject.passed(format!("CPU {} of {}", list.join(", "), cpus.len()));
    }
    match &cpus[..] {
        [] => subject.unknown("the list of CPUs cannot be read", Remedy::advice("mount /sys")),
        [_] => subject.failed(
            "the machine has only one CPU",
            Remedy::advice(
                "use a machine with two or more CPUs; with one, only priorities separate programs",
            ),
        ),
        [.., last] => subject.failed(
            format!("none of {}: every thread may run on every CPU", cpus.len()),
            isolate(*last),
        ),
    }
}

fn isolate(cpu: u32) -> Remedy {
    let options = format!("isolcpus=managed_irq,domain,{cpu} nohz_full={cpu} rcu_nocbs={cpu}");
    Remedy::advice(format!(
        "add `{options}` to the kernel's command line and restart"
    ))
    .with_script(format!(
        "# From the next boot on, CPU {cpu} runs only threads that are pinned to it.\n\
             # Choose another CPU if important interrupts go to it.\n\
             if [ -d /etc/default/grub.d ]; then\n    \
             echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {options}\"' \
             > /etc/default/grub.d/90-punctual.cfg\n    \
             if command -v update-grub > /dev/null; then update-grub; \
             else echo 'update the boot loader configuration'; fi\n\
             else\n    \
             echo 'add to the kernel command line: {options}'\n\
             fi"
    ))
}

/// Checks the frequency governors of the CPUs.
pub fn governor(system: &System) -> Finding {
    const FOLDER: &str = "/sys/devices/system/cpu";
    let subject = Subject {
        id: "governor",
        title: "CPU frequency",
        why: "To save power, a CPU slows down while it is idle and takes a while to reach full speed \
              again. A real-time program that alternates between short work and rest always runs on a slow \
              CPU, and its times vary several-fold.",
    };
    let governors: Vec<_> = system
        .online_cpus()
        .iter()
        .filter_map(|cpu| {
            system
                .read(&format!("{FOLDER}/cpu{cpu}/cpufreq/scaling_governor"))
                .ok()
        })
        .collect();
    let mut others: Vec<_> = governors
        .iter()
        .filter(|governor| *governor != "performance")
        .collect();
    others.sort();
    others.dedup();
    if governors.is_empty() {
        subject.passed("not changed by this kernel (in a virtual machine, the host may change it)")
    } else if others.is_empty() {
        subject.passed("always the highest (governor `performance`)")
    } else {
        let names: Vec<_> = others.iter().map(|name| format!("`{name}`")).collect();
        subject.failed(
            format!("changes with the load (governor {})", names.join(", ")),
            Remedy::lasting(
                format!("echo performance | sudo tee {FOLDER}/cpu*/cpufreq/scaling_governor"),
                format!(
                    "# Until the next boot; `cpupower` or `tuned` (profile realtime) make it permanent.\n\
                     for governor in {FOLDER}/cpu*/cpufreq/scaling_governor; do\n    \
                     if [ -w \"$governor\" ]; then echo performance > \"$governor\"; fi\ndone"
                ),
            ),
        )
    }
}
