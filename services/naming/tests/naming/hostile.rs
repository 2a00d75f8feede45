//! Clients that ask for too much: limits, and memory that stays bounded.

use std::time::Duration;

use punctual::{Interface, Minor, SystemException, SystemExceptionKind as Kind, naming::NameComponent};
use punctual_naming::{
    NamingLimits, NamingService,
    idl::cos_naming::{self, BindingIteratorRef, NamingContextRef, naming_context::*, naming_context_ext::*},
};

use punctual_os::alloc_counter;

use crate::server::{Server, name, object, orb};

/// The system exception in the error of an operation.
macro_rules! system {
    ($error:ident, $result:expr) => {
        match $result {
            Err($error::System(exception)) => (exception.kind, exception.minor),
            other => panic!("{other:?}"),
        }
    };
}

#[test]
fn every_limit_is_imp_limit_and_changes_nothing() {
    let limits = NamingLimits {
        contexts: 3,
        bindings: 4,
        components: 3,
        component: 8,
        reference: 2_000,
        ..NamingLimits::default()
    };
    let (server, client) = (Server::start(limits), orb(Some("iiop://127.0.0.1")));
    let (root, any) = (server.root(&client), object(&client, "o"));
    root.bind_new_context(&name("a")).unwrap();
    root.bind_new_context(&name("a/b")).unwrap();
    let before = server.service.statistics();
    let limit = |minor| (Kind::ImpLimit, minor);
    let contexts = limit(Minor::NAMING_CONTEXTS_EXHAUSTED);
    let refused = root.new_context().unwrap_err();
    assert_eq!((refused.kind, refused.minor), contexts);
    assert_eq!(
        system!(BindNewContextError, root.bind_new_context(&name("c"))),
        contexts
    );
    let (long, many) = (
        limit(Minor::NAMING_COMPONENT_TOO_LONG),
        limit(Minor::NAMING_TOO_MANY_COMPONENTS),
    );
    assert_eq!(
        system!(BindError, root.bind(&name("12345.7890"), Some(&any))),
        long
    );
    assert_eq!(system!(ResolveError, root.resolve(&name("1/2/3/4"))), many);
    assert_eq!(system!(ResolveStrError, root.resolve_str("1/2/3/4")), many);
    assert_eq!(system!(ToNameError, root.to_name("123456789")), long);
    assert_eq!(system!(ToStringError, root.to_string(&name("1/2/3/4"))), many);
    let reference = limit(Minor::NAMING_REFERENCE_TOO_LARGE);
    let large = object(&client, &"o".repeat(2_000));
    assert_eq!(system!(BindError, root.bind(&name("o"), Some(&large))), reference);
    let addresses = ":h,".repeat(700);
    assert_eq!(system!(ToUrlError, root.to_url(&addresses, "a")), reference);
    let after = server.service.statistics();
    assert_eq!(
        (after.contexts, after.bindings, after.octets),
        (before.contexts, before.bindings, before.octets)
    );
    assert_eq!(after.refused, 9);

    for number in 0..3 {
        root.bind(&name(&number.to_string()), Some(&any)).unwrap();
    }
    assert_eq!(
        system!(BindError, root.bind(&name("more"), Some(&any))),
        limit(Minor::NAMING_BINDINGS_EXHAUSTED)
    );
    root.rebind(&name("2"), Some(&any))
        .expect("replacing one needs no more room");
    root.bind(&name("a/other"), Some(&any))
        .expect("other contexts have room");
    // What is within the limits.
    root.bind(&name("a/b/1234567.8"), Some(&any)).unwrap();
}

#[test]
fn octets_bound_the_memory() {
    let limits = NamingLimits {
        octets: 20_000,
        ..NamingLimits::default()
    };
    let (server, client) = (Server::start(limits), orb(Some("iiop://127.0.0.1")));
    let (root, any) = (server.root(&client), object(&client, "o"));
    let bind = |number: usize| root.bind(&name(&format!("n{number}")), Some(&any));
    let bound = (0..1_000).take_while(|number| bind(*number).is_ok()).count();
    assert!((10..100).contains(&bound), "{bound}");
    assert!(server.service.statistics().octets <= 20_000);
    let octets = (Kind::ImpLimit, Minor::NAMING_OCTETS_EXHAUSTED);
    assert_eq!(system!(BindError, bind(bound)), octets);
    root.unbind(&name("n0")).unwrap();
    bind(bound).expect("there is room for another one of this size");
    // Contexts count, too.
    let created = (0..1_000).take_while(|_| root.new_context().is_ok()).count();
    assert!(created < 20 && server.service.statistics().octets <= 20_000);
}

#[test]
fn refusals_that_are_no_limits_have_their_minor_codes() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let root = server.root(&client);
    assert_eq!(
        system!(DestroyError, root.destroy()),
        (Kind::NoPermission, Minor::NAMING_ROOT_PERMANENT)
    );
    assert_eq!(
        system!(BindContextError, root.bind_context(&name("a"), None)),
        (Kind::BadParam, Minor::NAMING_NIL_CONTEXT)
    );
    for text in ["a", "b", "c"] {
        root.bind_new_context(&name(text)).unwrap();
    }
    let none = root.list(1).unwrap().1.unwrap().next_n(0).unwrap_err();
    assert_eq!((none.kind, none.minor), (Kind::BadParam, Minor::NAMING_NO_NUMBER));
    let gone = root.new_context().unwrap().unwrap();
    gone.destroy().unwrap();
    assert_eq!(
        system!(BindContextError, root.bind_context(&name("gone"), Some(&gone))),
        (Kind::BadParam, Minor::NAMING_NO_CONTEXT),
        "a context with this number could be another one's later"
    );
}

