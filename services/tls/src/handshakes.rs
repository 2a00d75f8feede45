//! Handshakes of an acceptor's peers, on a thread of their own: neither their cryptography nor their stalling
//! takes time of a lane.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use punctual::transport::{Peer, Stream};
use punctual_os::{Doorbell, Interest, PiMutex, Poller, Scheduling, Thread, ThreadSpec, Trigger, open_files};
use rustls::{ServerConfig, ServerConnection};

use crate::{
    counts::{Counters, count},
    session::{Received, Session},
    stream::TlsStream,
};

/// Handshakes under way at most, connections that wait for the thread, and those that wait for the lane.
const MAX_HANDSHAKES: usize = 64;
/// As few remain however few files may be open.
const LEAST_HANDSHAKES: usize = 4;
/// Part of the limit of open files that the handshakes of an acceptor may take. A lane's connections have
/// three quarters of it.
const PART_OF_FILES: u64 = 32;
/// Octets of the thread's stack.
const STACK: usize = 256 << 10;
/// Token of the bell; handshakes have higher ones.
const BELL: u64 = 0;

/// State that lane and thread share.
pub(crate) struct Handshakes {
    config: Arc<ServerConfig>,
    timeout: Duration,
    /// Handshakes under way, connections that wait for the thread, and connections that wait for the lane; a
    /// further one replaces the oldest. One host has a quarter of the handshakes at most.
    most: usize,
    counters: Arc<Counters>,
    begun: PiMutex<VecDeque<Box<dyn Stream>>>,
    finished: PiMutex<VecDeque<TlsStream>>,
    /// Rings for the thread.
    bell: Doorbell,
    /// Rings for the lane.
    pub(crate) done: Doorbell,
    stopped: AtomicBool,
}

impl Handshakes {
    /// Starts the thread.
    pub(crate) fn start(
        config: Arc<ServerConfig>,
        timeout: Duration,
        scheduling: Scheduling,
        counters: Arc<Counters>,
    ) -> io::Result<(Arc<Self>, Thread<()>)> {
        let most = most(open_files::limit());
        let shared = Arc::new(Self {
            config,
            timeout,
            most,
            counters,
            begun: PiMutex::new(VecDeque::with_capacity(most)),
            finished: PiMutex::new(VecDeque::with_capacity(most)),
            bell: Doorbell::new()?,
            done: Doorbell::new()?,
            stopped: AtomicBool::new(false),
        });
        let poller = Poller::new()?;
        poller.add(&shared.bell, BELL, Interest::READ, Trigger::Level)?;
        let own = Arc::clone(&shared);
        let thread = ThreadSpec::new("tls-handshake")
            .scheduling(scheduling)
            .stack_bytes(STACK)
            .spawn(move || {
                let mut worker = Worker {
                    shared: &own,
                    poller,
                    handshakes: VecDeque::with_capacity(most),
                    last_token: BELL,
                };
                worker.run();
            })?;
        Ok((shared, thread))
    }

    /// Lets the thread begin a handshake; the oldest of those beyond the limit is closed.
    pub(crate) fn begin(&self, stream: Box<dyn Stream>) {
        let mut begun = self.begun.lock();
        let displaced = (begun.len() >= self.most).then(|| begun.pop_front());
        begun.push_back(stream);
        drop(begun);
        if displaced.is_some() {
            count(&self.counters.displaced);
        }
        // Cannot fail.
        let _ = self.bell.ring();
    }

    /// Returns a connection whose handshake has ended.
    pub(crate) fn finished(&self) -> Option<TlsStream> {
        let mut finished = self.finished.lock();
        let stream = finished.pop_front();
        if finished.is_empty() {
            let _ = self.done.drain();
        }
        stream
    }

    /// Ends the thread, and closes the connections that wait.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        let _ = self.bell.ring();
    }

    fn finish(&self, stream: TlsStream) {
        let mut finished = self.finished.lock();
        if finished.len() < self.most {
            // Before the lane can serve it.
            count(&self.counters.completed);
            finished.push_back(stream);
            let _ = self.done.ring();
        } else {
            drop(finished);
            count(&self.counters.displaced);
        }
    }
}

/// Returns the number of handshakes under this limit of open files.
pub(crate) fn most(open_files: u64) -> usize {
    let part = usize::try_from(open_files / PART_OF_FILES).unwrap_or(usize::MAX);
    part.clamp(LEAST_HANDSHAKES, MAX_HANDSHAKES)
}

/// A handshake under way.
struct Handshake {
    token: u64,
    deadline: Instant,
    peer: Peer,
    stream: Box<dyn Stream>,
    session: Session,
}

