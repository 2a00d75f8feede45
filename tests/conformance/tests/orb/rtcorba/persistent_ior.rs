//! References that outlive their server: TAO's `Persistent_IOR`.

use std::thread;

use punctual::{PriorityModel, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    priorities::{HIGH, LOW},
    priority,
    real_time::{RealTime, ordinary, ordinary_client},
    server::{Profile, Server},
};

/// One run of a server at a port, 0 for any; its objects are in adapters with and without a pool of lanes.
struct Run {
    server: Server,
    /// Served by the thread that runs the ORB, with its own priority.
    plain: ProbeRef,
    /// Served by lanes.
    lanes: ProbeRef,
    /// Only for this run.
    transient: ProbeRef,
    runner: thread::JoinHandle<()>,
}

impl Run {
    fn start(port: u16) -> Self {
        let orb = ordinary()
            .listen(format!("iiop://127.0.0.1:{port}"))
            .build()
            .unwrap();
        let pool = orb
            .threadpool()
            .lane(priority(LOW), 1)
            .lane(priority(HIGH), 1)
            .build()
            .unwrap();
        let server = Server::with_poa(orb.clone(), pool.clone(), orb.root_poa());
        let model = PriorityModel::ServerDeclared(priority(LOW));
        let adapter = |name: &str| orb.root_poa().child(name).priority_model(model).user_ids();
        let plain = adapter("plain").persistent().build().unwrap();
        let lanes = adapter("lanes").persistent().threadpool(&pool).build().unwrap();
        let transient = adapter("transient").build().unwrap();
        let own = priority(HIGH);
        Self {
            plain: plain
                .object(server.servant())
                .id("one")
                .priority(own)
                .activate()
                .unwrap(),
            lanes: lanes
                .object(server.servant())
                .id("one")
                .priority(own)
                .activate()
                .unwrap(),
            transient: transient.object(server.servant()).id("one").activate().unwrap(),
            runner: thread::spawn(move || orb.run()),
            server,
        }
    }

    fn end(self) {
        self.server.orb.shutdown();
        self.runner.join().unwrap();
    }
}

#[test]
fn references_of_one_run_are_good_in_the_next() {
    let first = Run::start(0);
    let port = Profile::of(&first.plain).port;
    assert_eq!(RealTime::of(&first.plain).model, Some((1, HIGH)));
    let [plain, transient] = [&first.plain, &first.transient].map(|probe| probe.to_ior());
    // The lanes listen at other ports in the next run: the ORB's own port and the key lead there.
    let key: String = Profile::of(&first.lanes)
        .key
        .iter()
        .map(|octet| format!("%{octet:02x}"))
        .collect();
    let lanes = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/{key}");

    let client = ordinary_client();
    let remote: ProbeRef = client.resolve(&plain).unwrap();
    let via_key: ProbeRef = client.resolve(&lanes).unwrap();
    assert_eq!(
        (remote.corba_priority(), via_key.corba_priority()),
        (Ok(HIGH), Ok(HIGH))
    );
    first.end();
    assert!(remote.corba_priority().is_err(), "no server is there");

    let second = Run::start(port);
    assert_eq!(
        remote.corba_priority(),
        Ok(HIGH),
        "the same reference, in the same client"
    );
    let fresh: ProbeRef = client.resolve(&plain).unwrap();
    assert_eq!(fresh.corba_priority(), Ok(HIGH));
    let via_key: ProbeRef = client.resolve(&lanes).unwrap();
    assert_eq!(via_key.corba_priority(), Ok(HIGH));
    assert_eq!(
        RealTime::of(&via_key).endpoints,
        [HIGH],
        "it was told of the lane"
    );
    assert_eq!(via_key.to_ior(), second.lanes.to_ior());
    let gone: ProbeRef = client.resolve(&transient).unwrap();
    assert_eq!(gone.corba_priority().unwrap_err().kind, Kind::ObjectNotExist);
    second.end();
}
