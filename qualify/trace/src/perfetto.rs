//! Timeline of a recording, in the JSON trace format that Perfetto (ui.perfetto.dev) and Chrome open.

mod distributable;

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::event::{KernelEvent, What};
use crate::inversion::Analysis;
use crate::report::Names;
use crate::request::Request;
use crate::session::Recorded;

/// Rows without a process.
const CPUS: i64 = 1_000_000_001;
const WAITS: i64 = 1_000_000_002;
const HOLES: i64 = 1_000_000_003;
const DISTRIBUTABLE: i64 = 1_000_000_004;

/// Writes the timeline. Its rows: what each CPU ran; calls and upcalls on their threads, with arrows from
/// request to service and back; a track per distributable thread; inversions; holes.
///
/// # Errors
/// Those of `to`.
pub fn write_timeline(
    recorded: &Recorded,
    analysis: &Analysis,
    names: &Names,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut events = Events {
        to,
        first: true,
        arrows: 0,
    };
    write!(events.to, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for (process, name) in [
        (CPUS, "CPUs"),
        (WAITS, "priority inversions"),
        (HOLES, "withheld by kernel or host"),
        (DISTRIBUTABLE, "distributable threads"),
    ] {
        events.metadata("process_name", process, 0, name)?;
    }
    for (process, name) in recorded.processes() {
        events.metadata("process_name", process.into(), 0, &name)?;
    }
    for thread in &recorded.threads {
        let (process, id) = (thread.process.into(), thread.thread.into());
        events.metadata("thread_name", process, id, &thread.name)?;
    }
    if let Ok(kernel) = &recorded.kernel {
        cpus(&kernel.events, kernel.end_ns, names, &mut events)?;
    }
    for request in &recorded.requests {
        call(request, names, &mut events)?;
    }
    distributable::tracks(&recorded.distributable, names, &mut events)?;
    for inversion in &analysis.inversions {
        let thread = inversion.waiter.thread;
        let name = format!(
            "{} for {}",
            inversion.waiter.state.name(),
            names.who(inversion.culprits[0].who)
        );
        let end = inversion.start_ns + inversion.length_ns;
        events.slice(WAITS, thread.into(), &name, inversion.start_ns, end, json!({}))?;
    }
    let mut waiters: Vec<_> = analysis
        .inversions
        .iter()
        .map(|found| found.waiter.thread)
        .collect();
    waiters.sort_unstable();
    waiters.dedup();
    for thread in waiters {
        events.metadata("thread_name", WAITS, thread.into(), names.thread(thread))?;
    }
    for hole in &analysis.holes {
        let end = hole.start_ns + hole.length_ns;
        let name = format!("{:?}", hole.source);
        events.slice(HOLES, hole.cpu.into(), &name, hole.start_ns, end, json!({}))?;
    }
    write!(events.to, "\n]}}\n")
}

fn cpus(
    kernel: &[KernelEvent],
    end_ns: u64,
    names: &Names,
    events: &mut Events<'_, impl Write>,
) -> io::Result<()> {
    let mut running: HashMap<u32, (u64, crate::event::Task)> = HashMap::new();
    let slice = |cpu: u32, since: u64, task: crate::event::Task, until: u64, events: &mut Events<'_, _>| {
        if task.thread == 0 {
            return Ok(());
        }
        let detail = json!({ "thread": task.thread, "level": task.level.to_string() });
        events.slice(CPUS, cpu.into(), names.thread(task.thread), since, until, detail)
    };
    for event in kernel {
        if let What::Switch { next, .. } = event.what
            && let Some((since, task)) = running.insert(event.cpu, (event.time_ns, next))
        {
            slice(event.cpu, since, task, event.time_ns, events)?;
        }
    }
    for (cpu, (since, task)) in running {
        slice(cpu, since, task, end_ns, events)?;
        events.metadata("thread_name", CPUS, cpu.into(), &format!("CPU {cpu}"))?;
    }
    Ok(())
}

