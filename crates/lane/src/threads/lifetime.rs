//! Lifetime of dynamic threads.

use std::time::{Duration, Instant};

/// Lifetime of a dynamic thread. The thread ends only while another thread of its lane waits for requests.
///
/// `-RTORBDynamicThreadIdleTimeout` and `-RTORBDynamicThreadRunTime` of TAO.
///
/// ```
/// # use punctual_lane as punctual;
/// use std::time::Duration;
///
/// use punctual::ThreadLifetime;
///
/// let for_bursts = ThreadLifetime::IdleTimeout(Duration::from_secs(10));
/// assert_ne!(for_bursts, ThreadLifetime::default());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ThreadLifetime {
    /// Threads live as long as the pool: no thread is replaced, and after the lane's peak load none is
    /// started.
    #[default]
    Infinite,
    /// A thread ends when it has received no request for this time.
    IdleTimeout(Duration),
    /// Exists for this time, regardless of its load; a request in service is completed.
    RunTime(Duration),
}

/// Remaining lifetime of one dynamic thread.
pub(crate) struct RemainingLifetime {
    limit: ThreadLifetime,
    /// Start of the thread, or its last request.
    since: Instant,
}

impl RemainingLifetime {
    pub(crate) fn start(limit: ThreadLifetime) -> Self {
        Self {
            limit,
            since: Instant::now(),
        }
    }

    /// Restarts an idle timeout: the thread has served a request.
    pub(crate) fn renew(&mut self) {
        if matches!(self.limit, ThreadLifetime::IdleTimeout(_)) {
            self.since = Instant::now();
        }
    }

    /// Time until the thread should end; `None`: never.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        let (ThreadLifetime::IdleTimeout(limit) | ThreadLifetime::RunTime(limit)) = self.limit else {
            return None;
        };
        Some(limit.saturating_sub(self.since.elapsed()))
    }

    /// Returns whether the thread should end.
    pub(crate) fn is_over(&self) -> bool {
        self.remaining().is_some_and(|remaining| remaining.is_zero())
    }

    /// Starts another lifetime: the thread is still needed.
    pub(crate) fn restart(&mut self) {
        self.since = Instant::now();
    }
}
