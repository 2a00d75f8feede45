//! The programs of the package `punctual-footprint`, which have one feature each. They lie beside this
//! program if they were built.

use std::collections::BTreeMap;

use punctual_harness::{Claim, Outcome, Row};

use super::program::Program;
use crate::{control::Control, error::Error, experiment::Trial};

/// Files without their prefix, and what they have besides an ORB, an object and a two-way call.
const PROGRAMS: [(&str, &str); 8] = [
    ("minimal", "nothing"),
    ("lanes", "a thread pool with two lanes"),
    ("asynchronous", "an asynchronous call"),
    ("dynamic", "a call without generated code"),
    ("interceptors", "a client interceptor"),
    (DISTRIBUTABLE, "a distributable thread and a scheduler"),
    ("events", "a channel of the event service"),
    (
        "everything",
        "all of these, value types, Any, a dynamic servant and one that answers later",
    ),
];
const DISTRIBUTABLE: &str = "distributable-threads";
/// The layer of distributable threads.
const RTSCHED: &str = "rtsched";

pub(super) const CLAIM: &str = "minimal.distributable-threads";
pub(super) const WITH_THREADS: Control = Control {
    id: "with-distributable-threads",
    about: "the program with a distributable thread in the place of the minimal one",
    breaks: &[CLAIM],
};

/// Adds a row for each program, and returns the minimal one; skipped unless all were built.
pub(super) fn measure(trial: &mut Trial<'_>) -> Option<Program> {
    match programs() {
        Ok(mut programs) => {
            rows(&programs, &mut trial.outcome);
            let evaluated = match trial.testbed.is_under(&WITH_THREADS) {
                true => DISTRIBUTABLE,
                false => "minimal",
            };
            trial.outcome.claim(Claim::at_most(
                CLAIM,
                "octets of distributable threads in a program that has none",
                "Punctual's limit",
                programs[evaluated].octets(RTSCHED) as f64,
                0.0,
            ));
            programs.remove("minimal")
        }
        Err(error) => {
            let reason = format!(
                "{error}; `cargo build --release -p punctual-footprint` builds it, and this program lies beside it \
                 then"
            );
            let what = "the minimal program, and the program of each feature";
            trial.outcome.skip(Some(CLAIM), what, reason);
            None
        }
    }
}

fn programs() -> Result<BTreeMap<&'static str, Program>, Error> {
    let here = std::env::current_exe()?;
    let read = |(name, _): (&'static str, &str)| {
        let program = Program::of(&here.with_file_name(format!("footprint-{name}")))?;
        match program.sizes.is_empty() {
            true => Err(format!("footprint-{name} was stripped and has no symbol table").into()),
            false => Ok((name, program)),
        }
    };
    PROGRAMS.into_iter().map(read).collect()
}

fn rows(programs: &BTreeMap<&str, Program>, outcome: &mut Outcome) {
    let minimal = programs["minimal"].loaded_octets() as f64;
    for (name, about) in PROGRAMS {
        let program = &programs[name];
        let loaded = program.loaded_octets();
        outcome.row(
            Row::new()
                .with("kind", "program")
                .with("program", name)
                .with("besides", about)
                .with("loaded_octets", loaded)
                .with("above_minimal_octets", loaded as f64 - minimal)
                .with("orb_octets", program.orb_octets())
                .with("rtsched_octets", program.octets(RTSCHED))
                .with("libraries_octets", program.octets("libraries")),
        );
    }
}
