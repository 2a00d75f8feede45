//! No input makes the front end panic, overflow its stack or run without end.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use punctual_fixtures::Folder;
use punctual_idl::{
    Code, FileLoader, Limits, MemoryLoader, Options, Outcome, SourceLoader as _, compile, compile_text,
};

use super::support::outcome;

const MANY: usize = 10_000;

fn codes(outcome: &Outcome) -> Vec<Code> {
    outcome
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

#[test]
fn deep_nesting_is_one_diagnostic() {
    let deep = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(MANY), close.repeat(MANY))
    };
    let modules: String = (0..MANY).map(|level| format!("module M{level} {{ ")).collect();
    let chain = |link: &str| {
        let mut text = String::from("typedef long T0;\n");
        for level in 1..MANY {
            let link = link.replace("{before}", &(level - 1).to_string());
            text += &link.replace("{level}", &level.to_string());
        }
        text
    };
    for text in [
        format!("const long x = {};", deep("(", "1", ")")),
        format!("typedef {} T;", deep("sequence<", "long", ">")),
        format!("{modules}typedef long T;{}", "};".repeat(MANY)),
        format!("struct T {{ {} }};", deep("struct S { ", "long a;", " } b;")),
        deep("union U switch (long) { case 1: ", "long x;", " };"),
        modules.clone(),
        "union U switch(".repeat(MANY),
        "struct S { ".repeat(MANY),
        format!("typedef long T{};", "[2]".repeat(MANY)),
        format!("struct S {{ long a{}; }};", "[2]".repeat(MANY)),
        chain("typedef T{before} T{level}[1];"),
        chain("typedef sequence<T{before}> T{level};"),
    ] {
        assert_eq!(codes(&outcome(&text)), [Code::NestingTooDeep], "{}", &text[..40]);
    }
}

/// No program can hold them, and `rustc` refuses their types.
#[test]
fn arrays_of_more_than_2_gib_are_refused() {
    for (text, expected) in [
        (
            "typedef long T[4294967295][4294967295][4294967295];",
            vec![Code::LimitExceeded],
        ),
        ("typedef octet T[2147483648];", vec![]),
        ("typedef octet T[2147483649];", vec![Code::LimitExceeded]),
        (
            "typedef octet T[65536]; typedef T U[65536];",
            vec![Code::LimitExceeded],
        ),
        (
            "struct S { double a[65536]; }; struct T { S b[65536]; };",
            vec![Code::LimitExceeded],
        ),
        (
            "struct S; typedef sequence<S> Q; struct S { Q a; double b[65536]; }; typedef S T[65536];",
            vec![Code::LimitExceeded],
        ),
        (
            "union U switch (boolean) { case TRUE: octet a[65536]; }; typedef U T[32769];",
            vec![Code::LimitExceeded],
        ),
        (
            "typedef sequence<octet, 4294967295> Q; typedef Q T[1000];",
            vec![],
        ),
    ] {
        assert_eq!(codes(&outcome(text)), expected, "{text}");
    }
}

#[test]
fn deep_conditions_are_one_diagnostic() {
    for text in ["(", "!", "-", "1 ? "] {
        let text = format!("#if {}1\n#endif\n", text.repeat(MANY));
        assert_eq!(codes(&outcome(&text)), [Code::BadCondition]);
    }
}

#[test]
fn long_chains_need_no_stack() {
    let sum = format!("const long x = {}1;", "1 + ".repeat(MANY * 10));
    assert_eq!(codes(&outcome(&sum)), []);
    let mut text = String::from("struct S0 { long x; }; interface I0 { void f(); };\n");
    for index in 1..MANY {
        text += &format!(
            "struct S{index} {{ S{} x; }}; typedef S{index} T{index};\n",
            index - 1
        );
    }
    let outcome = outcome(&text);
    assert_eq!(codes(&outcome), []);
    let specification = outcome.specification.unwrap();
    let last = specification.find(&format!("T{}", MANY - 1)).unwrap().id;
    assert!(!specification.is_variable_length(&punctual_idl::hir::Type::Ref(last)));
    assert!(!specification.is_recursive(last));
}

#[test]
fn macros_that_multiply_are_stopped() {
    let options = Options {
        limits: Limits {
            tokens: 10_000,
            ..Limits::default()
        },
        ..Options::default()
    };
    let mut text: String = (0..40)
        .map(|level| format!("#define A{level} A{0} A{0}\n", level + 1))
        .collect();
    text += "#define A40\nA0\n";
    assert_eq!(
        codes(&compile_text("test.idl", &text, &options)),
        [Code::LimitExceeded]
    );
    let chain: String = (0..MANY)
        .map(|level| format!("#define A{level} A{}\n", level + 1))
        .collect();
    assert_eq!(codes(&outcome(&format!("{chain}A0"))), [Code::LimitExceeded]);
}

