//! `punctual idl` from the command line.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn correct_idl_is_accepted() {
    let folder = Folder::new("right");
    folder.write("a.idl", "interface A { long cube (in long n); };");
    let ran = folder.punctual(&["idl", "check", "a.idl"]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(ran.text, "checked 1 file: 0 errors, 0 warnings\n");
}

#[test]
fn errors_show_place_code_help_and_count() {
    let folder = Folder::new("wrong");
    folder.write("a.idl", "interface A {\n  Lnog cube (in long n);\n};\n");
    let ran = folder.punctual(&["idl", "check", "a.idl"]);
    assert_eq!(ran.code, 1, "{}", ran.text);
    for part in [
        "a.idl:2:3",
        "IDL0",
        "Lnog",
        "checked 1 file: 1 error, 0 warnings\n",
    ] {
        assert!(ran.text.contains(part), "{part:?} is missing in\n{}", ran.text);
    }
}

#[test]
fn check_accepts_what_compile_does_not_generate() {
    let folder = Folder::new("component");
    folder.write("a.idl", "component Shape {};");
    let checked = folder.punctual(&["idl", "check", "a.idl"]);
    assert_eq!(checked.code, 0, "{}", checked.text);
    let compiled = folder.punctual(&["idl", "compile", "a.idl", "--out-dir", "out"]);
    assert_eq!(compiled.code, 1, "{}", compiled.text);
    assert!(
        compiled.text.contains("component") && compiled.text.contains("CORBA Component Model"),
        "{}",
        compiled.text
    );
    assert!(!folder.path("out/a.rs").exists());
}

