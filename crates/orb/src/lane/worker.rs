use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_cdr::{Arena, CharSet};
use punctual_flight::{self as flight, Link, Record, record};
use punctual_giop::{
    CODE_SETS, LastRequest, MessageHeader, MessageType, RequestHeader, Version, char_set_from_id,
    decode_code_sets,
};
use punctual_os::{Doorbell, Poller, Scheduling, poller::Event, scheduling};
use punctual_stub::ReusePool;

use super::{
    ACCEPTOR, BELL, CALL_DEADLINE, FIRST_ABOVE, LAST_ABOVE, Lane, Wake, borrowing, connection::Connection,
    crew::Life, inbound::Next, serving, shared::Opened,
};
use crate::{
    client,
    interceptors::SeenRequest,
    orb_core::{OrbCore, context_of},
    server::{self, Answer, Arrival, Buffers},
};

/// Serves a lane on the calling thread until the lane is stopped. For threads of the user's own.
pub(crate) fn work_on_calling_thread(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    lane.crew.occupancy.join();
    work_to_the_end(lane, core);
}

/// Serves a lane on one of its own threads until the lane is stopped.
pub(super) fn work_to_the_end(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    work(lane, core, None);
}

/// Serves a lane on one of its own threads until the lane is stopped, or the thread's life is over.
pub(super) fn work(lane: &Arc<Lane>, core: &Arc<OrbCore>, life: Option<Life>) {
    let ended = as_thread_of(lane, core, |worker| worker.run(life));
    if ended == Ended::Stopped {
        leave(lane);
    }
}

/// Runs what makes the calling thread one of the lane's.
pub(super) fn as_thread_of<R>(lane: &Arc<Lane>, core: &Arc<OrbCore>, run: impl FnOnce(Worker<'_>) -> R) -> R {
    flight::prepare_thread();
    let _serving = serving::enter(lane, lane, core);
    let _calls = client::use_connections_of(&lane.calls);
    run(Worker::new(lane, lane, core, Desk::new(core)))
}

/// Counts one of the lane's threads out; the last one closes what is left.
pub(super) fn leave(lane: &Lane) {
    if lane.crew.occupancy.leave() {
        lane.close_all();
        lane.calls.clear();
    }
}

const FIRST_BUFFER: usize = 8 << 10;
/// Messages of one connection that a thread serves before it looks whether others wait.
pub(super) const MAX_IN_A_ROW: usize = 16;

/// What a thread needs to serve requests, and keeps from request to request.
pub(super) struct Desk {
    pub(super) message: Vec<u8>,
    pub(super) buffers: Buffers,
    /// Where the reply to a call is waited for while the lane is served.
    pub(super) replies: Option<Poller>,
    /// Rings when a call over a shared connection is over while the lane is served.
    pub(super) bell: Option<Arc<Doorbell>>,
}

impl Desk {
    pub(super) fn new(core: &Arc<OrbCore>) -> Self {
        Self {
            message: Vec::new(),
            buffers: Buffers {
                fragment_starts: Vec::new(),
                last: LastRequest::new(),
                reply: Vec::with_capacity(FIRST_BUFFER),
                arena: Arena::with_capacity(FIRST_BUFFER),
                pool: ReusePool::default(),
                orb: context_of(core),
                link: Link::NONE,
                served_at: None,
                seen: SeenRequest::default(),
            },
            replies: None,
            bell: None,
        }
    }

    /// Where the next message goes, and where its fragments begin.
    pub(super) fn for_message(&mut self) -> (&mut Vec<u8>, &mut Vec<usize>) {
        (&mut self.message, &mut self.buffers.fragment_starts)
    }
}

/// One thread that serves a lane.
pub(super) struct Worker<'l> {
    pub(super) lane: &'l Arc<Lane>,
    /// The lane that the thread belongs to: another one while it is lent.
    pub(super) home: &'l Arc<Lane>,
    pub(super) core: &'l Arc<OrbCore>,
    pub(super) desk: Desk,
    last: Option<Arc<Connection>>,
    /// When it last looked for messages that do not become complete.
    inspected: Instant,
}

