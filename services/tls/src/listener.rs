//! Accepting connections over TLS.

use std::{io, os::fd::BorrowedFd, sync::Arc};

use punctual::transport::{Listener, Origin, Stream};
use punctual_os::{Interest, PiMutex, Poller, Thread, Trigger};

use crate::handshakes::Handshakes;

/// Listener for TCP, with the thread that executes handshakes.
pub(crate) struct TlsListener {
    pub(crate) tcp: Box<dyn Listener>,
    pub(crate) handshakes: Arc<Handshakes>,
    pub(crate) thread: PiMutex<Option<Thread<()>>>,
}

impl Listener for TlsListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        self.accept_from(&mut |_| true)
    }

    fn accept_from(&self, admits: &mut dyn FnMut(Origin) -> bool) -> io::Result<Option<Box<dyn Stream>>> {
        if let Some(stream) = self.handshakes.finished() {
            return Ok(Some(Box::new(stream)));
        }
        let mut admitted = true;
        let mut asked = |origin| {
            admitted = admits(origin);
            admitted
        };
        let Some(stream) = self.tcp.accept_from(&mut asked)? else {
            return Ok(None);
        };
        // One that is not admitted is closed: a message of GIOP would be no record of TLS.
        if admitted {
            self.handshakes.begin(stream);
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    fn watch(&self, poller: &Arc<Poller>, token: u64) -> io::Result<()> {
        poller.add(&self.handshakes.done, token, Interest::READ, Trigger::OneShot)?;
        self.tcp.watch(poller, token)
    }

    fn watch_again(&self, poller: &Poller, token: u64) -> io::Result<()> {
        poller.modify(&self.handshakes.done, token, Interest::READ, Trigger::OneShot)?;
        self.tcp.watch_again(poller, token)
    }

    fn shutdown(&self) {
        self.tcp.shutdown();
        self.handshakes.stop();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // A step is short. A panic has been reported.
            let _ = thread.join();
        }
    }

    fn address(&self) -> &str {
        self.tcp.address()
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tcp.as_fd()
    }
}

impl Drop for TlsListener {
    fn drop(&mut self) {
        self.shutdown();
    }
}
