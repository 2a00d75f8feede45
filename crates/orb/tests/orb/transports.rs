//! One ORB over several transports: what references say, and which connection a client makes of it.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use punctual_cdr::{Encode, Endian, Ior, TaggedProfile};
use punctual_giop::{Profile, TAG_INTERNET_IOP, TAG_UIOP, Version};
use punctual_orb::{Endpoint, Orb, OrbError, PriorityModel, ResolveError};
use punctual_os::ThreadSpec;
use punctual_stub::Interface;
use punctual_transport::{Protocol, ProtocolPolicy};
use punctual_types::{Minor, Priority};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::doubler::{Doubler, DoublerRef};

/// A path of this test's own, without a file.
fn socket_path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("punctual-test-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn tags(reference: &DoublerRef) -> Vec<u32> {
    let profiles = &reference.as_object().ior().profiles;
    profiles.iter().map(|profile| profile.tag).collect()
}

/// An object in a pool of its own.
fn served_by(server: &Orb) -> DoublerRef {
    let pool = server.threadpool().build().unwrap();
    let poa = server.root_poa().child("numbers").threadpool(&pool);
    poa.build().unwrap().activate(Doubler).unwrap()
}

/// A reference as another process would have it.
fn elsewhere(reference: &DoublerRef) -> DoublerRef {
    let client = Orb::builder().build().unwrap();
    let reference = client.resolve(&reference.as_object().to_ior()).unwrap();
    // The reference does not keep its ORB up.
    std::mem::forget(client);
    reference
}

#[test]
fn lanes_are_reached_over_unix_sockets() {
    let path = socket_path("lanes");
    let endpoint = format!("uiop://{}", path.display());
    let server = Orb::builder().listen(&endpoint).build().unwrap();
    let high = Priority::MAX;
    let pool = server
        .threadpool()
        .lane(Priority::MIN, 1)
        .lane(high, 1)
        .build()
        .unwrap();
    let model = PriorityModel::ClientPropagated {
        default: Priority::MIN,
    };
    let poa = server
        .root_poa()
        .child("rt")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    let doubler: DoublerRef = poa.activate(Doubler).unwrap();
    assert_eq!(tags(&doubler), [TAG_UIOP]);
    let client = Orb::builder().build().unwrap();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    client.current().set_priority(high).unwrap();
    assert_eq!(doubler.twice(21).unwrap(), 42);
    let requests: Vec<_> = pool.statistics().iter().map(|(_, lane)| lane.requests).collect();
    assert_eq!(requests, [0, 1], "in the lane of the caller's priority");
    let files = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
        entries
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .starts_with(&name)
            })
            .count()
    };
    assert_eq!(files(&path), 3, "the ORB's and one for each lane");
    server.shutdown_and_wait().unwrap();
    assert_eq!(files(&path), 0, "no file is left");
}

#[test]
fn references_name_every_protocol_and_clients_of_the_host_take_the_nearest() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1")
        .listen("uiop://")
        .build()
        .unwrap();
    let doubler = served_by(&server);
    assert_eq!(tags(&doubler), [TAG_INTERNET_IOP, TAG_UIOP]);
    let doubler = elsewhere(&doubler);
    assert_eq!(doubler.twice(21).unwrap(), 42);
}

