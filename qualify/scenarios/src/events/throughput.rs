//! Throughput of a channel: in one process, and over shared memory.

use std::time::Duration;

use punctual_harness::Row;

use super::{
    ANSWER, DROPPING, Extent, HIGH, SINGLY, SUPPLIER,
    channel::{ChannelSetup, Collocated},
    claims,
    site::{Site, channel_setup},
    supplier::{Amount, Push},
};
use crate::{cubit::transport::Transport, error::Error, experiment::Trial};

const CONSUMERS: u32 = 10;
/// Length of their queues.
const QUEUE: usize = 1_024;

pub(super) fn collocated(trial: &mut Trial<'_>, extent: Extent) -> Result<(), Error> {
    let expected = Duration::from_micros(u64::from(extent.many) * 10);
    trial.stage("events to ten consumers of the same process", expected);
    let singly = trial.testbed.is_under(&SINGLY);
    let setup = channel_setup(trial.testbed, Transport::Tcp);
    let mut site = Site::start(trial.testbed, &setup, HIGH, expected * 10 + ANSWER)?;
    let task = Collocated {
        priority: if singly { SUPPLIER } else { HIGH },
        events: extent.many,
        consumers: CONSUMERS,
        queue: QUEUE,
    };
    let rate = site.channels[0].perform(&task, ANSWER)?;
    site.stop()?;
    let deliveries = u64::from(extent.many * CONSUMERS);
    let hz = rate.deliveries as f64 / rate.elapsed.as_secs_f64();
    trial.outcome.row(
        Row::new()
            .with("kind", "throughput")
            .with("what", "one process, ten consumers")
            .with("events_hz", hz / f64::from(CONSUMERS))
            .with("deliveries_hz", hz)
            .with("set", rate.deliveries as f64 / rate.sets as f64)
            .with("lost", deliveries.saturating_sub(rate.deliveries))
            .with("jumps", rate.jumps),
    );
    // Each consumer got each number once and in order.
    let is_complete = rate.deliveries == deliveries && rate.jumps == 0;
    let hz = if is_complete { hz } else { 0.0 };
    claims::collocated(hz, &mut trial.outcome);
    Ok(())
}

/// Events in a set.
const SET: u32 = 64;
/// Length of the consumer's queue.
const REMOTE_QUEUE: usize = 256;

/// The supplier has the priority of channel and consumer, so that it pushes until memory or queue is full.
pub(super) fn shared_memory(trial: &mut Trial<'_>, extent: Extent) -> Result<(), Error> {
    let expected = Duration::from_micros(u64::from(extent.many) * 5);
    trial.stage("sets of events over shared memory", expected);
    let (set, priority) = match trial.testbed.is_under(&SINGLY) {
        true => (1, SUPPLIER),
        false => (SET, HIGH),
    };
    let setup = ChannelSetup {
        queue: REMOTE_QUEUE,
        blocks: !trial.testbed.is_under(&DROPPING),
        ..channel_setup(trial.testbed, Transport::Shm)
    };
    let mut site = Site::start(trial.testbed, &setup, priority, expected * 10 + ANSWER)?;
    let push = |events: u32| Push {
        amount: Amount::Sets(events / set),
        set,
        interval: Duration::ZERO,
    };
    // Warm-up: connections and memory reach their final size.
    site.push(&push(64 * SET))?;
    let (pushed, collected) = site.push(&push(extent.many))?;
    site.stop()?;
    let hz = collected.events as f64 / (collected.end - pushed.begin).as_secs_f64();
    let lost = pushed.events - collected.events.min(pushed.events);
    let row = Row::new()
        .with("kind", "throughput")
        .with("what", "three processes over shared memory")
        .with("events_hz", hz)
        .with("deliveries_hz", hz)
        .with("set", collected.events as f64 / collected.sets as f64)
        .with("lost", lost)
        .with("jumps", collected.jumps);
    trial.outcome.row(row.with_fields(&collected.latencies.summary()));
    claims::shared_memory(hz, lost.max(collected.jumps), &mut trial.outcome);
    Ok(())
}
