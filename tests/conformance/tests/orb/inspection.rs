//! Inspection of a running ORB: the reports to `punctual top` and Prometheus, and resistance to misuse.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::{
        fs::PermissionsExt,
        net::{UnixListener, UnixStream},
    },
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use punctual::{
    InspectedAt, Inspection, Orb, OrbError, PolicyOverrides, Priority, PriorityBand, QueueLimits,
    SystemExceptionKind,
};
use punctual_fixtures::{
    LONG, client_propagated,
    conformance::ProbeRef,
    eventually,
    real_time::{ordinary, ordinary_client},
    recorder::resolve,
    server::{Server, Setup, client, of_punctual, reference},
};
use serde_json::Value;

#[test]
fn calls_are_counted_and_timed_on_their_lanes() {
    let server = Setup {
        model: Some(client_propagated(Priority::MIN)),
        pool: |pool| pool.lane(Priority::MIN, 1).lane(Priority::MAX, 2),
        inspection: Some(Inspection::at(path("counted"))),
        ..Setup::default()
    }
    .start();
    let caller = ordinary_client();
    caller.current().set_priority(Priority::MAX).unwrap();
    let probe = server.reference_for(&caller);
    for _ in 0..20 {
        assert_eq!(probe.twice(21), Ok(42));
    }
    // A lane counts when it has sent the reply.
    eventually("the last call is timed", || {
        timed(&lane(&snapshot(&server), 1)) == 20
    });
    let snapshot = snapshot(&server);
    assert_eq!(
        (&snapshot["schema"], &snapshot["pid"]),
        (&1.into(), &std::process::id().into())
    );
    let [own, low, high] = &snapshot["lanes"].as_array().unwrap()[..] else {
        panic!("the default pool's lane and two: {snapshot}");
    };
    assert_eq!((&own["pool"], &own["priority"]), (&0.into(), &Value::Null));
    assert_eq!((number(low, "priority"), number(high, "priority")), (0, 32_767));
    assert_eq!((number(low, "requests"), timed(low)), (0, 0));
    assert_eq!((number(high, "requests"), number(high, "threads")), (20, 2));
    assert_eq!(
        (number(high, "busy_threads"), number(high, "connections")),
        (0, 1)
    );
    let service = &high["service"];
    let (sum, max) = (number(service, "sum_ns"), number(service, "max_ns"));
    assert!(0 < max && max <= sum && sum <= 20 * max, "{service}");
    assert_eq!(high["queue_limit_requests"], Value::Null, "it has no queue");
    let stack = (number(high, "stack_used_bytes"), number(high, "stack_bytes"));
    assert!(0 < stack.0 && stack.0 < stack.1 / 2, "{stack:?}");
}

#[test]
fn queues_refusals_and_busy_threads_show_while_they_last() {
    let limits = QueueLimits {
        requests: 2,
        octets: 64 << 10,
    };
    let mut setup = Setup {
        inspection: Some(Inspection::at(path("queue"))),
        ..Setup::default()
    };
    setup.pool = |pool| {
        pool.request_buffering(QueueLimits {
            requests: 2,
            octets: 64 << 10,
        })
    };
    let server = setup.start();
    let callers = [(); 4].map(|()| client());
    let probes = [0, 1, 2, 3].map(|number: usize| server.reference_for(&callers[number]));
    // The assertions follow when no thread waits.
    let (refused, seen) = thread::scope(|scope| {
        scope.spawn(|| probes[0].wait_at_gate(1));
        server.hooks.await_at_gate(1);
        for (probe, waiting) in probes[1..=2].iter().zip(1..) {
            scope.spawn(move || probe.twice(1));
            eventually("it waits", || server.seen(0).queue.requests == waiting);
        }
        let refused = probes[3].twice(1);
        let seen = snapshot(&server);
        server.hooks.open_gate();
        (refused, seen)
    });
    assert_eq!(refused.unwrap_err().kind, SystemExceptionKind::Transient);
    let seen = lane(&seen, 0);
    assert_eq!(
        (number(&seen, "busy_threads"), number(&seen, "queued_requests")),
        (1, 2)
    );
    assert_eq!(number(&seen, "queue_limit_requests"), limits.requests as u64);
    assert_eq!(number(&seen, "queue_limit_octets"), limits.octets as u64);
    assert_eq!(
        (number(&seen, "queue_refused"), number(&seen, "requests")),
        (1, 4)
    );
    assert_eq!(number(&seen, "connections"), 4);
    eventually("all are served", || timed(&lane(&snapshot(&server), 0)) == 3);
    let lane = lane(&snapshot(&server), 0);
    assert_eq!(
        (
            number(&lane, "queued_requests"),
            number(&lane, "most_queued_requests")
        ),
        (0, 2)
    );
    assert_eq!(
        (number(&lane, "busy_threads"), number(&lane, "queue_accepted")),
        (0, 3)
    );
}

