//! Holds the direction over what Cargo says of the workspace.

use std::collections::BTreeSet;

use super::{IDL, PURE, RUNTIME};
use crate::{
    command,
    metadata::{Kind, Metadata},
};

#[test]
fn imports_go_downwards() {
    let metadata = Metadata::read().unwrap();
    let mut edges = 0;
    let mut wrong = Vec::new();
    for member in metadata.members() {
        let from = Place::of(&member.name, &metadata.folder(member).to_string_lossy()).unwrap();
        for dependency in member.inner_dependencies() {
            let to = metadata
                .members()
                .find(|other| other.name == dependency.name)
                .unwrap();
            let to = Place::of(&to.name, &metadata.folder(to).to_string_lossy()).unwrap();
            edges += 1;
            if let Err(reason) = allowed(&from, &to, dependency.kind) {
                wrong.push(format!(
                    "{} -> {} ({:?}): {reason}",
                    member.name, dependency.name, dependency.kind
                ));
            }
        }
    }
    assert!(edges > 20, "only {edges} edges were seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn upward_imports_are_found() {
    use Kind::{Build, Dev, Normal};
    let check = |from: (&str, &str), to: (&str, &str), kind| {
        allowed(
            &Place::of(from.0, from.1).unwrap(),
            &Place::of(to.0, to.1).unwrap(),
            kind,
        )
    };
    let cdr = ("punctual-cdr", "crates/cdr");
    let os = ("punctual-os", "crates/os");
    let orb = ("punctual-orb", "crates/orb");
    let facade = ("punctual", "crates/punctual");
    let build = ("punctual-build", "idl/build");
    let idl = ("punctual-idl", "idl/front");
    let harness = ("punctual-harness", "qualify/harness");
    let scenarios = ("punctual-scenarios", "qualify/scenarios");
    let cli = ("punctual-cli", "tools/punctual-cli");
    let hello = ("hello", "examples/01-hello");

    for (from, to, kind) in [
        (orb, cdr, Normal),
        (facade, orb, Normal),
        (orb, build, Build),
        (orb, build, Dev),
        (build, idl, Normal),
        (harness, os, Normal),
        (scenarios, facade, Normal),
        (scenarios, harness, Normal),
        (cli, scenarios, Normal),
        (hello, facade, Normal),
    ] {
        assert_eq!(check(from, to, kind), Ok(()), "{from:?} -> {to:?}");
    }
    for (from, to, kind) in [
        (cdr, orb, Normal),
        (cdr, orb, Dev),
        (cdr, os, Normal),
        (cdr, os, Dev),
        (orb, facade, Normal),
        (orb, build, Normal),
        (build, orb, Normal),
        (idl, build, Normal),
        (facade, harness, Normal),
        (facade, harness, Dev),
        (harness, orb, Normal),
        (harness, scenarios, Normal),
        (scenarios, cli, Normal),
        (facade, hello, Dev),
        (hello, cli, Normal),
    ] {
        assert!(
            check(from, to, kind).is_err(),
            "{from:?} -> {to:?} as {kind:?} was allowed"
        );
    }
    assert!(Place::of("punctual-new", "crates/new").is_err());
    assert!(Place::of("anything", "elsewhere/anything").is_err());
}

#[test]
fn facade_stands_on_few_packages() {
    const LIMIT: usize = 50;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let tree = command::output(
        &cargo,
        &[
            "tree",
            "--edges",
            "normal",
            "--package",
            "punctual",
            "--prefix",
            "none",
            "--locked",
        ],
    )
    .unwrap();
    // A package that is shown again has a mark at the end of its line.
    let packages: BTreeSet<&str> = tree
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    assert!(
        packages
            .iter()
            .any(|package| package.starts_with("punctual-types ")),
        "{tree}"
    );
    assert!(
        packages.len() <= LIMIT,
        "{} packages, at most {LIMIT}:\n{tree}",
        packages.len()
    );
}

/// Where a package stands.
#[derive(Debug)]
enum Place<'n> {
    Runtime(&'n str, usize),
    Idl(usize),
    Services,
    Report,
    Harness,
    Scenarios,
    Tools,
    /// Tests and examples: nothing imports them.
    User,
    Xtask,
}

impl<'n> Place<'n> {
    fn of(name: &'n str, folder: &str) -> Result<Self, String> {
        let rank = |tower: &[&str], variable: &str| {
            tower
                .iter()
                .position(|other| *other == name)
                .ok_or_else(|| format!("{name} in {folder} has no layer; give it its place in `{variable}`"))
        };
        let (top, rest) = folder.split_once('/').unwrap_or((folder, ""));
        match (top, rest) {
            ("crates", _) => Ok(Self::Runtime(name, rank(RUNTIME, "RUNTIME")?)),
            ("idl", _) => Ok(Self::Idl(rank(IDL, "IDL")?)),
            ("services", _) => Ok(Self::Services),
            ("qualify", "report") => Ok(Self::Report),
            ("qualify", "harness") => Ok(Self::Harness),
            ("qualify", "scenarios") => Ok(Self::Scenarios),
            ("tools", _) => Ok(Self::Tools),
            ("tests" | "examples", _) => Ok(Self::User),
            ("xtask", _) => Ok(Self::Xtask),
            _ => Err(format!("{name} lies in {folder}, which is no layer")),
        }
    }
}

fn allowed(from: &Place<'_>, to: &Place<'_>, kind: Kind) -> Result<(), String> {
    use Place::{Harness, Idl, Report, Runtime, Scenarios, Services, Tools, User, Xtask};
    let say = |fine: bool, otherwise: &str| if fine { Ok(()) } else { Err(otherwise.to_owned()) };
    match (from, to) {
        (Runtime(from, _), Runtime("punctual-os", _)) if PURE.contains(from) => {
            Err("a crate without input and output imports the operating system".into())
        }
        (Runtime(_, from), Runtime(_, to)) | (Idl(from), Idl(to)) => {
            say(to < from, "imports go downwards only")
        }
        (Runtime(..), Idl(_)) => say(
            kind != Kind::Normal,
            "the runtime uses the compiler of IDL in build scripts and tests only",
        ),
        (Idl(_), _) => Err("the compiler of IDL knows no runtime".into()),
        (Runtime(..), _) => Err("the runtime knows nothing above it".into()),
        (Report | Xtask, _) => Err("it stands alone".into()),
        (Harness, Runtime(name, _)) => say(
            ["punctual-types", "punctual-os"].contains(name),
            "the harness knows no ORB",
        ),
        (Harness, _) => Err("the harness stands on `types` and `os`".into()),
        (Services, Runtime(..) | Idl(_) | Services) => Ok(()),
        (Services, _) => Err("services stand on the runtime".into()),
        (Scenarios, Tools | User | Xtask) | (Tools | User, Tools | User | Xtask) => {
            Err("nothing imports it".into())
        }
        (Scenarios | Tools | User, _) => Ok(()),
    }
}
