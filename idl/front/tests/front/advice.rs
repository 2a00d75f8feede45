//! Bad input: what the help says, and that following it compiles.

use super::support::{accepted, findings, outcome};

/// Constants of the discriminator's type are labels, too, also inherited ones.
#[test]
fn labels_may_be_inherited_constants() {
    accepted(
        "interface B { enum E { RED, BLUE }; const E c = RED; };
         interface D : B { union U switch (E) { case c: long x; default: long y; }; };",
    );
}

#[test]
fn near_names_are_suggested() {
    let help = |text: &str| outcome(text).diagnostics[0].help.clone().unwrap();
    assert_eq!(
        help("typedef long Counter; typedef Conuter T;"),
        "did you mean `Counter`?"
    );
    assert_eq!(help("typedef strig T;"), "did you mean `string`?");
    assert_eq!(
        help("module M { typedef long Deep; }; typedef Deep T;"),
        "did you mean `::M::Deep`?"
    );
    assert_eq!(help("#inclde \"x\""), "did you mean `include`?");
    let track = "module A { struct Track { long x; }; enum Colour { red }; }; module B { typedef long L; };";
    for (text, expected) in [
        ("typedef Track T;", "::A::Track"),
        ("typedef B::Track T;", "::A::Track"),
        ("typedef C::Track T;", "::A::Track"),
        ("const A::Colour c = red;", "::A::red"),
    ] {
        assert_eq!(
            help(&format!("{track} {text}")),
            format!("did you mean `{expected}`?"),
            "{text}"
        );
        let followed = text.replace("B::Track", "Track").replace("C::Track", "Track");
        let last = expected.rsplit("::").next().unwrap();
        accepted(&format!("{track} {}", followed.replace(last, expected)));
    }
}

