//! Threads that block in `read`, each for a connection of its own.
//!
//! The lane's `….poll` thread accepts. While a thread is without a connection, an accepted one is given to it and is not
//! registered in the waiting place; all others are, and the `….poll` thread serves them as in any lane.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use punctual_os::{PiCondvar, PiMutex};

use super::{
    Lane,
    connection::Connection,
    inbound::Next,
    worker::{Desk, MAX_IN_A_ROW, Worker, leave, negotiate},
};
use crate::orb_core::OrbCore;

/// Where connections meet threads.
#[derive(Default)]
pub(super) struct Blocking {
    meeting: PiMutex<Meeting>,
    changed: PiCondvar,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Meeting {
    /// Threads without a connection.
    waiting: usize,
    /// Connections for them; never more than they are.
    connections: VecDeque<Arc<Connection>>,
}

impl Blocking {
    /// Gives a connection to a thread that has none. `false`: all have one.
    pub(super) fn give(&self, connection: &Arc<Connection>) -> bool {
        let mut meeting = self.meeting.lock();
        let free = meeting.connections.len() < meeting.waiting && !self.stopping.load(Ordering::SeqCst);
        if !free || connection.stream().set_nonblocking(false).is_err() {
            return false;
        }
        connection.set_dedicated();
        meeting.connections.push_back(Arc::clone(connection));
        drop(meeting);
        self.changed.notify_one();
        true
    }

    /// Waits for a connection; `None` once the lane stops.
    fn take(&self) -> Option<Arc<Connection>> {
        let mut meeting = self.meeting.lock();
        meeting.waiting += 1;
        let stopping = || self.stopping.load(Ordering::SeqCst);
        self.changed.wait_while(&mut meeting, |meeting| {
            meeting.connections.is_empty() && !stopping()
        });
        meeting.waiting -= 1;
        // Those that nobody takes any more are closed with the lane.
        meeting.connections.pop_front().filter(|_| !stopping())
    }

    /// Lets the threads end: those without a connection, and those that are in `read`.
    ///
    /// A thread that serves a request finishes it and ends then. Each thread counts its request in and looks whether the lane stops;
    /// here the lane is stopping, and then the count is looked at. So either the request is seen here and its thread takes leave
    /// itself, or the thread sees the stop and drops the request, as the leave that is taken here promises.
    pub(super) fn stop<'c>(&self, connections: impl Iterator<Item = &'c Arc<Connection>>) {
        {
            let _meeting = self.meeting.lock();
            self.stopping.store(true, Ordering::SeqCst);
        }
        self.changed.notify_all();
        for connection in connections.filter(|connection| connection.is_dedicated()) {
            // From now on nobody waits for a peer that does not read.
            let _ = connection.stream().set_nonblocking(true);
            if !connection.is_in_service() {
                connection.say_close();
                connection.stream().shutdown();
            } else if connection.is_sending() {
                // A thread may wait for such a peer already.
                connection.stream().shutdown();
            }
        }
    }
}

/// Serves connections one after the other on the calling thread until the lane is stopped.
pub(super) fn work(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    let mut worker = Worker::new(lane, lane, core, Desk::new(core));
    if let Some(blocking) = &lane.blocking {
        while let Some(connection) = blocking.take() {
            worker.serve_alone(&connection);
            lane.close(&connection);
        }
    }
    leave(lane);
}

impl Worker<'_> {
    /// Serves a connection until it ends, or the lane stops.
    fn serve_alone(&mut self, connection: &Arc<Connection>) {
        let mut in_a_row = 0;
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
                // Part of a message, or one that takes another one back.
                Next::Nothing if self.lane.is_stopping() => return connection.say_close(),
                Next::Nothing => {}
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
