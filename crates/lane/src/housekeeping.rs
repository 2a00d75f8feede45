//! Periodic checks of a lane: incomplete messages and idle connections.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use crate::{Lane, RequestHandler, connection::Progress};

impl<H: RequestHandler> Lane<H> {
    /// How long a thread may wait before the next check is due; `None`: for ever.
    pub(crate) fn next_check(&self) -> Option<Duration> {
        if self.pending_work.accept_again.load(Ordering::Relaxed) {
            return Some(Duration::from_millis(50));
        }
        let incomplete = self.pending_work.incomplete_messages.load(Ordering::Relaxed);
        let incomplete = incomplete.then(|| self.check_interval());
        incomplete.into_iter().chain(self.limits().connection_idle).min()
    }

    /// Interval of the checks for incomplete messages, as long as there may be any.
    pub(crate) fn check_interval(&self) -> Duration {
        (self.limits().message_completion / 4).max(Duration::from_millis(10))
    }

    /// Closes connections over which nothing arrived for the configured time, and at most twice that.
    pub(crate) fn close_idle(&self) {
        let Some(idle) = self.limits().connection_idle else {
            return;
        };
        // One thread of the lane at a time; the others need not wait for it.
        let Some(mut checked) = self.pending_work.idle_checked.try_lock() else {
            return;
        };
        if checked.elapsed() < idle {
            return;
        }
        *checked = Instant::now();
        loop {
            let found = self
                .connections
                .find(|connection| connection.is_unused().then(|| connection.clone()));
            let Some(connection) = found else { break };
            self.counters.idle_connections.add_one();
            connection.send_close();
            self.close(&connection);
        }
        self.connections.for_each(|connection| connection.clear_used());
    }

    /// Closes connections whose peers do not complete a message in time.
    pub(crate) fn close_incomplete(&self) {
        let (now, completion) = (Instant::now(), self.limits().message_completion);
        // Before the check: a thread that begins a message from now on sets it again.
        self.pending_work
            .incomplete_messages
            .store(false, Ordering::SeqCst);
        let late = || {
            self.connections
                .find(|connection| match connection.progress(now, completion) {
                    Progress::None => None,
                    Progress::Incomplete => {
                        let incomplete = &self.pending_work.incomplete_messages;
                        incomplete.store(true, Ordering::SeqCst);
                        None
                    }
                    Progress::Late(version) => Some((connection.clone(), version)),
                })
        };
        while let Some((connection, version)) = late() {
            self.counters.protocol_errors.add_one();
            connection.send_error(version);
            self.close(&connection);
        }
    }
}
