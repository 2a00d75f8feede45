//! Idle connections: clients that connect and say nothing take no room from others, of the same lane or of
//! another one.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use punctual::{Orb, SchedulingClass};
use punctual_fixtures::{
    LONG, client_propagated,
    conformance::ProbeRef,
    eventually,
    peer::Peer,
    priorities::{HIGH, LOW},
    priority,
    real_time::{RealTime, propagated},
    server::{self, Profile, Server, Setup},
    wire::{CLOSE_CONNECTION, COMMON, REPLY, Reader},
};

fn call(peer: &mut Peer, key: &[u8], priority: Option<i16>) {
    let contexts: Vec<_> = priority.map(propagated).into_iter().collect();
    peer.send(&COMMON.request_with(1, 3, key, "twice", &contexts, |body| body.i32(21)));
    assert_eq!(peer.receive().expect("a reply").reply().body.i32(), 42);
}

#[test]
fn the_connection_that_is_idle_for_longest_gives_way_to_a_new_client() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_connections(4);
    let server = setup.start();
    let key = server.key();
    let mut idle: Vec<_> = (0..4)
        .map(|number| {
            let peer = Peer::connect(server.port());
            eventually("it is accepted", || server.seen(0).connections.open == number + 1);
            peer
        })
        .collect();
    // The first one is not silent.
    call(&mut idle[0], &key, None);
    for (number, expected) in [(1, 1), (2, 2), (3, 3)] {
        call(&mut Peer::connect(server.port()), &key, None);
        // The new client has gone again; another one fills its place.
        eventually("it has gone", || server.seen(0).connections.open == 3);
        idle.push(Peer::connect(server.port()));
        eventually("the lane is full", || server.seen(0).connections.open == 4);
        let message = idle[number].receive().expect("a message");
        assert_eq!(message.message_type, CLOSE_CONNECTION, "to the oldest");
        assert_eq!(server.seen(0).connections.idle, expected);
    }
    call(&mut idle[0], &key, None);
    assert_eq!(server.seen(0).connections.refused, 0);
}

#[test]
fn clients_in_the_middle_of_a_message_do_not_take_the_places_of_served_ones() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_connections(4);
    let server = setup.start();
    let key = server.key();
    let mut served: Vec<_> = (0..2).map(|_| Peer::connect(server.port())).collect();
    served.iter_mut().for_each(|peer| call(peer, &key, None));
    let mut stalled: Vec<_> = (0..2).map(|_| begun(&server)).collect();
    for displaced in 1..10 {
        // A three hundredth of the time for a message.
        thread::sleep(Duration::from_millis(150));
        stalled.push(begun(&server));
        assert_eq!(server.seen(0).connections.idle, displaced);
        served.iter_mut().for_each(|peer| call(peer, &key, None));
    }
    let first = stalled[0].receive().map(|message| message.message_type);
    assert_eq!(first, Some(CLOSE_CONNECTION), "the oldest gave way");
    assert_eq!(server.seen(0).connections.protocol_errors, 0);
    eventually("there is room for another client that calls", || {
        let mut peer = Peer::connect(server.port());
        peer.send(&COMMON.request_with(1, 3, &key, "twice", &[], |body| body.i32(21)));
        peer.receive()
            .is_some_and(|message| message.message_type != CLOSE_CONNECTION)
    });
}

/// A client in the middle of its first message, which the lane has accepted or refused.
fn begun(server: &Server) -> Peer {
    let counts = || {
        let seen = server.seen(0);
        (
            seen.connections.open,
            seen.connections.idle,
            seen.connections.refused,
        )
    };
    let before = counts();
    let mut peer = Peer::connect(server.port());
    peer.try_send(b"GIOP");
    eventually("the lane has seen it", || counts() != before);
    peer
}

#[test]
fn clients_that_were_served_and_stall_give_way_in_the_end() {
    let mut setup = Setup::default();
    // A tenth of the time for a message.
    setup.limits = setup
        .limits
        .max_connections(2)
        .message_completion(Duration::from_secs(10));
    let server = setup.start();
    let key = server.key();
    let mut peers: Vec<_> = (0..2).map(|_| Peer::connect(server.port())).collect();
    for peer in &mut peers {
        call(peer, &key, None);
        peer.send(b"GIOP");
    }
    eventually("a new client is served", || {
        let mut peer = Peer::connect(server.port());
        peer.send(&COMMON.request_with(1, 3, &key, "twice", &[], |body| body.i32(21)));
        peer.receive()
            .is_some_and(|message| message.message_type == REPLY)
    });
    assert_eq!(server.seen(0).connections.idle, 1);
    assert_eq!(server.seen(0).connections.protocol_errors, 0);
}

/// Path of the socket of an object that is reached over a Unix socket.
pub fn path(probe: &ProbeRef) -> String {
    let profile = &probe.ior().profiles[0].data;
    let mut reader = Reader::encapsulation(profile);
    reader.raw(2);
    String::from_utf8(reader.string().to_vec()).unwrap()
}

