//! Threads that block in `read`, each for a connection of its own.
//!
//! The lane's `….poll` thread accepts. While a thread is without a connection, an accepted one is given to it and is not
//! registered in the waiting place; all others are, and the `….poll` thread serves them as in any lane.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex};

use super::{
    Lane,
    connection::Connection,
    inbound::Next,
    serving,
    worker::{Desk, MAX_IN_A_ROW, Worker, leave, negotiate},
};
use crate::orb_core::OrbCore;

/// Where connections meet threads.
pub(super) struct Blocking {
    meeting: PiMutex<Meeting>,
    changed: PiCondvar,
}

struct Meeting {
    /// Threads that have no connection and are promised none, those included that are only just starting.
    free: usize,
    /// Connections that threads are to take.
    promised: VecDeque<Arc<Connection>>,
}

impl Blocking {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            meeting: PiMutex::new(Meeting {
                free: threads,
                promised: VecDeque::with_capacity(threads),
            }),
            changed: PiCondvar::new(),
        }
    }

    /// Gives a connection to a thread that has none. `false`: all have one.
    pub(super) fn give(&self, connection: &Arc<Connection>) -> bool {
        let mut meeting = self.meeting.lock();
        if meeting.free == 0 || connection.stream().set_nonblocking(false).is_err() {
            return false;
        }
        connection.set_dedicated();
        meeting.free -= 1;
        meeting.promised.push_back(Arc::clone(connection));
        drop(meeting);
        self.changed.notify_one();
        true
    }

    /// Waits for a connection; `None` once the lane stops.
    fn take(&self, lane: &Lane) -> Option<Arc<Connection>> {
        let mut meeting = self.meeting.lock();
        let nothing = |meeting: &mut Meeting| meeting.promised.is_empty() && !lane.is_stopping();
        self.changed.wait_while(&mut meeting, nothing);
        // Those that nobody takes any more are closed with the lane.
        meeting.promised.pop_front().filter(|_| !lane.is_stopping())
    }

    /// A thread is without a connection again.
    fn set_free(&self) {
        self.meeting.lock().free += 1;
    }

    /// Lets the threads end: those without a connection, and those that are in `read`. The lane is stopping already.
    ///
    /// A thread that serves a request finishes it and ends then. Each thread counts its request in and looks then whether the lane
    /// stops; here the lane is stopping, and then the count is looked at. So either the request is seen here, and its thread takes
    /// leave itself, or the thread sees the stop and drops the request, as the leave that is taken here promises.
    pub(super) fn stop(&self, lane: &Lane) {
        // Who has looked at the mark under the lock is waiting now.
        drop(self.meeting.lock());
        self.changed.notify_all();
        for connection in dedicated(lane) {
            // From now on nobody begins to wait for a peer that does not read.
            let _ = connection.stream().set_nonblocking(true);
            if !connection.is_in_service() {
                connection.say_close();
                connection.stream().shutdown();
            }
        }
    }

    /// Ends writes that began before [`Self::stop`] to peers that do not read, after the time that a message may take.
    pub(super) fn end_writes(&self, lane: &Lane) {
        let deadline = Instant::now() + lane.limits.message_completion;
        for connection in dedicated(lane) {
            while connection.is_sending() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            if connection.is_sending() {
                connection.stream().shutdown();
            }
        }
    }
}

/// The connections that threads have for themselves.
fn dedicated(lane: &Lane) -> Vec<Arc<Connection>> {
    let connections = lane.connections.lock();
    let all = connections.iter().map(|(_, connection)| connection);
    all.filter(|connection| connection.is_dedicated())
        .cloned()
        .collect()
}

/// Serves connections one after the other on the calling thread until the lane is stopped.
pub(super) fn work(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    let _serving = serving::enter(lane, lane, core);
    let mut worker = Worker::new(lane, lane, core, Desk::new(core));
    if let Some(blocking) = &lane.blocking {
        while let Some(connection) = blocking.take(lane) {
            let mut own = Some(connection);
            while let Some(connection) = own {
                worker.serve_alone(&connection);
                lane.close(&connection);
                // Those that came while all threads had one have waited longest.
                own = lane.adopt();
            }
            blocking.set_free();
        }
    }
    leave(lane);
}

impl Lane {
    /// Takes a connection out of the waiting place, for the calling thread.
    fn adopt(&self) -> Option<Arc<Connection>> {
        let connections = self.connections.lock();
        connections.iter().find_map(|(_, connection)| {
            // Who reads it now goes on to wait for it, and it can be adopted another time.
            let _claim = connection.try_claim()?;
            if connection.is_dedicated() || connection.is_congested() || connection.is_in_service() {
                return None;
            }
            connection.stream().set_nonblocking(false).ok()?;
            // While it is claimed: whoever claims it later, for an event of before, sees it.
            connection.set_dedicated();
            let _ = self.poller.remove(connection.stream());
            Some(Arc::clone(connection))
        })
    }
}

impl Worker<'_> {
    /// Serves a connection until it ends, or the lane stops.
    fn serve_alone(&mut self, connection: &Arc<Connection>) {
        let mut in_a_row = 0;
        // The connection is marked as this thread's before this look, and the lane as stopping before it looks for the mark.
        if self.lane.is_stopping() {
            return connection.say_close();
        }
        loop {
            // Nobody else has it: it is in no waiting place, and who inspects it for its age lets go at once.
            let mut inbound = connection.wait_for_claim();
            if let Some(begun) = inbound.begun() {
                // A message has begun and must not take for ever. Rare, so it may cost a call.
                let left = self
                    .lane
                    .limits
                    .message_completion
                    .saturating_sub(begun.elapsed());
                if !matches!(connection.stream().wait_readable(left), Ok(true)) {
                    let version = inbound.peer_version();
                    drop(inbound);
                    self.reject(connection, version);
                    return;
                }
            }
            let (message, starts) = self.desk.for_message();
            inbound.drained = false;
            match inbound.next(connection.stream(), message, starts) {
                Next::Message(header) => {
                    let more = inbound.has_whole_message();
                    let understood = negotiate(connection, message, &header);
                    connection.enter();
                    drop(inbound);
                    if self.lane.is_stopping() {
                        connection.leave();
                        // Whoever stopped the lane may have seen this request, and left the leave to this thread.
                        return connection.say_close();
                    }
                    let usable = if understood {
                        self.handle(connection, &header)
                    } else {
                        self.reject(connection, header.version)
                    };
                    connection.leave();
                    if !usable {
                        return;
                    }
                    if self.lane.is_stopping() {
                        return connection.say_close();
                    }
                    in_a_row = if more { in_a_row + 1 } else { 0 };
                    if in_a_row == MAX_IN_A_ROW {
                        // A peer that sends without a pause must not keep the CPU from the lane's other threads.
                        in_a_row = 0;
                        self.give_way();
                    }
                }
                // Part of a message, or one that takes another one back: too late, it is served.
                Next::Nothing | Next::Cancelled(_) if self.lane.is_stopping() => {
                    return connection.say_close();
                }
                Next::Nothing | Next::Cancelled(_) => {}
                Next::Closed => return,
                Next::Unacceptable => {
                    let version = inbound.peer_version();
                    drop(inbound);
                    self.reject(connection, version);
                    return;
                }
            }
        }
    }
}
