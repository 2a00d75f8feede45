//! `rt.9`: a pool without lanes whose threads adopt the priority of the request. They wait at low, medium and
//! high priority: [Pyarali 2002] figures 28, 29 and 30.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::Chapter;

use super::{
    WORK_AXIS, achieved,
    claims::{claim_deadlines_met, claim_order, largest_ratio, lead_over_least},
    figure,
    increasing_work::{ALIKE, At, Works, add_rows, rates_ratio, realtime, shares},
    shortened, table,
};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, PoolSpec, STALLED, Session, Setup},
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.9",
    about: "[Pyarali 2002] experiment 9: clients of three rates as work grows, pool without lanes at three \
            priorities",
    expected: |length| load::expected(&phases(length)),
    run: measure,
    controls: &[ALL_HIGH, ALL_LOW, STALLED],
};

const ALL_HIGH: Control = Control {
    id: "all-high",
    about: "three pools of high priority",
    breaks: &["low.*", "medium.alike"],
};
const ALL_LOW: Control = Control {
    id: "all-low",
    about: "three pools of low priority",
    breaks: &["medium.low-yields", "high.*"],
};

/// Claims are made at clear overload, where the high-priority client alone is still feasible, and beyond it,
/// where no client gets what it asks for.
const WORKS: Works = Works {
    quick: &[50, ALL_OVERLOADED],
    full: &[25, 30, 35, 40, 50, 55, ALL_OVERLOADED, 85],
    claimed: |work| (50..=55).contains(&work),
};
/// From this work on, a third of the capacity is less than any client asks for.
const ALL_OVERLOADED: u32 = 70;
const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] figures 28 to 30";

/// Returns the phases; pools are in the order of [`PAPER_ORDER`].
fn phases(length: Length) -> Vec<Phase<u32>> {
    let pools = PAPER_ORDER.iter().enumerate();
    let of = |(number, pool): (usize, &Importance)| {
        let title = format!("pool of {} priority", pool.name());
        WORKS.phases(length, &title, At::pool(number), Importance::rate)
    };
    pools.flat_map(of).collect()
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let (all_high, all_low) = (testbed.is_under(&ALL_HIGH), testbed.is_under(&ALL_LOW));
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let pools = PAPER_ORDER.map(|of| PoolSpec::Propagated {
        threads: 3,
        priority: pool_priority(match of {
            _ if all_high => Importance::High,
            _ if all_low => Importance::Low,
            of => of,
        }),
    });
    let setup = Setup::new(realtime(pools.into()), Placement::OneCpu);
    let results = session.run(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(outcome, length, "works other than 50 and 70");
    let mut measured = Vec::new();
    for (number, pool) in PAPER_ORDER.into_iter().enumerate() {
        let of_pool = results.iter().filter(|phase| phase.pool == number).cloned();
        let of_pool: Vec<_> = of_pool.collect();
        let front = Row::new().with("pool_priority", pool.name());
        add_rows(outcome, &of_pool, &front);
        claim(pool, &of_pool, outcome);
        measured.push((pool, of_pool));
    }
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &measured);
    Ok(Findings { outcome, chapter })
}

/// Returns the priority at which the threads of a pool wait: just below the client with the same name. TAO's
/// Thread_Pool test, with which the paper's figures were measured, has its pools at the native priorities 31,
/// 61 and 91, and its clients at 33, 66 and 99; these are the same on the scale of CORBA.
fn pool_priority(of: Importance) -> i16 {
    match of {
        Importance::Low => 10_031,
        Importance::Medium => 20_061,
        Importance::High => 30_092,
    }
}

const PAPER_ORDER: [Importance; 3] = [Importance::Low, Importance::Medium, Importance::High];

