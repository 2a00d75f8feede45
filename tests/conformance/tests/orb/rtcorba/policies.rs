//! Policies at the ORB and at adapters, and what references say of them: TAO's `Policies`.

use punctual::{Orb, Poa, Priority, PriorityBand, PriorityModel};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    real_time::{RealTime, ordinary, ordinary_client},
    server::Server,
};

const DECLARED: PriorityModel = PriorityModel::ServerDeclared(Priority::MAX);
const PROPAGATED: PriorityModel = client_propagated(Priority::MAX);

fn bands(bands: [(i16, i16); 2]) -> [PriorityBand; 2] {
    bands.map(|(low, high)| PriorityBand::new(priority(low), priority(high)))
}

fn builder() -> punctual::OrbBuilder {
    ordinary().listen("iiop://127.0.0.1:0")
}

/// A server in this ORB, to have servants from.
fn server(orb: &Orb) -> Server {
    let pool = orb.threadpool().build().unwrap();
    Server::with_poa(orb.clone(), pool, orb.root_poa())
}

/// Policies in references to the objects of an adapter.
fn said(server: &Server, poa: &Poa) -> RealTime {
    let probe: ProbeRef = poa.activate(server.servant()).unwrap();
    RealTime::of(&probe)
}

#[test]
fn an_adapter_has_its_own_policies_else_the_orbs_and_never_its_parents() {
    let of_orb = bands([(0, LOW), (LOW + 1, HIGH)]);
    let of_adapter = bands([(5, 6), (7, HIGH)]);
    let orb = builder()
        .priority_model(PROPAGATED)
        .priority_bands(of_orb)
        .build()
        .unwrap();
    let in_orb = |bands: [PriorityBand; 2]| bands.map(|band| (band.low.value(), band.high.value()));

    let server = server(&orb);
    let inherits = orb.root_poa().child("inherits").build().unwrap();
    let found = said(&server, &inherits);
    assert_eq!(
        (found.model, found.bands),
        (Some((0, HIGH)), in_orb(of_orb).to_vec())
    );
    assert_eq!(found.policies, [45, 40], "in the order that TAO reads");

    let own = orb
        .root_poa()
        .child("own")
        .priority_model(DECLARED)
        .priority_bands(of_adapter);
    let own = own.build().unwrap();
    let found = said(&server, &own);
    assert_eq!(
        (found.model, found.bands),
        (Some((1, HIGH)), in_orb(of_adapter).to_vec())
    );

    // One of its own, the others the ORB's.
    let mixed = orb
        .root_poa()
        .child("mixed")
        .priority_model(DECLARED)
        .build()
        .unwrap();
    let found = said(&server, &mixed);
    assert_eq!(
        (found.model, found.bands),
        (Some((1, HIGH)), in_orb(of_orb).to_vec())
    );

    let grandchild = own.child("grandchild").build().unwrap();
    let found = said(&server, &grandchild);
    assert_eq!(
        (found.model, found.bands),
        (Some((0, HIGH)), in_orb(of_orb).to_vec())
    );
    // The adapter that is there from the start has none.
    let found = said(&server, &orb.root_poa());
    assert_eq!((found.model, found.policies), (None, vec![]));
}

#[test]
fn the_orbs_pool_serves_adapters_that_name_none_from_then_on() {
    let orb = builder().build().unwrap();
    let before = orb.root_poa().child("before").build().unwrap();
    let [default, own] = [LOW, MIDDLE].map(|value| {
        let pool = orb.threadpool().default_priority(priority(value));
        pool.build().unwrap()
    });
    orb.set_default_threadpool(&default);
    let after = orb.root_poa().child("after").build().unwrap();
    let named = orb.root_poa().child("named").threadpool(&own).build().unwrap();
    let server = Server::with_poa(orb.clone(), default, after);
    let named: ProbeRef = named.activate(server.servant()).unwrap();
    let before: ProbeRef = before.activate(server.servant()).unwrap();
    let client = ordinary_client();
    let resolve = |probe: &ProbeRef| client.resolve::<ProbeRef>(&probe.to_ior()).unwrap();
    assert_eq!(resolve(&server.probe).corba_priority(), Ok(LOW));
    assert_eq!(resolve(&named).corba_priority(), Ok(MIDDLE));
    let runner = std::thread::spawn(move || orb.run());
    assert_eq!(
        resolve(&before).corba_priority(),
        Ok(-1),
        "a thread of the user's own, which has none"
    );
    server.orb.shutdown();
    runner.join().unwrap();
}

/// Without real-time policies a reference says nothing about priorities, to ORBs that could not read it
/// either.
#[test]
fn an_adapter_without_policies_makes_plain_references() {
    let orb = builder().build().unwrap();
    let server = server(&orb);
    let poa = orb.root_poa().child("plain").build().unwrap();
    let found = said(&server, &poa);
    assert_eq!(
        (found.endpoints, found.policies, found.model),
        (vec![], vec![], None)
    );
}
