use std::time::{Duration, Instant};

use punctual_harness::{
    Child, ChildSpec, Claim, Latencies, Outcome, Progress, Row, Watchdog,
    blocks::{interleave, median_ratio},
    statistics::MedianEstimate,
};
use punctual_os::{
    CpuSet, TaskId,
    perf::{Counter, CounterKind, ProcessCounter},
    process,
};
use punctual_report::Table;

use super::{
    CLIENT_ROLE, Extent, SERVER_ROLE,
    client::{Block, Length, Measured},
    operation::{OPERATIONS, Operation},
    server::Ready,
};
use crate::Error;

/// Which CPUs client and server run on.
pub(super) struct Placement {
    pub(super) name: &'static str,
    pub(super) client: usize,
    pub(super) server: usize,
}

const START: Duration = Duration::from_secs(20);
const BLOCK: Duration = Duration::from_secs(60);

/// Calls or ping-pong, summed over the blocks of one operation.
struct Side {
    latencies: Latencies,
    medians: Vec<f64>,
    calls: u64,
    errors: u64,
    elapsed_ns: u64,
    client_allocations: u64,
    server_allocations: u64,
    bytes: (u32, u32),
}

/// What the kernel counted, per call.
#[derive(Default)]
struct Counted {
    client_syscalls: Option<f64>,
    server_syscalls: Option<f64>,
    context_switches: Option<f64>,
    user_cpu_us: Option<f64>,
}

impl Placement {
    /// Adds a row for each operation and one for the ping-pong, and the claims about them.
    pub(super) fn measure(
        &self,
        extent: Extent,
        progress: &Progress,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        progress.stage(
            format!("{}: starting client and server", self.name),
            Duration::from_secs(1),
        );
        let on = |cpu| CpuSet::single(cpu);
        let (server, ready) = ChildSpec::new("server", SERVER_ROLE)
            .affinity(on(self.server))
            .spawn::<Ready>(START)?;
        let (mut client, ()) = ChildSpec::new("client", CLIENT_ROLE)
            .argument(ready.ior)
            .argument(ready.raw_port.to_string())
            .affinity(on(self.client))
            .spawn(START)?;
        let limit = Duration::from_secs(180 + 8 * extent.cpu_seconds);
        let _watchdog = Watchdog::start(limit, vec![server.killer()?, client.killer()?], &on(self.client))?;

        let realtime = outcome.machine().is_realtime();
        for &operation in OPERATIONS {
            let calls = u64::from(extent.calls_per_block) * extent.rounds as u64;
            progress.stage(
                format!("{}: {}", self.name, operation.name()),
                Duration::from_micros(calls * 80),
            );
            let (ours, raw) = self.blocks(&mut client, operation, extent)?;
            let mut counted = count(&mut client, &server, operation, false, extent)?;
            let ratio = median_ratio(&ours.medians, &raw.medians);
            if operation == Operation::Long {
                let mut raw_counted = count(&mut client, &server, operation, true, extent)?;
                if counted.user_cpu_us.is_none() && extent.cpu_seconds > 0 {
                    let expected = Duration::from_secs(2 * extent.cpu_seconds);
                    progress.stage(format!("{}: processor time", self.name), expected);
                    counted.user_cpu_us = user_cpu(&mut client, &server, operation, false, extent)?;
                    raw_counted.user_cpu_us = user_cpu(&mut client, &server, operation, true, extent)?;
                }
                self.claim_cpu(counted.user_cpu_us, raw_counted.user_cpu_us, outcome);
                outcome.row(self.row("raw", operation, &raw, &raw_counted, None, realtime));
            }
            outcome.row(self.row(operation.name(), operation, &ours, &counted, ratio, realtime));
            self.claim(operation, &ours, &counted, ratio, outcome);
        }
        let reason = "summed over 10 s for each, it is measured for cube_long and the ping-pong only";
        outcome.skip(
            None,
            format!("user_cpu_us_per_call of the other operations, {}", self.name),
            reason,
        );
        client.stop(START)?;
        server.stop(START)?;
        Ok(())
    }

