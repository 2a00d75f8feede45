//! Decoding of events.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::format::Format;
use super::page::{PageFacts, PageLayout};
use crate::event::{Interrupt, KernelEvent, Level, Task, ThreadId, What};

/// Requested events: folder, and whether the analysis requires it.
pub(super) const EVENTS: &[(&str, bool)] = &[
    ("sched/sched_switch", true),
    ("sched/sched_waking", true),
    ("sched/sched_wakeup", true),
    ("sched/sched_wakeup_new", false),
    ("sched/sched_pi_setprio", false),
    ("sched/sched_migrate_task", false),
    ("irq/softirq_entry", false),
    ("irq/softirq_exit", false),
    ("irq/irq_handler_entry", false),
    ("irq/irq_handler_exit", false),
    ("irq_vectors/local_timer_entry", false),
    ("irq_vectors/local_timer_exit", false),
];

/// Decoder with the layouts of this kernel.
pub(super) struct Parser {
    layout: PageLayout,
    formats: HashMap<u16, (&'static str, Format)>,
}

impl Parser {
    /// Reads the layouts; `root` is a folder with an `events` folder.
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let events = root.join("events");
        let unknown = |what: &str| {
            let text = format!("unknown form of the kernel's description of {what}");
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        let header = read_at_once(&events.join("header_page"))?;
        let layout = PageLayout::parse(&header).ok_or_else(|| unknown("pages"))?;
        let mut formats = HashMap::new();
        for &(name, required) in EVENTS {
            match std::fs::read_to_string(events.join(name).join("format")) {
                Ok(text) => {
                    let format = Format::parse(&text).ok_or_else(|| unknown(name))?;
                    formats.insert(format.id, (name, format));
                }
                Err(error) if required => {
                    let text = format!("this kernel cannot record {name}: {error}");
                    return Err(io::Error::new(error.kind(), text));
                }
                Err(_) => {}
            }
        }
        Ok(Self { layout, formats })
    }

    /// Decodes the events of a page, with the names of threads.
    pub(super) fn page(
        &self,
        cpu: u32,
        page: &[u8],
        events: &mut Vec<KernelEvent>,
        names: &mut HashMap<ThreadId, String>,
    ) -> PageFacts {
        self.layout.events(page, |time_ns, octets| {
            let id = octets.get(..2).map(|id| u16::from_ne_bytes([id[0], id[1]]));
            let Some((name, format)) = id.and_then(|id| self.formats.get(&id)) else {
                return;
            };
            if let Some(what) = what(name, format, octets, names) {
                events.push(KernelEvent { time_ns, cpu, what });
            }
        })
    }
}

/// Reads a file whose whole content the kernel returns to the first read, and nothing to a second one.
fn read_at_once(path: &Path) -> io::Result<String> {
    let mut text = vec![0; 4096];
    let length = File::open(path)?.read(&mut text)?;
    Ok(String::from_utf8_lossy(&text[..length]).into_owned())
}

fn what(name: &str, format: &Format, octets: &[u8], names: &mut HashMap<ThreadId, String>) -> Option<What> {
    let number = |field: &str| format.number(field, octets);
    let small = |field: &str| u32::try_from(number(field)?).ok();
    let level = |field: &str| Some(Level::of_kernel(i32::try_from(number(field)?).ok()?));
    let thread = |field: &str| ThreadId::try_from(number(field)?).ok();
    let mut task = |comm: &str, pid: &str, priority: &str| {
        let task = Task {
            thread: thread(pid)?,
            level: level(priority)?,
        };
        if task.thread != 0
            && let Some(name) = format.text(comm, octets)
            && names
                .get(&task.thread)
                .is_none_or(|known| known.as_bytes() != name)
        {
            names.insert(task.thread, String::from_utf8_lossy(name).into_owned());
        }
        Some(task)
    };
    Some(match name {
        "sched/sched_switch" => What::Switch {
            previous: task("prev_comm", "prev_pid", "prev_prio")?,
            // The lowest octet has the state, the bits above it whether the thread was preempted.
            still_runnable: number("prev_state")? & 0xff == 0,
            next: task("next_comm", "next_pid", "next_prio")?,
        },
        "sched/sched_waking" => What::Waking {
            task: task("comm", "pid", "prio")?,
            cpu: small("target_cpu")?,
        },
        "sched/sched_wakeup" | "sched/sched_wakeup_new" => What::Woken {
            task: task("comm", "pid", "prio")?,
            cpu: small("target_cpu")?,
        },
        "sched/sched_pi_setprio" => What::Inherited {
            thread: thread("pid")?,
            from: level("oldprio")?,
            to: level("newprio")?,
        },
        "sched/sched_migrate_task" => What::Migrated {
            thread: thread("pid")?,
            cpu: small("dest_cpu")?,
        },
        "irq/softirq_entry" => What::InterruptBegin(Interrupt::Soft(small("vec")?)),
        "irq/softirq_exit" => What::InterruptEnd(Interrupt::Soft(small("vec")?)),
        "irq/irq_handler_entry" => What::InterruptBegin(Interrupt::Device(small("irq")?)),
        "irq/irq_handler_exit" => What::InterruptEnd(Interrupt::Device(small("irq")?)),
        "irq_vectors/local_timer_entry" => What::InterruptBegin(Interrupt::Timer),
        "irq_vectors/local_timer_exit" => What::InterruptEnd(Interrupt::Timer),
        _ => return None,
    })
}
