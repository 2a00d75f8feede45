//! Binding a connection to a priority band: the implicit request `_bind_priority_band`, as a server answers
//! it, and as a client sends it.

use std::{thread, time::Duration};

use punctual::{
    Completion, LaneWait, Minor, OnExcess, Orb, PolicyOverrides, Priority, PriorityBand, PriorityModel,
    QueueLimits, SystemException, SystemExceptionKind as Kind, ThreadPoolBuilder,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    peer::{Listener, Peer},
    priorities::{HIGH, LOW},
    priority,
    real_time::{RealTime, ordinary, ordinary_client, propagated, propagated_in},
    recorder::{CLIENT_PROPAGATED, Recorder, band, model, policies, resolve},
    server::{Profile, Server, of_punctual, reference},
    wire::{COMMON, DIALECTS, Dialect, LOCATE_REQUEST, Message, REQUEST},
};

const BIND: &str = "_bind_priority_band";
const MIDDLE: i16 = 15_000;

fn range_in(dialect: Dialect, low: i16, high: i16) -> (u32, Vec<u8>) {
    let data = dialect.encapsulation(|data| data.u16(low.cast_unsigned()).u16(high.cast_unsigned()));
    (11, data)
}

fn bind(id: u32, key: &[u8], contexts: &[(u32, Vec<u8>)]) -> Vec<u8> {
    COMMON.request_with(id, 3, key, BIND, contexts, |body| body)
}

/// Result in a reply: success, or the exception.
fn said(message: &Message) -> Result<(), (String, Minor)> {
    let reply = message.reply();
    let mut body = reply.body.clone();
    match reply.status {
        0 => Ok(()),
        2 => {
            let kind = String::from_utf8(body.string().to_vec()).unwrap();
            let minor = Minor(body.u32());
            assert_eq!(Completion::from_wire(body.u32()), Some(Completion::No));
            Err((kind, minor))
        }
        status => panic!("status {status}"),
    }
}

fn refused(kind: Kind, minor: Minor) -> Result<(), (String, Minor)> {
    Err((kind.repository_id().to_owned(), minor))
}

/// A peer that asks one thing at a time.
struct Asking {
    peer: Peer,
    key: Vec<u8>,
}

impl Asking {
    fn connect(port: u16, key: &[u8]) -> Self {
        Self {
            peer: Peer::connect(port),
            key: key.to_vec(),
        }
    }

    fn ask(&mut self, request: &[u8]) -> Result<(), (String, Minor)> {
        self.peer.send(request);
        said(&self.peer.receive().expect("a reply"))
    }

    fn bind(&mut self, low: i16, high: i16) -> Result<(), (String, Minor)> {
        self.ask(&bind(1, &self.key, &[range_in(COMMON, low, high)]))
    }

    fn call(&mut self, claimed: Option<i16>) -> Result<(), (String, Minor)> {
        let contexts: Vec<_> = claimed.map(propagated).into_iter().collect();
        let request = COMMON.request_with(2, 3, &self.key, "twice", &contexts, |body| body.i32(21));
        self.ask(&request)
    }
}

/// A server in the ordinary class.
fn serve(
    pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
    model: Option<PriorityModel>,
    bands: &[PriorityBand],
    redispatch: bool,
) -> Server {
    let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
    let pool = pool(orb.threadpool()).build().unwrap();
    let mut poa = orb.root_poa().child("banded").threadpool(&pool);
    if let Some(model) = model {
        poa = poa.priority_model(model).highest_priority(Priority::MAX);
    }
    if !bands.is_empty() {
        poa = poa.priority_bands(bands.to_vec());
    }
    if redispatch {
        poa = poa.redispatch(QueueLimits::default());
    }
    let poa = poa.build().unwrap();
    Server::with_poa(orb, pool, poa)
}

const PROPAGATED: Option<PriorityModel> = Some(client_propagated(Priority::MIN));

fn plain(pool: ThreadPoolBuilder) -> ThreadPoolBuilder {
    pool
}

fn lanes(pool: ThreadPoolBuilder) -> ThreadPoolBuilder {
    pool.lane(priority(LOW), 1).lane(priority(HIGH), 1)
}

