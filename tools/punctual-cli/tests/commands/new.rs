//! `punctual new`: the package builds and works, offline, against this checkout.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use punctual_fixtures::programs::{Running, interruptible};
use rustix::process::{Pid, Signal, kill_process};

use crate::command::run;

const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn cargo(package: &Path) -> Command {
    let mut cargo = interruptible(env!("CARGO"));
    // Compiled dependencies are kept from run to run.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-target");
    cargo.env("CARGO_TARGET_DIR", target).current_dir(package);
    // It is not debugged: the ORB is compiled once more for it, without debug information.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "false");
    cargo
}

#[test]
fn the_package_passes_its_tests_serves_and_ends_in_good_order() {
    let package = empty_folder("new").join("valve-control");
    let created = run(["new", package.to_str().unwrap()]);
    assert_eq!(created.code, 0, "{}", created.complained);
    assert!(
        created.said.contains("cargo run --bin server"),
        "{}",
        created.said
    );
    let readme = fs::read_to_string(package.join("README.md")).unwrap();
    assert!(readme.contains("`PUNCTUAL_INSPECTION=/tmp`"), "{readme}");
    // The versions that this checkout was built with are available offline.
    fs::copy(format!("{CHECKOUT}/Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let idl = package.join("idl");
    let idl = fs::read_dir(&idl).unwrap().next().unwrap().unwrap().path();
    let checked = run([Path::new("idl"), Path::new("fmt"), Path::new("--check"), &idl]);
    assert_eq!(checked.code, 0, "{}", checked.said);
    let format = cargo(&package).args(["fmt", "--check"]).output().unwrap();
    assert!(
        format.status.success(),
        "{}",
        String::from_utf8_lossy(&format.stdout)
    );

    let tests = cargo(&package)
        .args(["test", "--offline", "--quiet"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tests.stderr).into_owned() + &String::from_utf8_lossy(&tests.stdout);
    assert!(tests.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    // Neither from the compiler nor from the ORB, such as of references that end with the process.
    assert!(
        !said.contains("warning") && !said.contains("persistent"),
        "{said}"
    );

    for signal in [Signal::TERM, Signal::INT] {
        let mut server = cargo(&package);
        server.args(["run", "--offline", "--quiet", "--bin", "server"]);
        let mut server = Running(server.stdout(Stdio::piped()).spawn().unwrap());
        // Cargo is replaced by the server (exec).
        let pid = Pid::from_child(&server.0);
        let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
        let serving = lines.next().unwrap().unwrap();
        assert_eq!(serving, "Serving corbaloc:iiop:1.2@localhost:2790/Tally");
        let client = cargo(&package)
            .args(["run", "--offline", "--quiet", "--bin", "client"])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&client.stdout), "The total is 5\n");
        kill_process(pid, signal).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "Ended");
        assert_eq!(server.0.wait().unwrap().code(), Some(0));
    }
    a_wrong_name_is_answered_with_those_that_exist(&package);
}

fn a_wrong_name_is_answered_with_those_that_exist(package: &Path) {
    let library = package.join("src/lib.rs");
    let text = fs::read_to_string(&library).unwrap();
    assert!(text.contains("include_idl!(\"valve_control\")"), "{text}");
    fs::write(
        &library,
        text.replace("include_idl!(\"valve_control\")", "include_idl!(\"vlave\")"),
    )
    .unwrap();
    let build = cargo(package)
        .args(["build", "--lib", "--offline", "--quiet"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&build.stderr);
    for expected in [
        "build.rs has not compiled `vlave.idl`, but: valve_control. Name one of these",
        "let build.rs call `punctual_build::compile(\"idl/vlave.idl\")`",
    ] {
        assert!(!build.status.success() && said.contains(expected), "{said}");
    }
}

/// Every source is that of the checkout, octet by octet, the links of its README lead to files, and the
/// package builds without the workspace.
#[test]
fn examples_can_be_copied_out_unchanged() {
    let folder = empty_folder("new-examples");
    let examples = fs::read_dir(format!("{CHECKOUT}/examples")).unwrap();
    let folders = examples.map(Result::unwrap).filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let package = folder.join(&name);
        let created = run(["new", package.to_str().unwrap(), "--example", &name]);
        assert_eq!(created.code, 0, "{name}: {}", created.complained);
        let difference = Command::new("diff")
            .args([
                "-r",
                "--exclude=tests",
                "--exclude=Cargo.toml",
                "--exclude=README.md",
            ])
            .arg(format!("{CHECKOUT}/examples/{name}"))
            .arg(&package)
            .output()
            .unwrap();
        assert!(
            difference.status.success(),
            "{}",
            String::from_utf8_lossy(&difference.stdout)
        );
        let readme = fs::read_to_string(package.join("README.md")).unwrap();
        for link in readme
            .split("](")
            .skip(1)
            .filter(|link| !link.starts_with("http"))
        {
            let target = link.split([')', '#']).next().unwrap();
            assert!(package.join(target).exists(), "{name}/README.md: {target}");
        }
        fs::copy(format!("{CHECKOUT}/Cargo.lock"), package.join("Cargo.lock")).unwrap();
        let build = cargo(&package)
            .args(["build", "--offline", "--quiet"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&build.stderr);
        assert!(build.status.success() && said.is_empty(), "{name}: {said}");
    }
    let unknown = run(["new", folder.join("x").to_str().unwrap(), "--example", "nothing"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.complained.contains("there are 01-hello, 02-lanes") && !unknown.complained.contains("README"),
        "{}",
        unknown.complained
    );
}

#[test]
fn dependencies_are_this_checkout_or_the_published_version() {
    let folder = empty_folder("new-dependencies");
    for (name, arguments, expected) in [
        ("own", &[][..], "crates/punctual\" }"),
        ("given", &["--checkout", CHECKOUT], "crates/punctual\" }"),
        ("published", &["--published"], "punctual = \"0.1\"\n"),
    ] {
        let package = folder.join(name);
        let created = run([&["new", package.to_str().unwrap()], arguments].concat());
        assert_eq!(created.code, 0, "{}", created.complained);
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(expected), "{manifest}");
    }
    let nowhere = run([
        "new",
        folder.join("x").to_str().unwrap(),
        "--checkout",
        "/nowhere",
    ]);
    assert_eq!(nowhere.code, 2);
    assert!(
        nowhere.complained.contains("is not a checkout of Punctual"),
        "{}",
        nowhere.complained
    );
}

#[test]
fn names_are_checked_before_anything_is_written() {
    let folder = empty_folder("new-names");
    for (name, problem) in [
        ("Valve", "lower-case letters"),
        ("2valves", "lower-case letters"),
        ("interface", "has a meaning of its own"),
        ("crate", "has a meaning of its own"),
    ] {
        let refused = run(["new", folder.join(name).to_str().unwrap()]);
        assert_eq!(refused.code, 2, "{name}");
        assert!(
            refused.complained.contains(problem),
            "{name}: {}",
            refused.complained
        );
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::create_dir(folder.join("taken")).unwrap();
    let taken = run(["new", folder.join("taken").to_str().unwrap()]);
    assert!(
        taken.code == 2 && taken.complained.contains("exists"),
        "{}",
        taken.complained
    );
}
