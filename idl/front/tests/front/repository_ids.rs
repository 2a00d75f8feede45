//! Repository ids: prefixes, versions, explicit ids.

use punctual_idl::hir::DefinitionKind;
use punctual_idl::{MemoryLoader, Options, compile};

use super::support::{accepted, findings, id_of};

#[test]
fn without_pragmas() {
    let specification = accepted("module A { interface B { struct C { long x; }; exception D {}; }; };");
    for (name, id) in [
        ("A", "IDL:A:1.0"),
        ("A::B", "IDL:A/B:1.0"),
        ("A::B::C", "IDL:A/B/C:1.0"),
        ("A::B::D", "IDL:A/B/D:1.0"),
    ] {
        assert_eq!(id_of(&specification, name), id);
    }
}

#[test]
fn a_prefix_holds_to_the_end_of_its_scope() {
    let specification = accepted(
        "#pragma prefix \"one\"\n\
         module M {\n\
           typedef long a;\n\
         #pragma prefix \"two\"\n\
           typedef long b;\n\
           module N {\n\
             typedef long c;\n\
         #pragma prefix \"three\"\n\
             typedef long d;\n\
           };\n\
           typedef long e;\n\
         };\n\
         typedef long f;\n\
         #pragma prefix \"\"\n\
         typedef long g;\n\
         interface _interface {};\n",
    );
    for (name, id) in [
        ("M", "IDL:one/M:1.0"),
        ("M::a", "IDL:one/M/a:1.0"),
        ("M::b", "IDL:two/b:1.0"),
        ("M::N", "IDL:two/N:1.0"),
        ("M::N::c", "IDL:two/N/c:1.0"),
        ("M::N::d", "IDL:three/d:1.0"),
        ("M::e", "IDL:two/e:1.0"),
        ("f", "IDL:one/f:1.0"),
        ("g", "IDL:g:1.0"),
        ("interface", "IDL:interface:1.0"),
    ] {
        assert_eq!(id_of(&specification, name), id, "{name}");
    }
}

#[test]
fn every_file_has_its_own_prefix() {
    let loader = MemoryLoader::new()
        .with(
            "main.idl",
            "#pragma prefix \"main\"\ninterface A {};\n#include \"sub.idl\"\ninterface D {};\n",
        )
        .with(
            "sub.idl",
            "interface B {};\n#pragma prefix \"sub\"\ninterface C {};\n",
        );
    let outcome = compile("main.idl", &Options::default(), &loader);
    assert_eq!(findings(&outcome), Vec::<String>::new());
    let specification = outcome.specification.unwrap();
    for (name, id, is_included) in [
        ("A", "IDL:main/A:1.0", false),
        ("B", "IDL:B:1.0", true),
        ("C", "IDL:sub/C:1.0", true),
        ("D", "IDL:main/D:1.0", false),
    ] {
        assert_eq!(id_of(&specification, name), id, "{name}");
        assert_eq!(
            specification.is_included(specification.find(name).unwrap()),
            is_included,
            "{name}"
        );
    }
}

#[test]
fn versions_and_explicit_ids() {
    let specification = accepted(
        "module M {\n\
           interface A { void f(); attribute long b; };\n\
         #pragma version A 1.5\n\
         #pragma version A::f 2.0\n\
           interface B;\n\
         #pragma ID B \"DCE:d62207a2\"\n\
           interface B {};\n\
         };\n\
         interface C {};\n\
         typeid ::C \"IDL:other/C:3.1\";\n\
         #pragma ID C \"IDL:other/C:3.1\"\n",
    );
    assert_eq!(id_of(&specification, "M::A"), "IDL:M/A:1.5");
    assert_eq!(id_of(&specification, "M::B"), "DCE:d62207a2");
    assert_eq!(id_of(&specification, "C"), "IDL:other/C:3.1");
    match &specification.find("M::A").unwrap().kind {
        DefinitionKind::Interface(interface) => {
            assert_eq!(interface.operations[0].repository_id, "IDL:M/A/f:2.0");
            assert_eq!(interface.attributes[0].repository_id, "IDL:M/A/b:1.0");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_module_may_be_reopened_under_another_prefix() {
    let specification = accepted(
        "#pragma prefix \"a\"\nmodule M { interface A; interface A {}; };\n\
         #pragma prefix \"b\"\nmodule M { interface B {}; };\n",
    );
    for (name, id) in [
        ("M", "IDL:a/M:1.0"),
        ("M::A", "IDL:a/M/A:1.0"),
        ("M::B", "IDL:b/M/B:1.0"),
    ] {
        assert_eq!(id_of(&specification, name), id);
    }
}

#[test]
fn typeprefix_holds_for_the_whole_scope() {
    let specification = accepted(
        "#pragma prefix \"p\"\n\
         module M { interface A { void f(); }; module N { typedef long T; }; };\n\
         typeprefix M \"x.org\";\n\
         module M { interface B {}; };\n\
         typedef long U;\n",
    );
    for (name, id) in [
        ("M", "IDL:x.org/M:1.0"),
        ("M::A", "IDL:x.org/M/A:1.0"),
        ("M::N::T", "IDL:x.org/M/N/T:1.0"),
        ("M::B", "IDL:x.org/M/B:1.0"),
        ("U", "IDL:p/U:1.0"),
    ] {
        assert_eq!(id_of(&specification, name), id, "{name}");
    }
    match &specification.find("M::A").unwrap().kind {
        DefinitionKind::Interface(interface) => {
            assert_eq!(interface.operations[0].repository_id, "IDL:x.org/M/A/f:1.0");
        }
        other => panic!("{other:?}"),
    }
}
