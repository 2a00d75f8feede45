//! The generated code for each construct of IDL, word by word; and that all generated code is Rust.
//!
//! `PUNCTUAL_BLESS=1 cargo test -p punctual-codegen --test golden` accepts the present output: read the
//! difference first.

use std::{env, fs, path::Path, time::Instant};

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
    let settings = Settings {
        deferred: vec![String::from("Thinker::think")],
        circular: vec![String::from("Ring")],
        ..Settings::default()
    };
    generate(&specification, &settings).unwrap()
}

/// The code with its lines broken as is usual.
fn formatted(rust: &str) -> String {
    let file = syn::parse_file(rust).unwrap_or_else(|error| panic!("{error}:\n{rust}"));
    let header = &rust[..rust.find("\n\n").map_or(0, |end| end + 2)];
    format!("{header}{}", prettyplease::unparse(&file))
}

fn idl_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/generated/idl"))
}

/// Each `golden/CONSTRUCT.idl` has its generated code beside it.
#[test]
fn each_construct_is_generated_word_by_word() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"));
    let (mut seen, mut different) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let idl = entry.unwrap().path();
        if idl.extension().is_none_or(|extension| extension != "idl") {
            continue;
        }
        seen += 1;
        let (golden, mut actual) = (idl.with_extension("rs"), formatted(&generated(&idl)));
        if idl.ends_with("struct_in_parts.idl") {
            actual = abridged(&actual);
        }
        if env::var_os("PUNCTUAL_BLESS").is_some() {
            fs::write(&golden, &actual).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if expected != actual {
            different.push(first_difference(&golden, &expected, &actual));
        }
    }
    assert!(seen >= 16, "only {seen} constructs");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The code without the lines of members m000 to m599 that neither begin nor end a part of 128.
fn abridged(rust: &str) -> String {
    let is_inside = |line: &&str| {
        let mut names = line
            .match_indices('m')
            .filter_map(|(at, _)| line.get(at + 1..at + 4));
        let number = names.find_map(|digits| digits.parse::<u32>().ok());
        number.is_some_and(|number| !matches!(number % 128, 0 | 127) && number != 599)
    };
    let kept = rust.lines().filter(|line| !is_inside(line));
    kept.map(|line| format!("{line}\n")).collect()
}

fn first_difference(golden: &Path, expected: &str, actual: &str) -> String {
    let mut lines = expected.lines().zip(actual.lines());
    let common = lines.position(|(expected, actual)| expected != actual);
    let line = common.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
    let (expected, actual) = (expected.lines().nth(line), actual.lines().nth(line));
    let file = golden.display();
    format!("{file}:{}: expected {expected:?}, generated {actual:?}", line + 1)
}

#[test]
fn the_built_in_file_is_generated() {
    let idl = "#include <orb.idl>\nlocal interface Mine : CORBA::Policy { CORBA::PolicyList all(); };";
    let outcome = punctual_idl::compile_text("mine.idl", idl, &Options::default());
    let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
    syn::parse_file(&rust).unwrap();
    assert!(rust.contains("pub trait Mine: corba::Policy"), "{rust}");
    assert!(
        rust.contains("pub trait PolicyCurrent: PolicyManager + Current"),
        "{rust}"
    );
}

#[test]
fn a_type_code_is_a_type_code_however_it_is_declared() {
    for declaration in ["", "module CORBA { interface TypeCode; };"] {
        let idl = format!("{declaration} interface I {{ CORBA::TypeCode g(in CORBA::Principal who); }};");
        let outcome = punctual_idl::compile_text("codes.idl", &idl, &Options::default());
        assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
        let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
        assert!(
            rust.contains("TypeCode") && !rust.contains("TypeCodeRef"),
            "{rust}"
        );
        assert!(rust.contains("who: &[u8]"), "{rust}");
    }
}

/// No definition declares `ValueBase`: its number must not be that of another type.
#[test]
fn value_base_is_itself_wherever_it_is_used() {
    let rust = |idl: &str| {
        let outcome = punctual_idl::compile_text("base.idl", idl, &Options::default());
        generate(&outcome.specification.unwrap(), &Settings::default()).unwrap()
    };
    let expected = "::core::option::Option<::punctual::rt::Shared<ValueBase>>";
    let array = rust("typedef ValueBase AA[3];");
    assert!(
        array.contains(&format!("pub type Aa = [{expected}; 3];")),
        "{array}"
    );
    for before in [
        "struct First { long a; };",
        "#include <orb.idl>\n",
        "interface First {};",
    ] {
        let several = rust(&format!(
            "{before} typedef sequence<ValueBase> Vs; struct S {{ ValueBase v; }}; \
             interface I {{ long count(in Vs z, in S one); }};"
        ));
        for part in [
            format!("pub type Vs = ::std::vec::Vec<{expected}>;"),
            format!("pub v: {expected},"),
            format!("z: &[{expected}], one: &S"),
        ] {
            assert!(several.contains(&part), "{before} {part}: {several}");
        }
    }
}

