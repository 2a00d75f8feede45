//! The findings of [Gill 2004] 3.2, each with bounds on both sides where the paper states them.

use std::ops::RangeInclusive;

use punctual_harness::{Claim, Outcome, statistics::ratio_of_counts};

use super::Counted;

/// All claims.
pub(super) const ALL: [&str; 11] = [
    "muf.critical",
    "muf.wasted",
    "muf.made",
    "muf.not-more",
    "rms.critical",
    "rms.critical-most",
    "rms.cancelling",
    "rms.cancelling-most",
    "rms.worse",
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
/// Ratio of critical deadlines missed: worse, by more than two equal runs differ.
const WORSE: f64 = 1.05;

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
    worse_claim(rms, rms_cancelling, outcome);
}

fn worse_claim(without: &Counted, with: &Counted, outcome: &mut Outcome) {
    let id = "rms.worse";
    let text = "RMS: critical deadlines missed with cancellation over those without (\"worse\"), above";
    let ratio = ratio_of_counts(with.critical_missed, without.critical_missed);
    if ratio.is_nan() {
        let reason = "fewer than 20 misses without cancellation are too few for a ratio: a full run has \
                      more samples";
        return outcome.skip(Some(id), text, reason);
    }
    outcome.claim(Claim::above(id, text, SOURCE, ratio, WORSE));
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::{
        super::{CASES, Counts},
        *,
    };

    /// Returns the outcome if so many other operations of each case are in time, and RMS misses so many
    /// critical deadlines in ten samples without and with cancellation.
    fn outcome(made: [u32; CASES.len()], missed: [u32; 2]) -> Outcome {
        let counted = CASES.into_iter().zip(made).map(|(case, made)| Counted {
            case,
            samples: 10,
            critical: Counts::default(),
            other: Counts {
                made,
                missed: if case.cancels { 10 } else { 100 },
                ..Counts::default()
            },
            critical_missed: match case.strategy {
                "RMS" => missed[usize::from(case.cancels)],
                _ => 0,
            },
        });
        let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::single(0)));
        evaluate(&counted.collect::<Vec<_>>(), &mut outcome);
        outcome
    }

    /// Returns the claims that do not hold, in one line.
    fn broken(outcome: &Outcome) -> String {
        let broken = outcome.claims().iter().filter(|claim| !claim.holds());
        broken
            .map(|claim| claim.id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn each_ratio_of_completed_operations_has_its_bounds() {
        for (made, expected) in [
            ([1000, 950, 900, 900, 100], ""),
            ([1000, 950, 900, 900, 900], "muf.pessimistic"),
            ([1000, 850, 900, 900, 100], "muf.made"),
            ([1000, 1100, 900, 900, 100], "muf.not-more"),
            ([800, 780, 900, 900, 100], "muf.additional"),
        ] {
            let outcome = outcome(made, [40, 60]);
            assert_eq!(outcome.claims().len(), ALL.len());
            assert_eq!(broken(&outcome), expected);
        }
    }

    #[test]
    fn cancellation_makes_matters_worse_for_rms_by_more_than_chance() {
        let made = [1000, 950, 900, 900, 100];
        assert_eq!(broken(&outcome(made, [60, 63])), "rms.worse");
        assert_eq!(broken(&outcome(made, [60, 64])), "");
        let few = outcome(made, [19, 60]);
        assert_eq!(few.skipped()[0].id.as_deref(), Some("rms.worse"));
        assert_eq!(broken(&few), "rms.critical");
    }
}
