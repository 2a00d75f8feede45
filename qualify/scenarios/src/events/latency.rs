//! Latency of an event, beside that of a call, and beside many consumers of a low priority.

use std::time::Duration;

use punctual_harness::{
    Latencies, Row,
    blocks::{interleave, median_ratio},
};

use super::{
    Extent, FLOOD, LOW, MEASURED, OTHER, SUPPLIER, TIMEOUT, URGENT, claims,
    consumer::{Collect, Subscribe},
    site::{Site, channel_setup, consumer, supplier},
    supplier::{Amount, Push},
};
use crate::{
    cubit::{
        client::{self, Kind, Length},
        operation::Operation,
        server,
        transport::Transport,
    },
    error::Error,
    experiment::Trial,
};

/// Blocks of events alternate with blocks of calls.
pub(super) fn measure(trial: &mut Trial<'_>, extent: Extent) -> Result<(), Error> {
    let expected = Duration::from_micros(u64::from(extent.block) * extent.rounds as u64 * 120);
    trial.stage("events and calls in turn", expected);
    let setup = channel_setup(trial.testbed, Transport::Tcp);
    let mut site = Site::start(trial.testbed, &setup, SUPPLIER, expected * 10 + TIMEOUT)?;
    let pinned = &trial.testbed.places.pinned;
    let (server, ready) = server::spawn_tcp(pinned, TIMEOUT)?;
    let mut caller = client::spawn(&ready, pinned, &[], TIMEOUT)?;
    let block = client::Block {
        operation: Operation::Long,
        kind: Kind::Ours,
        length: Length::Calls(extent.block),
        with_latencies: true,
    };
    let push = Push {
        amount: Amount::Sets(extent.block),
        set: 1,
        interval: Duration::ZERO,
    };
    let mut run = |is_event: bool, _| -> Result<Latencies, Error> {
        match is_event {
            true => Ok(site.push(&push)?.1.latencies),
            false => Ok(caller
                .perform(&block, TIMEOUT)?
                .latencies
                .ok_or("a block without latencies")?),
        }
    };
    for is_event in [false, true] {
        run(is_event, 0)?;
    }
    let blocks = interleave(&[false, true], extent.rounds, run)?;
    caller.stop(TIMEOUT)?;
    server.stop(TIMEOUT)?;
    site.stop()?;
    let p50 = |blocks: &[Latencies]| quantiles(blocks, 0.5);
    let ratio = median_ratio(&p50(&blocks[1]), &p50(&blocks[0]));
    for (what, blocks) in ["two-way call", "event"].into_iter().zip(&blocks) {
        add("latency", what, blocks, Row::new(), trial);
    }
    trial.text(
        "latency",
        ratio.map_or("?".to_owned(), |ratio| format!("{:.2}", ratio.median)),
    );
    claims::latency(ratio, &mut trial.outcome);
    Ok(())
}

/// Load beside the measured events.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Beside {
    Nothing,
    /// Consumers of another type, whose supplier never pauses.
    Flood,
    /// Consumers of the measured events.
    Sharing,
}

struct Block {
    latencies: Latencies,
    lost: u64,
    /// Deliveries to the other consumers.
    others: u64,
}

/// Number of consumers of the low priority.
const CONSUMERS: u32 = 200;
/// Between measured events.
pub(super) const INTERVAL: Duration = Duration::from_micros(500);

