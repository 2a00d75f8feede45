//! Idle connections: clients that connect and say nothing take no room from others, of the same lane or of
//! another one.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    process::{Command, Stdio},
    time::Duration,
};

use punctual::{Orb, PriorityModel, SchedulingClass};
use punctual_fixtures::{
    LONG,
    conformance::ProbeRef,
    eventually,
    peer::Peer,
    priorities::{HIGH, LOW},
    priority,
    real_time::{RealTime, propagated},
    server::{self, Profile, Server, Setup},
    wire::{CLOSE_CONNECTION, COMMON, Reader},
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
            eventually("it is accepted", || server.seen(0).connections == number + 1);
            peer
        })
        .collect();
    // The first one is not silent.
    call(&mut idle[0], &key, None);
    for (number, expected) in [(1, 1), (2, 2), (3, 3)] {
        call(&mut Peer::connect(server.port()), &key, None);
        // The new client has gone again; another one fills its place.
        eventually("it has gone", || server.seen(0).connections == 3);
        idle.push(Peer::connect(server.port()));
        eventually("the lane is full", || server.seen(0).connections == 4);
        let message = idle[number].receive().expect("a message");
        assert_eq!(message.message_type, CLOSE_CONNECTION, "to the oldest");
        assert_eq!(server.seen(0).idle_connections, expected);
    }
    call(&mut idle[0], &key, None);
    assert_eq!(server.seen(0).refused_connections, 0);
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
    let server =
        over_unix_sockets(|limits| limits.max_connections_per_peer(3).accept_rate_per_peer(1_000_000));
    let connect = || UnixStream::connect(path(&server.probe)).unwrap();
    // In the middle of a message: not idle.
    let mut busy: Vec<_> = (0..3)
        .map(|number| {
            let mut stream = connect();
            stream.write_all(b"GIOP").unwrap();
            eventually("it is accepted", || server.seen(0).connections == number + 1);
            stream
        })
        .collect();
    assert!(is_closed(&mut connect()), "a fourth one, while all are busy");
    busy.pop();
    eventually("one has gone", || server.seen(0).connections == 2);
    let mut idle = connect();
    eventually("another one takes its place", || server.seen(0).connections == 3);
    let mut last = connect();
    last.write_all(b"GIOP").unwrap();
    assert!(is_closed(&mut idle), "its own idle one gives way");
    eventually("the last one is in", || server.seen(0).idle_connections == 1);
    assert_eq!(server.seen(0).refused_connections, 1);
}

#[test]
fn a_process_that_connects_again_and_again_is_refused_after_a_while() {
    let server = over_unix_sockets(|limits| limits.max_connections_per_peer(4).accept_rate_per_peer(1));
    for _ in 0..4 {
        drop(UnixStream::connect(path(&server.probe)).unwrap());
    }
    eventually("they have gone", || server.seen(0).connections == 0);
    let refused = (0..10).filter(|_| {
        let mut stream = UnixStream::connect(path(&server.probe)).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        stream.read(&mut [0; 12]).is_ok_and(|count| count == 12)
    });
    assert!(refused.count() >= 5, "one a second");
    assert!(server.seen(0).refused_connections >= 5);
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
        model: Some(PriorityModel::ClientPropagated {
            default: priority(LOW),
        }),
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
