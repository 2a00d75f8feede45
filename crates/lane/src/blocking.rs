//! Lanes whose threads block in `read`, each for its own connection.
//!
//! The lane's `….poll` thread accepts. While a thread is without a connection, an accepted one is given to it
//! and is not registered in the poller; all others are, and the `….poll` thread serves them as in a polled
//! lane.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use punctual_giop::{MessageHeader, connection::Event};
use punctual_os::PiMutexGuard;

use crate::{
    Lane, ServingSlot, Unserved,
    connection::Connection,
    inbound::{Inbound, Received},
    mode::Mode,
    serve::MAX_CONSECUTIVE,
    serving_thread,
    worker::Worker,
    worker_buffers::WorkerBuffers,
};

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
        let mut consecutive = 0;
        // The connection is dedicated before this check, and the lane is stopping before it searches
        // dedicated connections.
        if self.lane.is_stopping() {
            return connection.send_close();
        }
        loop {
            // No other thread has it: it is in no poller, and a thread that checks its age releases it at
            // once.
            let mut inbound = connection.wait_for_claim();
            if !self.await_completion(connection, &mut inbound) {
                return;
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
                    let more = inbound.protocol.has_message();
                    if self.serve_message(connection, inbound, &header).is_break() {
                        return;
                    }
                    self.give_way_after(more, &mut consecutive);
                }
                Received::Event(Event::CloseConnection | Event::MessageError | Event::Reply(_))
                | Received::EndOfStream => return,
                Received::Refused(refused) => {
                    drop(inbound);
                    self.reject(connection, refused.version);
                    return;
                }
                // The request is served already.
                Received::Event(Event::Cancelled(_))
                    if !self.charge(connection, Unserved::Elsewhere, false) =>
                {
                    return;
                }
                // Part of a message.
                Received::Nothing | Received::Event(Event::Cancelled(_) | Event::Progress) => {
                    if self.lane.is_stopping() {
                        drop(inbound);
                        return connection.send_close();
                    }
                    let more = inbound.protocol.has_message();
                    if watched {
                        connection.memory.set_received(inbound.protocol.held());
                    }
                    drop(inbound);
                    if self.lane.connections.memory.is_exceeded() {
                        self.lane.relieve_memory();
                    }
                    self.give_way_after(more, &mut consecutive);
                }
            }
        }
    }

    /// Counts a message, or part of one. A peer that sends without a pause must not keep the CPU from the
    /// lane's other threads.
    fn give_way_after(&self, more: bool, consecutive: &mut usize) {
        *consecutive = if more { *consecutive + 1 } else { 0 };
        if *consecutive == MAX_CONSECUTIVE {
            *consecutive = 0;
            self.give_way();
        }
    }

    /// Waits until an incomplete message continues. `false`: its completion time is over, and the peer has
    /// been told. Rare, so it may cost a system call.
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
        let char_set = inbound.protocol.char_set();
        connection.state.begin_request();
        drop(inbound);
        if self.lane.is_stopping() {
            connection.state.end_request();
            // The thread that stopped the lane may have seen this request, and left CloseConnection to this
            // thread.
            connection.send_close();
            return ControlFlow::Break(());
        }
        let usable = self.handle(connection, header, char_set);
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