/// Each row: a server, and what binding its last endpoint to some bands comes to.
#[test]
fn the_server_binds_to_bands_that_it_serves() {
    type Row<'r> = (&'r str, Server, &'r [(i16, i16, Result<(), (Kind, Minor)>)]);
    let not_offered = Err((Kind::InvPolicy, Minor::BAND_NOT_OFFERED));
    let no_lane = Err((Kind::InvPolicy, Minor::NO_ENDPOINT_IN_BAND));
    let halves = [band(0, MIDDLE), band(MIDDLE + 1, HIGH)];
    let declared = Some(PriorityModel::ServerDeclared(priority(LOW)));
    let rows: &[Row<'_>] = &[
        (
            "without lanes and bands: any",
            serve(plain, PROPAGATED, &[], false),
            &[(0, HIGH, Ok(())), (0, 0, Ok(())), (HIGH, HIGH, Ok(()))],
        ),
        (
            "without lanes: the adapter's",
            serve(plain, PROPAGATED, &halves, false),
            &[
                (0, MIDDLE, Ok(())),
                (MIDDLE + 1, HIGH, Ok(())),
                (0, HIGH, not_offered),
                (0, MIDDLE - 1, not_offered),
            ],
        ),
        (
            "a lane: what holds its priority",
            serve(lanes, PROPAGATED, &[], false),
            &[
                (MIDDLE, HIGH, Ok(())),
                (HIGH, HIGH, Ok(())),
                (0, MIDDLE, no_lane),
                (0, HIGH - 1, no_lane),
            ],
        ),
        (
            "a lane of an adapter with bands",
            serve(lanes, PROPAGATED, &halves, false),
            &[
                (MIDDLE + 1, HIGH, Ok(())),
                (0, MIDDLE, no_lane),
                (MIDDLE, HIGH, not_offered),
            ],
        ),
        (
            "a lane that hands on: what another one serves, too",
            serve(lanes, PROPAGATED, &[], true),
            &[(0, MIDDLE, Ok(())), (MIDDLE, HIGH, Ok(())), (0, 5, no_lane)],
        ),
        (
            "declared by the server: what holds the object's priority",
            serve(plain, declared, &[], false),
            &[
                (0, MIDDLE, Ok(())),
                (LOW, LOW, Ok(())),
                (
                    LOW + 1,
                    HIGH,
                    Err((Kind::InvPolicy, Minor::PRIORITY_OUTSIDE_BANDS)),
                ),
            ],
        ),
        (
            "without a priority model it is an operation like any other",
            serve(plain, None, &[], false),
            &[(0, HIGH, Err((Kind::BadOperation, Minor::OPERATION_UNKNOWN)))],
        ),
    ];
    for (name, server, cases) in rows {
        let (port, key) = last_endpoint(server);
        for (low, high, expected) in *cases {
            let expected = expected
                .as_ref()
                .map_or_else(|(kind, minor)| refused(*kind, *minor), |()| Ok(()));
            assert_eq!(
                Asking::connect(port, &key).bind(*low, *high),
                expected,
                "{name}: {low}-{high}"
            );
        }
    }
}

fn last_endpoint(server: &Server) -> (u16, Vec<u8>) {
    let profile = Profile::of(&server.probe);
    let port = RealTime::of(&server.probe).ports.last().copied();
    (port.unwrap_or(profile.port), profile.key)
}

