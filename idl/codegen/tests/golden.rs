//! What is generated, word by word, for one interface; and that everything generated is Rust.
//!
//! `PUNCTUAL_BLESS=1 cargo test -p punctual-codegen --test golden` takes the present output for right: read
//! the difference first.

use std::{env, fs, path::Path};

use punctual_codegen::{Settings, generate};
use punctual_idl::{FileLoader, Options};

fn generated(idl: &Path) -> String {
    let include_dirs = vec![idl.parent().expect("a file is in a folder").join("include")];
    let defines = vec![(String::from("WITH_LIMITS"), String::from("1"))];
    let options = Options {
        include_dirs,
        defines,
        ..Options::default()
    };
    let outcome = punctual_idl::compile(idl, &options, &FileLoader::new());
    let specification = outcome
        .specification
        .unwrap_or_else(|| panic!("{idl:?}: {:#?}", outcome.diagnostics));
    generate(&specification, &Settings::default()).unwrap()
}

fn idl_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/generated/idl"))
}

#[test]
fn the_cubit_is_generated_word_by_word() {
    let golden = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/cubit.rs"));
    let actual = generated(&idl_folder().join("cubit.idl"));
    if env::var_os("PUNCTUAL_BLESS").is_some() {
        fs::write(golden, &actual).unwrap();
    }
    let expected = fs::read_to_string(golden).unwrap();
    let difference = expected
        .lines()
        .zip(actual.lines())
        .position(|(expected, actual)| expected != actual);
    if let Some(line) = difference {
        let (expected, actual) = (expected.lines().nth(line), actual.lines().nth(line));
        panic!(
            "line {}: expected {expected:?}, generated {actual:?}; bless it if it is right",
            line + 1
        );
    }
    assert_eq!(expected.len(), actual.len());
}

#[test]
fn all_output_is_rust_without_unsafe_code() {
    let mut seen = 0;
    for entry in fs::read_dir(idl_folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "idl") {
            let rust = generated(&path);
            syn::parse_file(&rust).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert!(
                !rust.contains("unsafe {") && !rust.contains("unsafe impl"),
                "{path:?}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} files");
}

/// Each struct holds the one before twice: what is known of a type must not be worked out again for each use.
#[test]
fn types_that_share_parts_are_generated_in_no_time() {
    let mut idl = String::from("struct S0 { long a; };\n");
    for level in 1..=60 {
        idl += &format!("struct S{level} {{ S{} a; S{} b; }};\n", level - 1, level - 1);
    }
    let outcome = punctual_idl::compile_text("ladder.idl", &idl, &Options::default());
    let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
    assert!(rust.contains("const MIN_SIZE: usize = 4611686018427387904;"));
}
