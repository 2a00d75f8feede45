//! The other ORBs that the interoperability tests run against.

use std::{env, path::Path};

use crate::command;

/// Installs missing packages or prints how to do so. With `PUNCTUAL_SKIP_PEERS=1` it prints which tests are
/// skipped instead.
pub fn provide() -> Result<(), String> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|package| !(package.is_there)())
        .map(|package| package.name)
        .collect();
    if missing.is_empty() {
        println!("omniORB and its tools are there");
        return Ok(());
    }
    if skipped() {
        println!(
            "missing: {}\nSKIPPED, since PUNCTUAL_SKIP_PEERS is set: the interoperability tests with omniORB, both directions",
            missing.join(" ")
        );
        return Ok(());
    }
    let packages = missing.join(" ");
    if !in_path("apt-get") || command::output("id", &["-u"])?.trim() != "0" {
        return Err(format!(
            "the interoperability tests need omniORB; install it with\n\n    \
             sudo apt-get install --no-install-recommends {packages}\n\n\
             or run without them: PUNCTUAL_SKIP_PEERS=1 cargo xtask test"
        ));
    }
    let install = ["install", "--yes", "--no-install-recommends"];
    let quiet = |arguments: &[&str]| {
        command::new("apt-get", arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .run()
    };
    quiet(&["update", "--quiet"])?;
    quiet(&[&install, &missing[..]].concat())
}

/// Whether the user does without the peers' tests.
pub fn skipped() -> bool {
    env::var("PUNCTUAL_SKIP_PEERS").is_ok_and(|value| value == "1")
}

/// A Debian package, and how to see that what it brings is there, from wherever it came.
struct Package {
    name: &'static str,
    is_there: fn() -> bool,
}

const PACKAGES: &[Package] = &[
    Package {
        name: "libomniorb4-dev",
        is_there: || {
            ["/usr/include", "/usr/local/include"]
                .iter()
                .any(|folder| Path::new(folder).join("omniORB4/CORBA.h").exists())
        },
    },
    Package {
        name: "omniidl",
        is_there: || in_path("omniidl"),
    },
    Package {
        name: "omniorb-nameserver",
        is_there: || in_path("omniNames"),
    },
    Package {
        name: "g++",
        is_there: || in_path("g++"),
    },
    Package {
        name: "make",
        is_there: || in_path("make"),
    },
];

fn in_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| {
        env::split_paths(&path)
            .chain(["/usr/sbin".into()])
            .any(|folder| folder.join(program).is_file())
    })
}
