//! `NamingContext`, the client with names as texts.

use punctual::{
    Interface,
    naming::{Name, NameComponent, NameNotFound, NotFoundReason},
};
use punctual_naming::{
    NamingContext, NamingError, NamingLimits,
    idl::cos_naming::{BindingIteratorRef, NamingContextExtRef},
};

use crate::server::{Server, object, orb};

#[test]
fn operations_take_names_as_texts_and_values() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let naming = server.naming(&client);
    let radar = naming.create("radar").unwrap();
    let name = Name::new([
        NameComponent::new("radar", ""),
        NameComponent::new("track.1", "fast"),
    ])
    .unwrap();
    naming.bind(&name, &object(&client, "1")).unwrap();
    naming.rebind(&*name.to_string(), &object(&client, "2")).unwrap();
    let found = radar.resolve_object(r"track\.1.fast").unwrap();
    assert!(found.is_equivalent(&object(&client, "2")));
    radar.bind_context("top", &naming).unwrap();
    let again: NamingContextExtRef = naming.resolve("radar/top/radar/top").unwrap();
    assert!(again.as_object().is_equivalent(server.service.root().as_object()));
    radar.rebind_context("top", &radar).unwrap();
    naming
        .context("radar/top/top/top")
        .unwrap()
        .unbind("top")
        .unwrap();
    naming.unbind(name).unwrap();
    radar.destroy().unwrap();
    naming.unbind("radar").unwrap();
    assert_eq!(naming.list_here().unwrap().count(), 0);
}

#[test]
fn errors_name_the_component() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let naming = server.naming(&client);
    naming
        .create("a")
        .unwrap()
        .bind("o.k", &object(&client, "o"))
        .unwrap();
    for (name, reason, position, text) in [
        (
            "x/y",
            NotFoundReason::MissingNode,
            0,
            "the context has no `x` (component 1 of 2)",
        ),
        (
            "a/x",
            NotFoundReason::MissingNode,
            1,
            "`a` has no `x` (component 2 of 2)",
        ),
        (
            "a/o.k/x",
            NotFoundReason::NotContext,
            1,
            "`o.k` (component 2 of 3) in `a` is no naming context",
        ),
    ] {
        let error = naming.resolve_object(name).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        let NamingError::NotFound(error) = error else {
            panic!("{error}")
        };
        let name = name.parse().unwrap();
        assert_eq!(
            error,
            NameNotFound {
                name,
                reason,
                position
            }
        );
    }
    let error = naming.bind("a", &object(&client, "o")).unwrap_err();
    assert!(
        matches!(&error, NamingError::AlreadyBound(name) if name.to_string() == "a"),
        "{error}"
    );
    let error = naming.bind("a.", &object(&client, "o")).unwrap_err();
    assert!(matches!(error, NamingError::Name(..)), "{error}");
    let error = naming.rebind("a", &object(&client, "o")).unwrap_err();
    assert!(error.to_string().contains("`a` (component 1 of 1)"), "{error}");
    let error = naming.resolve::<BindingIteratorRef>("a").unwrap_err();
    assert!(matches!(error, NamingError::WrongInterface { .. }), "{error}");
    let error = naming.context("a").unwrap().destroy().unwrap_err();
    assert!(matches!(error, NamingError::NotEmpty), "{error}");
    assert!(matches!(
        NamingContext::find(&client, "corbaname:"),
        Err(NamingError::Context(_))
    ));
}

#[test]
fn long_lists_are_fetched_in_batches_and_leave_no_iterator() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let naming = server.naming(&client);
    let name = |number: usize| format!("n{number:03}");
    for number in 0..250 {
        naming.bind(&name(number), &object(&client, "o")).unwrap();
    }
    let names: Vec<_> = naming
        .list_here()
        .unwrap()
        .map(|bound| bound.unwrap().to_string())
        .collect();
    assert_eq!(names, (0..250).map(name).collect::<Vec<_>>());
    assert_eq!(server.service.statistics().iterators, 0);
    // Also if the rest is not fetched.
    let some: Vec<_> = naming.list_here().unwrap().take(120).collect();
    assert_eq!((some.len(), server.service.statistics().iterators), (120, 0));
}
