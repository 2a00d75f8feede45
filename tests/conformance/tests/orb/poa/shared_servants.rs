//! Objects that have their servant in common: IdUniquenessPolicy MULTIPLE_ID.

use std::{
    sync::{Arc, Mutex, Weak},
    thread,
};

use punctual::{
    AnyServant, Declined, Etherealized, OrbError, Poa, Priority, PriorityModel, ServantActivator,
    SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    later::DeskRef,
    server::{Servant, Server, client},
};

fn shared(server: &Server) -> (Weak<Servant>, AnyServant) {
    let servant = Arc::new(server.servant());
    (
        Arc::downgrade(&servant),
        AnyServant::of_arc::<ProbeRef, _>(servant),
    )
}

#[test]
fn one_servant_serves_objects_with_several_ids() {
    let (server, client) = (Server::start(), client());
    let root = server.orb.root_poa();
    let poa = root.child("shared").threadpool(&server.pool).user_ids();
    let poa = poa.build().unwrap();
    let (implementation, servant) = shared(&server);
    let [one, other] = ["one", "other"].map(|id| {
        let here: ProbeRef = poa.object(servant.clone()).id(id).activate_shared().unwrap();
        let there: ProbeRef = client.resolve(&here.to_ior()).unwrap();
        assert_eq!(poa.id_of(&here).unwrap(), id.as_bytes());
        there
    });
    // An object with an id of the adapter's, of the same servant in another adapter.
    let elsewhere: ProbeRef = server.poa.object(servant.clone()).activate_shared().unwrap();
    for probe in [&one, &other, &elsewhere] {
        assert_eq!(probe.twice(4), Ok(8));
    }
    drop(servant);
    poa.deactivate(&poa.reference().id("one").create::<ProbeRef>().unwrap())
        .unwrap();
    assert_eq!(one.twice(4).unwrap_err().kind, Kind::ObjectNotExist);
    assert_eq!(other.twice(4), Ok(8), "the other object still has it");
    poa.destroy().unwrap();
    assert!(implementation.strong_count() > 0);
    server.poa.deactivate(&elsewhere).unwrap();
    assert_eq!(implementation.strong_count(), 0, "dropped with the last object");
}

#[test]
fn a_shared_servant_has_the_interface_of_its_references() {
    let server = Server::start();
    let (_, servant) = shared(&server);
    let refused = server.poa.object(servant.clone()).activate_shared::<DeskRef>();
    let error = refused.expect_err("it is no desk");
    assert!(matches!(error, OrbError::WrongInterface { .. }));
    assert!(error.to_string().contains("IDL:conformance/Probe:1.0"), "{error}");
    let root = server.orb.root_poa();
    let poa = root.child("none").user_ids().build().unwrap();
    let without_id = poa.object(servant).activate_shared::<ProbeRef>();
    assert!(matches!(without_id, Err(OrbError::WrongPolicy(_))), "as others");
}

#[test]
fn objects_with_one_servant_have_priorities_of_their_own() {
    let server = Server::start();
    let root = server.orb.root_poa();
    let [low, high] = [10, 20].map(|value| Priority::new(value).unwrap());
    let pool = server
        .orb
        .threadpool()
        .lane(low, 1)
        .lane(high, 1)
        .build()
        .unwrap();
    let poa = root.child("urgent").threadpool(&pool);
    let poa = poa
        .priority_model(PriorityModel::ServerDeclared(low))
        .build()
        .unwrap();
    let (_, servant) = shared(&server);
    let client = client();
    for priority in [low, high] {
        let object = poa.object(servant.clone()).priority(priority);
        let here: ProbeRef = object.activate_shared().unwrap();
        let there: ProbeRef = client.resolve(&here.to_ior()).unwrap();
        assert_eq!(there.corba_priority(), Ok(priority.value()));
    }
}

/// Notes whether other objects had the servant of the one that has ended.
struct Noting(Arc<Mutex<Vec<bool>>>);

impl ServantActivator for Noting {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
        Err(Declined::no_object())
    }

    fn etherealize(&self, _: &[u8], ended: Etherealized) {
        self.0.lock().unwrap().push(ended.remaining_activations);
    }
}

#[test]
fn a_servant_activator_learns_which_object_is_the_last_of_a_servant() {
    let (server, seen) = (Server::start(), Arc::<Mutex<Vec<bool>>>::default());
    let root = server.orb.root_poa();
    let poa = root.child("noted").threadpool(&server.pool).user_ids();
    let poa = poa.servant_activator(Noting(Arc::clone(&seen))).build().unwrap();
    let (_, servant) = shared(&server);
    let probes = ["one", "other"].map(|id| {
        let probe: ProbeRef = poa.object(servant.clone()).id(id).activate_shared().unwrap();
        probe
    });
    thread::scope(|scope| {
        for probe in &probes {
            scope.spawn(|| poa.deactivate(probe).unwrap());
        }
    });
    eventually("both have ended", || seen.lock().unwrap().len() == 2);
    assert_eq!(*seen.lock().unwrap(), [true, false]);
}