/// Key of the same object.
pub fn object_key(probe: &ProbeRef) -> Vec<u8> {
    let profile = &probe.ior().profiles[0].data;
    let mut reader = Reader::encapsulation(profile);
    reader.raw(2);
    reader.string();
    reader.sequence().to_vec()
}

fn is_closed(stream: &mut UnixStream) -> bool {
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut header = [0; 12];
    stream.read_exact(&mut header).is_ok() && header[7] == CLOSE_CONNECTION
}

fn over_unix_sockets(limits: fn(punctual::Limits) -> punctual::Limits) -> Server {
    let mut setup = Setup {
        listen: &["uiop://"],
        ..Setup::default()
    };
    setup.limits = limits(setup.limits);
    setup.start()
}

#[test]
fn a_process_takes_no_more_than_its_part_of_a_lane() {
    let server = over_unix_sockets(|limits| {
        let limits = limits.message_completion(1_000 * LONG);
        limits.max_connections_per_peer(3).accept_rate_per_peer(1_000_000)
    });
    let connect = || UnixStream::connect(path(&server.probe)).unwrap();
    // In the middle of a message, and not for long: not idle.
    let mut busy: Vec<_> = (0..3)
        .map(|number| {
            let mut stream = connect();
            stream.write_all(b"GIOP").unwrap();
            eventually("it is accepted", || server.seen(0).connections.open == number + 1);
            stream
        })
        .collect();
    assert!(is_closed(&mut connect()), "a fourth one, while all are busy");
    busy.pop();
    eventually("one has gone", || server.seen(0).connections.open == 2);
    let mut idle = connect();
    eventually("another one takes its place", || {
        server.seen(0).connections.open == 3
    });
    let mut last = connect();
    last.write_all(b"GIOP").unwrap();
    assert!(is_closed(&mut idle), "its own idle one gives way");
    eventually("the last one is in", || server.seen(0).connections.idle == 1);
    assert_eq!(server.seen(0).connections.refused, 1);
}

#[test]
fn a_process_that_connects_again_and_again_is_refused_after_a_while() {
    let server = over_unix_sockets(|limits| limits.max_connections_per_peer(4).accept_rate_per_peer(1));
    let begun = Instant::now();
    let (mut tries, mut told) = (4, 0);
    for _ in 0..tries {
        drop(UnixStream::connect(path(&server.probe)).unwrap());
    }
    eventually("they have gone", || server.seen(0).connections.open == 0);
    eventually("five are refused, and told so", || {
        let mut stream = UnixStream::connect(path(&server.probe)).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        tries += 1;
        told += u64::from(stream.read(&mut [0; 12]).is_ok_and(|count| count == 12));
        told >= 5
    });
    eventually("all have gone", || server.seen(0).connections.open == 0);
    let accepted = tries - server.seen(0).connections.refused;
    assert!(
        accepted <= 4 + begun.elapsed().as_secs() + 1,
        "{accepted}: one a second"
    );
}

/// Part of the test below, in a process with few descriptors: a server with two lanes.
#[test]
#[ignore = "started by another test"]
fn a_server_with_few_descriptors() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: Some(DESCRIPTORS),
        maximum: Some(DESCRIPTORS),
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let setup = Setup {
        pool: |pool| pool.lane(priority(LOW), 1).lane(priority(HIGH), 1),
        model: Some(client_propagated(priority(LOW))),
        class: SchedulingClass::Other,
        ..Setup::default()
    };
    let server = setup.start();
    println!("\n>{}", server.probe.to_ior());
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read_line(&mut String::new());
}

const DESCRIPTORS: u64 = 256;

#[test]
fn idle_clients_of_the_low_lane_do_not_lock_out_those_of_the_high_lane() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "idle_connections::a_server_with_few_descriptors"])
        .args(["--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let ior = said.find_map(|line| line.unwrap().strip_prefix('>').map(str::to_owned));
    let client: Orb = server::client();
    let probe: ProbeRef = client.resolve(&ior.expect("a reference")).unwrap();
    let (key, lanes) = (Profile::of(&probe).key, RealTime::of(&probe));
    let port = |own| {
        let lane = lanes.endpoints.iter().position(|priority| *priority == own);
        lanes.ports[lane.expect("a lane")]
    };
    // More than the process has descriptors, and kept open.
    let mut idle: Vec<_> = (0..2 * DESCRIPTORS).map(|_| Peer::connect(port(LOW))).collect();
    for round in 0..20 {
        let mut peer = Peer::connect(port(HIGH));
        call(&mut peer, &key, Some(HIGH));
        // A new client of the low lane gets its turn, too.
        if round % 10 == 0 {
            call(&mut Peer::connect(port(LOW)), &key, Some(LOW));
        }
    }
    let first = idle[0].receive().map(|message| message.message_type);
    assert_eq!(first, Some(CLOSE_CONNECTION), "the oldest gave way");
    drop(child.stdin.take());
    let mut notices = String::new();
    child.stderr.take().unwrap().read_to_string(&mut notices).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(notices.contains("ulimit -n"), "the limit is reported: {notices}");
}
