//! Effects of bands, of lanes, and of both together, for a client whose priorities are not those of the
//! lanes.
//!
//! Four configurations, after the test of this name among TAO's. What is compared is who was served before
//! whom.

use std::{sync::Barrier, thread};

use punctual::{
    CpuSet, Minor, Orb, PolicyOverrides, Priority, PriorityBand, SchedulingClass, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    eventually, priority,
    real_time::orb_of_class,
    realtime_or_skip,
    recorder::band,
    server::{Server, Setup},
};
use punctual_os::affinity;

/// The lanes' priorities, and those of the clients, which differ.
const LANES: [i16; 2] = [10_922, 32_767];
const LOW: i16 = 5_000;
const HIGH: i16 = 30_000;
/// Everything that competes is on one CPU.
const CPU: usize = 0;

fn server(lanes: bool, class: SchedulingClass) -> Server {
    let setup = Setup {
        model: Some(client_propagated(Priority::MIN)),
        pool: if lanes {
            |pool| {
                let pool = pool.affinity(CpuSet::single(CPU));
                pool.lane(priority(LANES[0]), 1).lane(priority(LANES[1]), 1)
            }
        } else {
            |pool| pool.affinity(CpuSet::single(CPU)).default_priority(Priority::MAX)
        },
        class,
        ..Setup::default()
    };
    setup.start()
}

fn client(class: SchedulingClass) -> Orb {
    let orb = orb_of_class(class);
    orb.build().unwrap()
}

fn bands(banded: bool) -> PolicyOverrides {
    let halves = [band(0, 20_000), band(20_001, 32_767)];
    let none: [PriorityBand; 0] = [];
    let overrides = PolicyOverrides::new();
    if banded {
        overrides.priority_bands(halves)
    } else {
        overrides.priority_bands(none)
    }
}

fn reference(server: &Server, orb: &Orb, banded: bool) -> ProbeRef {
    server.reference_for(orb).with_policies(bands(banded)).unchecked()
}

const URGENT: i32 = 100;

/// One thread sends requests of low priority, and then one of high priority. A thread of low priority is
/// being served.
pub fn only_lanes_and_bands_together_let_the_urgent_one_pass() {
    for (lanes, banded) in [(false, false), (false, true), (true, false), (true, true)] {
        println!("lanes: {lanes}, bands: {banded}");
        let (server, orb) = (
            server(lanes, SchedulingClass::Other),
            client(SchedulingClass::Other),
        );
        let probe = reference(&server, &orb, banded);
        let at = |value| orb.current().set_priority(priority(value)).unwrap();
        if lanes && !banded {
            // No lane has the client's priority.
            for own in [LOW, HIGH] {
                at(own);
                let error = probe.note(1).unwrap_err();
                assert_eq!(
                    (error.kind, error.minor),
                    (Kind::InvPolicy, Minor::NO_ENDPOINT_FOR_PRIORITY)
                );
            }
            continue;
        }
        // Both connections are there before it begins, where there are two.
        for own in [LOW, HIGH] {
            at(own);
            assert_eq!(probe.noted(), Ok(0));
        }
        let open: usize = server
            .pool
            .statistics()
            .iter()
            .map(|(_, seen)| seen.connections.open)
            .sum();
        assert_eq!(open, if banded { 2 } else { 1 }, "a connection for each band");
        thread::scope(|scope| {
            scope.spawn(|| {
                orb.current().set_priority(priority(LOW)).unwrap();
                assert_eq!(probe.wait_at_gate(1), Ok(1));
            });
            server.hooks.await_at_gate(1);
            at(LOW);
            (1..=3).for_each(|value| probe.note(value).unwrap());
            at(HIGH);
            probe.note(URGENT).unwrap();
            if lanes {
                eventually("the urgent one", || !server.hooks.journal().is_empty());
                assert_eq!(server.hooks.journal(), [URGENT]);
            }
            server.hooks.open_gate();
            eventually("all", || server.hooks.journal().len() == 4);
        });
        let expected = if lanes {
            [URGENT, 1, 2, 3]
        } else {
            [1, 2, 3, URGENT]
        };
        assert_eq!(server.hooks.journal(), expected);
    }
}

/// The low-priority request burns the only CPU: with real-time scheduling the urgent one interrupts it, given
/// lanes and bands.
pub fn the_urgent_one_interrupts_what_runs() {
    if !realtime_or_skip() {
        return;
    }
    const WORK: i32 = 50_000;
    for (lanes, banded) in [(false, false), (false, true), (true, true)] {
        let server = &server(lanes, SchedulingClass::Fifo);
        let on_the_cpu = |own: i16| {
            affinity::set_current(&CpuSet::single(CPU)).unwrap();
            let orb = client(SchedulingClass::Fifo);
            orb.current().set_priority(priority(own)).unwrap();
            let probe = reference(server, &orb, banded);
            assert_eq!(probe.noted(), Ok(0), "connected before it begins");
            (orb, probe)
        };
        let connected = Barrier::new(2);
        let done = thread::scope(|scope| {
            scope.spawn(|| {
                let (_orb, probe) = on_the_cpu(LOW);
                connected.wait();
                probe.churn(WORK).unwrap();
            });
            let urgent = scope.spawn(|| {
                let (_orb, probe) = on_the_cpu(HIGH);
                connected.wait();
                eventually("the work", || server.hooks.activations() > 0);
                assert_eq!(probe.twice(21), Ok(42));
                server.hooks.activations()
            });
            urgent.join().unwrap()
        });
        if lanes {
            assert!(done < WORK as u64, "it waited for all of the work");
        } else {
            assert_eq!(done, WORK as u64, "bands: {banded}: the only thread was busy");
        }
    }
}