fn call(request: &Request, names: &Names, events: &mut Events<'_, impl Write>) -> io::Result<()> {
    let (process, thread) = (request.client_process.into(), request.client.into());
    let name = names.operation(request.operation);
    let detail = json!({
        "request": request.id,
        "port": request.link.local_port(),
        "priority": request.priority,
    });
    events.slice(process, thread, &name, request.begin_ns, request.end_ns, detail)?;
    let Some(service) = &request.service else {
        return Ok(());
    };
    let (server, lane) = (service.process.into(), service.thread.into());
    let done = service.done_ns.unwrap_or(service.served_ns);
    events.slice(
        server,
        lane,
        &format!("serve {name}"),
        service.served_ns,
        done,
        json!({}),
    )?;
    if let (Some(begin), Some(end)) = (service.upcall_begin_ns, service.upcall_end_ns) {
        events.slice(
            server,
            lane,
            &name,
            begin,
            end,
            json!({ "priority": service.priority }),
        )?;
    }
    events.arrow(
        "request",
        [
            (process, thread, request.sent_ns),
            (server, lane, service.served_ns),
        ],
    )?;
    match request.received_ns {
        Some(received) => events.arrow("request", [(server, lane, done), (process, thread, received)]),
        None => Ok(()),
    }
}

struct Events<'w, W> {
    to: &'w mut W,
    first: bool,
    /// Number of events.
    arrows: usize,
}

impl<W: Write> Events<'_, W> {
    fn write(&mut self, event: &Value) -> io::Result<()> {
        let before = if std::mem::take(&mut self.first) {
            "\n"
        } else {
            ",\n"
        };
        write!(self.to, "{before}{event}")
    }

    fn metadata(&mut self, what: &str, process: i64, thread: i64, name: &str) -> io::Result<()> {
        self.write(&json!({
            "ph": "M", "name": what, "pid": process, "tid": thread, "args": { "name": name },
        }))
    }

    fn slice(
        &mut self,
        process: i64,
        thread: i64,
        name: &str,
        from_ns: u64,
        until_ns: u64,
        detail: Value,
    ) -> io::Result<()> {
        self.write(&json!({
            "ph": "X", "name": name, "pid": process, "tid": thread,
            "ts": microseconds(from_ns), "dur": microseconds(until_ns.saturating_sub(from_ns)), "args": detail,
        }))
    }

    fn instant(&mut self, process: i64, thread: i64, name: &str, time_ns: u64) -> io::Result<()> {
        self.write(&json!({
            "ph": "i", "s": "t", "name": name, "pid": process, "tid": thread, "ts": microseconds(time_ns),
        }))
    }

    fn arrow(&mut self, name: &str, [from, to]: [(i64, i64, u64); 2]) -> io::Result<()> {
        let id = self.arrows;
        self.arrows += 1;
        for (phase, (process, thread, time)) in [("s", from), ("f", to)] {
            self.write(&json!({
                "ph": phase, "bp": "e", "cat": name, "name": name, "id": id,
                "pid": process, "tid": thread, "ts": microseconds(time),
            }))?;
        }
        Ok(())
    }
}

/// Formats microseconds, the unit of the format, with three digits for nanoseconds.
fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Level, Task};
    use crate::kernel::KernelTrace;
    use punctual_flight::Link;

    #[test]
    fn json_has_a_slice_for_each_run_and_call() {
        let task = |thread| Task {
            thread,
            level: Level(10),
        };
        let switch = |time_ns, previous, next| KernelEvent {
            time_ns,
            cpu: 1,
            what: What::Switch {
                previous: task(previous),
                still_runnable: false,
                next: task(next),
            },
        };
        let kernel = KernelTrace {
            events: vec![switch(1_000, 0, 7), switch(3_500, 7, 0), switch(9_000, 0, 8)],
            end_ns: 10_000,
            ..KernelTrace::default()
        };
        let request = Request {
            id: 3,
            link: Link::of_ports(5, 6),
            operation: 0,
            priority: None,
            client: 7,
            client_process: 70,
            begin_ns: 1_100,
            encoded_ns: 1_200,
            sent_ns: 1_300,
            received_ns: Some(3_000),
            end_ns: 3_100,
            failed: false,
            service: None,
        };
        let recorded = Recorded {
            kernel: Ok(kernel),
            threads: Vec::new(),
            requests: vec![request],
            distributable: Vec::new(),
        };
        let mut text = Vec::new();
        write_timeline(&recorded, &Analysis::default(), &Names::default(), &mut text).unwrap();
        let timeline: Value = serde_json::from_slice(&text).unwrap();
        let slices: Vec<(i64, f64, f64)> = timeline["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| {
                let number = |name: &str| event[name].as_f64().unwrap();
                (event["pid"].as_i64().unwrap(), number("ts"), number("dur"))
            })
            .collect();
        assert_eq!(slices, [(CPUS, 1.0, 2.5), (CPUS, 9.0, 1.0), (70, 1.1, 2.0)]);
    }
}
