//! The threads of the client process.

use std::{
    sync::{Barrier, OnceLock},
    time::{Duration, Instant},
};

use punctual::{
    Completion, NativePriority, Orb, PolicyOverrides, Priority, Protocol, ProtocolPolicy, SystemException,
    SystemExceptionKind,
};
use punctual_harness::Span;
use punctual_os::{Scheduling, TaskId, clock, scheduling};
use punctual_system::ContextSwitches;

use super::{
    pacing::Pacing,
    slices::Slices,
    task::{Pace, Report, Request, Tolerance, Worker},
};
use crate::{
    cubit::{
        cube::cube,
        raw::{RawAddress, RawClient, Sizes},
        transport::Transport,
    },
    error::Error,
    idl::load::bench::LoadRef,
};

/// A prime whose test takes about a microsecond, for a fine resolution of the load.
const PRIME: u32 = 997;
/// An upper bound on the calls per second of a pausing worker.
const MOST_HZ: u32 = 100_000;

/// The environment of a worker.
pub(super) struct WorkerContext {
    pub(super) orb: Orb,
    pub(super) load: LoadRef,
    pub(super) ping_pong: Option<RawAddress>,
    /// The server whose context switches it counts. The first worker does this: it is the most important one,
    /// so no other worker calls before it.
    pub(super) watched: Option<TaskId>,
    pub(super) rounds: u32,
    pub(super) seconds: f64,
    pub(super) tolerance: Option<Tolerance>,
}

impl WorkerContext {
    /// Runs a worker; returns its report, and the context switches of the server.
    pub(super) fn run(&self, worker: &Worker, start: &Start) -> Result<(Report, u64), Error> {
        let payload = match worker.request {
            Request::Octets(octets) => vec![0x5a; octets],
            Request::Work(_) | Request::Cube | Request::PingPong => Vec::new(),
        };
        let prepared = self.prepare(worker);
        // After a failure, too: the other workers wait at the barrier.
        let begin = start.together().after(worker.begins_after);
        clock::sleep_until(begin.instant);
        let mut ping_pong = prepared?;
        let mut argument = 0_u8;
        let call = || {
            let result = match worker.request {
                Request::Work(work) => self.load.method(work, self.rounds, PRIME).map(|()| true),
                Request::Octets(_) => self.load.swallow(&payload).map(|()| true),
                Request::Cube => {
                    argument = argument.wrapping_add(1);
                    self.load
                        .cube_octet(argument)
                        .map(|result| result == cube(argument))
                }
                Request::PingPong => ping_pong
                    .as_mut()
                    .map_or(Ok(false), |it| exchange(it).map(|()| true)),
            };
            match result {
                Ok(true) => Ok(Called::Right),
                Ok(false) => Ok(Called::Wrong),
                Err(_) if self.tolerance.is_some() => Ok(Called::Failed),
                Err(error) => Err(error),
            }
        };
        let of_server_before = self.switches_of_server()?;
        let before = ContextSwitches::of_current_thread().total();
        let report = match worker.pace {
            Pace::Hertz(rate) => paced(begin, rate, self.seconds, call)?,
            Pace::Continuous => continuous(begin, self.seconds, call)?,
            Pace::Pausing { hz, slices } => pausing(begin, hz, slices, self.seconds, call)?,
            Pace::Spinning { evicts } => spinning(begin, self.seconds, evicts),
        };
        let report = Report {
            context_switches: ContextSwitches::of_current_thread().total() - before,
            thread: TaskId::current_thread().get(),
            ..report
        };
        Ok((report, self.switches_of_server()? - of_server_before))
    }

    fn switches_of_server(&self) -> Result<u64, Error> {
        let switches = self.watched.map(ContextSwitches::of_process).transpose()?;
        Ok(switches.map_or(0, |switches| switches.total()))
    }

