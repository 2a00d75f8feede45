//! Proxies of rustorb, with the program that `cargo xtask test peers` builds.

use std::{env, path::Path, process::Command, sync::OnceLock};

use punctual_fixtures::{Missing, skip};

use crate::process::{Program, Server};

/// The program is there, and up to date.
pub struct RustOrb(());

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/rustorb");
const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/peers/rustorb/debug/rustorb-peer"
);
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rustorb/Cargo.toml");

impl RustOrb {
    /// Brings the program up to date; records a skip without it.
    ///
    /// # Panics
    /// If it does not compile.
    pub fn build(scratch: &str) -> Option<&'static Self> {
        static BUILT: OnceLock<Option<RustOrb>> = OnceLock::new();
        let built = BUILT.get_or_init(|| {
            if !Path::new(PROGRAM).exists() {
                skip(Missing::Peer, "rustorb is not there: cargo xtask test peers");
                return None;
            }
            let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            command.args([
                "build",
                "--quiet",
                "--locked",
                "--offline",
                "--manifest-path",
                SOURCES,
            ]);
            command.args(["--target-dir", FOLDER]);
            Program::run(Path::new(scratch), "rustorb-build", command);
            Some(RustOrb(()))
        });
        built.as_ref()
    }

    /// Starts a server that passes all calls on to this `Peer`.
    pub fn server(&self, scratch: &str, options: &[&str], target: &str) -> Server {
        start(scratch, ("interop.idl", "Interop::Peer"), options, target)
    }

    /// Like [`Self::server`], of an `Exchange`.
    pub fn exchange(&self, scratch: &str, options: &[&str], target: &str) -> Server {
        start(scratch, ("dynamics.idl", "Dynamics::Exchange"), options, target)
    }
}

impl RustOrb {
    /// Like [`Self::server`], of a `Rotor`.
    pub fn rotor(&self, scratch: &str, target: &str) -> Server {
        start(scratch, ("quad.idl", "Quad::Rotor"), &[], target)
    }
}

fn start(scratch: &str, (idl, interface): (&str, &str), options: &[&str], target: &str) -> Server {
    let mut command = Command::new(PROGRAM);
    command
        .args(options)
        .args(["--interface", interface, "--proxy", target]);
    command.args(["--idl", &format!("{}/idl/{idl}", env!("CARGO_MANIFEST_DIR"))]);
    Server::start(Path::new(scratch), "rustorb-server", command)
}
