//! One accepted text for every production of the grammar.

use super::support::{accepted, outcome};

/// Production, and a text that uses it.
const ACCEPTED: &[(&str, &str)] = &[
    ("module", "module M { const long x = 1; };"),
    (
        "module, reopened",
        "module M { typedef long A; }; module M { typedef A B; };",
    ),
    ("interface_dcl", "interface I {};"),
    (
        "forward_dcl",
        "interface I; interface J { void f(in I x); }; interface I { void g(); };",
    ),
    (
        "interface, abstract",
        "abstract interface A { void f(); }; interface I : A {};",
    ),
    (
        "interface, local",
        "local interface L { void f(); }; local interface M : L {};",
    ),
    (
        "interface_inheritance_spec",
        "interface A {}; interface B {}; module M { interface C : A, ::B {}; };",
    ),
    (
        "export",
        "interface I { typedef long T; const T c = 1; exception E {}; attribute T a; void f() raises (E); };",
    ),
    (
        "value_dcl",
        "valuetype V { public long a; private string b; void f(); attribute long c; };",
    ),
    ("value_abs_dcl", "abstract valuetype V { void f(); };"),
    (
        "value_box_dcl",
        "valuetype B sequence<long>; valuetype S string; valuetype T struct U { long x; };",
    ),
    ("value_custom_dcl", "custom valuetype V { public long a; };"),
    (
        "value_forward_dcl",
        "valuetype V; abstract valuetype A; valuetype V { public V next; }; abstract valuetype A {};",
    ),
    (
        "value_inheritance_spec",
        "interface I {}; abstract valuetype A {}; valuetype V { public long a; }; \
         valuetype W : truncatable V, A supports I { public long b; };",
    ),
    (
        "init_dcl",
        "exception E {}; valuetype V { factory make(in long a, in string b) raises (E); factory empty(); };",
    ),
    (
        "const_type",
        "const octet o = 1; const unsigned long long u = 2; const boolean b = TRUE; const char c = 'c';",
    ),
    (
        "const_type, floating",
        "const float f = 1.5; const double d = 1e10; const long double l = .5;",
    ),
    (
        "const_type, wide",
        "const wchar c = L'\\u00e9'; const wstring s = L\"wide\";",
    ),
    ("const_type, fixed", "const fixed f = 12.34d;"),
    (
        "const_type, scoped_name",
        "typedef long T; enum E { a, b }; const T c = 3; const E d = b;",
    ),
    (
        "or_expr to unary_expr",
        "const long x = (1 | 2 ^ 3 & 4) << 2 >> 1 + 2 - 3 * 4 / 5 % 6 + -1 + +1 + ~0;",
    ),
    (
        "literal",
        "const long d = 10; const long o = 017; const long h = 0xFf; const string s = \"a\" \"b\";",
    ),
    ("type_declarator", "typedef long A, B[3], C[2][4];"),
    (
        "simple_declarator, escaped",
        "typedef long _interface; typedef _interface T;",
    ),
    (
        "base_type_spec",
        "struct S { float a; double b; long double c; short d; long e; long long f; unsigned short g; };",
    ),
    (
        "base_type_spec, others",
        "struct S { unsigned long a; unsigned long long b; char c; wchar d; boolean e; octet f; any g; Object h; ValueBase i; };",
    ),
    (
        "template_type_spec",
        "struct S { sequence<long> a; sequence<string, 4> b; string<5> c; wstring<6> d; fixed<9, 2> e; };",
    ),
    (
        "sequence_type, nested",
        "typedef sequence<sequence<sequence<long, 2>>> T; typedef sequence<long, 16 >> 2> U;",
    ),
    (
        "array_declarator",
        "const long n = 2; struct S { long a[n][n + 1]; };",
    ),
    (
        "struct_type, nested",
        "struct S { struct T { long x; } a; enum E { b } c; union U switch (long) { case 1: long x; } d; };",
    ),
    (
        "constr_forward_decl",
        "struct S; union U; typedef sequence<S> Ss; typedef sequence<U> Us; struct S { Ss a; }; union U switch (long) { case 1: Us next; };",
    ),
    (
        "union_type",
        "union U switch (long) { case 1: case 2: long a; case -3: string b; default: octet c; };",
    ),
    (
        "switch_type_spec",
        "union A switch (char) { case 'a': long x; }; union B switch (boolean) { case TRUE: long x; }; union W switch (wchar) { case L'a': long x; default: long y; }; union C switch (unsigned long long) { case 1: long x; };",
    ),
    (
        "switch_type_spec, enum",
        "enum E { a, b }; union U switch (E) { case a: long x; case ::b: long y; };",
    ),
    (
        "switch_type_spec, enum within",
        "union U switch (enum E { a, b }) { case a: long x; };",
    ),
    ("enum_type", "enum E { a }; enum F { b, c, d };"),
    ("native", "native N; interface I { void f(in N x); };"),
    (
        "except_dcl",
        "exception E {}; exception F { long a; string b, c; };",
    ),
    (
        "op_dcl",
        "interface I { oneway void a(in long x); long b(in long x, out string y, inout octet z); Object c(); string<3> d(); };",
    ),
    (
        "raises_expr",
        "exception E {}; exception F {}; interface I { void f() raises (E, ::F); void f2() raises (E); };",
    ),
    (
        "context_expr",
        "interface I { void f() context (\"user\", \"sys*\"); };",
    ),
    (
        "attr_dcl",
        "interface I { readonly attribute long a, b; attribute string c; };",
    ),
    (
        "attr_raises_expr",
        "exception E {}; interface I { readonly attribute long a raises (E); attribute long b getraises (E) setraises (E); attribute long c setraises (E); };",
    ),
    (
        "import",
        "import ::Other::Scope; import \"IDL:x:1.0\"; interface I {};",
    ),
    ("type_id_dcl", "interface I {}; typeid I \"IDL:x.org/I:2.0\";"),
    (
        "type_prefix_dcl",
        "module M { interface I {}; }; typeprefix ::M \"x.org\";",
    ),
    (
        "component_dcl",
        "interface I {}; eventtype E { public long x; }; component B; component B supports I { \
         provides I a; uses I b; uses multiple Object c; emits E d; publishes E e; \
         consumes E f; attribute long g; }; \
         component C : B {};",
    ),
    (
        "home_dcl",
        "component C {}; valuetype K { public string a; }; home H manages C primarykey K { \
         factory make(in long x); finder find(in string s); void other(); }; home G : H manages C {};",
    ),
    (
        "event",
        "abstract eventtype A {}; eventtype E : A { public long x; }; eventtype F; custom eventtype F { public E a; };",
    ),
    (
        "porttype_dcl",
        "interface I {}; porttype P { provides I a; uses I b; attribute long c; }; component C { port P p; mirrorport P q; };",
    ),
    (
        "connector",
        "interface I {}; connector B { provides I a; }; connector C : B { uses I b; };",
    ),
    (
        "template_module",
        "module T<typename X, interface I, sequence<X> S, const unsigned long n> { typedef sequence<X, n> Y; struct Z { S s; }; };",
    ),
    (
        "template_module_inst",
        "module T<typename X, sequence X2> { typedef X Y; }; typedef sequence<long> Ls; module T<long, Ls> Longs; struct S { Longs::Y y; };",
    ),
    (
        "template_module_ref",
        "module A<typename X> { typedef X Y; }; module B<typename X> { alias A<X> Mine; };",
    ),
];

#[test]
fn every_production_is_accepted() {
    let mut refused = Vec::new();
    for (production, text) in ACCEPTED {
        let outcome = outcome(text);
        if !outcome.diagnostics.is_empty() {
            refused.push(format!(
                "{production}: {:?}\n{text}",
                super::support::findings(&outcome)
            ));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn comments_and_blanks_may_stand_between_any_two_tokens() {
    let text = "interface I { oneway void f ( in :: T :: U x ) ; } ;";
    let prelude = "module T { typedef long U; };\n";
    let spread = text
        .split(' ')
        .collect::<Vec<_>>()
        .join(" /* remark */\n\t// rest\r\n");
    let plain = accepted(&format!("{prelude}{text}"));
    let spread = accepted(&format!("{prelude}{spread}"));
    assert_eq!(
        plain.find("I").map(|found| &found.repository_id),
        spread.find("I").map(|found| &found.repository_id)
    );
}

#[test]
fn later_keywords_are_still_names_but_warned_about() {
    let text = "struct S { unsigned short port; string home; };";
    let outcome = outcome(text);
    assert_eq!(
        super::support::findings(&outcome),
        ["IDL0032! 1:27", "IDL0032! 1:40"]
    );
    assert!(outcome.specification.is_some());
}
