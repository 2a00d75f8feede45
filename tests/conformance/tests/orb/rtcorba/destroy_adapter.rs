//! Adapters that are destroyed while their objects are called.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use punctual::{OrbError, PriorityModel, SystemExceptionKind as Kind};
use punctual_fixtures::{conformance::ProbeRef, priority, real_time::ordinary_client, server::Server};

#[test]
fn a_destroyed_adapter_takes_its_objects_and_children_along_and_no_others() {
    let server = Server::start();
    let model = PriorityModel::ServerDeclared(priority(1));
    let root = server.orb.root_poa();
    let parent = root
        .child("parent")
        .threadpool(&server.pool)
        .priority_model(model)
        .build()
        .unwrap();
    let child = parent
        .child("child")
        .threadpool(&server.pool)
        .user_ids()
        .build()
        .unwrap();
    let brother = root.child("brother").threadpool(&server.pool).build().unwrap();
    let objects: [ProbeRef; 4] = [
        parent.activate(server.servant()).unwrap(),
        parent
            .object(server.servant())
            .priority(priority(2))
            .activate()
            .unwrap(),
        child.object(server.servant()).id("a").activate().unwrap(),
        brother.activate(server.servant()).unwrap(),
    ];
    let client = ordinary_client();
    let remote = objects
        .each_ref()
        .map(|object| client.resolve::<ProbeRef>(&object.to_ior()).unwrap());
    remote.iter().for_each(|probe| assert_eq!(probe.twice(1), Ok(2)));
    parent.destroy().unwrap();
    for probe in &remote[..3] {
        assert_eq!(probe.twice(1).unwrap_err().kind, Kind::ObjectNotExist);
    }
    assert_eq!(remote[3].twice(1), Ok(2));
    assert_eq!(server.probe.twice(1), Ok(2));
    // Nothing can be created in them from now on.
    let destroyed =
        |result: Result<ProbeRef, OrbError>| assert!(matches!(result, Err(OrbError::AdapterDestroyed)));
    destroyed(parent.activate(server.servant()));
    destroyed(child.object(server.servant()).id("b").activate());
    destroyed(child.reference().id("b").create());
    assert!(matches!(
        parent.child("c").build(),
        Err(OrbError::AdapterDestroyed)
    ));
    assert!(matches!(
        child.child("c").build(),
        Err(OrbError::AdapterDestroyed)
    ));
    parent.destroy().unwrap();
    // The names are free; old references do not lead to new objects, but for ids that say so.
    let parent = root.child("parent").threadpool(&server.pool).build().unwrap();
    let child = parent
        .child("child")
        .threadpool(&server.pool)
        .user_ids()
        .build()
        .unwrap();
    let _: ProbeRef = parent.activate(server.servant()).unwrap();
    let _: ProbeRef = child.object(server.servant()).id("a").activate().unwrap();
    assert_eq!(remote[0].twice(1).unwrap_err().kind, Kind::ObjectNotExist);
    assert_eq!(
        remote[2].twice(1),
        Ok(2),
        "the same adapter name and id, in the same run"
    );
    assert!(matches!(root.destroy(), Err(OrbError::WrongPolicy(_))));
}

#[test]
fn upcalls_that_are_under_way_are_waited_for() {
    let server = Server::start();
    let poa = server
        .orb
        .root_poa()
        .child("gone")
        .threadpool(&server.pool)
        .build()
        .unwrap();
    let probe: ProbeRef = poa.activate(server.servant()).unwrap();
    let ior = probe.to_ior();
    let client = ordinary_client();
    thread::scope(|scope| {
        let call = scope.spawn(|| client.resolve::<ProbeRef>(&ior).unwrap().wait_at_gate(7));
        server.hooks.await_at_gate(1);
        let destroyed = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&destroyed);
        let destroy = scope.spawn(move || {
            poa.destroy().unwrap();
            done.store(true, Ordering::SeqCst);
        });
        // It admits no request, and waits.
        while probe.twice(1).is_ok() {
            thread::yield_now();
        }
        assert!(!destroyed.load(Ordering::SeqCst));
        server.hooks.open_gate();
        assert_eq!(call.join().unwrap(), Ok(7));
        destroy.join().unwrap();
        assert!(destroyed.load(Ordering::SeqCst));
    });
}

#[test]
fn clients_that_go_on_calling_get_an_answer_to_each_call() {
    let server = Server::start();
    let client = ordinary_client();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for round in 0..20 {
            let root = server.orb.root_poa();
            let poa = root.child("again").threadpool(&server.pool).build().unwrap();
            let probes: Vec<ProbeRef> = (0..10).map(|_| poa.activate(server.servant()).unwrap()).collect();
            let ior = probes[round % 10].to_ior();
            let (client, stop) = (&client, &stop);
            let caller = scope.spawn(move || {
                let probe: ProbeRef = client.resolve(&ior).unwrap();
                let mut calls = 0;
                loop {
                    match probe.twice(calls) {
                        Ok(twice) => assert_eq!(twice, calls * 2),
                        // While it is being destroyed.
                        Err(error) if error.kind == Kind::Transient => {}
                        Err(error) => {
                            assert_eq!(error.kind, Kind::ObjectNotExist);
                            return calls;
                        }
                    }
                    assert!(!stop.load(Ordering::Relaxed));
                    calls += 1;
                }
            });
            while server.pool.statistics()[0].1.requests < 10 * (round as u64 + 1) {
                thread::yield_now();
            }
            poa.destroy().unwrap();
            caller.join().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
}
