//! Priority transforms: what comes in, what servants' own calls carry, and what is refused.

use std::sync::{Arc, Mutex};

use punctual::{
    Completion, Minor, Orb, Priority, PriorityModel, PriorityTransform, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::native,
    priority,
    real_time::{class, orb_of_class, ordinary_client},
    rights::realtime_or_skip_part,
    server::{Profile, Server},
};

/// Whether a priority came in, which, and the object's id.
type Asked = (bool, i16, Vec<u8>);

/// In: 1,000 more, up to 20,000. Out: 1 less, and nothing above 15,000.
#[derive(Clone, Default)]
struct Shift {
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl PriorityTransform for Shift {
    fn inbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority> {
        self.note(true, priority, object_id);
        let shifted = priority.value().checked_add(1000)?;
        (shifted <= 20_000).then(|| Priority::new(shifted).unwrap())
    }

    fn outbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority> {
        self.note(false, priority, object_id);
        (priority.value() <= 15_000).then(|| Priority::new(priority.value() - 1).unwrap())
    }
}

impl Shift {
    fn note(&self, inbound: bool, priority: Priority, id: &[u8]) {
        let entry = (inbound, priority.value(), id.to_vec());
        self.asked.lock().unwrap().push(entry);
    }

    fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

const MODEL: PriorityModel = client_propagated(Priority::MIN);

/// An object of each: with the transform, and in another server without one.
struct Scene {
    transformed: Server,
    plain: Server,
    shift: Shift,
    realtime: bool,
}

impl Scene {
    fn new() -> Self {
        let realtime = realtime_or_skip_part();
        let shift = Shift::default();
        let server = |transform: Option<Shift>| {
            let orb = orb_of_class(class(realtime))
                .listen("iiop://127.0.0.1:0")
                .build()
                .unwrap();
            let pool = orb.threadpool().build().unwrap();
            let poa = orb.root_poa().child("rt").threadpool(&pool).priority_model(MODEL);
            let poa = poa.highest_priority(Priority::MAX);
            let poa = match transform {
                Some(transform) => poa.priority_transform(transform),
                None => poa,
            };
            Server::with_poa(orb, pool, poa.build().unwrap())
        };
        Self {
            transformed: server(Some(shift.clone())),
            plain: server(None),
            shift,
            realtime,
        }
    }
}

#[test]
fn what_comes_in_is_transformed_before_the_servant_runs() {
    let scene = Scene::new();
    let client = ordinary_client();
    let remote: ProbeRef = client.resolve(&scene.transformed.probe.to_ior()).unwrap();
    client.current().set_priority(priority(5000)).unwrap();
    assert_eq!(remote.corba_priority(), Ok(6000));
    if scene.realtime {
        assert_eq!(remote.native_priority(), Ok(native(6000)));
    }
    assert_eq!(
        client.current().priority().unwrap(),
        priority(5000),
        "the client's stays as it was"
    );
    client.current().set_priority(priority(19_001)).unwrap();
    let error = remote.corba_priority().unwrap_err();
    assert_eq!(
        (error.kind, error.minor, error.completed),
        (Kind::Internal, Minor::PRIORITY_NOT_TRANSFORMED, Completion::No)
    );
    // The connection and the lane live on.
    client.current().set_priority(priority(1)).unwrap();
    assert_eq!(remote.corba_priority(), Ok(1001));
}

#[test]
fn calls_of_the_servant_are_transformed_and_no_others() {
    let scene = Scene::new();
    let client = ordinary_client();
    let transformed: ProbeRef = client.resolve(&scene.transformed.probe.to_ior()).unwrap();
    let plain: ProbeRef = client.resolve(&scene.plain.probe.to_ior()).unwrap();
    client.current().set_priority(priority(5000)).unwrap();
    // Client 5000 → servant 6000 → call 5999 → the other server's servant.
    assert_eq!(transformed.corba_priority_of(Some(&plain)), Ok(5999));
    let system_id = scene.transformed.poa.id_of(&scene.transformed.probe).unwrap();
    assert_eq!(
        scene.shift.take(),
        [(true, 5000, system_id.clone()), (false, 6000, system_id)]
    );
    // A call of another process's servant is sent unchanged.
    assert_eq!(plain.corba_priority_of(Some(&plain)), Ok(5000));
    assert_eq!(scene.shift.take(), []);
    // There and back: 5000 out of the plain one, 6000 in the transformed one.
    assert_eq!(plain.corba_priority_of(Some(&transformed)), Ok(6000));
    assert_eq!(scene.shift.take().len(), 1);
    // A thread that has been in a servant with a transform calls on its own again.
    scene
        .transformed
        .orb
        .current()
        .set_priority(priority(5000))
        .unwrap();
    assert_eq!(
        scene.transformed.probe.corba_priority(),
        Ok(6000),
        "within the ORB"
    );
    assert_eq!(plain.corba_priority(), Ok(5000));
    client.current().set_priority(priority(5000)).unwrap();
    // Refused on the way out, inside the servant, which says so to its client.
    client.current().set_priority(priority(14_001)).unwrap();
    let error = transformed.corba_priority_of(Some(&plain)).unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Internal, Minor::PRIORITY_NOT_TRANSFORMED)
    );
    assert_eq!(transformed.corba_priority(), Ok(15_001));
}

