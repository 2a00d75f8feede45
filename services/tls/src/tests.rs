//! Tests of streams whose peer, or whose network, does what sockets of this host do not do.

use std::{
    io::{self, Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::transport::{Distrust, SocketStream, Stream, WrappedStream};
use punctual_os::Interest;
use rustls::{
    AlertDescription as Alert, ClientConfig, ClientConnection, Error, RootCertStore, ServerConfig,
    ServerConnection, SupportedProtocolVersion,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    version::{TLS12, TLS13},
};

use crate::{
    handshakes::{most, step},
    reason::refuses_certificate,
    session::Session,
    stream::{TlsStream, shake_hands},
};

const LONG: Duration = Duration::from_secs(20);

/// A socket that has room for some octets only, whatever it says, and whose peer has closed it too early.
struct Narrow {
    socket: SocketStream,
    room: Arc<AtomicUsize>,
}

impl WrappedStream for Narrow {
    fn inner(&self) -> &dyn Stream {
        &self.socket
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        let room = self.room.load(Ordering::Relaxed).min(octets.len());
        if room == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.room.fetch_sub(room, Ordering::Relaxed);
        self.inner().write(&octets[..room])
    }

    fn was_closed_before_write(&self, _: Duration) -> bool {
        true
    }
}

impl Narrow {
    /// A connection's side without waiting, and the other one.
    fn pair() -> (Self, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        let near = Self {
            socket: SocketStream::new(near),
            room: Arc::new(AtomicUsize::new(usize::MAX)),
        };
        Stream::set_nonblocking(&near, true).unwrap();
        (near, far)
    }
}

/// A client after its handshake, and its server by hand.
struct Pair {
    client: TlsStream,
    /// Octets for which the client's socket has room.
    room: Arc<AtomicUsize>,
    server: ServerConnection,
    socket: UnixStream,
}

/// The configurations of a server with a certificate of its own and of a client that trusts it.
fn configs(version: &'static SupportedProtocolVersion) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    server.send_tls13_tickets = 0;
    (Arc::new(client), Arc::new(server))
}

fn pair(version: &'static SupportedProtocolVersion) -> Pair {
    let (client, server) = configs(version);
    let (near, mut socket) = Narrow::pair();
    let room = Arc::clone(&near.room);
    let mut server = ServerConnection::new(server).unwrap();
    let client = thread::scope(|scope| {
        let connecting = scope.spawn(|| {
            let connection = ClientConnection::new(client, "localhost".try_into().unwrap()).unwrap();
            let mut session = Session::new(connection);
            shake_hands(&near, &mut session, Instant::now() + LONG, "closed").unwrap();
            TlsStream::new(Box::new(near), session, true)
        });
        while server.is_handshaking() {
            server.complete_io(&mut socket).unwrap();
        }
        connecting.join().unwrap()
    });
    Pair {
        client,
        room,
        server,
        socket,
    }
}

/// An altered record after the handshake: the request that it should answer may have been executed.
#[test]
fn after_the_handshake_only_a_refused_certificate_is_distrust() {
    for version in [&TLS12, &TLS13] {
        let Pair {
            client, mut socket, ..
        } = pair(version);
        client.write(b"a request").unwrap();
        socket.write_all(&[23, 3, 3, 0, 20]).unwrap();
        socket.write_all(&[7; 20]).unwrap();
        assert!(client.wait_readable(LONG).unwrap());
        let error = client.read(&mut [0; 64]).unwrap_err();
        assert_eq!(Distrust::of(&error), None, "{error}");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
    let refuses = |alert| refuses_certificate(&Error::AlertReceived(alert));
    assert!(refuses(Alert::CertificateRequired) && refuses(Alert::AccessDenied));
    assert!(!refuses(Alert::InternalError) && !refuses(Alert::BadRecordMac));
    assert!(!refuses_certificate(&Error::DecryptError));
}

/// Segments of TCP can be forged: neither a reset nor an end without announcement proves anything.
#[test]
fn only_an_announced_end_proves_that_a_request_was_not_received() {
    for announced in [false, true] {
        let mut pair = pair(&TLS13);
        pair.client.write(b"a request").unwrap();
        if announced {
            pair.server.send_close_notify();
            pair.server.write_tls(&mut pair.socket).unwrap();
        }
        pair.socket.shutdown(Shutdown::Both).unwrap();
        assert!(pair.client.wait_readable(LONG).unwrap());
        assert_eq!(pair.client.read(&mut [0; 64]).unwrap(), 0);
        assert_eq!(pair.client.was_closed_before_write(LONG), announced);
    }
}

#[test]
fn an_announced_end_that_was_read_stays_readable() {
    let mut pair = pair(&TLS13);
    pair.server.send_close_notify();
    pair.server.write_tls(&mut pair.socket).unwrap();
    assert_eq!(pair.client.read(&mut [0; 64]).unwrap(), 0);
    assert!(pair.client.wait_readable(Duration::ZERO).unwrap());
    assert!(pair.client.wait_readable(Duration::from_millis(1)).unwrap());
    assert_eq!(pair.client.read(&mut [0; 64]).unwrap(), 0);
}

/// Octets that are reported as taken need no further call: callers wait for room only if some are left.
#[test]
fn a_write_takes_what_it_has_sent() {
    let mut pair = pair(&TLS13);
    let octets: Vec<u8> = (0..1000).map(|number| number as u8).collect();
    pair.room.store(100, Ordering::Relaxed);
    let taken = pair.client.write(&octets).unwrap();
    assert!(taken < octets.len(), "a part of the record has not been sent");
    let blocked = |octets: &[u8]| pair.client.write(octets).unwrap_err().kind();
    assert_eq!(blocked(&octets[taken..]), io::ErrorKind::WouldBlock);
    pair.room.store(usize::MAX, Ordering::Relaxed);
    let rest = pair.client.write(&octets[taken..]).unwrap();
    assert_eq!(taken + rest, octets.len());
    let mut received = vec![0; octets.len()];
    let mut stream = rustls::Stream::new(&mut pair.server, &mut pair.socket);
    stream.read_exact(&mut received).unwrap();
    assert!(received == octets, "octets are sent once");
    // A single octet.
    pair.room.store(0, Ordering::Relaxed);
    assert_eq!(blocked(b"x"), io::ErrorKind::WouldBlock);
    pair.room.store(3, Ordering::Relaxed);
    assert_eq!(blocked(b"x"), io::ErrorKind::WouldBlock);
    pair.room.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(pair.client.write(b"x").unwrap(), 1);
    stream.read_exact(&mut received[..1]).unwrap();
    assert_eq!(received[0], b'x');
    pair.client.shutdown();
    assert_eq!(stream.read(&mut received).unwrap(), 0, "nothing was sent twice");
}

#[test]
fn handshakes_leave_most_files_to_connections() {
    assert_eq!([1, 1024, 2048, u64::MAX].map(most), [4, 32, 64, 64]);
}

/// Data after the handshake are left to the lane's poller, also if the last flight had to wait for room.
#[test]
fn a_handshake_that_waited_for_room_reads_no_data() {
    let (client, server) = configs(&TLS12);
    let (near, mut socket) = Narrow::pair();
    let mut client = ClientConnection::new(client, "localhost".try_into().unwrap()).unwrap();
    let mut session = Session::new(ServerConnection::new(server).unwrap());
    let mut waited = false;
    while client.is_handshaking() {
        if client.wants_write() {
            client.write_tls(&mut socket).unwrap();
        }
        while session.is_handshaking() && Stream::wait_readable(&near, Duration::ZERO).unwrap() {
            near.room.store(0, Ordering::Relaxed);
            let interest = step(&mut session, &near).unwrap();
            waited = !session.is_handshaking() && interest == Some(Interest::WRITE);
            near.room.store(usize::MAX, Ordering::Relaxed);
            session.flush(&near).unwrap();
        }
        socket.set_nonblocking(true).unwrap();
        while client.read_tls(&mut socket).is_ok() {
            client.process_new_packets().unwrap();
        }
    }
    assert!(waited, "the last flight had no room");
    client.writer().write_all(b"GIOP").unwrap();
    client.write_tls(&mut socket).unwrap();
    assert!(step(&mut session, &near).unwrap().is_none());
    assert!(
        Stream::wait_readable(&near, Duration::ZERO).unwrap(),
        "the data are in the socket"
    );
}
