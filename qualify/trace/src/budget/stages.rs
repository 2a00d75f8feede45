//! Division of a call into spans, by its flight records and the wake-ups of its threads.

use super::{Span, Stage};
use crate::event::{KernelEvent, ThreadId, What};
use crate::request::{Request, Service};

/// Returns the spans of a call, without parts.
pub(super) fn of(place: usize, requests: &[Request], events: &[KernelEvent]) -> Vec<Span> {
    let request = &requests[place];
    let mut way = Cutter {
        now_ns: request.begin_ns,
        end_ns: request.end_ns,
        spans: Vec::new(),
    };
    let client = request.client;
    way.until(request.encoded_ns, Stage::Encode, client);
    match &request.service {
        None => {
            way.until(request.sent_ns, Stage::Send, client);
            way.until(request.received_ns.unwrap_or(0), Stage::Unrecorded, client);
        }
        Some(service) => {
            let free_ns = free_since(place, requests, service);
            way.serve(request, service, free_ns, events);
        }
    }
    let last = match request.received_ns {
        Some(_) => Stage::Result,
        None => Stage::NoReply,
    };
    way.until(request.end_ns, last, client);
    way.spans
}

/// Returns when the thread finished its previous request, if that was while this one was in transit.
fn free_since(place: usize, requests: &[Request], service: &Service) -> u64 {
    let before = requests.iter().enumerate().filter_map(|(other, request)| {
        let served = request.service.as_ref()?;
        let earlier =
            other != place && served.thread == service.thread && served.served_ns < service.served_ns;
        served
            .done_ns
            .filter(|done| earlier && *done <= service.served_ns)
    });
    before.max().unwrap_or(0)
}

struct Cutter {
    now_ns: u64,
    end_ns: u64,
    spans: Vec<Span>,
}

impl Cutter {
    /// Advances to a time; if records of two CPUs cross, it does not go back.
    fn until(&mut self, time_ns: u64, stage: Stage, thread: ThreadId) {
        let until = time_ns.clamp(self.now_ns, self.end_ns);
        if until > self.now_ns {
            self.spans.push(Span {
                stage,
                thread,
                start_ns: self.now_ns,
                length_ns: until - self.now_ns,
                parts: Vec::new(),
            });
            self.now_ns = until;
        }
    }

    /// Interval from encoding to reading the reply; without one, to the end of the service.
    fn serve(&mut self, request: &Request, service: &Service, free_ns: u64, events: &[KernelEvent]) {
        let (client, server) = (request.client, service.thread);
        // A lane thread that blocks in a read does not record its wake-up.
        let says_so = service.taken_ns > request.encoded_ns;
        let seen = if says_so {
            service.taken_ns
        } else {
            service.read_ns.unwrap_or(service.served_ns)
        };
        let woken = woken(events, server, free_ns.max(request.encoded_ns), seen);
        self.until(
            request.sent_ns.min(woken.unwrap_or(seen)).min(seen),
            Stage::Send,
            client,
        );
        if let Some(woken) = woken {
            self.until(woken, Stage::Lane, server);
            let runs = (!says_so).then(|| runs(events, server, woken, seen)).flatten();
            self.until(runs.unwrap_or(seen), Stage::WakeUp, server);
        } else {
            self.until(seen, Stage::Lane, server);
        }
        if let Some(read) = service.read_ns {
            self.until(read, Stage::Read, server);
        }
        let left_servant = match (service.upcall_begin_ns, service.upcall_end_ns) {
            (Some(begin), Some(end)) => {
                self.until(begin, Stage::Decode, server);
                self.until(end, Stage::Upcall, server);
                end
            }
            (Some(begin), None) => {
                self.until(begin, Stage::Decode, server);
                // The call failed before its servant returned.
                if request.received_ns.is_none() {
                    self.until(request.end_ns, Stage::Upcall, server);
                }
                begin
            }
            (None, _) => {
                self.until(service.served_ns, Stage::Decode, server);
                service.served_ns
            }
        };
        let answered = request
            .received_ns
            .and_then(|received| self::woken(events, client, left_servant, received));
        let received = request.received_ns.unwrap_or(request.end_ns);
        let left = [service.done_ns, answered].into_iter().flatten();
        let left = left.fold(received, u64::min);
        if service.upcall_begin_ns.is_none() {
            self.until(left, Stage::NoUpcall, server);
        }
        self.until(left, Stage::Reply, server);
        if request.received_ns.is_some() {
            self.until(received, Stage::ReplyWakeUp, client);
        }
    }
}

/// Returns when the kernel last started to wake a thread within an interval.
fn woken(events: &[KernelEvent], thread: ThreadId, from: u64, to: u64) -> Option<u64> {
    let wakes =
        |event: &&KernelEvent| matches!(event.what, What::Waking { task, .. } if task.thread == thread);
    within(events, from, to)
        .iter()
        .rev()
        .find(wakes)
        .map(|event| event.time_ns)
}

/// Returns when a thread first got a CPU within an interval.
fn runs(events: &[KernelEvent], thread: ThreadId, from: u64, to: u64) -> Option<u64> {
    let begins =
        |event: &&KernelEvent| matches!(event.what, What::Switch { next, .. } if next.thread == thread);
    within(events, from, to)
        .iter()
        .find(begins)
        .map(|event| event.time_ns)
}

fn within(events: &[KernelEvent], from: u64, to: u64) -> &[KernelEvent] {
    let first = events.partition_point(|event| event.time_ns < from);
    let last = events.partition_point(|event| event.time_ns <= to);
    &events[first..last.max(first)]
}