/// An upcall inside an upcall, on the same thread: each one's calls are under its own object's transform, or
/// under none.
#[test]
fn upcalls_inside_upcalls_keep_their_transforms_apart() {
    let scene = Scene::new();
    let Server { orb, pool, .. } = &scene.transformed;
    let beside = orb.root_poa().child("beside").threadpool(pool);
    let beside = beside.priority_model(MODEL).highest_priority(Priority::MAX);
    let beside = scene.transformed.another_in(&beside.build().unwrap());
    let client = ordinary_client();
    let [transformed, beside]: [ProbeRef; 2] =
        [&scene.transformed.probe, &beside].map(|probe| client.resolve(&probe.to_ior()).unwrap());
    let elsewhere: ProbeRef = client.resolve(&scene.plain.probe.to_ior()).unwrap();
    client.current().set_priority(priority(5000)).unwrap();
    let id = scene.transformed.poa.id_of(&scene.transformed.probe).unwrap();
    let (inbound, outbound) = ((true, 5000, id.clone()), (false, 6000, id));
    // Inside the transformed object's upcall comes one without a transform, which calls on as it is.
    assert_eq!(
        transformed.corba_priority_after(Some(&beside), Some(&elsewhere)),
        Ok(5999)
    );
    let asked = scene.shift.take();
    assert_eq!(asked, [inbound.clone(), outbound.clone(), outbound.clone()]);
    // The other way round.
    assert_eq!(
        beside.corba_priority_after(Some(&transformed), Some(&elsewhere)),
        Ok(5000)
    );
    assert_eq!(scene.shift.take(), [inbound.clone(), outbound.clone()]);
    // Two with transforms: the outer one's calls are its own again afterwards.
    let other = scene.transformed.another();
    let id = scene.transformed.poa.id_of(&other).unwrap();
    let other = client.resolve(&other.to_ior()).unwrap();
    assert_eq!(
        transformed.corba_priority_after(Some(&other), Some(&elsewhere)),
        Ok(5999)
    );
    let inner = [(true, 5999, id.clone()), (false, 6999, id)];
    let asked = [&[inbound, outbound.clone()], &inner[..], &[outbound]].concat();
    assert_eq!(scene.shift.take(), asked);
}

#[test]
fn objects_are_named_by_their_ids() {
    let shift = Shift::default();
    // For the whole ORB this time.
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .priority_transform(shift.clone())
        .priority_model(MODEL)
        .highest_priority(Priority::MAX)
        .lock_memory(false)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb
        .root_poa()
        .child("ids")
        .threadpool(&pool)
        .user_ids()
        .build()
        .unwrap();
    let system = orb.root_poa().child("system").threadpool(&pool).build().unwrap();
    let server = Server::with_poa(orb.clone(), pool, system);
    let named: ProbeRef = poa.object(server.servant()).id("radar").activate().unwrap();
    let client = ordinary_client();
    client.current().set_priority(priority(1)).unwrap();
    let remote: ProbeRef = client.resolve(&named.to_ior()).unwrap();
    assert_eq!(remote.corba_priority(), Ok(1001));
    assert_eq!(shift.take(), [(true, 1, b"radar".to_vec())]);
    // Within the ORB as well: the servant sees the same.
    orb.current().set_priority(priority(1)).unwrap();
    assert_eq!(named.corba_priority(), Ok(1001));
    assert_eq!(shift.take(), [(true, 1, b"radar".to_vec())]);
    assert_eq!(named.corba_priority_of(Some(&server.probe)), Ok(2000));
    let system_id = server.poa.id_of(&server.probe).unwrap();
    assert_eq!(
        shift.take(),
        [
            (true, 1, b"radar".to_vec()),
            (false, 1001, b"radar".to_vec()),
            (true, 1000, system_id)
        ]
    );
    assert_eq!(orb.current().priority().unwrap(), priority(1));
    assert_ne!(Profile::of(&named).key, Profile::of(&server.probe).key);
}