#[test]
fn borrowed_threads_are_seen_on_both_lanes() {
    let mut setup = Setup {
        model: Some(client_propagated(Priority::MIN)),
        inspection: Some(Inspection::at(path("borrowed"))),
        ..Setup::default()
    };
    setup.pool = |pool| {
        pool.lane(Priority::MIN, 1)
            .lane(Priority::MAX, 1)
            .allow_borrowing(true)
    };
    let server = setup.start();
    let callers = [(); 2].map(|()| ordinary_client());
    let busy = server.reference_for(&callers[0]);
    thread::scope(|scope| {
        scope.spawn(|| {
            callers[0].current().set_priority(Priority::MAX).unwrap();
            assert_eq!(busy.wait_at_gate(1), Ok(1));
        });
        server.hooks.await_at_gate(1);
        callers[1].current().set_priority(Priority::MAX).unwrap();
        let probe = server.reference_for(&callers[1]);
        for _ in 0..3 {
            assert_eq!(probe.twice(1), Ok(2));
        }
        server.hooks.open_gate();
    });
    let snapshot = snapshot(&server);
    assert_eq!(number(&lane(&snapshot, 0), "lent"), 3);
    assert_eq!(number(&lane(&snapshot, 1), "borrowed"), 3);
}

#[test]
fn requests_that_take_too_long_for_their_clients_are_late() {
    let setup = Setup {
        inspection: Some(Inspection::at(path("late"))),
        ..Setup::default()
    };
    let server = setup.start();
    let caller = client();
    let hasty = PolicyOverrides::new()
        .roundtrip_timeout(Duration::from_millis(30))
        .sends_deadlines(true);
    let probe = server
        .reference_for(&caller)
        .with_policies(hasty)
        .unchecked::<ProbeRef>();
    assert_eq!(
        probe.wait_at_gate(1).unwrap_err().kind,
        SystemExceptionKind::Timeout
    );
    // By the lane's reckoning, too, which begins when it has read the request.
    thread::sleep(Duration::from_millis(30));
    server.hooks.open_gate();
    eventually("the upcall has ended", || {
        number(&lane(&snapshot(&server), 0), "late") == 1
    });
    eventually("it is timed", || timed(&lane(&snapshot(&server), 0)) == 1);
}

