//! Rendered errors of invalid IDL.

use std::fs;

use punctual_build::{Error, configure};
use punctual_fixtures::Folder;
use punctual_idl::MemoryLoader;

/// Output of a failing `build.rs`: `Debug` of the error.
fn failure(files: &[(&str, &str)]) -> String {
    let loader = files.iter().fold(MemoryLoader::new(), |loader, (name, text)| {
        loader.with(name, *text)
    });
    let error = configure()
        .generate_from(&[files[0].0], &loader)
        .expect_err("the IDL is wrong");
    assert_eq!(format!("{error:?}").trim(), error.to_string().trim());
    format!("{error:?}")
}

#[track_caller]
fn shows(text: &str, expected: &[&str]) {
    for expected in expected {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
    assert!(
        !text.contains('\u{1b}'),
        "colours where there is no terminal:\n{text}"
    );
}

#[test]
fn an_unknown_name_is_shown_at_its_place() {
    let text = failure(&[(
        "track.idl",
        "interface Tracker {\n  long cube(in lnog value);\n};\n",
    )]);
    shows(
        &text,
        &["IDL0040", "lnog", "track.idl:2:16", "long cube(in lnog value);"],
    );
}

#[test]
fn all_errors_are_shown_at_once() {
    let text = failure(&[(
        "two.idl",
        "struct A { Unknown1 a; };\nstruct B { Unknown2 b; };\n",
    )]);
    shows(&text, &["Unknown1", "Unknown2", "two.idl:1:", "two.idl:2:"]);
}

#[test]
fn an_error_in_an_included_file_names_that_file() {
    let text = failure(&[
        (
            "main.idl",
            "#include \"part.idl\"\nstruct Whole { Part part_of; };\n",
        ),
        ("part.idl", "\n\nstruct Part { Missing m; };\n"),
    ]);
    shows(&text, &["part.idl:3:15", "struct Part { Missing m; };"]);
}

#[test]
fn places_in_two_files_are_both_shown() {
    let text = failure(&[
        (
            "main.idl",
            "#include \"part.idl\"\nstruct Part { long again; };\n",
        ),
        ("part.idl", "struct Part { long m; };\n"),
    ]);
    shows(
        &text,
        &["IDL0041", "main.idl:2:8", "part.idl:1:8", "long again", "long m"],
    );
}

#[test]
fn the_header_has_the_place_of_the_error_and_not_that_of_an_earlier_declaration() {
    let text = failure(&[(
        "twice.idl",
        "typedef long Again;\n\n\nmodule M { typedef long T; };\ntypedef short Again;\n",
    )]);
    shows(&text, &["IDL0041", "twice.idl:5:15"]);
    let text = failure(&[(
        "macro.idl",
        "#define BAD(name) typedef Missing name;\n\n\nmodule M { typedef long T; };\nBAD(Here)\n",
    )]);
    shows(
        &text,
        &[
            "IDL0040",
            "macro.idl:5:1",
            "this macro is used here",
            "written here",
        ],
    );
}

#[test]
fn constructs_that_are_not_generated_are_named() {
    let text = failure(&[(
        "native.idl",
        "native Cookie;\ninterface Jar { void put(in Cookie one); };\n",
    )]);
    shows(&text, &["IDL0100", "a native type", "native.idl:2:"]);
    let text = failure(&[("part.idl", "component Part {};\n")]);
    shows(&text, &["IDL0100", "component", "Component Model", "part.idl:1:"]);
    let text = failure(&[("whole.idl", "import ::Part;\n")]);
    shows(
        &text,
        &["IDL0100", "import", "`#include` the one", "whole.idl:1:"],
    );
    assert!(!text.contains("Component"), "{text}");
    let declared = MemoryLoader::new()
        .with("whole.idl", "#include \"part.idl\"\nimport ::Part;\n")
        .with("part.idl", "module Part { const long N = 1; };\n");
    let compiled = configure().generate_from(&["whole.idl"], &declared);
    assert!(compiled.unwrap().rust.contains("pub const N"));
}

#[test]
fn a_file_that_does_not_exist_is_named() {
    let error = configure().generate("no/such/file.idl").unwrap_err();
    shows(&error.to_string(), &["IDL0001", "no/such/file.idl"]);
}

#[test]
fn generated_files_are_written_to_the_given_folder() {
    let folder = Folder::new("build");
    let idl = folder.join("point.idl");
    std::fs::write(&idl, "struct Point { long x; };").unwrap();
    configure().out_dir(folder.join("out")).compile(&[&idl]).unwrap();
    let rust = std::fs::read_to_string(folder.join("out/point.rs")).unwrap();
    assert!(rust.contains("pub struct Point"), "{rust}");
    std::fs::write(&idl, "struct Point { lnog x; };").unwrap();
    let error = configure()
        .out_dir(folder.join("out"))
        .compile(&[&idl])
        .unwrap_err();
    assert!(matches!(error, Error::Idl(failed) if failed.len() == 1));
}

#[test]
fn external_paths_replace_what_included_files_declare() {
    let loader = MemoryLoader::new()
        .with(
            "types.idl",
            "module Lab { struct Sample { long x; }; module Inner { enum State { OFF, ON }; }; };\n\
             struct Free { long x; };\n",
        )
        .with(
            "lab.idl",
            "#include \"types.idl\"\n\
             module Lab { struct Log { Sample first; Inner::State state; Free other; }; };\n",
        );
    let rust_of = |paths: &[(&str, &str)]| {
        let configured = paths.iter().fold(configure(), |builder, (name, path)| {
            builder.extern_path(*name, *path)
        });
        configured.generate_from(&["lab.idl"], &loader).unwrap().rust
    };
    let has = |paths: &[(&str, &str)], text: &str| rust_of(paths).contains(text);
    // What the compiled file declares in the module stays.
    for paths in [&[("Lab", "::types::lab")][..], &[("::", "::types")]] {
        assert!(has(paths, "pub struct Log") && has(paths, "pub first: ::types::lab::Sample"));
        assert!(has(paths, "pub state: ::types::lab::inner::State"));
        assert!(!has(paths, "struct Sample") && !has(paths, "enum State"));
    }
    assert!(has(&[("Lab", "::types::lab")], "pub struct Free"));
    assert!(has(&[("::", "::types")], "pub other: ::types::Free"));
    // The innermost module counts.
    let inner = [("Lab", "::types::lab"), ("::Lab::Inner", "crate::deep")];
    assert!(has(&inner, "pub state: crate::deep::State"));
    assert!(has(&[("Lab::Inner", "crate::deep")], "pub struct Sample"));
    let error = configure()
        .extern_path("Lab", "types/lab")
        .generate_from(&["lab.idl"], &loader);
    shows(
        &error.unwrap_err().to_string(),
        &["`types/lab` is not the path", "::lab_types::lab"],
    );
    let compiled = configure().generate_from(&["lab.idl"], &loader).unwrap();
    assert_eq!(compiled.included, ["", "Lab", "Lab::Inner"]);
    let alone = configure().generate_from(&["types.idl"], &loader).unwrap();
    assert!(alone.included.is_empty());
}

#[test]
fn circular_types_are_value_types() {
    let loader = MemoryLoader::new().with(
        "lab.idl",
        "module Lab { struct Sample { long x; }; valuetype Node { public Node next; };\n\
         valuetype Leaf : Node { public long x; }; valuetype Other { public long x; }; };\n",
    );
    let compiled = configure()
        .circular("Lab::Leaf")
        .generate_from(&["lab.idl"], &loader)
        .unwrap();
    assert_eq!(compiled.value_types, ["Lab::Node", "Lab::Leaf", "Lab::Other"]);
    assert_eq!(compiled.rust.matches("const CIRCULAR: bool = true;").count(), 2);
    let folder = Folder::new("circular");
    let file = folder.join("lab.idl");
    fs::write(&file, "struct Sample { long x; };").unwrap();
    let builder = configure().circular("Lab::Sample").out_dir(&*folder);
    let error = builder.compile(&[file]).unwrap_err();
    shows(
        &error.to_string(),
        &["`circular(\"Lab::Sample\")`", "no value type"],
    );
}

#[test]
fn files_are_compiled_together_once_each() {
    let loader = MemoryLoader::new()
        .with("a.idl", "struct A { long x; };\n")
        .with(
            "b.idl",
            "#ifndef ONCE\n#define ONCE\n#include \"a.idl\"\nstruct B { A x; };\n#endif\n",
        )
        .with("c.idl", "#include \"b.idl\"\nstruct C { B x; };\n");
    let compiled = configure()
        .generate_from(&["b.idl", "c.idl", "a.idl"], &loader)
        .unwrap();
    for name in ["A", "B", "C"] {
        assert_eq!(
            compiled.rust.matches(&format!("pub struct {name} ")).count(),
            1,
            "{name}"
        );
    }
    assert!(compiled.included.is_empty());
    assert_eq!(compiled.files.len(), 3);
}

#[test]
fn one_side_has_no_code_of_the_other() {
    let loader = MemoryLoader::new().with(
        "lab.idl",
        "exception Broken {}; interface Lab { long f() raises (Broken); };\n\
         local interface Near { long g(); };\n",
    );
    let rust_of =
        |builder: punctual_build::Builder| builder.generate_from(&["lab.idl"], &loader).unwrap().rust;
    let (client, server) = (
        rust_of(configure().client_only()),
        rust_of(configure().server_only()),
    );
    let parts = [
        "pub trait Lab",
        "Skeleton<",
        "pub fn f(",
        "pub struct LabRef",
        "pub trait Near",
    ];
    assert_eq!(
        parts.map(|part| client.contains(part)),
        [false, false, true, true, true]
    );
    assert_eq!(
        parts.map(|part| server.contains(part)),
        [true, true, false, true, true]
    );
}

#[test]
fn some_errors_can_be_warnings() {
    let loader = MemoryLoader::new().with("case.idl", "struct Point { long x; };\ntypedef point Same;\n");
    let compile = |builder: punctual_build::Builder| builder.generate_from(&["case.idl"], &loader);
    let error = compile(configure()).unwrap_err();
    shows(&error.to_string(), &["IDL0043"]);
    let compiled = compile(configure().warn(punctual_build::Code::WrongCase)).unwrap();
    assert_eq!(compiled.warnings.len(), 1);
    assert!(compiled.rust.contains("pub type Same = Point"));
    // And then be left out, as any warning.
    let code = punctual_build::Code::WrongCase;
    let compiled = compile(configure().warn(code).allow(code)).unwrap();
    assert_eq!(compiled.warnings, []);
    assert!(compile(configure().allow(code)).is_err());
    // The other errors cannot.
    let loader = MemoryLoader::new().with("wrong.idl", "typedef Nothing Same;\n");
    let builder = configure().warn(punctual_build::Code::UnknownName);
    assert!(builder.generate_from(&["wrong.idl"], &loader).is_err());
}

#[test]
fn attributes_belong_to_the_named_types() {
    let loader = MemoryLoader::new().with(
        "lab.idl",
        "module Lab { struct Sample { long x; }; enum State { OFF, ON }; exception Broken {}; };\n\
         module Labs { union Choice switch (boolean) { case TRUE: long x; }; };\n",
    );
    let rust_of = |name: &str| {
        let configured = configure().attribute(name, "#[must_use]");
        configured.generate_from(&["lab.idl"], &loader).unwrap().rust
    };
    let count = |name: &str| rust_of(name).matches("#[must_use]").count();
    assert_eq!(
        ["::", "Lab", "::Lab::Sample", "Labs::Choice", "La"].map(count),
        [4, 3, 1, 1, 0]
    );
    let error = configure()
        .attribute("Lab", "must_use")
        .generate_from(&["lab.idl"], &loader);
    shows(
        &error.unwrap_err().to_string(),
        &["`must_use` is not an attribute", "#[derive("],
    );
}

#[test]
fn attributes_of_nothing_are_an_error() {
    let folder = Folder::new("build-attributes");
    let idl = folder.join("point.idl");
    std::fs::write(&idl, "struct Point { long x; };").unwrap();
    let compile = |name: &str| {
        let configured = configure().out_dir(folder.join("out"));
        configured.attribute(name, "#[must_use]").compile(&[&idl])
    };
    compile("Point").unwrap();
    shows(
        &compile("Pint").unwrap_err().to_string(),
        &["attribute(\"Pint\"", "Lab::Sample"],
    );
}

#[test]
fn a_long_line_is_cut_around_the_place_of_an_error() {
    let members: String = (0..3_000)
        .map(|number| format!("Missing{number} m{number}; "))
        .collect();
    let text = failure(&[("long.idl", &format!("struct S {{ {members}}};"))]);
    let column = "struct S { ".len() + members.find("Missing50 ").unwrap() + 1;
    shows(
        &text,
        &[
            "…",
            "and 2900 more errors",
            "`Missing50`",
            &format!("long.idl:1:{column}]"),
        ],
    );
    // Of each error some lines of at most 200 octets.
    assert!(text.len() < 101 * 1_500, "{} octets", text.len());
}

/// A message repeats no more of the source than its place does.
#[test]
fn a_long_name_is_cut_in_the_message() {
    let name = "x".repeat(80_000);
    let uses = "struct S { LONG m; };\n".repeat(100);
    let text = failure(&[("names.idl", &format!("#define LONG {name}\n{uses}"))]);
    assert!(text.len() < 101 * 5_000, "{} octets", text.len());
}
