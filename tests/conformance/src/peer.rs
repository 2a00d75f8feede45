//! Peers that speak by hand: a client, and a server that answers as the test says.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use crate::wire::{Dialect, HEADER, Message};

/// One side of a connection.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
}

/// Long enough for any machine: a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(10);

impl Peer {
    /// Connects to a server on this host.
    pub fn connect(port: u16) -> Self {
        Self::new(TcpStream::connect(("127.0.0.1", port)).expect("the server listens"))
    }

    fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a socket option");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket option");
        Self { stream }
    }

    /// The same connection, for another thread.
    pub fn another(&self) -> Self {
        Self::new(self.stream.try_clone().expect("a descriptor"))
    }

    /// Sends octets. A peer that has gone is no error: what it said last may still be read.
    pub fn send(&mut self, octets: &[u8]) {
        if let Err(error) = self.stream.write_all(octets) {
            let gone = matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
            assert!(gone, "sending: {error}");
        }
    }

    /// Sends as much as the other side takes without reading; returns how many octets that were.
    pub fn send_until_full(&mut self, octets: &[u8], limit: usize) -> usize {
        self.stream
            .set_write_timeout(Some(Duration::from_millis(300)))
            .expect("a socket option");
        let mut sent = 0;
        while sent < limit {
            match self.stream.write(&octets[sent % octets.len()..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("sending: {error}"),
            }
        }
        sent
    }

    /// Ends this side of the connection; the other one goes on.
    pub fn finish(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("a connection");
    }

    /// The next message; `None` at the end of the stream.
    pub fn receive(&mut self) -> Option<Message> {
        let mut octets = vec![0; HEADER];
        if !self.fill(&mut octets) {
            return None;
        }
        assert_eq!(octets[..5], *b"GIOP\x01", "not GIOP: {octets:02x?}");
        let dialect = Dialect::new(octets[5], octets[6] & 1 == 1);
        assert_eq!(octets[6] & !1, 0, "flags");
        let size: [u8; 4] = octets[8..].try_into().expect("four octets");
        let size = if dialect.little {
            u32::from_le_bytes(size)
        } else {
            u32::from_be_bytes(size)
        };
        octets.resize(HEADER + size as usize, 0);
        assert!(
            self.fill(&mut octets[HEADER..]),
            "the stream ends inside a message"
        );
        Some(Message {
            dialect,
            message_type: octets[7],
            octets,
        })
    }

    /// Waits for the end of the stream. `false`: a message came instead.
    pub fn is_closed(&mut self) -> bool {
        !self.fill(&mut [0])
    }

    /// `false` at the end of the stream, or where the other side has reset it.
    fn fill(&mut self, buffer: &mut [u8]) -> bool {
        match self.stream.read_exact(buffer) {
            Ok(()) => true,
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
                ) =>
            {
                false
            }
            Err(error) => panic!("receiving: {error}"),
        }
    }
}

/// A server that the test plays itself.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
}

impl Listener {
    /// At a free port.
    pub fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        Self { listener, port }
    }

    /// The next client.
    pub fn accept(&self) -> Peer {
        Peer::new(self.listener.accept().expect("a client").0)
    }

    /// A client that connects soon; panics where none does.
    pub fn accept_soon(&self) -> Peer {
        self.listener.set_nonblocking(true).expect("a socket option");
        let mut client = None;
        wait_until("a client", || {
            client = self.listener.accept().ok();
            client.is_some()
        });
        self.listener.set_nonblocking(false).expect("a socket option");
        let (stream, _) = client.expect("waited for");
        stream.set_nonblocking(false).expect("a socket option");
        Peer::new(stream)
    }
}

/// Waits until something has happened that nobody reports; panics after a long while.
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < PATIENCE, "{what}: not yet");
        thread::sleep(Duration::from_millis(1));
    }
}
