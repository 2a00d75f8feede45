use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_cdr::{Arena, CharSet};
use punctual_giop::{
    CODE_SETS, MessageHeader, MessageType, RequestHeader, Version, char_set_from_id, decode_code_sets,
};
use punctual_os::{Events, Poller, Scheduling, scheduling};
use punctual_stub::ReusePool;

use super::{ACCEPTOR, BELL, Lane, Wake, connection::Connection, inbound::Next, serving};
use crate::{
    orb_core::{OrbCore, context_of},
    server::{self, Answer, Arrival, Buffers},
};

/// Serves a lane on the calling thread until it is stopped.
pub(crate) fn work(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    lane.threads.fetch_add(1, Ordering::Relaxed);
    let _serving = serving::enter(lane, core);
    let desk = Desk::new(core);
    Worker::new(lane, core, desk).run();
    if lane.threads.fetch_sub(1, Ordering::AcqRel) == 1 {
        lane.close_all();
    }
}

const FIRST_BUFFER: usize = 8 << 10;
/// Messages of one connection that a thread serves before it looks whether others wait.
const MAX_IN_A_ROW: usize = 16;

/// What a thread works with; kept and reused.
pub(super) struct Desk {
    /// The message that is being served.
    pub(super) message: Vec<u8>,
    pub(super) buffers: Buffers,
    /// One event at a time: what a thread does not fetch, another thread of the lane can.
    pub(super) events: Events,
    /// Where the reply to a call is waited for while the lane is served.
    pub(super) replies: Option<Poller>,
}

impl Desk {
    pub(super) fn new(core: &Arc<OrbCore>) -> Self {
        Self {
            message: Vec::new(),
            buffers: Buffers {
                fragment_starts: Vec::new(),
                reply: Vec::with_capacity(FIRST_BUFFER),
                arena: Arena::with_capacity(FIRST_BUFFER),
                pool: ReusePool::default(),
                orb: context_of(core),
                served_at: None,
            },
            events: Events::with_capacity(1),
            replies: None,
        }
    }
}

/// One thread of a lane, or an upcall of one that waits for a reply and serves meanwhile.
pub(super) struct Worker<'l> {
    pub(super) lane: &'l Arc<Lane>,
    pub(super) core: &'l Arc<OrbCore>,
    pub(super) desk: Desk,
    last: Option<Arc<Connection>>,
    inspected: Instant,
}

impl<'l> Worker<'l> {
    pub(super) fn new(lane: &'l Arc<Lane>, core: &'l Arc<OrbCore>, desk: Desk) -> Self {
        Self {
            lane,
            core,
            desk,
            last: None,
            inspected: Instant::now(),
        }
    }

    fn run(&mut self) {
        while !self.lane.is_stopping() {
            // It fails only for what cannot be here: a bad descriptor, or events without room.
            if self.step(self.lane.patience()).is_err() {
                return;
            }
        }
    }

    /// Waits for something to do, for as long as said, and does it.
    pub(super) fn step(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.lane.poller.wait(&mut self.desk.events, timeout)?;
        match self.desk.events.get(0) {
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
        self.look_after();
        Ok(())
    }

    /// What has to be done from time to time.
    pub(super) fn look_after(&mut self) {
        if self.lane.accept_again.load(Ordering::Relaxed) {
            self.lane.accept();
        }
        if self.lane.incomplete.load(Ordering::Relaxed)
            && self.inspected.elapsed() >= self.lane.inspection_interval()
        {
            self.lane.close_incomplete();
            self.inspected = Instant::now();
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
        // With buffering, that is who serves what was read.
        if realtime && self.lane.threads.load(Ordering::Relaxed) > 1 {
            scheduling::give_way();
        }
    }

    fn answer_bell(&mut self) {
        if self.lane.is_stopping() {
            return;
        }
        let (handed_over, queued) = self.lane.take_over(&mut self.desk);
        // What another lane has handed on is the older one, mostly.
        if let Some(request) = queued {
            self.serve_queued(request);
        }
        if let Some((connection, wake)) = handed_over {
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
                &mut self.desk.message,
                &mut self.desk.buffers.fragment_starts,
            );
            if inbound.begun().is_some() {
                self.lane.incomplete.store(true, Ordering::SeqCst);
            }
            match next {
                Next::Message(header) => {
                    let more = wake.ended || inbound.has_more();
                    let understood = negotiate(connection, &self.desk.message, &header);
                    connection.enter();
                    drop(inbound);
                    let others = self.lane.shares_reading();
                    if more {
                        let rest = Wake { look: false, ..wake };
                        if others {
                            self.lane.hand_over(connection, rest);
                        } else {
                            // Should its upcall wait for a reply, it is to serve the rest meanwhile.
                            serving::set_aside(connection, rest);
                        }
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
                Next::Cancelled(request_id) => {
                    drop(inbound);
                    if self.lane.cancel(connection, request_id) && connection.leave() {
                        return self.lane.close(connection);
                    }
                    wake.look |= connection.must_look_again();
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
    pub(super) fn reject(&self, connection: &Connection, version: Version) -> bool {
        self.lane.count_protocol_error();
        connection.reject(version);
        false
    }

    /// Answers one message. `false`: the connection is of no further use.
    fn handle(&mut self, connection: &Arc<Connection>, header: &MessageHeader) -> bool {
        match header.message_type {
            MessageType::Request => {
                self.lane.count_request();
                if self.lane.buffering.is_some() {
                    return self.buffer(connection, header);
                }
                self.answer_request(connection, header, Arrival::NOW)
            }
            MessageType::LocateRequest => {
                let Desk { message, buffers, .. } = &mut self.desk;
                let message = &message[..header.total_size()];
                let char_set = connection.char_set();
                let answer = server::answer_locate(self.core, self.lane, char_set, message, header, buffers);
                self.send(connection, header, answer)
            }
            MessageType::CloseConnection | MessageType::MessageError => false,
            // A client has no business to send anything else.
            _ => self.reject(connection, header.version),
        }
    }

    /// Serves the request in the desk's message and sends the reply. `false`: the connection is of no further use.
    pub(super) fn answer_request(
        &mut self,
        connection: &Arc<Connection>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> bool {
        let Desk { message, buffers, .. } = &mut self.desk;
        let message = &message[..header.total_size()];
        let came = (connection.origin, arrival);
        let char_set = connection.char_set();
        let answer = server::answer_request(self.core, self.lane, came, char_set, message, header, buffers);
        match answer {
            Ok(Answer::Elsewhere(lane, limits)) => self.hand_on(connection, header, &lane, limits),
            answer => self.send(connection, header, answer),
        }
    }

    /// Sends the reply in the desk's buffers, if there is one.
    pub(super) fn send(
        &self,
        connection: &Connection,
        header: &MessageHeader,
        answer: Result<Answer, server::Unintelligible>,
    ) -> bool {
        match answer {
            Ok(Answer::Reply) => {
                let Buffers { reply, served_at, .. } = &self.desk.buffers;
                connection.mark(&*self.core.network_mapping, *served_at);
                connection.send(reply, header.version).is_ok()
            }
            Ok(_) => true,
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
