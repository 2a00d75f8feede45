//! `rt.6`: three clients over work with lanes, where more important clients have lower rates. Source:
//! [Pyarali 2002] figure 20.

use std::time::Duration;

use punctual_harness::Row;

use super::{At, Works, add_rows, at, realtime};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Importance, Phase, Placement, Pool, STALLED, Setup},
    rt::{
        PAPER_WORKS, TAO_OVERLOAD_WORK,
        claims::{claim_deadlines_met, claim_losses},
        compare_with_tao, run,
    },
};

/// Lanes, where more important clients have lower rates.
pub(in crate::rt) struct DecreasingRates;

const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "one pool for all priorities instead of lanes",
    breaks: &["high*", "losses"],
};

/// The claim covers the 25 Hz client at every work.
const WORKS: Works = Works {
    quick: &[35, 85],
    full: &PAPER_WORKS,
    claimed: |_| true,
};

fn phases(length: Length) -> Vec<Phase<u32>> {
    WORKS.phases(length, "lanes", At::pool(0), Importance::decreasing_rate)
}

impl Experiment for DecreasingRates {
    const NAME: &'static str = "rt.6";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 6: clients of three rates as work grows, lanes, \
                                 higher priority at lower rate";
    const PAGE: &'static str = include_str!("decreasing.toml");
    const CONTROLS: &'static [Control] = &[WITHOUT_LANES, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let pool = trial
            .testbed
            .under(&WITHOUT_LANES, Pool::WithoutLanes, Pool::Lanes);
        let setup = Setup::new(realtime(vec![pool.spec(false)]), Placement::OneCpu);
        let phases = phases(trial.length());
        let results = run::<Self, _>(trial, &[setup], phases)?;
        trial.shortened("works other than 35 and 85, and the comparison with TAO");
        let outcome = &mut trial.outcome;
        add_rows(outcome, &results, &Row::new().with("pool", "lanes"));
        let high = results.iter().map(|phase| phase.client(Importance::High.name()));
        let text = "the 25 Hz client of high priority, smallest share";
        let source = "Punctual's limit, after [Pyarali 2002] figure 20";
        claim_deadlines_met(outcome, "high", text, source, high);
        let text =
            "the 75 Hz client of low priority is affected first, then the 50 Hz one, the 25 Hz one never";
        let order = [Importance::Low, Importance::Medium];
        claim_losses(
            outcome,
            "losses",
            text,
            source,
            &results,
            &order,
            &[Importance::High],
        );
        compare_with_tao(trial, at(&results, TAO_OVERLOAD_WORK), TAO_OVERLOAD_WORK);
        Ok(())
    }
}
