//! The preprocessor, seen through what reaches the specification.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use punctual_idl::hir::{ConstantValue, DefinitionKind};
use punctual_idl::{Limits, MemoryLoader, Options, Outcome, SourceLoader, compile, compile_text};

use super::support::{accepted, findings, outcome};

fn with_files(options: &Options, files: &[(&str, &str)]) -> Outcome {
    let loader = files.iter().fold(MemoryLoader::new(), |loader, (path, text)| {
        loader.with(path, *text)
    });
    compile(files[0].0, options, &loader)
}

/// Whether a condition holds.
fn holds(prelude: &str, condition: &str) -> bool {
    let text = format!("{prelude}\n#if {condition}\ntypedef long Yes;\n#else\ntypedef long No;\n#endif\n");
    let specification = accepted(&text);
    assert_ne!(
        specification.find("Yes").is_some(),
        specification.find("No").is_some(),
        "{text}"
    );
    specification.find("Yes").is_some()
}

#[test]
fn conditions() {
    for condition in [
        "1",
        "0x10 == 16 && 010 == 8",
        "(2 + 3) * 4 == 20",
        "defined(A) && !defined B",
        "A == 7",
        "UNKNOWN == 0",
        "!(A < 3) || 1 / 0",
        "0 && 1 / 0 || 1",
        "A ? 1 : 0",
        "-1 < 0",
        "'a' == 97",
        "__PUNCTUAL_IDL__",
    ] {
        assert!(holds("#define A 7", condition), "{condition}");
    }
    for condition in ["0", "defined(B)", "A != 7", "1 > 2", "~0 == 0"] {
        assert!(!holds("#define A 7", condition), "{condition}");
    }
}

#[test]
fn nested_conditionals_take_one_branch() {
    let specification = accepted(
        "#define TWO\n\
         #ifdef ONE\n  typedef long A;\n  # if 1\n typedef long B;\n # endif\n\
         #elif defined(TWO)\n  #ifndef ONE\n typedef long C;\n #else\n typedef long D;\n #endif\n\
         #elif 1\n typedef long E;\n\
         #else\n typedef long F;\n#endif\n",
    );
    let names: Vec<&str> = specification
        .definitions
        .iter()
        .map(|definition| definition.name.as_str())
        .collect();
    assert_eq!(names, ["C"]);
}

#[test]
fn what_is_skipped_need_not_be_idl() {
    accepted("#if 0\nit's not IDL: $ \" 08\n#include \"nowhere\"\n#unknown\n#endif\ntypedef long T;");
}

#[test]
fn macros_are_replaced() {
    accepted(
        "#define NAME Thing\n#define TYPE sequence<NAME, 2 * SIZE>\n#define SIZE 3\n\
         struct NAME { long a; };\ntypedef TYPE Things;\n\
         #define CONST(type, name, value) const type name = value\n\
         #define TWICE(x) ((x) + (x))\n\
         CONST(long, a, TWICE(4, ));\n"
            .replace("4, ", "4")
            .as_str(),
    );
    // A macro does not expand within itself, and a name without arguments is not a use of a function-like
    // macro.
    let specification =
        accepted("#define T T\n#define F(x) x\ntypedef long T;\ntypedef T F;\nstruct S { F(T) a; };\n");
    assert!(specification.find("F").is_some());
    accepted("#define A(x) typedef long x;\nA(\n  B // remark\n)\n#undef A\ntypedef long A;\n");
}