/// A client is an ORB like any other.
#[test]
fn a_clients_connections_are_counted_by_band_and_its_late_replies() {
    let high = Priority::new(20_000).unwrap();
    let bands = [
        PriorityBand::new(Priority::MIN, Priority::new(19_999).unwrap()),
        PriorityBand::new(high, Priority::MAX),
    ];
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .inspection(Inspection::at(path("served-bands")))
        .build()
        .unwrap();
    let pool = orb.threadpool().default_priority(Priority::MAX).build().unwrap();
    let model = client_propagated(Priority::MIN);
    let poa = orb
        .root_poa()
        .child("banded")
        .threadpool(&pool)
        .priority_model(model)
        .priority_bands(bands)
        .build()
        .unwrap();
    let server = Server::with_poa(orb, pool, poa);
    let caller = ordinary()
        .inspection(Inspection::at(path("bands")))
        .build()
        .unwrap();
    // The server is to know the band.
    let binding = PolicyOverrides::new().binds_bands(true);
    let banded: ProbeRef = server.reference_for(&caller).with_policies(binding).unchecked();
    for priority in [Priority::MIN, high] {
        caller.current().set_priority(priority).unwrap();
        assert_eq!(banded.twice(1), Ok(2));
    }
    let plain = reference([1, 2], server.port(), &server.key(), &[of_punctual()]);
    let probe = resolve(&caller, &plain);
    assert_eq!(probe.twice(1), Ok(2));
    let late = probe
        .with_timeout(Duration::from_millis(20))
        .unchecked::<ProbeRef>();
    assert_eq!(
        late.wait_at_gate(1).unwrap_err().kind,
        SystemExceptionKind::Timeout
    );
    server.hooks.open_gate();

    let snapshot = snapshot_of(&caller.inspected_at().unwrap().socket);
    const BANDS: [&str; 3] = ["none", "0..19999", "20000..32767"];
    let open = |side: &Value, band: &str| {
        let bands = side["connections_by_band"].as_array().unwrap();
        let found = bands.iter().find(|found| found["band"] == band);
        found.map(|found| number(found, "open"))
    };
    assert_eq!(
        BANDS.map(|band| open(&snapshot["client"], band)),
        [Some(1); 3],
        "{snapshot}"
    );
    assert_eq!(number(&snapshot["client"], "late_replies"), 1);
    // The server has been told of each band, and knows when its connection is closed.
    let served = || lane(&self::snapshot(&server), 0);
    assert_eq!(
        BANDS.map(|band| open(&served(), band)),
        [Some(1); 3],
        "{}",
        served()
    );
    drop((probe, banded, late, caller));
    eventually("all are closed", || {
        BANDS.map(|band| open(&served(), band)) == [Some(0); 3] && number(&served(), "connections") == 0
    });
}

#[test]
fn prometheus_gets_what_it_understands_over_both_sockets() {
    let setup = Setup {
        inspection: Some(Inspection::at(path("metrics")).metrics_at("127.0.0.1:0")),
        ..Setup::default()
    };
    let server = setup.start();
    assert_eq!(server.reference_for(&client()).twice(1), Ok(2));
    eventually("it is timed", || timed(&lane(&snapshot(&server), 0)) == 1);
    let InspectedAt { socket, metrics } = server.orb.inspected_at().unwrap();
    let question = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n";
    let over_tcp = ask_all(TcpStream::connect(metrics.unwrap()).unwrap(), question);
    let over_unix = ask_all(UnixStream::connect(&socket).unwrap(), question);
    let name = lane(&snapshot(&server), 0)["lane"].as_str().unwrap().to_owned();
    for answer in [over_tcp, over_unix] {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "{head}"
        );
        let samples = parse_metrics(body);
        let labels = format!("pool=\"1\",lane=\"{name}\",priority=\"none\"");
        let value = |name: &str| {
            let sample = samples
                .iter()
                .find(|(found, _)| *found == format!("{name}{{{labels}}}"));
            sample.unwrap_or_else(|| panic!("{name} of {labels}: {body}")).1
        };
        assert_eq!(value("punctual_lane_requests_total"), 1.0);
        assert_eq!(value("punctual_lane_threads"), 1.0);
        assert_eq!(value("punctual_lane_service_seconds_count"), 1.0);
        let sum = value("punctual_lane_service_seconds_sum");
        assert!(
            0.0 < sum && sum <= value("punctual_lane_service_seconds_max"),
            "one time: {sum}"
        );
        assert!(
            !body.contains("punctual_lane_queued_requests{"),
            "nothing has a queue"
        );
    }
}

