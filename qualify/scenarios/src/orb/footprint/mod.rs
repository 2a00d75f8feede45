//! `orb.footprint`: the sizes of this program and of the ORB's layers in it, and the memory of servers.
//!
//! The paper measured the static libraries of TAO and ACE. Here the sizes are those after linking, from the
//! program's symbol table. Source: [Schmidt 2002] 3.4, figure 7.

mod memory;
mod page;
mod program;

use std::time::Duration;

use punctual_harness::{Child, ChildSpec, Outcome, Row};

pub(crate) use self::memory::Memory;
use self::program::{LAYERS, Program};
use super::{
    cpu_overhead::scavenger::SCAVENGER_ROLE,
    mt_cubit::{
        Pool, Threads, priority,
        server::{self, SERVER_ROLE, STACK_BYTES},
    },
};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    testbed::{Places, Testbed},
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "orb.footprint",
    about: "sizes of this program and of the ORB's layers, and memory of servers with 1 to 50 lanes",
    expected: |_| Duration::from_secs(2),
    run: measure,
    controls: &[],
};

const LANES: [usize; 4] = [1, 2, 10, 50];
const START: Duration = Duration::from_secs(20);

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let places = testbed.places.clone();
    let mut outcome = testbed.outcome(BENCHMARK.name);
    let optimised = !cfg!(debug_assertions);
    outcome.parameter("optimised", optimised);
    outcome.parameter("stack_octets_per_lane_thread", STACK_BYTES);
    let progress = &testbed.progress;
    progress.stage("the program", Duration::from_millis(500));
    match Program::of_this_process() {
        Ok(program) => program_rows(&program, &mut outcome),
        Err(error) => outcome.skip(None, "sizes of this program and of its layers", error.to_string()),
    }
    progress.stage("servers", Duration::from_secs(1));
    server_rows(&places, &mut outcome)?;
    let chapter = page::chapter(&outcome, optimised);
    Ok(Findings { outcome, chapter })
}

fn program_rows(program: &Program, outcome: &mut Outcome) {
    for (part, octets) in &program.parts {
        let row = Row::new().with("kind", "part").with("part", *part);
        outcome.row(row.with("octets", *octets));
    }
    if program.sizes.is_empty() {
        let reason = "this program was stripped and has no symbol table; build it with `strip = \"none\"` or \
                      \"debuginfo\"";
        return outcome.skip(None, "the ORB's size by layer", reason);
    }
    for (layer, about) in LAYERS {
        let sizes = program.sizes.get(layer).copied().unwrap_or_default();
        outcome.row(
            Row::new()
                .with("kind", "layer")
                .with("layer", *layer)
                .with("about", *about)
                .with("symbols", sizes.symbols)
                .with("code_octets", sizes.code)
                .with("data_octets", sizes.data)
                .with("octets", sizes.code + sizes.data),
        );
    }
}

fn server_rows(places: &Places, outcome: &mut Outcome) -> Result<(), Error> {
    // The same program without an ORB, as the baseline of the servers.
    let without = ChildSpec::new("without", SCAVENGER_ROLE).affinity(places.pinned.clone());
    let (without, ()): (Child, ()) = without.spawn(START)?;
    let memory = Memory::of(without.id())?;
    without.stop(START)?;
    outcome.row(memory.row("no ORB", 0));

    let without_lanes = Threads::WithoutLanes {
        threads: 1,
        priority: 0,
    };
    let lanes = LANES.map(|lanes| (lanes, Threads::Lanes((0..lanes).map(priority).collect())));
    let servers = std::iter::once(("one thread without lanes", 0, without_lanes))
        .chain(lanes.map(|(lanes, threads)| ("lanes of one thread", lanes, threads)));
    let mut by_lanes = Vec::new();
    for (name, lanes, threads) in servers {
        let server = ChildSpec::new("server", SERVER_ROLE).affinity(places.pinned.clone());
        let (server, _) = server::spawn(
            server,
            &[Pool {
                threads,
                servants: lanes.max(1),
            }],
        )?;
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
                .with("of_that_stack_kib", STACK_BYTES as f64 / 1024.0),
        );
    }
    Ok(())
}
