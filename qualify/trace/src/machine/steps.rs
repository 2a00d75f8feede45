//! All changes of what waits or runs, in the order of time.

use std::collections::HashMap;

use crate::event::{Interrupt, KernelEvent, What};
use crate::inversion::{INTERRUPT_SILENCE_NS, SILENCE_NS};
use crate::request::Request;

/// Change of what waits or runs.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) time_ns: u64,
    pub(crate) what: Change,
}

#[derive(Clone, Copy)]
pub(crate) enum Change {
    Kernel(KernelEvent),
    /// A thread was put into the queue of a CPU that is not silent, and yet runs an ordinary thread for
    /// another [`SILENCE_NS`].
    HoldsBack(u32),
    /// Silence of a CPU until that time.
    SilenceBegins(u32, u64),
    SilenceEnds(u32),
    /// Request, by its index.
    Sent(usize),
    Served(usize),
    Done(usize),
    Received(usize),
}

pub(crate) fn steps(events: &[KernelEvent], requests: &[Request]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(events.len() + 4 * requests.len());
    let mut last: HashMap<u32, u64> = HashMap::new();
    let mut interrupted: HashMap<u32, usize> = HashMap::new();
    let mut queued: HashMap<u32, Vec<u64>> = HashMap::new();
    for event in events {
        let depth = interrupted.entry(event.cpu).or_default();
        let silence = if *depth > 0 {
            INTERRUPT_SILENCE_NS
        } else {
            SILENCE_NS
        };
        match event.what {
            What::InterruptBegin(Interrupt::Timer | Interrupt::Device(_)) => *depth += 1,
            What::InterruptEnd(Interrupt::Timer | Interrupt::Device(_)) => *depth = depth.saturating_sub(1),
            _ => {}
        }
        let before = last.insert(event.cpu, event.time_ns);
        match event.what {
            What::Woken { cpu, .. } => queued.entry(cpu).or_default().push(event.time_ns),
            What::Switch { previous, .. } => {
                let since = queued.remove(&event.cpu).unwrap_or_default();
                let is_ordinary = previous.thread != 0 && !previous.level.is_realtime();
                let long = since.into_iter().filter(|since| {
                    is_ordinary && Some(*since) < before && event.time_ns - since >= SILENCE_NS
                });
                steps.extend(long.map(|time_ns| Step {
                    time_ns,
                    what: Change::HoldsBack(event.cpu),
                }));
            }
            _ => {}
        }
        if let Some(before) = before.filter(|before| event.time_ns - before >= silence) {
            steps.push(Step {
                time_ns: before,
                what: Change::SilenceBegins(event.cpu, event.time_ns),
            });
            steps.push(Step {
                time_ns: event.time_ns,
                what: Change::SilenceEnds(event.cpu),
            });
        }
        steps.push(Step {
            time_ns: event.time_ns,
            what: Change::Kernel(*event),
        });
    }
    for (place, request) in requests.iter().enumerate() {
        let Some(service) = &request.service else { continue };
        let mut step = |time_ns, what| steps.push(Step { time_ns, what });
        if request.sent_ns < service.served_ns {
            step(request.sent_ns, Change::Sent(place));
        }
        step(service.served_ns, Change::Served(place));
        if let Some(done) = service.done_ns {
            step(done, Change::Done(place));
            if let Some(received) = request.received_ns.filter(|received| *received > done) {
                step(received, Change::Received(place));
            }
        }
    }
    // Stable: simultaneous changes stay in order.
    steps.sort_by_key(|step| step.time_ns);
    steps
}
