//! `orb.footprint`: the sizes of this program, of programs with one feature each, and of the ORB's layers in
//! them, and the memory of servers.
//!
//! The paper measured the static libraries of TAO and ACE. Here the sizes are those after linking, from the
//! program's symbol table. Source: [Schmidt 2002] 3.4, figure 7.

mod features;
mod idle;
mod memory;
mod program;

use std::time::Duration;

use punctual_harness::{ChildSpec, Claim, Outcome, Row};

pub(crate) use self::memory::Memory;
use self::program::{Program, layers};
use super::{cpu_overhead::Scavenger, mt_cubit::priority};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{PoolSpec, SMALL_STACK_BYTES, Server, ServerSetup, ServerSpec},
    testbed::{Places, UNOPTIMISED},
};

pub(crate) struct Footprint;

const LANES: [usize; 4] = [1, 2, 10, 50];
const START: Duration = Duration::from_secs(20);

/// The smallest growth of memory that two equal servers do not show.
const COST: f64 = 0.1;
const SHARED: Control = Control {
    id: "shared",
    about: "one thread without lanes in the place of every number of lanes",
    breaks: &["lanes.cost"],
};

impl Experiment for Footprint {
    const NAME: &'static str = "orb.footprint";
    const ABOUT: &'static str =
        "sizes of programs, of features and of the ORB's layers, and memory of servers with 1 to 50 lanes";
    const PAGE: &'static str = include_str!("footprint.toml");
    const CONTROLS: &'static [Control] = &[features::WITH_THREADS, idle::THIS_PROGRAM, SHARED];

    fn expected(_: Length) -> Duration {
        Duration::from_millis(300)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        trial
            .outcome
            .parameter("stack_octets_per_lane_thread", SMALL_STACK_BYTES);
        trial.stage("programs", Duration::from_millis(500));
        let minimal = features::measure(trial);
        match Program::of_this_process() {
            Ok(program) => program_rows(&program, minimal.as_ref(), &mut trial.outcome),
            Err(error) => {
                let what = "sizes of this program and of its layers";
                trial.outcome.skip(None, what, error.to_string());
            }
        }
        idle::measure(trial);
        trial.stage("servers", Duration::from_secs(1));
        let shared = trial.testbed.is_under(&SHARED);
        server_rows(&trial.testbed.places, shared, &mut trial.outcome)?;
        let build = if UNOPTIMISED.is_none() {
            "This program is optimised as a whole, so inlined code counts for the layer that it was inlined \
             into."
        } else {
            "This program was built without optimisation: its code is several times larger than that of a \
             release build."
        };
        trial.text("build", build);
        Ok(())
    }
}

fn program_rows(program: &Program, minimal: Option<&Program>, outcome: &mut Outcome) {
    for (part, octets) in &program.parts {
        let row = Row::new().with("kind", "part").with("part", *part);
        outcome.row(row.with("octets", *octets));
    }
    if program.sizes.is_empty() {
        let reason = "this program was stripped and has no symbol table; build it with `strip = \"none\"` or \
                      \"debuginfo\"";
        return outcome.skip(None, "the ORB's size by layer", reason);
    }
    for (layer, about) in layers() {
        let sizes = program.sizes.get(layer).copied().unwrap_or_default();
        outcome.row(
            Row::new()
                .with("kind", "layer")
                .with("layer", layer)
                .with("about", about)
                .with("symbols", sizes.symbols)
                .with("code_octets", sizes.code)
                .with("data_octets", sizes.data)
                .with("octets", program.octets(layer))
                .with("minimal_octets", minimal.map(|minimal| minimal.octets(layer))),
        );
    }
    let part = "of that, all layers of the ORB, with distributable threads";
    let row = Row::new().with("kind", "part").with("part", part);
    outcome.row(row.with("octets", program.orb_octets()));
}

fn server_rows(places: &Places, shared: bool, outcome: &mut Outcome) -> Result<(), Error> {
    // The same program without an ORB, as the baseline of the servers.
    let without = ChildSpec::of::<Scavenger>("without").affinity(places.pinned.clone());
    let (without, ()) = without.start::<Scavenger>(&(), START)?;
    let memory = Memory::of(without.id())?;
    without.stop(START)?;
    outcome.row(memory.row("no ORB", 0));

    let without_lanes = PoolSpec::SinglePriority {
        threads: 1,
        priority: 0,
    };
    let pool = |lanes: usize| match shared {
        true => without_lanes.clone(),
        false => PoolSpec::Lanes((0..lanes).map(priority).collect()),
    };
    let lanes = LANES.map(|lanes| (lanes, pool(lanes)));
    let servers = std::iter::once(("one thread without lanes", 0, without_lanes.clone()))
        .chain(lanes.map(|(lanes, pool)| ("lanes of one thread", lanes, pool)));
    let mut by_lanes = Vec::new();
    for (name, lanes, pool) in servers {
        let spec = ChildSpec::of::<Server>("server").affinity(places.pinned.clone());
        let setup = ServerSetup {
            server: ServerSpec::of_many(vec![pool], lanes.max(1)),
            linked: false,
        };
        let (server, _) = spec.start::<Server>(&setup, START)?;
        let memory = Memory::of(server.id())?;
        server.stop(START)?;
        outcome.row(memory.row(name, lanes));
        if lanes > 0 {
            by_lanes.push((lanes, memory));
        }
    }
    if let (Some((few, small)), Some((many, large))) = (by_lanes.first(), by_lanes.last()) {
        let per_lane = |of: fn(&Memory) -> u64| (of(large) as f64 - of(small) as f64) / (many - few) as f64;
        outcome.row(
            Row::new()
                .with("kind", "lane")
                .with("resident_kib", per_lane(|memory| memory.resident_kib))
                .with("own_kib", per_lane(|memory| memory.own_kib))
                .with("of_that_stack_kib", SMALL_STACK_BYTES as f64 / 1024.0),
        );
        let more = (large.own_kib as f64 - small.own_kib as f64) / small.own_kib as f64;
        let text = "own memory of a server with 50 lanes beyond that with one, as a share of the latter, \
                    at least: lanes cost more than shared resources";
        let claim = Claim::at_least("lanes.cost", text, "[Pyarali 2002] 2.3", more, COST);
        outcome.claim(claim);
    }
    Ok(())
}