    /// Sets the priority and makes a first call, which opens the connection and is not counted. Returns the
    /// connection of a ping-pong.
    fn prepare(&self, worker: &Worker) -> Result<Option<RawClient>, Error> {
        for &priority in &worker.visits {
            self.orb.current().set_priority(Priority::new(priority)?)?;
            self.load.method(1, 1, PRIME)?;
        }
        if let Some(priority) = worker.priority {
            self.orb.current().set_priority(Priority::new(priority)?)?;
        }
        if matches!(worker.pace, Pace::Spinning { .. }) {
            return Ok(None);
        }
        if worker.request == Request::PingPong {
            let address = self.ping_pong.as_slice();
            let mut ping_pong = RawClient::connect(Transport::Tcp, address, SIZES)?;
            ping_pong.exchange()?;
            return Ok(Some(ping_pong));
        }
        let first = || match worker.request {
            Request::Cube => self.load.cube_octet(0).map(|_| ()),
            Request::Work(_) | Request::Octets(_) | Request::PingPong => self.load.method(1, 1, PRIME),
        };
        let Some(Tolerance { timeout, .. }) = self.tolerance else {
            first()?;
            return Ok(None);
        };
        let policies = PolicyOverrides::new().roundtrip_timeout(timeout);
        let policies = policies.client_protocols(ProtocolPolicy::new([Protocol::IIOP]));
        self.orb.current().add_policies(policies);
        let own = scheduling::current();
        if own.is_realtime() {
            // A lane that is busy with others must not keep its client from calling: SCHED_FIFO does not
            // share the CPU among threads of equal priority.
            let priority = NativePriority(own.priority.0 + 1);
            scheduling::set_current(Scheduling { priority, ..own })?;
        }
        // If it fails, the next call opens a connection.
        let _ = first();
        Ok(None)
    }
}

/// In the order of the messages of [`Request::Cube`].
const SIZES: Sizes = Sizes {
    request: 112,
    reply: 48,
};

fn exchange(ping_pong: &mut RawClient) -> Result<(), SystemException> {
    let failed = |_| SystemException::new(SystemExceptionKind::CommFailure, 0, Completion::Maybe);
    ping_pong.exchange().map_err(failed)
}

/// Calls once in each period. A period in which no call can start because the previous one still runs is
/// missed. Source: TAO's Thread_Pool test; its period 0, which is always missed, is omitted here.
fn paced(
    begin: Begin,
    rate: u32,
    seconds: f64,
    mut call: impl FnMut() -> Result<Called, SystemException>,
) -> Result<Report, SystemException> {
    let period = Duration::from_secs(1) / rate;
    let periods = (f64::from(rate) * seconds) as u32;
    let room = periods as usize;
    let mut report = Report {
        periods,
        calls: Vec::with_capacity(room),
        missed: Vec::with_capacity(room),
        late: Vec::with_capacity(room),
        ..Report::default()
    };
    let mut last_start = begin.clock;
    for number in 1..=periods {
        let end = begin.clock + period * number;
        let now = clock::monotonic();
        if now > end {
            report
                .missed
                .push(Span::between(blame_start(last_start, end, period), end));
            continue;
        }
        let called = call()?;
        let done = clock::monotonic();
        report.add(called, Span::between(now, done));
        last_start = now;
        if done > end {
            report.late.push(Span::between(now, end));
        } else {
            clock::sleep_until(begin.instant + period * number);
        }
    }
    report.elapsed_s = begin.instant.elapsed().as_secs_f64();
    Ok(report)
}

/// Returns the time from which a hole explains that no call could start in the period that ends at `end`: the
/// start of the call that was still running, or that of this period if it is earlier; but at most one period
/// before, so that one hole does not excuse a client that starves for seconds.
fn blame_start(last_start: Duration, end: Duration, period: Duration) -> Duration {
    let release = end.saturating_sub(period);
    last_start.clamp(release.saturating_sub(period), release)
}

