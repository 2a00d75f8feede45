use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use punctual_cdr::{Arena, CharSet};
use punctual_giop::{
    CODE_SETS, MessageHeader, MessageType, RequestHeader, Version, char_set_from_id, decode_code_sets,
};
use punctual_os::{Events, Scheduling, scheduling};
use punctual_stub::ReusePool;

use super::{ACCEPTOR, BELL, Lane, Wake, connection::Connection, inbound::Next};
use crate::{
    client,
    orb_core::{OrbCore, context_of},
    server::{self, Buffers},
};

/// Serves a lane on the calling thread until it is stopped.
pub(crate) fn work(lane: &Lane, core: &Arc<OrbCore>) {
    lane.threads.fetch_add(1, Ordering::Relaxed);
    let mut worker = Worker {
        lane,
        core,
        message: Vec::new(),
        buffers: Buffers {
            fragment_starts: Vec::new(),
            reply: Vec::with_capacity(FIRST_BUFFER),
            arena: Arena::with_capacity(FIRST_BUFFER),
            pool: ReusePool::default(),
            orb: context_of(core),
            served_at: None,
        },
        last: None,
    };
    let calls = client::use_connections_of(&lane.calls);
    worker.run();
    drop(calls);
    if lane.threads.fetch_sub(1, Ordering::AcqRel) == 1 {
        lane.close_all();
        lane.calls.clear();
    }
}

const FIRST_BUFFER: usize = 8 << 10;
/// Messages of one connection that a thread serves before it looks whether others wait.
const MAX_IN_A_ROW: usize = 16;

/// One thread of a lane, with its buffers.
struct Worker<'l> {
    lane: &'l Lane,
    core: &'l Arc<OrbCore>,
    message: Vec<u8>,
    buffers: Buffers,
    last: Option<Arc<Connection>>,
}

