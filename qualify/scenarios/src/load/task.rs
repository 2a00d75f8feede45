//! Tasks that the driver sends to the client process, and its reports.

use std::time::Duration;

use punctual_harness::Span;
use serde::{Deserialize, Serialize};

use super::slices::Slices;

/// Clients that start together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Task {
    /// Index of the server's pool.
    pub(super) pool: usize,
    /// Rounds per unit of work.
    pub(super) rounds: u32,
    pub(super) seconds: f64,
    pub(super) workers: Vec<Worker>,
    /// `None`: a failed call ends the task with its error.
    pub(super) tolerance: Option<Tolerance>,
}

/// How workers treat a server that others attack: they call over IIOP, one native priority above that of
/// their lane, and count failed calls.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Tolerance {
    /// Time between the first call of each worker, which opens its connection, and the first counted one.
    pub(crate) delay: Duration,
    /// Timeout of a call.
    pub(crate) timeout: Duration,
}

/// One thread of the client process.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Worker {
    pub(crate) name: String,
    /// CORBA priority; without one the thread stays in the default scheduling class, and its calls carry no
    /// priority.
    pub(crate) priority: Option<i16>,
    pub(crate) pace: Pace,
    /// Time from the common start of all workers to its own.
    pub(crate) begins_after: Duration,
    pub(crate) request: Request,
    /// Index of the servant in the task's pool.
    pub(crate) servant: usize,
    /// Whether it has a connection of its own.
    pub(crate) private_connection: bool,
    /// Other priorities at which it calls once before it begins, so that it has the connections for them.
    pub(crate) visits: Vec<i16>,
}

impl Worker {
    /// Makes each of its calls more expensive by this many units of work.
    pub(crate) fn add_work(&mut self, units: u32) {
        if let Request::Work(work) = &mut self.request {
            *work += units;
        }
    }
}

impl Worker {
    /// Changes the calls per second of a worker that pauses.
    pub(crate) fn change_rate(&mut self, to: impl Fn(u32) -> u32) {
        if let Pace::Pausing { hz, .. } = &mut self.pace {
            *hz = to(*hz);
        }
    }
}

/// When a worker calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Pace {
    /// Once in each period; the number of periods per second.
    Hertz(u32),
    /// Calls as soon as the previous one has returned.
    #[default]
    Continuous,
    /// With a pause after each call, such that there are this many calls per second, as in MT_Cubit.
    Pausing {
        /// Calls per second.
        hz: u32,
        /// The slices in which it calls; `None`: always.
        slices: Option<Slices>,
    },
    /// It does not call, but keeps the CPU from idling.
    Spinning {
        /// Whether it also fills the caches with its own data.
        evicts: bool,
    },
}

/// Request of a worker to the servant.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Request {
    /// Units of work.
    Work(u32),
    /// A request of this many octets.
    Octets(usize),
    /// The cube of an octet. It is checked.
    Cube,
    /// No call: a ping-pong over TCP with a thread of the server, as
    /// [`ServerSpec::ping_pong`](super::ServerSpec::ping_pong) states.
    PingPong,
}

impl Default for Request {
    fn default() -> Self {
        Self::Work(0)
    }
}

/// The result of a task.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct TaskResult {
    /// In the order of the task's workers.
    pub(crate) reports: Vec<Report>,
    /// Time from the common start to the end of the last worker.
    pub(crate) span: Span,
    /// Context switches of all threads of the server, from the start to the end of the first worker, if its
    /// pace is [`Pace::Pausing`].
    pub(crate) server_context_switches: u64,
}

/// The report of one worker.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Report {
    /// Number of its periods; 0 for a continuous worker.
    pub(crate) periods: u32,
    /// Its calls, from sending to return; of a continuous worker, those that returned in time.
    pub(crate) calls: Vec<Span>,
    /// Calls that failed; not in `calls`.
    pub(crate) failed: u32,
    /// Calls with a wrong result.
    pub(crate) wrong: u64,
    /// Pauses between calls.
    pub(crate) pauses: u64,
    /// Context switches of its thread.
    pub(crate) context_switches: u64,
    /// The kernel's id of its thread.
    pub(crate) thread: i32,
    /// The periods in which no call could start: for each, the span in which a hole would explain it.
    pub(crate) missed: Vec<Span>,
    /// The calls that started in their period and returned after it: from the start of the call to the end of
    /// the period.
    pub(crate) late: Vec<Span>,
    /// Time from the common start to its end, in seconds.
    pub(crate) elapsed_s: f64,
}

impl Report {
    /// Returns the calls per second from the end of the first call to that of the last; `None` with fewer
    /// than two.
    pub(super) fn calls_per_second(&self) -> Option<f64> {
        let (first, last) = self.calls.first().zip(self.calls.last())?;
        let seconds = last.end_ns.checked_sub(first.end_ns).filter(|time| *time > 0)? as f64 / 1e9;
        Some((self.calls.len() - 1) as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_per_second_are_counted_between_ends_of_calls() {
        let report = |ends: &[u64]| Report {
            calls: ends.iter().map(|&end_ns| Span { start_ns: 0, end_ns }).collect(),
            ..Report::default()
        };
        let three = report(&[1_000_000_000, 1_500_000_000, 2_000_000_000]);
        assert_eq!(three.calls_per_second(), Some(2.0));
        assert_eq!(report(&[1_000_000_000]).calls_per_second(), None);
        assert_eq!(report(&[]).calls_per_second(), None);
    }
}
