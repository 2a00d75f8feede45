use crate::doctor::{
    finding::{Finding, Remedy, Subject},
    system::{System, cpus_in},
};

/// CPUs that the kernel gives to nobody who does not ask for them.
pub fn isolated(system: &System) -> Finding {
    let subject = Subject {
        id: "isolated-cpus",
        title: "Isolated CPUs",
        why: "Even where priorities are right, other programs, and the kernel's own work, disturb the CPU on which they run: \
              caches, interrupts, clean-up. A CPU that the scheduler leaves alone belongs to the real-time threads that are \
              put on it (`LaneSpec::affinity`).",
    };
    let cpus = system.online_cpus();
    let Ok(isolated) = system.read("/sys/devices/system/cpu/isolated") else {
        return subject.unknown("the kernel does not say", Remedy::advice("mount /sys"));
    };
    // The kernel counts CPUs that are not there.
    let isolated: Vec<_> = cpus_in(&isolated)
        .into_iter()
        .filter(|cpu| cpus.contains(cpu))
        .collect();
    if !isolated.is_empty() {
        let list: Vec<_> = isolated.iter().map(u32::to_string).collect();
        return subject.fine(format!("CPU {} of {}", list.join(", "), cpus.len()));
    }
    match &cpus[..] {
        [] => subject.unknown(
            "the kernel does not say which CPUs there are",
            Remedy::advice("mount /sys"),
        ),
        [_] => subject.lacks(
            "there is one CPU only, for everything",
            Remedy::advice("a machine with two CPUs or more; with one, everything rests on priorities"),
        ),
        [.., last] => subject.lacks(
            format!("none of {}: every CPU is for everybody", cpus.len()),
            isolate(*last),
        ),
    }
}

fn isolate(cpu: u32) -> Remedy {
    let options = format!("isolcpus=managed_irq,domain,{cpu} nohz_full={cpu} rcu_nocbs={cpu}");
    Remedy::lasting(
        format!("add `{options}` to the kernel's command line and restart"),
        format!(
            "# Leaves CPU {cpu} alone from the next start on: it is for threads that are put there by name. Choose another if\n\
             # interrupts of importance go to it.\n\
             if [ -d /etc/default/grub.d ]; then\n    \
             echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {options}\"' > /etc/default/grub.d/90-punctual.cfg\n    \
             if command -v update-grub > /dev/null; then update-grub; else echo 'make the boot loader read it'; fi\n\
             else\n    \
             echo 'add to the kernel command line: {options}'\n\
             fi"
        ),
    )
}

/// What decides how fast the CPUs run.
pub fn governor(system: &System) -> Finding {
    const FOLDER: &str = "/sys/devices/system/cpu";
    let subject = Subject {
        id: "governor",
        title: "CPU frequency",
        why: "To save power a CPU slows down when there is little to do, and takes a while to be fast again. A real-time \
              program that works for a moment and rests always meets a slow CPU, and its times vary by a factor.",
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
        subject.fine("this kernel does not change it (in a virtual machine the host may)")
    } else if others.is_empty() {
        subject.fine("always the highest (`performance`)")
    } else {
        let names: Vec<_> = others.iter().map(|name| format!("`{name}`")).collect();
        subject.lacks(
            format!("it changes with the load ({})", names.join(", ")),
            Remedy::lasting(
                format!("echo performance | sudo tee {FOLDER}/cpu*/cpufreq/scaling_governor"),
                format!(
                    "# Until the next start; `cpupower` or `tuned` (profile realtime) can do it at each start.\n\
                     for governor in {FOLDER}/cpu*/cpufreq/scaling_governor; do\n    \
                     if [ -w \"$governor\" ]; then echo performance > \"$governor\"; fi\ndone"
                ),
            ),
        )
    }
}
