//! `CORBA::TypeCode` and `CORBA::Principal`, in every form in which files declare them, and undeclared.

use punctual_idl::{
    MemoryLoader, Options, Specification, compile,
    hir::{Definition, DefinitionKind, Type},
};

use crate::support::{accepted, findings, outcome};

/// The result of `I::f`.
fn result(specification: &Specification) -> &Type {
    let DefinitionKind::Interface(interface) = &specification.find("I").unwrap().kind else {
        panic!("no interface");
    };
    &interface.operations[0].result
}

fn is_type_code(specification: &Specification, ty: &Type) -> bool {
    let Type::Ref(id) = ty else { return false };
    specification.is_type_code(&specification[*id])
}

fn octets() -> Type {
    Type::Sequence {
        element: Box::new(Type::Octet),
        bound: None,
    }
}

const USES: &str = "interface I { CORBA::TypeCode f(in ::CORBA::TypeCode a, in CORBA::Principal b); };";

#[test]
fn every_declaration_is_the_built_in_type() {
    for declarations in [
        "interface TypeCode; interface Principal;",
        "native TypeCode; native Principal;",
        "local interface TypeCode; local interface Principal;",
        "interface TypeCode { exception Bounds {}; boolean equal(in TypeCode tc); }; interface Principal {};",
        "interface TypeCode; interface Principal; interface TypeCode; interface Principal; native TypeCode;",
        "native TypeCode; interface Principal; interface TypeCode {}; native Principal;",
    ] {
        let text = format!("#pragma prefix \"omg.org\"\nmodule CORBA {{ {declarations} }};\n{USES}");
        let outcome = outcome(&text);
        assert_eq!(findings(&outcome), Vec::<String>::new(), "{declarations}");
        let specification = outcome.specification.unwrap();
        assert!(
            is_type_code(&specification, result(&specification)),
            "{declarations}"
        );
        let declared = specification.find("CORBA::TypeCode").unwrap();
        assert_eq!(declared.repository_id, "IDL:omg.org/CORBA/TypeCode:1.0");
        let principal = Type::Ref(specification.find("CORBA::Principal").unwrap().id);
        assert_eq!(*specification.resolve_aliases(&principal), octets());
    }
}

#[test]
fn a_file_that_is_found_declares_it_as_the_built_in_one_does() {
    let own = "#ifndef OWN\n#define OWN\n#pragma prefix \"omg.org\"\n\
               module CORBA { interface TypeCode; enum TCKind { tk_null, tk_void }; };\n#endif\n";
    let options = Options {
        include_dirs: vec!["inc".into()],
        ..Options::default()
    };
    for name in ["tao/Typecode_types.pidl", "tao/orb.idl", "orb.idl"] {
        let loader = MemoryLoader::new()
            .with(format!("inc/{name}"), own)
            .with("a.idl", format!("#include <{name}>\n{USES}"));
        let outcome = compile("a.idl", &options, &loader);
        assert_eq!(findings(&outcome), Vec::<String>::new());
        let specification = outcome.specification.unwrap();
        assert!(is_type_code(&specification, result(&specification)), "{name}");
    }
}

#[test]
fn undeclared_uses_are_known() {
    for text in [
        USES.to_owned(),
        format!("module CORBA {{ struct S {{ TypeCode a; Principal b; }}; }};\n{USES}"),
        format!("module CORBA {{ module Inner {{ typedef sequence<TypeCode> S; }}; }}; {USES}"),
        format!("module M {{ struct S {{ CORBA::TypeCode a; }}; }};\n{USES}"),
        format!("module CORBA {{ struct S {{ TypeCode a; }}; native TypeCode; }};\n{USES}"),
    ] {
        let specification = accepted(&text);
        assert!(is_type_code(&specification, result(&specification)), "{text}");
    }
    let specification = accepted("typedef CORBA::Principal P; typedef sequence<CORBA::TypeCode> Codes;");
    let principal = Type::Ref(specification.find("P").unwrap().id);
    assert_eq!(*specification.resolve_aliases(&principal), octets());
    let type_codes = specification.definitions.iter();
    let type_codes: Vec<&Definition> = type_codes.filter(|of| specification.is_type_code(of)).collect();
    assert_eq!(type_codes.len(), 1);
    assert_eq!(type_codes[0].repository_id, "IDL:omg.org/CORBA/TypeCode:1.0");
}

