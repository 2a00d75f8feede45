//! The claims of `dyn.cancellation`.

use punctual_harness::{Claim, Outcome};

use super::{Named, Ran};

const SOURCE: &str = "Punctual's limit, after [Gill 2004] 3.2";

/// The claims about live runs.
pub(super) const LIVE: [&str; 5] = [
    "live.muf.critical",
    "live.muf.wasted",
    "live.muf.made",
    "live.rms.critical",
    "live.mau.utility",
];

/// The largest ratio of wasted dispatches with cancellation to those without. The paper states no number.
const LARGEST_SHARE_WASTED: f64 = 0.5;
/// The range of the ratio of other operations in time with cancellation to those without: "comparable",
/// "slightly lower".
const SHARE_MADE: (f64, f64) = (0.9, 1.05);
/// The smallest such ratio of live runs, which differ by noise.
const LIVE_SHARE_MADE: f64 = 0.8;
/// The smallest ratio of MAU's utility to EDF's in live runs, which differ by noise.
const LIVE_MARGIN: f64 = 0.95;

/// Adds all claims, simulated and, if available, live.
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
            utility_claim(place, edf, mau, outcome);
        }
    }
}

/// Results without and with cancellation.
type Pair<'r> = (&'r Ran, &'r Ran);

fn muf_claims(place: &str, (without, with): Pair<'_>, outcome: &mut Outcome) {
    let critical = without.critical_unexcused + with.critical_unexcused;
    let outside = if with.live { " outside recorded holes" } else { "" };
    outcome.claim(Claim::at_most(
        format!("{place}.muf.critical"),
        format!("{place}, MUF with and without cancellation: critical deadlines missed{outside}"),
        SOURCE,
        f64::from(critical),
        0.0,
    ));
    let wasted = |ran: &Ran| f64::from(ran.total().other.missed);
    outcome.claim(Claim::at_most(
        format!("{place}.muf.wasted"),
        format!(
            "{place}, MUF: other operations that were dispatched and then missed, with cancellation over \
             those without"
        ),
        SOURCE,
        wasted(with) / wasted(without),
        LARGEST_SHARE_WASTED,
    ));
    let made = |ran: &Ran| f64::from(ran.total().other.made);
    let share = made(with) / made(without);
    let least = if with.live { LIVE_SHARE_MADE } else { SHARE_MADE.0 };
    outcome.claim(Claim::at_least(
        format!("{place}.muf.made"),
        format!(
            "{place}, MUF: other operations in time with cancellation over those without (\"comparable\")"
        ),
        SOURCE,
        share,
        least,
    ));
    // Live runs differ by more than the effect of cancellation.
    if !with.live {
        outcome.claim(Claim::at_most(
            format!("{place}.muf.not-more"),
            format!(
                "{place}, MUF: other operations in time with cancellation over those without (\"slightly \
                 lower\")"
            ),
            SOURCE,
            share,
            SHARE_MADE.1,
        ));
    }
}

fn rms_claims(place: &str, (without, with): Pair<'_>, outcome: &mut Outcome) {
    let missed = |ran: &Ran| f64::from(ran.total().critical.all_missed()) / ran.samples.len() as f64;
    outcome.claim(Claim::at_least(
        format!("{place}.rms.critical"),
        format!("{place}, RMS without cancellation: critical deadlines missed per sample of a second"),
        SOURCE,
        missed(without),
        1.0,
    ));
    // Live runs differ by more than the effect of cancellation.
    if !with.live {
        outcome.claim(Claim::at_least(
            format!("{place}.rms.not-fewer"),
            format!(
                "{place}, RMS: critical deadlines missed per sample with cancellation, not fewer than without"
            ),
            SOURCE,
            missed(with),
            missed(without),
        ));
    }
}

fn utility_claim(place: &str, edf: &Ran, mau: &Ran, outcome: &mut Outcome) {
    let share = |ran: &Ran| ran.utility as f64 / ran.offered as f64;
    let margin = if mau.live { LIVE_MARGIN } else { 1.0 };
    outcome.claim(Claim::at_least(
        format!("{place}.mau.utility"),
        format!("{place}: utility that MAU accrues, as a multiple of EDF's"),
        SOURCE,
        share(mau) / share(edf),
        margin,
    ));
}
