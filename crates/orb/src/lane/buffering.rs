//! Request buffering: a lane's I/O thread reads what arrives and keeps it for the threads that serve, so that requests are read,
//! and refused where they are too many, while all of those are in upcalls.
//!
//! System calls for a request that finds everybody waiting: the I/O thread waits, reads and wakes (3), the serving thread sleeps
//! and writes (2); of a real-time class, the I/O thread gives way to the serving one (1). While requests wait, the serving
//! thread does not sleep and nobody is woken: 4 in all, and one look that finds nothing more to read. Without buffering it is 3.
//!
//! Requests start in the order in which they were read, whichever connection they came over. A request that was let in is
//! served, unless its client takes it back or the ORB is shut down first; then the peers are told CloseConnection, which says
//! that what is outstanding was not handled.

use std::{sync::Arc, time::Instant};

use punctual_giop::{MessageHeader, RequestHeader};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    Lane, borrowing,
    connection::Connection,
    crew::Life,
    request_queue::{NoRoom, Queued, Waited},
    worker::{self, Desk, Ended, Worker, as_thread_of, leave},
};
use crate::{
    orb_core::OrbCore,
    server::{self, Arrival},
};

/// Reads what comes to a lane, on its I/O thread, until the lane is stopped.
pub(super) fn read(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    // It serves nothing: that nobody but it is left means that nobody is.
    lane.crew.occupancy.begin();
    worker::work_to_the_end(lane, core);
}

/// Serves what a lane has buffered, on one of its own threads, until the lane is stopped.
pub(super) fn work_to_the_end(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    work(lane, core, None);
}

/// As [`work_to_the_end`], or until the thread's life is over.
pub(super) fn work(lane: &Arc<Lane>, core: &Arc<OrbCore>, life: Option<Life>) {
    let ended = as_thread_of(lane, core, |worker| worker.run_at_queue(life));
    if ended == Ended::Stopped {
        leave(lane);
    }
}

impl Worker<'_> {
    fn run_at_queue(mut self, mut life: Option<Life>) -> Ended {
        loop {
            let mut patience = None;
            if let Some(life) = &mut life {
                if life.has_ended(&self.lane.crew) {
                    return Ended::Retired;
                }
                patience = life.left();
            }
            let lane = self.lane;
            let is_asked = || borrowing::is_asked(lane);
            let served = match lane.queue.wait(&mut self.desk, patience, is_asked) {
                Waited::Request(request) => {
                    self.serve_queued(request);
                    true
                }
                Waited::Asked => borrowing::help_with_queue(self.home, lane, self.core),
                Waited::InVain => false,
                Waited::Closed => return Ended::Stopped,
            };
            if let Some(life) = life.as_mut().filter(|_| served) {
                life.renew();
            }
        }
    }

    /// Puts the request on the desk into the lane's queue, or says why not. `false`: the connection is of no further use.
    pub(super) fn buffer(&mut self, connection: &Arc<Connection>, header: &MessageHeader) -> bool {
        let Some(limits) = self.lane.buffering else {
            return true;
        };
        let Desk { message, buffers, .. } = &mut self.desk;
        let message = &message[..header.total_size()];
        let Ok((request, _)) = RequestHeader::decode(message, header) else {
            return self.reject(connection, header.version);
        };
        let queued = Queued {
            connection: Arc::clone(connection),
            home: None,
            header: *header,
            request_id: request.request_id,
            read_at: Instant::now(),
        };
        let pushed = self
            .lane
            .queue
            .push(limits, queued, message, &buffers.fragment_starts);
        let Err(no_room) = pushed else {
            borrowing::after_push(self.lane);
            return true;
        };
        let (kind, minor) = match no_room {
            NoRoom::Full => (SystemExceptionKind::Transient, Minor::REQUEST_QUEUE_FULL),
            NoRoom::TooLarge => (SystemExceptionKind::ImpLimit, Minor::REQUEST_LARGER_THAN_QUEUE),
        };
        let exception = SystemException::new(kind, minor, Completion::No);
        let char_set = connection.char_set();
        let answer = server::refuse_request(
            self.core, self.lane, char_set, message, header, &exception, buffers,
        );
        self.send(connection, header, answer)
    }

    /// Serves a request of the queue, whose message is on the desk.
    pub(super) fn serve_queued(&mut self, request: Queued) {
        let Queued {
            connection,
            home,
            header,
            read_at,
            ..
        } = request;
        self.count_loan();
        let arrival = Arrival {
            read_at: Some(read_at),
            // From buffer to buffer it may go, once: who was handed it has the right priority.
            may_move: home.is_none(),
        };
        // Replies to requests that were let in before it was clear that their peer does not read.
        let hopeless =
            connection.is_congested() && connection.owes_more_than(self.lane.limits.max_message_size);
        let usable = !hopeless && self.answer(&connection, &header, arrival);
        let last = connection.leave();
        if !usable || last {
            home.as_ref().unwrap_or(self.lane).close(&connection);
        }
    }
}