#[test]
fn compile_writes_rust_for_the_requested_runtime() {
    let folder = Folder::new("compile");
    folder.write("a.idl", "interface A { long cube (in long n); };");
    let ran = folder.punctual(&[
        "idl",
        "compile",
        "a.idl",
        "--out-dir",
        "out/deep",
        "--runtime-path",
        "::mine::rt",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    let rust = fs::read_to_string(folder.path("out/deep/a.rs")).unwrap();
    assert!(
        rust.contains("pub trait A") && rust.contains("::mine::rt"),
        "{rust}"
    );
    assert!(!rust.contains("punctual::rt"), "{rust}");
}

#[test]
fn folders_and_macros_reach_the_preprocessor() {
    let folder = Folder::new("macros");
    folder.write(
        "common/base.idl",
        "#if VERSION == 2\ntypedef long Base;\n#endif\n",
    );
    folder.write(
        "a.idl",
        "#include <base.idl>\n#ifdef NEW\ntypedef Base Mine;\n#endif\n",
    );
    let without = folder.punctual(&["idl", "check", "-DNEW", "-Icommon", "a.idl"]);
    assert_eq!(without.code, 1, "{}", without.text);
    let with = folder.punctual(&[
        "idl",
        "check",
        "-D",
        "NEW",
        "-D",
        "VERSION=2",
        "-I",
        "common",
        "a.idl",
    ]);
    assert_eq!(with.code, 0, "{}", with.text);
}

#[test]
fn missing_file_and_wrong_command_line_are_2() {
    let folder = Folder::new("missing");
    let missing = folder.punctual(&["idl", "check", "nowhere.idl"]);
    assert_eq!(missing.code, 2, "{}", missing.text);
    assert!(missing.text.contains("nowhere.idl"), "{}", missing.text);
    assert_eq!(folder.punctual(&["idl", "compile", "nowhere.idl"]).code, 2);
    assert_eq!(folder.punctual(&["idl", "check"]).code, 2);
    assert_eq!(folder.punctual(&["idl", "check", "-D", "1A", "a.idl"]).code, 2);
}

#[test]
fn unwritable_target_is_2() {
    let folder = Folder::new("unwritable");
    folder.write("a.idl", "interface A { long cube (in long n); };");
    folder.write("taken", "a file, no folder");
    let ran = folder.punctual(&["idl", "compile", "a.idl", "--out-dir", "taken"]);
    assert_eq!(ran.code, 2, "{}", ran.text);
    assert!(ran.text.contains("cannot be written"), "{}", ran.text);
}

#[test]
fn files_that_would_overwrite_each_other_are_refused() {
    let folder = Folder::new("clash");
    folder.write("one/a.idl", "interface A {};");
    folder.write("two/a.idl", "interface B {};");
    let ran = folder.punctual(&["idl", "compile", "one/a.idl", "two/a.idl", "--out-dir", "out"]);
    assert_eq!(ran.code, 2, "{}", ran.text);
    assert!(
        ran.text.contains("one/a.idl") && ran.text.contains("two/a.idl"),
        "{}",
        ran.text
    );
    assert!(!folder.path("out").exists());
}

#[test]
fn files_can_be_divided_otherwise() {
    let folder = Folder::new("divided");
    folder.write(
        "base.idl",
        "#ifndef ONCE\n#define ONCE\nmodule M { struct S { long x; }; };\n#endif\n",
    );
    folder.write(
        "a.idl",
        "#include \"base.idl\"\ninterface A { void f (in M::S x); };",
    );
    folder.write(
        "b.idl",
        "#include \"base.idl\"\ninterface B { void f (in M::S x); };",
    );
    let together = folder.punctual(&["idl", "compile", "a.idl", "b.idl", "--together", "both"]);
    assert_eq!(
        (together.code, &*together.output),
        (0, "a.idl, b.idl -> ./both.rs\n"),
        "{}",
        together.text
    );
    let rust = fs::read_to_string(folder.path("both.rs")).unwrap();
    assert_eq!(rust.matches("pub struct S ").count(), 1);
    let compile = |more: &[&str]| {
        let ran = folder.punctual(&[&["idl", "compile", "a.idl"], more].concat());
        let rust = fs::read_to_string(folder.path("a.rs")).unwrap_or_default();
        (ran.code, ran.text, rust)
    };
    let (code, text, rust) = compile(&["--extern-path", "M=::types::m", "--client-only"]);
    assert_eq!(code, 0, "{text}");
    assert!(rust.contains("::types::m::S") && !rust.contains("pub trait A") && rust.contains("pub fn f("));
    let (code, text, _) = compile(&["--extern-path", "N=::types::n"]);
    assert!(code == 2 && text.contains("module `N`"), "{code} {text}");
    let (code, text, _) = compile(&["--circular", "M::S"]);
    assert!(
        code == 2 && text.contains("no value type has the name `M::S`"),
        "{code} {text}"
    );
    let (code, text, rust) = compile(&["--server-only"]);
    assert_eq!(code, 0, "{text}");
    assert!(rust.contains("pub trait A") && !rust.contains("pub fn f("));
    assert_eq!(compile(&["--server-only", "--client-only"]).0, 2);
}

#[test]
fn errors_that_other_compilers_do_not_report_can_be_warnings() {
    let folder = Folder::new("warn");
    folder.write("a.idl", "struct Point { long x; };\ntypedef point Same;\n");
    assert_eq!(folder.punctual(&["idl", "check", "a.idl"]).code, 1);
    let ran = folder.punctual(&["idl", "check", "--warn", "IDL0043", "a.idl"]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(
        ran.text.ends_with("checked 1 file: 0 errors, 1 warning\n"),
        "{}",
        ran.text
    );
    let ran = folder.punctual(&["idl", "check", "--warn", "40", "a.idl"]);
    assert!(ran.code == 2 && ran.text.contains("IDL0043, "), "{}", ran.text);
    folder.write("b.idl", "interface Elsewhere;\n");
    for (allowed, warnings) in [("IDL0043", "1 warning"), ("IDL0050", "0 warnings")] {
        let ran = folder.punctual(&["idl", "check", "--allow", allowed, "b.idl"]);
        let end = format!("checked 1 file: 0 errors, {warnings}\n");
        assert!(ran.code == 0 && ran.text.ends_with(&end), "{}", ran.text);
    }
}

#[test]
fn the_resolved_specification_is_for_other_tools() {
    let folder = Folder::new("dump");
    folder.write("base.idl", "struct Base { long x; };");
    folder.write(
        "a.idl",
        "#include \"base.idl\"\n#pragma prefix \"acme\"\nmodule M { local interface A { Base f (in fixed<5,2> x); }; };",
    );
    let ran = folder.punctual(&["idl", "dump", "a.idl"]);
    assert_eq!(ran.code, 1, "{}", ran.text);
    folder.write(
        "a.idl",
        "#include \"base.idl\"\n#pragma prefix \"acme\"\nmodule M { local interface A { Base f (in long x); }; };",
    );
    let ran = folder.punctual(&["idl", "dump", "a.idl"]);
    assert_eq!(
        ran.output, "module M IDL:acme/M:1.0 a.idl:3:8\nlocal-interface M::A IDL:acme/M/A:1.0 a.idl:3:28\n",
        "{}",
        ran.text
    );
    let ran = folder.punctual(&["idl", "dump", "--json", "a.idl"]);
    let model: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(model["files"][1]["name"], "base.idl");
    assert_eq!(
        model["definitions"][0]["scoped_name"],
        serde_json::json!(["Base"])
    );
    let interface = &model["definitions"][2]["kind"]["Interface"];
    assert_eq!(interface["flavour"], "Local");
    assert_eq!(
        interface["operations"][0]["result"],
        serde_json::json!({ "Ref": 0 })
    );
    folder.write("b.idl", "#include \"base.idl\"\nstruct B : Base { octet y; };");
    let ran = folder.punctual(&["idl", "dump", "--json", "b.idl"]);
    let model: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    let derived = &model["definitions"][1]["kind"]["Struct"];
    assert_eq!((&derived["base"], &derived["inherited"]), (&0.into(), &1.into()));
    let members = ["x", "y"].map(serde_json::Value::from);
    assert_eq!(
        [0, 1].map(|index| derived["members"][index]["name"].clone()),
        members
    );
}

struct Ran {
    code: i32,
    /// Standard error.
    text: String,
    /// Standard output.
    output: String,
}

/// A folder of one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("idl-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn punctual(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(arguments)
            .current_dir(&self.0)
            .output()
            .unwrap();
        Ran {
            code: output.status.code().expect("it ends by itself"),
            text: String::from_utf8(output.stderr).unwrap(),
            output: String::from_utf8(output.stdout).unwrap(),
        }
    }
}

#[test]
fn diagnostics_have_formats_for_editors_and_tools() {
    let folder = Folder::new("formats");
    folder.write("a.idl", "interface A {\n  Lnog cube (in long n);\n};\n");
    let line = folder.punctual(&["idl", "check", "--format", "line", "a.idl"]);
    assert!(line.text.starts_with("a.idl:2:3: error[IDL0"), "{}", line.text);
    assert_eq!(line.text.lines().count(), 2, "{}", line.text);
    let json = folder.punctual(&["idl", "check", "--format", "json", "a.idl"]);
    let objects = json.text.lines().map(serde_json::from_str::<serde_json::Value>);
    let objects: Vec<_> = objects.map(Result::unwrap).collect();
    assert_eq!(objects.len(), 1, "{}", json.text);
    let object = &objects[0];
    let place = &object["places"][0];
    assert_eq!(
        (&place["file"], &place["line"], &place["column"]),
        (&"a.idl".into(), &2.into(), &3.into())
    );
    assert_eq!((&place["end_line"], &place["end_column"]), (&2.into(), &7.into()));
    assert_eq!((&object["severity"], json.code), (&"error".into(), 1));
    folder.write("b.idl", "interface B {};\n");
    folder.write("file", "");
    let ran = folder.punctual(&["idl", "compile", "--format", "json", "--out-dir", "file", "b.idl"]);
    let failure: serde_json::Value = serde_json::from_str(&ran.text).unwrap();
    assert!(
        failure["message"].as_str().unwrap().contains("cannot be written"),
        "{failure}"
    );
    assert_eq!((&failure["code"], ran.code), (&serde_json::Value::Null, 2));
    let code = object["code"].as_str().unwrap();
    let explained = folder.punctual(&["idl", "explain", code]);
    assert!(
        explained.output.starts_with(&format!("{code} (error): ")),
        "{}",
        explained.output
    );
    let unknown = folder.punctual(&["idl", "explain", "IDL9999"]);
    assert!(
        unknown.code == 2 && unknown.text.contains("IDL9999"),
        "{}",
        unknown.text
    );
    assert!(folder.punctual(&["idl", "explain"]).output.lines().count() > 50);
}

/// Readers copy them, and the template of `new` has its own test.
#[test]
fn examples_and_services_are_formatted() {
    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folders = ["examples", "services"].map(|folder| Path::new(ROOT).join(folder));
    let packages = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let folders = packages.filter_map(|package| fs::read_dir(package.unwrap().path().join("idl")).ok());
    let files: Vec<_> = folders.flatten().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 15, "{files:?}");
    let folder = Folder::new("formatted");
    let mut arguments = vec!["idl", "fmt", "--check"];
    arguments.extend(files.iter().filter_map(|file| file.to_str()));
    let run = folder.punctual(&arguments);
    assert_eq!(run.code, 0, "{}", run.text);
}

#[test]
fn files_are_formatted_in_place_or_only_checked() {
    let folder = Folder::new("fmt");
    folder.write("a.idl", "interface A{long cube(in long n);};\n");
    let checked = folder.punctual(&["idl", "fmt", "--check", "a.idl"]);
    assert_eq!(
        (checked.code, checked.output.as_str()),
        (1, "a.idl is not formatted\n")
    );
    assert_eq!(folder.punctual(&["idl", "fmt", "a.idl"]).code, 0);
    let formatted = fs::read_to_string(folder.path("a.idl")).unwrap();
    assert_eq!(formatted, "interface A {\n    long cube(in long n);\n};\n");
    assert_eq!(folder.punctual(&["idl", "fmt", "--check", "a.idl"]).code, 0);
    folder.write("b.idl", "/* not closed");
    let refused = folder.punctual(&["idl", "fmt", "b.idl"]);
    assert!(
        refused.code == 2 && refused.text.contains("b.idl: line 1: "),
        "{}",
        refused.text
    );
}
