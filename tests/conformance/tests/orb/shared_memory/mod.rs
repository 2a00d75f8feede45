//! Calls through shared memory, between two ORBs of a process and between two processes.

use std::{
    io::{BufRead, BufReader, Write},
    os::{
        fd::IntoRawFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::{Completion, Limits, Priority, SystemExceptionKind};
use punctual_fixtures::{
    client_propagated,
    conformance::{ProbeRef, probe},
    eventually,
    real_time::ordinary_client,
    server::{self, Server, Setup},
    wire::COMMON,
};

mod hostile_client;
mod hostile_server;
mod mapped;
use hostile_client::HostileClient;
use hostile_server::HostileServer;

fn start() -> Server {
    Setup {
        listen: &["shmiop://"],
        ..Setup::default()
    }
    .start()
}

fn connections(server: &Server) -> usize {
    server
        .pool
        .statistics()
        .iter()
        .map(|(_, lane)| lane.connections.open)
        .sum()
}

#[test]
fn calls_of_every_kind() {
    let server = start();
    let client = server::client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(21).unwrap(), 42);
    assert_eq!(probe.greet("you").unwrap(), "Hello, you");
    assert!(matches!(
        probe.greet("").unwrap_err(),
        probe::GreetError::Refused(_)
    ));
    assert_eq!(
        probe.twice(server::UNLUCKY).unwrap_err().kind,
        SystemExceptionKind::Unknown
    );
    for value in 0..10_000 {
        probe.note(value).unwrap();
    }
    assert_eq!(probe.noted().unwrap(), 9_999);
    assert_eq!(server.hooks.journal(), (0..10_000).collect::<Vec<_>>());
}

#[test]
fn messages_larger_than_the_ring_go_both_ways() {
    let server = start();
    let client = server::client();
    let probe = server.reference_for(&client);
    for length in [1, 16_000, 16_384, 16_385, 50_000, 200_000] {
        let values: Vec<i32> = (0..length).collect();
        let reversed = probe.reverse(&values).unwrap();
        assert!(values.iter().rev().eq(reversed.iter()), "{length} longs");
    }
    assert_eq!(probe.filled(900_000).unwrap().len(), 900_000);
}

#[test]
fn each_priority_has_its_lane() {
    let setup = Setup {
        listen: &["shmiop://"],
        model: Some(client_propagated(Priority::MIN)),
        pool: |pool| pool.lane(Priority::MIN, 1).lane(Priority::MAX, 1),
        ..Setup::default()
    };
    let server = setup.start();
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    for (priority, requests) in [(Priority::MAX, [0, 2]), (Priority::MIN, [3, 2])] {
        client.current().set_priority(priority).unwrap();
        let before: Vec<_> = (0..requests[usize::from(priority == Priority::MAX)])
            .map(|_| probe.corba_priority().unwrap())
            .collect();
        assert!(before.iter().all(|served| *served == priority.value()));
        let served: Vec<_> = server
            .pool
            .statistics()
            .iter()
            .map(|(_, lane)| lane.requests)
            .collect();
        assert_eq!(served, requests);
    }
}

#[test]
fn deadlines_pass_and_late_replies_do_no_harm() {
    let server = start();
    let client = server::client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(1).unwrap(), 2);
    for timeout in [Duration::from_millis(4), Duration::from_millis(60)] {
        let hurried = probe.with_timeout(timeout).unchecked::<ProbeRef>();
        let started = Instant::now();
        let error = hurried.wait_at_gate(1).unwrap_err();
        assert_eq!(error.kind, SystemExceptionKind::Timeout);
        assert!(started.elapsed() >= timeout);
    }
    server.hooks.open_gate();
    for value in 0..10 {
        assert_eq!(probe.wait_at_gate(value).unwrap(), value);
    }
}

#[test]
fn a_server_that_shuts_down_says_so() {
    let server = start();
    let client = server::client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(1).unwrap(), 2);
    drop(server);
    let error = probe.twice(1).unwrap_err();
    assert_eq!(error.completed, Completion::No, "{error}");
}

#[test]
fn a_lane_lets_go_of_clients_that_have_gone() {
    let server = start();
    for _ in 0..50 {
        let client = server::client();
        let probe = server.reference_for(&client);
        thread::spawn(move || {
            let _client = client;
            assert_eq!(probe.twice(1).unwrap(), 2);
        })
        .join()
        .unwrap();
    }
    eventually("the connections are closed", || connections(&server) == 0);
}

/// Mappings of shared memory: two for each connection within this process, one for one with another.
fn mappings(process: u32) -> usize {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    maps.lines()
        .filter(|line| line.contains("memfd:punctual"))
        .count()
}

