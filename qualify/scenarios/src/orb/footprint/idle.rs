//! A minimal client and a minimal server, each in a process of its own: their sizes, and their memory while
//! nothing is called.

use std::time::Duration;

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

const START: Duration = Duration::from_secs(20);

/// Adds a row for each of the two programs, and claims about the larger one; skipped unless both were built.
pub(super) fn measure(trial: &mut Trial<'_>) {
    let measured = match trial.testbed.is_under(&THIS_PROGRAM) {
        true => this_program(),
        false => client_and_server(),
    };
    let measured = match measured {
        Ok(measured) => measured,
        Err(error) => {
            let reason = format!(
                "{error}; `cargo build --release -p punctual-footprint` builds it, and this program lies beside it \
                 then"
            );
            let what = "a minimal client and a minimal server";
            for claim in CLAIMS {
                trial.outcome.skip(Some(claim), what, reason.clone());
            }
            return;
        }
    };
    for (name, octets, memory) in &measured {
        let row = Row::new().with("kind", "idle").with("program", *name);
        let row = row.with("loaded_octets", *octets);
        let row = row.with("resident_kib", memory.resident_kib);
        trial.outcome.row(
            row.with("own_kib", memory.own_kib)
                .with("threads", memory.threads),
        );
    }
    let octets = measured
        .iter()
        .map(|(_, octets, _)| *octets)
        .max()
        .unwrap_or(u64::MAX);
    let resident = measured
        .iter()
        .map(|(_, _, memory)| memory.resident_kib)
        .max()
        .unwrap_or(u64::MAX);
    let source = "Punctual's limit";
    let text = "loaded octets of a minimal client or server";
    trial.outcome.claim(Claim::at_most(
        OCTETS,
        text,
        source,
        octets as f64,
        1.5 * 1024.0 * 1024.0,
    ));
    let text = "resident memory of a minimal client or server that waits (KiB)";
    trial
        .outcome
        .claim(Claim::at_most(RESIDENT, text, source, resident as f64, 4096.0));
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

fn client_and_server() -> Result<Measured, Error> {
    let here = std::env::current_exe()?;
    let [server_path, client_path] =
        ["footprint-server", "footprint-client"].map(|name| here.with_file_name(name));
    let server = OtherProgram::start(&server_path, &[""; 0])?;
    let client = OtherProgram::start(&client_path, &[server.read(START)?])?;
    if client.read(START)? != "3" {
        return Err("the minimal client has another result than 3".into());
    }
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
    ])
}
