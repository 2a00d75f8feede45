//! `corbaname:` URLs, initial references and files, as `Orb::resolve` understands them.

use punctual::{
    Minor, Orb, PolicyOverrides, Priority, ResolveError, UrlError,
    naming::{NameError, NotFoundReason},
};
use punctual_fixtures::Folder;
use punctual_naming::{NamingLimits, idl::cos_naming::NamingContextExtRef};

use crate::server::{Server, object, orb};

#[test]
fn corbaname_finds_the_context_and_what_it_has_bound() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let naming = server.naming(&client);
    naming.create("a").unwrap();
    naming.bind(r"a/b c\/d.\u", &object(&client, "o")).unwrap_err();
    naming.bind(r"a/b c\/d.k%", &object(&client, "o")).unwrap();
    for url in ["", "a", "a/b%20c%5C/d.k%25"].map(|name| server.corbaname(name)) {
        assert!(client.resolve_object(&url).is_ok(), "{url}");
    }
    let found = client
        .resolve_object(&server.corbaname("a/b%20c%5C/d.k%25"))
        .unwrap();
    assert!(found.is_equivalent(&object(&client, "o")));
    assert!(
        client
            .resolve::<NamingContextExtRef>(&server.corbaname("a"))
            .is_ok()
    );

    let error = client.resolve_object(&server.corbaname("a/x/y")).unwrap_err();
    assert!(
        error.to_string().contains("`a` has no `x` (component 2 of 3)"),
        "{error}"
    );
    let ResolveError::NameNotFound(error) = error else {
        panic!("{error}")
    };
    assert_eq!((error.reason, error.position), (NotFoundReason::MissingNode, 1));
    let error = client.resolve_object(&server.corbaname("a.")).unwrap_err();
    let ResolveError::Url(UrlError::BadName(_, NameError::TrailingDot { at: 1 })) = error else {
        panic!("{error}")
    };
    naming.rebind("nil", &object(&client, "o")).unwrap();
    let root = server.root(&client);
    root.rebind(&crate::server::name("nil"), None).unwrap();
    let error = client.resolve_object(&server.corbaname("nil")).unwrap_err();
    assert!(matches!(error, ResolveError::Nil), "{error}");
}

#[test]
fn initial_references_lead_to_contexts_and_objects() {
    let server = Server::start(NamingLimits::default());
    let builder = || Orb::builder().lock_memory(false);
    let client = builder()
        .initial_reference("NameService", &*server.url)
        .initial_reference("Again", server.corbaname("a"))
        .build()
        .unwrap();
    let naming = server.naming(&client);
    naming.create("a").unwrap();
    for url in [
        "corbaloc:rir:/NameService",
        "corbaloc:rir:",
        "corbaname:rir:",
        "corbaname:rir:#a",
        "corbaloc:rir:/Again",
    ] {
        assert!(client.resolve::<NamingContextExtRef>(url).is_ok(), "{url}");
    }
    let error = client.resolve_object("corbaname:rir:/Radar#a").unwrap_err();
    assert!(
        matches!(&error, ResolveError::UnknownInitialReference(name) if name == "Radar"),
        "{error}"
    );

    let default = format!("corbaloc::{}", server.address());
    let client = builder().default_initial_reference(default).build().unwrap();
    assert!(client.resolve::<NamingContextExtRef>("corbaname:rir:#a").is_ok());
    assert!(client.resolve_object("corbaloc:rir:/Radar").is_err());
}

/// Priority bands of the ORB and of the thread are for the object, and not for the way to it.
#[test]
fn urls_are_resolved_by_clients_with_priority_bands() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    server
        .naming(&client)
        .bind("radar", &object(&client, "o"))
        .unwrap();
    let low = Priority::new(0).unwrap();
    let bands = PolicyOverrides::new().priority_bands([punctual::PriorityBand::new(low, low)]);
    client.replace_policies(bands.clone());
    client.current().replace_policies(bands);
    let resolved = |url: &str| {
        client
            .resolve_object(url)
            .unwrap_or_else(|error| panic!("{url}: {error}"))
    };
    let context = resolved(&server.url);
    assert!(resolved(&server.corbaname("radar")).is_equivalent(&object(&client, "o")));
    let error = context.non_existent().unwrap_err();
    assert_eq!(error.minor, Minor::BANDS_WITHOUT_PRIORITY_MODEL);
}

#[test]
fn files_have_references_as_their_text() {
    let (server, folder) = (
        Server::start(NamingLimits::default()),
        Folder::new("naming-files"),
    );
    let client = orb(None);
    let file = folder.join("name service.ior");
    std::fs::write(&file, format!("{}\n", server.url)).unwrap();
    let url = format!("file://{}", file.display()).replace(' ', "%20");
    assert!(client.resolve::<NamingContextExtRef>(&url).is_ok());
    std::fs::write(&file, &url).unwrap();
    let error = client.resolve_object(&url).unwrap_err();
    assert!(matches!(error, ResolveError::TooManySteps(_)), "{error}");
    for text in ["secret of the host", ""] {
        std::fs::write(&file, text).unwrap();
        let error = client.resolve_object(&url).unwrap_err().to_string();
        assert!(
            error.contains("it contains no reference") && !error.contains("secret"),
            "{error}"
        );
    }
    let error = client.resolve_object("file:///dev/zero").unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
    std::fs::remove_file(&file).unwrap();
    let error = client.resolve_object(&url).unwrap_err();
    assert!(matches!(error, ResolveError::File { .. }), "{error}");
}