impl Worker<'_> {
    fn run(&mut self) {
        // One event at a time: what this thread does not fetch, another thread of the lane can.
        let mut events = Events::with_capacity(1);
        let mut inspected = Instant::now();
        while !self.lane.is_stopping() {
            // It fails only for what cannot be here: a bad descriptor, or events without room.
            let Ok(_) = self.lane.poller.wait(&mut events, self.lane.patience()) else {
                return;
            };
            match events.get(0) {
                None => {}
                Some(event) if event.token() == ACCEPTOR => self.lane.accept(),
                Some(event) if event.token() == BELL => self.answer_bell(),
                Some(event) => {
                    if let Some(connection) = self.connection(event.token()) {
                        let ended = event.is_peer_closed() || event.is_error();
                        self.serve(&connection, Wake { ended, look: true });
                        self.last = Some(connection);
                        self.give_way();
                    }
                }
            }
            if self.lane.accept_again.load(Ordering::Relaxed) {
                self.lane.accept();
            }
            if self.lane.incomplete.load(Ordering::Relaxed)
                && inspected.elapsed() >= self.lane.inspection_interval()
            {
                self.lane.close_incomplete();
                inspected = Instant::now();
            }
        }
    }

    /// The connection of a token: mostly the one served last, without the lock of the lane's table.
    fn connection(&mut self, token: u64) -> Option<Arc<Connection>> {
        let last = self
            .last
            .take()
            .filter(|last| last.token == token && !last.is_closed());
        last.or_else(|| self.lane.connection(token))
    }

    /// Requests are served in the order in which they came: another thread that was woken for an earlier one goes first.
    fn give_way(&self) {
        let realtime = self.lane.scheduling.is_some_and(Scheduling::is_realtime);
        if realtime && self.lane.threads.load(Ordering::Relaxed) > 1 {
            scheduling::give_way();
        }
    }

    fn answer_bell(&mut self) {
        if self.lane.is_stopping() {
            return;
        }
        if let Some((connection, wake)) = self.lane.take_over() {
            self.serve(&connection, wake);
        }
    }

    /// Serves what a connection has, until there is nothing more, another thread has taken over, or others have waited long
    /// enough.
    fn serve(&mut self, connection: &Arc<Connection>, mut wake: Wake) {
        for _ in 0..MAX_IN_A_ROW {
            match connection.flush() {
                Ok(true) => {}
                // The peer does not read its replies: its requests can wait, too.
                Ok(false) => return,
                Err(_) => return self.lane.close(connection),
            }
            let Some(mut inbound) = connection.claim() else {
                return;
            };
            if wake.look {
                inbound.drained = false;
            }
            let next = inbound.next(
                connection.stream(),
                &mut self.message,
                &mut self.buffers.fragment_starts,
            );
            if inbound.begun().is_some() {
                self.lane.incomplete.store(true, Ordering::SeqCst);
            }
            match next {
                Next::Message(header) => {
                    let more = wake.ended || inbound.has_more();
                    let understood = negotiate(connection, &self.message, &header);
                    connection.enter();
                    drop(inbound);
                    let others = self.lane.threads.load(Ordering::Relaxed) > 1;
                    if more && others {
                        self.lane.hand_over(connection, Wake { look: false, ..wake });
                    }
                    let usable = if understood {
                        self.handle(connection, &header)
                    } else {
                        self.reject(connection, header.version)
                    };
                    let last = connection.leave();
                    if !usable || last {
                        return self.lane.close(connection);
                    }
                    if connection.is_congested() || more && others {
                        return;
                    }
                    wake.look = wake.ended || connection.must_look_again();
                    if !more && !wake.look {
                        return;
                    }
                }
                Next::Nothing => {
                    drop(inbound);
                    if wake.ended {
                        // Read on, once, to the end of the stream.
                        wake = Wake {
                            ended: false,
                            look: true,
                        };
                        continue;
                    }
                    if !connection.must_look_again() {
                        return;
                    }
                    wake.look = true;
                }
                Next::Closed => {
                    // Replies that other threads are working at are still to be sent; then the last of them closes.
                    let idle = connection.end();
                    drop(inbound);
                    if idle {
                        self.lane.close(connection);
                    }
                    return;
                }
                Next::Unacceptable => {
                    let version = inbound.peer_version();
                    drop(inbound);
                    self.reject(connection, version);
                    return self.lane.close(connection);
                }
            }
        }
        // A peer that sends without a pause must not keep this thread from the others.
        self.lane.hand_over(connection, wake);
    }

    /// Says MessageError; the connection is then of no further use.
    fn reject(&self, connection: &Connection, version: Version) -> bool {
        self.lane.count_protocol_error();
        connection.reject(version);
        false
    }

    /// Answers one message. `false`: the connection is of no further use.
    fn handle(&mut self, connection: &Arc<Connection>, header: &MessageHeader) -> bool {
        let Self {
            lane,
            core,
            message,
            buffers,
            ..
        } = self;
        let message = &message[..header.total_size()];
        let answered = match header.message_type {
            MessageType::Request => {
                lane.count_request();
                let (origin, char_set) = (connection.origin, connection.char_set());
                server::answer_request(core, lane, origin, char_set, message, header, buffers)
            }
            MessageType::LocateRequest => {
                server::answer_locate(core, lane, connection.char_set(), message, header, buffers)
            }
            MessageType::CloseConnection | MessageType::MessageError => return false,
            // A client has no business to send anything else.
            _ => Err(server::Unintelligible),
        };
        match answered {
            Ok(false) => true,
            Ok(true) => {
                connection.mark(&*core.network_mapping, buffers.served_at);
                connection.send(&buffers.reply, header.version).is_ok()
            }
            Err(server::Unintelligible) => self.reject(connection, header.version),
        }
    }
}

/// Takes the code sets from the first request that says them, before any later message is read. `false`: malformed.
fn negotiate(connection: &Connection, message: &[u8], header: &MessageHeader) -> bool {
    if header.message_type != MessageType::Request || connection.has_code_sets() {
        return true;
    }
    // A request that cannot be read is answered as such by whoever handles it.
    let Ok((request, _)) = RequestHeader::decode(&message[..header.total_size()], header) else {
        return true;
    };
    let Some(data) = request.contexts.find(CODE_SETS) else {
        return true;
    };
    let Ok((char_id, _)) = decode_code_sets(data) else {
        return false;
    };
    // A set we do not have: its requests fail as soon as text does not convert; TAO and we accept them until then.
    connection.set_char_set(char_set_from_id(char_id).unwrap_or(CharSet::Latin1));
    true
}