#[test]
fn other_questions_are_answered_with_what_can_be_asked() {
    let inspection = Inspection::at(path("questions")).metrics_at("127.0.0.1:0");
    let orb = Orb::builder().inspection(inspection).build().unwrap();
    let InspectedAt { socket, metrics } = orb.inspected_at().unwrap();
    let unix = |question: &[u8]| ask_all(UnixStream::connect(&socket).unwrap(), question);
    let tcp = |question: &[u8]| ask_all(TcpStream::connect(metrics.unwrap()).unwrap(), question);
    assert!(unix(b"help\n").contains("ask `snapshot`"));
    assert!(unix(b"GIOP\x01\x02\x01\x00\x00\x00\x00\x00\n").contains("ask `snapshot`"));
    assert!(unix(b"GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(tcp(b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(tcp(b"snapshot\n\n").starts_with("HTTP/1.1 400 "));
    let head = tcp(b"HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
}

#[test]
fn several_lines_on_one_connection_are_answered_in_turn() {
    let orb = Orb::builder()
        .inspection(Inspection::at(path("lines")))
        .build()
        .unwrap();
    let mut stream = BufReader::new(UnixStream::connect(orb.inspected_at().unwrap().socket).unwrap());
    let mut last = 0;
    for _ in 0..3 {
        stream.get_mut().write_all(b"snapshot\n").unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let uptime = number(&serde_json::from_str(&line).unwrap(), "uptime_ns");
        assert!(uptime > last);
        last = uptime;
    }
}

/// Visitors that ask nothing, never end, or do not read their answer.
#[test]
fn hostile_visitors_hold_nobody_up_and_are_sent_away() {
    let inspection = Inspection::at(path("hostile")).metrics_at("127.0.0.1:0");
    let orb = Orb::builder().inspection(inspection).build().unwrap();
    let InspectedAt { socket, metrics } = orb.inspected_at().unwrap();
    // More than are let in at a time.
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(metrics.unwrap()).unwrap())
        .collect();
    let mut endless = UnixStream::connect(&socket).unwrap();
    let mut unread = UnixStream::connect(&socket).unwrap();
    unread.set_nonblocking(true).unwrap();
    // It asks again and again; what it is told is more than the sockets hold.
    let began = Instant::now();
    let mut asked = Ok(());
    while asked.is_ok() && began.elapsed() < LONG {
        asked = unread.write_all(b"snapshot\n");
        // The others are answered meanwhile.
        snapshot_of(&socket);
    }
    assert!(asked.is_err(), "it is not listened to forever");
    let mut sent = 0;
    while endless.write_all(&[b'x'; 512]).is_ok() {
        sent += 512;
        assert!(sent < 1 << 20, "a question has a limit");
    }
    for mut stream in silent {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!(
            stream.read(&mut [0; 16]).unwrap(),
            0,
            "sent away without an answer"
        );
    }
    assert_eq!(number(&snapshot_of(&socket), "schema"), 1);
}

#[test]
fn the_socket_is_this_users_alone_replaces_a_dead_one_and_goes_with_its_orb() {
    let path = path("file");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "a dead process's");
    let inspected = || Orb::builder().inspection(Inspection::at(&path)).build();
    let orb = inspected().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let taken = inspected().err().expect("another ORB listens there");
    assert!(
        matches!(&taken, OrbError::Listen { .. }) && taken.to_string().contains("another server"),
        "{taken}"
    );
    assert_eq!(number(&snapshot_of(&path), "schema"), 1, "which is as before");
    let waiting = UnixStream::connect(&path).unwrap();
    orb.shutdown_and_wait().unwrap();
    assert!(!path.exists());
    assert_eq!((&waiting).read(&mut [0; 16]).unwrap(), 0);
    fs::write(&path, "precious").unwrap();
    assert!(
        inspected()
            .err()
            .expect("no socket")
            .to_string()
            .contains("is not a socket")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    fs::remove_file(&path).unwrap();
}

/// In a process of its own: variables are all of a process's.
#[test]
fn the_environment_turns_it_on_for_every_orb() {
    let folder = path("environment");
    let asked = |folder: &PathBuf| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "inspection::child_with_two_orbs",
                "--ignored",
                "--nocapture",
            ])
            .env(Inspection::ENVIRONMENT, folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let said = asked(&folder);
    assert!(
        said.contains("the ORB cannot be inspected") && said.contains("does not exist"),
        "{said}"
    );
    assert!(said.contains("[None, None]"), "ORBs start all the same: {said}");
    fs::create_dir(&folder).unwrap();
    let said = asked(&folder);
    assert!(
        said.contains(".0.inspect") && said.contains(".1.inspect"),
        "{said}"
    );
    // Both have removed their sockets.
    fs::remove_dir(&folder).unwrap();
}

#[test]
#[ignore = "started by other tests"]
fn child_with_two_orbs() {
    let orbs = [client(), client()];
    println!("{:?}", orbs.each_ref().map(Orb::inspected_at));
}

#[test]
fn addresses_that_others_reach_are_refused() {
    for address in ["0.0.0.0:0", "nonsense"] {
        let path = path(address);
        let inspection = Inspection::at(&path).metrics_at(address);
        let refused = Orb::builder().inspection(inspection).build().err().unwrap();
        assert!(
            refused.to_string().contains("write `127.0.0.1:PORT`"),
            "{refused}"
        );
        assert!(!path.exists(), "nothing is left behind");
    }
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("punctual-inspection-{name}-{}", std::process::id()))
}