/// Every level doubles the text that `#` and `##` make, or the arguments.
#[test]
fn macros_that_make_tokens_are_stopped() {
    let nested = |name: &str, argument: &str| {
        let levels = 30;
        format!(
            "{}{argument}{}",
            format!("{name}(").repeat(levels),
            ")".repeat(levels)
        )
    };
    for (macros, text) in [
        (
            "#define JOIN(x) JOINED(x)\n#define JOINED(x) x##x\n",
            nested("JOIN", "ab"),
        ),
        (
            "#define TEXT(x) QUOTED(x)\n#define QUOTED(x) #x\n",
            nested("TEXT", "\"\\\\\""),
        ),
        (
            "#define TWICE(...) AGAIN(__VA_ARGS__, __VA_ARGS__)\n#define AGAIN(...) __VA_ARGS__\n",
            nested("TWICE", "ab"),
        ),
    ] {
        let found = codes(&outcome(&format!("{macros}typedef long {text};")));
        assert!(found.contains(&Code::LimitExceeded), "{macros}{found:?}");
    }
    // A long literal needs no more stack than a short one.
    let literal = format!("const string s = \"{}\";", "\\\\".repeat(MANY * 100));
    assert_eq!(codes(&outcome(&literal)), []);
    let lines = "__LINE__ __FILE__\n".repeat(MANY * 10);
    assert_eq!(codes(&outcome(&format!("#define X(...)\nX({lines})"))), []);
    // Each parameter of the body is found without a search through all of them.
    let names: Vec<String> = (0..MANY * 5).map(|number| format!("p{number}")).collect();
    let (names, body) = (names.join(","), names.join("##"));
    let many = format!(
        "#define X({names}) {body}\ntypedef long X({});",
        ",".repeat(MANY * 5 - 1) + "a"
    );
    assert_eq!(codes(&outcome(&many)), []);
    let commas = ",".repeat(MANY * 10);
    assert_eq!(codes(&outcome(&format!("#define X(a, ...)\nX({commas})"))), []);
}

/// Decimals of any length, and exponents of any size.
#[test]
fn long_decimals_are_bounded() {
    let digits = "7".repeat(MANY * 100);
    for (literal, found) in [
        (format!("{digits}."), vec![Code::NumberTooLarge]),
        (format!("{digits}.e-{}", MANY * 100), vec![]),
        (format!(".{digits}e{digits}"), vec![Code::NumberTooLarge]),
        (format!("{digits}.{digits}e-{digits}"), vec![]),
    ] {
        assert_eq!(
            codes(&outcome(&format!("const long double x = {literal};"))),
            found
        );
    }
}

#[test]
fn skipped_text_counts_too() {
    let options = Options {
        limits: Limits {
            tokens: 1000,
            ..Limits::default()
        },
        ..Options::default()
    };
    let again = format!(
        "#ifdef X\n#else\n#include \"test.idl\"\n#endif\n{}",
        "\n".repeat(1000)
    );
    assert_eq!(
        codes(&compile_text("test.idl", &again, &options)),
        [Code::LimitExceeded]
    );
    let deep = "#if 1\n".repeat(MANY) + "typedef long T;\n" + &"#endif\n".repeat(MANY);
    assert_eq!(codes(&outcome(&deep)), []);
}

#[test]
fn limits_are_settings() {
    let with = |limits: Limits, text: &str| {
        codes(&compile_text(
            "test.idl",
            text,
            &Options {
                limits,
                ..Options::default()
            },
        ))
    };
    let text = "interface A {}; interface B : A {}; interface C : B {};";
    assert_eq!(
        with(
            Limits {
                bases: 1,
                ..Limits::default()
            },
            text
        ),
        [Code::LimitExceeded]
    );
    assert_eq!(
        with(
            Limits {
                bases: 2,
                ..Limits::default()
            },
            text
        ),
        []
    );
    assert_eq!(
        with(
            Limits {
                file_bytes: 10,
                ..Limits::default()
            },
            text
        ),
        [Code::LimitExceeded]
    );
    assert_eq!(
        with(
            Limits {
                nesting: 3,
                ..Limits::default()
            },
            "typedef sequence<sequence<long>> T;"
        ),
        [Code::NestingTooDeep]
    );
}

/// Compiles a file that includes `path`, in a thread of its own: reading must not wait or go on forever.
fn including(path: &Path) -> Vec<Code> {
    let name = path.file_name().unwrap().display();
    let folder = Folder::new(&format!("idl-including-{name}"));
    let main = folder.join("main.idl");
    fs::write(&main, format!("#include \"{}\"\n", path.display())).unwrap();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let outcome = compile(&main, &Options::default(), &FileLoader::new());
        let longest = outcome.files.iter().map(|file| file.text.len()).max();
        send.send((codes(&outcome), longest)).unwrap();
    });
    let (codes, longest) = receive
        .recv_timeout(Duration::from_secs(30))
        .expect("the compiler reads without end");
    assert!(longest.unwrap() < 1 << 20, "{longest:?}");
    codes
}

