//! The threads of the client process.

use std::{
    sync::{Barrier, OnceLock},
    time::{Duration, Instant},
};

use punctual::{NativePriority, Orb, PolicyOverrides, Priority, Protocol, ProtocolPolicy, SystemException};
use punctual_harness::Span;
use punctual_os::{Scheduling, clock, scheduling};

use super::task::{Pace, Report, Request, Tolerance, Worker};
use crate::{error::Error, idl::load::bench::LoadRef};

/// A prime whose test takes about a microsecond, for a fine resolution of the load.
const PRIME: u32 = 997;

/// What the workers of a task share.
#[derive(Clone)]
pub(super) struct WorkerContext {
    pub(super) orb: Orb,
    pub(super) load: LoadRef,
    pub(super) rounds: u32,
    pub(super) seconds: f64,
    pub(super) tolerance: Option<Tolerance>,
}

impl WorkerContext {
    /// Runs a worker and returns its report.
    pub(super) fn run(&self, worker: &Worker, start: &Start) -> Result<Report, Error> {
        let payload = match worker.request {
            Request::Work(_) => Vec::new(),
            Request::Octets(octets) => vec![0x5a; octets],
        };
        let call = || {
            let result = match worker.request {
                Request::Work(work) => self.load.method(work, self.rounds, PRIME),
                Request::Octets(_) => self.load.swallow(&payload),
            };
            match result {
                Ok(()) => Ok(true),
                Err(_) if self.tolerance.is_some() => Ok(false),
                Err(error) => Err(error),
            }
        };
        let prepared = self.prepare(worker);
        // After a failure, too: the other workers wait at the barrier.
        let begin = start.together();
        clock::sleep_until(begin.instant);
        prepared?;
        Ok(match worker.pace {
            Pace::Hertz(rate) => paced(begin, rate, self.seconds, call)?,
            Pace::Continuous => continuous(begin, self.seconds, call)?,
        })
    }

    /// Sets the priority and makes a first call, which opens the connection and is not counted.
    fn prepare(&self, worker: &Worker) -> Result<(), Error> {
        if let Some(priority) = worker.priority {
            self.orb.current().set_priority(Priority::new(priority)?)?;
        }
        let first = || self.load.method(1, 1, PRIME);
        let Some(Tolerance { timeout, .. }) = self.tolerance else {
            return Ok(first()?);
        };
        let policies = PolicyOverrides::new().roundtrip_timeout(timeout);
        let policies = policies.client_protocols(ProtocolPolicy::new([Protocol::IIOP]));
        self.orb.current().set_policies(policies);
        let own = scheduling::current();
        if own.is_realtime() {
            // A lane that is busy with others must not keep its client from calling: SCHED_FIFO does not
            // share the CPU among threads of equal priority.
            let priority = NativePriority(own.priority.0 + 1);
            scheduling::set_current(Scheduling { priority, ..own })?;
        }
        // If it fails, the next call opens a connection.
        let _ = first();
        Ok(())
    }
}

/// Calls once in each period. A period in which no call can start because the previous one still runs is
/// missed. Source: TAO's Thread_Pool test; its period 0, which is always missed, is omitted here.
fn paced(
    begin: Begin,
    rate: u32,
    seconds: f64,
    call: impl Fn() -> Result<bool, SystemException>,
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
        let succeeded = call()?;
        let done = clock::monotonic();
        if succeeded {
            report.calls.push(Span::between(now, done));
        } else {
            report.failed += 1;
        }
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
    call: impl Fn() -> Result<bool, SystemException>,
) -> Result<Report, SystemException> {
    let end = begin.clock + Duration::from_secs_f64(seconds);
    let mut report = Report {
        calls: Vec::with_capacity((seconds * 500.0) as usize),
        elapsed_s: seconds,
        ..Report::default()
    };
    loop {
        let called = clock::monotonic();
        if called >= end {
            return Ok(report);
        }
        let succeeded = call()?;
        let done = clock::monotonic();
        if !succeeded {
            report.failed += 1;
        } else if done <= end {
            report.calls.push(Span::between(called, done));
        }
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
            Ok(true)
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
        let report = paced(begin, 20, 0.25, || Ok(true)).unwrap();
        assert_eq!((report.periods, report.calls.len()), (5, 5));
        assert!(report.missed.is_empty());
        assert!(report.elapsed_s >= 0.25);
    }

    #[test]
    fn calls_that_return_after_the_end_do_not_count() {
        let begin = Start::of(1, Duration::ZERO).together();
        let work = || {
            clock::sleep_until(Instant::now() + MS * 30);
            Ok(true)
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
            Ok(calls.get() % 2 == 0)
        };
        let start = Start::of(1, MS * 20);
        let begin = start.together();
        assert!(begin.instant > Instant::now(), "the delay has not passed");
        let report = paced(begin, 200, 0.1, every_other).unwrap();
        assert_eq!((report.calls.len(), report.failed), (10, 10));
    }
}
