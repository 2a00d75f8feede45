//! The rules of the specification, over the wire: which exception follows, with which reason and rest of the
//! name.

use punctual::{Interface, Orb, SystemExceptionKind};
use punctual_naming::{
    NamingLimits,
    idl::cos_naming::{
        BindingType, NamingContextExtRef, NamingContextRef, naming_context::*, naming_context_ext::*,
    },
};

use crate::server::{Server, name, object, orb, texts};

/// A server with contexts `a`, `a/b`, `.`, objects `a/b/o` and `o.k`, and a context that does not exist any
/// more, `gone`.
fn filled() -> (Server, Orb, NamingContextExtRef) {
    let (server, client) = (
        Server::start(NamingLimits::default()),
        orb(Some("iiop://127.0.0.1")),
    );
    let root = server.root(&client);
    for context in ["a", "a/b", ".", "gone"] {
        root.bind_new_context(&name(context)).unwrap().unwrap();
    }
    for key in ["a/b/o", "o.k"] {
        root.bind(&name(key), Some(&object(&client, key))).unwrap();
    }
    let gone = root.resolve(&name("gone")).unwrap().unwrap();
    NamingContextRef::from_object(gone).destroy().unwrap();
    (server, client, root)
}

/// The exception of an operation, as text: `NotFound(MissingNode, "rest")`.
macro_rules! raised {
    ($error:ident, $result:expr) => {
        match $result {
            Ok(_) => "done".to_owned(),
            Err($error::NotFound(NotFound { why, rest_of_name })) => {
                let rest = rest_of_name.iter();
                let rest: Vec<_> = rest
                    .map(|one| punctual::naming::NameComponent::new(&*one.id, &*one.kind).to_string())
                    .collect();
                format!("{why:?} {}", rest.join("/"))
            }
            Err(other) => {
                let text = format!("{other:?}");
                let text = text.split([' ', ',', ':', '(']).filter(|word| !word.is_empty());
                let is_scope = |word: &&str| ["CORBA", "CosNaming", "NamingContext"].contains(word);
                { text }
                    .find(|word| !is_scope(word))
                    .unwrap_or_default()
                    .to_owned()
            }
        }
    };
}

#[test]
fn not_found_names_the_reason_and_the_rest_from_the_component_on_where_the_search_ended() {
    let (_server, client, root) = filled();
    let (any, context) = (object(&client, "any"), root.new_context().unwrap().unwrap());
    for (text, expected) in [
        ("x", "MissingNode x"),
        ("x/y/z", "MissingNode x/y/z"),
        ("a/x", "MissingNode x"),
        ("a/x/y", "MissingNode x/y"),
        ("a/b/x", "MissingNode x"),
        ("a.k/b", "MissingNode a.k/b"),
        ("o", "MissingNode o"),
        ("o.k/x", "NotContext o.k/x"),
        ("a/b/o/x/y", "NotContext o/x/y"),
        ("gone/x", "NotContext gone/x"),
        ("./x", "MissingNode x"),
    ] {
        let n = name(text);
        assert_eq!(
            raised!(ResolveError, root.resolve(&n)),
            expected,
            "resolve {text}"
        );
        assert_eq!(
            raised!(ResolveStrError, root.resolve_str(text)),
            expected,
            "resolve_str {text}"
        );
        assert_eq!(raised!(UnbindError, root.unbind(&n)), expected, "unbind {text}");
        if n.len() > 1 && !expected.ends_with(" x") {
            assert_eq!(
                raised!(BindError, root.bind(&n, Some(&any))),
                expected,
                "bind {text}"
            );
            assert_eq!(raised!(RebindError, root.rebind(&n, Some(&any))), expected);
            assert_eq!(
                raised!(BindContextError, root.bind_context(&n, Some(&context))),
                expected
            );
            assert_eq!(
                raised!(RebindContextError, root.rebind_context(&n, Some(&context))),
                expected
            );
            assert_eq!(raised!(BindNewContextError, root.bind_new_context(&n)), expected);
        }
    }
    {
        let empty = &[][..];
        assert_eq!(raised!(ResolveError, root.resolve(empty)), "InvalidName");
        assert_eq!(raised!(BindError, root.bind(empty, Some(&any))), "InvalidName");
        assert_eq!(
            raised!(RebindContextError, root.rebind_context(empty, Some(&context))),
            "InvalidName"
        );
        assert_eq!(raised!(UnbindError, root.unbind(empty)), "InvalidName");
        assert_eq!(
            raised!(BindNewContextError, root.bind_new_context(empty)),
            "InvalidName"
        );
    }
}

