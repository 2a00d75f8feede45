//! The server declares priorities, of an adapter and of single objects: TAO's `Server_Declared`.

use punctual::{AnyServant, Declined, Orb, OrbError, Poa, PriorityModel, ServantLocator, ThreadPoolBuilder};
use punctual_fixtures::{
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE, native},
    priority,
    real_time::{RealTime, class, ordinary_client},
    rights::realtime_or_skip_part,
    server::{Server, Setup},
};

fn server(realtime: bool, pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder) -> Server {
    let setup = Setup {
        model: Some(PriorityModel::ServerDeclared(priority(LOW))),
        pool,
        class: class(realtime),
        ..Setup::default()
    };
    setup.start()
}

/// Calls at several priorities of the client's; the object's is the one that holds.
fn assert_runs_at(client: &Orb, probe: &ProbeRef, declared: i16, realtime: bool) {
    assert_eq!(RealTime::of(probe).model, Some((1, declared)));
    let remote: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
    for clients in [0, MIDDLE, HIGH] {
        client.current().set_priority(priority(clients)).unwrap();
        assert_eq!(remote.corba_priority(), Ok(declared));
        let expected = if realtime { native(declared) } else { -1 };
        assert_eq!(remote.native_priority(), Ok(expected));
        assert_eq!(client.current().priority().unwrap(), priority(clients));
    }
}

#[test]
fn objects_run_at_the_priority_of_the_adapter_or_their_own() {
    let realtime = realtime_or_skip_part();
    let client = ordinary_client();
    let server = server(realtime, |pool| pool.default_priority(priority(MIDDLE)));
    assert_runs_at(&client, &server.probe, LOW, realtime);
    for own in [0, LOW, 12_345, HIGH] {
        assert_runs_at(
            &client,
            &server.another_with_priority(priority(own)),
            own,
            realtime,
        );
    }
}

#[test]
fn with_lanes_a_reference_has_only_the_endpoint_of_its_lane() {
    let realtime = realtime_or_skip_part();
    let client = ordinary_client();
    let server = server(realtime, |pool| {
        pool.lane(priority(HIGH), 1)
            .lane(priority(LOW), 1)
            .lane(priority(MIDDLE), 1)
    });
    let mut ports = Vec::new();
    for own in [LOW, MIDDLE, HIGH] {
        let probe = server.another_with_priority(priority(own));
        let said = RealTime::of(&probe);
        assert_eq!(said.endpoints, [own]);
        ports.push(said.ports[0]);
        assert_runs_at(&client, &probe, own, realtime);
    }
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 3, "each lane has its own acceptor");
    for (_, seen) in server.pool.statistics() {
        assert_eq!((seen.requests, seen.misdirected), (6, 0));
    }
}

/// References that are made before their objects.
#[test]
fn a_reference_made_before_its_object_leads_to_it() {
    let realtime = realtime_or_skip_part();
    let client = ordinary_client();
    let server = server(realtime, |pool| {
        pool.lane(priority(HIGH), 1).lane(priority(LOW), 1)
    });
    let early: ProbeRef = server.poa.reference().priority(priority(HIGH)).create().unwrap();
    let remote: ProbeRef = client.resolve(&early.to_ior()).unwrap();
    let error = remote.twice(1).unwrap_err();
    assert_eq!(error.kind, punctual::SystemExceptionKind::ObjectNotExist);
    let id = server.poa.id_of(&early).unwrap();
    let active: ProbeRef = server.poa.object(server.servant()).id(&id).activate().unwrap();
    assert_eq!(active.to_ior(), early.to_ior());
    assert_runs_at(&client, &early, HIGH, realtime);
    let plain: ProbeRef = server.poa.reference().create().unwrap();
    assert_eq!(RealTime::of(&plain).model, Some((1, LOW)));
    assert_ne!(server.poa.id_of(&plain).unwrap(), id);
    server.poa.deactivate(&active).unwrap();
    assert!(remote.twice(1).is_err());
}

