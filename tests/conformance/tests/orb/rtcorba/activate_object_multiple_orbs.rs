//! Several ORBs in one process, each with its own adapters, pools and policies: TAO's
//! `Activate_Object_Multiple_ORBs`.

use punctual::{OrbError, Priority, PriorityModel};
use punctual_fixtures::{
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    real_time::{RealTime, class, orb_of_class},
    rights::realtime_or_skip_part,
    server::Server,
};
use punctual_os::TaskId;

fn server(realtime: bool, declared: i16) -> Server {
    let orb = orb_of_class(class(realtime))
        .listen("iiop://127.0.0.1:0")
        .priority_model(PriorityModel::ServerDeclared(priority(declared)))
        .build()
        .unwrap();
    let pool = orb.threadpool().default_priority(Priority::MAX).build().unwrap();
    // The same name in each: adapters belong to their ORB.
    let poa = orb.root_poa().child("rt").threadpool(&pool).build().unwrap();
    Server::with_poa(orb, pool, poa)
}

#[test]
fn each_orb_activates_its_own_objects_at_its_own_priorities() {
    let realtime = realtime_or_skip_part();
    let [first, second] = [LOW, HIGH].map(|declared| server(realtime, declared));
    let own = TaskId::current_thread().get();
    for (server, declared, other) in [(&first, LOW, &second), (&second, HIGH, &first)] {
        assert_eq!(RealTime::of(&server.probe).model, Some((1, declared)));
        assert_eq!(server.probe.corba_priority(), Ok(declared));
        assert_eq!(
            server.probe.thread(),
            Ok(own),
            "its own objects are called directly"
        );
        // In the other ORB the same object is somewhere else, though in the same process.
        let remote: ProbeRef = other.orb.resolve(&server.probe.to_ior()).unwrap();
        assert_eq!(remote.corba_priority(), Ok(declared));
        assert_ne!(remote.thread(), Ok(own), "it has a thread of its pool");
        let with_own = server.another_with_priority(priority(MIDDLE));
        let remote: ProbeRef = other.orb.resolve(&with_own.to_ior()).unwrap();
        assert_eq!(remote.corba_priority(), Ok(MIDDLE));
        // A servant of one calls one of the other.
        assert_eq!(
            remote.corba_priority_of(Some(&other.probe)),
            other.probe.corba_priority()
        );
        assert!(matches!(
            other.poa.deactivate(&server.probe),
            Err(OrbError::NotActive)
        ));
        assert!(matches!(other.poa.id_of(&server.probe), Err(OrbError::NotActive)));
    }
}

#[test]
fn one_servant_serves_in_two_orbs_and_outlives_the_first() {
    let realtime = realtime_or_skip_part();
    let [first, second] = [LOW, HIGH].map(|declared| server(realtime, declared));
    let shared: ProbeRef = second.poa.activate(first.servant()).unwrap();
    let in_first: ProbeRef = first.orb.resolve(&shared.to_ior()).unwrap();
    assert_eq!(in_first.corba_priority(), Ok(HIGH));
    shared.note(7).unwrap();
    assert_eq!(first.probe.noted(), Ok(7), "the same servant's state");
    first.orb.shutdown_and_wait().unwrap();
    assert!(first.probe.noted().is_err());
    assert!(in_first.noted().is_err(), "references of an ORB end with it");
    assert_eq!(shared.noted(), Ok(7));
    assert_eq!(shared.thread(), Ok(TaskId::current_thread().get()));
}
