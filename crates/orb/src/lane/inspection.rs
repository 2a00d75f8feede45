//! What a lane looks after from time to time: messages that do not become complete, connections that nobody uses.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::{Lane, connection::Progress};

impl Lane {
    /// How long a thread may wait before it must look after something; for ever where there is nothing to look after.
    pub(super) fn patience(&self) -> Option<Duration> {
        if self.accept_again.load(Ordering::Relaxed) {
            return Some(Duration::from_millis(50));
        }
        let incomplete = self.incomplete.load(Ordering::Relaxed);
        let incomplete = incomplete.then(|| self.inspection_interval());
        incomplete.into_iter().chain(self.limits.connection_idle).min()
    }

    /// How often to look for messages that do not become complete, as long as there may be any.
    pub(super) fn inspection_interval(&self) -> Duration {
        (self.limits.message_completion / 4).max(Duration::from_millis(10))
    }

    /// Closes connections over which nothing came for the time that the limits say, and at most twice that.
    pub(super) fn close_idle(&self) {
        let Some(idle) = self.limits.connection_idle else {
            return;
        };
        // One thread of the lane at a time, and the others need not wait for it.
        let Some(mut inspected) = self.idle_inspected.try_lock() else {
            return;
        };
        if inspected.elapsed() < idle {
            return;
        }
        *inspected = Instant::now();
        loop {
            let found = {
                let connections = self.connections.lock();
                let unused = connections.iter().find(|(_, connection)| connection.is_unused());
                unused.map(|(_, connection)| connection.clone())
            };
            let Some(connection) = found else { break };
            self.counters.idle_connections.add_one();
            connection.say_close();
            self.close(&connection);
        }
        self.connections
            .lock()
            .iter()
            .for_each(|(_, connection)| connection.set_unused());
    }

    /// Closes connections whose peer does not complete what it has begun.
    pub(super) fn close_incomplete(&self) {
        let Some(late_before) = Instant::now().checked_sub(self.limits.message_completion) else {
            return;
        };
        // Before looking: whoever begins a message from now on sets it again.
        self.incomplete.store(false, Ordering::SeqCst);
        let late = || {
            let connections = self.connections.lock();
            connections
                .iter()
                .find_map(|(_, connection)| match connection.progress(late_before) {
                    Progress::None => None,
                    Progress::Incomplete => {
                        self.incomplete.store(true, Ordering::SeqCst);
                        None
                    }
                    Progress::Late(version) => Some((connection.clone(), version)),
                })
        };
        while let Some((connection, version)) = late() {
            self.count_protocol_error();
            connection.reject(version);
            self.close(&connection);
        }
    }
}
