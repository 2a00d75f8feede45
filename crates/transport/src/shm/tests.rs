//! Tests of the shared-memory transport.

use std::{
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    sync::{Arc, mpsc},
};

use punctual_os::{ThreadSpec, shm};
use socket2::{Domain, SockAddr, Socket, Type};

use super::*;

const TIMEOUT: Duration = Duration::from_secs(10);

fn listen() -> Box<dyn Listener> {
    Shm.listen("", None, &ProtocolProperties::default()).unwrap()
}

fn connect(address: &str) -> io::Result<Box<dyn Stream>> {
    Shm.connect(address, &ProtocolProperties::default(), TIMEOUT)
}

/// Returns client and server. As on a lane, the server accepts when its descriptor is readable.
fn pair(properties: &ProtocolProperties) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let listener = Shm.listen("", None, properties).unwrap();
    let address = listener.address().to_owned();
    let client = in_thread(move || connect(&address).unwrap());
    let server = accept(&*listener);
    (client.join().unwrap(), server)
}

fn accept(listener: &dyn Listener) -> Box<dyn Stream> {
    let poller = Arc::new(punctual_os::Poller::new().unwrap());
    listener.watch(&poller, 0).unwrap();
    loop {
        match listener.accept() {
            Ok(Some(stream)) => return stream,
            Ok(None) => {
                listener.watch_again(&poller, 0).unwrap();
                poller.wait_one(None).unwrap();
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Interrupted),
        }
    }
}

fn in_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> punctual_os::Thread<T> {
    ThreadSpec::new("test").spawn(run).unwrap()
}

fn small() -> ProtocolProperties {
    let mut properties = ProtocolProperties::default();
    properties.send_buffer_size = Some(4096);
    properties
}

#[test]
fn the_ring_has_the_requested_size() {
    let sized = |size| {
        let mut properties = ProtocolProperties::default();
        properties.recv_buffer_size = size;
        ring_size(&properties)
    };
    let cases = [
        (None, 65_536),
        (Some(1), 4096),
        (Some(5000), 8192),
        (Some(u32::MAX), MAX_RING_SIZE),
    ];
    for (asked, got) in cases {
        assert_eq!(sized(asked), got, "{asked:?}");
    }
}

