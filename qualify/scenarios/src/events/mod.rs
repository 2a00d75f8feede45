//! `bench events`: events from a supplier through a channel to a consumer, three processes on one CPU.
//! Latency beside a two-way call of the same run, isolation of a high priority from many consumers of a low
//! one, throughput, collocated and over shared memory.

mod channel;
mod claims;
mod compared;
mod consumer;
mod latency;
mod site;
mod supplier;
mod throughput;

use std::time::Duration;

use punctual_events::EventType;

use crate::{
    benchmark::Benchmark,
    control::Control,
    error::Error,
    experiment::{Experiment, Trial, benchmark},
    length::Length,
    role::{Role, entry},
};

pub(crate) const BENCHMARK: Benchmark = benchmark::<Events>();

/// The roles of the child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[
    entry::<channel::Channel>(),
    entry::<consumer::Consumer>(),
    entry::<supplier::Supplier>(),
];

struct Events;

impl Experiment for Events {
    const NAME: &'static str = "events";
    const ABOUT: &'static str = "latency, isolation and throughput of the event service";
    const PAGE: &'static str = include_str!("events.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = Some(&claims::ALL);
    const CONTROLS: &'static [Control] = &[ONE_LANE, GATEWAYS, SINGLY, DROPPING];

    fn expected(length: Length) -> Duration {
        Duration::from_secs(length.pick(12, 50, 50)) + compared::expected(Extent::of(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        trial.outcome.parameter("rounds", extent.rounds);
        trial.shortened(format!("blocks of {} events instead of 1,000", extent.block));
        trial.text("latency", "?");
        trial.text("comparison", "?");
        // A control is measured where it changes something.
        let control = trial.testbed.control;
        let is_wanted = |claim| control.is_none_or(|control| control.breaks(claim));
        if is_wanted("latency") {
            latency::measure(trial, extent)?;
        }
        if control.is_none() {
            compared::measure(trial, extent)?;
        }
        if is_wanted("isolation.other-type") {
            latency::isolation(trial, extent)?;
        }
        if is_wanted("collocated") {
            throughput::collocated(trial, extent)?;
        }
        if is_wanted("shared-memory.rate") || is_wanted("shared-memory.loss") {
            throughput::shared_memory(trial, extent)?;
        }
        Ok(())
    }
}

/// The amount of measurements.
#[derive(Clone, Copy)]
struct Extent {
    /// Rounds of alternating blocks.
    rounds: usize,
    /// Events or calls in each.
    block: u32,
    /// Events of a measurement of throughput.
    many: u32,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: 30,
            block: length.pick(200, 1_000, 1_000),
            many: length.pick(100_000, 1_000_000, 1_000_000),
        }
    }
}

/// Priority of channel and consumer; that of the compared call. SCHED_FIFO 50.
const HIGH: i16 = crate::cubit::server::PRIORITY;
/// Priority of a supplier without pauses: below `HIGH`, so that an event has arrived before the supplier
/// continues.
const SUPPLIER: i16 = 12_288;
/// Priority of a supplier at fixed times: above `HIGH`, so that no delivery delays the measured pushes.
const URGENT: i16 = 20_480;
/// Priority of many consumers.
const LOW: i16 = 8_192;
/// Priority of what floods them.
const FLOOD: i16 = 4_096;

/// Type of the measured events.
const MEASURED: EventType = EventType(16);
/// Type of the others.
const OTHER: EventType = EventType(17);

/// Octets of a payload: number of the event, time, and what fills it.
const PAYLOAD: usize = 64;
/// Timeout of starting and stopping a process.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of answers that wait for events.
const ANSWER: Duration = Duration::from_secs(120);

const ONE_LANE: Control = Control {
    id: "one-lane",
    about: "the channel has one lane for all suppliers and consumers",
    breaks: &["isolation.*"],
};

const GATEWAYS: Control = Control {
    id: "gateways",
    about: "the consumer's channel imports from one that imports from the supplier's",
    breaks: &["latency"],
};

const SINGLY: Control = Control {
    id: "singly",
    about: "sets of one event, from suppliers of a lower priority, so that each is delivered before the next",
    breaks: &["collocated", "shared-memory.rate"],
};

const DROPPING: Control = Control {
    id: "dropping",
    about: "queues that are full lose events, instead of blocking suppliers",
    breaks: &["shared-memory.loss"],
};
