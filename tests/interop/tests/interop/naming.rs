//! Naming services and their clients across ORBs: ours, omniNames, JacORB's, and clients of omniORBpy and
//! JacORB.

use std::{collections::BTreeMap, thread};

use punctual::{Interface, ObjectRef, Orb};
use punctual_fixtures::{Folder, free_port};
use punctual_interop::{
    jacorb::JacOrb,
    naming::{NameServer, answers, wire},
    omniorbpy::OmniOrbPy,
};
use punctual_naming::{NamingContext, NamingError, NamingService, idl::cos_naming::NamingContextExtRef};

/// Our service, which ends with this.
struct Ours {
    orb: Orb,
    _service: NamingService,
    /// `corbaloc:` of the root, with the version.
    url: String,
}

impl Ours {
    fn start() -> Self {
        let orb = orb();
        let service = NamingService::builder().build(&orb).unwrap();
        let url = orb.publish("NameService", service.root()).unwrap();
        for _ in 0..3 {
            let orb = orb.clone();
            thread::spawn(move || orb.run());
        }
        Self {
            orb,
            _service: service,
            url,
        }
    }

    /// `HOST:PORT`.
    fn address(&self) -> &str {
        self.url.split(['@', '/']).nth(1).unwrap()
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.orb.shutdown();
    }
}

fn orb() -> Orb {
    Orb::builder()
        .listen("iiop://127.0.0.1")
        .lock_memory(false)
        .call_timeout(std::time::Duration::from_secs(5))
        .build()
        .unwrap()
}

fn omniorbpy() -> Option<&'static OmniOrbPy> {
    OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR"))
}

fn jacorb() -> Option<&'static JacOrb> {
    JacOrb::build(env!("CARGO_TARGET_TMPDIR"))
}

/// An object to bind, which answers: JacORB's service forgets those that do not.
fn object(ours: &Ours, client: &Orb) -> ObjectRef {
    let root: NamingContextExtRef = client.resolve(&ours.url).unwrap();
    for name in ["one", "two"] {
        root.bind_new_context(&wire(name)).unwrap();
    }
    let (_, iterator) = root.list(1).unwrap();
    for name in ["one", "two"] {
        root.unbind(&wire(name)).unwrap();
    }
    iterator.unwrap().as_object().clone()
}

/// Compares the answers of a service with ours: all but these are equal, and these are as stated.
fn same_answers(address: &str, different: &[(&str, &str)]) {
    let (ours, client) = (Ours::start(), orb());
    let object = object(&ours, &client);
    let of = |url: &str| answers(&client.resolve(url).unwrap(), &object);
    let pairs = |lines: Vec<String>| -> Vec<(String, String)> {
        let mut seen = BTreeMap::new();
        let split = lines.into_iter().map(|line| {
            let (call, answer) = line.split_once(": ").unwrap();
            let number = seen
                .entry(call.to_owned())
                .and_modify(|count| *count += 1)
                .or_insert(1);
            (format!("{call} #{number}"), answer.to_owned())
        });
        split.collect()
    };
    let theirs = pairs(of(&format!("corbaname::{address}")));
    let ours = pairs(of(&ours.url));
    let mut found: Vec<String> = Vec::new();
    let all: BTreeMap<_, _> = theirs.into_iter().collect();
    for (call, answer) in ours {
        let other = all.get(&call).map_or("not called", String::as_str);
        if other != answer {
            found.push(format!("{call}: {other}"));
        }
    }
    let different: Vec<_> = different
        .iter()
        .map(|(call, answer)| format!("{call}: {answer}"))
        .collect();
    assert_eq!(found, different, "{found:#?}");
}

#[test]
fn omni_names_answers_as_we_do() {
    let folder = Folder::new("interop-omninames");
    let port = free_port();
    let Some(_server) = NameServer::omni_names(&folder, port) else {
        return;
    };
    let replaces = [
        ("rebind of the other type #1", "ok"),
        ("rebind_context of the other type #1", "ok"),
    ];
    same_answers(&format!("127.0.0.1:{port}"), &replaces);
}

