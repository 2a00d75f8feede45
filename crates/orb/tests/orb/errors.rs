//! Errors name the address, the priorities and the lanes that they are about.

use std::time::Duration;

use punctual_orb::{ConnectionMode, Orb, Poa, PriorityModel};
use punctual_stub::{Interface, PolicyOverrides};
use punctual_types::{Minor, Priority, SystemException};

use crate::doubler::{Doubler, DoublerRef};

fn priority(value: i16) -> Priority {
    Priority::new(value).unwrap()
}

fn client() -> Orb {
    Orb::builder()
        .call_timeout(Duration::from_secs(20))
        .build()
        .unwrap()
}

/// A server with three lanes, and its object.
fn with_lanes() -> (Orb, Poa, DoublerRef) {
    let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let lanes = [20_000, 0, 10_000];
    let pool = lanes
        .into_iter()
        .fold(orb.threadpool(), |pool, lane| pool.lane(priority(lane), 1));
    let pool = pool.build().unwrap();
    let model = PriorityModel::ClientPropagated {
        default: Priority::MIN,
    };
    let poa = orb
        .root_poa()
        .child("lanes")
        .threadpool(&pool)
        .priority_model(model);
    let poa = poa.build().unwrap();
    let doubler = poa.activate(Doubler).unwrap();
    (orb, poa, doubler)
}

/// Runs on a thread of its own: priorities are the thread's.
fn at(value: i16, client: &Orb, doubler: &DoublerRef) -> Result<i32, SystemException> {
    std::thread::scope(|scope| {
        let call = || {
            client.current().set_priority(priority(value)).unwrap();
            doubler.twice(3)
        };
        scope.spawn(call).join().unwrap()
    })
}

#[test]
fn a_priority_without_lane_is_named_with_the_lanes() {
    let (_server, _, doubler) = with_lanes();
    let client = client();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    assert_eq!(at(10_000, &client, &doubler), Ok(6));
    let error = at(7, &client, &doubler).unwrap_err();
    assert_eq!(error.minor, Minor::NO_ENDPOINT_FOR_PRIORITY);
    let expected = "(this thread has priority 7, the reference offers 0, 10000, 20000)";
    assert!(error.to_string().ends_with(expected), "{error}");
}

/// The server refuses, and the client's error has the server's number.
#[test]
fn a_refused_priority_is_named_with_the_highest_accepted() {
    let server = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let pool = server.threadpool().build().unwrap();
    let poa = server.root_poa().child("modest").threadpool(&pool);
    let model = PriorityModel::ClientPropagated {
        default: Priority::MIN,
    };
    let poa = poa
        .priority_model(model)
        .highest_priority(priority(500))
        .build()
        .unwrap();
    let doubler: DoublerRef = poa.activate(Doubler).unwrap();
    let client = client();
    for mode in [ConnectionMode::Exclusive, ConnectionMode::Shared] {
        client
            .set_reply_threadpool(&client.threadpool().lane(Priority::MAX, 1).build().unwrap())
            .unwrap();
        client.add_policies(PolicyOverrides::new().connection_mode(mode));
        let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
        assert_eq!(at(500, &client, &doubler), Ok(6));
        let error = at(501, &client, &doubler).unwrap_err();
        assert_eq!(error.minor, Minor::PRIORITY_ABOVE_ACCEPTED);
        let expected = "(the request has priority 501, the highest accepted from this client is 500)";
        assert!(error.to_string().ends_with(expected), "{error}");
        assert_eq!(at(500, &client, &doubler), Ok(6), "the connection is still good");
    }
}

/// The first call that fails, and every later one: a program may print only the last one.
#[test]
fn each_call_to_a_server_that_has_ended_names_its_address() {
    let (server, _, doubler) = with_lanes();
    let client = client();
    let ior = doubler.as_object().to_ior();
    let doubler: DoublerRef = client.resolve(&ior).unwrap();
    assert_eq!(doubler.twice(3), Ok(6));
    server.shutdown_and_wait().unwrap();
    drop(server);
    for _ in 0..3 {
        let error = doubler.twice(3).unwrap_err();
        let text = error.to_string();
        let (_, place) = text
            .split_once("(at iiop://127.0.0.1:")
            .unwrap_or_else(|| panic!("{text}"));
        let port = place.strip_suffix(" in `twice`)").unwrap();
        assert!(port.parse::<u16>().is_ok_and(|port| port != 0), "{text}");
        // Copies keep it.
        let copy = error;
        assert_eq!(format!("{copy:?}"), text);
    }
}

/// A priority for requests without one, which no lane would serve.
#[test]
fn a_default_priority_without_lane_is_refused_with_the_lanes() {
    let orb = Orb::builder().build().unwrap();
    let pool = orb.threadpool().lane(priority(10), 1).lane(priority(20), 1);
    let error = pool
        .default_priority(priority(15))
        .build()
        .err()
        .unwrap()
        .to_string();
    let expected = "`default_priority` 15: no lane has this priority; the lanes have 10, 20";
    assert!(error.ends_with(expected), "{error}");
    let pool = orb.threadpool().lane(priority(10), 1).lane(priority(20), 1);
    assert!(pool.default_priority(priority(20)).build().is_ok());
}

/// Replies to shared and asynchronous calls need a pool: the error has the whole line of code.
#[test]
fn a_missing_reply_pool_is_an_error_with_the_recipe() {
    let (_server, _, doubler) = with_lanes();
    let client = client();
    client.add_policies(PolicyOverrides::new().connection_mode(ConnectionMode::Shared));
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    let error = doubler.twice(3).unwrap_err().to_string();
    let recipe = "orb.set_reply_threadpool(&orb.threadpool().lane(Priority::MAX, 1).build()?)?";
    assert!(error.contains(recipe), "{error}");
    // The recipe is right.
    let pool = client.threadpool().lane(Priority::MAX, 1).build().unwrap();
    client.set_reply_threadpool(&pool).unwrap();
    assert_eq!(doubler.twice(3), Ok(6));
}

/// The reserved domain never resolves.
#[test]
fn a_host_name_without_an_address_is_explained() {
    let orb = Orb::builder().listen("iiop://no-such-host.invalid").build();
    let Err(error) = orb else {
        panic!("the name has an address")
    };
    let text = error.to_string();
    assert!(text.contains("this host does not know the name"), "{text}");
}
