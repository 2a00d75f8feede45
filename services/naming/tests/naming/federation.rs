//! Contexts of several servers in one tree.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use punctual::{Interface, SystemExceptionKind};
use punctual_fixtures::eventually;
use punctual_naming::{
    NamingContext as Client, NamingError, NamingLimits, NamingService,
    idl::cos_naming::{
        NamingContextRef,
        naming_context::{self, *},
    },
};

use crate::server::{Server, name, object, orb};

#[test]
fn names_lead_through_contexts_of_other_servers() {
    let (here, there) = (
        Server::start(NamingLimits::default()),
        Server::start(NamingLimits::default()),
    );
    let client = orb(Some("iiop://127.0.0.1"));
    let (near, far) = (here.naming(&client), there.naming(&client));
    near.create("a").unwrap().bind_context("far", &far).unwrap();
    far.bind_context("near", &near).unwrap();

    // Both servers have the same adapters and numbers: the root here is not the one there.
    near.create("a/far/b").unwrap();
    assert_eq!(there.service.statistics().contexts, 2);
    assert!(
        near.list_here()
            .unwrap()
            .all(|bound| bound.unwrap().to_string() == "a")
    );
    near.bind("a/far/b/o", &object(&client, "1")).unwrap();
    near.rebind("a/far/b/o", &object(&client, "2")).unwrap();
    let found = far.resolve_object("b/o").unwrap();
    assert!(found.is_equivalent(&object(&client, "2")));
    far.bind_context("near/a/far/back", &near).unwrap();
    far.rebind_context("near/a/far/back", &near.context("a").unwrap())
        .unwrap();
    let found = near.resolve_object("a/far/near/a/far/back/far/b/o").unwrap();
    assert!(found.is_equivalent(&object(&client, "2")));
    near.unbind("a/far/b/o").unwrap();

    let root = here.root(&client);
    for (text, why, rest) in [
        ("a/far/b/o", NotFoundReason::MissingNode, "o"),
        ("a/far/x/y", NotFoundReason::MissingNode, "x/y"),
        ("a/far/back/x/y", NotFoundReason::MissingNode, "x/y"),
    ] {
        match root.resolve(&name(text)) {
            Err(ResolveError::NotFound(error)) => {
                assert_eq!((error.why, error.rest_of_name), (why, name(rest)), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    let error = near.bind("a/far/b", &object(&client, "o")).unwrap_err();
    assert!(matches!(error, NamingError::AlreadyBound(_)), "{error}");
}

#[test]
fn objects_that_are_no_contexts_are_not_context() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let other = Server::start(NamingLimits::default());
    let root = server.root(&client);
    let gone = other.root(&client).new_context().unwrap().unwrap();
    gone.destroy().unwrap();
    root.bind_context(&name("gone"), Some(&gone)).unwrap();
    // An iterator has no `resolve`.
    let there = other.naming(&client);
    there.create("a").unwrap();
    there.create("b").unwrap();
    let iterator = other.root(&client).list(1).unwrap().1.unwrap();
    let iterator = NamingContextRef::from_object(iterator.as_object().clone());
    root.bind_context(&name("iterator"), Some(&iterator)).unwrap();
    for text in ["gone/x/y", "iterator/x/y"] {
        match root.resolve(&name(text)) {
            Err(ResolveError::NotFound(error)) => {
                assert_eq!(
                    (error.why, error.rest_of_name),
                    (naming_context::NotFoundReason::NotContext, name(text))
                );
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_context_that_cannot_be_reached_is_left_to_the_client() {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let other = Server::start(NamingLimits::default());
    let there = other.root(&client);
    let root = server.root(&client);
    let far = NamingContextRef::from_object(there.as_object().clone());
    root.bind_context(&name("far"), Some(&far)).unwrap();
    other.stop();
    match root.resolve(&name("far/x/y")) {
        Err(ResolveError::CannotProceed(error)) => {
            assert!(error.cxt.unwrap().as_object().is_equivalent(far.as_object()));
            assert_eq!(error.rest_of_name, name("x/y"));
        }
        other => panic!("{other:?}"),
    }
    // The client continues there, and learns why.
    let error = server.naming(&client).resolve_object("far/x/y").unwrap_err();
    let NamingError::Call(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.kind, SystemExceptionKind::Transient);
    let error = client.resolve_object(&server.corbaname("far/x")).unwrap_err();
    assert!(matches!(error, punctual::ResolveError::Call { .. }), "{error}");
}

#[test]
fn contexts_that_do_not_answer_occupy_some_threads_for_a_time() {
    let limits = NamingLimits {
        foreign_timeout: Duration::from_millis(300),
        foreign_calls: 2,
        ..NamingLimits::default()
    };
    let (server, client) = (Server::start(limits), orb(Some("iiop://127.0.0.1")));
    // Lets connect, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let ior = {
        let stolen = Server::start(NamingLimits::default());
        let port = silent.local_addr().unwrap().port();
        let mut ior = stolen.root(&client).as_object().ior().clone();
        redirect(&mut ior, port);
        ior
    };
    let root = server.root(&client);
    let far = NamingContextRef::from_object(client.object_of(ior).unwrap());
    root.bind_context(&name("far"), Some(&far)).unwrap();

    let proceeded = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| match root.resolve(&name("far/x")) {
                Err(ResolveError::CannotProceed(_)) => proceeded.fetch_add(1, SeqCst),
                other => panic!("{other:?}"),
            });
        }
        // Names of this server are served meanwhile.
        let naming = server.naming(&client);
        naming.create("a").unwrap();
        eventually("all but two get CannotProceed without waiting", || {
            proceeded.load(SeqCst) >= 6
        });
        assert!(naming.resolve_object("a").is_ok());
    });
    assert_eq!(proceeded.load(SeqCst), 8);
    let naming = server.naming(&client).with_timeout(Duration::from_millis(100));
    let error = naming.resolve_object("far/x").unwrap_err();
    let NamingError::Call(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.kind, SystemExceptionKind::Timeout);
}

/// Replaces the port of the first profile.
fn redirect(ior: &mut punctual::Ior, port: u16) {
    ior.profiles.truncate(1);
    let data = &mut ior.profiles[0].data;
    // Byte order, version, and the host as a string: length at 4.
    let is_little = data[0] == 1;
    let length = <[u8; 4]>::try_from(&data[4..8]).unwrap();
    let length = if is_little {
        u32::from_le_bytes(length)
    } else {
        u32::from_be_bytes(length)
    };
    let at = (8 + length as usize).next_multiple_of(2);
    let octets = if is_little {
        port.to_le_bytes()
    } else {
        port.to_be_bytes()
    };
    data[at..at + 2].copy_from_slice(&octets);
}

#[test]
fn a_client_follows_contexts_that_refer_to_each_other_for_a_while_only() {
    use punctual_naming::idl::cos_naming::*;

    /// Refers to itself without end: reference, number of calls, and how long each takes in ms.
    struct Endless(std::sync::OnceLock<NamingContextRef>, AtomicUsize, AtomicUsize);

    fn no() -> punctual::SystemException {
        punctual::SystemException::new(SystemExceptionKind::NoImplement, 0, punctual::Completion::No)
    }

    type N<'n> = &'n [NameComponentView<'n>];
    type Object = Option<punctual::ObjectRef>;
    type Context = Option<NamingContextRef>;

    impl NamingContext for Endless {
        fn bind(&self, _: N<'_>, _: Object) -> Result<(), BindError> {
            Err(no().into())
        }
        fn rebind(&self, _: N<'_>, _: Object) -> Result<(), RebindError> {
            Err(no().into())
        }
        fn bind_context(&self, _: N<'_>, _: Context) -> Result<(), BindContextError> {
            Err(no().into())
        }
        fn rebind_context(&self, _: N<'_>, _: Context) -> Result<(), RebindContextError> {
            Err(no().into())
        }
        fn resolve(&self, n: N<'_>) -> Result<Object, ResolveError> {
            self.1.fetch_add(1, SeqCst);
            std::thread::sleep(Duration::from_millis(self.2.load(SeqCst) as u64));
            let rest_of_name = n.iter().map(|one| one.to_owned()).collect();
            let cxt = self.0.get().cloned();
            Err(CannotProceed { cxt, rest_of_name }.into())
        }
        fn unbind(&self, _: N<'_>) -> Result<(), UnbindError> {
            Err(no().into())
        }
        fn new_context(&self) -> Result<Context, punctual::SystemException> {
            Err(no())
        }
        fn bind_new_context(&self, _: N<'_>) -> Result<Context, BindNewContextError> {
            Err(no().into())
        }
        fn destroy(&self) -> Result<(), DestroyError> {
            Err(no().into())
        }
        fn list(
            &self,
            _: u32,
        ) -> Result<(Vec<Binding>, Option<BindingIteratorRef>), punctual::SystemException> {
            Err(no())
        }
    }

    let orb = orb(Some("iiop://127.0.0.1"));
    let poa = orb.root_poa().child("endless").build().unwrap();
    let servant = std::sync::Arc::new(Endless(
        std::sync::OnceLock::new(),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    ));
    let any = punctual::AnyServant::of_arc::<NamingContextRef, _>(std::sync::Arc::clone(&servant));
    let endless: NamingContextRef = poa.object(any).activate_shared().unwrap();
    servant.0.set(endless.clone()).unwrap();
    let error = Client::new(&endless).resolve_object("a/b").unwrap_err();
    assert!(
        matches!(error, NamingError::Endless { contexts: 16, .. }),
        "{error}"
    );
    assert_eq!(servant.1.swap(0, SeqCst), 16);

    // As URLs.
    let url = orb
        .publish("Endless", &endless)
        .unwrap()
        .replace("corbaloc:", "corbaname:");
    let error = orb.resolve_object(&format!("{url}#a/b")).unwrap_err();
    assert!(matches!(error, punctual::ResolveError::NameRefused(_)), "{error}");
    assert_eq!(servant.1.swap(0, SeqCst), 9, "`max_forwards` is 8");

    // All calls of an operation have one timeout together.
    servant.2.store(200, SeqCst);
    let client = crate::server::orb(None);
    let url = orb.publish("Endless", &endless).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| orb.run());
        let _ended = scopeguard::guard((), |()| orb.shutdown());
        let slow = Client::find(&client, &url).unwrap();
        let slow = slow.with_timeout(Duration::from_millis(500));
        let error = slow.resolve_object("a/b").unwrap_err();
        let NamingError::Call(error) = error else {
            panic!("{error}")
        };
        assert_eq!(error.kind, SystemExceptionKind::Timeout);
        assert!((1..=3).contains(&servant.1.load(SeqCst)));
    });
}

/// One thread serves: it must not wait for other servers.
#[test]
fn a_service_of_one_thread_refers_to_other_servers_instead_of_calling_them() {
    let other = Server::start(NamingLimits::default());
    let client = orb(None);
    let there = other.naming(&client);
    there.create("a").unwrap();
    for (threads, proceeds) in [(1, false), (2, true)] {
        let service = NamingService::builder()
            .serving_threads(threads)
            .build(&orb(None))
            .unwrap();
        let root = service.root();
        let far = NamingContextRef::from_object(there.reference().as_object().clone());
        root.bind_context(&name("far"), Some(&far)).unwrap();
        match root.resolve(&name("far/a")) {
            Ok(Some(_)) => assert!(proceeds),
            Err(ResolveError::CannotProceed(_)) => assert!(!proceeds),
            other => panic!("{other:?}"),
        }
        assert!(Client::new(root).resolve_object("far/a").is_ok());
    }
}
