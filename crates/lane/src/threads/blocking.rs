//! Lanes whose threads block in `read`, each for its own connection.
//!
//! The lane's `….poll` thread accepts. While a thread is without a connection, an accepted one is given to it
//! and is not registered in the poller; all others are, and the `….poll` thread serves them as in a polled
//! lane.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_giop::{MessageHeader, connection::Event};
use punctual_os::{PiMutexGuard, clock};

use crate::{
    Lane, NotExecuted, ServingSlot,
    connections::connection::{Connection, Inbound, Received},
    threads::{mode::Mode, serving_thread, worker_buffers::WorkerBuffers},
    worker::{MAX_CONSECUTIVE, Worker},
};

/// Longest time between two checks whether the lane stops.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// Serves connections one after the other on the calling thread until the lane is stopped.
pub(crate) fn work_until_stopped<H: ServingSlot>(lane: &Arc<Lane<H>>, handler: &Arc<H>) {
    let _serving = serving_thread::enter(lane, lane, handler);
    let _entered = H::enter_lane(&lane.data);
    let mut worker = Worker::new(lane, lane, handler, WorkerBuffers::new(handler));
    if let Mode::Blocking(threads) = &lane.mode {
        while let Some(connection) = threads.take(|| lane.is_stopping()) {
            let mut own = Some(connection);
            while let Some(connection) = own {
                worker.serve_dedicated(&connection);
                lane.close(&connection);
                connection.end_if_closed();
                // Connections that arrived while each thread had one have waited longest.
                own = lane.adopt();
            }
            threads.set_free();
        }
    }
    lane.leave();
}

