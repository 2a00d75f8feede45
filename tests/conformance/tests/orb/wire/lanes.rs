//! Priorities as they arrive: from which lane, accepted or not, and what the serving thread runs at.

use punctual::{
    Completion, LaneStatistics, Minor, OnExcess, PriorityModel, SchedulingClass, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    client_propagated,
    peer::Peer,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    real_time::ordinary,
    realtime_or_skip,
    server::{Profile, Server, Setup},
    wire::{COMMON, DIALECTS, Dialect, Message, Reader},
};
use punctual_os::{Scheduling, TaskId, scheduling};

use crate::wire::probing::exception;

const PRIORITY: u32 = 10;

fn propagated(dialect: Dialect, value: i16) -> Vec<(u32, Vec<u8>)> {
    let data = dialect.encapsulation(|data| data.u16(value as u16));
    vec![(PRIORITY, data)]
}

fn with_lanes() -> Server {
    Server::with_propagated_priorities(priority(LOW), |pool| {
        pool.lane(priority(MIDDLE), 1)
            .lane(priority(LOW), 1)
            .lane(priority(HIGH), 1)
    })
}

/// Port and priority of each endpoint in the reference.
fn endpoints(server: &Server) -> Vec<(u16, i16)> {
    let profile = Profile::of(&server.probe);
    let (_, data) = profile
        .components
        .iter()
        .find(|(tag, _)| *tag == 0x5441_4f02)
        .expect("endpoints");
    let mut data = Reader::encapsulation(data);
    (0..data.u32())
        .map(|_| {
            assert_eq!(data.string(), b"127.0.0.1");
            (data.u16(), data.u16() as i16)
        })
        .collect()
}

fn call(peer: &mut Peer, server: &Server, operation: &str, contexts: &[(u32, Vec<u8>)]) -> Message {
    call_in(COMMON, peer, server, operation, contexts)
}

fn call_in(
    dialect: Dialect,
    peer: &mut Peer,
    server: &Server,
    operation: &str,
    contexts: &[(u32, Vec<u8>)],
) -> Message {
    peer.send(&dialect.request_with(1, 3, &server.key(), operation, contexts, |body| body));
    peer.receive().unwrap()
}

fn short(message: &Message) -> i16 {
    assert_eq!(message.reply().status, 0);
    message.reply().body.u16() as i16
}

fn seen(server: &Server) -> Vec<LaneStatistics> {
    server
        .pool
        .statistics()
        .into_iter()
        .map(|(_, seen)| seen)
        .collect()
}

#[test]
fn a_request_runs_on_the_lane_it_arrives_on() {
    let server = with_lanes();
    let endpoints = endpoints(&server);
    assert_eq!(
        endpoints
            .iter()
            .map(|(_, priority)| *priority)
            .collect::<Vec<_>>(),
        [LOW, MIDDLE, HIGH]
    );
    let mut threads = Vec::new();
    for (lane, (port, own)) in endpoints.iter().enumerate() {
        let mut peer = Peer::connect(*port);
        for (_, asked) in &endpoints {
            let reply = call(&mut peer, &server, "corba_priority", &propagated(COMMON, *asked));
            assert_eq!(short(&reply), *own, "the lane's, regardless of the request");
            assert_eq!(
                reply.reply().contexts,
                [],
                "with lanes the endpoint says the priority"
            );
        }
        let seen = seen(&server)[lane];
        assert_eq!((seen.requests, seen.misdirected), (3, 2));
        threads.push(call(&mut peer, &server, "thread", &[]).reply().body.i32());
    }
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 3, "each lane has its own thread");
}

