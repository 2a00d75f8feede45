//! `case.recomputation`: how long the reconfigurable scheduler computes, for systems of 1,000 and 10,000
//! operations of five rates each and three dependencies for each of them, anew and after a change of one.
//! [Gill 2004] figure 10 shows up to 100 ms for about 70.

mod system;

use std::time::Duration;

use punctual_harness::{Claim, Row, statistics::median};

pub(super) use self::system::Calculator;
use self::system::Compute;
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    os::{Interrupts, Subject},
};

pub(super) struct Recomputation;

impl Experiment for Recomputation {
    const NAME: &'static str = "case.recomputation";
    const ABOUT: &'static str = "time of the reconfigurable scheduler's computations, anew and partial";
    const PAGE: &'static str = include_str!("page.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = Some(&CLAIMS);
    const CONTROLS: &'static [Control] = &[BATCHES, DENSE, STRUCTURE];

    fn expected(length: Length) -> Duration {
        Duration::from_millis(length.pick(300, 1_000, 1_000))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let samples = match trial.testbed.is_under(&DENSE) {
            // A million dependencies.
            true => 5,
            false => trial.length().pick(21, 101, 101),
        };
        trial.shortened(format!("{samples} samples of each system instead of 101"));
        let expected = Self::expected(trial.length());
        let mut subject = Subject::<Calculator>::start(trial.testbed, LIMIT * 2, Interrupts::Ignored)?;
        let mut medians = Vec::new();
        for sources in SIZES {
            trial.stage(format!("{sources} operations"), expected / SIZES.len() as u32);
            let per_operation = match trial.testbed.is_under(&DENSE) {
                true => sources / DENSITY,
                false => DEPENDENCIES,
            };
            let compute = Compute {
                sources,
                followers: sources / 2,
                dependencies: sources * per_operation,
                batches: if trial.testbed.is_under(&BATCHES) { 100 } else { 1 },
                changes_structure: trial.testbed.is_under(&STRUCTURE),
                samples,
            };
            let (followers, dependencies) = (compute.followers, compute.dependencies);
            let computed = subject.run(compute, LIMIT)?;
            let (full, partial) = (middle(&computed.full), middle(&computed.partial));
            let row = Row::new()
                .with("operations", sources)
                .with("followers", followers)
                .with("dependencies", dependencies)
                .with("running", computed.running)
                .with("full_ms", full * 1e-6)
                .with("partial_ms", partial * 1e-6)
                .with("partial_share", partial / full);
            trial.outcome.row(row);
            medians.push((full, partial));
        }
        subject.finish(&mut trial.outcome)?;
        evaluate(&medians, trial);
        Ok(())
    }
}

/// Longest run: controls, and debug builds, take much longer than the expected time.
const LIMIT: Duration = Duration::from_secs(120);

/// Numbers of operations with five rates each; half as many follow them, and have no rates of their own.
const SIZES: [u32; 2] = [1_000, 10_000];
/// Dependencies for each operation with rates; a follower has twice as many.
const DEPENDENCIES: u32 = 3;
/// Operations for one dependency, under the control.
const DENSITY: u32 = 100;

const CLAIMS: [&str; 5] = [
    "full.1000",
    "full.10000",
    "growth",
    "partial.1000",
    "partial.10000",
];
const SOURCE: &str = "Punctual's limit";
/// Longest computation of each size, in milliseconds.
const LIMITS_MS: [f64; 2] = [5.0, 80.0];
/// Ratio of n log n for ten times as many operations, and the factor for caches. Counted by callgrind,
/// instructions grow 10.8 times, from 3.9 to 43 million, and misses of a second-level cache of 1 MiB 102
/// times, from 6,600 to 678,000: it holds the smaller system only.
const GROWTH: (f64, f64) = (10.0 * 4.0 / 3.0, 1.5);
/// Share of the full computation.
const PARTIAL: f64 = 0.1;

const BATCHES: Control = Control {
    id: "batches",
    about: "operations arrive in a hundred batches, with a computation after each",
    breaks: &["full.1000", "full.10000"],
};

const DENSE: Control = Control {
    id: "dense",
    about: "an operation depends on a hundredth of all, so that dependencies grow by the square",
    breaks: &["growth"],
};

const STRUCTURE: Control = Control {
    id: "structure",
    about: "the changed operation is also disabled and enabled again, so that the structure may differ",
    breaks: &["partial.*"],
};

fn middle(samples: &[u64]) -> f64 {
    let samples: Vec<f64> = samples.iter().map(|sample| *sample as f64).collect();
    median(&samples).unwrap_or(f64::NAN)
}

fn evaluate(medians: &[(f64, f64)], trial: &mut Trial<'_>) {
    let [(small, small_partial), (large, large_partial)] = *medians else {
        return;
    };
    let mut add = |claim: Claim| trial.outcome.claim(claim);
    let limits = CLAIMS
        .iter()
        .zip(SIZES)
        .zip([small, large].into_iter().zip(LIMITS_MS));
    for ((id, operations), (median, limit)) in limits {
        let text =
            format!("{operations} operations of five rates: computation of the schedule, in milliseconds");
        add(Claim::at_most(*id, text, SOURCE, median * 1e-6, limit));
    }
    let text = "time for ten times as many operations: at most 1.5 times the ratio of n log n, since only \
                the smaller system fits the second-level cache";
    add(Claim::at_most(
        "growth",
        text,
        SOURCE,
        large / small,
        GROWTH.0 * GROWTH.1,
    ));
    for (id, operations, share) in [
        ("partial.1000", SIZES[0], small_partial / small),
        ("partial.10000", SIZES[1], large_partial / large),
    ] {
        let text = format!(
            "{operations} operations of five rates, one changed: time over that of the whole schedule"
        );
        add(Claim::at_most(id, text, SOURCE, share, PARTIAL));
    }
}