impl<H: ServingSlot> Lane<H> {
    /// Takes a connection out of the poller, for the calling thread.
    fn adopt(&self) -> Option<Arc<Connection<H>>> {
        self.connections.adopt(|connection| {
            let state = &connection.state;
            !state.is_dedicated()
                && !state.is_congested()
                && !state.is_in_service()
                && connection.stream().set_nonblocking(false).is_ok()
        })
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Serves a connection until it ends, or the lane stops.
    fn serve_dedicated(&mut self, connection: &Arc<Connection<H>>) {
        let mut since_yield = 0;
        // Also of each `write`, in which the thread would wait forever for a peer that does not read.
        let _ = connection
            .stream()
            .set_timeout(Some(self.lane.limits().message_completion));
        // The connection is dedicated before this check, and the lane is stopping before it searches
        // dedicated connections.
        if self.lane.is_stopping() {
            return connection.send_close();
        }
        // Another thread closes it if it keeps most of the lane's memory. What its peer has sent until then
        // can still be read.
        while !connection.state.is_closed()
            && self
                .serve_dedicated_within_budget(connection, &mut since_yield)
                .is_continue()
        {}
    }

    /// Serves the next message, or part of one, as soon as the lane may work for the connection.
    fn serve_dedicated_within_budget(
        &mut self,
        connection: &Arc<Connection<H>>,
        since_yield: &mut usize,
    ) -> ControlFlow<()> {
        if !connection.state.is_unserved() {
            return self.serve_dedicated_message(connection, since_yield);
        }
        let wait = self.lane.overhead.wait();
        if !wait.is_zero() {
            self.lane.counters.connections.put_off.add_one();
            std::thread::sleep(wait.min(LONGEST_SLEEP));
            return self.unless_stopping(connection);
        }
        connection.state.clear_unserved();
        self.served = false;
        let begun = clock::thread_cpu_time();
        let flow = self.serve_dedicated_message(connection, since_yield);
        self.account_for(connection, begun);
        flow
    }

    fn serve_dedicated_message(
        &mut self,
        connection: &Arc<Connection<H>>,
        since_yield: &mut usize,
    ) -> ControlFlow<()> {
        // No other thread has it: it is in no poller, and a thread that checks its age releases it at once.
        let mut inbound = connection.wait_for_claim();
        if !self.await_completion(connection, &mut inbound) {
            return ControlFlow::Break(());
        }
        inbound.drained = false;
        let received = inbound.receive(connection.stream());
        let watched = inbound.protocol.needs_watching();
        match received {
            Received::Event(Event::Request(header) | Event::LocateRequest(header)) => {
                let buffers = &mut self.buffers;
                inbound
                    .protocol
                    .take(&mut buffers.message, &mut buffers.fragment_starts);
                if watched {
                    connection.memory.set_received(inbound.protocol.held());
                }
                self.serve_message(connection, inbound, &header)?;
                self.count_message(since_yield);
                ControlFlow::Continue(())
            }
            Received::Event(Event::CloseConnection | Event::MessageError | Event::Reply(_))
            | Received::EndOfStream => ControlFlow::Break(()),
            Received::Refused(refused) => {
                drop(inbound);
                self.reject_received(connection, &refused);
                ControlFlow::Break(())
            }
            // The request is served already, unless its reply is still owed.
            Received::Event(Event::Cancelled(request_id))
                if {
                    self.lane.cancel_deferred(connection, request_id);
                    !self.lane.charge(connection, NotExecuted::Elsewhere, false, || true)
                } =>
            {
                ControlFlow::Break(())
            }
            // Part of a message.
            Received::Nothing
            | Received::Part(_)
            // Its thread blocks in `read`, and so reads no replies for others.
            | Received::Event(Event::Cancelled(_) | Event::Progress | Event::BidirectionalOffer) => {
                self.unless_stopping(connection)?;
                if watched {
                    connection.memory.set_received(inbound.protocol.held());
                }
                if inbound.protocol.is_idle() {
                    drop(inbound);
                } else {
                    self.note_part(connection, inbound);
                }
                if self.lane.connections.memory.is_exceeded() {
                    self.lane.relieve_memory();
                }
                self.count_message(since_yield);
                ControlFlow::Continue(())
            }
        }
    }

    fn unless_stopping(&self, connection: &Connection<H>) -> ControlFlow<()> {
        if self.lane.is_stopping() {
            connection.send_close();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Counts a message, or part of one, and gives way after [`MAX_CONSECUTIVE`] of them: a peer that sends
    /// without a pause must not keep the CPU from the lane's other threads. Whether the thread had to wait
    /// for a message is unknown.
    fn count_message(&self, since_yield: &mut usize) {
        *since_yield += 1;
        if *since_yield == MAX_CONSECUTIVE {
            *since_yield = 0;
            self.give_way();
        }
    }

    /// Waits until an incomplete message continues. `false`: its completion time has passed, and the peer has
    /// been notified. Rare, so it may cost a system call.
    fn await_completion(&self, connection: &Connection<H>, inbound: &mut Inbound) -> bool {
        let Some(left) = inbound.completion_left() else {
            return true;
        };
        // A peer that sends other messages without a pause gains no time for this one.
        if !left.is_zero() && matches!(connection.stream().wait_readable(left), Ok(true)) {
            return true;
        }
        let version = match inbound.protocol.handle_timeout(Instant::now()) {
            Err(refused) => refused.version,
            // The stream is broken.
            Ok(()) => return false,
        };
        self.reject(connection, version);
        false
    }

    fn serve_message(
        &mut self,
        connection: &Arc<Connection<H>>,
        inbound: PiMutexGuard<'_, Inbound>,
        header: &MessageHeader,
    ) -> ControlFlow<()> {
        let code_sets = inbound.protocol.code_sets();
        connection.state.begin_request();
        drop(inbound);
        if self.lane.is_stopping() {
            connection.state.end_request();
            // The thread that stopped the lane may have seen this request, and left CloseConnection to this
            // thread.
            connection.send_close();
            return ControlFlow::Break(());
        }
        let usable = self.handle(connection, header, code_sets);
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