/// Each octet of the text can be a component, which takes 48 octets without its content.
#[test]
fn long_texts_take_little_memory() {
    assert!(alloc_counter::installed());
    // A call inside the ORB, on this thread.
    let service = NamingService::builder().build(&orb(None)).unwrap();
    let root = service.root();
    for text in [
        "a/".repeat(500_000) + "a",
        "./".repeat(500_000),
        "a".repeat(1_000_000),
    ] {
        let addresses = text.replace('a', ":h,");
        let before = alloc_counter::bytes_of_this_thread();
        let refused = [
            root.resolve_str(&text).is_err(),
            root.to_name(&text).is_err(),
            root.to_url(":h", &text).is_err(),
            root.to_url(&addresses, "a").is_err(),
        ];
        let octets = alloc_counter::bytes_of_this_thread() - before;
        assert!(octets < 40 * text.len() as u64, "{octets} octets in four calls");
        assert_eq!(refused, [true; 4]);
    }
}

const IDLE: Duration = Duration::from_millis(500);

#[test]
fn iterators_that_clients_forget_give_way_and_expire() {
    let limits = NamingLimits {
        iterators: 3,
        iterator_idle: IDLE,
        ..NamingLimits::default()
    };
    let (server, client) = (Server::start(limits), orb(Some("iiop://127.0.0.1")));
    let root = server.root(&client);
    for text in ["a", "b", "c"] {
        root.bind_new_context(&name(text)).unwrap();
    }
    let begin = || root.list(1).unwrap().1.unwrap();
    let gone = |iterator: &BindingIteratorRef| {
        let called: Result<(bool, _), SystemException> = iterator.next_one();
        called.is_err_and(|error| error.kind == Kind::ObjectNotExist)
    };
    let first = begin();
    let others: Vec<_> = (0..100).map(|_| begin()).collect();
    assert!(server.service.statistics().iterators <= 3);
    assert!(gone(&first) && gone(&others[96]));
    assert!(!gone(&others[99]), "the last one");
    let last = begin();
    // Asking keeps it alive.
    std::thread::sleep(IDLE + Duration::from_millis(20));
    assert!(gone(&last), "it has expired");
}

#[test]
fn an_iterator_cannot_be_guessed_and_its_context_may_end() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let root = server.root(&client);
    let a = root.bind_new_context(&name("a")).unwrap().unwrap();
    for text in ["b", "c", "d"] {
        a.bind(&name(text), None).unwrap();
    }
    let iterator = a.list(1).unwrap().1.unwrap();
    for text in ["b", "c", "d"] {
        a.unbind(&name(text)).unwrap();
    }
    a.destroy().unwrap();
    assert_eq!(iterator.next_n(9).unwrap(), (false, Vec::new()));
    // The ids of two iterators have nothing in common.
    let keys = [0, 1].map(|_| {
        root.bind(&name("x"), None).ok();
        root.list(1).unwrap().1.unwrap().as_object().ior().profiles[0]
            .data
            .clone()
    });
    let differing = keys[0]
        .iter()
        .zip(&keys[1])
        .filter(|(one, other)| one != other)
        .count();
    assert!(differing >= 12, "{differing} of 16 random octets differ");
}

#[test]
fn strange_names_and_references_are_kept_as_they_are() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let root = server.root(&client);
    let strange = [
        "\n\u{1}", "../..", "%00", "\u{202e}", "a b\t", "'\"<>", "\u{ffff}",
    ];
    for id in strange {
        let n = [cos_naming::NameComponent {
            id: id.to_owned(),
            kind: id.to_owned(),
        }];
        root.bind(&n, Some(&object(&client, id))).unwrap();
        let text = root.to_string(&n).unwrap();
        assert_eq!(
            text.parse(),
            Ok(punctual::naming::Name::from(NameComponent::new(id, id)))
        );
        let found = root.resolve_str(&text).unwrap().unwrap();
        assert!(found.is_equivalent(&object(&client, id)));
    }
    assert_eq!(root.list(100).unwrap().0.len(), strange.len());
    // Profiles of unknown protocols, and malformed ones.
    let ior = |tags: &[u32]| punctual::Ior {
        type_id: "\u{fc}".repeat(100),
        profiles: { tags.iter() }
            .map(|tag| punctual::TaggedProfile {
                tag: *tag,
                data: vec![0xff; 7],
            })
            .collect(),
    };
    for tags in [&[0][..], &[1], &[0x5450_0000], &[0x5441_4f00, 0]] {
        let strange = client.object_of(ior(tags)).unwrap();
        let call = strange.non_existent().unwrap_err();
        assert!(matches!(call.kind, Kind::InvObjref | Kind::Transient), "{call}");
        root.rebind(&name("ior"), Some(&strange)).unwrap();
        let found = root.resolve(&name("ior")).unwrap().unwrap();
        assert_eq!(*found.ior(), ior(tags), "a naming service keeps the octets");
        let context = NamingContextRef::from_object(strange);
        root.rebind_context(&name("context"), Some(&context)).unwrap();
        let elsewhere = root.resolve(&name("context/x")).unwrap_err();
        assert!(
            matches!(elsewhere, ResolveError::CannotProceed(_)),
            "{elsewhere:?}"
        );
    }
    assert!(root.resolve(&name("a")).is_err(), "it still serves");
}
