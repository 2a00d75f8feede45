//! Mean and jitter of the 20 Hz client, the metrics of the papers, and their "average priority inversion":
//! the more important client has the larger mean. The CPU is also kept awake, which shows how much of that is
//! the wake-up of an idle CPU.

use punctual_harness::{Claim, Hole, Outcome};

use super::{
    super::mt_cubit::{MeanAndJitter, jitter_of_groups},
    Configuration, MOST_LOW, Point, high, low,
};
use crate::load::PhaseResult;

/// The smallest number of low-priority clients that runs of all lengths measure.
pub(super) const FEW_LOW: usize = 9;
/// The largest acceptable growth, as of the percentiles.
const GROWTH: f64 = 1.25;
/// The growth of jitter above which it is noticeable: two equal points differ by a factor of up to 1.84.
const NOTICEABLE: f64 = 2.0;
/// The jitter of Linux/RT with many clients in figure 6, in microseconds.
const PAPER_JITTER_US: f64 = 200.0;
/// The largest ratio of two means that a figure of the papers does not show as an inversion.
const INVERSION: f64 = 1.1;
const SCHMIDT: &str = "Punctual's limit, after [Schmidt 2002] figure 4";

/// Claims mean and jitter of the high-priority client with its own lane, over the calls outside holes.
pub(super) fn claim(points: &[PhaseResult<Point>], holes: &[Hole], outcome: &mut Outcome) {
    let at = |low: usize, awake: bool| own_lanes(points, low, awake);
    let of_high = |low: usize| Some(MeanAndJitter::of_clients(high(at(low, false)?), holes));
    let mean_ratio = || Some(of_high(MOST_LOW)?.mean_us? / of_high(0)?.mean_us?);
    let mut claim_at_most = |id: &str, text: &str, source: &str, measured: Option<f64>, limit: f64| {
        let measured = measured.unwrap_or(f64::NAN);
        outcome.claim(Claim::at_most(id, text, source, measured, limit));
    };
    let text = "own lanes: mean latency of the 20 Hz client with 50 low-priority clients over that without";
    claim_at_most("20hz.mean-ratio", text, SCHMIDT, mean_ratio(), GROWTH);
    let text = "own lanes: jitter of the 20 Hz client, in groups of calls, with 50 low-priority clients over \
                that without";
    let source = "Punctual's limit, after [Schmidt 2002] figure 5";
    claim_at_most(
        "20hz.jitter-ratio",
        text,
        source,
        jitter_ratio(points, holes, MOST_LOW, 0),
        GROWTH,
    );
    let text = "own lanes: jitter of the 20 Hz client with 50 low-priority clients (µs)";
    let jitter = of_high(MOST_LOW).and_then(|high| high.jitter_us);
    claim_at_most(
        "20hz.jitter",
        text,
        "[Schmidt 2002] figure 6, Linux/RT",
        jitter,
        PAPER_JITTER_US,
    );
    let inversion = |awake| {
        let point = at(MOST_LOW, awake)?;
        let mean = |clients| MeanAndJitter::of_clients(clients, holes).mean_us;
        Some(mean(high(point))? / mean(low(point))?)
    };
    let text = "own lanes: mean latency of the 20 Hz client over that of the 50 low-priority clients: no \
                average priority inversion";
    let source = "Punctual's limit, after [Levine 1999]";
    claim_at_most("average-inversion", text, source, inversion(false), INVERSION);
    let text = "the same while an ordinary thread keeps the CPU from idling";
    claim_at_most(
        "average-inversion.awake",
        text,
        source,
        inversion(true),
        INVERSION,
    );
    let mean_of_low = |clients: usize| MeanAndJitter::of_clients(low(at(clients, false)?), holes).mean_us;
    let rise = mean_of_low(MOST_LOW).zip(mean_of_low(FEW_LOW));
    let text = "own lanes: mean latency of 50 low-priority clients over that of 9, above 1: it rises";
    let source = "[Schmidt 2002] 3.3";
    let rise = rise.map_or(f64::NAN, |(many, few)| many / few);
    outcome.claim(Claim::above("low.rises", text, source, rise, 1.0));
}

/// Claims how the jitter of the high-priority client changes with the number of others on Linux/RT.
pub(super) fn claim_jitter(points: &[PhaseResult<Point>], holes: &[Hole], outcome: &mut Outcome) {
    let ratio = |many: usize, few: usize| jitter_ratio(points, holes, many, few).unwrap_or(f64::NAN);
    outcome.claim(Claim::above(
        "20hz.jitter-rises",
        "own lanes: jitter of the 20 Hz client with 9 low-priority clients over that without, above the limit: \
         it is noticeably higher",
        "[Schmidt 2002] figure 5, Linux/RT",
        ratio(FEW_LOW, 0),
        NOTICEABLE,
    ));
    outcome.claim(Claim::at_most(
        "20hz.jitter-constant",
        "own lanes: jitter of the 20 Hz client with 50 low-priority clients over that with 9: it remains \
         constant",
        "[Schmidt 2002] figure 6, Linux/RT",
        ratio(MOST_LOW, FEW_LOW),
        GROWTH,
    ));
}

/// Returns the jitter of the high-priority client beside `many` others over that beside `few`.
fn jitter_ratio(points: &[PhaseResult<Point>], holes: &[Hole], many: usize, few: usize) -> Option<f64> {
    let jitter = |low: usize| {
        let point = own_lanes(points, low, false)?;
        jitter_of_groups(high(point).first()?, holes)
    };
    Some(jitter(many)? / jitter(few)?)
}

/// Returns the point of the curve with lanes at this number of low-priority clients.
fn own_lanes(points: &[PhaseResult<Point>], low: usize, awake: bool) -> Option<&PhaseResult<Point>> {
    let wanted = Point::Curve {
        configuration: Configuration::Own,
        low,
        awake,
    };
    points.iter().find(|point| point.key == wanted)
}