#[test]
fn jacorbs_name_server_answers_as_we_do() {
    let folder = Folder::new("interop-jacorb-names");
    let port = free_port();
    let Some(jacorb) = jacorb() else { return };
    let _server = jacorb.name_server(&folder, port);
    // The name of the context where it has called itself, and objects as if they were not there.
    let of_the_rest = [
        ("unbind x/y #1", "NotFound { MissingNode [(x.)] }"),
        ("bind x/y #1", "NotFound { MissingNode [(x.)] }"),
        ("unbind a/x/y #1", "NotFound { MissingNode [(x.)] }"),
        ("bind a/x/y #1", "NotFound { MissingNode [(x.)] }"),
        (
            "resolve o.k/x/y #1",
            "NotFound { MissingNode [(o.k), (x.), (y.)] }",
        ),
        (
            "resolve_str o.k/x/y #1",
            "NotFound { MissingNode [(o.k), (x.), (y.)] }",
        ),
        ("unbind o.k/x/y #1", "NotFound { MissingNode [(o.k), (x.)] }"),
        ("bind o.k/x/y #1", "NotFound { MissingNode [(o.k), (x.)] }"),
        ("resolve a/b/o/x #1", "NotFound { MissingNode [(o.), (x.)] }"),
        ("resolve_str a/b/o/x #1", "NotFound { MissingNode [(o.), (x.)] }"),
        ("unbind a/b/o/x #1", "CORBA::BAD_PARAM"),
        ("bind a/b/o/x #1", "CORBA::BAD_PARAM"),
    ];
    // Malformed text is accepted, and well-formed addresses are not.
    let of_text = [
        (r"to_name `a\/b\.c\\/.k` and back #1", r"ok ok a\/b\.c\\\/.k"),
        ("to_name `a/` and back #1", "ok ok a"),
        ("to_name `a.` and back #1", "ok ok a"),
        (r"to_name `a\b` and back #1", "ok ok ab"),
        (r"to_url `:h:1/K` `a b/c\.d` #1", "InvalidAddress"),
        ("to_url `:h` `` #1", "InvalidAddress"),
        ("to_url `:h` `a.` #1", "InvalidAddress"),
        ("to_url `rir:` `a` #1", "InvalidAddress"),
        ("list of a destroyed one #1", "CORBA::UNKNOWN"),
    ];
    let different = [&of_the_rest[..], &of_text].concat();
    same_answers(&format!("127.0.0.1:{port}"), &different);
}

#[test]
fn our_clients_use_omni_names_and_trees_span_both() {
    let folder = Folder::new("interop-federated-names");
    let port = free_port();
    let Some(_server) = NameServer::omni_names(&folder, port) else {
        return;
    };
    federated(&format!("corbaname::127.0.0.1:{port}"));
}

#[test]
fn our_clients_use_jacorbs_name_server_and_trees_span_both() {
    let folder = Folder::new("interop-federated-jacorb");
    let port = free_port();
    let Some(jacorb) = jacorb() else { return };
    let _server = jacorb.name_server(&folder, port);
    federated(&format!("corbaname::127.0.0.1:{port}"));
}

/// Names through contexts of another ORB's service and ours.
fn federated(url: &str) {
    let (ours, client) = (Ours::start(), orb());
    let object = object(&ours, &client);
    let there = NamingContext::find(&client, url).unwrap();
    let here = NamingContext::find(&client, &ours.url).unwrap();
    there.create("a").unwrap();
    there.bind("a/o.k", &object).unwrap();
    for number in 0..120 {
        there.bind(&*format!("a/n{number}"), &object).unwrap();
    }
    assert_eq!(
        there.list("a").unwrap().map(Result::unwrap).count(),
        121,
        "in batches"
    );

    here.bind_context("far", &there).unwrap();
    assert!(here.resolve_object("far/a/o.k").unwrap().is_equivalent(&object));
    there.bind_context("back", &here).unwrap();
    here.create("far/back/b").unwrap();
    here.bind("far/back/b/o", &object).unwrap();
    for name in ["b/o", "far/back/b/o", "far/back/far/a/o.k"] {
        assert!(
            here.resolve_object(name).unwrap().is_equivalent(&object),
            "{name}"
        );
    }
    assert!(there.resolve_object("back/b/o").unwrap().is_equivalent(&object));
    let found = client.resolve_object(&format!("{url}#back/b/o")).unwrap();
    assert!(found.is_equivalent(&object));
    let Err(NamingError::NotFound(error)) = here.resolve_object("far/a/x/y") else {
        panic!("it is not bound")
    };
    assert_eq!(error.position, 2, "{error}");
    here.unbind("far/a/o.k").unwrap();
    assert!(there.resolve_object("a/o.k").is_err());
}

#[test]
fn omniorbpys_clients_use_our_service() {
    let Some(omniorbpy) = omniorbpy() else { return };
    let ours = Ours::start();
    let output = omniorbpy.naming(&format!("corbaloc::1.2@{}/NameService", ours.address()));
    assert_eq!(output.trim_end(), "all checks passed");
    // Without a version: GIOP 1.0.
    let output = omniorbpy.naming(&format!("corbaname::{}", ours.address()));
    assert_eq!(output.trim_end(), "all checks passed");
}

#[test]
fn jacorbs_clients_use_our_service() {
    let Some(jacorb) = jacorb() else { return };
    let ours = Ours::start();
    let output = jacorb.naming(&format!("corbaloc::1.2@{}/NameService", ours.address()));
    assert!(output.trim_end().ends_with("all checks passed"), "{output}");
}