/// Calls continuously until the time is over, and counts the calls that have returned by then.
fn continuous(
    begin: Begin,
    seconds: f64,
    mut call: impl FnMut() -> Result<Called, SystemException>,
) -> Result<Report, SystemException> {
    let end = begin.clock + Duration::from_secs_f64(seconds);
    let mut report = Report {
        calls: Vec::with_capacity((seconds * 500.0) as usize),
        elapsed_s: seconds,
        ..Report::default()
    };
    loop {
        let began = clock::monotonic();
        if began >= end {
            return Ok(report);
        }
        let called = call()?;
        let done = clock::monotonic();
        if called == Called::Failed || done <= end {
            report.add(called, Span::between(began, done));
        }
    }
}

/// Calls, pauses, and calls again until the time is over; only within the slices, if there are any. Source:
/// TAO's MT_Cubit.
fn pausing(
    begin: Begin,
    hz: u32,
    slices: Option<Slices>,
    seconds: f64,
    mut call: impl FnMut() -> Result<Called, SystemException>,
) -> Result<Report, SystemException> {
    let over = begin.instant + Duration::from_secs_f64(seconds);
    let mut report = Report {
        calls: Vec::with_capacity((f64::from(hz.min(MOST_HZ)) * seconds * 1.1) as usize + 16),
        elapsed_s: seconds,
        ..Report::default()
    };
    let mut pacing = Pacing::of_rate(f64::from(hz));
    loop {
        if let Some(slices) = slices {
            let next = begin.instant + slices.next_with_others(begin.instant.elapsed());
            clock::sleep_until(over.min(next));
        }
        if Instant::now() >= over {
            return Ok(report);
        }
        let began = clock::monotonic();
        let called = call()?;
        let done = clock::monotonic();
        report.add(called, Span::between(began, done));
        let pause = pacing.pause(done - began);
        if !pause.is_zero() {
            clock::sleep_until(over.min(Instant::now() + pause));
            report.pauses += 1;
        }
    }
}

/// Uses the CPU whenever nothing else does, until the time is over.
fn spinning(begin: Begin, seconds: f64, evicts: bool) -> Report {
    let over = begin.instant + Duration::from_secs_f64(seconds);
    let mut memory = vec![0_u8; if evicts { MORE_THAN_CACHES } else { 0 }];
    while Instant::now() < over {
        // Each cache line, in parts of about 100 µs, after which the time is asked for.
        for part in memory.chunks_mut(1 << 18).take_while(|_| Instant::now() < over) {
            part.iter_mut()
                .step_by(64)
                .for_each(|octet| *octet = octet.wrapping_add(1));
        }
        std::hint::spin_loop();
    }
    std::hint::black_box(&memory);
    Report {
        elapsed_s: seconds,
        ..Report::default()
    }
}

/// Octets: more than the last level of a CPU's caches has.
const MORE_THAN_CACHES: usize = 64 << 20;

/// How a call ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Called {
    Right,
    /// Calls with a wrong result.
    Wrong,
    Failed,
}

impl Report {
    fn add(&mut self, called: Called, call: Span) {
        match called {
            Called::Failed => self.failed += 1,
            Called::Right | Called::Wrong => self.calls.push(call),
        }
        self.wrong += u64::from(called == Called::Wrong);
    }
}

/// The common start of the workers, from which their periods count, even if a starved worker sees it late.
pub(super) struct Start {
    barrier: Barrier,
    delay: Duration,
    at: OnceLock<Begin>,
}

/// The start on both clocks.
#[derive(Clone, Copy)]
pub(super) struct Begin {
    pub(super) instant: Instant,
    pub(super) clock: Duration,
}

impl Begin {
    fn after(self, delay: Duration) -> Self {
        Self {
            instant: self.instant + delay,
            clock: self.clock + delay,
        }
    }
}

impl Start {
    /// Creates the start of this many workers, `delay` after all of them are ready.
    pub(super) fn of(workers: usize, delay: Duration) -> Self {
        Self {
            barrier: Barrier::new(workers),
            delay,
            at: OnceLock::new(),
        }
    }

    fn together(&self) -> Begin {
        self.barrier.wait();
        self.at()
    }