#[test]
fn more_than_the_ring_holds_goes_through_both_ways_at_once() {
    const OCTETS: usize = 1 << 20;
    let (client, server) = pair(&small());
    server.set_nonblocking(false).unwrap();
    let (client, server) = (Arc::new(client), Arc::new(server));
    let send = |stream: &Arc<Box<dyn Stream>>| {
        let stream = Arc::clone(stream);
        in_thread(move || {
            let octets: Vec<u8> = (0..OCTETS).map(|index| (index / 7) as u8).collect();
            let mut sent = 0;
            while sent < OCTETS {
                sent += stream.write(&octets[sent..]).unwrap();
            }
        })
    };
    let receive = |stream: &Arc<Box<dyn Stream>>| {
        let stream = Arc::clone(stream);
        in_thread(move || {
            let mut received = 0;
            let mut buffer = [0; 3000];
            while received < OCTETS {
                let count = stream.read(&mut buffer).unwrap();
                for octet in &buffer[..count] {
                    assert_eq!(*octet, (received / 7) as u8);
                    received += 1;
                }
            }
        })
    };
    let threads = [send(&client), send(&server), receive(&client), receive(&server)];
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn the_descriptor_signals_octets_room_and_the_end() {
    let (client, server) = pair(&small());
    let poller = punctual_os::Poller::new().unwrap();
    poller
        .add(
            &*server,
            7,
            punctual_os::Interest::READ_WRITE,
            punctual_os::Trigger::Edge,
        )
        .unwrap();
    let event = |what: &str| {
        let event = poller.wait_one(Some(TIMEOUT)).unwrap();
        event.unwrap_or_else(|| panic!("no event for {what}"))
    };
    let mut buffer = [0; 8192];
    let nothing = server.read(&mut buffer).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    for _ in 0..2_000 {
        client.write(b"ping").unwrap();
        assert!(!event("octets").is_peer_closed());
        assert_eq!(server.read(&mut buffer).unwrap(), 4);
    }
    assert_eq!(server.write(&buffer).unwrap(), 4096);
    assert_eq!(
        server.write(&buffer).unwrap_err().kind(),
        io::ErrorKind::WouldBlock
    );
    assert_eq!(client.read(&mut buffer).unwrap(), 4096);
    event("room");
    assert_eq!(server.write(b"last words").unwrap(), 10);
    client.write(b"bye").unwrap();
    drop(client);
    while !event("the end").is_peer_closed() {}
    assert_eq!(server.read(&mut buffer).unwrap(), 3, "data before the end");
    assert_eq!(server.read(&mut buffer).unwrap(), 0);
    assert_eq!(server.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn waits_have_timeouts() {
    let (client, server) = pair(&small());
    let mut buffer = [0; 8192];
    let fine = Duration::from_millis(3);
    for _ in 0..3 {
        let start = Instant::now();
        assert!(!client.wait_readable(fine).unwrap());
        assert!(start.elapsed() >= fine);
        assert!(!client.wait_readable(Duration::ZERO).unwrap());
    }
    client.set_timeout(Some(fine)).unwrap();
    let late = client.read(&mut buffer).unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::WouldBlock);
    assert_eq!(client.write(&buffer).unwrap(), 4096);
    let late = client.write(&buffer).unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::WouldBlock);
    server.write(b"pong").unwrap();
    assert!(client.wait_readable(Duration::ZERO).unwrap());
    assert_eq!(client.read(&mut buffer).unwrap(), 4);
    // No ring remains.
    assert!(!client.wait_readable(fine).unwrap());
    drop(server);
    assert!(client.wait_readable(TIMEOUT).unwrap(), "the end can be read");
    assert_eq!(client.read(&mut buffer).unwrap(), 0);
}

#[test]
fn shutdown_ends_the_waits_of_both_sides() {
    let (client, server) = pair(&small());
    server.set_nonblocking(false).unwrap();
    let (client, server) = (Arc::new(client), Arc::new(server));
    while client.write(&[0; 4096]).unwrap() < 4096 {}
    let waiting = |stream: &Arc<Box<dyn Stream>>| {
        let stream = Arc::clone(stream);
        in_thread(move || stream.read(&mut [0; 16]).unwrap())
    };
    let (started, start) = mpsc::sync_channel(1);
    let writing = {
        let client = Arc::clone(&client);
        in_thread(move || {
            started.send(()).unwrap();
            client.write(&[0; 16]).unwrap_err().kind()
        })
    };
    let reading = waiting(&client);
    start.recv().unwrap();
    client.shutdown();
    assert_eq!(reading.join().unwrap(), 0);
    assert_eq!(writing.join().unwrap(), io::ErrorKind::BrokenPipe);
    // The other side is woken, and receives the data written before.
    let mut octets = 0;
    loop {
        match server.read(&mut [0; 1000]).unwrap() {
            0 => break,
            count => octets += count,
        }
    }
    assert_eq!(octets, 4096);
}

#[test]
fn data_not_received_by_a_dead_peer_was_not_written() {
    let (client, server) = pair(&small());
    drop(server);
    assert_eq!(
        client.write(b"lost").unwrap_err().kind(),
        io::ErrorKind::BrokenPipe
    );
}

#[test]
fn another_server_at_the_same_path_is_detected() {
    let first = listen();
    let published = first.address().to_owned();
    let path = published.split('?').next().unwrap().to_owned();
    first.shutdown();
    let error = connect(&published).err().unwrap();
    assert_eq!(
        error.kind(),
        io::ErrorKind::ConnectionRefused,
        "no server listens: {error}"
    );
    let second = Shm.listen(&path, None, &ProtocolProperties::default()).unwrap();
    let connecting = in_thread(move || [connect(&published).err(), connect(&path).err()]);
    let stream = accept(&*second);
    let [meant_the_first, client] = connecting.join().unwrap();
    assert_eq!(
        meant_the_first.map(|error| error.kind()),
        Some(io::ErrorKind::ConnectionRefused)
    );
    assert!(client.is_none(), "{client:?}");
    drop(stream);
}

#[test]
fn connecting_to_a_server_that_does_not_accept_times_out() {
    let listener = listen();
    let timeout = Duration::from_millis(30);
    let error = Shm.connect(listener.address(), &ProtocolProperties::default(), timeout);
    assert_eq!(
        error.err().map(|error| error.kind()),
        Some(io::ErrorKind::TimedOut)
    );
}

#[test]
fn malformed_addresses_are_refused() {
    for address in [
        "relative",
        "/path?x",
        "/path?123",
        "/path?+0000000000000000000000000000000",
    ] {
        let error = connect(address).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    }
    assert_eq!(
        Shm.lane_address("/run/radar?00", "rt.7"),
        "/run/radar.rt.7",
        "related to the path"
    );
}

/// Connects to a server that sends `octets` and the result of `descriptors`, and returns the error.
fn hostile(octets: &'static [u8], descriptors: impl Fn() -> Vec<OwnedFd> + Send + 'static) -> io::Error {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    let path = hostile_path();
    let listening = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    listening.bind(&SockAddr::unix(&path).unwrap()).unwrap();
    listening.listen(1).unwrap();
    let serving = in_thread(move || {
        let (socket, _) = listening.accept().unwrap();
        let descriptors = descriptors();
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() {
            assert!(ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)));
        }
        sendmsg(
            &socket,
            &[io::IoSlice::new(octets)],
            &mut ancillary,
            SendFlags::empty(),
        )
        .unwrap();
    });
    let error = connect(path.to_str().unwrap())
        .err()
        .expect("the server must not be trusted");
    serving.join().unwrap();
    std::fs::remove_file(path).unwrap();
    error
}

