//! Peers that break the protocol or stall: each costs its own connection only.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use punctual::{
    Limits, Orb,
    transport::{Layer, Layered, Origin, Peer, ProtocolProperties, Side, Stream, Transport, WrappedStream},
};
use punctual_fixtures::{
    LONG,
    conformance::ProbeRef,
    eventually,
    real_time::ordinary,
    server::{Server, client},
};
use punctual_tls::{HandshakeCounts, Tls, TlsSettings};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::{
    orbs::{SECURED, client_with, plain_refusal, server, twice},
    pki::Root,
    references::secured_ports,
};

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", secured_ports(&server.probe)[0])).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Reads until the server has closed the connection.
fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut octets = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut octets);
    octets
}

/// A well-formed ClientHello.
fn client_hello() -> Vec<u8> {
    let mut connection = raw_client(RootCertStore::empty());
    let mut octets = Vec::new();
    connection.write_tls(&mut octets).unwrap();
    octets
}

fn raw_client(roots: RootCertStore) -> ClientConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

/// A client by hand that trusts the root.
fn trusting(root: &Root, server: &Server) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(root.path()).unwrap())
        .unwrap();
    let mut stream = StreamOwned::new(raw_client(roots), connect(server));
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).unwrap();
    }
    stream.flush().unwrap();
    stream
}

#[test]
fn what_is_no_handshake_is_refused_with_an_alert() {
    let root = Root::new("garbage");
    let (server, tls) = server(&root.certified("server"));
    let honest = client_with(&root.trusted());
    let probe = server.reference_for(&honest);
    assert_eq!(probe.twice(1), Ok(2));
    let hello = client_hello();
    let mut altered = hello.clone();
    altered[5] ^= 0xff;
    let empty_records = [22, 3, 1, 0, 0].repeat(100);
    let long_record = [&[22, 3, 1, 0xff, 0xff][..], &[0; 2000]].concat();
    let attacks: [&[u8]; 7] = [
        b"GIOP\x01\x02\x01\x00\x00\x00\x00\x04rest",
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 64],
        &[0xff; 5000],
        &altered,
        &empty_records,
        &long_record,
    ];
    for (number, attack) in attacks.iter().enumerate() {
        let mut peer = connect(&server);
        peer.write_all(attack).unwrap();
        let answer = read_to_end(&mut peer);
        assert!(
            answer.is_empty() || answer[0] == 21,
            "attack {number}: {answer:?}"
        );
        eventually("it is counted", || tls.handshakes().failed == number as u64 + 1);
        assert_eq!(
            probe.twice(number as i32),
            Ok(2 * number as i32),
            "over the connection of before"
        );
    }
    // A record that never becomes complete, and an end instead of a handshake.
    for part in [&hello[..hello.len() / 2], &hello[..3], &[]] {
        let before = tls.handshakes().failed;
        let mut peer = connect(&server);
        peer.write_all(part).unwrap();
        drop(peer);
        eventually("it is counted", || tls.handshakes().failed == before + 1);
    }
    assert_eq!(twice(&root.trusted(), &server), 42);
    let HandshakeCounts {
        completed,
        expired,
        displaced,
        ..
    } = tls.handshakes();
    assert_eq!((completed, expired, displaced), (2, 0, 0));
}

#[test]
fn a_plain_client_learns_that_the_port_is_one_for_tls() {
    let root = Root::new("plain-client");
    let (server, _) = server(&root.certified("server"));
    server.orb.publish("Probe", &server.probe).unwrap();
    let port = secured_ports(&server.probe)[0];
    let plain = client();
    let resolved = plain.resolve::<ProbeRef>(&format!("corbaloc::1.2@localhost:{port}/Probe"));
    let error = resolved.unwrap_err().to_string();
    assert!(error.contains("COMM_FAILURE (minor Punctual 150"), "{error}");
    assert!(error.contains(&format!("iiop://localhost:{port}")), "{error}");
    assert!(plain_refusal(&server).contains("minor Punctual 148"));
}

