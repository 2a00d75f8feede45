//! The other ORBs that the interoperability tests run against, and what decodes a capture for them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::command::{self, root};

/// Installs what is missing or prints how to do so. With `PUNCTUAL_SKIP_PEERS=1` it prints what is missing,
/// so that the tests that need it are skipped.
pub fn provide() -> Result<(), String> {
    let missing: Vec<&Package> = PACKAGES.iter().filter(|(_, is_there)| !is_there()).collect();
    let downloads: Vec<&Download> = DOWNLOADS.iter().filter(|download| !download.is_there()).collect();
    if missing.is_empty() && downloads.is_empty() {
        println!("the other ORBs and their tools are there");
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    if skipped() {
        let names = downloads.iter().map(|download| download.orb);
        let names: Vec<&str> = packages.iter().copied().chain(names).collect();
        println!(
            "missing: {}\nSKIPPED, since PUNCTUAL_SKIP_PEERS is set: the interoperability tests that need them",
            names.join(" ")
        );
        return Ok(());
    }
    install(&packages)?;
    downloads.into_iter().try_for_each(Download::run)
}

fn install(packages: &[&str]) -> Result<(), String> {
    if packages.is_empty() {
        return Ok(());
    }
    if !in_path("apt-get") || command::output("id", &["-u"])?.trim() != "0" {
        return Err(format!(
            "the interoperability tests need other ORBs; install them with\n\n    \
             sudo apt-get install --no-install-recommends {}\n\n\
             or run without them: PUNCTUAL_SKIP_PEERS=1 cargo xtask test",
            packages.join(" ")
        ));
    }
    let install = ["install", "--yes", "--no-install-recommends"];
    let quiet = |arguments: &[&str]| {
        command::new("apt-get", arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .run()
    };
    quiet(&["update", "--quiet"])?;
    quiet(&[&install, packages].concat())
}

/// Whether the user does without the peers' tests.
pub fn skipped() -> bool {
    env::var("PUNCTUAL_SKIP_PEERS").is_ok_and(|value| value == "1")
}

/// A Debian package, and how to see that what it brings is there, from wherever it came.
type Package = (&'static str, fn() -> bool);

const PACKAGES: &[Package] = &[
    ("libomniorb4-dev", || {
        ["/usr/include", "/usr/local/include"]
            .iter()
            .any(|folder| Path::new(folder).join("omniORB4/CORBA.h").exists())
    }),
    ("omniidl", || in_path("omniidl")),
    ("omniorb-nameserver", || in_path("omniNames")),
    ("g++", || in_path("g++")),
    ("make", || in_path("make")),
    ("openjdk-17-jdk-headless", || in_path("javac")),
    ("maven", || in_path("mvn")),
    ("python3-pip", || in_path("pip3")),
    ("tshark", || in_path("tshark")),
];

/// An ORB from the registry of its language, in a folder of `target/peers`.
struct Download {
    orb: &'static str,
    folder: &'static str,
    /// File that the folder contains then.
    content: &'static str,
    program: &'static str,
    /// The folder itself is the last one.
    arguments: &'static [&'static str],
}

const DOWNLOADS: &[Download] = &[
    Download {
        orb: "JacORB",
        folder: "jacorb",
        content: "jacorb-3.9.jar",
        program: "mvn",
        arguments: &[
            "--quiet",
            "--batch-mode",
            "--file=tests/interop/jacorb/pom.xml",
            "dependency:copy-dependencies",
            "-DoutputDirectory=",
        ],
    },
    Download {
        orb: "omniORBpy",
        folder: "omniorbpy",
        content: "omniORB/CORBA.py",
        program: "pip3",
        arguments: &[
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--no-deps",
            "--only-binary=:all:",
            "salome-omniorb==4.2.5",
            "--target=",
        ],
    },
    Download {
        orb: "rustorb",
        folder: "rustorb",
        content: "debug/rustorb-peer",
        program: "cargo",
        arguments: &[
            "build",
            "--quiet",
            "--locked",
            "--manifest-path=tests/interop/rustorb/Cargo.toml",
            "--target-dir=",
        ],
    },
];

impl Download {
    fn is_there(&self) -> bool {
        self.folder().join(self.content).exists()
    }

    fn folder(&self) -> PathBuf {
        root().join("target/peers").join(self.folder)
    }

    fn run(&self) -> Result<(), String> {
        let folder = self.folder();
        // Files that an interrupted run has left.
        let _ = fs::remove_dir_all(&folder);
        let (last, arguments) = self.arguments.split_last().expect("the folder");
        let last = format!("{last}{}", folder.display());
        command::new(self.program, &[arguments, &[last.as_str()]].concat()).run()
    }
}

fn in_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| {
        env::split_paths(&path)
            .chain(["/usr/sbin".into()])
            .any(|folder| folder.join(program).is_file())
    })
}
