//! The linear mapping, with and without lanes and bands: TAO's `Linear_Priority`.

use std::thread;

use punctual::{Priority, PriorityBand, StandardMapping, SystemExceptionKind as Kind};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{native, own_native_priority},
    priority,
    real_time::{class, orb_of_class},
    rights::realtime_or_skip_part,
    server::Server,
};

/// Lane priorities of TAO's test.
const LANES: [i16; 6] = [0, 5000, 10_000, 15_000, 20_000, 25_000];
const BANDS: [(i16, i16); 6] = [
    (0, 4999),
    (5000, 9999),
    (10_000, 14_999),
    (15_000, 19_999),
    (20_000, 24_999),
    (25_000, 32_767),
];

struct Case {
    lanes: bool,
    bands: bool,
    /// A client's priority, and the one its request runs at; `None`: it cannot call.
    calls: &'static [(i16, Option<i16>)],
}

const CASES: [Case; 4] = [
    Case {
        lanes: false,
        bands: false,
        calls: &[
            (0, Some(0)),
            (2500, Some(2500)),
            (10_000, Some(10_000)),
            (32_767, Some(32_767)),
        ],
    },
    Case {
        lanes: false,
        bands: true,
        calls: &[
            (0, Some(0)),
            (2500, Some(2500)),
            (24_999, Some(24_999)),
            (32_767, Some(32_767)),
        ],
    },
    Case {
        lanes: true,
        bands: false,
        calls: &[
            (0, Some(0)),
            (2500, None),
            (5000, Some(5000)),
            (25_000, Some(25_000)),
            (32_767, None),
        ],
    },
    Case {
        lanes: true,
        bands: true,
        calls: &[
            (0, Some(0)),
            (2500, Some(0)),
            (5000, Some(5000)),
            (9999, Some(5000)),
            (32_767, Some(25_000)),
        ],
    },
];

#[test]
fn native_priorities_follow_the_linear_mapping_on_both_sides() {
    let realtime = realtime_or_skip_part();
    for case in CASES {
        let server = server(&case, realtime);
        let client = orb_of_class(class(realtime))
            .standard_mapping(StandardMapping::Linear)
            .build()
            .unwrap();
        let ior = server.probe.to_ior();
        let calls = thread::spawn(move || {
            let remote: ProbeRef = client.resolve(&ior).unwrap();
            for (asked, expected) in case.calls {
                client.current().set_priority(priority(*asked)).unwrap();
                if realtime {
                    assert_eq!(own_native_priority(), native(*asked));
                }
                match expected {
                    Some(expected) => {
                        assert_eq!(remote.corba_priority(), Ok(*expected));
                        let native = if realtime { native(*expected) } else { -1 };
                        assert_eq!(remote.native_priority(), Ok(native));
                    }
                    None => assert_eq!(remote.corba_priority().unwrap_err().kind, Kind::InvPolicy),
                }
            }
        });
        calls.join().unwrap();
    }
}

fn server(case: &Case, realtime: bool) -> Server {
    let orb = orb_of_class(class(realtime))
        .listen("iiop://127.0.0.1:0")
        .standard_mapping("linear".parse().unwrap())
        .build()
        .unwrap();
    let mut pool = orb.threadpool();
    if case.lanes {
        pool = LANES
            .iter()
            .fold(pool, |pool, lane| pool.lane(priority(*lane), 1));
    }
    let pool = pool.build().unwrap();
    let model = client_propagated(Priority::MIN);
    let mut poa = orb.root_poa().child("rt").threadpool(&pool).priority_model(model);
    if case.bands {
        poa = poa.priority_bands(BANDS.map(|(low, high)| PriorityBand::new(priority(low), priority(high))));
    }
    if !case.lanes && !case.bands {
        poa = poa.highest_priority(Priority::MAX);
    }
    Server::with_poa(orb, pool, poa.build().unwrap())
}
