//! Rules for propagated priorities: by peer, by endpoint, by adapter, and for the whole ORB.

use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};

use punctual::{
    Completion, Endpoint, Minor, OnExcess, Peers, Priority, PriorityModel, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    peer::Peer,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    real_time::{RealTime, ordinary, ordinary_client, propagated, short},
    server::{Profile, Server},
    wire::{COMMON, Reader},
};

const MODEL: PriorityModel = client_propagated(Priority::MIN);

/// Result of a TCP client of this host that claims this priority: that of its request, or a refusal.
fn ask(port: u16, key: &[u8], claimed: i16) -> Option<i16> {
    let mut peer = Peer::connect(port);
    let contexts = [propagated(claimed)];
    peer.send(&COMMON.request_with(1, 3, key, "corba_priority", &contexts, |body| body));
    let message = peer.receive().unwrap();
    let reply = message.reply();
    if reply.status == 0 {
        return Some(short(&message));
    }
    assert_eq!(reply.status, 2);
    let mut body: Reader<'_> = reply.body;
    assert_eq!(body.string(), Kind::NoPermission.repository_id().as_bytes());
    assert_eq!(Minor(body.u32()), Minor::PRIORITY_ABOVE_ACCEPTED);
    assert_eq!(Completion::from_wire(body.u32()), Some(Completion::No));
    None
}

/// A socket's path that goes with the test.
struct SocketPath(PathBuf);

