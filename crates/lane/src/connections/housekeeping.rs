//! Periodic checks of a lane: incomplete messages and idle connections. Each examines a bounded number of
//! connections before the lane serves again.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_giop::Version;

use crate::{
    Lane, RequestHandler,
    connections::{
        connection::{Connection, Progress},
        table::Oldest,
    },
};

/// Connections that are examined before the lane serves again.
const EXAMINED_AT_ONCE: usize = 64;
/// Connections that are closed before the lane serves again.
const CLOSED_AT_ONCE: usize = 4;

impl<H: RequestHandler> Lane<H> {
    /// How long a thread may wait before the next check is due; `None`: forever.
    pub(crate) fn next_check(&self) -> Option<Duration> {
        let pending = &self.pending_work;
        if pending.unfinished_search.load(Ordering::Relaxed) {
            return Some(Duration::ZERO);
        }
        let incomplete = pending.incomplete_messages.load(Ordering::Relaxed);
        incomplete.then(|| self.check_interval())
    }

    /// Interval of the checks for incomplete messages, as long as there may be any.
    pub(crate) fn check_interval(&self) -> Duration {
        (self.limits().message_completion / 4).max(Duration::from_millis(10))
    }

    /// Does the work that was deferred until now.
    #[inline]
    pub(crate) fn do_chores(&self) {
        if self.events.chores.take_due().is_some() {
            self.resume_accepting();
            self.close_idle();
        }
    }

    /// Has a thread check when the next connection has been idle for the configured time.
    pub(crate) fn watch_idle(&self, since: Instant) {
        if let Some(at) = self
            .limits()
            .connection_idle
            .and_then(|idle| since.checked_add(idle))
        {
            self.events.chores.add(at);
        }
    }

    /// Closes connections over which nothing arrived for the configured time, and at most twice that.
    fn close_idle(&self) {
        let Some(idle) = self.limits().connection_idle else {
            return;
        };
        let now = Instant::now();
        let Some(before) = now.checked_sub(idle) else {
            return self.watch_idle(now);
        };
        for _ in 0..CLOSED_AT_ONCE {
            match self.connections.examine_oldest(before) {
                Oldest::None => return,
                Oldest::Since(since) => return self.watch_idle(since),
                Oldest::Used => {}
                Oldest::Unused(connection) => self.close_unused(&connection),
            }
        }
        // The next ones after what is ready by now.
        self.events.chores.add(now);
    }

    /// Closes a connection gracefully: its peer has sent no complete request that is not answered.
    pub(crate) fn close_unused(&self, connection: &Arc<Connection<H>>) {
        self.counters.connections.idle.add_one();
        connection.send_close();
        self.close(connection);
    }

    /// Frees memory that the lane's connections keep beyond its limit: the empty buffers of the connection
    /// that keeps most; if it has none, it is closed.
    #[cold]
    pub(crate) fn relieve_memory(&self) {
        let memory = &self.connections.memory;
        for _ in 0..CLOSED_AT_ONCE {
            if !memory.is_exceeded() {
                return;
            }
            let Some(most) = self.connections.keeps_most() else {
                return;
            };
            let before = most.memory.octets();
            let released = most.release();
            if released && most.memory.octets() < before {
                continue;
            }
            if !released && !most.state.is_dedicated() {
                // The thread that reads it checks the memory next.
                break;
            }
            self.counters.connections.exhausted_memory.add_one();
            self.close(&most);
        }
        self.pending_work
            .incomplete_messages
            .store(true, Ordering::SeqCst);
    }

    /// Sends MessageError, and counts it: once for each connection.
    pub(crate) fn refuse(&self, connection: &Connection<H>, version: Version) {
        if connection.send_error(version) {
            self.counters.connections.protocol_errors.add_one();
        }
    }

    /// Closes connections whose peers do not complete a message in time, or do not read, among the next
    /// [`EXAMINED_AT_ONCE`] of the table.
    pub(crate) fn close_incomplete(&self) {
        // One thread of the lane at a time; the others need not wait for it.
        let Some(mut search) = self.pending_work.search.try_lock() else {
            return;
        };
        let (now, completion) = (Instant::now(), self.limits().message_completion);
        let max_kept = self.limits().max_kept_buffer;
        let incomplete = &self.pending_work.incomplete_messages;
        if *search == 0 {
            // Before the search: a thread that begins a message from now on sets it again.
            incomplete.store(false, Ordering::SeqCst);
        }
        let (from, end) = (*search, *search + EXAMINED_AT_ONCE);
        *search = from;
        for _ in 0..CLOSED_AT_ONCE {
            let late: Option<(usize, Arc<Connection<H>>, Option<Version>)> =
                self.connections.find_within(*search..end, |index, connection| {
                    let version = match connection.progress(now, completion, max_kept) {
                        Progress::None => return None,
                        Progress::Incomplete => {
                            incomplete.store(true, Ordering::SeqCst);
                            return None;
                        }
                        Progress::Late(version) => Some(version),
                        Progress::Unread => None,
                    };
                    Some((index, Arc::clone(connection), version))
                });
            let Some((index, connection, version)) = late else {
                *search = end;
                break;
            };
            *search = index + 1;
            match version {
                Some(version) => self.refuse(&connection, version),
                None => self.counters.connections.unread_replies.add_one(),
            }
            self.close(&connection);
        }
        let unfinished = *search < self.connections.end();
        if !unfinished {
            *search = 0;
        }
        self.pending_work
            .unfinished_search
            .store(unfinished, Ordering::Relaxed);
    }
}