/// Text with a word that IDL does not have, what the help puts in its place, and that this is IDL.
#[test]
fn words_that_resemble_keywords_have_a_suggestion_that_compiles() {
    for (text, word, replacement) in [
        ("modul M { typedef long T; };", "modul", "module"),
        ("namespace M { typedef long T; };", "namespace", "module"),
        ("namspace M { typedef long T; };", "namspace", "module"),
        ("strct S { long x; };", "strct", "struct"),
        ("class C {};", "class", "interface"),
        ("struct S { int x; };", "int", "long"),
        ("struct S { int8_t x; };", "int8_t", "int8"),
        ("struct S { unsigned int x; };", "int", "long"),
        ("typedef bool B;", "bool", "boolean"),
        ("struct S { float32 x; };", "float32", "float"),
        ("struct S { float64 x; };", "float64", "double"),
        ("struct S { f32 x; };", "f32", "float"),
        ("struct S { u64 x; };", "u64", "unsigned long long"),
        ("struct S { uint32_t x; };", "uint32_t", "unsigned long"),
        ("struct S { vector<long> x; };", "vector", "sequence"),
        ("interface I { onway void f(); };", "onway", "oneway"),
        (
            "interface I { readonly atribute long x; };",
            "atribute",
            "attribute",
        ),
        ("interface I { vodi f(); };", "vodi", "void"),
        (
            "exception X {}; interface I { void f() raise (X); };",
            "raise",
            "raises",
        ),
        (
            "exception X {}; interface I { void f() throws (X); };",
            "throws",
            "raises",
        ),
        ("interface J {}; interface I extends J {};", "extends", ":"),
    ] {
        let diagnostics = outcome(text).diagnostics;
        let expected = format!("did you mean `{replacement}`?");
        assert_eq!(diagnostics[0].help.as_deref(), Some(&*expected), "{text}");
        accepted(&text.replacen(word, replacement, 1));
    }
    for (text, without, expected) in [
        (
            "interface I { static void f(); };",
            "static ",
            "remove `static`: IDL has no such word",
        ),
        (
            "struct S { signed long x; };",
            "signed ",
            "remove `signed`: IDL has no such word",
        ),
        (
            "interface J {}; interface I : public J {};",
            "public ",
            "remove `public`: every base is public",
        ),
        (
            "struct S { long int x; };",
            "int ",
            "remove `int`: in IDL the type is `long`",
        ),
        (
            "interface I { short int f(); };",
            "int ",
            "remove `int`: in IDL the type is `short`",
        ),
        (
            "struct S { std::string x; };",
            "std::",
            "`string` is a keyword: write it without a scope",
        ),
    ] {
        let diagnostics = outcome(text).diagnostics;
        assert_eq!(diagnostics[0].help.as_deref(), Some(expected), "{text}");
        accepted(&text.replace(without, ""));
    }
    for (text, expected) in [
        (
            "interface I { f(in long a); };",
            "an operation begins with the type of its result, such as `void f(...)`",
        ),
        (
            "interface I { void f(in long a[3]); };",
            "declare the array with `typedef` above, and use that name here",
        ),
        (
            "interface I { attribute readonly long x; };",
            "write it first: `readonly attribute long value;`",
        ),
        (
            "interface I { attribute string readonly x; };",
            "write it first: `readonly attribute long value;`",
        ),
        (
            "struct S { optional long x; };",
            "there are no optional members: use a `sequence<long, 1>` or a union",
        ),
        (
            "struct S { long a, string b; };",
            "end a member with `;`: after `,` follows another name of the same type",
        ),
        (
            "enum E { RED, BLUE }; union U switch (E) { case GREEN: long x; };",
            "the labels are the enumerators of `E`: `RED`, `BLUE`",
        ),
        (
            "enum E { RED, BLUE }; union U switch (E) { case BLEU: long x; };",
            "did you mean `BLUE`?",
        ),
        (
            "struct S { long readonly; };",
            "to use a keyword as a name, write `_readonly`",
        ),
        (
            "enum Mode { NONE, default };",
            "to use a keyword as a name, write `_default`",
        ),
        (
            "struct A { long x; }; typedef vector<A> AlarmSeq;",
            "did you mean `sequence`?",
        ),
        (
            "struct A { sequence<long x; };",
            "close `sequence<...>`, `map<...>` and `string<...>` with `>`",
        ),
        ("value Note { public long x; };", "did you mean `valuetype`?"),
        (
            "interface I { void f(in out long x); };",
            "write `inout` as one word",
        ),
        (
            "interface I { void f(in unsigned char x); };",
            "an octet is `octet` or `uint8`; a character is `char`",
        ),
        (
            "interface I { void x; };",
            "an operation has parentheses, such as `void stop()`; an attribute begins with `attribute`",
        ),
        (
            "struct S { void x; };",
            "`void` stands only for the result of an operation that has none",
        ),
        (
            "struct S { const long x; };",
            "declare constants in a module or an interface",
        ),
        (
            "struct S { char* x; };",
            "IDL has no pointers: text is `string`, and objects are passed by reference",
        ),
        (
            "struct S { string& x; };",
            "IDL has no references: `out` and `inout` parameters return values",
        ),
        (
            "struct S { long[3] x; };",
            "the size follows the name, such as `long values[3]`",
        ),
        (
            "struct S { long in; };",
            "to use a keyword as a name, write `_in`",
        ),
    ] {
        let diagnostics = outcome(text).diagnostics;
        assert_eq!(diagnostics[0].help.as_deref(), Some(expected), "{text}");
    }
    let outcome = outcome("struct S { String x; };");
    assert_eq!(findings(&outcome), ["IDL0031 1:12"]);
    let help = outcome.diagnostics[0].help.as_deref().unwrap();
    assert!(help.starts_with("write `string`"), "{help}");
}

#[test]
fn a_name_that_was_used_is_qualified_as_the_help_says() {
    for (text, used, qualified) in [
        (
            "module N { struct Names { long x; }; struct R { Names n; long names; }; };",
            "Names n",
            "::N::Names n",
        ),
        (
            "module N { enum E { red, green }; interface I { const E c = red; void red(); }; };",
            "= red",
            "= ::N::red",
        ),
    ] {
        let diagnostics = outcome(text).diagnostics;
        let help = diagnostics[0].help.as_deref().unwrap();
        let name = qualified.trim_start_matches("= ").trim_end_matches(" n");
        assert_eq!(help, format!("rename it, or qualify the other one: `{name}`"));
        accepted(&text.replacen(used, qualified, 1));
    }
}

#[test]
fn a_name_that_another_case_hides_is_qualified_as_the_help_says() {
    let text = "module N { struct Note { long x; }; interface I { void note(in Note one); }; };";
    let outcome = outcome(text);
    assert_eq!(findings(&outcome), ["IDL0043 1:64"]);
    let help = outcome.diagnostics[0].help.as_deref().unwrap();
    assert_eq!(
        help,
        "rename that one, or qualify the one that is meant: `::N::Note`"
    );
    accepted(&text.replacen("in Note", "in ::N::Note", 1));
}

