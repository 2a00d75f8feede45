//! Latency of an event beside that over other publish/subscribe engines, in blocks that alternate. The
//! program `qualify/pubsub` measures theirs.

use std::{env, path::PathBuf, time::Duration};

use punctual_harness::{Latencies, Row, blocks::interleave};

use super::{
    ANSWER, Extent, SUPPLIER, TIMEOUT,
    latency::{INTERVAL, add},
    site::{Site, channel_setup},
    supplier::{Amount, Push},
};
use crate::{cubit::transport::Transport, error::Error, experiment::Trial, load::OtherProgram};

/// Names the program that publishes over other engines.
const PROGRAM: &str = "PUNCTUAL_PUBSUB";

/// The engines of the program, and their names in rows.
const ENGINES: [(&str, &str); 3] = [
    ("zenoh", "Zenoh, from peer to peer over TCP"),
    ("zenoh-router", "Zenoh, through a router over TCP"),
    ("iceoryx2", "iceoryx2, shared memory"),
];

/// Our channels, and their names in rows.
const OURS: [(Transport, &str); 2] = [
    (Transport::Tcp, "Punctual, through a channel over TCP"),
    (Transport::Shm, "Punctual, through a channel over shared memory"),
];

const COMPARED: usize = OURS.len() + ENGINES.len();

/// Returns the expected duration; zero without the program.
pub(super) fn expected(extent: Extent) -> Duration {
    match env::var_os(PROGRAM) {
        Some(_) => INTERVAL * extent.block * (extent.rounds + 1) as u32 * COMPARED as u32,
        None => Duration::ZERO,
    }
}

pub(super) fn measure(trial: &mut Trial<'_>, extent: Extent) -> Result<(), Error> {
    let Some(program) = env::var_os(PROGRAM).map(PathBuf::from) else {
        let why = format!("{PROGRAM} does not name the program of qualify/pubsub");
        trial.text(
            "comparison",
            format!("Not compared with Zenoh and iceoryx2: {why}."),
        );
        trial
            .outcome
            .skip(None, "comparison with Zenoh and iceoryx2", why);
        return Ok(());
    };
    let expected = expected(extent);
    trial.stage("events over several engines in turn", expected);
    let limit = expected * 10 + TIMEOUT;
    let cpu = trial
        .testbed
        .places
        .pinned
        .iter()
        .next()
        .ok_or("no CPU to measure on")?;
    let mut ours = Vec::new();
    for (transport, _) in OURS {
        let setup = channel_setup(trial.testbed, transport);
        ours.push(Site::start(trial.testbed, &setup, SUPPLIER, limit)?);
    }
    let mut others = Vec::new();
    for (engine, _) in ENGINES {
        others.push(OtherProgram::start(&program, &[engine, &cpu.to_string()])?);
    }
    let push = Push {
        amount: Amount::Sets(extent.block),
        set: 1,
        interval: INTERVAL,
    };
    let mut run = |index: usize, _| -> Result<Latencies, Error> {
        match index.checked_sub(OURS.len()) {
            None => Ok(ours[index].push(&push)?.1.latencies),
            Some(index) => publish(&mut others[index], extent.block),
        }
    };
    let all: Vec<usize> = (0..COMPARED).collect();
    for index in &all {
        run(*index, 0)?;
    }
    let blocks = interleave(&all, extent.rounds, run)?;
    for site in ours {
        site.stop()?;
    }
    let names = OURS.into_iter().map(|(_, name)| name);
    for (name, blocks) in names
        .chain(ENGINES.into_iter().map(|(_, name)| name))
        .zip(&blocks)
    {
        add("comparison", name, blocks, Row::new(), trial);
    }
    trial.text(
        "comparison",
        "Events of 64 octets, one each 500 µs, in blocks that alternate. All processes run on the measured \
         CPU at SCHED_FIFO priorities, that of the publisher below the others. Only a channel filters, and \
         keeps priorities apart.",
    );
    Ok(())
}

/// Publishes events over the engine of this program.
fn publish(engine: &mut OtherProgram, events: u32) -> Result<Latencies, Error> {
    engine.write(events)?;
    let mut latencies = Latencies::new();
    let times: Vec<u64> = serde_json::from_str(&engine.read(ANSWER)?)?;
    times.into_iter().for_each(|time| latencies.record(time));
    Ok(latencies)
}