    pub(super) fn at(&self) -> Begin {
        let now = || Begin {
            instant: Instant::now() + self.delay,
            clock: clock::monotonic() + self.delay,
        };
        *self.at.get_or_init(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_hole_explains_a_missed_period_from_the_running_call_on() {
        // Periods of 10 ms; the one that ends at 50 ms was released at 40 ms.
        let blamed = |last_start| blame_start(last_start, MS * 50, MS * 10);
        assert_eq!(blamed(MS * 35), MS * 35, "the previous call was still running");
        assert_eq!(blamed(MS * 41), MS * 40, "the period's release was earlier");
        assert_eq!(
            blamed(MS * 2),
            MS * 30,
            "a starving client is excused for one period only"
        );
        assert_eq!(blame_start(Duration::ZERO, MS * 10, MS * 10), Duration::ZERO);
    }

    #[test]
    fn a_slow_client_misses_periods_and_is_late() {
        let begin = Start::of(1, Duration::ZERO).together();
        let work = || {
            clock::sleep_until(Instant::now() + MS * 15);
            Ok(Called::Right)
        };
        let report = paced(begin, 100, 0.3, work).unwrap();
        assert_eq!(report.periods, 30);
        assert_eq!(report.calls.len() + report.missed.len(), 30);
        assert!(!report.missed.is_empty() && !report.late.is_empty());
        assert!(report.late.len() <= report.calls.len());
        assert!(report.late.iter().all(|late| late.end_ns > late.start_ns));
    }

    #[test]
    fn a_client_with_time_to_spare_keeps_its_pace() {
        let begin = Start::of(1, Duration::ZERO).together();
        // Periods so long that a loaded machine does not miss one either.
        let report = paced(begin, 4, 1.0, || Ok(Called::Right)).unwrap();
        assert_eq!((report.periods, report.calls.len()), (4, 4));
        assert!(report.missed.is_empty());
        assert!(report.elapsed_s >= 1.0);
    }

    #[test]
    fn calls_that_return_after_the_end_do_not_count() {
        let begin = Start::of(1, Duration::ZERO).together();
        let work = || {
            clock::sleep_until(Instant::now() + MS * 30);
            Ok(Called::Right)
        };
        let report = continuous(begin, 0.05, work).unwrap();
        assert!(report.calls.len() <= 1, "{report:?}");
        assert_eq!(report.periods, 0);
    }
    #[test]
    fn failed_calls_are_counted_and_are_no_calls() {
        let calls = std::cell::Cell::new(0);
        let every_other = || {
            calls.set(calls.get() + 1);
            Ok(if calls.get() % 2 == 0 {
                Called::Right
            } else {
                Called::Failed
            })
        };
        let start = Start::of(1, MS * 20);
        let begin = start.together();
        assert!(begin.instant > Instant::now(), "the delay has not passed");
        let report = paced(begin, 200, 0.1, every_other).unwrap();
        let failed = report.failed as usize;
        assert_eq!(report.calls.len() + failed + report.missed.len(), 20);
        assert!(report.calls.len().abs_diff(failed) <= 1, "{report:?}");
    }

    #[test]
    fn a_pausing_client_calls_in_its_slices_only_and_wrong_results_are_counted() {
        let slices = Slices { length: MS * 40 };
        let begin = Start::of(1, Duration::ZERO).together();
        let wrong = || Ok(Called::Wrong);
        let report = pausing(begin, 200, Some(slices), 0.08, wrong).unwrap();
        assert!(!report.calls.is_empty() && report.calls.len() <= 9, "{report:?}");
        assert_eq!(report.wrong, report.calls.len() as u64);
        let second_slice = (begin.clock + MS * 40).as_nanos() as u64;
        assert!(
            report.calls.iter().all(|call| call.start_ns >= second_slice),
            "{report:?}"
        );
        let always = pausing(begin, 200, None, 0.08, wrong).unwrap();
        assert!(always.calls.is_empty(), "its time is over");
    }
}