    fn blocks(
        &self,
        client: &mut Child,
        operation: Operation,
        extent: Extent,
    ) -> Result<(Side, Side), Error> {
        let mut ask = |raw, calls| {
            client.ask::<_, Measured>(
                &Block {
                    operation,
                    raw,
                    length: Length::Calls(calls),
                    with_latencies: true,
                },
                BLOCK,
            )
        };
        for raw in [false, true] {
            ask(raw, 2 * extent.calls_per_block)?;
        }
        let blocks = interleave(&[false, true], extent.rounds, |raw, _| {
            ask(raw, extent.calls_per_block)
        })?;
        let mut sides = blocks.into_iter().map(Side::of);
        let (Some(ours), Some(raw)) = (sides.next(), sides.next()) else {
            return Err("no blocks".into());
        };
        Ok((ours, raw))
    }

    fn row(
        &self,
        name: &str,
        operation: Operation,
        side: &Side,
        counted: &Counted,
        ratio: Option<MedianEstimate>,
        realtime: bool,
    ) -> Row {
        let raw = name == "raw";
        // The machine was asked once, at the start: the class is the same for all rows of a run.
        let scheduling_class = if realtime { "SCHED_FIFO" } else { "SCHED_OTHER" };
        let per_call = |count: u64| {
            if raw {
                None
            } else {
                Some(count as f64 / side.calls as f64)
            }
        };
        Row::new()
            .with("transport", "tcp")
            .with("placement", self.name)
            .with("scheduling_class", scheduling_class)
            .with("lane_wait", if raw { "blocking" } else { "polled" })
            .with("operation", name)
            .with("mode", operation.mode())
            .with("calls", side.calls)
            .with("errors", side.errors)
            .with_fields(&side.latencies.summary())
            .with("calls_per_s", side.calls as f64 * 1e9 / side.elapsed_ns as f64)
            .with("p50_over_raw", ratio.as_ref().map(|ratio| ratio.median))
            .with("p50_over_raw_low", ratio.as_ref().map(|ratio| ratio.low))
            .with("p50_over_raw_high", ratio.as_ref().map(|ratio| ratio.high))
            .with("allocations_per_call_client", per_call(side.client_allocations))
            .with("allocations_per_call_server", per_call(side.server_allocations))
            .with("context_switches_per_call", counted.context_switches)
            .with("syscalls_per_call_client", counted.client_syscalls)
            .with("syscalls_per_call_server", counted.server_syscalls)
            .with("user_cpu_us_per_call", counted.user_cpu_us)
            .with("request_octets", side.bytes.0)
            .with("reply_octets", side.bytes.1)
    }