/// Blocks of events without and beside consumers of a low priority alternate.
pub(super) fn isolation(trial: &mut Trial<'_>, extent: Extent) -> Result<(), Error> {
    let kinds = [Beside::Nothing, Beside::Flood, Beside::Sharing];
    let events = extent.block * extent.rounds as u32 * kinds.len() as u32;
    let expected = (INTERVAL * events).mul_f64(1.5);
    trial.stage("events beside 200 consumers of low priority", expected);
    let setup = channel_setup(trial.testbed, Transport::Tcp);
    let mut site = Site::start(trial.testbed, &setup, URGENT, expected * 10 + TIMEOUT)?;
    let low = site.references.low.clone();
    let mut crowd = consumer(trial.testbed, Transport::Tcp, &low, LOW, OTHER.0, 0)?;
    let mut flood = supplier(trial.testbed, &low, FLOOD, OTHER.0)?;
    let push = Push {
        amount: Amount::Sets(extent.block),
        set: 1,
        interval: INTERVAL,
    };
    let flooding = Push {
        amount: Amount::Time(INTERVAL * extent.block),
        set: 1,
        interval: Duration::ZERO,
    };
    let mut run = |beside: Beside, _| -> Result<Block, Error> {
        let subscribe = |consumers, event_type| Subscribe {
            consumers,
            event_type,
        };
        let wanted = match beside {
            Beside::Nothing => subscribe(0, OTHER.0),
            Beside::Flood => subscribe(CONSUMERS, OTHER.0),
            Beside::Sharing => subscribe(CONSUMERS, MEASURED.0),
        };
        crowd.perform(&wanted, TIMEOUT)?;
        if beside == Beside::Flood {
            flood.begin(&flooding)?;
        }
        let (pushed, measured) = site.push(&push)?;
        if beside == Beside::Flood {
            flood.end::<Push>(TIMEOUT)?;
        }
        let others = crowd.perform(&Collect(0), TIMEOUT)?.events;
        Ok(Block {
            lost: pushed.events - measured.events.min(pushed.events),
            latencies: measured.latencies,
            others,
        })
    };
    for kind in kinds {
        run(kind, 0)?;
    }
    let blocks = interleave(&kinds, extent.rounds, run)?;
    crowd.perform(
        &Subscribe {
            consumers: 0,
            event_type: OTHER.0,
        },
        TIMEOUT,
    )?;
    flood.stop(TIMEOUT)?;
    crowd.stop(TIMEOUT)?;
    site.stop()?;
    evaluate(&blocks, trial);
    Ok(())
}

fn evaluate(blocks: &[Vec<Block>], trial: &mut Trial<'_>) {
    let names = [
        "no other consumers",
        "200, another type, flooded",
        "200, the same type",
    ];
    let mut p99 = Vec::new();
    // Consumers that get no events disturb no other one.
    let mut disturbed = Vec::new();
    for (what, blocks) in names.into_iter().zip(blocks) {
        let latencies: Vec<_> = blocks.iter().map(|block| block.latencies.clone()).collect();
        let counts = Row::new()
            .with("lost", blocks.iter().map(|block| block.lost).sum::<u64>())
            .with("others", blocks.iter().map(|block| block.others).sum::<u64>());
        add("isolation", what, &latencies, counts, trial);
        p99.push(quantiles(&latencies, 0.99));
        disturbed.push(blocks.iter().all(|block| block.others > 0));
    }
    let [none, other_type, same_type] = &p99[..] else {
        return;
    };
    claims::isolation(
        median_ratio(other_type, none).filter(|_| disturbed[1]),
        median_ratio(same_type, none).filter(|_| disturbed[2]),
        &mut trial.outcome,
    );
}

fn quantiles(blocks: &[Latencies], share: f64) -> Vec<f64> {
    let quantile = |block: &Latencies| block.quantile_us(share).unwrap_or(f64::NAN);
    blocks.iter().map(quantile).collect()
}

/// Adds a row and a curve.
pub(super) fn add(kind: &'static str, what: &str, blocks: &[Latencies], counts: Row, trial: &mut Trial<'_>) {
    let mut all = Latencies::new();
    blocks.iter().for_each(|block| all.merge(block));
    let row = Row::new()
        .with("kind", kind)
        .with("what", what)
        .with("count", all.count())
        .with_fields(&counts);
    trial.outcome.row(row.with_fields(&all.summary()));
    trial.curve(kind, what, all.curve());
}
