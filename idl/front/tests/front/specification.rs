//! The resolved specification and the questions it answers.

use punctual_idl::Limits;
use punctual_idl::hir::{Definition, DefinitionKind, Direction, Specification, Type, not_generated};

use super::support::accepted;

fn named<'a>(specification: &'a Specification, name: &str) -> &'a Definition {
    specification.find(name).unwrap_or_else(|| panic!("no `{name}`"))
}

#[test]
fn definitions_are_listed_in_source_order() {
    let specification = accepted(
        "interface Later; module M { typedef long A; }; interface Later { typedef long T; }; module M { typedef A B; };",
    );
    let names = |ids: &[punctual_idl::hir::DefinitionId]| -> Vec<String> {
        ids.iter().map(|id| specification[*id].name.clone()).collect()
    };
    assert_eq!(names(&specification.roots), ["M", "Later"]);
    assert_eq!(
        names(specification.children(named(&specification, "M").id)),
        ["A", "B"]
    );
    assert_eq!(
        names(specification.children(named(&specification, "Later").id)),
        ["T"]
    );
}

#[test]
fn inherited_operations_come_base_first_and_once() {
    let specification = accepted(
        "interface Top { void at_top(); readonly attribute long height; };\n\
         interface Left : Top { void at_left(); };\n\
         interface Right : Top { void at_right(); attribute long width; };\n\
         interface Bottom : Left, Right { void at_bottom(); };\n",
    );
    let bottom = named(&specification, "Bottom").id;
    let bases: Vec<&str> = specification
        .all_bases(bottom)
        .into_iter()
        .map(|id| specification[id].name.as_str())
        .collect();
    assert_eq!(bases, ["Top", "Left", "Right"]);
    let operations: Vec<&str> = specification
        .all_operations(bottom)
        .iter()
        .map(|found| found.item.name.as_str())
        .collect();
    assert_eq!(operations, ["at_top", "at_left", "at_right", "at_bottom"]);
    let attributes = specification.all_attributes(bottom);
    let attributes: Vec<_> = attributes
        .iter()
        .map(|found| {
            (
                specification[found.interface].name.as_str(),
                found.item.name.as_str(),
                found.item.readonly,
            )
        })
        .collect();
    assert_eq!(attributes, [("Top", "height", true), ("Right", "width", false)]);
}

#[test]
fn names_are_found_in_bases_and_scopes() {
    let specification = accepted(
        "typedef long T;\n\
         interface Base { typedef string T; enum E { first }; };\n\
         interface Derived : Base { void f(in T inherited, in ::T global, in Base::T named); \
         const E c = first; };\n\
         module M { interface J : ::Base { typedef ::Derived::T U; }; };\n",
    );
    let string = named(&specification, "Base::T").id;
    let long = named(&specification, "T").id;
    let derived = specification
        .interface(named(&specification, "Derived").id)
        .unwrap();
    let types: Vec<&Type> = derived.operations[0]
        .parameters
        .iter()
        .map(|parameter| &parameter.ty)
        .collect();
    assert_eq!(types, [&Type::Ref(string), &Type::Ref(long), &Type::Ref(string)]);
    assert_eq!(
        specification.resolve_aliases(&Type::Ref(named(&specification, "M::J::U").id)),
        &Type::String { bound: None }
    );
}

#[test]
fn operations_are_complete() {
    let specification = accepted(
        "exception E { long code; };\n\
         interface I { string f(in long a, out octet b, inout I c) raises (E) \
         context (\"x\"); oneway void g(); };\n",
    );
    let interface = named(&specification, "I");
    let found = specification.interface(interface.id).unwrap();
    let f = &found.operations[0];
    assert_eq!(f.result, Type::String { bound: None });
    let directions: Vec<Direction> = f.parameters.iter().map(|parameter| parameter.direction).collect();
    assert_eq!(directions, [Direction::In, Direction::Out, Direction::InOut]);
    assert_eq!(f.parameters[2].ty, Type::Ref(interface.id));
    assert_eq!(f.raises, [named(&specification, "E").id]);
    assert_eq!(f.contexts, ["x"]);
    assert!(!f.oneway && found.operations[1].oneway);
    assert_eq!(f.scoped_name.to_string(), "I::f");
}

#[test]
fn unions_know_whether_they_can_hold_nothing() {
    let specification = accepted(
        "enum E { a, b };\n\
         union Some switch (E) { case a: long x; };\n\
         union All switch (E) { case a: long x; case b: string y; };\n\
         union Rest switch (short) { case 1: case 2: long x; default: octet y[3]; };\n",
    );
    let union = |name: &str| match &named(&specification, name).kind {
        DefinitionKind::Union(union) => union.clone(),
        other => panic!("{other:?}"),
    };
    assert!(union("Some").has_implicit_default);
    assert!(!union("All").has_implicit_default);
    let default = union("Rest");
    assert!(!default.has_implicit_default);
    assert_eq!(default.cases.len(), 2);
    use punctual_idl::hir::ConstantValue::Short;
    assert_eq!(default.cases[0].labels, [Short(1), Short(2)]);
    assert!(default.cases[1].is_default && default.cases[1].labels.is_empty());
    assert_eq!(
        default.cases[1].member.ty,
        Type::Array {
            element: Box::new(Type::Octet),
            dims: vec![3]
        }
    );
}