    fn claim(
        &self,
        operation: Operation,
        side: &Side,
        counted: &Counted,
        ratio: Option<MedianEstimate>,
        outcome: &mut Outcome,
    ) {
        let place = self.name;
        let source = "design of the request path";
        if operation == Operation::Long {
            if let Some(ratio) = ratio {
                let text = "p50 of a two-way call with a long over the p50 of the raw ping-pong";
                outcome.claim(Claim::at_most(
                    format!("p50-over-raw.{place}"),
                    text,
                    source,
                    ratio.median,
                    1.15,
                ));
            }
            match (counted.client_syscalls, counted.server_syscalls) {
                (Some(client), Some(server)) => {
                    let text = "system calls per call of the client: one write and one read";
                    outcome.claim(Claim::at_most(
                        format!("client-syscalls.{place}"),
                        text,
                        source,
                        client,
                        2.0,
                    ));
                    let text = "system calls per call of a lane of one thread: wait, read, write";
                    outcome.claim(Claim::at_most(
                        format!("server-syscalls.{place}"),
                        text,
                        source,
                        server,
                        3.0,
                    ));
                }
                _ => {
                    let reason = "the kernel's counter of system calls is not available to this user";
                    outcome.skip(
                        Some(&format!("client-syscalls.{place}")),
                        "system calls per call",
                        reason,
                    );
                    outcome.skip(
                        Some(&format!("server-syscalls.{place}")),
                        "system calls per call",
                        reason,
                    );
                }
            }
        }
        if matches!(
            operation,
            Operation::Long | Operation::String | Operation::LargeLongSequence
        ) {
            let name = operation.name();
            for (side_name, allocations) in [
                ("client", side.client_allocations),
                ("server", side.server_allocations),
            ] {
                let text = format!("heap allocations per call of the {side_name}, {name}, after warm-up");
                let per_call = allocations as f64 / side.calls as f64;
                let id = format!("allocations.{side_name}.{name}.{place}");
                outcome.claim(Claim::at_most(id, text, source, per_call, 0.0));
            }
        }
        if operation != Operation::Oneway {
            let text = format!("results of {} that were not the cube", operation.name());
            let id = format!("errors.{}.{place}", operation.name());
            outcome.claim(Claim::at_most(
                id,
                text,
                "TAO's IDL_Cubit",
                side.errors as f64,
                0.0,
            ));
        }
    }

    fn claim_cpu(&self, ours: Option<f64>, raw: Option<f64>, outcome: &mut Outcome) {
        let id = format!("user-cpu.{}", self.name);
        match (ours, raw) {
            (Some(ours), Some(raw)) => {
                let text = "user CPU per call over the raw ping-pong, client and server together (µs)";
                outcome.claim(Claim::at_most(
                    id,
                    text,
                    "design of the request path",
                    ours - raw,
                    1.5,
                ));
            }
            _ => outcome.skip(
                Some(&id),
                "user CPU per call",
                "the processes' times could not be read",
            ),
        }
    }
}

impl Side {
    fn of(blocks: Vec<Measured>) -> Self {
        let mut side = Self {
            latencies: Latencies::new(),
            medians: Vec::new(),
            calls: 0,
            errors: 0,
            elapsed_ns: 0,
            client_allocations: 0,
            server_allocations: 0,
            bytes: (0, 0),
        };
        for block in blocks {
            if let Some(latencies) = &block.latencies {
                side.medians.extend(latencies.quantile_us(0.5));
                side.latencies.merge(latencies);
            }
            side.calls += block.calls;
            side.errors += block.errors;
            side.elapsed_ns += block.elapsed_ns;
            side.client_allocations += block.client_allocations;
            side.server_allocations += block.server_allocations;
            side.bytes = (block.sizes.request, block.sizes.reply);
        }
        side
    }
}

/// Counts in passes of their own, because counting costs time: N calls and 2N calls, so that what is not the calls' cancels out.
fn count(
    client: &mut Child,
    server: &Child,
    operation: Operation,
    raw: bool,
    extent: Extent,
) -> Result<Counted, Error> {
    let (client_id, server_id) = (client.id(), server.id());
    let calls = 4 * extent.calls_per_block;
    let mut pass = |calls| -> Result<(), Error> {
        client.ask::<_, Measured>(
            &Block {
                operation,
                raw,
                length: Length::Calls(calls),
                with_latencies: false,
            },
            BLOCK,
        )?;
        Ok(())
    };
    let mut differences = |read: &dyn Fn() -> std::io::Result<u64>| -> Result<f64, Error> {
        let start = read()?;
        pass(calls)?;
        let middle = read()?;
        pass(2 * calls)?;
        let end = read()?;
        let difference = (end - middle) as f64 - (middle - start) as f64;
        Ok(difference / f64::from(calls))
    };
    let mut counted = Counted::default();
    for (process, result) in [
        (client_id, &mut counted.client_syscalls),
        (server_id, &mut counted.server_syscalls),
    ] {
        if let Ok(counter) = ProcessCounter::open(process, CounterKind::Syscalls) {
            counter.enable()?;
            *result = Some(differences(&|| counter.read())?);
        }
    }
    if let (Some(rate), Ok(of_client), Ok(of_server)) = (
        cycles_per_us(),
        ProcessCounter::open(client_id, CounterKind::UserCycles),
        ProcessCounter::open(server_id, CounterKind::UserCycles),
    ) {
        of_client.enable()?;
        of_server.enable()?;
        let cycles = differences(&|| Ok(of_client.read()? + of_server.read()?))?;
        counted.user_cpu_us = Some(cycles / rate);
    }
    let switches = || {
        let of = |process| process::context_switches(process).map(|switches| switches.total());
        Ok(of(client_id)? + of(server_id)?)
    };
    counted.context_switches = Some(differences(&switches)?);
    Ok(counted)
}