/// The word that is written is no suggestion.
#[test]
fn misplaced_clauses_say_where_they_belong() {
    let help = |text: &str| {
        let outcome = outcome(&format!("exception E {{}}; interface I {{ {text} }};"));
        outcome.diagnostics[0].help.clone().unwrap()
    };
    let of_attributes =
        "a `readonly` attribute has `raises (...)`; any other, `getraises (...)`, then `setraises (...)`";
    for (text, expected) in [
        ("attribute long a raises (E);", of_attributes),
        ("readonly attribute long a setraises (E);", of_attributes),
        ("attribute long a setraises (E) getraises (E);", of_attributes),
        ("void f() setraises (E);", "an operation has `raises (...)`"),
        (
            "void f() context (\"a\") raises (E);",
            "write `raises (...)` once, in front of `context (...)`",
        ),
        (
            "struct S { long a raises (E); };",
            "only operations and attributes raise exceptions",
        ),
        ("void f() rases (E);", "did you mean `raises`?"),
    ] {
        assert_eq!(help(text), expected, "{text}");
    }
    accepted("exception E {}; interface I { attribute long a getraises (E) setraises (E); };");
}

#[test]
fn the_advice_for_incomplete_types_depends_on_the_place() {
    let inside = "a type contains itself only through a sequence: `sequence<...>`";
    let before = "define it above this place: until then, only `typedef sequence<Node>` can name it";
    for (text, expected) in [
        ("struct Node { Node next; };", inside),
        ("struct Node { Node next[2]; };", inside),
        ("struct Node { struct Inner { Node next; } inner; };", inside),
        (
            "struct Node; interface I { void f(in Node n); }; struct Node { long a; };",
            before,
        ),
        (
            "struct Node; interface I { Node f(); }; struct Node { long a; };",
            before,
        ),
        (
            "struct Node; typedef Node Pair[2]; struct Node { long a; };",
            before,
        ),
        (
            "struct Node; typedef sequence<Node> Q; interface I { Q f(); }; struct Node { long a; };",
            before,
        ),
        (
            "struct Node; struct Other { Node n; }; struct Node { long a; };",
            before,
        ),
    ] {
        let outcome = outcome(text);
        assert_eq!(outcome.diagnostics[0].code.to_string(), "IDL0060", "{text}");
        assert_eq!(outcome.diagnostics[0].help.as_deref(), Some(expected), "{text}");
    }
    accepted("struct Node; typedef sequence<Node> Nodes; struct Node { Nodes next; };");
}

#[test]
fn the_help_for_a_name_that_is_a_keyword_names_the_option() {
    let outcome = outcome("typedef long Factory;");
    let help = outcome.diagnostics[0].help.as_deref().unwrap();
    assert!(
        help.contains("`_Factory`") && help.contains("`--warn IDL0031`"),
        "{help}"
    );
}

#[test]
fn a_comment_that_is_not_closed_is_the_only_error() {
    let outcome = outcome("module M { struct S { long x; /* the rest }; };");
    assert_eq!(findings(&outcome), ["IDL0021 1:31"]);
}

#[test]
fn what_is_only_declared_has_the_help_of_its_kind() {
    let help = |text: &str| outcome(text).diagnostics[0].help.clone().unwrap();
    let objects = "there are no objects of it here: include the file that defines it";
    assert_eq!(
        help("local interface L; local interface K { void f(in L x); };"),
        objects
    );
    assert!(help("interface I;").contains("its references can be passed on"));
}

#[test]
fn a_bit_field_without_bits_is_left_out() {
    let error = &outcome("bitset B { bitfield<0> a; bitfield<2> c; };").diagnostics[0];
    assert_eq!(error.help.as_deref(), Some("give it a bit, or leave it out"));
    accepted("bitset B { bitfield<1> a; bitfield<2> c; };");
    accepted("bitset B { bitfield<2> c; };");
    let error = &outcome("bitset B { bitfield<65> a; };").diagnostics[0];
    assert_eq!(error.help.as_deref(), Some("divide it into several fields"));
}

/// Users of `build.rs` and of the command line do not set the limits of the library.
#[test]
fn no_help_names_the_interface_of_the_library() {
    let names = "struct S { Unknown u; };\n".repeat(500) + &"\u{1}\u{2}\n".repeat(500);
    let macros = (1..40).map(|level| format!("#define M{level} M{0} M{0}\n", level - 1));
    let macros = "#define M0 x\n".to_owned() + &macros.collect::<String>() + "M39\n";
    let bases: String = (1..5_000)
        .map(|level| format!("interface I{level} : I{} {{}};\n", level - 1))
        .collect();
    for text in [names, macros, "interface I0 {};\n".to_owned() + &bases] {
        let found = outcome(&text).diagnostics;
        assert!(!found.is_empty());
        for diagnostic in found {
            let help = diagnostic.help.unwrap_or_default();
            assert!(!help.contains("Limits::"), "{help}");
        }
    }
}
