//! Tests of the formatter, also with all IDL files of the repository.

use std::{fs, path::Path};

use super::{
    format,
    pieces::{Kind, split},
    squeezed,
};

/// Texts of tokens, comments and directives, without white space inside.
fn pieces(text: &str) -> Vec<(Kind, String)> {
    let pieces = split(text).unwrap().into_iter();
    pieces.map(|piece| (piece.kind, squeezed(piece.text))).collect()
}

fn check(text: &str) -> String {
    let formatted = format(text).unwrap();
    assert_eq!(pieces(text), pieces(&formatted), "{formatted}");
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
fn what_is_not_closed_is_reported() {
    for (text, line) in [
        ("\n/* x", 2),
        ("const char c = 'x;\n", 1),
        ("\n\nconst string s = \"x", 3),
    ] {
        let error = format(text).unwrap_err();
        assert_eq!(error.line, line, "{text}");
    }
    assert_eq!(check(""), "");
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
const TEXTS: &str = "([a-z]{1,3}|[{};:,()<>@=-]|::|//x\n|/\\*x\\*/|\"s\"|#d\n| |\n){0,60}";

proptest::proptest! {
    #[test]
    fn no_text_panics_or_loses_a_piece(text in TEXTS) {
        if split(&text).is_ok() {
            proptest::prop_assert_eq!(pieces(&text), pieces(&format(&text).unwrap()));
        }
    }
}