/// Cycles that this machine makes in a µs of user mode; `None` where they cannot be counted, as in most virtual machines.
fn cycles_per_us() -> Option<f64> {
    let counter = Counter::user_cycles(TaskId::current_thread(), false).ok()?;
    counter.enable().ok()?;
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let cycles = counter.read().ok().filter(|cycles| *cycles > 0)?;
    Some(cycles as f64 / start.elapsed().as_micros() as f64)
}

/// User time of both processes per call, in µs, summed over seconds because the tick samples it coarsely.
fn user_cpu(
    client: &mut Child,
    server: &Child,
    operation: Operation,
    raw: bool,
    extent: Extent,
) -> Result<Option<f64>, Error> {
    let processes = [client.id(), server.id()];
    let Some(before) = user_ticks(&processes) else {
        return Ok(None);
    };
    let length = Length::Seconds(extent.cpu_seconds);
    let measured: Measured = client.ask(
        &Block {
            operation,
            raw,
            length,
            with_latencies: false,
        },
        BLOCK + Duration::from_secs(extent.cpu_seconds),
    )?;
    let Some(after) = user_ticks(&processes) else {
        return Ok(None);
    };
    let seconds = (after - before) as f64 / rustix::param::clock_ticks_per_second() as f64;
    Ok(Some(seconds * 1e6 / measured.calls as f64))
}

/// `utime` of `/proc/PID/stat`, summed.
fn user_ticks(processes: &[TaskId]) -> Option<u64> {
    let ticks = |process: &TaskId| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name, in parentheses, may hold anything; 12 fields follow it up to `utime`.
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(11)?.parse::<u64>().ok()
    };
    processes.iter().map(ticks).sum()
}

const COLUMNS: &[(&str, &str)] = &[
    ("placement", "placement"),
    ("operation", "operation"),
    ("p50_us", "p50 (µs)"),
    ("p99_us", "p99 (µs)"),
    ("p999_us", "p99.9 (µs)"),
    ("p50_over_raw", "p50 / raw"),
    ("p50_over_raw_low", "from"),
    ("p50_over_raw_high", "to"),
    ("allocations_per_call_client", "alloc. client"),
    ("allocations_per_call_server", "alloc. server"),
    ("syscalls_per_call_client", "syscalls client"),
    ("syscalls_per_call_server", "syscalls server"),
    ("user_cpu_us_per_call", "user CPU (µs)"),
];

fn table(outcome: &Outcome) -> Table {
    Table::of(outcome.rows().iter().map(Row::as_map)).columns(COLUMNS)
}

/// Prints the rows.
pub(super) fn print(outcome: &Outcome) {
    println!("{}", table(outcome).to_text());
}

/// The page: the rows, and what they say.
pub(super) fn html(outcome: &Outcome) -> Result<String, Error> {
    let page = crate::report::page("What a call costs: bench cubit", outcome)?
        .section("Latency beside a raw TCP ping-pong of the same octets")
        .paragraph("Blocks of calls and of ping-pong alternate; the ratio is the median over pairs of blocks, with its 95 % confidence interval.")
        .table(&table(outcome));
    Ok(page.to_html())
}