#[derive(Eq, PartialEq)]
pub(super) enum Ended {
    /// The lane is stopping.
    Stopped,
    /// The thread is not needed any more, and has been counted out.
    Retired,
}

impl<'l> Worker<'l> {
    pub(super) fn new(lane: &'l Arc<Lane>, home: &'l Arc<Lane>, core: &'l Arc<OrbCore>, desk: Desk) -> Self {
        Self {
            lane,
            home,
            core,
            desk,
            last: None,
            inspected: Instant::now(),
        }
    }

    pub(super) fn into_desk(self) -> Desk {
        self.desk
    }

    fn run(mut self, mut life: Option<Life>) -> Ended {
        while !self.lane.is_stopping() {
            let mut patience = self.lane.patience();
            if let Some(life) = &mut life {
                if life.has_ended(&self.lane.crew) {
                    return Ended::Retired;
                }
                patience = patience.into_iter().chain(life.left()).min();
            }
            match (self.step(patience), &mut life) {
                (Ok(true), Some(life)) => life.renew(),
                (Ok(_), _) => {}
                // It fails only for what cannot be here: a bad descriptor.
                (Err(_), _) => return Ended::Stopped,
            }
        }
        Ended::Stopped
    }

    /// Waits for something to do, for as long as said, and does it. `false`: there was nothing.
    pub(super) fn step(&mut self, patience: Option<Duration>) -> io::Result<bool> {
        // One event at a time: what this thread does not fetch, another thread of the lane can.
        let event = self.lane.poller.wait_one(patience)?;
        if let Some(event) = event {
            self.dispatch(event);
        }
        self.look_after();
        Ok(event.is_some())
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
        self.lane.close_idle();
        self.lane.expire_calls();
    }

    /// Does what an event of the lane's waiting place asks for.
    pub(super) fn dispatch(&mut self, event: Event) {
        record(|| Record::new(flight::Event::Woken).detail(event.token()));
        match event.token() {
            ACCEPTOR => self.lane.accept(),
            BELL => self.answer_bell(),
            // As after all events, what has become due is looked after next.
            CALL_DEADLINE => {}
            token @ LAST_ABOVE..=FIRST_ABOVE => borrowing::help(self.home, self.lane, token, self.core),
            token => {
                if let Some(connection) = self.connection(token) {
                    let ended = event.is_peer_closed() || event.is_error();
                    self.serve(&connection, Wake { ended, look: true });
                    self.last = Some(connection);
                    self.give_way();
                }
            }
        }
    }

