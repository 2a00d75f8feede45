//! What the driver asks of the client process, and what it answers.

use punctual_harness::Span;
use serde::{Deserialize, Serialize};

/// Clients that start together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Task {
    /// Behind which of the server's pools the servant is.
    pub(super) pool: usize,
    /// How many rounds make one unit of work.
    pub(super) rounds: u32,
    pub(super) seconds: f64,
    pub(super) workers: Vec<Worker>,
}

/// One thread of the client process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Worker {
    pub(crate) name: String,
    /// Its CORBA priority; without one it stays in the default scheduling class, and its calls carry none.
    pub(crate) priority: Option<i16>,
    pub(crate) pace: Pace,
    pub(crate) request: Request,
}

/// When a worker calls.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Pace {
    /// Once in each period, so many times per second.
    Hertz(u32),
    /// Whenever the call before has returned.
    Continuous,
}

/// What a worker asks of the servant.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Request {
    /// So many units of processor time.
    Work(u32),
    /// To read so many octets.
    Octets(usize),
}

/// The workers' answer.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Answer {
    /// In the order of the task's workers.
    pub(crate) reports: Vec<Report>,
    /// From the common start to the end of the last worker.
    pub(crate) span: Span,
}

/// What one worker went through.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Report {
    /// Its periods; 0 for one without a pace.
    pub(crate) periods: u32,
    /// The calls it made, each from sending to its return. Of a worker without a pace those that returned in time.
    pub(crate) calls: Vec<Span>,
    /// The periods in which no call could start: each as the time in which a hole would have been the reason.
    pub(crate) missed: Vec<Span>,
    /// The calls that started in their period and returned after it: from the start of the call to the end of the period.
    pub(crate) late: Vec<Span>,
    /// From the common start to its own end.
    pub(crate) elapsed_s: f64,
}