#[test]
fn a_bound_connection_carries_its_band_only() {
    let pools: [fn(ThreadPoolBuilder) -> ThreadPoolBuilder; 3] = [
        plain,
        |pool| pool.request_buffering(QueueLimits::default()),
        |pool| pool.wait(LaneWait::Blocking),
    ];
    for pool in pools {
        let server = serve(pool, PROPAGATED, &[], false);
        let (port, key) = last_endpoint(&server);
        let mut bound = Asking::connect(port, &key);
        assert_eq!(bound.call(Some(0)), Ok(()), "not bound yet");
        assert_eq!(bound.bind(100, MIDDLE), Ok(()));
        let outside = refused(Kind::InvPolicy, Minor::PRIORITY_OUTSIDE_BOUND_BAND);
        for (claimed, expected) in [
            (Some(100), Ok(())),
            (Some(MIDDLE), Ok(())),
            (Some(99), outside.clone()),
            (Some(MIDDLE + 1), outside.clone()),
            (Some(-1), outside.clone()),
            // The adapter's default.
            (None, outside.clone()),
            (Some(101), Ok(())),
        ] {
            assert_eq!(bound.call(claimed), expected, "{claimed:?}");
        }
        assert_eq!(server.seen(0).refused_priorities, 4);
        // Once and for all; saying it again changes nothing.
        let already = refused(Kind::BadInvOrder, Minor::CONNECTION_BOUND_ALREADY);
        assert_eq!(bound.bind(0, HIGH), already);
        assert_eq!(bound.bind(100, MIDDLE), Ok(()));
        assert_eq!(bound.call(Some(99)), outside);
        // It holds for all objects behind the connection that have priorities.
        let another = Profile::of(&server.another()).key;
        bound.key = another;
        assert_eq!((bound.call(Some(99)), bound.call(Some(100))), (outside, Ok(())));
        let mut other = Asking::connect(port, &key);
        assert_eq!(
            other.call(Some(99)),
            Ok(()),
            "another connection is not concerned"
        );
    }
}

/// The band refers to the priority that the client states, regardless of its later treatment.
#[test]
fn the_band_comes_before_the_highest_priority() {
    let server = serve(plain, PROPAGATED, &[], false);
    let poa = server.orb.root_poa().child("clamping").threadpool(&server.pool);
    let poa = poa
        .priority_model(PROPAGATED.unwrap())
        .highest_priority(priority(LOW))
        .on_excess(OnExcess::Clamp)
        .build()
        .unwrap();
    let clamped = Profile::of(&server.another_in(&poa));
    let mut bound = Asking::connect(clamped.port, &clamped.key);
    assert_eq!(bound.bind(MIDDLE, HIGH), Ok(()));
    assert_eq!(
        bound.call(Some(HIGH)),
        Ok(()),
        "served at the highest accepted one"
    );
    let outside = refused(Kind::InvPolicy, Minor::PRIORITY_OUTSIDE_BOUND_BAND);
    assert_eq!(bound.call(Some(LOW)), outside);
}

#[test]
fn every_dialect_binds() {
    let server = serve(plain, PROPAGATED, &[], false);
    let (port, key) = last_endpoint(&server);
    for dialect in DIALECTS {
        let mut peer = Peer::connect(port);
        // Behind others, and the first one counts.
        let contexts = [
            propagated_in(dialect, 0),
            range_in(dialect, LOW, HIGH),
            range_in(dialect, 0, 0),
        ];
        peer.send(&dialect.request_with(7, 3, &key, BIND, &contexts, |body| body));
        let message = peer.receive().unwrap();
        assert_eq!(said(&message), Ok(()), "{dialect:?}");
        assert_eq!(
            (message.reply().id, message.reply().body.rest()),
            (7, b"".as_slice())
        );
        for (claimed, status) in [(LOW - 1, 2), (LOW, 0)] {
            let contexts = [propagated_in(dialect, claimed)];
            peer.send(&dialect.request_with(8, 3, &key, "twice", &contexts, |body| body.i32(1)));
            assert_eq!(peer.receive().unwrap().reply().status, status);
        }
    }
    // A oneway one binds as well, and is not answered.
    let mut bound = Asking::connect(port, &key);
    bound
        .peer
        .send(&COMMON.request_with(1, 0, &key, BIND, &[range_in(COMMON, LOW, HIGH)], |body| body));
    let outside = refused(Kind::InvPolicy, Minor::PRIORITY_OUTSIDE_BOUND_BAND);
    assert_eq!(bound.call(Some(0)), outside);
}

