//! Additions of IDL 4.2 that CORBA can carry: integer types and annotations; and the built-in `orb.idl`.

use punctual_idl::hir::{ConstantValue, DefinitionKind, FixedValue, Specification, Type};

use super::support::{accepted, findings, outcome};

fn members(idl: &str, name: &str) -> Vec<(Type, String)> {
    let specification = accepted(idl);
    match &specification.find(name).unwrap().kind {
        DefinitionKind::Struct(item) => {
            let members = item.members.iter();
            members
                .map(|member| (member.ty.clone(), member.doc.clone()))
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers_are_named_by_their_size_unless_the_names_are_taken() {
    let types = members(
        "struct S { uint8 a; int16 b; uint16 c; int32 d; uint32 e; int64 f; uint64 g; };",
        "S",
    );
    let types: Vec<Type> = types.into_iter().map(|(ty, _)| ty).collect();
    let expected = [
        Type::Octet,
        Type::Short,
        Type::UShort,
        Type::Long,
        Type::ULong,
        Type::LongLong,
        Type::ULongLong,
    ];
    assert_eq!(types, expected);
    let own = members("typedef string uint16; struct S { uint16 a; };", "S");
    assert!(matches!(own[0].0, Type::Ref(_)), "{own:?}");
    assert_eq!(findings(&outcome("struct S { ::uint16 a; };")), ["IDL0040 1:14"]);
}

#[test]
fn words_of_idl_4_are_names_in_older_specifications() {
    let own = members(
        "struct map { long bitmask; }; typedef map bitset; struct S { map bitfield; bitset int8; };",
        "S",
    );
    assert_eq!(own.len(), 2);
}

#[test]
fn maps_have_keys_and_values() {
    let types = members(
        "struct S { map<string, sequence<long>> a; map<int8, boolean, 4> b; };",
        "S",
    );
    let [
        (
            Type::Map {
                key,
                value,
                bound: None,
            },
            _,
        ),
        (Type::Map { bound: Some(4), .. }, _),
    ] = &types[..]
    else {
        panic!("{types:?}");
    };
    assert_eq!(**key, Type::String { bound: None });
    assert!(matches!(**value, Type::Sequence { .. }));
}

#[test]
fn flags_and_bit_fields_have_places() {
    let specification = accepted(
        "@bit_bound(12) bitmask M { A, @position(5) B, C };\n\
         bitset Base { bitfield<3> a; bitfield<2>; bitfield<1> b c; };\n\
         bitset All : Base { bitfield<10, short> d; };\n\
         struct S { M x; All y; };",
    );
    let kind = |name| &specification.find(name).unwrap().kind;
    let DefinitionKind::Bitmask(mask) = kind("M") else {
        panic!()
    };
    let positions: Vec<_> = mask
        .flags
        .iter()
        .map(|flag| (&flag.name[..], flag.position))
        .collect();
    assert_eq!(
        (&mask.holder, &positions[..]),
        (&Type::UShort, &[("A", 0), ("B", 5), ("C", 6)][..])
    );
    let DefinitionKind::Bitset(all) = kind("All") else {
        panic!()
    };
    let places: Vec<_> = all
        .fields
        .iter()
        .map(|of| (&of.name[..], of.offset, of.width))
        .collect();
    assert_eq!(places, [("a", 0, 3), ("b", 5, 1), ("c", 6, 1), ("d", 7, 10)]);
    assert_eq!((&all.holder, all.bits), (&Type::ULong, 17));
    let types: Vec<_> = all.fields.iter().map(|field| field.ty.clone()).collect();
    assert_eq!(types, [Type::Octet, Type::Boolean, Type::Boolean, Type::Short]);
}

#[test]
fn standard_annotations_have_their_arguments() {
    accepted(
        "const unsigned long FIRST = 1; module limits { const boolean YES = TRUE; };\n\
         @extensibility(MUTABLE) @autoid @verbatim(language=\"rust\", text=\"a\" \"b\", placement=END_FILE)\n\
         struct S { @key @id(FIRST) @optional(limits::YES) long a;\n\
                    @id(0xFFFFFFFF) @must_understand(FALSE) long b;\n\
                    @id(FIRST + 1) @external long c; };\n\
         @bit_bound(32) enum E { @value(3) A, @default_literal B }; @bit_bound(010) bitmask M { A };\n\
         @service @ami interface I { @oneway(TRUE) void f(); };",
    );
}

/// A declared annotation, or one of another scope, has its own arguments.
#[test]
fn declared_annotations_may_have_standard_names() {
    accepted("@annotation id { string text; }; @id(\"a\") @lib::key(3) @key::key(3) struct S { long a; };");
}

#[test]
fn annotations_are_kept_with_the_comments() {
    let members = members(
        "struct S {\n// Above.\n@unit(\"m\") @range(min = 0, max = 1)\n// Below.\nlong a; };",
        "S",
    );
    assert_eq!(
        members[0].1,
        "Above.\n`@unit(\"m\")`\n`@range(min=0, max=1)`\nBelow."
    );
    let specification = accepted("@final @nested(TRUE) struct S { long a; };");
    assert_eq!(specification.find("S").unwrap().doc, "`@final`\n`@nested(TRUE)`");
}

#[test]
fn defaults_of_members_are_values_of_their_types() {
    let specification = accepted(
        "enum E { red, green };\n\
         struct S { @default(7) @range(min = 1, max = 9) octet a; @default(green) E b;\n\
         @default(1.5d) fixed<5, 2> c; @default(value = \"t\") string d; @unit(\"m\") @min(0) double x; };",
    );
    let DefinitionKind::Struct(item) = &specification.find("S").unwrap().kind else {
        panic!()
    };
    let defaults: Vec<_> = item.members.iter().map(|member| member.default.clone()).collect();
    let enumeration = specification.find("E").unwrap().id;
    let expected = [
        Some(ConstantValue::Octet(7)),
        Some(ConstantValue::Enumerator {
            enumeration,
            ordinal: 1,
        }),
        Some(ConstantValue::Fixed(FixedValue {
            unscaled: 150,
            scale: 2,
        })),
        Some(ConstantValue::String(String::from("t"))),
        None,
    ];
    assert_eq!(defaults, expected);
    assert_eq!(item.members[0].doc, "`@default(7)`\n`@range(min=1, max=9)`");
}

#[test]
fn annotations_can_be_declared() {
    let specification = accepted(
        "@annotation colour { string name default \"red\"; long shade; };\n\
         module M { @annotation empty {}; @colour(name = \"blue\") struct S { @empty long a; }; };",
    );
    assert_eq!(
        specification.find("M::S").unwrap().doc,
        "`@colour(name=\"blue\")`"
    );
    accepted("@annotation alone { long value; };");
}

#[test]
fn orb_idl_is_built_in() {
    for name in ["<orb.idl>", "\"orb.idl\"", "\"tao/Policy.pidl\""] {
        let specification = accepted(&format!(
            "#include {name}\n#include {name}\nmodule M {{ local interface Mine : CORBA::Policy {{}}; }};"
        ));
        let policy = specification.find("CORBA::Policy").unwrap();
        assert_eq!(policy.repository_id, "IDL:omg.org/CORBA/Policy:1.0");
        assert!(specification.is_included(policy));
    }
    for name in [
        "tao/AnySeq.pidl",
        "tao/OctetSeq.pidl",
        "tao/ULongLongSeq.pidl",
        "tao/Typecode_types.pidl",
    ] {
        let specification = accepted(&format!(
            "#include <{name}>\n\
             struct All {{ CORBA::AnySeq a; CORBA::TCKind b; CORBA::ParameterMode c; CORBA::Visibility d;\n\
             CORBA::ValueModifier e; CORBA::WCharSeq f; CORBA::LongDoubleSeq g; }};"
        ));
        let DefinitionKind::Enum(kinds) = &specification.find("CORBA::TCKind").unwrap().kind else {
            panic!("no enum");
        };
        assert_eq!(
            (kinds.enumerators.len(), &*kinds.enumerators[36].name),
            (37, "tk_event")
        );
    }
    let missing = outcome("#include \"tao/MissingSeq.pidl\"\n#include \"OctetSeq.pidl\"");
    assert_eq!(findings(&missing), ["IDL0002 1:1", "IDL0002 2:1"]);
    let uses = outcome("#include <orb.idl>\ninterface I { void f(in CORBA::PolicyList x); };");
    assert_eq!(findings(&uses), ["IDL0089 2:43"]);
}

#[test]
fn help_names_what_is_meant_in_full() {
    let help = |idl: &str| outcome(idl).diagnostics[0].help.clone().unwrap_or_default();
    assert!(help("module A { struct Track { long a; }; }; typedef Trakc T;").contains("`::A::Track`"));
    let redefined = "module N { enum E { red, green }; interface I { const E d = red; void red(); }; };";
    assert!(help(redefined).contains("`::N::red`"), "{}", help(redefined));
    assert!(help("modul M { };").contains("module"));
    assert!(help("namespace M { };").contains("module"));
}

#[test]
fn an_import_of_what_is_known_declares_nothing() {
    let specification = accepted("module A { typedef long T; }; import ::A; import ::A::T; typedef A::T U;");
    let none = specification
        .definitions
        .iter()
        .all(|definition| !matches!(definition.kind, DefinitionKind::Accepted(_)));
    assert!(none);
    // Whatever comes first.
    let specification = accepted(
        "import ::A; import I; module A { typedef long T; }; typedef A::T U; interface I { void f(); };",
    );
    let names: Vec<&str> = specification.definitions.iter().map(|of| &*of.name).collect();
    assert_eq!(names, ["A", "T", "U", "I"]);
    let early = outcome("import ::A; typedef A::T U; module A { typedef long T; };");
    assert_eq!(findings(&early), ["IDL0040 1:21"]);
    let help = early.diagnostics[0].help.as_deref().unwrap();
    assert!(
        help.contains("`A` is declared below, and `import` does not change that"),
        "{help}"
    );
}

#[test]
fn annotations_may_have_absolute_names() {
    let text = "@::scope::name struct S { @::key @::m::unit(\"m\") long x; @m::unit long y; };\n\
                interface I { @::oneway void f(@::m::x(1) in long a); };";
    let specification = accepted(text);
    assert_eq!(specification.find("S").unwrap().doc, "`@::scope::name`");
    let DefinitionKind::Struct(structure) = &specification.find("S").unwrap().kind else {
        panic!("no struct");
    };
    assert_eq!(structure.members[0].doc, "`@::key`\n`@::m::unit(\"m\")`");
    assert_eq!(findings(&outcome("@:: ; struct S { long x; };")), ["IDL0030 1:1"]);
}

/// Names and the number of inherited members.
fn flattened(specification: &Specification, name: &str) -> (Vec<String>, usize) {
    match &specification.find(name).unwrap().kind {
        DefinitionKind::Struct(structure) => {
            let names = structure.members.iter().map(|member| member.name.clone());
            (names.collect(), structure.inherited)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_struct_has_the_members_of_its_bases_first() {
    let specification = accepted(
        "struct A { long x, z; }; typedef A Other; struct B : ::Other { long y; };\n\
         module M { struct C : B {}; struct D; typedef sequence<D> Many; struct E { Many ds; };\n\
         struct D : E { C b; long C2; }; };",
    );
    assert_eq!(
        flattened(&specification, "A"),
        (["x", "z"].map(Into::into).into(), 0)
    );
    assert_eq!(
        flattened(&specification, "B"),
        (["x", "z", "y"].map(Into::into).into(), 2)
    );
    assert_eq!(
        flattened(&specification, "M::C"),
        (["x", "z", "y"].map(Into::into).into(), 3)
    );
    assert_eq!(
        flattened(&specification, "M::D"),
        (["ds", "b", "C2"].map(Into::into).into(), 1)
    );
    let base = |name: &str| match &specification.find(name).unwrap().kind {
        DefinitionKind::Struct(structure) => structure.base.map(|id| specification[id].name.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        ["A", "B", "M::C"].map(base),
        [None, Some("A".into()), Some("B".into())]
    );
}

#[test]
fn bases_of_structs_are_complete_structs_without_members_of_the_same_name() {
    for (text, expected) in [
        ("struct B : A { long y; };", "IDL0040 1:12"),
        ("struct B : B { long y; };", "IDL0040 1:12"),
        ("struct B; struct B : B { long y; };", "IDL0060 1:22"),
        (
            "struct A; struct B : A { long y; }; struct A { long x; };",
            "IDL0060 1:22",
        ),
        ("struct A { struct B : A { long y; } c; };", "IDL0060 1:23"),
        ("enum A { X }; struct B : A { long y; };", "IDL0046 1:26"),
        ("typedef long A; struct B : A { long y; };", "IDL0046 1:28"),
        (
            "exception A { long x; }; struct B : A { long y; };",
            "IDL0046 1:37",
        ),
        ("struct A { long x; }; struct B : A { short x; };", "IDL0041 1:44"),
        (
            "struct A { long x; }; struct B : A {}; struct C : B { long a, X; };",
            "IDL0042 1:63",
        ),
        (
            "struct A { long x; }; struct B : A, A { long y; };",
            "IDL0030 1:35",
        ),
        ("struct A { long x; }; struct B : { long y; };", "IDL0030 1:34"),
        ("struct A {};", "IDL0035 1:8"),
    ] {
        let outcome = outcome(text);
        assert_eq!(findings(&outcome), [expected], "{text}");
        assert!(
            outcome.diagnostics[0].help.is_some() || expected.starts_with("IDL0030"),
            "{text}"
        );
    }
    let outcome = outcome("struct A { long x; }; struct B : A { short x; };");
    let found = &outcome.diagnostics[0];
    assert_eq!(found.message, "`x` is a member of the base `A` already");
    assert_eq!(
        found.help.as_deref(),
        Some("rename one of them: a struct has the members of its base, too")
    );
}

/// A small source could otherwise describe very many members, or very long comments.
#[test]
fn what_structs_inherit_is_limited() {
    let members: String = (0..400).map(|index| format!("long m{index};")).collect();
    let wide: String = (0..200)
        .map(|index| format!("struct W{index} : A {{}};\n"))
        .collect();
    let chain: String = (1..400)
        .map(|index| format!("struct C{index} : C{} {{ long m{index}; }};\n", index - 1))
        .collect();
    let comment = format!("/* {} */", "long ".repeat(5_000));
    for (text, first) in [
        (format!("struct A {{{members}}};\n{wide}"), "IDL0012 127:15"),
        (format!("struct C0 {{ long m0; }};\n{chain}"), "IDL0012 317:15"),
        (
            format!("struct A {{\n{comment}\nlong m; }};\n{wide}"),
            "IDL0012 131:15",
        ),
    ] {
        let outcome = outcome(&text);
        assert_eq!(findings(&outcome).first().map(String::as_str), Some(first));
        let help = outcome.diagnostics[0].help.as_deref().unwrap();
        assert!(help.starts_with("add a member of type `"), "{help}");
    }
}

#[test]
fn a_byte_order_mark_has_no_effect() {
    for text in [
        "\u{feff}interface I {};",
        "\u{feff}#define I J\ninterface I {};",
        "\u{feff}// x\n",
    ] {
        assert_eq!(findings(&outcome(text)), Vec::<String>::new());
    }
}

#[test]
fn imported_names_are_types_bases_and_constants_of_unknown_value() {
    let specification = accepted(
        "import ::M::Sub; import N;\n\
         const long a = M::X + 1; const N::E b = N::X; typedef string<N::Max> S;\n\
         typedef long C[M::Sub::Max];\n\
         union U switch (N::E) { case N::a: long x; default: long y; };\n\
         interface I : N::J { void f(in M::Sub::T x) raises (N::X); };\n",
    );
    assert!(specification.find("I").is_some());
    // What is not imported is still unknown.
    let outcome = outcome("import N; const long a = P::X;");
    assert_eq!(findings(&outcome), ["IDL0040 1:26"]);
}
