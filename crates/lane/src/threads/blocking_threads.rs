//! Threads that block in `read`, and the connections that they are given.

use std::{collections::VecDeque, sync::Arc};

use punctual_os::{PiCondvar, PiMutex};

use crate::{RequestHandler, connections::connection::Connection};

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
    pub(crate) fn take(&self, is_stopping: impl Fn() -> bool) -> Option<Arc<Connection<H>>> {
        let mut assignment = self.assignment.lock();
        let nothing = |assignment: &mut Assignment<H>| assignment.promised.is_empty() && !is_stopping();
        self.changed.wait_while(&mut assignment, nothing);
        // Connections that no thread takes are closed with the lane.
        assignment.promised.pop_front().filter(|_| !is_stopping())
    }

    /// Notes that a thread is without a connection again.
    pub(crate) fn set_free(&self) {
        self.assignment.lock().free += 1;
    }

    /// Wakes the threads that wait for a connection. The lane is stopping already.
    pub(crate) fn stop(&self) {
        // A thread that has checked the mark under the lock is waiting now.
        drop(self.assignment.lock());
        self.changed.notify_all();
    }
}