#[test]
fn a_file_that_is_not_a_socket_is_kept() {
    let path = socket_path("file");
    std::fs::write(&path, "precious").unwrap();
    let endpoint = format!("uiop://{}", path.display());
    let error = Orb::builder().listen(&endpoint).build().err().unwrap();
    assert!(matches!(error, OrbError::Listen { .. }), "{error}");
    assert!(error.to_string().contains("is not a socket"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_socket_of_a_server_that_died_is_replaced_and_that_of_one_that_lives_is_not() {
    let path = socket_path("stale");
    let endpoint = format!("uiop://{}", path.display());
    let dead = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = Orb::builder().listen(&endpoint).build().err().unwrap();
    assert!(error.to_string().contains("another server listens"), "{error}");
    drop(dead);
    assert!(path.exists(), "closing leaves the file, as dying does");
    let server = Orb::builder().listen(&endpoint).build().unwrap();
    let error = Orb::builder().listen(&endpoint).build().err().unwrap();
    assert!(error.to_string().contains("another server listens"), "{error}");
    server.shutdown();
    assert!(!path.exists());
}

/// As for a user who may neither connect to the socket nor make files beside it.
#[test]
fn a_path_that_is_somebody_elses_is_left_alone() {
    let directory = socket_path("theirs");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    let path = directory.join("socket");
    let theirs = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(&path, 0);
    let refused = |endpoint: String| {
        let listen = move || {
            // Root may do everything, regardless of the mode.
            let none = CapabilitySet::empty();
            let sets = CapabilitySets {
                effective: none,
                permitted: none,
                inheritable: none,
            };
            set_capabilities(None, sets).unwrap();
            Orb::builder()
                .listen(&endpoint)
                .build()
                .err()
                .unwrap()
                .to_string()
        };
        ThreadSpec::new("user").spawn(listen).unwrap().join().unwrap()
    };
    for scheme in ["uiop", "shmiop"] {
        let error = refused(format!("{scheme}://{}", path.display()));
        assert!(
            error.contains("is the socket of another user; choose another path"),
            "{error}"
        );
        allow(&directory, 0o555);
        let error = refused(format!("{scheme}://{}/new", directory.display()));
        assert!(error.contains("this user may not create files in"), "{error}");
        allow(&directory, 0o755);
    }
    assert!(path.exists());
    drop(theirs);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn malformed_paths_are_said_as_such() {
    for (path, problem) in [
        ("relative", "absolute path"),
        (&format!("/tmp/{}", "x".repeat(200)), "at most 107 octets"),
        ("/nowhere/at/all.sock", "does not exist"),
    ] {
        let error = Orb::builder()
            .listen(format!("uiop://{path}"))
            .build()
            .err()
            .unwrap();
        assert!(error.to_string().contains(problem), "{error}");
    }
}

/// Ends an ORB where the test fails, too: the thread that serves would go on.
struct AtEnd<'o>(&'o Orb);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.shutdown();
    }
}

#[test]
fn published_names_are_found_over_unix_sockets() {
    let server = Orb::builder().listen("uiop://").build().unwrap();
    let doubler = served_by(&server);
    let url = server.publish("Doubler", &doubler).unwrap();
    assert!(url.starts_with("corbaloc:uiop:1.2@%2f"), "{url}");
    std::thread::scope(|scope| {
        scope.spawn(|| server.run());
        let _end = AtEnd(&server);
        let client = Orb::builder()
            .call_timeout(Duration::from_secs(60))
            .build()
            .unwrap();
        let doubler: DoublerRef = client.resolve(&url).unwrap();
        assert_eq!(doubler.twice(21).unwrap(), 42);
        let error = client
            .resolve_object("corbaloc:carrier-pigeon:loft/Doubler")
            .err()
            .unwrap();
        assert!(error.to_string().contains("names no known protocol"), "{error}");
        let error = client.resolve_object("corbaloc:ssliop:1.2@localhost:1/Doubler");
        let error = error.err().unwrap().to_string();
        assert!(
            error.starts_with("`ssliop:1.2@localhost:1` is an address of TLS"),
            "{error}"
        );
        let listening = Orb::builder().listen("ssliop://localhost:0").build();
        for error in [error, listening.err().unwrap().to_string()] {
            assert!(
                error
                    .ends_with("add that of crate `punctual-tls` with `OrbBuilder::transport` (docs/tls.md)"),
                "{error}"
            );
        }
        for address in ["uiop:1.2@localhost:3790", "shmiop:path", "shmiop:%2fa?12"] {
            let error = client.resolve::<DoublerRef>(&format!("corbaloc:{address}/Doubler"));
            let Err(ResolveError::Call { exception, .. }) = error else {
                panic!("{address}: {error:?}");
            };
            assert_eq!(
                exception.minor,
                Minor::ADDRESS_MALFORMED,
                "{address}: {exception}"
            );
        }
    });
}

#[test]
fn all_interfaces_of_ipv6_are_those_of_ipv4_as_well() {
    let server = Orb::builder()
        .listen(Endpoint::new("iiop://[::]").published_as("iiop://localhost"))
        .build()
        .unwrap();
    let doubler = served_by(&server);
    assert_eq!(elsewhere(&doubler).twice(21).unwrap(), 42, "by name");
    let profile = &doubler.as_object().ior().profiles[0];
    let profile = punctual_giop::IiopProfile::decode(profile).unwrap();
    assert_eq!(profile.host, "localhost");
    for host in ["127.0.0.1", "::1"] {
        let mut ior = doubler.as_object().ior().clone();
        let host = host.to_owned();
        ior.profiles[0] = punctual_giop::IiopProfile {
            host,
            ..profile.clone()
        }
        .encode()
        .unwrap();
        let client = Orb::builder().build().unwrap();
        let doubler: DoublerRef = client.resolve(&punctual_giop::ior_to_string(&ior)).unwrap();
        assert_eq!(doubler.twice(21).unwrap(), 42);
    }
}

#[test]
fn references_of_another_host_do_not_lead_to_a_socket_of_this_one() {
    let server = Orb::builder().listen("uiop://").build().unwrap();
    let doubler = served_by(&server);
    let mut ior = doubler.as_object().ior().clone();
    let here = punctual_transport::host_id().unwrap();
    let data = &mut ior.profiles[0].data;
    let at = data
        .windows(here.len())
        .position(|part| part == here)
        .expect("it says where it is");
    data[at] ^= 1;
    let client = Orb::builder().build().unwrap();
    let error = client
        .resolve::<DoublerRef>(&punctual_giop::ior_to_string(&ior))
        .unwrap_err();
    assert!(error.to_string().contains("TRANSIENT"), "{error}");
}

/// A reference to the same object, with this profile in front of those that it has.
fn with_profile(doubler: &DoublerRef, profile: TaggedProfile) -> String {
    let mut ior = doubler.as_object().ior().clone();
    ior.profiles.insert(0, profile);
    punctual_giop::ior_to_string(&ior)
}

#[test]
fn profiles_that_lead_nowhere_are_passed_over() {
    let server = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let doubler = served_by(&server);
    let key = punctual_giop::IiopProfile::decode(&doubler.as_object().ior().profiles[0])
        .unwrap()
        .object_key;
    let path = socket_path("other");
    std::fs::write(&path, "no socket").unwrap();
    let unix = |path: &str| {
        let profile = Profile {
            tag: TAG_UIOP,
            version: Version::V1_2,
            address: path.to_owned(),
            object_key: key.clone(),
            components: Vec::new(),
        };
        profile.encode_with(Endian::NATIVE, String::encode).unwrap()
    };
    let malformed = TaggedProfile {
        tag: TAG_UIOP,
        data: vec![1, 1, 2, 0, 9, 0, 0, 0],
    };
    let too_long = format!("/{}", "x".repeat(5000));
    let texts = [
        "",
        "relative",
        "/nowhere/at/all.sock",
        &too_long,
        path.to_str().unwrap(),
        "/tmp",
    ];
    let client = Orb::builder().build().unwrap();
    for profile in texts.map(unix).into_iter().chain([malformed.clone()]) {
        let doubler: DoublerRef = client.resolve(&with_profile(&doubler, profile)).unwrap();
        assert_eq!(doubler.twice(21).unwrap(), 42);
    }
    std::fs::remove_file(&path).unwrap();

    let only = Ior {
        type_id: "IDL:Doubler:1.0".into(),
        profiles: vec![malformed],
    };
    let error = client
        .resolve::<DoublerRef>(&punctual_giop::ior_to_string(&only))
        .unwrap_err();
    assert!(error.to_string().contains("INV_OBJREF"), "{error}");
}

#[test]
fn lanes_whose_path_would_be_too_long_are_said_so() {
    let path = socket_path(&"x".repeat(107 - socket_path("").as_os_str().len()));
    let server = Orb::builder()
        .listen(format!("uiop://{}", path.display()))
        .build()
        .unwrap();
    let error = server.threadpool().lane(Priority::MAX, 1).build().err().unwrap();
    assert!(error.to_string().contains("at most 107 octets"), "{error}");
}

#[test]
fn what_is_published_must_be_of_the_same_protocol() {
    let error = Orb::builder()
        .listen(Endpoint::new("iiop://0.0.0.0").published_as("uiop:///tmp/radar.sock"))
        .build()
        .err()
        .unwrap();
    assert!(error.to_string().contains("must begin with `iiop://`"), "{error}");
}

#[test]
fn threads_that_activate_first_objects_at_once_share_the_endpoint() {
    let properties = ProtocolPolicy::new([Protocol::UIOP]);
    for _ in 0..20 {
        let server = Orb::builder()
            .server_protocols(properties.clone())
            .build()
            .unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| server.root_poa().activate::<DoublerRef, _>(Doubler).unwrap());
            }
        });
    }
}