/// Part of the tests below, in a process of its own: a server, or a client, which says when it is there.
#[test]
#[ignore = "started by other tests"]
fn another_process() {
    let say = |line: &str| {
        println!("\n>{line}");
        std::io::stdout().flush().unwrap();
    };
    let forever = || {
        let _ = std::io::stdin().read_line(&mut String::new());
    };
    match std::env::var("ROLE").unwrap_or_default().as_str() {
        "server" => {
            let setup = Setup {
                listen: &["iiop://127.0.0.1:0", "uiop://", "shmiop://"],
                ..Setup::default()
            };
            let server = setup.start();
            say(&server.probe.to_ior());
            forever();
        }
        "client" => {
            let client = server::client();
            let probe: ProbeRef = client.resolve(&std::env::var("IOR").unwrap()).unwrap();
            if let Ok(spare) = std::env::var("SPARE_DESCRIPTORS") {
                use rustix::process::{Resource, Rlimit, setrlimit};
                // The limit is one of numbers: without a gap below it.
                let null = || std::fs::File::open("/dev/null").unwrap().into_raw_fd() as u64;
                let highest = (0..).map(|_| null()).find(|number| *number > 63).unwrap();
                let limit = Some(highest + 1 + spare.parse::<u64>().unwrap());
                let limit = Rlimit {
                    current: limit,
                    maximum: limit,
                };
                setrlimit(Resource::Nofile, limit).unwrap();
            }
            assert_eq!(probe.twice(21).unwrap(), 42);
            say("called");
            forever();
        }
        role => panic!("no such role: {role:?}"),
    }
}

struct Another {
    child: Child,
    said: String,
    /// For its temporary files: a process that is killed does not remove its sockets.
    folder: PathBuf,
}

impl Another {
    fn start(environment: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("punctual-another-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "shared_memory::another_process",
                "--ignored",
                "--nocapture",
            ])
            .envs(environment.iter().copied())
            .env("TMPDIR", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.find_map(|line| line.unwrap().strip_prefix('>').map(str::to_owned));
        let said = said.expect("the other process has failed; what it said stands above");
        // A process that writes to a pipe without a reader ends.
        thread::spawn(move || lines.for_each(drop));
        Self { child, said, folder }
    }

    fn kill(self) {}
}

impl Drop for Another {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn the_fastest_way_is_taken_and_another_where_it_is_blocked() {
    let server = Another::start(&[("ROLE", "server")]);
    let client = server::client();
    let probe: ProbeRef = client.resolve(&server.said).unwrap();
    assert_eq!(mappings(server.child.id()), 0);
    assert_eq!(probe.twice(1).unwrap(), 2);
    assert_eq!(
        mappings(server.child.id()),
        1,
        "shared memory, though it is named last"
    );
    // Enough for a socket, too few for memory and bells.
    let environment = [("ROLE", "client"), ("IOR", &*server.said)];
    let limited = Another::start(&[&environment[..], &[("SPARE_DESCRIPTORS", "3")]].concat());
    assert_eq!(
        mappings(limited.child.id()),
        0,
        "it has called over something else"
    );
    limited.kill();
    let another = Another::start(&environment);
    assert_eq!(mappings(another.child.id()), 1);
    another.kill();
    server.kill();
}

/// Another process has taken the place, and does not accept: that costs one connection timeout, and not one
/// for each call.
#[test]
fn a_blocked_way_is_not_tried_again_in_each_call() {
    let path = std::env::temp_dir().join(format!("punctual-blocked-{}", std::process::id()));
    let endpoint: &'static str = format!("shmiop://{}", path.display()).leak();
    let server = Setup {
        listen: vec!["iiop://127.0.0.1:0", endpoint].leak(),
        ..Setup::default()
    };
    let server = server.start();
    // The pool listens beside the ORB's own place; its file is the one that the reference names.
    let named = hostile_client::address_in(&server.probe, 1);
    std::fs::remove_file(&named).unwrap();
    let silent = UnixListener::bind(&named).unwrap();
    silent.set_nonblocking(true).unwrap();
    let limits = Limits::default().connect_timeout(Duration::from_millis(50));
    let client = server::client_with(limits);
    let probe = server.reference_for(&client);
    for value in 0..20 {
        assert_eq!(probe.twice(value).unwrap(), 2 * value);
    }
    let tried = std::iter::from_fn(|| silent.accept().ok()).count();
    assert_eq!(tried, 1);
    drop(silent);
    std::fs::remove_file(&named).unwrap();
}

#[test]
fn waiting_callers_notice_that_the_server_died() {
    let server = Another::start(&[("ROLE", "server")]);
    let client = server::client();
    let probe: ProbeRef = client.resolve(&server.said).unwrap();
    assert_eq!(probe.twice(1).unwrap(), 2);
    let waiting = {
        let probe = probe.clone();
        thread::spawn(move || probe.wait_at_gate(1).unwrap_err())
    };
    let lane = format!("/proc/{}/task", server.child.id());
    assert!(std::fs::read_dir(lane).unwrap().count() >= 2);
    eventually("the call is connected", || mappings(server.child.id()) == 2);
    // Nothing reports that its request has been sent: a moment later it has, and the call waits.
    thread::sleep(Duration::from_millis(200));
    server.kill();
    let error = waiting.join().unwrap();
    assert_eq!(error.kind, SystemExceptionKind::CommFailure, "{error}");
    assert_ne!(error.completed, Completion::Yes);
    // And this thread's own connection is of no more use.
    assert_eq!(probe.twice(1).unwrap_err().completed, Completion::No);
}

#[test]
fn a_client_that_dies_is_noticed_by_the_lane() {
    let server = start();
    let ior = server.probe.to_ior();
    let client = Another::start(&[("ROLE", "client"), ("IOR", &ior)]);
    assert_eq!(connections(&server), 1);
    client.kill();
    eventually("the lane has let go of it", || connections(&server) == 0);
}

/// The lane serves the honest client all the while; the hostile ones lose their connections, each its own.
#[test]
fn a_client_that_scribbles_harms_itself_only() {
    let server = start();
    let client = server::client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(1).unwrap(), 2);
    let stop = Arc::new(AtomicBool::new(false));
    let hostile = {
        let (stop, address) = (Arc::clone(&stop), hostile_client::address(&server.probe));
        thread::spawn(move || {
            let mut lost = 0;
            for seed in 1.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let mut client = HostileClient::connect(&address, seed);
                // The lane gives it up as soon as it catches a lie, which may take a few.
                lost += u32::from((0..2_000).any(|_| client.scribble()));
            }
            lost
        })
    };
    for value in 0..5_000 {
        assert_eq!(probe.twice(value).unwrap(), 2 * value);
    }
    stop.store(true, Ordering::Relaxed);
    let lost = hostile.join().unwrap();
    assert!(lost > 0, "no lie was caught");
    eventually("only the honest client is left", || connections(&server) == 1);
    assert_eq!(probe.twice(1).unwrap(), 2);
}

