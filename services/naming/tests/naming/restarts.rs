//! A service with a store, before and after a restart.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicU16, Ordering::Relaxed},
    time::Duration,
};

use punctual::{Interface, SystemExceptionKind};
use punctual_fixtures::Folder;
use punctual_naming::{NamingLimits, NamingService, ServiceError, idl::cos_naming::NamingContextRef};

use crate::server::{Server, name, object, orb};

/// An endpoint whose port and the next one are free, and below those that the system gives to other tests.
fn free_endpoint() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let number = (std::process::id() as u16)
            .wrapping_mul(16)
            .wrapping_add(NEXT.fetch_add(2, Relaxed));
        let port = 12_000 + number % 20_000;
        if [port, port + 1]
            .iter()
            .all(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        {
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

/// The contents that the service accepts, it accepts after a restart.
#[test]
fn a_service_at_its_limits_starts_again_with_them() {
    let folder = Folder::new("naming-full");
    for (file, octets, named) in [("a", 3_000, true), ("b", 3_000, false), ("c", 3_100, true)] {
        let limits = NamingLimits {
            octets,
            ..NamingLimits::default()
        };
        let build = || {
            let builder = NamingService::builder().store(folder.join(file));
            builder.limits(limits.clone()).build(&orb(None))
        };
        let service = build().unwrap();
        let root = service.root();
        let create = |number: usize| match named {
            true => root.bind_new_context(&name(&number.to_string())).is_ok(),
            false => root.new_context().is_ok(),
        };
        let created = (0..100).take_while(|number| create(*number)).count();
        assert!((1..99).contains(&created), "{created}");
        let before = service.statistics();
        assert!(before.octets <= octets, "{before:?}");
        drop(service);
        let after = build().unwrap().statistics();
        assert_eq!((after.octets, after.contexts), (before.octets, before.contexts));
    }
}

#[test]
fn contexts_without_a_name_are_counted_and_can_be_dropped() {
    let folder = Folder::new("naming-prune");
    let file = folder.join("names.redb");
    let builder = || NamingService::builder().store(&file);
    let service = builder().build(&orb(None)).unwrap();
    let root = service.root();
    root.bind_new_context(&name("a")).unwrap();
    for _ in 0..10 {
        root.new_context().unwrap();
    }
    let forgotten = root.new_context().unwrap().unwrap();
    forgotten.bind(&name("x"), None).unwrap();
    assert_eq!(service.statistics().unnamed, 11);
    drop((forgotten, service));
    let service = builder().build(&orb(None)).unwrap();
    let found = service.statistics();
    assert_eq!((found.contexts, found.unnamed, found.bindings), (13, 11, 2));
    drop(service);
    // More than the limits permit, before.
    let limits = NamingLimits {
        contexts: 2,
        ..NamingLimits::default()
    };
    let pruned = builder()
        .limits(limits.clone())
        .prune()
        .build(&orb(None))
        .unwrap();
    let found = pruned.statistics();
    assert_eq!((found.contexts, found.unnamed, found.bindings), (2, 0, 1));
    drop(pruned);
    let service = builder().limits(limits).build(&orb(None)).unwrap();
    assert_eq!(service.statistics(), found);
}

/// Both services have the same numbers in the ids of their contexts.
#[test]
fn contexts_of_a_copy_of_the_store_are_those_of_another_service() {
    let folder = Folder::new("naming-copy");
    let (file, copy) = (folder.join("names.redb"), folder.join("copy.redb"));
    let start =
        |file: &std::path::Path| Server::start_at("iiop://127.0.0.1", NamingLimits::default(), Some(file));
    let client = orb(Some("iiop://127.0.0.1"));
    let server = start(&file);
    server.root(&client).bind_new_context(&name("a")).unwrap();
    server.stop();
    std::fs::copy(&file, &copy).unwrap();
    let (here, there) = (start(&file), start(&copy));
    let (near, far) = (here.root(&client), there.root(&client));
    far.bind(&name("a/o"), Some(&object(&client, "there"))).unwrap();
    let far = NamingContextRef::from_object(far.as_object().clone());
    near.bind_context(&name("far"), Some(&far)).unwrap();
    let found = near.resolve(&name("far/a/o")).unwrap().unwrap();
    assert!(found.is_equivalent(&object(&client, "there")));
    let own = near.resolve(&name("a")).unwrap().unwrap();
    near.bind_context(&name("b"), Some(&NamingContextRef::from_object(own)))
        .unwrap();
    near.bind(&name("b/o"), None).unwrap();
    assert_eq!(near.resolve(&name("a/o")).unwrap(), None, "its own are its own");
    here.stop();
    there.stop();
}

/// One change at a time waits for the disk: the service refuses others, and clients try again.
#[test]
fn more_clients_than_threads_change_a_store() {
    let folder = Folder::new("naming-writers");
    let file = folder.join("names.redb");
    let server = Server::start_at("iiop://127.0.0.1", NamingLimits::default(), Some(&file));
    std::thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let orb = orb(None);
                let naming = server.naming(&orb).with_timeout(Duration::from_secs(60));
                for number in 0..8 {
                    naming.create(&format!("{client}-{number}")).unwrap();
                }
            });
        }
    });
    let found = server.service.statistics();
    assert_eq!((found.bindings, found.contexts, found.not_stored), (64, 65, 0));
    server.stop();
}
