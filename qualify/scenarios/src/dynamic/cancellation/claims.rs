//! The claims of `dyn.cancellation`: the five findings of [Gill 2004] 3.2, and one of ours on utility.

use std::ops::RangeInclusive;

use punctual_harness::{Claim, Outcome, statistics::ratio_of_counts};

use super::{Named, Ran};

const SOURCE: &str = "[Gill 2004] 3.2";

/// The claims about live runs.
pub(super) const LIVE: [&str; 12] = [
    "live.rms.cancelled",
    "live.muf.critical",
    "live.muf.wasted",
    "live.muf.made",
    "live.muf.not-more",
    "live.rms.critical",
    "live.rms.critical-most",
    "live.rms.cancelling",
    "live.rms.cancelling-most",
    "live.rms.worse",
    "live.muf.additional",
    "live.mau.utility",
];

/// The largest ratio of other operations dispatched in vain, with cancellation to without. The paper states
/// no number: fewer, by more than two equal runs differ (in the flight program, 404 to 714).
const FEWER_WASTED: f64 = 0.4;
/// Ratio of other operations in time with cancellation to those without: "comparable", "slightly lower".
const SHARE_MADE: RangeInclusive<f64> = 0.9..=1.0;
/// Critical deadlines missed per sample under RMS.
const RMS_MISSES: RangeInclusive<f64> = 2.0..=6.0;
/// The same with cancellation.
const RMS_MISSES_CANCELLING: RangeInclusive<f64> = 6.0..=7.0;
/// The smallest ratio of critical deadlines missed with cancellation to those without at which it makes
/// matters worse: more than two equal runs differ.
const WORSE: f64 = 1.05;
const TOO_FEW: &str =
    "fewer than 20 misses without cancellation are too few for a ratio: a full run has more samples";
/// The largest ratio of numbers of cancelled operations at which RMS has "few" of them.
const FEW: f64 = 0.5;
/// The smallest ratio of MAU's utility to EDF's in live runs, which differ by noise.
const LIVE_MARGIN: f64 = 0.95;

/// Adds all claims, simulated and, if available, live. Misses are those that no hole in the kernel's
/// scheduling explains, under every scheduler.
pub(super) fn evaluate(ran: &[Ran], outcome: &mut Outcome) {
    for place in ["simulated", "live"] {
        let of = |scheduler: Named, cancels: bool| {
            ran.iter().find(|ran| {
                !ran.case.by_kernel
                    && ran.place() == place
                    && (ran.case.scheduler, ran.case.cancels) == (scheduler, cancels)
            })
        };
        let all = of(Named::Muf, false)
            .zip(of(Named::Muf, true))
            .zip(of(Named::Rms, false).zip(of(Named::Rms, true)))
            .zip(of(Named::Edf, false).zip(of(Named::Mau, false)));
        if let Some(((muf, rms), (edf, mau))) = all {
            muf_claims(place, muf, outcome);
            rms_claims(place, rms, outcome);
            few_claim(place, muf.1, rms.1, outcome);
            additional_claim(place, muf.0, rms.0, outcome);
            utility_claim(place, edf, mau, outcome);
        }
    }
}

/// Results without and with cancellation.
type Pair<'r> = (&'r Ran, &'r Ran);

fn muf_claims(place: &str, (without, with): Pair<'_>, outcome: &mut Outcome) {
    outcome.claim(Claim::at_most(
        format!("{place}.muf.critical"),
        format!("{place}, MUF with and without cancellation: critical deadlines missed"),
        SOURCE,
        f64::from(without.critical_unexcused + with.critical_unexcused),
        0.0,
    ));
    let wasted = |ran: &Ran| f64::from(ran.total().other.missed);
    outcome.claim(Claim::below(
        format!("{place}.muf.wasted"),
        format!(
            "{place}, MUF: other operations that were dispatched and then missed, with cancellation over \
             those without"
        ),
        SOURCE,
        wasted(with) / wasted(without),
        FEWER_WASTED,
    ));
    let made = |ran: &Ran| ran.total().other.made;
    let share = ratio_of_counts(made(with), made(without));
    outcome.claim(Claim::at_least(
        format!("{place}.muf.made"),
        format!(
            "{place}, MUF: other operations in time with cancellation over those without (\"comparable\")"
        ),
        SOURCE,
        share,
        *SHARE_MADE.start(),
    ));
    outcome.claim(Claim::at_most(
        format!("{place}.muf.not-more"),
        format!(
            "{place}, MUF: other operations in time with cancellation over those without (\"slightly lower\")"
        ),
        SOURCE,
        share,
        *SHARE_MADE.end(),
    ));
}

fn rms_claims(place: &str, (without, with): Pair<'_>, outcome: &mut Outcome) {
    let cases = [
        ("critical", "without cancellation", without, RMS_MISSES),
        ("cancelling", "with cancellation", with, RMS_MISSES_CANCELLING),
    ];
    for (id, how, ran, range) in cases {
        let missed = f64::from(ran.critical_unexcused) / ran.samples.len() as f64;
        let text = format!("{place}, RMS {how}: critical deadlines missed per sample of a second");
        let id = format!("{place}.rms.{id}");
        outcome.claim(Claim::at_least(&*id, &*text, SOURCE, missed, *range.start()));
        let claim = Claim::at_most(format!("{id}-most"), text, SOURCE, missed, *range.end());
        outcome.claim(claim);
    }
    worse_claim(place, (without, with), outcome);
}

fn worse_claim(place: &str, (without, with): Pair<'_>, outcome: &mut Outcome) {
    let id = format!("{place}.rms.worse");
    let text = format!(
        "{place}, RMS: critical deadlines missed with cancellation over those without (\"worse\"), above"
    );
    let ratio = ratio_of_counts(with.critical_unexcused, without.critical_unexcused);
    if ratio.is_nan() {
        return outcome.skip(Some(&id), text, TOO_FEW);
    }
    outcome.claim(Claim::above(id, text, SOURCE, ratio, WORSE));
}

fn few_claim(place: &str, muf: &Ran, rms: &Ran, outcome: &mut Outcome) {
    let cancelled = |ran: &Ran| f64::from(ran.total().other.cancelled);
    outcome.claim(Claim::at_most(
        format!("{place}.rms.cancelled"),
        format!("{place}, with cancellation: operations cancelled under RMS over those under MUF (\"few\")"),
        SOURCE,
        cancelled(rms) / cancelled(muf),
        FEW,
    ));
}

fn additional_claim(place: &str, muf: &Ran, rms: &Ran, outcome: &mut Outcome) {
    let made = |ran: &Ran| ran.total().other.made;
    outcome.claim(Claim::above(
        format!("{place}.muf.additional"),
        format!(
            "{place}, without cancellation: other operations in time under MUF over those under RMS, above"
        ),
        SOURCE,
        ratio_of_counts(made(muf), made(rms)),
        1.0,
    ));
}

fn utility_claim(place: &str, edf: &Ran, mau: &Ran, outcome: &mut Outcome) {
    let share = |ran: &Ran| ran.utility as f64 / ran.offered as f64;
    let margin = if mau.live { LIVE_MARGIN } else { 1.0 };
    outcome.claim(Claim::at_least(
        format!("{place}.mau.utility"),
        format!("{place}: utility that MAU accrues, as a multiple of EDF's"),
        "Punctual's limit",
        share(mau) / share(edf),
        margin,
    ));
}
