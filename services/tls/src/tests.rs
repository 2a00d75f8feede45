//! Tests of streams whose peer, or whose network, does what sockets of this host do not do.

use std::{
    io::{self, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::Arc,
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

/// A socket that claims that its peer has closed it before the last write.
struct Reset(SocketStream);

impl WrappedStream for Reset {
    fn inner(&self) -> &dyn Stream {
        &self.0
    }

    fn was_closed_before_write(&self, _: Duration) -> bool {
        true
    }
}

/// A client after its handshake, and its server by hand.
struct Pair {
    client: TlsStream,
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
    let near = Reset(SocketStream::new(near));
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