/// The sender gets an error, and its connection stays as it was.
#[test]
fn what_is_no_band_binds_to_nothing() {
    let server = serve(plain, PROPAGATED, &[], false);
    let (port, key) = last_endpoint(&server);
    let marshal = |minor| refused(Kind::Marshal, minor);
    let cut = |octets: &[u8]| vec![(11, octets.to_vec())];
    let rows = [
        (vec![], refused(Kind::BadParam, Minor::BAND_MISSING)),
        (
            vec![propagated(LOW)],
            refused(Kind::BadParam, Minor::BAND_MISSING),
        ),
        (cut(b""), marshal(Minor::MESSAGE_TRUNCATED)),
        (cut(b"\x01"), marshal(Minor::MESSAGE_TRUNCATED)),
        (cut(b"\x01\0\x01\0"), marshal(Minor::MESSAGE_TRUNCATED)),
        (cut(b"\x01\0\x01\0\x02"), marshal(Minor::MESSAGE_TRUNCATED)),
        (
            vec![range_in(COMMON, -1, 5)],
            refused(Kind::BadParam, Minor::NONE),
        ),
        (
            vec![range_in(COMMON, 0, i16::MIN)],
            refused(Kind::BadParam, Minor::NONE),
        ),
        (
            vec![range_in(COMMON, 6, 5)],
            refused(Kind::BadParam, Minor::BAND_MALFORMED),
        ),
    ];
    let mut peer = Asking::connect(port, &key);
    for (contexts, expected) in rows {
        assert_eq!(peer.ask(&bind(3, &key, &contexts)), expected, "{contexts:02x?}");
        assert_eq!((peer.call(Some(0)), peer.call(Some(HIGH))), (Ok(()), Ok(())));
    }
    // A byte order that does not exist, and octets behind the band: lenient or not, never more than this
    // connection.
    for octets in [b"\x07\0\0\0\x05\0".as_slice(), b"\x01\0\0\0\x05\0\0\0"] {
        let mut peer = Asking::connect(port, &key);
        peer.peer.send(&bind(4, &key, &cut(octets)));
        let _ = peer.peer.receive();
    }
    let unknown = peer.ask(&bind(5, b"no such key", &[range_in(COMMON, 0, HIGH)]));
    assert_eq!(unknown, refused(Kind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN));
    assert_eq!(peer.bind(0, HIGH), Ok(()), "it is as good as new");
}

fn bound(bands: &[PriorityBand]) -> PolicyOverrides {
    PolicyOverrides::new().priority_bands(bands).binds_bands(true)
}

fn at(orb: &Orb, value: i16) {
    orb.current().set_priority(priority(value)).unwrap();
}

/// Messages that arrived: the connection, and the operation or the kind of message.
fn journal(server: &Recorder) -> Vec<(usize, String)> {
    let seen = server.seen().into_iter();
    seen.map(|seen| {
        let what = match seen.message.message_type {
            REQUEST => String::from_utf8(seen.message.request().operation.to_vec()).unwrap(),
            LOCATE_REQUEST => String::from("(locate)"),
            other => format!("({other})"),
        };
        (seen.connection, what)
    })
    .collect()
}

fn lines(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
    expected
        .iter()
        .map(|(connection, what)| (*connection, (*what).to_owned()))
        .collect()
}

/// The component with the ORB's type.
fn orb_type(value: u32) -> (u32, Vec<u8>) {
    (0, COMMON.encapsulation(|data| data.u32(value)))
}

#[test]
fn each_banded_connection_is_bound_before_its_first_request() {
    let (server, orb) = (Recorder::start(), ordinary_client());
    let code_sets = (
        1,
        COMMON.encapsulation(|data| data.u32(0x0501_0001).u32(0).u32(0x0001_0109).u32(0)),
    );
    let components = [policies(&[model(CLIENT_PROPAGATED, 0)]), code_sets];
    let halves = [band(0, MIDDLE), band(MIDDLE + 1, HIGH)];
    let probe = server.reference(&orb, &components);
    let probe: ProbeRef = probe.with_policies(bound(&halves)).unchecked();
    at(&orb, LOW);
    assert_eq!((probe.twice(1), probe.twice(1)), (Ok(42), Ok(42)));
    at(&orb, HIGH);
    // Explicitly, and then there is nothing left to do.
    assert_eq!(probe.validate_connection(), Ok(()));
    assert_eq!((probe.note(1), probe.twice(1)), (Ok(()), Ok(42)));
    let expected = [
        (0, BIND),
        (0, "twice"),
        (0, "twice"),
        (1, BIND),
        (1, "(locate)"),
        (1, "note"),
        (1, "twice"),
    ];
    assert_eq!(journal(&server), lines(&expected));
    let seen = server.seen();
    for (index, (low, high)) in [(0, (0, MIDDLE)), (3, (MIDDLE + 1, HIGH))] {
        let request = seen[index].message.request();
        assert_eq!((request.response & 1, request.body.rest()), (1, b"".as_slice()));
        assert_eq!(request.key, b"recorded");
        let native = Dialect::new(2, cfg!(target_endian = "little"));
        assert_eq!(seen[index].context(11), Some(range_in(native, low, high).1));
        assert!(
            seen[index].context(1).is_some(),
            "the first request of its connection"
        );
        assert!(seen[index + 1].message.message_type != REQUEST || seen[index + 1].context(1).is_none());
    }
}