#[test]
fn priorities_are_refused_or_clamped() {
    for on_excess in [OnExcess::Refuse, OnExcess::Clamp] {
        let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
        let pool = orb
            .threadpool()
            .lane(priority(LOW), 1)
            .lane(priority(MIDDLE), 1)
            .build()
            .unwrap();
        let model = client_propagated(priority(LOW));
        let poa = orb.root_poa().child("rt").threadpool(&pool);
        let poa = poa.priority_model(model).on_excess(on_excess).build().unwrap();
        let server = Server::with_poa(orb, pool, poa);
        let (port, _) = endpoints(&server)[1];
        let mut refused = 0;
        for dialect in DIALECTS {
            let mut peer = Peer::connect(port);
            let mut ask = |contexts: &[(u32, Vec<u8>)]| {
                call_in(dialect, &mut peer, &server, "corba_priority", contexts)
            };
            assert_eq!(short(&ask(&propagated(dialect, MIDDLE))), MIDDLE);
            for above in [MIDDLE + 1, HIGH] {
                let reply = ask(&propagated(dialect, above));
                if on_excess == OnExcess::Clamp {
                    assert_eq!(short(&reply), MIDDLE);
                } else {
                    refused += 1;
                    let expected = (
                        Kind::NoPermission.repository_id().to_owned(),
                        Minor::PRIORITY_ABOVE_ACCEPTED,
                        Completion::No,
                    );
                    assert_eq!(exception(&reply, 1), expected);
                }
            }
            for (contexts, kind, minor) in [
                (propagated(dialect, -1), Kind::BadParam, Minor::NONE),
                (vec![(PRIORITY, vec![])], Kind::Marshal, Minor::MESSAGE_TRUNCATED),
                (
                    vec![(PRIORITY, vec![1, 0, 5])],
                    Kind::Marshal,
                    Minor::MESSAGE_TRUNCATED,
                ),
            ] {
                let expected = (kind.repository_id().to_owned(), minor, Completion::No);
                assert_eq!(exception(&ask(&contexts), 1), expected);
            }
            assert_eq!(short(&ask(&propagated(dialect, MIDDLE))), MIDDLE);
        }
        assert_eq!(seen(&server)[1].refused_priorities, refused);
        assert_eq!(seen(&server)[1].misdirected, 0);
    }
}

#[test]
fn without_lanes_the_reply_echoes_the_context_octet_by_octet() {
    let server = Server::start();
    for dialect in DIALECTS {
        let mut peer = Peer::connect(server.port());
        // The octet of padding is anything.
        let context = (PRIORITY, vec![1, 0xee, 0xaa, 0x2a]);
        let other = (0x5055_0001, vec![1, 2, 3]);
        let reply = call_in(
            dialect,
            &mut peer,
            &server,
            "corba_priority",
            &[other, context.clone()],
        );
        assert_eq!(reply.reply().contexts, [context]);
        let reply = call_in(dialect, &mut peer, &server, "corba_priority", &[]);
        assert_eq!(reply.reply().contexts, []);
    }
}

/// A pool without lanes, in SCHED_FIFO: the thread takes on the request's priority and goes back to its own.
#[test]
fn without_lanes_the_thread_takes_on_the_priority_of_the_request() {
    let propagated_model = client_propagated(priority(LOW));
    let declared_model = PriorityModel::ServerDeclared(priority(MIDDLE));
    for model in [propagated_model, declared_model] {
        let setup = Setup {
            model: Some(model),
            // Of the highest accepted priority: by default a pool accepts none above its own.
            pool: |pool| pool.default_priority(priority(HIGH)),
            class: SchedulingClass::Fifo,
            ..Setup::default()
        };
        let server = setup.start();
        if !realtime_or_skip() {
            return;
        }
        let mut peer = Peer::connect(server.port());
        let thread = call(&mut peer, &server, "thread", &[]).reply().body.i32();
        let thread = TaskId::new(thread).unwrap();
        let resting: Scheduling = scheduling::of(thread).unwrap();
        assert_eq!(resting.priority.0, 99);
        // The linear mapping onto 1 to 99.
        for (asked, native) in [(0, 1), (LOW, 33), (MIDDLE, 66), (HIGH, 99)] {
            let contexts = propagated(COMMON, asked);
            let (asked, native) = match model {
                PriorityModel::ClientPropagated { .. } => (asked, native),
                PriorityModel::ServerDeclared(_) => (MIDDLE, 66),
            };
            let reply = call(&mut peer, &server, "native_priority", &contexts);
            assert_eq!(short(&reply), native);
            assert_eq!(
                scheduling::of(thread).unwrap(),
                resting,
                "restored before the reply"
            );
            let reply = call(&mut peer, &server, "corba_priority", &contexts);
            assert_eq!(short(&reply), asked);
        }
        if model == propagated_model {
            let reply = call(&mut peer, &server, "native_priority", &[]);
            assert_eq!(short(&reply), 33, "the default, where the client says nothing");
        }
    }
}