#[test]
fn a_lane_may_have_endpoints_of_its_own() {
    let path = socket_path("lane");
    let endpoint = format!("uiop://{}", path.display());
    let server = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let (low, high) = (Priority::MIN, Priority::MAX);
    let pool = server
        .threadpool()
        .lane(low, 1)
        .lane(high, 1)
        .lane_endpoint(high, &endpoint)
        .lane_endpoint(
            high,
            Endpoint::new("iiop://127.0.0.1").published_as("iiop://localhost"),
        )
        .build()
        .unwrap();
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = server
        .root_poa()
        .child("rt")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    let doubler: DoublerRef = poa.activate(Doubler).unwrap();
    assert_eq!(tags(&doubler), [TAG_INTERNET_IOP, TAG_UIOP]);
    let profile = punctual_giop::IiopProfile::decode(&doubler.as_object().ior().profiles[0]).unwrap();
    let endpoints = profile.component(punctual_giop::TAO_TAG_ENDPOINTS).unwrap();
    let Some(punctual_giop::Component::TaoEndpoints(endpoints)) = endpoints else {
        panic!("{endpoints:?}")
    };
    let hosts: Vec<_> = endpoints
        .iter()
        .map(|endpoint| (endpoint.host.as_str(), endpoint.priority))
        .collect();
    assert_eq!(hosts, [("127.0.0.1", 0), ("localhost", 32_767)]);

    let client = Orb::builder().build().unwrap();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    for priority in [low, high] {
        client.current().set_priority(priority).unwrap();
        assert_eq!(doubler.twice(21).unwrap(), 42);
    }
    let requests: Vec<_> = pool.statistics().iter().map(|(_, lane)| lane.requests).collect();
    assert_eq!(requests, [1, 1]);
    // Not all lanes listen over it.
    let only_unix = ProtocolPolicy::new([Protocol::UIOP]);
    let poa = server
        .root_poa()
        .child("unix")
        .threadpool(&pool)
        .priority_model(model)
        .server_protocols(only_unix);
    assert!(matches!(poa.build(), Err(OrbError::InvalidPolicy { .. })));
}
