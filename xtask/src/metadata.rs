//! Cargo's metadata: the packages of the workspace and those they depend on.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::command;

/// `cargo metadata`, the parts that are needed here.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// All packages, those of the workspace included.
    pub packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

/// One package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The registry that it comes from; `None`: it is of this repository.
    source: Option<String>,
    /// An SPDX expression.
    pub license: Option<String>,
    /// Its purpose in one line.
    pub description: Option<String>,
    /// Where its sources are.
    pub repository: Option<String>,
    /// The registries to which it may be published; `None`: all.
    publish: Option<Vec<String>>,
    /// The path of its Cargo.toml.
    pub manifest_path: PathBuf,
    /// Dependencies that its Cargo.toml names.
    pub dependencies: Vec<Dependency>,
    /// Targets that are built of it.
    pub targets: Vec<Target>,
}

/// A library or program of a package.
#[derive(Clone, Debug, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    kind: Vec<String>,
    /// The file with its root module.
    pub src_path: PathBuf,
    /// Whether `cargo test` builds a test program of it.
    pub test: bool,
}

/// An edge out of a package.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    /// The package it leads to.
    pub name: String,
    /// Why it is there.
    #[serde(deserialize_with = "kind")]
    pub kind: Kind,
    /// Set for a package of the workspace.
    path: Option<PathBuf>,
    /// The versions that it accepts.
    req: String,
}

/// Why a package depends on another.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Its code uses it.
    #[default]
    Normal,
    /// Its build script uses it.
    Build,
    /// Its tests use it.
    Dev,
}

fn kind<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    Option::<Kind>::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Metadata {
    /// Asks Cargo; fails where `Cargo.lock` is not up to date.
    pub fn read() -> Result<Self, String> {
        Self::ask(&[])
    }

    /// Asks Cargo for the packages of another workspace, without what they depend on.
    pub fn without_dependencies(manifest: &str) -> Result<Self, String> {
        Self::ask(&["--no-deps", "--manifest-path", manifest])
    }

    fn ask(options: &[&str]) -> Result<Self, String> {
        let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let arguments = [&["metadata", "--format-version", "1", "--locked"], options].concat();
        let text = command::output(&program, &arguments)?;
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// The packages of this repository: those of the workspace, and those outside that it depends on.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.source.is_none())
    }

    /// The packages that come from elsewhere.
    pub fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.source.is_some())
    }

    /// Returns the folder of Cargo's output.
    pub fn target_folder(&self) -> &Path {
        &self.target_directory
    }

    /// The version of a member.
    pub fn version_of(&self, name: &str) -> Result<&str, String> {
        let member = self.members().find(|member| member.name == name);
        member
            .map(|member| member.version.as_str())
            .ok_or_else(|| format!("there is no package `{name}`"))
    }

    /// The folder of a member, from the root of the workspace.
    pub fn folder<'p>(&self, member: &'p Package) -> &'p Path {
        let folder = member.manifest_path.parent().unwrap_or(Path::new(""));
        folder.strip_prefix(&self.workspace_root).unwrap_or(folder)
    }

    /// Names of packages from elsewhere that a member's Cargo.toml has, each with the members that do.
    pub fn direct_dependencies(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for member in self.members() {
            for dependency in member.dependencies.iter().filter(|it| it.path.is_none()) {
                direct.entry(&dependency.name).or_default().insert(&member.name);
            }
        }
        direct
    }
}

impl Target {
    /// Returns whether it is neither a build script nor a test, example or benchmark.
    pub fn is_library_or_program(&self) -> bool {
        self.kind
            .iter()
            .any(|kind| ["lib", "bin"].contains(&kind.as_str()))
    }

    /// Returns whether it runs before the package is compiled.
    pub fn is_build_script(&self) -> bool {
        self.kind.iter().any(|kind| kind == "custom-build")
    }
}

impl Dependency {
    /// Returns whether its Cargo.toml states a version. Without one, Cargo does not publish the package, or
    /// leaves the dependency out if only tests use it.
    pub fn has_version(&self) -> bool {
        self.req != "*"
    }
}

impl Package {
    /// Returns whether it may be published.
    pub fn is_published(&self) -> bool {
        self.publish
            .as_ref()
            .is_none_or(|registries| !registries.is_empty())
    }

    /// Edges to other packages of the workspace.
    pub fn inner_dependencies(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|it| it.path.is_some())
    }
}
