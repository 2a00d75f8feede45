//! Context properties: which ones an operation with a `context` clause sends, and when its servant sees them.

use punctual::{
    Completion, Interface, Minor, Orb, PolicyOverrides, SchedulingClass, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_cdr::{Decode, Encode};
use punctual_fixtures::{
    conformance::ProbeRef,
    server::{Server, client},
};
use punctual_os::alloc_counter::count_allocations;
use punctual_stub::Phase;

const PROPERTIES: [(&str, &str); 4] = [
    ("user", "anna"),
    ("user.id", "7"),
    ("app.name", "radar"),
    ("app", "x"),
];

fn policies(properties: &[(&str, &str)]) -> PolicyOverrides {
    PolicyOverrides::new().context_properties(properties.iter().copied())
}

/// A client that can make asynchronous calls.
fn asynchronous_client() -> Orb {
    let client = client();
    let replies = client.threadpool().scheduling_class(SchedulingClass::Other);
    client.set_reply_threadpool(&replies.build().unwrap()).unwrap();
    client
}

/// The object of a server as its own ORB and a client call it.
fn both(server: &Server, client: &Orb) -> [ProbeRef; 2] {
    [server.probe.clone(), server.reference_for(client)]
}

fn with_policies(probe: &ProbeRef, policies: PolicyOverrides) -> ProbeRef {
    ProbeRef::from_object(probe.as_object().with_policies(policies))
}

#[test]
fn a_call_sends_what_the_clause_names() {
    let (server, client) = (Server::start(), asynchronous_client());
    for probe in both(&server, &client) {
        let with = with_policies(&probe, policies(&PROPERTIES));
        for (name, expected) in [
            ("user", "anna"),
            ("user.id", ""),
            ("app.name", "radar"),
            ("app", ""),
        ] {
            assert_eq!(with.property(name).unwrap(), expected, "{name}");
            assert_eq!(with.property_async(name).wait().unwrap(), expected, "{name}");
            assert_eq!(with.property_without_clause(name).unwrap(), "", "no clause");
            assert_eq!(probe.property(name).unwrap(), "", "no properties");
        }
    }
}

#[test]
fn the_nearest_scope_with_properties_counts() {
    let (server, client) = (Server::start(), client());
    for (probe, orb) in both(&server, &client).iter().zip([&server.orb, &client]) {
        orb.add_policies(policies(&[("user", "orb"), ("app.name", "orb")]));
        assert_eq!(probe.property("user").unwrap(), "orb");
        orb.current().add_policies(policies(&[("user", "thread")]));
        assert_eq!(probe.property("user").unwrap(), "thread");
        assert_eq!(
            probe.property("app.name").unwrap(),
            "",
            "the whole set is replaced"
        );
        let own = with_policies(probe, policies(&[("user", "reference")]));
        assert_eq!(own.property("user").unwrap(), "reference");
        let none = with_policies(probe, policies(&[]));
        assert_eq!(none.property("user").unwrap(), "");
        orb.current().replace_policies(PolicyOverrides::new());
    }
}

#[test]
fn a_nested_upcall_does_not_see_the_properties_of_the_outer_one() {
    let (server, client) = (Server::start(), client());
    let other = server.another();
    for probe in both(&server, &client) {
        let with = with_policies(&probe, policies(&PROPERTIES));
        let nested = with.property_without_clause_of(Some(&other), "user");
        assert_eq!(nested.unwrap(), "");
    }
    assert_eq!(server.orb.current().context_properties().iter().count(), 0);
}

/// Calls `property` with this list after its argument, as another ORB may.
fn with_list(probe: &ProbeRef, list: &[&str]) -> Result<String, SystemException> {
    let mut seen = String::new();
    probe
        .as_object()
        .call::<SystemException>("property", |phase| match phase {
            Phase::Arguments(encoder) => ("user", list).encode(encoder),
            Phase::Results(decoder) => seen.decode_into(decoder),
        })?;
    Ok(seen)
}

#[test]
fn lists_of_peers_are_pairs() {
    let (server, client) = (Server::start(), client());
    for probe in both(&server, &client) {
        assert_eq!(with_list(&probe, &[]).unwrap(), "");
        assert_eq!(with_list(&probe, &["user", "me"]).unwrap(), "me");
        assert_eq!(with_list(&probe, &["user", "me", "user", "you"]).unwrap(), "you");
        assert_eq!(with_list(&probe, &["other", "user"]).unwrap(), "");
        for list in [&["user"][..], &["user", "me", "app.name"]] {
            let malformed = SystemException::new(Kind::Marshal, Minor::CONTEXT_VALUE_MISSING, Completion::No);
            assert_eq!(with_list(&probe, list), Err(malformed));
        }
        assert_eq!(probe.property("user").unwrap(), "", "nothing remains");
    }
}

#[test]
fn sending_properties_allocates_nothing() {
    let (server, client) = (Server::start(), client());
    let probe = server.reference_for(&client);
    let with = with_policies(&probe, policies(&PROPERTIES));
    let mut value = String::with_capacity(16);
    let mut call = || with.property_into("user", &mut value).unwrap();
    (0..10).for_each(|_| call());
    let ((), allocations) = count_allocations(|| (0..10).for_each(|_| call()));
    assert_eq!(allocations, 0);
}