fn snapshot(server: &Server) -> Value {
    snapshot_of(&server.orb.inspected_at().unwrap().socket)
}

fn snapshot_of(socket: &PathBuf) -> Value {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"snapshot\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// A lane of the server's own pool, the lowest first.
fn lane(snapshot: &Value, index: usize) -> Value {
    snapshot["lanes"][index + 1].clone()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {value}"))
}

/// Requests whose time was taken.
fn timed(lane: &Value) -> u64 {
    let buckets = lane["service"]["buckets_below_ns"].as_array().unwrap();
    buckets.iter().map(|bucket| bucket[1].as_u64().unwrap()).sum()
}

/// Everything that comes for a question.
fn ask_all(mut stream: impl Read + Write, question: &[u8]) -> String {
    stream.write_all(question).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The samples, with labels; panics where the text format is broken.
fn parse_metrics(text: &str) -> Vec<(String, f64)> {
    let mut samples = Vec::new();
    let mut family: Option<(String, &str)> = None;
    let mut lines = text.lines();
    assert!(text.ends_with('\n'));
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(!text.is_empty());
            let kind = lines
                .next()
                .unwrap()
                .strip_prefix(&format!("# TYPE {name} "))
                .unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            family = Some((name.to_owned(), kind));
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap();
        let (name, _) = sample.split_once('{').unwrap_or((sample, ""));
        assert!(
            name.chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
            "{name}"
        );
        let (own, kind) = family.as_ref().expect("HELP and TYPE come first");
        let belongs = match *kind {
            "histogram" => ["_bucket", "_sum", "_count"]
                .iter()
                .any(|end| name == format!("{own}{end}")),
            _ => name == own,
        };
        assert!(belongs, "{name} stands below {own}");
        samples.push((sample.to_owned(), value.parse().unwrap()));
    }
    // Cumulative up to the count.
    let buckets: Vec<_> = samples
        .iter()
        .filter(|(name, _)| name.contains("_bucket{"))
        .collect();
    assert!(
        buckets
            .windows(2)
            .all(|pair| pair[0].1 <= pair[1].1 || pair[0].0.contains("+Inf"))
    );
    samples
}