/// A oneway call waits for it, once.
#[test]
fn the_first_call_binds_even_where_it_waits_for_nothing() {
    let (server, orb) = (Recorder::start(), ordinary_client());
    let probe = server.reference(&orb, &[policies(&[model(CLIENT_PROPAGATED, 0)])]);
    let probe: ProbeRef = probe.with_policies(bound(&[band(0, HIGH)])).unchecked();
    at(&orb, LOW);
    assert_eq!((probe.note(1), probe.twice(2)), (Ok(()), Ok(42)));
    assert_eq!(journal(&server), lines(&[(0, BIND), (0, "note"), (0, "twice")]));
}

#[test]
fn nothing_is_bound_without_being_asked_for_nor_without_bands_nor_at_tao() {
    const TAO: u32 = 0x5441_4f00;
    const OTHER: u32 = 0x4f4d_4e49;
    let real_time = policies(&[model(CLIENT_PROPAGATED, 0)]);
    let bands = [band(0, HIGH)];
    let asked = bound(&bands);
    let unasked = PolicyOverrides::new().priority_bands(bands);
    let rows = [
        ("by default", vec![real_time.clone()], unasked, false),
        ("asked", vec![real_time.clone()], asked.clone(), true),
        (
            "no bands",
            vec![real_time.clone()],
            PolicyOverrides::new().binds_bands(true),
            false,
        ),
        (
            "TAO",
            vec![orb_type(TAO), real_time.clone()],
            asked.clone(),
            false,
        ),
        ("another ORB", vec![orb_type(OTHER), real_time], asked, true),
    ];
    for (name, components, policies, expected) in rows {
        let (server, orb) = (Recorder::start(), ordinary_client());
        at(&orb, LOW);
        let probe = server.reference(&orb, &components);
        let probe: ProbeRef = probe.with_policies(policies).unchecked();
        assert_eq!(probe.twice(1), Ok(42), "{name}");
        let binds = journal(&server).iter().any(|(_, what)| what == BIND);
        assert_eq!(binds, expected, "{name}");
    }
}

/// A server that answers as the test says.
fn scripted(orb: &Orb, policies_of_client: PolicyOverrides) -> (Listener, ProbeRef) {
    let listener = Listener::open();
    let components = [of_punctual(), policies(&[model(CLIENT_PROPAGATED, 0)])];
    let probe = resolve(orb, &reference([1, 2], listener.port, b"scripted", &components));
    (listener, probe.with_policies(policies_of_client).unchecked())
}

fn answer_exception(peer: &mut Peer, kind: Kind, minor: Minor, completed: Completion) {
    let request = peer.receive().unwrap();
    assert_eq!(request.request().operation, BIND.as_bytes());
    let id = kind.repository_id().as_bytes();
    peer.send(&COMMON.reply(request.request().id, 2, |body| {
        body.string(id).u32(minor.0).u32(completed as u32)
    }));
}

fn answer_call(peer: &mut Peer) {
    let request = peer.receive().unwrap();
    assert_eq!(request.request().operation, b"twice");
    peer.send(&COMMON.reply(request.request().id, 0, |body| body.i32(42)));
}

/// It is queried once, regardless of the connections that follow.
#[test]
fn a_server_that_does_not_know_it_is_used_as_it_is() {
    for (kind, minor) in [
        (Kind::BadOperation, Minor::NONE),
        (Kind::NoImplement, Minor(0x4f4d_0001)),
    ] {
        let orb = ordinary_client();
        let (listener, probe) = scripted(&orb, bound(&[band(0, MIDDLE), band(MIDDLE + 1, HIGH)]));
        let server = thread::spawn(move || {
            let mut first = listener.accept();
            answer_exception(&mut first, kind, minor, Completion::No);
            answer_call(&mut first);
            answer_call(&mut first);
            let mut second = listener.accept();
            answer_call(&mut second);
        });
        for value in [LOW, LOW, HIGH] {
            at(&orb, value);
            assert_eq!(probe.twice(21), Ok(42));
        }
        server.join().unwrap();
    }
}

