//! Counts by the kernel and the processor, in separate passes.

use std::time::{Duration, Instant};

use punctual_harness::child::Process;
use punctual_os::TaskId;
use punctual_system::{
    ContextSwitches,
    perf::{Counter, CounterKind, ProcessCounter},
};

use super::{
    Extent,
    client::{BLOCK_TIMEOUT, Block, Caller, Kind, Length},
    operation::Operation,
    server::Server,
};
use crate::error::Error;

/// Counts per call; `None` if they are not available.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) client_syscalls: Option<f64>,
    pub(super) server_syscalls: Option<f64>,
    pub(super) context_switches: Option<f64>,
    pub(super) user_cpu_us: Option<f64>,
}

/// Counts in separate passes, because counting costs time: N calls and 2N calls, so that the overhead cancels
/// out.
pub(super) fn count(
    client: &mut Process<Caller>,
    server: &Process<Server>,
    operation: Operation,
    kind: Kind,
    extent: Extent,
) -> Result<Counted, Error> {
    let (client_id, server_id) = (client.id(), server.id());
    let calls = 4 * extent.calls_per_block;
    let mut pass = |calls| -> Result<(), Error> {
        client.perform(
            &Block {
                operation,
                kind,
                length: Length::Calls(calls),
                with_latencies: false,
            },
            BLOCK_TIMEOUT,
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
        let of = |process| ContextSwitches::of_process(process).map(|switches| switches.total());
        Ok(of(client_id)? + of(server_id)?)
    };
    counted.context_switches = Some(differences(&switches)?);
    Ok(counted)
}

/// Measures the cycles per µs of user mode; `None` if they cannot be counted, as in most virtual machines.
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

/// The number of alternating slices, so that temporary disturbances affect both kinds.
const CPU_SLICES: u64 = 6;

/// Returns the user time of both processes per call, in µs, for each kind; summed over many seconds, because
/// the kernel samples it at each tick.
pub(super) fn user_cpu<const KINDS: usize>(
    client: &mut Process<Caller>,
    server: &Process<Server>,
    operation: Operation,
    kinds: [Kind; KINDS],
    extent: Extent,
) -> Result<[Option<f64>; KINDS], Error> {
    let processes = [client.id(), server.id()];
    let slice = extent.cpu_seconds.div_ceil(CPU_SLICES);
    let mut sums = [(0, 0); KINDS];
    for _ in 0..CPU_SLICES {
        for (kind, (ticks, calls)) in kinds.into_iter().zip(&mut sums) {
            let Some(before) = user_ticks(&processes) else {
                return Ok([None; KINDS]);
            };
            let block = Block {
                operation,
                kind,
                length: Length::Seconds(slice),
                with_latencies: false,
            };
            let measured = client.perform(&block, BLOCK_TIMEOUT + Duration::from_secs(slice))?;
            let Some(after) = user_ticks(&processes) else {
                return Ok([None; KINDS]);
            };
            *ticks += after - before;
            *calls += measured.calls;
        }
    }
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    Ok(sums.map(|(ticks, calls)| Some(ticks as f64 / per_second * 1e6 / calls as f64)))
}

/// Returns the sum of `utime` in `/proc/PID/stat`.
fn user_ticks(processes: &[TaskId]) -> Option<u64> {
    let ticks = |process: &TaskId| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name, in parentheses, may contain any character; `utime` is the 12th field after it.
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(11)?.parse::<u64>().ok()
    };
    processes.iter().map(ticks).sum()
}