#[test]
fn what_is_bound_already_is_replaced_by_the_same_type_only() {
    let (server, client, root) = filled();
    let (any, context) = (object(&client, "any"), root.new_context().unwrap().unwrap());
    for text in ["a", "o.k", "a/b", "a/b/o", "gone"] {
        let n = name(text);
        assert_eq!(
            raised!(BindError, root.bind(&n, Some(&any))),
            "AlreadyBound",
            "{text}"
        );
        assert_eq!(
            raised!(BindContextError, root.bind_context(&n, Some(&context))),
            "AlreadyBound"
        );
        let contexts = server.service.statistics().contexts;
        assert_eq!(
            raised!(BindNewContextError, root.bind_new_context(&n)),
            "AlreadyBound"
        );
        assert_eq!(
            server.service.statistics().contexts,
            contexts,
            "no context without a name is left"
        );
    }
    assert_eq!(
        raised!(RebindError, root.rebind(&name("a/b"), Some(&any))),
        "NotObject b"
    );
    assert_eq!(
        raised!(RebindError, root.rebind(&name("gone"), Some(&any))),
        "NotObject gone"
    );
    let rebound = root.rebind_context(&name("a/b/o"), Some(&context));
    assert_eq!(raised!(RebindContextError, rebound), "NotContext o");

    root.rebind(&name("a/b/o"), Some(&any)).unwrap();
    assert!(root.resolve(&name("a/b/o")).unwrap().unwrap().is_equivalent(&any));
    root.rebind(&name("new"), Some(&any)).unwrap();
    root.rebind_context(&name("a/b"), Some(&context)).unwrap();
    root.rebind_context(&name("c"), Some(&context)).unwrap();
    assert_eq!(
        raised!(ResolveError, root.resolve(&name("a/b/o"))),
        "MissingNode o"
    );
    let same = root.resolve(&name("c")).unwrap().unwrap();
    assert!(same.is_equivalent(context.as_object()));

    for nil in [
        raised!(BindContextError, root.bind_context(&name("nil"), None)),
        raised!(RebindContextError, root.rebind_context(&name("a/b"), None)),
    ] {
        assert_eq!(nil, "BAD_PARAM");
    }
    root.bind(&name("nil"), None).unwrap();
    assert_eq!(root.resolve(&name("nil")).unwrap(), None);
}

#[test]
fn id_and_kind_both_count() {
    let (_server, client, root) = filled();
    for text in ["x", "x.y", "x.z", ".y", "X", r"x\.y"] {
        root.bind(&name(text), Some(&object(&client, text))).unwrap();
    }
    for text in ["x", "x.y", "x.z", ".y", "X", r"x\.y"] {
        let found = root.resolve(&name(text)).unwrap().unwrap();
        assert!(found.is_equivalent(&object(&client, text)), "{text}");
    }
}

#[test]
fn contexts_are_destroyed_when_they_are_empty() {
    let (_server, _client, root) = filled();
    let a = NamingContextRef::from_object(root.resolve(&name("a")).unwrap().unwrap());
    assert!(matches!(a.destroy(), Err(DestroyError::NotEmpty(_))));
    let b = NamingContextRef::from_object(root.resolve(&name("a/b")).unwrap().unwrap());
    b.unbind(&name("o")).unwrap();
    b.destroy().unwrap();
    let kind = |error: punctual::SystemException| error.kind;
    assert_eq!(b.list(1).map_err(kind), Err(SystemExceptionKind::ObjectNotExist));
    assert_eq!(b.as_object().non_existent(), Ok(true));
    // The binding stays until it is removed.
    assert_eq!(
        raised!(ResolveError, root.resolve(&name("a/b/o"))),
        "NotContext b/o"
    );
    root.unbind(&name("a/b")).unwrap();
    a.destroy().unwrap();

    for text in ["a", "gone", ".", "o.k"] {
        root.unbind(&name(text)).unwrap();
    }
    match root.destroy() {
        Err(DestroyError::System(error)) => assert_eq!(error.kind, SystemExceptionKind::NoPermission),
        other => panic!("the root is destroyed: {other:?}"),
    }
}

#[test]
fn a_context_without_a_name_is_bound_later() {
    let (server, _client, root) = filled();
    let created = root.new_context().unwrap().unwrap();
    created.bind_new_context(&name("below")).unwrap();
    root.bind_context(&name("late"), Some(&created)).unwrap();
    root.bind_context(
        &name("late/below/up"),
        Some(&NamingContextRef::from_object(root.as_object().clone())),
    )
    .unwrap();
    let up = root.resolve(&name("late/below/up/late")).unwrap().unwrap();
    assert!(up.is_equivalent(created.as_object()), "contexts may form circles");
    assert_eq!(server.service.statistics().contexts, 6);
}

