//! Network devices: the interrupts, threads and polling between a packet and the lane that it is for. Source:
//! [Levine 1999], whose conclusion is to integrate the I/O subsystem.

use crate::doctor::{
    finding::{Finding, Remedy, Subject, quoted},
    system::{System, cpus_in},
};

/// The native priority that threaded interrupt handlers and polling threads should have: that of the most
/// important lane or above.
const ABOVE_LANES: u32 = 90;

/// Checks where the interrupts of network devices are handled: by one CPU each, or by CPUs that are not
/// isolated.
pub fn interrupts(system: &System) -> Finding {
    let subject = Subject {
        id: "network-interrupts",
        title: "Interrupts of the network",
        why: "A packet interrupts the thread that runs on the CPU to which its interrupt is sent, even if \
              it is for another thread. If that can be any CPU, the disturbance cannot be planned, and \
              isolated CPUs are not left alone.",
    };
    let lines = lines(system);
    if lines.is_empty() {
        return subject.passed("no network device with interrupts of its own");
    }
    let isolated = cpus_in(
        &system
            .read("/sys/devices/system/cpu/isolated")
            .unwrap_or_default(),
    );
    let online = system.online_cpus().len();
    let mut spread = Vec::new();
    for Line { device, irq } in &lines {
        let path = format!("/proc/irq/{irq}/smp_affinity_list");
        let Ok(list) = system.read(&path) else { continue };
        let cpus = cpus_in(&list);
        let disturbs = cpus.iter().any(|cpu| isolated.contains(cpu));
        if cpus.len() > 1 && online > 1 && (isolated.is_empty() || disturbs) {
            spread.push((*irq, format!("{irq} of {device} to CPUs {list}")));
        }
    }
    let Some((first, _)) = spread.first() else {
        return subject.passed(format!("{} interrupts, each sent to chosen CPUs", lines.len()));
    };
    let script = spread.iter().map(|(irq, _)| {
        format!(
            "if [ -w /proc/irq/{irq}/smp_affinity_list ]; then echo 0 > /proc/irq/{irq}/smp_affinity_list; fi"
        )
    });
    let script: Vec<_> = script.collect();
    let found: Vec<_> = spread.iter().map(|(_, text)| text.as_str()).collect();
    subject.failed(
        found.join("; "),
        Remedy::lasting(
            format!("echo CPU | sudo tee /proc/irq/{first}/smp_affinity_list"),
            format!(
                "# Until the next boot. Choose the CPU of the lane that serves the device, or one that no\n\
                 # lane uses; `irqbalance` must not run.\n{}",
                script.join("\n")
            ),
        )
        .and("with the CPU of the lane that serves the device, or one that no lane uses"),
    )
}

/// Checks the priorities of the threads that handle the interrupts of network devices.
pub fn interrupt_threads(system: &System) -> Finding {
    let subject = Subject {
        id: "network-interrupt-threads",
        title: "Interrupt threads of the network",
        why: "With PREEMPT_RT or `threadirqs` a thread handles each interrupt. While lanes above its \
              priority run, no packet is received, not even one for a more important lane.",
    };
    let irqs: Vec<String> = lines(system)
        .iter()
        .map(|line| format!("irq/{}-", line.irq))
        .collect();
    let of_network = |name: &str| irqs.iter().any(|irq| name.starts_with(irq.as_str()));
    evaluate(
        system,
        subject,
        of_network,
        "interrupts are not handled by threads",
    )
}

/// Checks that packets are polled by threads with a real-time priority.
pub fn napi(system: &System) -> Finding {
    let subject = Subject {
        id: "napi-threads",
        title: "Polling of the network (NAPI)",
        why: "The kernel polls a device for packets in an interrupt, or leaves it to `ksoftirqd`, an \
              ordinary thread that gets no time while a real-time thread runs on its CPU. In threads of its \
              own, with a priority, reception can be placed above the lanes that depend on it.",
    };
    let devices = devices(system);
    if devices.is_empty() {
        return subject.passed("no network device with a driver");
    }
    let threaded = |device: &&String| system.number(&format!("/sys/class/net/{device}/threaded")) == Ok(0);
    let shared: Vec<&String> = devices.iter().filter(threaded).collect();
    if let Some(first) = shared.first() {
        let names: Vec<&str> = shared.iter().map(|name| name.as_str()).collect();
        let line = |name: &&str| format!("echo 1 > {}", quoted(&format!("/sys/class/net/{name}/threaded")));
        let script: Vec<String> = names.iter().map(line).collect();
        return subject.failed(
            format!("{} polls in interrupts and `ksoftirqd`", names.join(", ")),
            Remedy::lasting(
                format!("echo 1 | sudo tee /sys/class/net/{first}/threaded"),
                format!(
                    "# Until the next boot; the threads then need a priority.\n{}",
                    script.join("\n")
                ),
            )
            .and("then run `punctual doctor` again"),
        );
    }
    let of_device = |name: &str| {
        devices
            .iter()
            .any(|device| name.starts_with(&format!("napi/{device}-")))
    };
    evaluate(
        system,
        subject,
        of_device,
        "the driver or the kernel has no threads for it",
    )
}

