//! The direction of imports between packages: see "Layers" in ARCHITECTURE.md.

use crate::metadata::{Dependency, Kind, Metadata, Package};

/// Every import in the wrong direction, with the reason why it is.
pub fn upward_imports(metadata: &Metadata) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for (from, dependency, to) in imports(metadata) {
        if let Err(reason) = allowed(
            &position(metadata, from)?,
            &position(metadata, to)?,
            dependency.kind,
        ) {
            wrong.push(format!("{} imports {}: {reason}", from.name, to.name));
        }
    }
    Ok(wrong)
}

/// Crates that open no socket, read no clock and start no thread.
pub const PURE: &[&str] = &[
    "punctual-types",
    "punctual-cdr",
    "punctual-any",
    "punctual-giop",
    "punctual-poa",
    "punctual-sched",
];

/// The folders under `crates/`, rising: each may import those before it.
const RUNTIME: &[&str] = &[
    "punctual-types",
    "punctual-os",
    "punctual-flight",
    "punctual-cdr",
    "punctual-any",
    "punctual-giop",
    "punctual-sched",
    "punctual-poa",
    "punctual-stub",
    "punctual-transport",
    "punctual-lane",
    "punctual-inspect",
    "punctual-orb",
    "punctual-rtsched",
    "punctual",
];

/// The compiler of IDL: a tower of its own beside the runtime, rising.
const IDL: &[&str] = &["punctual-idl", "punctual-codegen", "punctual-build"];

/// Imports between packages of the workspace. A package whose tests enable one of its own features does not
/// import itself.
fn imports(metadata: &Metadata) -> impl Iterator<Item = (&Package, &Dependency, &Package)> {
    metadata.members().flat_map(move |from| {
        from.inner_dependencies().filter_map(move |dependency| {
            let to = metadata.members().find(|other| other.name == dependency.name)?;
            if to.name == from.name {
                return None;
            }
            Some((from, dependency, to))
        })
    })
}

fn position<'p>(metadata: &Metadata, package: &'p Package) -> Result<Position<'p>, String> {
    Position::of(&package.name, &metadata.folder(package).to_string_lossy())
}

/// Position of a package in the order of layers.
#[derive(Debug)]
enum Position<'n> {
    /// Crate of the runtime, with its height.
    Runtime(&'n str, usize),
    /// Crate of the IDL compiler, with its height.
    Idl(usize),
    Services,
    Report,
    /// Access to the operating system that only measurements need.
    System,
    Harness,
    /// A transport as users write them.
    Link,
    /// Analysis of what kernel and ORB recorded.
    Trace,
    Scenarios,
    Tools,
    /// Fixtures that tests of several packages share.
    Fixtures,
    /// Tests, examples and measured programs: nothing imports them.
    User,
    Xtask,
}

impl<'n> Position<'n> {
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
            ("qualify", "system") => Ok(Self::System),
            ("qualify", "harness") => Ok(Self::Harness),
            ("qualify", "link") => Ok(Self::Link),
            ("qualify", "trace") => Ok(Self::Trace),
            ("qualify", "scenarios") => Ok(Self::Scenarios),
            ("tools", _) => Ok(Self::Tools),
            ("tests", "fixtures") => Ok(Self::Fixtures),
            ("tests" | "examples", _) | ("qualify", "footprint") => Ok(Self::User),
            ("xtask", _) => Ok(Self::Xtask),
            _ => Err(format!("{name} lies in {folder}, which is not a layer")),
        }
    }
}

fn allowed(from: &Position<'_>, to: &Position<'_>, kind: Kind) -> Result<(), String> {
    use Position::{
        Fixtures, Harness, Idl, Link, Report, Runtime, Scenarios, Services, System, Tools, Trace, User, Xtask,
    };
    let say = |fine: bool, otherwise: &str| if fine { Ok(()) } else { Err(otherwise.to_owned()) };
    match (from, to) {
        (Fixtures, Runtime(..)) | (User, Fixtures) => Ok(()),
        (Fixtures, Idl(_)) => say(kind == Kind::Build, "fixtures compile IDL in their build script"),
        (Fixtures, _) => Err("fixtures know the runtime only".into()),
        (_, Fixtures) => say(kind == Kind::Dev, "only tests use fixtures"),
        (Runtime(from, _), Runtime("punctual-os", _)) if PURE.contains(from) => {
            Err("a crate without input and output imports the operating system".into())
        }
        // Its own tests with another of its features.
        (Runtime(from, _), Runtime(to, _)) if from == to && kind == Kind::Dev => Ok(()),
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
        (System, Runtime("punctual-types" | "punctual-os", _)) => Ok(()),
        (System, _) => Err("it depends on `types` and `os` only".into()),
        (Harness | Trace, System) => Ok(()),
        (Harness, Runtime(name, _)) => say(
            ["punctual-types", "punctual-os"].contains(name),
            "the harness knows no ORB",
        ),
        (Harness, _) => Err("the harness stands on `types` and `os`".into()),
        (Trace, Runtime(name, _)) => say(
            ["punctual-types", "punctual-os", "punctual-flight"].contains(name),
            "the trace knows what an ORB recorded, and no ORB",
        ),
        (Trace, Harness) => Ok(()),
        (Trace, _) => Err("the trace stands on the flight recorder and the harness".into()),
        (Link, Runtime("punctual", _)) => Ok(()),
        (Link, _) => Err("a user's transport knows the facade only".into()),
        (Services, Runtime(..) | Idl(_) | Services) => Ok(()),
        (Services, _) => Err("services stand on the runtime".into()),
        (Scenarios | Tools | User, Tools | User | Xtask) => Err("nothing imports it".into()),
        (Scenarios | Tools | User, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