/// The call has not been sent, regardless of the server's answer to the binding; the next one asks again,
/// over the same connection.
#[test]
fn a_refusal_ends_the_call_before_it_is_sent() {
    let orb = ordinary_client();
    let (listener, probe) = scripted(&orb, bound(&[band(0, HIGH)]));
    let server = thread::spawn(move || {
        let mut peer = listener.accept();
        let (kind, minor) = (Kind::InvPolicy, Minor::BAND_NOT_OFFERED);
        answer_exception(&mut peer, kind, minor, Completion::Maybe);
        answer_exception(&mut peer, kind, minor, Completion::No);
        let request = peer.receive().unwrap();
        peer.send(&COMMON.reply(request.request().id, 0, |body| body));
        answer_call(&mut peer);
    });
    at(&orb, LOW);
    let not_offered = SystemException::new(Kind::InvPolicy, Minor::BAND_NOT_OFFERED, Completion::No);
    assert_eq!(probe.twice(21), Err(not_offered));
    assert_eq!(probe.validate_connection(), Err(not_offered));
    assert_eq!(probe.twice(21), Ok(42));
    server.join().unwrap();
}

#[test]
fn a_server_that_says_nothing_or_goes_is_told_apart() {
    let orb = ordinary_client();
    let brief = bound(&[band(0, HIGH)]).roundtrip_timeout(Duration::from_millis(60));
    let (listener, probe) = scripted(&orb, brief);
    let late = thread::spawn(move || {
        let mut peer = listener.accept();
        let first = peer.receive().unwrap();
        let second = peer.receive().unwrap();
        // The reply to the first one is late, and dropped.
        for request in [&first, &second] {
            assert_eq!(request.request().operation, BIND.as_bytes());
            peer.send(&COMMON.reply(request.request().id, 0, |body| body));
        }
        answer_call(&mut peer);
        // It goes after it has read: a connection that is closed before is replaced.
        let mut goes = listener.accept();
        assert_eq!(goes.receive().unwrap().request().operation, BIND.as_bytes());
        goes
    });
    at(&orb, LOW);
    let timed_out = probe.twice(21).unwrap_err();
    assert_eq!(
        (timed_out.kind, timed_out.completed),
        (Kind::Timeout, Completion::No)
    );
    let patient: ProbeRef = probe
        .with_policies(PolicyOverrides::new().roundtrip_timeout(None))
        .unchecked();
    assert_eq!(patient.twice(21), Ok(42));
    // A connection that ends instead: the call itself was not sent, so nothing was done.
    let private = PolicyOverrides::new()
        .private_connection(true)
        .roundtrip_timeout(None);
    let private: ProbeRef = probe.with_policies(private).unchecked();
    thread::scope(|scope| {
        scope.spawn(|| drop(late.join().unwrap()));
        let lost = private.twice(21).unwrap_err();
        assert_eq!((lost.kind, lost.completed), (Kind::CommFailure, Completion::No));
    });
}

/// CloseConnection instead of a reply: again, over a new one. A forward: there, where it is bound, too.
#[test]
fn closing_and_forwarding_are_followed() {
    let (elsewhere, orb) = (Recorder::start(), ordinary_client());
    let components = [policies(&[model(CLIENT_PROPAGATED, 0)])];
    let there = reference([1, 2], elsewhere.port, b"there", &components);
    let (listener, probe) = scripted(&orb, bound(&[band(0, HIGH)]));
    let server = thread::spawn(move || {
        let mut peer = listener.accept();
        peer.receive().unwrap();
        peer.send(&COMMON.message(5, |message| message));
        let mut peer = listener.accept();
        let request = peer.receive().unwrap();
        assert_eq!(request.request().operation, BIND.as_bytes());
        let [profile] = &there.profiles[..] else {
            panic!("one profile")
        };
        peer.send(&COMMON.reply(request.request().id, 3, |body| {
            let body = body.string(there.type_id.as_bytes());
            body.contexts(&[(profile.tag, profile.data.clone())])
        }));
    });
    at(&orb, LOW);
    assert_eq!(probe.twice(21), Ok(42));
    server.join().unwrap();
    assert_eq!(journal(&elsewhere), lines(&[(0, BIND), (0, "twice")]));
}