/// Checks the priorities of the kernel's threads with certain names.
fn evaluate(system: &System, subject: Subject, selects: impl Fn(&str) -> bool, none: &str) -> Finding {
    let threads: Vec<KernelThread> = kernel_threads(system, selects);
    if threads.is_empty() {
        return subject.passed(none);
    }
    let low: Vec<&KernelThread> = threads
        .iter()
        .filter(|thread| thread.priority < ABOVE_LANES)
        .collect();
    let Some(first) = low.first() else {
        return subject.passed(format!(
            "{} threads at priority {ABOVE_LANES} or above",
            threads.len()
        ));
    };
    let found: Vec<String> = low
        .iter()
        .map(|thread| match thread.priority {
            0 => format!("{} is an ordinary thread", thread.name),
            priority => format!("{} runs at priority {priority}", thread.name),
        })
        .collect();
    let command = |thread: &KernelThread| format!("chrt --fifo --pid {ABOVE_LANES} {}", thread.pid);
    let script: Vec<String> = low.iter().map(|thread| command(thread)).collect();
    subject.failed(
        format!("{}: lanes above that keep packets waiting", found.join("; ")),
        Remedy::lasting(
            format!("sudo {}", command(first)),
            format!(
                "# Until the next boot: above the lanes that depend on the device.\n{}",
                script.join("\n")
            ),
        ),
    )
}

struct KernelThread {
    pid: u32,
    name: String,
    /// Its native real-time priority; 0 in an ordinary class.
    priority: u32,
}

fn kernel_threads(system: &System, selects: impl Fn(&str) -> bool) -> Vec<KernelThread> {
    let pids = system.list("/proc").unwrap_or_default();
    let thread = |pid: String| {
        let pid: u32 = pid.parse().ok()?;
        let name = system.read(&format!("/proc/{pid}/comm")).ok()?;
        if !selects(&name) {
            return None;
        }
        let stat = system.read(&format!("/proc/{pid}/stat")).ok()?;
        // The name may contain blanks; `rt_priority` is the 38th field after it.
        let priority = stat
            .rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(37)?
            .parse()
            .ok()?;
        Some(KernelThread { pid, name, priority })
    };
    pids.into_iter().filter_map(thread).collect()
}

/// An interrupt of a device.
struct Line {
    device: String,
    irq: u32,
}

/// Returns the network devices that have a driver: not the loopback interface, and no virtual ones.
fn devices(system: &System) -> Vec<String> {
    let mut names = system.list("/sys/class/net").unwrap_or_default();
    names.retain(|name| system.exists(&format!("/sys/class/net/{name}/device")));
    names
}

/// Returns the interrupts of network devices: those of the driver's messages, and those with the device's
/// name.
fn lines(system: &System) -> Vec<Line> {
    let table = system.read("/proc/interrupts").unwrap_or_default();
    let mut lines = Vec::new();
    for device in devices(system) {
        let folder = format!("/sys/class/net/{device}/device/msi_irqs");
        let messages = system.list(&folder).unwrap_or_default();
        let mut irqs: Vec<u32> = messages.iter().filter_map(|irq| irq.parse().ok()).collect();
        // The driver of a virtual machine's device names them after the bus.
        let bus = system.link_target(&format!("/sys/class/net/{device}/device"));
        let names: Vec<String> = std::iter::once(device.clone()).chain(bus).collect();
        irqs.extend(table.lines().filter_map(|line| {
            let (irq, rest) = line.trim().split_once(':')?;
            let action = rest.split_whitespace().last()?;
            let is_ours = |name: &String| action == name || action.starts_with(&format!("{name}-"));
            irq.parse::<u32>().ok().filter(|_| names.iter().any(is_ours))
        }));
        irqs.sort_unstable();
        irqs.dedup();
        lines.extend(irqs.into_iter().map(|irq| Line {
            device: device.clone(),
            irq,
        }));
    }
    lines
}
