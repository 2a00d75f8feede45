//! Lanes whose threads block in `read`, each for its own connection.
//!
//! The lane's `….poll` thread accepts. While a thread is without a connection, an accepted one is given to it and is not
//! registered in the poller; all others are, and the `….poll` thread serves them as in a polled lane.

use std::{
    collections::VecDeque,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_giop::MessageHeader;
use punctual_os::{PiCondvar, PiMutex, PiMutexGuard};

use crate::{
    Lane, RequestHandler,
    connection::Connection,
    inbound::{Inbound, Next},
    mode::Mode,
    serve::MAX_CONSECUTIVE,
    serving_thread,
    worker::{Worker, WorkerBuffers},
};

/// Threads that wait for connections, and connections that wait for threads.
pub(crate) struct BlockingThreads<H: RequestHandler> {
    assignment: PiMutex<Assignment<H>>,
    changed: PiCondvar,
}

struct Assignment<H: RequestHandler> {
    /// Threads that have no connection and are promised none, including those that are just starting.
    free: usize,
    /// Connections that threads will take.
    promised: VecDeque<Arc<Connection<H>>>,
}

impl<H: RequestHandler> BlockingThreads<H> {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            assignment: PiMutex::new(Assignment {
                free: threads,
                promised: VecDeque::with_capacity(threads),
            }),
            changed: PiCondvar::new(),
        }
    }

    /// Gives a connection to a thread that has none. `false`: all have one.
    pub(crate) fn give(&self, connection: &Arc<Connection<H>>) -> bool {
        let mut assignment = self.assignment.lock();
        if assignment.free == 0 || connection.stream().set_nonblocking(false).is_err() {
            return false;
        }
        connection.state.dedicate();
        assignment.free -= 1;
        assignment.promised.push_back(Arc::clone(connection));
        drop(assignment);
        self.changed.notify_one();
        true
    }

    /// Waits for a connection; `None` once the lane stops.
    fn take(&self, lane: &Lane<H>) -> Option<Arc<Connection<H>>> {
        let mut assignment = self.assignment.lock();
        let nothing = |assignment: &mut Assignment<H>| assignment.promised.is_empty() && !lane.is_stopping();
        self.changed.wait_while(&mut assignment, nothing);
        // Connections that no thread takes any more are closed with the lane.
        assignment.promised.pop_front().filter(|_| !lane.is_stopping())
    }

    /// Notes that a thread is without a connection again.
    fn set_free(&self) {
        self.assignment.lock().free += 1;
    }

    /// Makes the threads end: those without a connection, and those that are in `read`. The lane is stopping already.
    ///
    /// A thread that serves a request finishes it and ends then. Each thread counts its request in and then checks whether the
    /// lane stops; here the lane is stopping first, and then the count is checked. So either the request is seen here, and its
    /// thread sends CloseConnection itself, or the thread sees the stop and drops the request, as the CloseConnection that is
    /// sent here promises.
    pub(crate) fn stop(&self, lane: &Lane<H>) {
        // A thread that has checked the mark under the lock is waiting now.
        drop(self.assignment.lock());
        self.changed.notify_all();
        for connection in dedicated(lane) {
            // From now on no thread begins to wait for a peer that does not read.
            let _ = connection.stream().set_nonblocking(true);
            if !connection.state.is_in_service() {
                connection.send_close();
                connection.stream().shutdown();
            }
        }
    }

    /// Ends writes to peers that do not read which began before [`Self::stop`], after the completion time of a message.
    pub(crate) fn end_writes(&self, lane: &Lane<H>) {
        let deadline = Instant::now() + lane.limits().message_completion;
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

/// Connections that are dedicated to threads.
fn dedicated<H: RequestHandler>(lane: &Lane<H>) -> Vec<Arc<Connection<H>>> {
    let connections = lane.connections.slots.lock();
    let all = connections.iter().map(|(_, connection)| connection);
    all.filter(|connection| connection.state.is_dedicated())
        .cloned()
        .collect()
}

/// Serves connections one after the other on the calling thread until the lane is stopped.
pub(crate) fn work_until_stopped<H: RequestHandler>(lane: &Arc<Lane<H>>, handler: &Arc<H>) {
    let _serving = serving_thread::enter(lane, lane, handler);
    let _entered = H::enter_lane(&lane.data);
    let mut worker = Worker::new(lane, lane, handler, WorkerBuffers::new(handler));
    if let Mode::Blocking(blocking) = &lane.mode {
        while let Some(connection) = blocking.take(lane) {
            let mut own = Some(connection);
            while let Some(connection) = own {
                worker.serve_dedicated(&connection);
                lane.close(&connection);
                // Connections that arrived while each thread had one have waited longest.
                own = lane.adopt();
            }
            blocking.set_free();
        }
    }
    lane.leave();
}

impl<H: RequestHandler> Lane<H> {
    /// Takes a connection out of the poller, for the calling thread.
    fn adopt(&self) -> Option<Arc<Connection<H>>> {
        let connections = self.connections.slots.lock();
        connections.iter().find_map(|(_, connection)| {
            // A thread that reads it now waits for it in the poller next, and it can be adopted another time.
            let _claim = connection.try_claim()?;
            let state = &connection.state;
            if state.is_dedicated() || state.is_congested() || state.is_in_service() {
                return None;
            }
            connection.stream().set_nonblocking(false).ok()?;
            // While it is claimed: a thread that claims it later, for an earlier event, sees this.
            state.dedicate();
            let _ = self.poller.remove(connection.stream());
            Some(Arc::clone(connection))
        })
    }
}

impl<H: RequestHandler> Worker<'_, H> {
    /// Serves a connection until it ends, or the lane stops.
    fn serve_dedicated(&mut self, connection: &Arc<Connection<H>>) {
        let mut consecutive = 0;
        // The connection is dedicated before this check, and the lane is stopping before it searches dedicated connections.
        if self.lane.is_stopping() {
            return connection.send_close();
        }
        loop {
            // No other thread has it: it is in no poller, and a thread that checks its age releases it at once.
            let mut inbound = connection.wait_for_claim();
            if !self.await_completion(connection, &inbound) {
                let version = inbound.peer_version();
                drop(inbound);
                self.reject(connection, version);
                return;
            }
            inbound.drained = false;
            let buffers = &mut self.buffers;
            let next = inbound.next(
                connection.stream(),
                &mut buffers.message,
                &mut buffers.fragment_starts,
            );
            match next {
                Next::Message(header) => {
                    let more = inbound.has_whole_message();
                    if self.serve_message(connection, inbound, &header).is_break() {
                        return;
                    }
                    consecutive = if more { consecutive + 1 } else { 0 };
                    if consecutive == MAX_CONSECUTIVE {
                        // A peer that sends without a pause must not keep the CPU from the lane's other threads.
                        consecutive = 0;
                        self.give_way();
                    }
                }
                // Part of a message, or the cancellation of a request that is served already.
                Next::Nothing | Next::Cancelled(_) if self.lane.is_stopping() => {
                    drop(inbound);
                    return connection.send_close();
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

    /// Waits until an incomplete message continues. `false`: its completion time is over. Rare, so it may cost a system call.
    fn await_completion(&self, connection: &Connection<H>, inbound: &Inbound) -> bool {
        let Some(begun) = inbound.begun() else {
            return true;
        };
        let limit = self.lane.limits().message_completion;
        let left = limit.saturating_sub(begun.elapsed());
        matches!(connection.stream().wait_readable(left), Ok(true))
    }

    fn serve_message(
        &mut self,
        connection: &Arc<Connection<H>>,
        mut inbound: PiMutexGuard<'_, Inbound>,
        header: &MessageHeader,
    ) -> ControlFlow<()> {
        let char_set = inbound.negotiate(&self.buffers.message, header);
        connection.state.begin_request();
        drop(inbound);
        if self.lane.is_stopping() {
            connection.state.end_request();
            // The thread that stopped the lane may have seen this request, and left CloseConnection to this thread.
            connection.send_close();
            return ControlFlow::Break(());
        }
        let usable = self.handle_or_reject(connection, header, char_set);
        connection.state.end_request();
        if !usable {
            return ControlFlow::Break(());
        }
        if self.lane.is_stopping() {
            connection.send_close();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