impl SocketPath {
    fn new(name: &str) -> Self {
        let name = format!("punctual-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn endpoint(&self) -> String {
        format!("uiop://{}", self.0.display())
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_user_of_this_host_may_what_tcp_may_not() {
    let user = fs::metadata("/proc/self").unwrap().uid();
    let path = SocketPath::new("user");
    let orb = ordinary()
        .listen(path.endpoint())
        .listen("iiop://127.0.0.1:0")
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb
        .root_poa()
        .child("rt")
        .threadpool(&pool)
        .priority_model(MODEL)
        .accept_priorities(Peers::User(user), priority(HIGH))
        .accept_priorities(Peers::Everyone, priority(LOW))
        .build()
        .unwrap();
    let server = Server::with_poa(orb, pool, poa);
    let (port, key) = iiop(&server.probe);
    for (claimed, expected) in [(0, Some(0)), (LOW, Some(LOW)), (LOW + 1, None), (HIGH, None)] {
        assert_eq!(ask(port, &key, claimed), expected);
    }
    assert_eq!(server.pool.statistics()[0].1.refused_priorities, 2);
    // On the same host the socket is preferred.
    let client = ordinary_client();
    let remote: ProbeRef = client.resolve(&server.probe.to_ior()).unwrap();
    client.current().set_priority(priority(HIGH)).unwrap();
    assert_eq!(remote.corba_priority(), Ok(HIGH));
}

/// Port and key of the IIOP profile in a reference that has others, too.
fn iiop(probe: &ProbeRef) -> (u16, Vec<u8>) {
    let profiles = &probe.ior().profiles;
    let profile = profiles.iter().find(|profile| profile.tag == 0).unwrap();
    let mut reader = Reader::encapsulation(&profile.data);
    reader.raw(2);
    reader.string();
    (reader.u16(), reader.sequence().to_vec())
}

#[test]
fn an_endpoint_has_its_own_highest_priority() {
    for (on_excess, excess) in [(OnExcess::Refuse, None), (OnExcess::Clamp, Some(MIDDLE))] {
        let path = SocketPath::new(&format!("endpoint-{on_excess:?}"));
        let orb = ordinary()
            .listen(path.endpoint())
            .listen(Endpoint::new("iiop://127.0.0.1:0").up_to(priority(MIDDLE)))
            .build()
            .unwrap();
        let pool = orb.threadpool().build().unwrap();
        let poa = orb.root_poa().child("rt").threadpool(&pool).priority_model(MODEL);
        let poa = poa
            .highest_priority(Priority::MAX)
            .on_excess(on_excess)
            .build()
            .unwrap();
        let server = Server::with_poa(orb, pool, poa);
        let (port, key) = iiop(&server.probe);
        assert_eq!(ask(port, &key, MIDDLE), Some(MIDDLE));
        assert_eq!(ask(port, &key, MIDDLE + 1), excess);
        assert_eq!(ask(port, &key, HIGH), excess);
        let client = ordinary_client();
        let remote: ProbeRef = client.resolve(&server.probe.to_ior()).unwrap();
        client.current().set_priority(priority(HIGH)).unwrap();
        assert_eq!(remote.corba_priority(), Ok(HIGH), "over the socket");
    }
}

/// A request on a lane runs at the lane's priority: who may not ask for that gets nothing by saying less.
#[test]
fn no_lane_is_open_to_those_who_may_not_ask_for_its_priority() {
    for on_excess in [OnExcess::Refuse, OnExcess::Clamp] {
        let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
        let pool = orb.threadpool().lane(priority(LOW), 1).lane(priority(HIGH), 1);
        let pool = pool.build().unwrap();
        let model = client_propagated(priority(LOW));
        let poa = orb
            .root_poa()
            .child("rt")
            .threadpool(&pool)
            .priority_model(model)
            .accept_priorities(Peers::SameHost, priority(LOW))
            .on_excess(on_excess)
            .build()
            .unwrap();
        let server = Server::with_poa(orb, pool, poa);
        let said = RealTime::of(&server.probe);
        assert_eq!(said.endpoints, [LOW, HIGH]);
        let key = Profile::of(&server.probe).key;
        let [low, high] = [said.ports[0], said.ports[1]];
        assert_eq!(ask(low, &key, LOW), Some(LOW));
        assert_eq!(
            ask(low, &key, 0),
            Some(LOW),
            "the wrong lane, but one that is open to it"
        );
        let clamped = (on_excess == OnExcess::Clamp).then_some(LOW);
        assert_eq!(ask(low, &key, HIGH), clamped);
        for claimed in [0, LOW, HIGH] {
            assert_eq!(ask(high, &key, claimed), None);
        }
        // Nor by saying nothing.
        let mut peer = Peer::connect(high);
        peer.send(&COMMON.request(1, &key, "corba_priority", |body| body));
        assert_eq!(peer.receive().unwrap().reply().status, 2);
        let [low, high] = [0, 1].map(|lane| server.pool.statistics()[lane].1);
        assert_eq!(low.refused_priorities, u64::from(clamped.is_none()));
        assert_eq!((high.requests, high.refused_priorities), (4, 4));
    }
}

#[test]
fn adapters_go_by_the_rules_of_the_orb_where_they_have_none() {
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .priority_model(MODEL)
        .accept_priorities(Peers::Remote, priority(1))
        .highest_priority(priority(100))
        .on_excess(OnExcess::Clamp)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    orb.set_default_threadpool(&pool);
    let own_rule = orb
        .root_poa()
        .child("rule")
        .accept_priorities(Peers::SameHost, priority(300));
    let own_highest = orb.root_poa().child("highest").highest_priority(priority(200));
    // The first one that ends takes the ORB with it.
    let mut servers = Vec::new();
    let refuses = orb.root_poa().child("refuses").on_excess(OnExcess::Refuse);
    for (poa, highest, excess) in [
        (orb.root_poa().child("nothing").build(), 100, Some(100)),
        (own_highest.build(), 200, Some(200)),
        (own_rule.build(), 300, Some(300)),
        (refuses.build(), 100, None),
    ] {
        let server = Server::with_poa(orb.clone(), pool.clone(), poa.unwrap());
        assert_eq!(ask(server.port(), &server.key(), highest), Some(highest));
        assert_eq!(ask(server.port(), &server.key(), highest + 1), excess);
        servers.push(server);
    }
}

/// Priorities in the server's configuration are accepted, and none above them.
#[test]
fn by_default_the_highest_priority_that_the_server_names_is_accepted() {
    let band = punctual::PriorityBand::new(priority(50), priority(60));
    for (default_priority, default, bands, highest) in [
        (7, 0, None, 7),
        (7, 9, None, 9),
        (7, 9, Some(band), 60),
        (100, 9, Some(band), 60),
    ] {
        let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
        let pool = orb
            .threadpool()
            .default_priority(priority(default_priority))
            .build()
            .unwrap();
        let model = client_propagated(priority(default));
        let poa = orb.root_poa().child("rt").threadpool(&pool).priority_model(model);
        let poa = match bands {
            Some(band) => poa.priority_bands([band]),
            None => poa,
        };
        let server = Server::with_poa(orb, pool, poa.build().unwrap());
        assert_eq!(ask(server.port(), &server.key(), highest), Some(highest));
        assert_eq!(ask(server.port(), &server.key(), highest + 1), None);
    }
}