/// The value of a constant of type `string`.
fn text_of(text: &str, name: &str) -> String {
    match &accepted(text).find(name).unwrap().kind {
        DefinitionKind::Constant(constant) => match &constant.value {
            ConstantValue::String(text) => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn macros_join_tokens() {
    let specification = accepted(
        "#define JOIN(a, b) a##b\n#define JOINED(a, b) JOIN(a, b)\n#define N 3\n#define LETTERS ab ## cd\n\
         typedef long JOIN(T, N);\ntypedef long JOINED(T, N);\ntypedef long LETTERS;\n\
         typedef sequence<long JOIN(,>) EMPTY;\n\
         const wstring w = JOIN(L, \"wide\");\nconst long n = 1 JOIN(<, <) 4;\n\
         #define THREE(a, b, c) a ## b ## c\n\
         typedef long THREE(x, , z);\ntypedef long THREE(, , y) THREE(,,);\n",
    );
    for name in ["TN", "T3", "abcd", "EMPTY", "w", "n", "xz", "y"] {
        assert!(specification.find(name).is_some(), "{name}");
    }
}

#[test]
fn macros_make_strings_of_their_arguments() {
    let value = |expression: &str| {
        let text = format!(
            "#define TEXT(x) #x\n#define EXPANDED(x) TEXT(x)\n#define N 3 +  4\n\
             #define REST(...) #__VA_ARGS__\n\
             const string s = {expression};\n"
        );
        text_of(&text, "s")
    };
    assert_eq!(value("TEXT(N)"), "N");
    assert_eq!(value("EXPANDED(N)"), "3 + 4");
    assert_eq!(
        value("TEXT(  a::b  /* c */ + \"x\\n\" '\\'' )"),
        "a::b + \"x\\n\" '\\''"
    );
    assert_eq!(value("TEXT()"), "");
    assert_eq!(value("TEXT((a, b)) TEXT(c)"), "(a, b)c");
    assert_eq!(value("REST(a, b,c)"), "a, b,c");
    assert_eq!(value("REST()"), "");
}

#[test]
fn macros_take_any_number_of_arguments() {
    let specification = accepted(
        "#define ENUM(name, ...) enum name { __VA_ARGS__ }\n#define ALL(...) __VA_ARGS__\n\
         #define NAMED(name, rest...) enum name { first_##name, ## rest }\n\
         ENUM(E, a, b, c);\nALL(struct T { long a, b; };)\nNAMED(F);\nNAMED(G, x, y);\n",
    );
    let count = |name: &str| {
        specification
            .enumerators(specification.find(name).unwrap().id)
            .len()
    };
    assert_eq!([count("E"), count("F"), count("G")], [3, 1, 3]);
    assert!(specification.find("T").is_some());
}

#[test]
fn places_are_macros() {
    assert_eq!(text_of("const string s = __FILE__;", "s"), "test.idl");
    let lines = "#define HERE __LINE__\n/*\n*/ const long a = __LINE__;\nconst long b = HERE; const long c\n\
                 = HERE;\n#if __LINE__ != 6 || !defined(__FILE__)\n#error wrong\n#endif\n#line 77 \"other\"\n\
                 const long d = __LINE__;\n#define ID(a, b) a##b\n#define UNIQUE(a, b) ID(a, b)\n\
                 typedef long UNIQUE(T, __LINE__);\n";
    let specification = accepted(lines);
    for (name, line) in [("a", 3), ("b", 4), ("c", 5), ("d", 10)] {
        match &specification.find(name).unwrap().kind {
            DefinitionKind::Constant(constant) => assert_eq!(constant.value, ConstantValue::Long(line)),
            other => panic!("{other:?}"),
        }
    }
    assert!(specification.find("T13").is_some());
    let outcome = with_files(
        &Options::default(),
        &[
            ("main.idl", "#include \"sub.idl\"\nconst string a = __FILE__;\n"),
            ("sub.idl", "const string b = __FILE__;\n"),
        ],
    );
    assert_eq!(findings(&outcome), Vec::<String>::new());
}

#[test]
fn macros_from_the_options() {
    let options = Options {
        defines: vec![("SIZE".into(), "4 + 1".into())],
        ..Options::default()
    };
    let outcome = compile_text(
        "test.idl",
        "#ifdef SIZE\ntypedef long T[SIZE];\n#endif\ntypedef T U;\n",
        &options,
    );
    assert_eq!(findings(&outcome), Vec::<String>::new());
}

#[test]
fn a_line_may_be_continued() {
    accepted(
        "#define LONG \\\n  long\ntypedef \\\r\n LONG T;\n// a comment \\\n that goes on\nconst string s = \"a\\\nb\";\n",
    );
}

#[test]
fn includes_search_beside_the_file_and_then_the_directories() {
    let options = Options {
        include_dirs: vec!["inc".into(), "more".into()],
        ..Options::default()
    };
    let outcome = with_files(
        &options,
        &[
            (
                "src/main.idl",
                "#include \"near.idl\"\n#include <far.idl>\n#define LAST <last.idl>\n#include LAST\ntypedef Near A;\ntypedef Far B;\ntypedef Last C;\n",
            ),
            ("src/near.idl", "typedef long Near;\n"),
            ("src/far.idl", "#error angle brackets do not search here\n"),
            ("inc/near.idl", "#error the file beside comes first\n"),
            ("more/far.idl", "#include \"sub/other.idl\"\ntypedef Other Far;\n"),
            ("more/sub/other.idl", "typedef long Other;\n"),
            ("inc/last.idl", "typedef long Last;\n"),
        ],
    );
    assert_eq!(findings(&outcome), Vec::<String>::new());
    let names: Vec<&str> = outcome.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "src/main.idl",
            "src/near.idl",
            "more/far.idl",
            "more/sub/other.idl",
            "inc/last.idl"
        ]
    );
}

#[test]
fn errors_point_into_the_file_that_has_them() {
    let outcome = with_files(
        &Options::default(),
        &[
            (
                "main.idl",
                "#define BAD Missing\n#include \"sub.idl\"\n\ntypedef  BAD T;\n",
            ),
            ("sub.idl", "\n  #error from within\n"),
        ],
    );
    assert_eq!(findings(&outcome), ["IDL0008 sub.idl:2:3"]);
    let outcome = with_files(
        &Options::default(),
        &[
            (
                "main.idl",
                "#include \"sub.idl\"\n#define BAD Missing\ntypedef  BAD T;\n",
            ),
            ("sub.idl", "typedef x y;\n"),
        ],
    );
    assert_eq!(findings(&outcome), ["IDL0040 3:10", "IDL0040 sub.idl:1:9"]);
}

#[test]
fn guarded_files_may_include_each_other() {
    let guarded = |name: &str, other: &str| {
        format!("#ifndef {name}\n#define {name}\n#include \"{other}.idl\"\ntypedef long T{name};\n#endif\n")
    };
    let outcome = with_files(
        &Options::default(),
        &[("a.idl", &guarded("a_", "b")), ("b.idl", &guarded("b_", "a"))],
    );
    assert_eq!(findings(&outcome), Vec::<String>::new());
    assert_eq!(outcome.files.len(), 2);
}

#[test]
fn an_include_cycle_is_one_error() {
    let text = "#include \"a.idl\"\n#include \"a.idl\"\n";
    let outcome = with_files(&Options::default(), &[("a.idl", text)]);
    assert_eq!(findings(&outcome), ["IDL0003 1:1"]);
}

#[test]
fn includes_are_counted() {
    // Each level includes the next one twice: 2^12 in all, without any token.
    let options = Options {
        limits: Limits {
            includes: 1000,
            ..Limits::default()
        },
        ..Options::default()
    };
    let mut loader = MemoryLoader::new().with("12", "");
    for level in 0..12 {
        loader = loader.with(
            level.to_string(),
            format!("#include \"{0}\"\n#include \"{0}\"\n", level + 1),
        );
    }
    let outcome = compile("0", &options, &loader);
    assert_eq!(outcome.diagnostics.len(), 1, "{:?}", findings(&outcome));
    assert_eq!(outcome.diagnostics[0].code, punctual_idl::Code::IncludeDepth);
}

#[test]
fn unreadable_files() {
    struct Locked(RefCell<Vec<PathBuf>>);
    impl SourceLoader for Locked {
        fn load(&self, path: &Path, _: usize) -> io::Result<String> {
            self.0.borrow_mut().push(path.to_owned());
            match path.to_str() {
                Some("main.idl") => Ok("#include \"locked.idl\"\n".into()),
                _ => Err(io::ErrorKind::PermissionDenied.into()),
            }
        }
    }
    let locked = Locked(RefCell::default());
    assert_eq!(
        findings(&compile("main.idl", &Options::default(), &locked)),
        ["IDL0001 1:1"]
    );
    assert_eq!(
        *locked.0.borrow(),
        [PathBuf::from("main.idl"), PathBuf::from("locked.idl")]
    );
    assert_eq!(
        findings(&compile("other.idl", &Options::default(), &locked)),
        ["IDL0001"]
    );
}

#[test]
fn comments_above_document() {
    let specification = accepted(
        "// A licence.\n\n\
         /// The module.\n/// Second line.\nmodule M {\n\
         #pragma nothing\n\
         /** A struct.\n  * With a star.\n  */\nstruct S {\n  // The member.\n  long a; // trailing\n\
         \x20 long b;\n};\n\
         enum E {\n // First.\n x,\n y };\n\
         interface I {\n  // Does it.\n  void f(\n    // The value.\n    in long v);\n\n  // Far away.\n\n\
         \x20 void g();\n};\n};\n",
    );
    let doc = |name: &str| specification.find(name).unwrap().doc.clone();
    assert_eq!(doc("M"), "The module.\nSecond line.");
    assert_eq!(doc("M::S"), "A struct.\nWith a star.");
    use punctual_idl::hir::DefinitionKind::{Enum, Interface, Struct};
    match &specification.find("M::S").unwrap().kind {
        Struct(found) => {
            assert_eq!(found.members[0].doc, "The member.\ntrailing");
            assert_eq!(found.members[1].doc, "");
        }
        other => panic!("{other:?}"),
    }
    match &specification.find("M::E").unwrap().kind {
        Enum(found) => assert_eq!(
            (
                found.enumerators[0].doc.as_str(),
                found.enumerators[1].doc.as_str()
            ),
            ("First.", "")
        ),
        other => panic!("{other:?}"),
    }
    match &specification.find("M::I").unwrap().kind {
        Interface(found) => {
            assert_eq!(found.operations[0].doc, "Does it.");
            assert_eq!(found.operations[0].parameters[0].doc, "The value.");
            assert_eq!(found.operations[1].doc, "");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn comments_behind_document_what_ends_there() {
    let specification = accepted(
        "struct S {\n  long a; // Metres,\n          // above the sea.\n  long b; ///< Seconds.\n  \
         // Of c.\n  long c; /* Volts. */\n  /* no */ long /* remark */ d;\n  // Behind d.\n};\n\
         enum E {\n  x, // First.\n  y // Last.\n};\n\
         interface I {\n  void f(in long p, // One.\n         in long q); // Both.\n  // And more.\n\n  \
         void g();\n  // Of h.\n  void h();\n  // After h.\n  // Still.\n\n  // Apart.\n\n  \
         attribute long k; // Of k.\n}; // end of I\n\
         typedef long T; // A number.\n#if 0\ntypedef long U; // Not of T.\n#endif // nothing\n",
    );
    use punctual_idl::hir::DefinitionKind::{Enum, Interface, Struct};
    let Struct(found) = &specification.find("S").unwrap().kind else {
        panic!("no struct");
    };
    let docs: Vec<&str> = found.members.iter().map(|member| &*member.doc).collect();
    let above = "Metres,\nabove the sea.";
    assert_eq!(docs, [above, "Seconds.", "Of c.\nVolts.", "no\nBehind d."]);
    let Enum(found) = &specification.find("E").unwrap().kind else {
        panic!("no enum");
    };
    let docs: Vec<&str> = found.enumerators.iter().map(|of| &*of.doc).collect();
    assert_eq!(docs, ["First.", "Last."]);
    let interface = specification.find("I").unwrap();
    assert_eq!(interface.doc, "");
    let Interface(found) = &interface.kind else {
        panic!("no interface");
    };
    let docs: Vec<&str> = found.operations.iter().map(|of| &*of.doc).collect();
    assert_eq!(docs, ["Both.\nAnd more.", "", "Of h.\nAfter h.\nStill."]);
    let parameters = &found.operations[0].parameters;
    assert_eq!([&*parameters[0].doc, &*parameters[1].doc], ["One.", ""]);
    assert_eq!(found.attributes[0].doc, "Of k.");
    assert_eq!(specification.find("T").unwrap().doc, "A number.");
}

#[test]
fn comments_behind_braces_document_what_they_enclose() {
    let specification = accepted(
        "struct S { long a; }; // Of S.\ninterface I { }; // Of I,\n                 // still.\n\
         exception X { long q; // Of q.\n}; /* Of X. */\n\
         valuetype V { // Of V.\n  public long a;\n}; // End of V\n\
         // Above M.\nmodule M { // Of M.\n  // Of K.\n  const long K = 1;\n}; ///< Behind M.\n// Apart.\n\n\
         enum E { a }; // enum E\ninterface J : I { // Apart: J : I\n  // Section\n\n  void f();\n};\n",
    );
    for (name, doc) in [
        ("S", "Of S."),
        ("I", "Of I,\nstill."),
        ("X", "Of X."),
        ("V", "Of V."),
        ("M", "Above M.\nOf M.\nBehind M."),
        ("M::K", "Of K."),
        ("E", ""),
        ("J", "Apart: J : I"),
    ] {
        assert_eq!(specification.find(name).unwrap().doc, doc, "{name}");
    }
}

#[test]
fn each_declarator_has_the_comments_behind_it() {
    let specification = accepted(
        "enum E { x /**< X. */, y /**< Y. */, z ///< Z.\n};\n\
         interface I {\n  // All.\n  attribute long d, // D.\n                 e; // E.\n\
         readonly attribute long f, g; // Both.\n};\n\
         struct S {\n  long a /**< A. */, b; /**< B. */\n\
         \x20 long c, d, // C and D.\n    // Above.\n    e[2]; ///< E.\n\
         long f; long g; // G.\n  ///< More.\n\n  ///< Still.\n};\n\
         typedef long T, // T.\n  U; // U.\n\
         union W switch (long) { case 1: // One.\n  long a; };\n",
    );
    use punctual_idl::hir::DefinitionKind::{Enum, Interface, Struct, Union};
    let Enum(found) = &specification.find("E").unwrap().kind else {
        panic!("no enum");
    };
    let docs: Vec<&str> = found.enumerators.iter().map(|of| &*of.doc).collect();
    assert_eq!(docs, ["X.", "Y.", "Z."]);
    let Interface(found) = &specification.find("I").unwrap().kind else {
        panic!("no interface");
    };
    let docs: Vec<&str> = found.attributes.iter().map(|of| &*of.doc).collect();
    assert_eq!(docs, ["All.\nD.", "All.\nE.", "Both.", "Both."]);
    let Struct(found) = &specification.find("S").unwrap().kind else {
        panic!("no struct");
    };
    let docs: Vec<&str> = found.members.iter().map(|of| &*of.doc).collect();
    let (both, last) = ("C and D.", "G.\nMore.\nStill.");
    assert_eq!(docs, ["A.", "B.", both, both, "Above.\nE.", "", last]);
    assert_eq!(specification.find("T").unwrap().doc, "T.");
    assert_eq!(specification.find("U").unwrap().doc, "U.");
    let Union(found) = &specification.find("W").unwrap().kind else {
        panic!("no union");
    };
    assert_eq!(found.cases[0].member.doc, "One.");
}

#[test]
fn a_forward_declarations_comment_is_not_that_of_the_definition() {
    let specification = accepted("// Declared below.\ninterface I;\n\ninterface I {};\n");
    assert_eq!(specification.find("I").unwrap().doc, "");
    let specification = accepted("// Forward.\ninterface I;\n\n// The real one.\ninterface I {};\n");
    assert_eq!(specification.find("I").unwrap().doc, "The real one.");
}

#[test]
fn unknown_pragmas_and_line_markers_are_ignored() {
    assert_eq!(
        findings(&outcome(
            "#pragma hdrstop\n#pragma\n#\n# 12 \"x.idl\"\n#line 3\n#ident \"version 2\"\ntypedef long T;"
        )),
        Vec::<String>::new()
    );
}
