//! The findings of [Gill 2004] 3.2, each with bounds on both sides where the paper states them.

use std::ops::RangeInclusive;

use punctual_harness::{Claim, Outcome, statistics::ratio_of_counts};

use super::Counted;

/// All claims.
pub(super) const ALL: [&str; 10] = [
    "muf.critical",
    "muf.wasted",
    "muf.made",
    "muf.not-more",
    "rms.critical",
    "rms.critical-most",
    "rms.cancelling",
    "rms.cancelling-most",
    "muf.additional",
    "muf.pessimistic",
];

const SOURCE: &str = "[Gill 2004] 3.2";
/// Ratio of those in time: fewer, by more than two equal runs differ.
const FEWER: f64 = 0.9;
/// Ratio of those dispatched in vain, whose numbers differ more: in equal runs of 5 s, 404 to 714.
const FEWER_WASTED: f64 = 0.4;
/// Ratio of other operations in time with cancellation to those without: "comparable", "slightly lower".
const SHARE_MADE: RangeInclusive<f64> = 0.9..=1.0;
/// Critical deadlines missed per sample under RMS.
const RMS_MISSES: RangeInclusive<f64> = 2.0..=6.0;
/// The same with cancellation.
const RMS_MISSES_CANCELLING: RangeInclusive<f64> = 6.0..=7.0;

/// Adds all claims about the cases: MUF and RMS, each without and with cancellation, and MUF with
/// cancellation by pessimistic execution times.
pub(super) fn evaluate(counted: &[Counted], outcome: &mut Outcome) {
    let [muf, muf_cancelling, rms, rms_cancelling, pessimistic] = counted else {
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
        FEWER_WASTED,
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
    add(Claim::below(
        "muf.pessimistic",
        "MUF with cancellation: other operations in time with execution times stated as whole periods over \
         those with times stated as they are",
        SOURCE,
        ratio_of_counts(pessimistic.other.made, muf_cancelling.other.made),
        FEWER,
    ));
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::{
        super::{CASES, Counts},
        *,
    };

    /// Returns the claims that do not hold if so many other operations of each case are in time.
    fn broken(made: [u32; CASES.len()]) -> Vec<String> {
        let counted = CASES.into_iter().zip(made).map(|(case, made)| Counted {
            case,
            samples: 1,
            critical: Counts::default(),
            other: Counts {
                made,
                missed: if case.cancels { 10 } else { 100 },
                ..Counts::default()
            },
            critical_missed: match (case.strategy, case.cancels) {
                ("RMS", false) => 4,
                ("RMS", true) => 6,
                _ => 0,
            },
        });
        let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::single(0)));
        evaluate(&counted.collect::<Vec<_>>(), &mut outcome);
        assert_eq!(outcome.claims().len(), ALL.len());
        let broken = outcome.claims().iter().filter(|claim| !claim.holds());
        broken.map(|claim| claim.id.clone()).collect()
    }

    #[test]
    fn each_ratio_of_completed_operations_has_its_bounds() {
        assert_eq!(broken([1000, 950, 900, 900, 100]), [""; 0]);
        assert_eq!(broken([1000, 950, 900, 900, 900]), ["muf.pessimistic"]);
        assert_eq!(broken([1000, 850, 900, 900, 100]), ["muf.made"]);
        assert_eq!(broken([1000, 1100, 900, 900, 100]), ["muf.not-more"]);
        assert_eq!(broken([800, 780, 900, 900, 100]), ["muf.additional"]);
    }
}
