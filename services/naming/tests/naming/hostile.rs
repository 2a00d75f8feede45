//! Clients that ask for too much: limits, and memory that stays bounded.

use std::time::Duration;

use punctual::{Interface, Minor, SystemException, SystemExceptionKind as Kind, naming::NameComponent};
use punctual_naming::{
    NamingLimits,
    idl::cos_naming::{self, BindingIteratorRef, naming_context::*, naming_context_ext::*},
};

use crate::server::{Server, name, object, orb};

/// The system exception in the error of an operation.
macro_rules! system {
    ($error:ident, $result:expr) => {
        match $result {
            Err($error::System(exception)) => exception.kind,
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
    let refused = root.new_context().unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor),
        (Kind::ImpLimit, Minor::NAMING_LIMIT)
    );
    assert_eq!(
        system!(BindNewContextError, root.bind_new_context(&name("c"))),
        Kind::ImpLimit
    );
    assert_eq!(
        system!(BindError, root.bind(&name("12345.7890"), Some(&any))),
        Kind::ImpLimit
    );
    assert_eq!(
        system!(ResolveError, root.resolve(&name("1/2/3/4"))),
        Kind::ImpLimit
    );
    assert_eq!(
        system!(ResolveStrError, root.resolve_str("1/2/3/4")),
        Kind::ImpLimit
    );
    assert_eq!(system!(ToNameError, root.to_name("123456789")), Kind::ImpLimit);
    assert_eq!(
        system!(ToStringError, root.to_string(&name("1/2/3/4"))),
        Kind::ImpLimit
    );
    let large = object(&client, &"o".repeat(2_000));
    assert_eq!(
        system!(BindError, root.bind(&name("o"), Some(&large))),
        Kind::ImpLimit
    );
    let after = server.service.statistics();
    assert_eq!(
        (after.contexts, after.bindings, after.octets),
        (before.contexts, before.bindings, before.octets)
    );
    assert_eq!(after.refused, 8);

    for number in 0..3 {
        root.bind(&name(&number.to_string()), Some(&any)).unwrap();
    }
    assert_eq!(
        system!(BindError, root.bind(&name("more"), Some(&any))),
        Kind::ImpLimit
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
    assert_eq!(system!(BindError, bind(bound)), Kind::ImpLimit);
    root.unbind(&name("n0")).unwrap();
    bind(bound).expect("there is room for another one of this size");
    // Contexts count, too.
    let created = (0..1_000).take_while(|_| root.new_context().is_ok()).count();
    assert!(created < 20 && server.service.statistics().octets < 20_200);
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
    for tag in [0, 1, 0x5450_0000] {
        let ior = punctual::Ior {
            type_id: "\u{fc}".repeat(100),
            profiles: vec![punctual::TaggedProfile {
                tag,
                data: vec![0xff; 7],
            }],
        };
        let Ok(strange) = client.object_of(ior.clone()) else {
            continue;
        };
        let bound = root.rebind(&name("ior"), Some(&strange));
        if bound.is_ok() {
            match root.resolve(&name("ior")) {
                Ok(found) => assert_eq!(*found.unwrap().ior(), ior),
                Err(ResolveError::System(_)) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert!(root.resolve(&name("a")).is_err(), "it still serves");
}