#[test]
fn the_names_are_free_elsewhere() {
    let specification = accepted(
        "module M { interface TypeCode; module CORBA { struct TypeCode { long a; };\n\
         typedef TypeCode Own; }; typedef CORBA::TypeCode Mine; interface TypeCode {}; };",
    );
    let mine = Type::Ref(specification.find("M::Mine").unwrap().id);
    let own = specification.find("M::CORBA::TypeCode").unwrap().id;
    assert_eq!(*specification.resolve_aliases(&mine), Type::Ref(own));
    let interface = specification.find("M::TypeCode").unwrap();
    assert!(matches!(interface.kind, DefinitionKind::Interface(_)));
    for (text, expected) in [
        ("typedef TypeCode T;", "IDL0040 1:9"),
        ("typedef ::TypeCode T;", "IDL0040 1:11"),
        ("typedef CORBA::Missing T;", "IDL0040 1:9"),
        ("typedef M::CORBA::TypeCode T;", "IDL0040 1:9"),
        (
            "module M { module CORBA {}; typedef CORBA::TypeCode T; };",
            "IDL0040 1:44",
        ),
        (
            "module CORBA { struct TypeCode { long a; }; interface TypeCode; };",
            "IDL0041 1:55",
        ),
    ] {
        let outcome = outcome(text);
        let errors: Vec<String> = findings(&outcome);
        let errors: Vec<&String> = errors.iter().filter(|code| !code.contains('!')).collect();
        assert!(errors.contains(&&expected.to_owned()), "{text}: {errors:?}");
    }
}

/// Its operations are not called through messages, but those of users raise them.
#[test]
fn exceptions_of_type_codes_are_known() {
    let own = "#pragma prefix \"omg.org\"\nmodule CORBA {\n interface TypeCode {\n  exception Bounds {};\n  \
               exception BadKind {};\n  TypeCode member_type(in long index) raises (BadKind);\n };\n};\n";
    for declarations in ["#include <orb.idl>\n", "#include <tao/TypeCode.pidl>\n", own] {
        let text = format!(
            "{declarations}#pragma prefix \"\"\n\
             interface I {{ void f() raises (CORBA::TypeCode::Bounds, ::CORBA::TypeCode::BadKind); }};"
        );
        let specification = accepted(&text);
        let DefinitionKind::Interface(interface) = &specification.find("I").unwrap().kind else {
            panic!("no interface");
        };
        let raised = interface.operations[0].raises.iter();
        let ids: Vec<&str> = raised.map(|id| &specification[*id].repository_id[..]).collect();
        assert_eq!(
            ids,
            [
                "IDL:omg.org/CORBA/TypeCode/Bounds:1.0",
                "IDL:omg.org/CORBA/TypeCode/BadKind:1.0"
            ]
        );
    }
}

/// All that CORBA 3.3 part 1, 8 declares and a message can contain.
#[test]
fn the_built_in_file_has_the_types_of_the_orb() {
    accepted(
        "#include <orb.idl>\nstruct S { CORBA::ServiceInformation a; CORBA::ServiceDetail b; \
         CORBA::StringValue c; CORBA::WStringValue d; CORBA::completion_status e; CORBA::exception_type f; \
         CORBA::ORBid g; CORBA::TCKind h; CORBA::Visibility i; };\n\
         interface I { void f() raises (CORBA::Bounds, CORBA::PolicyError, CORBA::InvalidPolicies); };",
    );
}
