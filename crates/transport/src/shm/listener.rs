//! Accepting connections over shared memory, in steps that never wait.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use punctual_os::{Interest, PiMutex, Poller, Trigger};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::Socket;

use super::{
    handshake::{self, Incarnation, Offer},
    stream,
};
use crate::{Listener, Origin, Stream, socket, unix::Listening};

/// Listener of one shared-memory endpoint, with the handshakes under way.
pub(super) struct ShmListener {
    listening: Listening,
    published: String,
    incarnation: Incarnation,
    ring_size: usize,
    /// Handshakes under way, the oldest first.
    handshakes: PiMutex<Vec<Handshake>>,
    /// Poller in which clients that send octets are reported, with the token of the reports.
    watched: PiMutex<Option<(Arc<Poller>, u64)>>,
}

/// A connection whose client has not finished the handshake.
struct Handshake {
    socket: Socket,
    origin: Origin,
    /// Sent to the client; `None`: it has not requested it yet.
    offer: Option<Offer>,
}

/// Handshakes under way; a further one replaces the oldest.
const MAX_HANDSHAKES: usize = 32;
/// Pending handshakes of one process at most; a further one replaces the oldest one of that process.
const MAX_HANDSHAKES_OF_PROCESS: usize = 8;

impl ShmListener {
    pub(super) fn new(
        listening: Listening,
        published: String,
        incarnation: Incarnation,
        ring_size: usize,
    ) -> Self {
        Self {
            listening,
            published,
            incarnation,
            ring_size,
            handshakes: PiMutex::new(Vec::with_capacity(MAX_HANDSHAKES)),
            watched: PiMutex::new(None),
        }
    }

    /// Begins a handshake with the next client. `false`: there is none.
    fn begin(&self, handshakes: &mut Vec<Handshake>) -> io::Result<bool> {
        let Some(socket) = socket::accept(&self.listening.socket)? else {
            return Ok(false);
        };
        let origin = socket::origin(&socket);
        let is_own = |other: &Handshake| other.origin == origin;
        if handshakes.iter().filter(|other| is_own(other)).count() >= MAX_HANDSHAKES_OF_PROCESS {
            handshakes
                .iter()
                .position(is_own)
                .map(|own| handshakes.remove(own));
        } else if handshakes.len() >= MAX_HANDSHAKES {
            handshakes.remove(0);
        }
        if let Some((poller, token)) = &*self.watched.lock() {
            poller.add(&socket, *token, Interest::READ, Trigger::OneShot)?;
        }
        handshakes.push(Handshake {
            socket,
            origin,
            offer: None,
        });
        Ok(true)
    }

    /// Takes one step of a handshake whose client has sent something. `None`: another step is needed.
    fn proceed(
        &self,
        handshakes: &mut Vec<Handshake>,
        index: usize,
        admits: &mut dyn FnMut(Origin) -> bool,
    ) -> io::Result<Option<Box<dyn Stream>>> {
        let mut handshake = handshakes.remove(index);
        let socket = &handshake.socket;
        if let Some(offer) = handshake.offer {
            let connection = offer.complete(socket)?;
            return Ok(Some(Box::new(stream::accepted(connection, handshake.origin))));
        }
        handshake::receive_hello(socket, self.incarnation)?;
        if admits(handshake.origin) {
            handshake.offer = Some(Offer::send(socket, self.incarnation, self.ring_size)?);
            handshakes.insert(index, handshake);
        }
        Ok(None)
    }
}

/// First handshake whose client has sent something, or has gone.
fn first_ready(handshakes: &[Handshake]) -> Option<usize> {
    const NOW: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let sockets = handshakes
        .iter()
        .map(|handshake| PollFd::new(&handshake.socket, PollFlags::IN));
    let mut sockets: Vec<_> = sockets.collect();
    if sockets.is_empty() || poll(&mut sockets, Some(&NOW)).ok()? == 0 {
        return None;
    }
    sockets.iter().position(|socket| !socket.revents().is_empty())
}

impl Listener for ShmListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        self.accept_from(&mut |_| true)
    }

    fn accept_from(&self, admits: &mut dyn FnMut(Origin) -> bool) -> io::Result<Option<Box<dyn Stream>>> {
        let mut handshakes = self.handshakes.lock();
        let Some(index) = first_ready(&handshakes) else {
            let begun = self.begin(&mut handshakes)?;
            return if begun {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                Ok(None)
            };
        };
        // A client that cannot be served must not block the others.
        match self.proceed(&mut handshakes, index, admits) {
            Ok(Some(stream)) => Ok(Some(stream)),
            Ok(None) | Err(_) => Err(io::ErrorKind::Interrupted.into()),
        }
    }

    fn watch(&self, poller: &Arc<Poller>, token: u64) -> io::Result<()> {
        *self.watched.lock() = Some((Arc::clone(poller), token));
        poller.add(self.as_fd(), token, Interest::READ, Trigger::OneShot)
    }

    fn watch_again(&self, poller: &Poller, token: u64) -> io::Result<()> {
        for handshake in &*self.handshakes.lock() {
            // If it fails, others displace this one.
            let _ = poller.modify(&handshake.socket, token, Interest::READ, Trigger::OneShot);
        }
        poller.modify(self.as_fd(), token, Interest::READ, Trigger::OneShot)
    }

    fn shutdown(&self) {
        self.listening.shutdown();
        self.handshakes.lock().clear();
    }

    fn address(&self) -> &str {
        &self.published
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listening.socket.as_fd()
    }
}
