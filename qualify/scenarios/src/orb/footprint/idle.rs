//! A minimal client, a minimal server and a program with every feature, each in a process of its own: their
//! sizes, and their memory while nothing is called.

use std::{path::PathBuf, time::Duration};

use punctual_harness::{Claim, Row};
use punctual_os::TaskId;

use super::{Memory, program::Program};
use crate::{control::Control, error::Error, experiment::Trial, load::OtherProgram};

const OCTETS: &str = "idle.octets";
const RESIDENT: &str = "idle.resident";
pub(super) const CLAIMS: &[&str] = &[OCTETS, RESIDENT];
pub(super) const THIS_PROGRAM: Control = Control {
    id: "this-program",
    about: "this program, which has every feature, in the place of the minimal ones",
    breaks: CLAIMS,
};

/// The program with every feature, for which there is no limit.
const EVERYTHING: &str = "client and server with every feature";
const START: Duration = Duration::from_secs(20);

/// Adds a row for each program of each build, and claims about the larger minimal static one; skipped unless
/// all were built.
pub(super) fn measure(trial: &mut Trial<'_>) {
    let under_control = trial.testbed.is_under(&THIS_PROGRAM);
    for build in [Build::Static, Build::Dynamic] {
        let measured = match under_control {
            true => this_program(),
            false => programs(build),
        };
        match measured {
            Ok(measured) => report(build, &measured, trial),
            Err(error) => {
                let reason = format!("{error}; `{}` builds it", build.command());
                let what = format!(
                    "minimal client and server, and one with every feature, {}",
                    build.name()
                );
                match build {
                    Build::Static => CLAIMS
                        .iter()
                        .for_each(|claim| trial.outcome.skip(Some(claim), what.as_str(), reason.as_str())),
                    Build::Dynamic => trial.outcome.skip(None, what, reason),
                }
            }
        }
    }
}

/// How the programs are built.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Build {
    /// One file that needs no library, optimised for size.
    Static,
    /// The user of this program.
    Dynamic,
}

impl Build {
    fn name(self) -> &'static str {
        match self {
            Self::Static => "static, profile `small`",
            Self::Dynamic => "dynamic, profile `release`",
        }
    }

    fn command(self) -> String {
        match self {
            Self::Static => format!(
                "cargo build --profile small --target {} -p punctual-footprint",
                target()
            ),
            Self::Dynamic => String::from("cargo build --release -p punctual-footprint"),
        }
    }

    /// Returns the path of a program; this one is in the folder of its own profile.
    fn path(self, program: &str) -> Result<PathBuf, Error> {
        let here = std::env::current_exe()?;
        Ok(match self {
            Self::Dynamic => here.with_file_name(program),
            Self::Static => {
                let all = here.ancestors().nth(2).ok_or("this program is in no folder")?;
                all.join(target()).join("small").join(program)
            }
        })
    }
}

/// Target of static programs.
fn target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

fn report(build: Build, measured: &Measured, trial: &mut Trial<'_>) {
    for (name, octets, memory) in measured {
        let row = Row::new().with("kind", "idle").with("program", *name);
        let row = row.with("build", build.name()).with("loaded_octets", *octets);
        let row = row.with("resident_kib", memory.resident_kib);
        trial.outcome.row(
            row.with("own_kib", memory.own_kib)
                .with("threads", memory.threads),
        );
    }
    if build == Build::Dynamic {
        return;
    }
    let limited = || measured.iter().filter(|(name, ..)| *name != EVERYTHING);
    let octets = limited().map(|(_, octets, _)| *octets).max();
    let resident = limited().map(|(_, _, memory)| memory.resident_kib).max();
    let mut claim = |id, text, measured: Option<u64>, limit| {
        let measured = measured.map_or(f64::NAN, |measured| measured as f64);
        let claim = Claim::at_most(id, text, "Punctual's limit", measured, limit);
        trial.outcome.claim(claim);
    };
    let text = "loaded octets of a minimal client or server";
    claim(OCTETS, text, octets, 1.5 * 1024.0 * 1024.0);
    let text = "resident memory of a minimal client or server that waits (KiB)";
    claim(RESIDENT, text, resident, 4096.0);
}

type Measured = Vec<(&'static str, u64, Memory)>;

fn this_program() -> Result<Measured, Error> {
    let octets = Program::of_this_process()?.loaded_octets();
    Ok(vec![(
        "this program",
        octets,
        Memory::of(TaskId::current_process())?,
    )])
}

fn programs(build: Build) -> Result<Measured, Error> {
    let server_path = build.path("footprint-server")?;
    let client_path = build.path("footprint-client")?;
    let everything_path = build.path("footprint-everything")?;
    let server = OtherProgram::start(&server_path, &[""; 0])?;
    let client = OtherProgram::start(&client_path, &[server.read(START)?])?;
    if client.read(START)? != "3" {
        return Err("the minimal client has another result than 3".into());
    }
    let everything = OtherProgram::start(&everything_path, &[""; 0])?;
    // It has made all of its calls.
    everything.read(START)?;
    Ok(vec![
        (
            "minimal server",
            Program::of(&server_path)?.loaded_octets(),
            Memory::of(server.id())?,
        ),
        (
            "minimal client",
            Program::of(&client_path)?.loaded_octets(),
            Memory::of(client.id())?,
        ),
        (
            EVERYTHING,
            Program::of(&everything_path)?.loaded_octets(),
            Memory::of(everything.id())?,
        ),
    ])
}
