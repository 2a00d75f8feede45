//! Tests of the formatter, also with all IDL files of the repository.

use std::{fs, path::Path};

use super::{
    Unformatted, format,
    pieces::{meaning, split},
};

fn check(text: &str) -> String {
    let formatted = format(text).unwrap();
    assert_eq!(meaning(text), meaning(&formatted), "{formatted}");
    assert_eq!(format(&formatted).unwrap(), formatted, "formatted twice");
    formatted
}

#[test]
fn declarations_comments_and_directives_have_their_places() {
    let text = "\
// Valves.
#include   <orb.idl>


#define LARGE \\
    4
module plant{
/* In front
   * of it. */
const long LIMIT=-(1<<4)+ 2 ; // behind it
typedef sequence<sequence<long>,8> Rows;typedef double Pair[2][3];

enum Colour{red,green};
enum Long{
one, two };
struct Point{double x,y;};
union Value switch(Colour){case red:long a;
case green:default:string b;};
exception Stuck{};
interface Valve:Device,::other::Thing{readonly attribute double position getraises(Stuck);
oneway void note(in string text);
void set(in double part,out Point where,// why
inout plant::Rows rows)raises(Stuck,Broken)context(\"a\");};
};";
    let expected = "\
// Valves.
#include   <orb.idl>

#define LARGE \\
    4
module plant {
    /* In front
     * of it. */
    const long LIMIT = -(1 << 4) + 2; // behind it
    typedef sequence<sequence<long>, 8> Rows;
    typedef double Pair[2][3];

    enum Colour { red, green };
    enum Long {
        one,
        two
    };
    struct Point {
        double x, y;
    };
    union Value switch (Colour) {
        case red: long a;
        case green:
        default: string b;
    };
    exception Stuck {};
    interface Valve : Device, ::other::Thing {
        readonly attribute double position getraises (Stuck);
        oneway void note(in string text);
        void set(in double part, out Point where, // why
                inout plant::Rows rows) raises (Stuck, Broken) context (\"a\");
    };
};
";
    assert_eq!(check(text), expected);
}

#[test]
fn comments_stay_behind_what_they_follow_and_in_front_of_braces() {
    let text = "\
module M { // module
enum Colour { // enum
red /* x */, // red
// about green
green, /* green */ blue // blue
// last
}; // end of enum
enum Two { one, two /* two */ };
enum Three { three
/* last */ };
union U switch (long) { // union
case 1: // one
long a; // a
// end of union
}; // U
interface I { // interface
void f(
// about a
in long a, // a
// about b
in long b /* b */); // f
attribute long q; /* q */ attribute long r; // r
/* in front of the brace */
}; // I
struct Empty { // nothing
};
} // M
; // end of M
// end of file
/* at last */";
    let expected = "\
module M { // module
    enum Colour { // enum
        red /* x */, // red
        // about green
        green, /* green */
        blue // blue
        // last
    }; // end of enum
    enum Two {
        one,
        two /* two */
    };
    enum Three {
        three
        /* last */
    };
    union U switch (long) { // union
        case 1: // one
                long a; // a
        // end of union
    }; // U
    interface I { // interface
        void f(
                // about a
                in long a, // a
                // about b
                in long b /* b */); // f
        attribute long q; /* q */
        attribute long r; // r
        /* in front of the brace */
    }; // I
    struct Empty { // nothing
    };
} // M
        ; // end of M
// end of file
/* at last */
";
    assert_eq!(check(text), expected);
}

#[test]
fn long_lines_are_broken_behind_commas() {
    let parameters: Vec<String> = (0..12)
        .map(|number| format!("in double value_{number}"))
        .collect();
    let text = format!("interface I {{ void take({}); }};", parameters.join(","));
    let formatted = check(&text);
    assert!(formatted.lines().all(|line| line.len() <= 100), "{formatted}");
    assert_eq!(formatted.lines().count(), 5, "{formatted}");
}

#[test]
fn bases_and_declarators_are_broken_too() {
    let names = |of: &str| {
        (0..14)
            .map(|number| format!("{of}_{number}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let (bases, attributes) = (names("Interface"), names("attribute"));
    let text = format!("interface I : {bases} {{ attribute sequence<long> {attributes}; }};");
    let formatted = check(&text);
    assert!(formatted.lines().all(|line| line.len() <= 100), "{formatted}");
    assert_eq!(formatted.lines().count(), 7, "{formatted}");
    let text = format!(
        "interface I {{ void {}(in long a) raises (Stuck, Broken); }};",
        "o".repeat(70)
    );
    let expected = format!(
        "interface I {{\n    void {}(in long a)\n            raises (Stuck, Broken);\n}};\n",
        "o".repeat(70)
    );
    assert_eq!(check(&text), expected);
    let string = format!("const string S = \"{}\";\n", "x".repeat(100));
    assert_eq!(check(&string), string);
}

#[test]
fn tokens_are_those_of_the_compiler() {
    for (text, expected) in [
        ("const float a=.5;", "const float a = .5;\n"),
        ("const float a=1.e+5+.5e-3;", "const float a = 1.e+5 + .5e-3;\n"),
        (
            "typedef sequence<sequence<long> > T;",
            "typedef sequence<sequence<long> > T;\n",
        ),
        ("const wstring a=L\"x\";", "const wstring a = L\"x\";\n"),
        ("\u{feff}module   M {};", "\u{feff}module M {};\n"),
        (
            "// A valve.\r\nmodule   M {\r\n};// here\r\n#define A \\\r\n  4\r\n",
            "// A valve.\r\nmodule M {}; // here\r\n#define A \\\r\n  4\r\n",
        ),
        ("module   M {\n};\r\n", "module M {};\n"),
    ] {
        assert_eq!(check(text), expected);
    }
}

#[test]
fn comments_go_on_as_they_do_for_the_compiler() {
    for (text, expected) in [
        (
            "#ifndef A /* guard\n of this file */\n#define   A\ntypedef   long T;\n#endif /* A\n*/\n",
            "#ifndef A /* guard\n of this file */\n#define   A\ntypedef long T;\n#endif /* A\n*/\n",
        ),
        (
            "/* x */ #define A 1\nconst long a=A;",
            "/* x */\n#define A 1\nconst long a = A;\n",
        ),
        (
            "interface I{}; // a \\\n interface X {};\ninterface J{};\n",
            "interface I {}; // a \\\n interface X {};\ninterface J {};\n",
        ),
        ("// a \\  \ninterface   J {};\n", "// a \\  \ninterface J {};\n"),
        ("// a \\", "// a \\\n\n"),
    ] {
        assert_eq!(check(text), expected);
    }
}

#[test]
fn lines_that_are_no_idl_stay_as_they_are() {
    let text = "#if 0\n  don't   touch\n\"this\n#else\nmodule M{const   long a=1;\n#endif\n};";
    let expected = "#if 0\n  don't   touch\n\"this\n#else\nmodule M {\n    const long a = 1;\n#endif\n};\n";
    assert_eq!(check(text), expected);
    // Outside, it is a mistake.
    let unclosed = Err(Unformatted::Unclosed { line: 3 });
    assert_eq!(format("#if 0\n#endif\ndon't"), unclosed);
}

#[test]
fn what_is_not_closed_is_reported() {
    for (text, line) in [
        ("\n/* x", 2),
        ("const char c = 'x;\n", 1),
        ("\n\nconst string s = \"x", 3),
    ] {
        assert_eq!(format(text), Err(Unformatted::Unclosed { line }), "{text}");
    }
    assert_eq!(check(""), "");
    // At the end of the text it is a character of its own; in front of a line end it is none.
    assert_eq!(format("a \\"), Err(Unformatted::Ambiguous));
}

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "idl") {
            found.push(path);
        }
    }
}

#[test]
fn all_files_of_the_repository_keep_their_meaning() {
    let mut found = Vec::new();
    files(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
        &mut found,
    );
    let mut formatted = 0;
    for path in found {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        if split(&text).is_ok() {
            println!("{}", path.display());
            check(&text);
            formatted += 1;
        }
    }
    assert!(formatted > 20, "{formatted} files");
}

/// Pieces in any order, most of them no IDL.
const TEXTS: &str = "([a-z]{1,3}|[{};:,()<>@=-]|::|//x\n|/\\*x\\*/|/\\*x\n*y\\*/|\"s\"|#d\n|#if 0\n|#endif|'|\
    .5|1.e|\\\\|\\\\\n|//x|#|L|\u{feff}| |\n|\r\n){0,60}";

proptest::proptest! {
    #[test]
    fn no_text_panics_or_loses_a_piece(text in TEXTS) {
        if let Ok(formatted) = format(&text) {
            let [before, after] = [&text, &formatted].map(|text| text.replace("\r\n", "\n"));
            proptest::prop_assert_eq!(meaning(&before), meaning(&after));
            proptest::prop_assert_eq!(format(&formatted).unwrap(), formatted);
        }
    }
}
