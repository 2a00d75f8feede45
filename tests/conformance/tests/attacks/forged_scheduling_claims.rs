//! Forged scheduling contexts: they neither raise a thread above its lane nor make higher lanes wait.

use std::{
    sync::mpsc,
    time::{Duration, SystemTime},
};

use punctual::{Orb, OrbBuilder, Peers, PriorityModel};
use punctual_cdr::Endian;
use punctual_fixtures::{
    LONG,
    peer::Peer,
    priorities::{HIGH, LOW},
    priority, realtime_or_skip,
    server::Server,
    wire::{COMMON, Message},
};
use punctual_os::{ThreadSpec, clock};
use punctual_rtsched::{
    AcceptedClaims, RtScheduling, SchedulingError,
    wire::{Clocks, SchedulingContext, UtcTime},
};
use punctual_sched::dynamic::{SchedulingParameters, Time};

const SCHEDULING_INFO: u32 = 30;

/// A server with a low and a high lane, at most one of whose distributable threads runs.
struct Target {
    scheduling: RtScheduling,
    low: Server,
    high: Server,
}

impl Target {
    fn new(claims: Option<AcceptedClaims>) -> Self {
        let builder = RtScheduling::builder().processors(1);
        let builder = match claims {
            Some(claims) => builder.accept_claims(Peers::SameHost, claims),
            None => builder,
        };
        let scheduling = builder.build().unwrap();
        let [low, high] = [LOW, HIGH].map(|lane| serving_at(lane, Orb::builder().initializer(&scheduling)));
        Self {
            scheduling,
            low,
            high,
        }
    }
}

/// A server with one lane, whose object accepts no higher priority.
fn serving_at(lane: i16, orb: OrbBuilder) -> Server {
    let orb = orb
        .listen("iiop://127.0.0.1:0")
        .lock_memory(false)
        .build()
        .unwrap();
    let pool = orb.threadpool().lane(priority(lane), 2).build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool);
    let poa = poa
        .priority_model(PriorityModel::ServerDeclared(priority(lane)))
        .highest_priority(priority(lane));
    Server::with_poa(orb.clone(), pool, poa.build().unwrap())
}

fn claiming(id: u128, importance: i32) -> Vec<(u32, Vec<u8>)> {
    let context = SchedulingContext {
        id: punctual::rtscheduling::DistributableThreadId(id),
        parameters: Some(SchedulingParameters::Importance { importance }.into()),
        implicit: None,
        begins: false,
    };
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let clocks = Clocks {
        local: Time(clock::monotonic().as_nanos() as u64),
        utc: UtcTime::from_unix(since_1970.unwrap()),
    };
    vec![(SCHEDULING_INFO, context.encode(&clocks, Endian::NATIVE).to_vec())]
}

/// Sends a request for an operation with this claim.
fn request(server: &Server, operation: &str, id: u128, importance: i32) -> Peer {
    let mut peer = Peer::connect(server.port());
    let request = COMMON.request_with(
        1,
        3,
        &server.key(),
        operation,
        &claiming(id, importance),
        |body| body.u32(0),
    );
    peer.send(&request);
    peer
}

fn short(reply: Option<Message>) -> i16 {
    let reply = reply.expect("a reply");
    assert_eq!(reply.reply().status, 0);
    reply.reply().body.u16() as i16
}

/// Whether a request of the high lane and a thread of this process are each served within the time while a
/// request with a forged importance sleeps at the low lane.
fn is_served_beside_a_sleeper(target: &Target, timeout: Duration) -> bool {
    let mut sleeper = request(&target.low, "wait_at_gate", 7, i32::MAX);
    target.low.hooks.await_at_gate(1);
    // A request of the high lane with a lower claim, and a thread of the application.
    let (served, outcome) = mpsc::channel();
    let mut urgent = request(&target.high, "twice", 8, 1);
    let of_urgent = served.clone();
    let urgent = ThreadSpec::new("urgent").spawn(move || {
        let _ = urgent.receive().map(|_| of_urgent.send(()));
    });
    let of_process = target.scheduling.clone();
    let local = ThreadSpec::new("local").spawn(move || {
        let parameters = SchedulingParameters::Importance { importance: 1 };
        let result = of_process
            .current()
            .segment("local", parameters, |_| Ok::<_, SchedulingError>(()));
        result.unwrap();
        let _ = served.send(());
    });
    let both = (0..2).all(|_| outcome.recv_timeout(timeout).is_ok());
    target.low.hooks.open_gate();
    assert_eq!(sleeper.receive().unwrap().reply().status, 0);
    for thread in [urgent, local] {
        thread.unwrap().join().unwrap();
    }
    both
}

#[test]
fn a_sleeping_servant_with_a_forged_importance_delays_no_higher_lane() {
    // Those of unnamed peers do not count; those of named ones count within their lane.
    for claims in [None, Some(AcceptedClaims::all())] {
        let target = Target::new(claims);
        assert!(is_served_beside_a_sleeper(&target, LONG), "{claims:?}");
    }
    // The peer is trusted to delay others.
    let target = Target::new(Some(AcceptedClaims::all().above_lane(true)));
    assert!(!is_served_beside_a_sleeper(&target, Duration::from_millis(300)));
}

#[test]
fn a_forged_importance_raises_no_thread_above_its_lane() {
    if !realtime_or_skip() {
        return;
    }
    let own = {
        let server = serving_at(LOW, Orb::builder());
        let mut peer = request(&server, "native_priority", 1, 0);
        short(peer.receive())
    };
    for (claims, raised) in [
        (None, false),
        (Some(AcceptedClaims::all()), false),
        (Some(AcceptedClaims::all().above_lane(true)), true),
    ] {
        let target = Target::new(claims);
        let mut peer = request(&target.low, "native_priority", 7, i32::MAX);
        let native = short(peer.receive());
        assert_eq!(native > own, raised, "{claims:?}: {native}, the lane has {own}");
    }
}
