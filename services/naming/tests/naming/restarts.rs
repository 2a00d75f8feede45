//! A service with a store, before and after a restart.

use std::net::TcpListener;

use punctual::{Interface, SystemExceptionKind};
use punctual_fixtures::Folder;
use punctual_naming::{NamingLimits, NamingService, ServiceError, idl::cos_naming::NamingContextRef};

use crate::server::{Server, name, object, orb};

/// An endpoint whose port and the next one are free at the moment.
fn free_endpoint() -> String {
    loop {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        if port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return format!("iiop://127.0.0.1:{port}");
        }
    }
}

#[test]
fn bindings_and_references_to_contexts_survive() {
    let (folder, endpoint) = (Folder::new("naming-store"), free_endpoint());
    let file = folder.join("names.redb");
    let start = || Server::start_at(&endpoint, NamingLimits::default(), Some(&file));
    let client = orb(Some("iiop://127.0.0.1"));

    let server = start();
    let root = server.root(&client);
    let a = root.bind_new_context(&name("a")).unwrap().unwrap();
    let unnamed = root.new_context().unwrap().unwrap();
    let destroyed = root.new_context().unwrap().unwrap();
    destroyed.destroy().unwrap();
    a.bind(&name(r"b\.c.k"), Some(&object(&client, "o"))).unwrap();
    a.bind(&name("nil"), None).unwrap();
    a.bind(&name("rebound"), Some(&object(&client, "old"))).unwrap();
    a.rebind(&name("rebound"), Some(&object(&client, "new"))).unwrap();
    a.bind(&name("unbound"), None).unwrap();
    a.unbind(&name("unbound")).unwrap();
    let before = server.service.statistics();
    server.stop();

    let server = start();
    assert_eq!(server.service.statistics(), before);
    // The references of the first run.
    let found = root.resolve(&name(r"a/b\.c.k")).unwrap().unwrap();
    assert!(found.is_equivalent(&object(&client, "o")));
    let found = a.resolve(&name("rebound")).unwrap().unwrap();
    assert!(found.is_equivalent(&object(&client, "new")));
    assert_eq!(a.resolve(&name("nil")).unwrap(), None);
    assert!(a.resolve(&name("unbound")).is_err());
    root.bind_context(&name("late"), Some(&unnamed)).unwrap();
    unnamed.bind(&name("x"), None).unwrap();
    assert_eq!(destroyed.as_object().non_existent(), Ok(true));
    let new = root.new_context().unwrap().unwrap();
    assert!(
        !new.as_object().is_equivalent(destroyed.as_object()),
        "numbers are not used again"
    );
    server.stop();

    // Contexts bound in contexts get the address of the present run.
    let server = Server::start_at(&free_endpoint(), NamingLimits::default(), Some(&file));
    let late = server.root(&client).resolve(&name("late")).unwrap().unwrap();
    assert_eq!(
        NamingContextRef::from_object(late).resolve(&name("x")).unwrap(),
        None
    );
    server.stop();
}

#[test]
fn in_memory_everything_ends_with_the_service() {
    let endpoint = free_endpoint();
    let start = || Server::start_at(&endpoint, NamingLimits::default(), None);
    let client = orb(None);
    let server = start();
    let root = server.root(&client);
    root.bind_new_context(&name("a")).unwrap();
    server.stop();
    let server = start();
    let kind = root.list(1).unwrap_err().kind;
    assert_eq!(
        kind,
        SystemExceptionKind::ObjectNotExist,
        "a context of another run"
    );
    assert_eq!(server.root(&client).list(1).unwrap(), (Vec::new(), None));
    server.stop();
}

#[test]
fn a_file_that_is_in_use_or_is_none_is_refused() {
    let folder = Folder::new("naming-broken");
    let file = folder.join("names.redb");
    let orb = orb(None);
    let build = |limits: NamingLimits| NamingService::builder().store(&file).limits(limits).build(&orb);
    let one = build(NamingLimits::default()).unwrap();
    let in_use = build(NamingLimits::default()).err().unwrap();
    assert!(in_use.to_string().contains("no other process uses"), "{in_use}");
    drop(one);

    std::fs::write(&file, b"not a store, and long enough to have a header".repeat(99)).unwrap();
    let broken = build(NamingLimits::default()).err().unwrap();
    assert!(matches!(broken, ServiceError::Store { .. }), "{broken}");
}

#[test]
fn a_store_beyond_the_limits_is_refused() {
    let folder = Folder::new("naming-large");
    let file = folder.join("names.redb");
    let build = |limits: NamingLimits| {
        NamingService::builder()
            .store(&file)
            .limits(limits)
            .build(&orb(None))
    };
    let service = build(NamingLimits::default()).unwrap();
    let naming = punctual_naming::NamingContext::new(service.root());
    naming.create("a").unwrap();
    drop((naming, service));
    let limits = NamingLimits {
        contexts: 1,
        ..NamingLimits::default()
    };
    match build(limits) {
        Err(ServiceError::StoreTooLarge { contexts, .. }) => assert_eq!(contexts, 2),
        _ => panic!("two contexts are more than one"),
    }
}
