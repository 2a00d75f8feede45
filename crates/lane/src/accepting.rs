//! Accepting connections: in bounded steps behind the connections that the lane has, and within a share of
//! the processor's time.
//!
//! The thread that an acceptor wakes accepts [`LaneLimits::accepts_per_wake_up`](crate::LaneLimits)
//! connections and then arms the acceptor again, which puts it behind everything that is ready by then: the
//! lane serves its connections in between. An acceptor is armed once, so while the lane's budget is exhausted
//! its peers wait in the kernel's queue and wake no thread.

use std::{
    io::ErrorKind,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_os::clock;
use punctual_transport::Stream;

use crate::{Acceptor, Lane, RequestHandler, connection::Connection, lane::FIRST_ACCEPTOR, mode::Mode};

/// What an acceptor had.
enum Step {
    /// A connection, perhaps one of several.
    Taken,
    /// Nothing.
    Nothing,
    /// The system has no descriptor or memory for a connection.
    Failed,
}

/// Time until an acceptor is tried again for which the system had no descriptor or memory.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

impl<H: RequestHandler> Lane<H> {
    /// Accepts what an acceptor has, as far as limit and budget permit, and arms it again.
    pub(crate) fn accept(&self, token: u64) {
        let index = (token - FIRST_ACCEPTOR) as usize;
        let Some(acceptor) = self.acceptors().get(index) else {
            return;
        };
        let mut budget = self.accepting.budget.lock();
        for _ in 0..self.limits().accepts_per_wake_up.max(1) {
            let wait = budget.wait(Instant::now());
            if !wait.is_zero() {
                return self.pause_accepting(wait);
            }
            let begun = clock::thread_cpu_time();
            let step = self.accept_one(acceptor);
            budget.charge(clock::thread_cpu_time().saturating_sub(begun));
            match step {
                Step::Taken => {}
                Step::Nothing => break,
                Step::Failed => return self.pause_accepting(AFTER_FAILURE),
            }
        }
        drop(budget);
        self.arm(acceptor, token);
    }

    fn accept_one(&self, acceptor: &Acceptor) -> Step {
        match acceptor.listener.accept_from(&mut |_| true) {
            Ok(Some(stream)) => {
                self.admit(stream, acceptor);
                Step::Taken
            }
            Ok(None) => Step::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => Step::Taken,
            Err(_) => Step::Failed,
        }
    }

    fn admit(&self, stream: Box<dyn Stream>, acceptor: &Acceptor) {
        let peer = H::accepted(&self.data, stream.origin().peer, acceptor.highest_priority);
        let assign = |connection: &Arc<Connection<H>>| match &self.mode {
            Mode::Blocking(threads) => threads.give(connection),
            Mode::Polled | Mode::Buffered(_) => false,
        };
        let admitted = self
            .connections
            .admit(stream, peer, &acceptor.properties, self.limits(), assign);
        if !admitted {
            self.counters.refused_connections.add_one();
        }
    }

    fn arm(&self, acceptor: &Acceptor, token: u64) {
        if acceptor.listener.watch_again(&self.poller, token).is_err() {
            self.pause_accepting(AFTER_FAILURE);
        }
    }

    /// Leaves acceptors that are not armed as they are for this time.
    fn pause_accepting(&self, time: Duration) {
        self.accepting.paused.store(true, Ordering::SeqCst);
        self.chores.add(Instant::now() + time);
    }

    /// Arms all acceptors after a pause.
    pub(crate) fn resume_accepting(&self) {
        if self.accepting.paused.swap(false, Ordering::SeqCst) {
            for (acceptor, token) in self.acceptors().iter().zip(FIRST_ACCEPTOR..) {
                self.arm(acceptor, token);
            }
        }
    }
}
