//! The findings of [Gill 2004] 3.2, each with bounds on both sides where the paper states them.

use std::ops::RangeInclusive;

use punctual_harness::{Claim, Outcome, statistics::ratio_of_counts};

use super::Counted;

/// All claims.
pub(super) const ALL: [&str; 9] = [
    "muf.critical",
    "muf.wasted",
    "muf.made",
    "muf.not-more",
    "rms.critical",
    "rms.critical-most",
    "rms.cancelling",
    "rms.cancelling-most",
    "muf.additional",
];

const SOURCE: &str = "[Gill 2004] 3.2";
/// Ratio of those dispatched in vain: fewer, by more than two equal runs differ.
const FEWER: f64 = 0.9;
/// Ratio of other operations in time with cancellation to those without: "comparable", "slightly lower".
const SHARE_MADE: RangeInclusive<f64> = 0.9..=1.0;
/// Critical deadlines missed per sample under RMS.
const RMS_MISSES: RangeInclusive<f64> = 2.0..=6.0;
/// The same with cancellation.
const RMS_MISSES_CANCELLING: RangeInclusive<f64> = 6.0..=7.0;

/// Adds all claims about the four cases: MUF and RMS, each without and with cancellation.
pub(super) fn evaluate(counted: &[Counted], outcome: &mut Outcome) {
    let [muf, muf_cancelling, rms, rms_cancelling] = counted else {
        return;
    };
    let mut add = |claim: Claim| outcome.claim(claim);
    add(Claim::at_most(
        "muf.critical",
        "MUF with and without cancellation: critical deadlines missed",
        SOURCE,
        f64::from(muf.critical_missed + muf_cancelling.critical_missed),
        0.0,
    ));
    add(Claim::below(
        "muf.wasted",
        "MUF: other operations that were dispatched and then missed, with cancellation over those without",
        SOURCE,
        f64::from(muf_cancelling.other.missed) / f64::from(muf.other.missed),
        FEWER,
    ));
    let made = ratio_of_counts(muf_cancelling.other.made, muf.other.made);
    let text = "MUF: other operations in time with cancellation over those without";
    let (least, most) = (*SHARE_MADE.start(), *SHARE_MADE.end());
    add(Claim::at_least(
        "muf.made",
        format!("{text} (\"comparable\")"),
        SOURCE,
        made,
        least,
    ));
    add(Claim::at_most(
        "muf.not-more",
        format!("{text} (\"slightly lower\")"),
        SOURCE,
        made,
        most,
    ));
    let cases = [
        ("critical", "without", rms, RMS_MISSES),
        ("cancelling", "with", rms_cancelling, RMS_MISSES_CANCELLING),
    ];
    for (id, how, counted, range) in cases {
        let text = format!("RMS {how} cancellation: critical deadlines missed per sample of a second");
        let (id, missed) = (format!("rms.{id}"), counted.missed_per_sample());
        add(Claim::at_least(&*id, &*text, SOURCE, missed, *range.start()));
        add(Claim::at_most(
            format!("{id}-most"),
            text,
            SOURCE,
            missed,
            *range.end(),
        ));
    }
    let additional = ratio_of_counts(muf.other.made, rms.other.made);
    add(Claim::above(
        "muf.additional",
        "without cancellation: other operations in time under MUF over those under RMS, above 1",
        SOURCE,
        additional,
        1.0,
    ));
}
