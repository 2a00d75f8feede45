//! Claims about the event service.

use punctual_harness::{Claim, MedianEstimate, Outcome};

/// Ids of all claims.
pub(super) const ALL: [&str; 6] = [
    "latency",
    "isolation.other-type",
    "isolation.same-type",
    "collocated",
    "shared-memory.rate",
    "shared-memory.loss",
];

const SOURCE: &str = "Punctual's limit";
const LATENCY: f64 = 2.3;
const ISOLATION: f64 = 1.5;
const DELIVERIES_HZ: f64 = 1e6;
const EVENTS_HZ: f64 = 2e5;

/// Median latency of an event over that of a two-way call.
pub(super) fn latency(ratio: Option<MedianEstimate>, outcome: &mut Outcome) {
    let text = "an event, through the channel to a consumer: p50 over that of a two-way call, at most";
    outcome.claim(Claim::at_most("latency", text, SOURCE, median(ratio), LATENCY));
}

/// 99th percentiles beside consumers of a low priority over those without them.
pub(super) fn isolation(
    other_type: Option<MedianEstimate>,
    same_type: Option<MedianEstimate>,
    outcome: &mut Outcome,
) {
    let text = "an event of high priority beside 200 consumers of low priority, flooded with others: p99 \
                over that without them, at most";
    let claim = Claim::at_most(
        "isolation.other-type",
        text,
        SOURCE,
        median(other_type),
        ISOLATION,
    );
    outcome.claim(claim);
    let text = "an event of high priority that 200 consumers of low priority get, too: p99 over that without \
                them, at most";
    let claim = Claim::at_most("isolation.same-type", text, SOURCE, median(same_type), ISOLATION);
    outcome.claim(claim);
}

pub(super) fn collocated(deliveries_hz: f64, outcome: &mut Outcome) {
    let text = "events to ten consumers of the same process, each once and in order: deliveries per second, \
                at least";
    let claim = Claim::at_least("collocated", text, SOURCE, deliveries_hz, DELIVERIES_HZ);
    outcome.claim(claim);
}

/// `missing`: events that were lost, came twice or out of order.
pub(super) fn shared_memory(events_hz: f64, missing: u64, outcome: &mut Outcome) {
    let text =
        "sets of events over shared memory, to the channel and a consumer: events per second, at least";
    let claim = Claim::at_least("shared-memory.rate", text, SOURCE, events_hz, EVENTS_HZ);
    outcome.claim(claim);
    let text = "the same with full queues that block: events lost, repeated or out of order, at most";
    let claim = Claim::at_most("shared-memory.loss", text, SOURCE, missing as f64, 0.0);
    outcome.claim(claim);
}

fn median(ratio: Option<MedianEstimate>) -> f64 {
    ratio.map_or(f64::NAN, |ratio| ratio.median)
}