fn hostile_path() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("punctual-hostile-{}-{number}", std::process::id()))
}

const GREETING: &[u8; 32] = b"Punctual shm 2\0\0................";

#[test]
fn a_hostile_server_is_not_trusted() {
    use rustix::fs::{MemfdFlags, memfd_create};
    fn pipe() -> [OwnedFd; 2] {
        let (receiver, sender) = shm::doorbell().unwrap();
        [receiver.into(), sender.into()]
    }
    let invalid = |octets, descriptors: fn() -> Vec<OwnedFd>| {
        let error = hostile(octets, descriptors);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    };
    invalid(b"GIOP\x01\x02\x01\x05\0\0\0\0", Vec::new);
    invalid(b"Punctual shm 1\0\0................", Vec::new);
    invalid(&GREETING[..31], Vec::new);
    invalid(GREETING, Vec::new);
    invalid(GREETING, || vec![shm::Segment::create(4096).unwrap().1]);
    invalid(GREETING, || {
        let memory = memfd_create(c"unsealed", MemfdFlags::ALLOW_SEALING).unwrap();
        std::iter::once(memory).chain(pipe()).collect()
    });
    invalid(GREETING, || {
        let memory = OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
        std::iter::once(memory).chain(pipe()).collect()
    });
    invalid(GREETING, || {
        let memory = || shm::Segment::create(4096).unwrap().1;
        vec![memory(), memory(), memory()]
    });
    let error = hostile(GREETING, || {
        std::iter::repeat_with(|| shm::Segment::create(4096).unwrap().1)
            .take(8)
            .collect()
    });
    assert!(error.to_string().contains("descriptors"), "{error}");
}

/// A server with one client, which plays the handshake by hand.
fn played() -> (Box<dyn Listener>, Arc<punctual_os::Poller>, Socket) {
    let listener = listen();
    let poller = Arc::new(punctual_os::Poller::new().unwrap());
    listener.watch(&poller, 0).unwrap();
    let path = listener.address().split('?').next().unwrap().to_owned();
    let client = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    client.connect(&SockAddr::unix(path).unwrap()).unwrap();
    client.set_read_timeout(Some(TIMEOUT)).unwrap();
    (listener, poller, client)
}

/// Accepts until nothing is left to do. Returns the streams.
fn settle(listener: &dyn Listener) -> Vec<Box<dyn Stream>> {
    let mut streams = Vec::new();
    loop {
        match listener.accept() {
            Ok(None) => return streams,
            Ok(Some(stream)) => streams.push(stream),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Interrupted),
        }
    }
}

/// Number of octets or descriptors of memory that the client has received; 0 at the end.
fn received(client: &Socket) -> usize {
    rustix::net::recv(client, &mut [0; 64][..], rustix::net::RecvFlags::empty()).map_or(0, |(count, _)| count)
}

#[test]
fn a_client_that_does_not_ask_gets_no_memory() {
    let (listener, poller, client) = played();
    assert!(poller.wait_one(Some(TIMEOUT)).unwrap().is_some());
    assert!(settle(&*listener).is_empty());
    listener.watch_again(&poller, 0).unwrap();
    client.send(b"Punctual shm 2\0\0").unwrap();
    assert!(poller.wait_one(Some(TIMEOUT)).unwrap().is_some());
    assert!(settle(&*listener).is_empty());
    assert_eq!(received(&client), 0, "half a greeting ends the handshake");
}

#[test]
fn only_a_client_that_has_sealed_the_memory_is_connected() {
    let (listener, _poller, client) = played();
    client
        .send(b"Punctual shm 2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
        .unwrap();
    assert!(settle(&*listener).is_empty());
    assert_eq!(received(&client), 32, "the memory is there");
    client.send(&[1]).unwrap();
    assert!(settle(&*listener).is_empty(), "it could still release a part");
    assert_eq!(received(&client), 0);
}

/// Clients that connect and remain silent displace each other, in bounded memory.
#[test]
fn silent_clients_of_a_process_keep_few_handshakes() {
    let (listener, _poller, first) = played();
    let path = listener.address().split('?').next().unwrap().to_owned();
    let silent: Vec<_> = (0..40)
        .map(|_| {
            let client = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            client.connect(&SockAddr::unix(&path).unwrap()).unwrap();
            settle(&*listener);
            client
        })
        .collect();
    assert_eq!(received(&first), 0, "displaced");
    let kept = silent.iter().filter(|client| {
        client.set_nonblocking(true).unwrap();
        client.recv(&mut [std::mem::MaybeUninit::uninit(); 1]).is_err()
    });
    assert_eq!(kept.count(), 8);
}