/// The octets that it announces exist, but are not GIOP.
#[test]
fn a_client_that_does_not_speak_giop_is_turned_away() {
    let server = start();
    let mut client = HostileClient::connect(&hostile_client::address(&server.probe), 1);
    client.write(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(&client.read(12)[..8], b"GIOP\x01\x00\x01\x06", "MessageError");
    eventually("it is closed", || connections(&server) == 0);
}

/// Regardless of what a server does with the memory, each call to it ends in time, and calls to others are as
/// they were.
#[test]
fn a_server_that_lies_or_scribbles_harms_calls_to_itself_only() {
    let (ior, (path, number)) = {
        let gone = start();
        (gone.probe.to_ior(), hostile_client::published(&gone.probe, 0))
    };
    let listener = UnixListener::bind(&path).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let hostile = {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            for seed in 1.. {
                let mut server = HostileServer::accept(&listener, number, seed);
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                // Honest for a while.
                for _ in 0..seed % 3 {
                    server.receive().into_iter().for_each(|id| server.answer(id));
                }
                let Some(id) = server.receive() else { continue };
                let mut reply = COMMON.reply(id, 0, |body| body.i32(42));
                match seed % 4 {
                    // More to come than any memory has.
                    0 => {
                        reply[8..12].fill(0xff);
                        server.send(&reply);
                        server.receive();
                    }
                    // It dies inside a reply.
                    1 => server.send(&reply[..20]),
                    _ => (0..500).for_each(|_| server.scribble()),
                }
            }
        })
    };
    let (honest, client) = (start(), server::client());
    let unharmed = honest.reference_for(&client);
    let probe: ProbeRef = client.resolve(&ior).unwrap();
    let probe: ProbeRef = probe.with_timeout(Duration::from_millis(100)).unchecked();
    let (mut answered, mut failed) = (0, 0);
    for value in 0..200 {
        let started = Instant::now();
        match probe.twice(value) {
            Ok(_) => answered += 1,
            Err(_) => failed += 1,
        }
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "it has not ended in time"
        );
        assert_eq!(unharmed.twice(value), Ok(2 * value));
    }
    assert!(
        answered > 20 && failed > 20,
        "{answered} answered, {failed} failed"
    );
    stop.store(true, Ordering::Relaxed);
    drop(UnixStream::connect(&path).unwrap());
    hostile.join().unwrap();
    std::fs::remove_file(path).unwrap();
}