#[test]
fn a_client_with_tls_learns_that_the_port_is_a_plain_one() {
    let root = Root::new("plain-server");
    let server = Server::start();
    server.orb.publish("Probe", &server.probe).unwrap();
    let client = client_with(&root.trusted());
    let url = format!("corbaloc:ssliop:1.2@localhost:{}/Probe", server.port());
    let error = client.resolve::<ProbeRef>(&url).unwrap_err().to_string();
    assert!(error.contains("NO_PERMISSION (minor Punctual 149"), "{error}");
    let reasons = [
        "the peer does not speak TLS at this port",
        "does it have TLS at this port?",
    ];
    assert!(reasons.iter().any(|reason| error.contains(reason)), "{error}");
    assert_eq!(server.probe.twice(1), Ok(2));
}

/// Neither those that send nothing nor those that send one octet after the other.
#[test]
fn stalled_handshakes_end_at_their_deadline_and_delay_nobody() {
    let root = Root::new("stalled");
    let settings = root
        .certified("server")
        .handshake_timeout(Duration::from_millis(400));
    let (server, tls) = server(&settings);
    let hello = client_hello();
    let mut silent: Vec<_> = (0..20).map(|_| connect(&server)).collect();
    let mut half = connect(&server);
    half.write_all(&hello[..hello.len() - 1]).unwrap();
    let mut drip = connect(&server);
    let dripping = thread::spawn(move || {
        let start = Instant::now();
        let mut octets = hello.iter();
        // The server closes it long before the last octet.
        while start.elapsed() < LONG {
            let octet = octets.next().copied().unwrap_or(0);
            if drip.write_all(&[octet]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the server has waited for {} octets", hello.len());
    });
    assert_eq!(twice(&root.trusted(), &server), 42, "while they stall");
    silent.push(half);
    for peer in &mut silent {
        assert!(read_to_end(peer).is_empty());
    }
    dripping.join().unwrap();
    eventually("all have expired", || tls.handshakes().expired >= 21);
    assert_eq!(twice(&root.trusted(), &server), 42);
    assert_eq!(tls.handshakes().completed, 2);
}

#[test]
fn more_handshakes_than_the_limit_displace_the_oldest() {
    let root = Root::new("flood");
    let (server, tls) = server(&root.certified("server").handshake_timeout(LONG));
    let mut flood: Vec<_> = (0..80).map(|_| connect(&server)).collect();
    eventually("the oldest are displaced", || tls.handshakes().displaced >= 16);
    assert!(read_to_end(&mut flood[0]).is_empty());
    assert_eq!(twice(&root.trusted(), &server), 42);
    assert_eq!(tls.handshakes().expired, 0);
}

/// Lets connections come from one host of the network.
struct Elsewhere;

struct FromElsewhere(Box<dyn Stream>);

impl Layer for Elsewhere {
    fn wrap(&self, stream: Box<dyn Stream>, _: Side) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(FromElsewhere(stream)))
    }
}

impl WrappedStream for FromElsewhere {
    fn inner(&self) -> &dyn Stream {
        &*self.0
    }

    fn origin(&self) -> Origin {
        Origin {
            peer: Peer::Network([192, 0, 2, 1].into()),
            process: None,
        }
    }
}

/// They were few when the host was admitted, before their handshakes.
#[test]
fn complete_handshakes_of_a_host_count_towards_its_connections() {
    let root = Root::new("one-host");
    let tls = Tls::new(&root.certified("server")).unwrap();
    let orb = ordinary()
        .transport(Layered::new(tls, Elsewhere))
        .limits(Limits::default().max_connections_per_peer(3))
        .listen(SECURED)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    let server = Server::with_poa(orb, pool, poa);
    let peers: Vec<_> = (0..6).map(|_| trusting(&root, &server)).collect();
    eventually("those beyond the limit replace others", || {
        let seen = server.seen(0).connections;
        seen.open as u64 + seen.idle + seen.refused == 6 && seen.open <= 3
    });
    drop(peers);
}

