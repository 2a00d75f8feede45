//! Threads that call at the same time, each with a priority and a protocol of its own: TAO's
//! `MT_Client_Protocol_Priority`.

use std::thread;

use punctual::{PolicyOverrides, Priority, Protocol, ProtocolPolicy};
use punctual_fixtures::{
    client_propagated,
    priorities::{HIGH, LOW, MIDDLE, native},
    priority,
    protocols::{WatchedClient, only},
    real_time::{class, orb_of_class},
    rights::realtime_or_skip_part,
    server::Server,
};

const CALLS: u64 = 50;

#[test]
fn every_thread_has_its_lane_and_its_protocol() {
    let realtime = realtime_or_skip_part();
    let orb = orb_of_class(class(realtime))
        .listen("iiop://127.0.0.1")
        .listen("uiop://")
        .build()
        .unwrap();
    let lanes = [LOW, MIDDLE, HIGH];
    let mut pool = orb.threadpool();
    for lane in lanes {
        pool = pool.lane(priority(lane), 1);
    }
    let pool = pool.build().unwrap();
    let model = client_propagated(Priority::MIN);
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    let server = Server::with_poa(orb, pool, poa);

    let client = WatchedClient::new(ProtocolPolicy::default());
    let probe = client.reference(&server.probe);
    thread::scope(|scope| {
        for lane in lanes {
            for protocol in [Protocol::IIOP, Protocol::UIOP] {
                let (orb, probe) = (&client.orb, &probe);
                scope.spawn(move || {
                    orb.current().set_priority(priority(lane)).unwrap();
                    orb.current()
                        .add_policies(PolicyOverrides::new().client_protocols(only(protocol)));
                    let expected = if realtime { native(lane) } else { -1 };
                    for _ in 0..CALLS / 2 {
                        assert_eq!(probe.corba_priority(), Ok(lane));
                        assert_eq!(probe.native_priority(), Ok(expected));
                    }
                });
            }
        }
    });
    assert_eq!(client.connections(), (3, 3), "one for each thread");
    for (lane, statistics) in server.pool.statistics() {
        assert_eq!(
            (statistics.requests, statistics.misdirected),
            (2 * CALLS, 0),
            "{lane:?}"
        );
    }
}