#[test]
fn lists_are_bounded_and_iterators_have_the_rest() {
    let server = Server::start(NamingLimits {
        batch: 4,
        ..NamingLimits::default()
    });
    let client = orb(Some("iiop://127.0.0.1"));
    let root = server.root(&client);
    assert_eq!(root.list(5).unwrap(), (Vec::new(), None));
    assert_eq!(root.list(0).unwrap(), (Vec::new(), None));
    let all: Vec<_> = (0..9).map(|number| format!("n{number}")).collect();
    for text in &all {
        root.bind(&name(text), Some(&object(&client, text))).unwrap();
    }
    root.unbind(&name("n4")).unwrap();
    root.bind_new_context(&name("n4")).unwrap();

    let (first, rest) = root.list(3).unwrap();
    let rest = rest.unwrap();
    assert_eq!(texts(&first), all[..3]);
    let (has, one) = rest.next_one().unwrap();
    assert!(has && one.binding_type == BindingType::Nobject);
    assert_eq!(texts(&[one]), all[3..4]);
    let (has, some) = rest.next_n(2).unwrap();
    assert_eq!((has, texts(&some)), (true, all[4..6].to_vec()));
    assert_eq!(some[0].binding_type, BindingType::Ncontext);
    let bad = rest.next_n(0).unwrap_err();
    assert_eq!(bad.kind, SystemExceptionKind::BadParam);
    let (has, some) = rest.next_n(u32::MAX).unwrap();
    assert_eq!((has, texts(&some)), (true, all[6..].to_vec()));
    assert_eq!(rest.next_n(1).unwrap(), (false, Vec::new()));
    assert!(!rest.next_one().unwrap().0);
    rest.destroy().unwrap();
    assert_eq!(
        rest.next_one().unwrap_err().kind,
        SystemExceptionKind::ObjectNotExist
    );

    // 0: only the iterator. More than the limit: as many as that, and an iterator.
    let (none, rest) = root.list(0).unwrap();
    assert_eq!(texts(&none).len(), 0);
    assert_eq!(texts(&rest.unwrap().next_n(2).unwrap().1), all[..2]);
    let (some, rest) = root.list(u32::MAX).unwrap();
    assert_eq!(texts(&some), all[..4]);
    assert!(rest.is_some());
    // Exactly as many as there are: no iterator.
    for text in &all[4..] {
        root.unbind(&name(text)).unwrap();
    }
    let (some, rest) = root.list(4).unwrap();
    assert_eq!((texts(&some), rest), (all[..4].to_vec(), None));
}

#[test]
fn names_become_text_and_back() {
    let (_server, _client, root) = filled();
    for text in ["a", "a/b.c", ".", "./.k/x", r"a\/b\.c\\.d/e", "\u{fc}.\u{20ac}"] {
        assert_eq!(root.to_string(&name(text)).unwrap(), text);
        assert_eq!(root.to_name(text).unwrap(), name(text));
    }
    assert!(matches!(root.to_string(&[]), Err(ToStringError::InvalidName(_))));
    for text in ["", "/", "a/", "/a", "a//b", "a.", "a.b.c", r"a\b", "\\"] {
        assert!(
            matches!(root.to_name(text), Err(ToNameError::InvalidName(_))),
            "{text}"
        );
        assert!(
            matches!(root.resolve_str(text), Err(ResolveStrError::InvalidName(_))),
            "{text}"
        );
    }
    let url = root.to_url(":radar:2809/Names", r"a b/c\.d").unwrap();
    assert_eq!(url, "corbaname::radar:2809/Names#a%20b/c%5c.d");
    assert_eq!(root.to_url(":radar", "").unwrap(), "corbaname::radar");
    assert!(matches!(root.to_url("", "a"), Err(ToUrlError::InvalidAddress(_))));
    assert!(matches!(
        root.to_url("radar", "a"),
        Err(ToUrlError::InvalidAddress(_))
    ));
    assert!(matches!(
        root.to_url(":radar", "a."),
        Err(ToUrlError::InvalidName(_))
    ));
}

#[test]
fn the_objects_state_their_interfaces() {
    let (_server, client, root) = filled();
    for id in [
        "IDL:omg.org/CosNaming/NamingContext:1.0",
        "IDL:omg.org/CosNaming/NamingContextExt:1.0",
    ] {
        assert_eq!(root.as_object().is_a(id), Ok(true), "{id}");
    }
    root.bind(&name("more"), Some(&object(&client, "more"))).unwrap();
    let iterator = root.list(1).unwrap().1.unwrap();
    let id = "IDL:omg.org/CosNaming/BindingIterator:1.0";
    assert_eq!(iterator.as_object().is_a(id), Ok(true));
}