#[test]
fn only_regular_files_are_included() {
    let folder = Folder::new("idl-pipe");
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(including(&pipe), [Code::UnreadableFile]);
    assert_eq!(including(Path::new("/dev/zero")), [Code::UnreadableFile]);
}

/// The loader examines what it has opened, not what the path names before or afterwards.
#[test]
fn a_pipe_that_takes_the_place_of_a_file_is_not_read() {
    let folder = Folder::new("idl-swapped");
    let [file, pipe, aside] = ["file", "pipe", "aside"].map(|name| folder.join(name));
    fs::write(&file, "// text").unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (send, receive) = mpsc::channel();
    let path = file.clone();
    std::thread::spawn(move || {
        for _ in 0..20_000 {
            assert_ne!(FileLoader::new().load(&path, 64).ok().as_deref(), Some(""));
        }
        send.send(()).unwrap();
    });
    let deadline = Instant::now() + Duration::from_secs(30);
    while receive.try_recv().is_err() {
        assert!(Instant::now() < deadline, "the loader waits for a pipe");
        for (from, to) in [(&file, &aside), (&pipe, &file), (&file, &pipe), (&aside, &file)] {
            fs::rename(from, to).unwrap();
        }
    }
}

#[test]
fn no_more_of_a_file_is_read_than_the_limit() {
    let folder = Folder::new("idl-endless");
    let path = folder.join("endless.idl");
    // No disk has room for this file; it consists of holes.
    File::create(&path).unwrap().set_len(1 << 42).unwrap();
    assert_eq!(including(&path), [Code::LimitExceeded]);
}

#[test]
fn the_limit_on_all_files_counts_each_path() {
    let mut loader = MemoryLoader::new();
    let mut main = String::new();
    for file in 0..10 {
        loader = loader.with(file.to_string(), format!("//{}\n", "/".repeat(97)));
        main += &format!("#include \"{file}\"\n");
    }
    let compiled = |total_bytes| {
        let limits = Limits {
            total_bytes,
            ..Limits::default()
        };
        let options = Options {
            limits,
            ..Options::default()
        };
        codes(&compile(
            "main.idl",
            &options,
            &loader.clone().with("main.idl", &*main),
        ))
    };
    assert_eq!(compiled(main.len() + 1000), []);
    assert_eq!(compiled(main.len() + 999), [Code::LimitExceeded]);
}

/// Words and signs of which nearly correct specifications are made.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "module",
        "interface",
        "struct",
        "union",
        "switch",
        "case",
        "default",
        "enum",
        "typedef",
        "const",
        "exception",
        "sequence",
        "string",
        "long",
        "unsigned",
        "octet",
        "any",
        "Object",
        "fixed",
        "void",
        "oneway",
        "in",
        "out",
        "raises",
        "attribute",
        "readonly",
        "valuetype",
        "abstract",
        "custom",
        "factory",
        "public",
        "supports",
        "native",
        "component",
        "home",
        "manages",
        "provides",
        "uses",
        "porttype",
        "connector",
        "import",
        "typeid",
        "typeprefix",
        "alias",
        "typename",
        "eventtype",
        "TRUE",
        "A",
        "B",
        "_C",
        "a",
        "{",
        "}",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        ">>",
        "<<",
        "[",
        "]",
        ";",
        ";",
        ";",
        ":",
        "::",
        ",",
        "=",
        "+",
        "-",
        "~",
        "*",
        "/",
        "%",
        "1",
        "0",
        "2.5",
        "3d",
        "'c'",
        "\"s\"",
        "L\"w\"",
        "\n#define A B\n",
        "\n#define B(a) A a\n",
        "\n#undef A\n",
        "\n#if A\n",
        "\n#else\n",
        "\n#endif\n",
        "\n#include \"test.idl\"\n",
        "\n#pragma prefix \"p\"\n",
        "\n#pragma version A 1.1\n",
        "\n#pragma ID A \"IDL:x:1.0\"\n",
        "// note\n",
        "/** doc */",
        "/*",
        "\\\n",
        "é",
        "\"",
        "'",
        "#",
        "##",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nearly_idl_is_answered(fragments in prop::collection::vec(fragment(), 0..120)) {
        check(&fragments.join(" "));
    }
}

/// Every text is either accepted or refused with a reason, and every place lies in its file.
fn check(text: &str) {
    let limits = Limits {
        include_depth: 5,
        includes: 40,
        tokens: 20_000,
        ..Limits::default()
    };
    let outcome = compile_text(
        "test.idl",
        text,
        &Options {
            limits,
            ..Options::default()
        },
    );
    assert!(outcome.specification.is_some() || !outcome.diagnostics.is_empty());
    for label in outcome
        .diagnostics
        .iter()
        .flat_map(|diagnostic| &diagnostic.labels)
    {
        let file = &outcome.files[label.span.file as usize];
        assert!(
            file.text
                .get(label.span.start as usize..label.span.end as usize)
                .is_some(),
            "{label:?}"
        );
    }
}