/// Both sides, and the bands from either: what is bound is what the client keeps to anyway, so its calls
/// notice nothing.
#[test]
fn client_and_server_agree() {
    let halves = [band(0, MIDDLE), band(MIDDLE + 1, HIGH)];
    for (name, pool, exposed) in [
        (
            "no lanes",
            plain as fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
            false,
        ),
        ("no lanes, exposed", plain, true),
        ("lanes", lanes, false),
        ("lanes, exposed", lanes, true),
    ] {
        let of_server: &[_] = if exposed { &halves } else { &[] };
        let server = serve(pool, PROPAGATED, of_server, false);
        let orb = ordinary_client();
        let own = if exposed {
            PolicyOverrides::new().binds_bands(true)
        } else {
            bound(&halves)
        };
        let probe: ProbeRef = server.reference_for(&orb).with_policies(own).unchecked();
        let before: u64 = server
            .pool
            .statistics()
            .iter()
            .map(|(_, lane)| lane.requests)
            .sum();
        for value in [LOW, HIGH, 0, MIDDLE, MIDDLE + 1] {
            at(&orb, value);
            assert_eq!(probe.twice(21), Ok(42), "{name}: {value}");
            assert_eq!(probe.validate_connection(), Ok(()));
        }
        let all = server.pool.statistics();
        let requests: u64 = all.iter().map(|(_, lane)| lane.requests).sum();
        let refused: u64 = all.iter().map(|(_, lane)| lane.refused_priorities).sum();
        assert_eq!(
            (requests - before, refused),
            (5 + 2, 0),
            "{name}: one more for each band"
        );
    }
    // Bands that only the client has, and of which one has no lane.
    let server = serve(lanes, PROPAGATED, &[], false);
    let orb = ordinary_client();
    let probe = server.reference_for(&orb);
    let probe: ProbeRef = probe
        .with_policies(bound(&[band(0, LOW), band(LOW + 1, HIGH - 1)]))
        .unchecked();
    at(&orb, LOW + 1);
    let none = SystemException::new(Kind::InvPolicy, Minor::NO_ENDPOINT_IN_BAND, Completion::No);
    assert_eq!(probe.twice(1), Err(none), "the client knows");
}

/// Bands that only the client has: the server knows those that connections are bound to, and sees of others
/// that no lane has the priority.
#[test]
fn requests_within_the_clients_own_bands_are_not_misdirected() {
    let halves = [band(0, MIDDLE), band(MIDDLE + 1, HIGH)];
    let whole = [band(0, HIGH)];
    let between = [0, LOW - 1, LOW + 1, MIDDLE, MIDDLE + 1, HIGH - 1];
    for (own, priorities) in [
        (PolicyOverrides::new().priority_bands(halves), &between[..]),
        (bound(&halves), &between),
        // The endpoint of the low lane is used for the whole band.
        (bound(&whole), &[0, LOW, HIGH]),
    ] {
        let server = serve(lanes, PROPAGATED, &[], false);
        let orb = ordinary_client();
        let probe: ProbeRef = server.reference_for(&orb).with_policies(own).unchecked();
        for priority in priorities {
            at(&orb, *priority);
            for _ in 0..5 {
                assert_eq!(probe.twice(21), Ok(42));
            }
        }
        let misdirected = [0, 1].map(|lane| server.seen(lane).misdirected);
        assert_eq!(misdirected, [0, 0], "{priorities:?}");
    }
    // Without bands, a request of the other lane's priority is.
    let server = serve(lanes, PROPAGATED, &[], false);
    let (port, key) = last_endpoint(&server);
    assert_eq!(Asking::connect(port, &key).call(Some(LOW)), Ok(()));
    assert_eq!([0, 1].map(|lane| server.seen(lane).misdirected), [0, 1]);
}
