//! Crates in a temporary folder, and the cycles found in them.

use std::{
    collections::BTreeSet,
    env, fs, process,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;

/// The cycles of a crate with these files, each as its sorted file names.
fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("punctual-cycles-{}-{number}", process::id()));
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let read = CrateFiles::read(&folder.join("lib.rs")).unwrap();
    let name = |file: usize| {
        let path = read.paths[file].strip_prefix(&folder).unwrap();
        path.display().to_string()
    };
    let cycles = Graph::of(&read).cycles();
    let names = |cycle: BTreeSet<usize>| {
        let mut names: Vec<String> = cycle.into_iter().map(name).collect();
        names.sort();
        names
    };
    let cycles = cycles.into_iter().map(names).collect();
    fs::remove_dir_all(folder).unwrap();
    cycles
}

const AB: (&str, &str) = ("lib.rs", "mod a; mod b;");

#[test]
fn two_files_that_import_each_other_are_a_cycle() {
    let files = [
        AB,
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B; impl B { fn f(_: &crate::a::A) {} }"),
    ];
    assert_eq!(cycles(&files), [["a.rs", "b.rs"]]);
    let one_way = [AB, files[1], ("b.rs", "pub struct B;")];
    assert_eq!(cycles(&one_way), Vec::<Vec<String>>::new());
}

#[test]
fn re_exports_lead_to_the_defining_file() {
    let root = (
        "lib.rs",
        "mod a; mod b; mod c; pub use a::A; pub use b::*; pub use c::C as D;",
    );
    let files = [
        root,
        ("a.rs", "use crate::B; pub struct A(B);"),
        ("b.rs", "use super::D; pub struct B(D);"),
        ("c.rs", "pub struct C; fn f() { crate::A::new(); }"),
    ];
    assert_eq!(cycles(&files), [["a.rs", "b.rs", "c.rs"]]);
    let open = [root, files[1], files[2], ("c.rs", "pub struct C;")];
    assert_eq!(cycles(&open), Vec::<Vec<String>>::new());
}

#[test]
fn a_file_and_its_own_submodules_may_import_each_other() {
    let files = [
        ("lib.rs", "mod a;"),
        (
            "a.rs",
            "mod one; mod two; use one::One; pub struct A(One, two::Two);",
        ),
        ("a/one.rs", "use super::A; pub struct One(Box<A>);"),
        ("a/two.rs", "use super::A; pub struct Two(Box<A>);"),
    ];
    assert_eq!(cycles(&files), Vec::<Vec<String>>::new());
    let siblings = [
        files[0],
        files[1],
        (
            "a/one.rs",
            "use super::{A, two::Two}; pub struct One(Box<A>, Two);",
        ),
        (
            "a/two.rs",
            "use super::{A, one::One}; pub struct Two(Box<A>, Box<One>);",
        ),
    ];
    assert_eq!(cycles(&siblings), [["a/one.rs", "a/two.rs"]]);
}

#[test]
fn a_submodule_that_leads_back_through_another_file_is_a_cycle() {
    let files = [
        AB,
        ("a.rs", "mod one; pub struct A; use one::One; fn f(_: One) {}"),
        ("a/one.rs", "use crate::b::B; pub struct One(B);"),
        ("b.rs", "use crate::a::A; pub struct B(A);"),
    ];
    assert_eq!(cycles(&files), [["a.rs", "a/one.rs", "b.rs"]]);
    // A re-export alone is no use of the submodule.
    let re_exported = [
        AB,
        ("a.rs", "mod one; pub struct A; pub use one::One;"),
        files[2],
        files[3],
    ];
    assert_eq!(cycles(&re_exported), Vec::<Vec<String>>::new());
}

#[test]
fn test_code_does_not_count() {
    let files = [
        AB,
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        (
            "b.rs",
            "pub struct B; impl B { #[cfg(test)] fn f() { crate::a::g() } }
             #[cfg(test)] use crate::a::A; #[cfg(test)] mod tests { use crate::a::A; }",
        ),
    ];
    assert_eq!(cycles(&files), Vec::<Vec<String>>::new());
}

#[test]
fn globs_imported_modules_macros_and_inline_modules_are_followed() {
    let a = ("a.rs", "use crate::b; pub struct A; fn f() { b::g() }");
    for b in [
        "use crate::a::*; pub fn g() { A; }",
        "use crate::a; pub fn g() { a::A; }",
        "pub fn g() { println!(\"{:?}\", crate::a::A) }",
        "pub fn g() { use crate::{a::{A, f}}; }",
        "pub fn g() {} mod inner { use super::super::a::A; }",
    ] {
        assert_eq!(cycles(&[AB, a, ("b.rs", b)]), [["a.rs", "b.rs"]], "{b}");
    }
    // Neither the module alone, nor visibility, nor another crate's module of the same name is an import.
    for b in [
        "pub use crate::a; pub fn g() {}",
        "pub(in crate::a) struct S; pub fn g() {}",
        "pub fn g() { other::a::A; } use ::a::A;",
    ] {
        assert_eq!(cycles(&[AB, a, ("b.rs", b)]), Vec::<Vec<String>>::new(), "{b}");
    }
}

#[test]
fn enough_of_the_product_is_read() {
    let metadata = Metadata::read().unwrap();
    let orb = metadata
        .members()
        .find(|member| member.name == "punctual-orb")
        .unwrap();
    let files = CrateFiles::read(&root().join(metadata.folder(orb)).join("src/lib.rs")).unwrap();
    let everything = (0..files.paths.len()).collect();
    let imports = Graph::of(&files).edges_within(&everything).count();
    assert!(
        files.paths.len() > 20 && imports > 2 * files.paths.len(),
        "{imports}"
    );
}