/// An adapter of the server in which one servant stands for all objects.
fn stand_in(server: &Server, name: &str, locator: bool) -> Poa {
    let poa = server
        .orb
        .root_poa()
        .child(name)
        .threadpool(&server.pool)
        .user_ids();
    let poa = poa.priority_model(PriorityModel::ServerDeclared(priority(LOW)));
    let servant = AnyServant::new::<ProbeRef, _>(server.servant());
    let poa = if locator {
        poa.servant_locator(Finder(servant))
    } else {
        poa.default_servant(servant)
    };
    poa.build().unwrap()
}

struct Finder(AnyServant);

impl ServantLocator for Finder {
    fn preinvoke(&self, _: &[u8], _: &Poa, _: &str) -> Result<(AnyServant, u64), Declined> {
        Ok((self.0.clone(), 0))
    }
}

#[test]
fn objects_of_one_servant_run_at_the_priorities_of_their_references() {
    let realtime = realtime_or_skip_part();
    let client = ordinary_client();
    let server = server(realtime, |pool| pool.default_priority(priority(MIDDLE)));
    for (name, locator) in [("default", false), ("located", true)] {
        let poa = stand_in(&server, name, locator);
        let plain: ProbeRef = poa.reference().id("plain").create().unwrap();
        let high: ProbeRef = poa
            .reference()
            .id("high")
            .priority(priority(HIGH))
            .create()
            .unwrap();
        assert_runs_at(&client, &plain, LOW, realtime);
        assert_runs_at(&client, &high, HIGH, realtime);
        // Collocated, too.
        assert_eq!(
            (plain.corba_priority(), high.corba_priority()),
            (Ok(LOW), Ok(HIGH))
        );
        let again: ProbeRef = poa.reference().id("high").create().unwrap();
        assert_eq!(
            RealTime::of(&again).model,
            Some((1, HIGH)),
            "all of its references have it"
        );
        let other = poa
            .reference()
            .id("high")
            .priority(priority(LOW))
            .create::<ProbeRef>();
        assert!(matches!(other, Err(OrbError::PriorityTaken { .. })));
    }
}

#[test]
fn objects_of_one_servant_are_served_by_the_lanes_of_their_priorities() {
    let realtime = realtime_or_skip_part();
    let client = ordinary_client();
    let server = server(realtime, |pool| {
        pool.lane(priority(LOW), 1).lane(priority(HIGH), 1)
    });
    for (name, locator) in [("default", false), ("located", true)] {
        let poa = stand_in(&server, name, locator);
        let high: ProbeRef = poa
            .reference()
            .id("high")
            .priority(priority(HIGH))
            .create()
            .unwrap();
        assert_eq!(RealTime::of(&high).endpoints, [HIGH]);
        assert_runs_at(&client, &high, HIGH, realtime);
    }
    let [low, high] = [0, 1].map(|lane| server.seen(lane));
    assert_eq!((low.requests, high.requests), (0, 12));
    assert_eq!((low.misdirected, high.misdirected), (0, 0));
}

/// The default servant takes over again, at the priority that the references state.
#[test]
fn an_object_of_a_default_servant_keeps_its_priority_when_it_is_deactivated() {
    let realtime = realtime_or_skip_part();
    let client = ordinary_client();
    let server = server(realtime, |pool| pool.default_priority(priority(MIDDLE)));
    let poa = stand_in(&server, "default", false);
    let high: ProbeRef = poa
        .reference()
        .id("high")
        .priority(priority(HIGH))
        .create()
        .unwrap();
    let active: ProbeRef = poa.object(server.servant()).id("high").activate().unwrap();
    assert_runs_at(&client, &active, HIGH, realtime);
    poa.deactivate(&active).unwrap();
    assert_runs_at(&client, &high, HIGH, realtime);
}