fn claim(pool: Importance, results: &[PhaseResult<u32>], outcome: &mut Outcome) {
    let claimed: Vec<_> = results
        .iter()
        .filter(|phase| (WORKS.claimed)(phase.key))
        .collect();
    let pair = |phase: &PhaseResult<u32>| {
        let hz = |of: Importance| phase.client(of.name()).achieved_hz_corrected();
        largest_ratio(&[hz(Importance::High), hz(Importance::Medium)])
    };
    let alike = || claimed.iter().map(|phase| pair(phase)).fold(f64::NAN, f64::max);
    let lead = |of: usize| {
        let leads = claimed.iter().map(|phase| {
            let shares = shares(phase);
            let others: Vec<_> = (0..3)
                .filter(|&other| other != of)
                .map(|other| shares[other])
                .collect();
            lead_over_least(shares[of], &others)
        });
        leads.fold(f64::NAN, f64::max)
    };
    match pool {
        Importance::Low => {
            let text = "pool of low priority, high and medium client: largest ratio of their calls per \
                        second at the claimed works: all are treated alike";
            outcome.claim(Claim::at_most("low.alike", text, SOURCE, alike(), ALIKE));
            let overloaded = results.iter().filter(|phase| phase.key >= ALL_OVERLOADED);
            let three = overloaded.map(rates_ratio).fold(f64::NAN, f64::max);
            let text = "pool of low priority, works from 70 on, where no client gets what it asks for: \
                        largest ratio of two clients' calls per second: the three rates are equal";
            outcome.claim(Claim::at_most("low.three-alike", text, SOURCE, three, ALIKE));
            let text = "pool of low priority: the high client's share of deadlines minus the smallest of the \
                        others' (points): it is not preferred";
            outcome.claim(Claim::at_most("low.high-no-better", text, SOURCE, lead(0), 0.0));
        }
        Importance::Medium => {
            let text = "pool of medium priority, high and medium client: largest ratio of their calls per \
                        second at the claimed works: the two are treated alike";
            outcome.claim(Claim::at_most("medium.alike", text, SOURCE, alike(), ALIKE));
            let text = "pool of medium priority: the low client's share of deadlines minus the smaller of \
                        the others' (points): the others are preferred";
            outcome.claim(Claim::below("medium.low-yields", text, SOURCE, lead(2), 0.0));
        }
        Importance::High => {
            let points = claimed.iter().map(|phase| shares(phase).to_vec());
            claim_order(outcome, "high.order", "pool of high priority", SOURCE, points);
            let high = claimed.iter().map(|phase| phase.client(Importance::High.name()));
            let text = "pool of high priority: the 75 Hz client, smallest share at the claimed works";
            claim_deadlines_met(outcome, "high.high", text, SOURCE, high);
        }
    }
}

fn chapter(outcome: &Outcome, measured: &[(Importance, Vec<PhaseResult<u32>>)]) -> Chapter {
    let chapter = Chapter::new("Experiment 9: increasing work, a pool without lanes").paragraph(
        "The clients of experiment 4. Three server threads wait just below the priority of the client after \
         which the pool is named, and adopt the priority of each request. All run on one CPU under \
         SCHED_FIFO.",
    );
    let chapter = chapter;
    let chapter = measured.iter().fold(chapter, |chapter, (pool, results)| {
        let (title, caption) = match pool {
            Importance::Low => (
                "Pool of low priority",
                "No thread can preempt a request in progress to read a new one, so all clients are treated \
                 alike. [Pyarali 2002] figure 28.",
            ),
            Importance::Medium => (
                "Pool of medium priority",
                "Requests of the high and the medium client preempt those of the low one. A medium request \
                 in progress is not preempted by a high one, which waits. [Pyarali 2002] figure 29.",
            ),
            Importance::High => (
                "Pool of high priority",
                "Every request is read at once and then served by priority: all three clients are in order. \
                 [Pyarali 2002] figure 30.",
            ),
        };
        let series = achieved(results, |work| f64::from(*work));
        chapter.figure(figure(title, caption, WORK_AXIS, series))
    });
    let front = [("pool_priority", "pool"), ("work", "work")];
    chapter.table(table(outcome, &front).title("Pools without lanes"))
}