/// The thread.
struct Worker<'w> {
    shared: &'w Handshakes,
    poller: Poller,
    /// The oldest first.
    handshakes: VecDeque<Handshake>,
    last_token: u64,
}

impl Worker<'_> {
    fn run(&mut self) {
        while !self.shared.stopped.load(Ordering::Acquire) {
            let oldest = self.handshakes.front().map(|oldest| oldest.deadline);
            let left = oldest.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            // One event at a time, armed again after it: each peer has its turn, for one read.
            let event = self.poller.wait_one(left).unwrap_or_default();
            self.expire(Instant::now());
            match event.map(|event| event.token()) {
                Some(BELL) => self.take_begun(),
                Some(token) => self.advance(token),
                None => {}
            }
        }
        self.shared.begun.lock().clear();
        self.shared.finished.lock().clear();
    }

    fn expire(&mut self, now: Instant) {
        while self
            .handshakes
            .front()
            .is_some_and(|oldest| oldest.deadline <= now)
        {
            self.handshakes.pop_front();
            count(&self.shared.counters.expired);
        }
    }

    fn take_begun(&mut self) {
        let _ = self.shared.bell.drain();
        for _ in 0..self.shared.most {
            let next = self.shared.begun.lock().pop_front();
            let Some(stream) = next else {
                break;
            };
            if self.add(stream).is_err() {
                count(&self.shared.counters.failed);
            }
        }
    }

    fn add(&mut self, stream: Box<dyn Stream>) -> io::Result<()> {
        let connection = ServerConnection::new(Arc::clone(&self.shared.config)).map_err(io::Error::other)?;
        let peer = stream.origin().peer.for_limits();
        let most = self.shared.most;
        let is_own = |other: &Handshake| matches!(peer, Peer::Network(_)) && other.peer == peer;
        let of_host = self.handshakes.iter().filter(|other| is_own(other)).count();
        let displaced = if of_host >= most / 4 {
            self.handshakes.iter().position(is_own)
        } else {
            (self.handshakes.len() >= most).then_some(0)
        };
        if displaced
            .and_then(|index| self.handshakes.remove(index))
            .is_some()
        {
            count(&self.shared.counters.displaced);
        }
        self.last_token += 1;
        let token = self.last_token;
        self.poller
            .add(&*stream, token, Interest::READ, Trigger::OneShot)?;
        self.handshakes.push_back(Handshake {
            token,
            deadline: Instant::now() + self.shared.timeout,
            peer,
            stream,
            session: Session::new(connection),
        });
        Ok(())
    }

    /// Takes one step of a handshake.
    fn advance(&mut self, token: u64) {
        let index = self.handshakes.iter().position(|other| other.token == token);
        let Some(index) = index else {
            return;
        };
        let handshake = &mut self.handshakes[index];
        match step(&mut handshake.session, &*handshake.stream) {
            Ok(Some(interest)) => {
                let armed = self
                    .poller
                    .modify(&*handshake.stream, token, interest, Trigger::OneShot);
                if armed.is_err() {
                    self.handshakes.remove(index);
                }
            }
            Ok(None) => {
                let _ = self.poller.remove(&*handshake.stream);
                if let Some(Handshake { stream, session, .. }) = self.handshakes.remove(index) {
                    self.shared.finish(TlsStream::new(stream, session, true));
                }
            }
            Err(_) => {
                // Unread octets would make the system reset the connection, and the peer lose the alert.
                let _ = handshake.stream.read(&mut [0; 4096]);
                self.handshakes.remove(index);
                count(&self.shared.counters.failed);
            }
        }
    }
}

/// Reads once and answers; returns what to wait for, or `None` at the end of the handshake.
pub(crate) fn step(session: &mut Session, stream: &dyn Stream) -> io::Result<Option<Interest>> {
    if !session.flush(stream)? {
        return Ok(Some(Interest::WRITE));
    }
    // It had waited for room. What follows is the lane's.
    if !session.is_handshaking() {
        return Ok(None);
    }
    // The header of a record, and its content.
    for _ in 0..2 {
        match session.receive(stream)? {
            Received::End => return Err(io::ErrorKind::UnexpectedEof.into()),
            Received::Octets if session.is_handshaking() => {}
            _ => break,
        }
    }
    let flushed = session.flush(stream)?;
    Ok(match (flushed, session.is_handshaking()) {
        (false, _) => Some(Interest::WRITE),
        (true, true) => Some(Interest::READ),
        (true, false) => None,
    })
}