/// A string is compared with each name before its own, octets are not.
#[test]
fn many_operations_are_matched_octet_by_octet() {
    let dispatch = |operations: usize| {
        let all: String = (0..operations)
            .map(|number| format!("void op{number:02}();"))
            .collect();
        let idl = format!("interface I {{{all}}};");
        let outcome = punctual_idl::compile_text("many.idl", &idl, &Options::default());
        generate(&outcome.specification.unwrap(), &Settings::default()).unwrap()
    };
    let (few, many) = (dispatch(8), dispatch(9));
    syn::parse_file(&many).unwrap();
    assert!(few.contains("\"op07\" => serve_op07(servant, upcall)"), "{few}");
    assert!(many.contains("match upcall.operation().as_bytes()"), "{many}");
    assert!(
        many.contains("[b'o', b'p', b'0', b'8'] => serve_op08(servant, upcall)"),
        "{many}"
    );
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

/// Each struct holds the one before twice: the properties of a type must not be computed again for each use.
#[test]
fn the_properties_of_shared_types_are_computed_once() {
    let mut idl = String::from("struct S0 { long a; };\n");
    for level in 1..=60 {
        idl += &format!("struct S{level} {{ S{} a; S{} b; }};\n", level - 1, level - 1);
    }
    let outcome = punctual_idl::compile_text("ladder.idl", &idl, &Options::default());
    let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
    assert!(rust.contains("const MIN_SIZE: usize = 4611686018427387904;"));
}

/// Each struct holds the one before, so that the last one reaches all: the time per struct must not grow with
/// their number.
#[test]
fn the_time_for_a_chain_of_types_is_linear() {
    let chain = |length: usize| {
        let mut idl = String::from("struct S0 { string a; };\n");
        for level in 1..length {
            idl += &format!(
                "typedef S{0} T{level}; struct S{level} {{ T{level} a; S{0} b; }};\n",
                level - 1
            );
        }
        let start = Instant::now();
        let outcome = punctual_idl::compile_text("chain.idl", &idl, &Options::default());
        let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
        assert!(rust.contains(&format!("pub struct S{}View", length - 1)));
        start.elapsed()
    };
    let (short, long) = ((0..3).map(|_| chain(100)).min().unwrap(), chain(1600));
    // Linear: 16 times; quadratic: 256 times.
    assert!(long < short * 80, "{short:?} for 100 types, {long:?} for 1600");
}

/// Each value type has a list of the concrete ones that inherit from it: the time must not grow with the
/// square of their number.
#[test]
fn the_time_for_value_types_is_linear() {
    let values = |chains: usize| {
        let mut idl = String::from("abstract interface Shown {};\n");
        for chain in 0..chains {
            idl += &format!("abstract valuetype V{chain}_0 supports Shown {{}};\n");
            for link in 1..16 {
                let kind = if link < 15 {
                    "abstract valuetype"
                } else {
                    "valuetype"
                };
                idl += &format!("{kind} V{chain}_{link} : V{chain}_{} {{}};\n", link - 1);
            }
        }
        let outcome = punctual_idl::compile_text("values.idl", &idl, &Options::default());
        let start = Instant::now();
        let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
        assert!(rust.contains(&format!("pub struct V{}15", chains - 1)));
        start.elapsed()
    };
    let (short, long) = ((0..3).map(|_| values(10)).min().unwrap(), values(160));
    // Linear: 16 times; quadratic: 256 times.
    assert!(
        long < short * 64,
        "{short:?} for 160 value types, {long:?} for 2560"
    );
}

/// A typedef of a typedef has the lent form and the base of the last one, however many there are.
#[test]
fn long_chains_of_typedefs_need_no_stack() {
    let mut idl = String::from("valuetype V0 {}; typedef string S0;\n");
    for link in 1..5_000 {
        idl += &format!("typedef V{0} V{link}; typedef S{0} S{link};\n", link - 1);
    }
    idl += "valuetype W : V4999 {}; interface I { void f(in S4999 text); };\n";
    let outcome = punctual_idl::compile_text("chain.idl", &idl, &Options::default());
    let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
    assert!(rust.contains("fn f(&self, text: &str)"));
    assert!(rust.contains("impl ::punctual::rt::Inherits<V0> for W {}"));
}

/// A type may be declared before those that it holds: its properties follow from theirs nevertheless.
#[test]
fn properties_do_not_depend_on_the_order_of_declarations() {
    const LENGTH: usize = 50;
    let mut idl: String = (0..LENGTH).map(|level| format!("struct S{level};\n")).collect();
    idl += "union U; enum E { first }; union U switch (E) { case first: sequence<S0> more; };\n";
    idl += &format!("struct S{} {{ long a; U b; }};\n", LENGTH - 1);
    for level in (0..LENGTH - 1).rev() {
        idl += &format!("struct S{level} {{ S{} a; }};\n", level + 1);
    }
    idl += "struct Flat { S0 a; };\n";
    let outcome = punctual_idl::compile_text("reversed.idl", &idl, &Options::default());
    let rust = generate(&outcome.specification.unwrap(), &Settings::default()).unwrap();
    // The discriminator and the length of the sequence, after a long; in each struct, and in its view.
    assert_eq!(
        rust.matches("const MIN_SIZE: usize = 12;").count(),
        2 * (LENGTH + 1)
    );
    // Decoding one, decoding into one, and decoding a view; not those outside of the cycle.
    assert_eq!(rust.matches(".nested(|decoder|").count(), 3 * (LENGTH + 1));
}
