//! The last switch on host 1, which the paper compares: a single one says little, so the model runs several
//! times under both schedulers, in alternation.

use std::time::Duration;

use punctual_harness::{Claim, Row, blocks::median_ratio, interleave};

use super::{AROUND, PAPERS, WITHOUT_REPLY, how, last_switch_us, live, model, paper};
use crate::{error::Error, experiment::Trial, length::Length};

/// The paper's claim, and ours.
pub(super) const CLAIM: &str = "mif.delay";
pub(super) const OWN_CLAIM: &str = "mif.no-delay";

/// Largest ratio that shows that no reply is read in the switch under MIF. Without a reply under either
/// scheduler it is 1.
const SHORTER: f64 = 0.9;

/// Short, because only the last switch is of interest.
const UNIT: Duration = Duration::from_millis(20);

fn rounds(length: Length) -> usize {
    length.pick(6, 20, 20)
}

pub(super) fn expected(length: Length) -> Duration {
    let run = UNIT * paper::UNITS as u32 + AROUND;
    run * (rounds(length) * PAPERS.len()) as u32
}

/// Measures, and claims the paper's delay: the switch from DT3 to DT2 takes longer with MIF, which switches
/// in the middleware, than with TP.
pub(super) fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
    let length = trial.length();
    let title = format!(
        "last switches under {} and {}",
        PAPERS[0].name(),
        PAPERS[1].name()
    );
    trial.stage(title, expected(length));
    let (testbed, outcome) = (&*trial.testbed, &mut trial.outcome);
    let times = interleave(&PAPERS, rounds(length), |scheduler, round| {
        let how = model::How {
            without_reply: testbed.is_under(&WITHOUT_REPLY),
            ..how(testbed, scheduler, UNIT)
        };
        let live = live::run(&testbed.places, how)?;
        let time_us = last_switch_us(&live.schedule).ok_or("host 1 ran fewer than two threads")?;
        let row = Row::new()
            .with("kind", "switch")
            .with("scheduler", scheduler.name());
        outcome.row(row.with("round", round).with("last_switch_us", time_us));
        Ok::<_, Error>(time_us)
    })?;
    let ratio = median_ratio(&times[0], &times[1]).ok_or("too few rounds for a median")?;
    let text = format!(
        "the last switch on host 1, from DT3 to DT2, takes longer with MIF than with TP: median of {} \
         ratios, at least {:.2} (95 %)",
        times[0].len(),
        ratio.low
    );
    let source = "[Gill 2004] 3.1, figure 6";
    let holds = ratio.low > 1.0;
    outcome.claim(Claim::new(CLAIM, text, source, ratio.median, 1.0, holds));
    let text = format!(
        "the same switch, without a reply to be read, over that with TP: median of {} ratios",
        times[0].len()
    );
    let claim = Claim::at_most(OWN_CLAIM, text, "Punctual's limit", ratio.median, SHORTER);
    outcome.claim(claim);
    Ok(())
}