    fn is_lent(&self) -> bool {
        !Arc::ptr_eq(self.lane, self.home)
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
    pub(super) fn give_way(&self) {
        // With buffering, the others are those who serve what was read.
        let realtime = self.lane.scheduling.is_some_and(Scheduling::is_realtime);
        if realtime && self.lane.crew.occupancy.threads() > 1 {
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
        // A thread that is lent serves one request.
        let at_most = if self.is_lent() { 1 } else { MAX_IN_A_ROW };
        for _ in 0..at_most {
            match connection.flush() {
                Ok(true) => {}
                // The server does not read requests: its replies are wanted all the same.
                Ok(false) if connection.opened().is_some() => {}
                // The peer does not read its replies: its requests can wait, too.
                Ok(false) => return,
                Err(_) => return self.lane.close(connection),
            }
            let Some(mut inbound) = connection.claim(wake) else {
                return;
            };
            // A thread has it for itself since this one was told of it.
            if connection.is_dedicated() {
                return;
            }
            if wake.look {
                inbound.drained = false;
            }
            let (message, starts) = self.desk.for_message();
            let next = inbound.next(connection.stream(), message, starts);
            if inbound.begun().is_some() {
                self.lane.incomplete.store(true, Ordering::SeqCst);
            }
            match next {
                Next::Message(header) if connection.opened().is_some() => {
                    // While it is claimed: the end of the stream must not overtake a reply.
                    let usable = self.take_reply(connection, &header);
                    let more = wake.ended || inbound.has_more();
                    drop(inbound);
                    if !usable {
                        return self.lane.close(connection);
                    }
                    connection.set_used();
                    wake.look = wake.ended;
                    connection.look_again(&mut wake);
                    if !more && !wake.look {
                        return;
                    }
                }
                Next::Message(header) => {
                    let more = wake.ended || inbound.has_more();
                    let understood = negotiate(connection, &self.desk.message, &header);
                    connection.enter();
                    drop(inbound);
                    let others = self.lane.is_shared();
                    let rest = Wake { look: false, ..wake };
                    if more && others {
                        self.lane.hand_over(connection, rest);
                    }
                    // Should its upcall wait for a reply, it is to serve the rest meanwhile.
                    let aside = (more && !others).then(|| serving::set_aside(connection, rest));
                    let usable = if understood {
                        self.handle(connection, &header)
                    } else {
                        self.reject(connection, header.version)
                    };
                    drop(aside);
                    let last = connection.leave();
                    if !usable || last {
                        return self.lane.close(connection);
                    }
                    if connection.is_congested() || more && others {
                        return;
                    }
                    wake.look = wake.ended;
                    connection.look_again(&mut wake);
                    if !more && !wake.look {
                        return;
                    }
                }
                Next::Cancelled(request_id) => {
                    drop(inbound);
                    if self.lane.cancel(connection, request_id) && connection.leave() {
                        return self.lane.close(connection);
                    }
                    connection.look_again(&mut wake);
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
                    wake.look = false;
                    connection.look_again(&mut wake);
                    if !wake.look {
                        if connection.opened().is_some_and(Opened::is_doomed) {
                            self.lane.close(connection);
                        }
                        return;
                    }
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
    pub(super) fn handle(&mut self, connection: &Arc<Connection>, header: &MessageHeader) -> bool {
        record(|| {
            Record::new(flight::Event::Read)
                .link(connection.link)
                .detail(header.total_size() as u64)
        });
        match header.message_type {
            MessageType::Request => {
                self.lane.counters.requests.add_one();
                if self.lane.buffering.is_some() {
                    return self.buffer(connection, header);
                }
                self.count_loan();
                self.answer(connection, header, Arrival::NOW)
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

    /// Counts the request that comes next, if this thread is lent for it.
    pub(super) fn count_loan(&self) {
        if self.is_lent() {
            self.lane.counters.borrowed.add_one();
            self.home.counters.lent.add_one();
        }
    }

    /// Serves the request on the desk and sends the reply. `false`: the connection is of no further use.
    pub(super) fn answer_request(
        &mut self,
        connection: &Arc<Connection>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> bool {
        let Desk { message, buffers, .. } = &mut self.desk;
        buffers.link = connection.link;
        let message = &message[..header.total_size()];
        let came = (&connection.origin, arrival);
        let char_set = connection.char_set();
        let answer = {
            let _busy = busy(self.home, self.core);
            server::answer_request(self.core, self.lane, came, char_set, message, header, buffers)
        };
        match answer {
            Ok(Answer::Elsewhere(lane, limits)) => self.hand_on(connection, header, &lane, limits),
            answer => self.send(connection, header, answer),
        }
    }

    /// Sends the reply on the desk, if there is one.
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
                let sent = connection.send(reply, header.version).is_ok();
                record(|| Record::new(flight::Event::ReplySent).link(connection.link));
                sent
            }
            Ok(_) => {
                record(|| Record::new(flight::Event::Finished).link(connection.link));
                true
            }
            Err(server::Unintelligible) => self.reject(connection, header.version),
        }
    }
}

/// Counts a thread of the lane as busy until the result is dropped; gets others if it leaves nobody waiting.
fn busy<'l>(lane: &'l Arc<Lane>, core: &Arc<OrbCore>) -> impl Drop + use<'l> {
    struct Busy<'l>(&'l Lane);
    impl Drop for Busy<'_> {
        fn drop(&mut self) {
            self.0.crew.occupancy.end();
        }
    }
    if lane.crew.occupancy.begin() {
        lane.reinforce(core);
    }
    Busy(lane)
}

/// Takes the code sets from the first request that says them, before any later message is read. `false`: malformed.
pub(super) fn negotiate(connection: &Connection, message: &[u8], header: &MessageHeader) -> bool {
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