#[test]
fn length_and_recursion() {
    let specification = accepted(
        "struct Plain { long a; double b[4]; };\n\
         typedef Plain Alias;\n\
         struct Text { Alias a; string b; };\n\
         typedef Text Texts[2];\n\
         struct Tree; typedef sequence<Tree> Trees; struct Tree { long value; Trees children; };\n\
         struct Holder { Tree root; };\n\
         union Choice switch (long) { case 1: sequence<Choice> more; default: long leaf; };\n\
         interface I {}; struct WithReference { I target; };\n",
    );
    let variable = |name: &str| specification.is_variable_length(&Type::Ref(named(&specification, name).id));
    assert!(!variable("Plain") && !variable("Alias"));
    assert!(
        variable("Text")
            && variable("Texts")
            && variable("Tree")
            && variable("I")
            && variable("WithReference")
    );
    let recursive = |name: &str| specification.is_recursive(named(&specification, name).id);
    assert!(recursive("Tree") && recursive("Trees") && recursive("Choice"));
    assert!(!recursive("Holder") && !recursive("Text"));
}

#[test]
fn types_within_types_belong_to_them() {
    let specification =
        accepted("struct S { struct T { long x; } c; enum E { a, b } d; }; typedef struct U { S x; } V;");
    let s = named(&specification, "S");
    let nested: Vec<String> = specification
        .children(s.id)
        .iter()
        .map(|id| specification[*id].scoped_name.to_string())
        .collect();
    assert_eq!(nested, ["S::T", "S::E"]);
    assert_eq!(named(&specification, "S::T").parent, Some(s.id));
    match &named(&specification, "V").kind {
        DefinitionKind::Typedef(typedef) => assert_eq!(typedef.inner, Some(named(&specification, "U").id)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn value_types() {
    let specification = accepted(
        "interface I { void run(); };\n\
         valuetype V { public long a; private string b, c; factory make(in long x); void f(); };\n\
         valuetype W : truncatable V supports I { public V other; };\n",
    );
    match &named(&specification, "V").kind {
        DefinitionKind::ValueType(value) => {
            let state: Vec<(bool, &str)> = value
                .state
                .iter()
                .map(|(public, member)| (*public, member.name.as_str()))
                .collect();
            assert_eq!(state, [(true, "a"), (false, "b"), (false, "c")]);
            assert_eq!((value.factories.len(), value.operations.len()), (1, 1));
        }
        other => panic!("{other:?}"),
    }
    let w = named(&specification, "W");
    let operations = specification.all_operations(w.id);
    assert_eq!(
        operations
            .iter()
            .map(|found| found.item.name.as_str())
            .collect::<Vec<_>>(),
        ["f", "run"]
    );
}

/// Constructs without code are reported with their name and the reason.
#[test]
fn what_is_not_generated_is_named_with_the_reason() {
    const MODEL: &str = "the CORBA Component Model, which Punctual does not implement";
    for (text, construct, reason) in [
        (
            "native N; interface I { void f(in N x); };",
            "a native type",
            "no form in messages",
        ),
        (
            "native N; typedef sequence<N> T; struct S { T x; }; interface I { S f(); };",
            "a native type",
            "no form in messages",
        ),
        (
            "native N; exception E { N x; }; interface I { void f() raises (E); };",
            "a native type",
            "no form in messages",
        ),
        (
            "native N; valuetype V { private N x; };",
            "a native type",
            "no form",
        ),
        ("native N; valuetype V N;", "a native type", "no form in messages"),
        ("component C {};", "component", MODEL),
        ("porttype P { attribute long a; };", "porttype", MODEL),
        ("module T<typename X> { typedef X Y; };", "template module", MODEL),
    ] {
        let found = not_generated(&accepted(text), &Limits::default());
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].message.contains(construct) && found[0].message.contains(reason),
            "{text}: {}",
            found[0].message
        );
        assert_eq!(found[0].code, punctual_idl::Code::NotGenerated);
    }
    let generated = accepted(
        "native N; typedef sequence<N> T; local interface L { L f(inout L x); N g(in T x); };\n\
         struct O { T x; }; union P switch (long) { case 1: O x; }; exception Q { P x; };\n\
         local interface J { O f(in P x) raises (Q); }; valuetype W { O f(in N x) raises (Q); };\n\
         typedef sequence<L> Ls; struct S { Ls x; }; union V switch (long) { case 1: S x; };\n\
         exception Y { V x; }; local interface K { S f(in V x) raises (Y); };\n\
         module M { enum E { a }; union U switch (E) { case a: long double x; }; \n\
         exception X { sequence<U, 3> list; any more; };\n\
         abstract valuetype Shown { void show(); }; valuetype Text wstring<3>; const fixed F = 1.5d;\n\
         valuetype Held : Shown { private Held next; factory make(in ValueBase any_value); };\n\
         interface I { Object f(in string<4> s, out I other) raises (X); attribute boolean b; };\n\
         const double d = 1.0; };",
    );
    assert_eq!(not_generated(&generated, &Limits::default()), []);
}

/// Everything in the table "Not generated" of docs/mapping.md is reported.
#[test]
fn the_page_of_the_mapping_lists_what_is_not_generated() {
    const PAGE: &str = include_str!("../../../../docs/mapping.md");
    let (_, table) = PAGE.split_once("## Not generated").unwrap();
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        let idl = row.split('|').nth(2).unwrap().trim().trim_matches('`');
        assert!(
            !not_generated(&accepted(idl), &Limits::default()).is_empty(),
            "{idl} is generated"
        );
    }
}