#[test]
fn a_server_that_stalls_costs_the_connect_timeout() {
    let root = Root::new("stalling-server");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = Tls::new(&root.trusted()).unwrap();
    let timeout = Duration::from_millis(100);
    let connected = tls.connect(
        &format!("localhost:{port}"),
        &ProtocolProperties::default(),
        timeout,
    );
    assert_eq!(connected.err().unwrap().kind(), io::ErrorKind::TimedOut);

    let limits = Limits::default().connect_timeout(timeout);
    let orb = Orb::builder()
        .transport(tls)
        .limits(limits)
        .lock_memory(false)
        .build()
        .unwrap();
    let error = orb.resolve::<ProbeRef>(&format!("corbaloc:ssliop:1.2@localhost:{port}/Probe"));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("TIMEOUT (minor Punctual 18"), "{error}");
}

#[test]
fn a_server_that_ends_the_handshake_is_named_with_a_reason() {
    let root = Root::new("ending-server");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers: [&[u8]; 3] = [b"", b"GIOP\x01\x00\x00\x06\0\0\0\0", &[21, 3, 3, 0, 2, 2, 40]];
    let server = thread::spawn(move || {
        for answer in answers {
            let (mut peer, _) = listener.accept().unwrap();
            let _ = peer.read(&mut [0; 4096]);
            peer.write_all(answer).unwrap();
        }
    });
    let client = client_with(&root.trusted());
    for reason in [
        "the server ended the handshake; does it have TLS at this port?",
        "the peer does not speak TLS at this port",
        "it has no cipher in common, or requires a certificate",
    ] {
        let url = format!("corbaloc:ssliop:1.2@localhost:{port}/Probe");
        let error = client.resolve::<ProbeRef>(&url).unwrap_err().to_string();
        assert!(error.contains("minor Punctual 149"), "{error}");
        assert!(error.ends_with(&format!(": {reason})")), "{error}");
    }
    server.join().unwrap();
}

/// After the handshake: an altered record, a plain message, and an end without announcement.
#[test]
fn broken_records_end_their_connection_only() {
    let root = Root::new("records");
    let (server, tls) = server(&root.certified("server"));
    let honest = client_with(&root.trusted());
    let probe = server.reference_for(&honest);
    assert_eq!(probe.twice(1), Ok(2));
    let attacks: [&[u8]; 4] = [
        &[
            23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
        b"GIOP\x01\x02\x01\x00\x00\x00\x00\x04rest",
        &[23, 3, 3, 0xff, 0xff],
        &[21, 3, 3, 0, 2, 2, 40],
    ];
    for attack in attacks {
        let mut peer = trusting(&root, &server);
        // A request that is incomplete, so that the server waits for more.
        peer.write_all(b"GIOP\x01\x02").unwrap();
        eventually("it is served", || server.seen(0).connections.open == 2);
        peer.sock.write_all(attack).unwrap();
        read_to_end(&mut peer.sock);
        eventually("it is closed", || server.seen(0).connections.open == 1);
        assert_eq!(probe.twice(2), Ok(4));
    }
    drop(trusting(&root, &server).sock);
    eventually("it is closed", || server.seen(0).connections.open == 1);
    eventually("all handshakes are counted", || tls.handshakes().completed == 6);
    assert_eq!(probe.twice(3), Ok(6));
}

/// A lane that serves a call is not delayed by handshakes, and vice versa.
#[test]
fn large_messages_and_many_clients_work_beside_each_other() {
    let root = Root::new("beside");
    let (server, _) = server(&root.certified("server"));
    let settings: TlsSettings = root.trusted();
    thread::scope(|scope| {
        for number in 0..4_u32 {
            let (server, settings) = (&server, &settings);
            scope.spawn(move || {
                let client = client_with(settings);
                let probe = server.reference_for(&client);
                for round in 0..5 {
                    let length = 200_000 + number * 1000 + round;
                    let filled = probe.filled(length).unwrap();
                    assert_eq!(filled.len(), length as usize);
                    let reversed = probe.reverse(&(0..50_000).collect::<Vec<_>>()).unwrap();
                    assert_eq!((reversed.len(), reversed[0]), (50_000, 49_999));
                }
            });
        }
    });
}
