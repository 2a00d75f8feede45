//! Tests of streams whose peer, or whose network, does what sockets of this host do not do.

use std::{
    io::{self, Write as _},
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::transport::{Distrust, SocketStream, Stream, WrappedStream};
use rustls::{
    AlertDescription as Alert, ClientConfig, ClientConnection, Error, RootCertStore, ServerConfig,
    ServerConnection, SupportedProtocolVersion,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    version::{TLS12, TLS13},
};

use crate::{
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
    let (near, mut socket) = UnixStream::pair().unwrap();
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let near = Narrow {
        socket: SocketStream::new(near),
        room: Arc::clone(&room),
    };
    Stream::set_nonblocking(&near, true).unwrap();
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
