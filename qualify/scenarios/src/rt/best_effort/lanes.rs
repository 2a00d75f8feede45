//! `rt.8`: lanes; on one CPU at the capacity (figure 24) and a little below (figure 25), and as on two machines (figure 26).

use punctual_harness::{Claim, MedianEstimate, Outcome, Row, blocks::median_ratio};
use punctual_report::Chapter;

use super::{FRONT, MOST_THREADS, Point, add_rows, as_tao, at, of_work, over_threads, phase, server};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    load::{self, Importance, Phase, Placement, Played, Pool, REFERENCE_WORK, Session, Setup},
    rt::{
        BEST_EFFORT_AXIS, LOCAL, REMOTE, achieved, figure, holds, on_stage, point_seconds,
        promise::keeps_its_deadlines, shortened, table, tao,
    },
    testbed::Testbed,
};

pub(in crate::rt) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.8",
    about: "[Pyarali 2002] experiment 8: clients of three rates beside best-effort threads, lanes; also across two network namespaces",
    expected: |length| load::expected(&phases(length)),
    run: measure,
};

/// A little below the capacity.
const SLACK_WORK: u32 = 28;
/// What more threads may add to what one gets: a call more or less at either end of the time that is measured.
const GROWTH: f64 = 1.1;
/// The least for counting what is left: best effort makes about ten calls a second of it.
const SLACK_SECONDS: f64 = 4.0;
const REMOTE_CLAIM: &str = "remote.slack";

/// A little below the capacity both stages alternate, so that what changes the processor's speed meanwhile hits both.
fn phases(length: Length) -> Vec<Phase<Point>> {
    let all = || (0..=MOST_THREADS).collect::<Vec<usize>>();
    let at_capacity = length.pick(vec![MOST_THREADS], all(), all());
    let below = length.pick(vec![1, MOST_THREADS], all(), all());
    let seconds = point_seconds(length, false);
    let mut phases = Vec::new();
    for threads in at_capacity {
        let work = REFERENCE_WORK;
        phases.push(phase(LOCAL, "lanes", Point { work, threads }, seconds));
    }
    for (number, threads) in below.into_iter().enumerate() {
        let point = Point {
            work: SLACK_WORK,
            threads,
        };
        let local = point_seconds(length, threads == MOST_THREADS).max(SLACK_SECONDS);
        let mut pair = [
            phase(LOCAL, "lanes", point, local),
            phase(REMOTE, "lanes, remote", point, seconds),
        ];
        // A drift that is steady meanwhile favours neither.
        if number % 2 == 1 {
            pair.reverse();
        }
        phases.extend(pair);
    }
    phases.extend(as_tao(length, "lanes"));
    phases
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let remote = Setup::new(server(Pool::Lanes), Placement::Linked);
    let setups = [
        Setup::new(server(Pool::Lanes), Placement::OneCpu),
        remote.or_skip("figure 26: remote", &[REMOTE_CLAIM]),
    ];
    let played = session.play(&setups, phases(length))?;
    let (local, remote) = (on_stage(&played, LOCAL), on_stage(&played, REMOTE));
    let outcome = &mut session.outcome;
    let what = "numbers of best-effort threads other than 1 and 10, at work 30 other than 10; the load of TAO's figures";
    shortened(outcome, length, what);
    add_rows(
        outcome,
        &local,
        &Row::new().with("pool", "lanes").with("place", "local"),
    );
    add_rows(
        outcome,
        &remote,
        &Row::new().with("pool", "lanes").with("place", "remote"),
    );
    claim(&local, outcome);
    claim_remote(&local, &remote, outcome);
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &local, &remote);
    Ok(Findings { outcome, chapter })
}

fn claim(played: &[Played<Point>], outcome: &mut Outcome) {
    let at_capacity = at(played, REFERENCE_WORK, MOST_THREADS);
    let high = at_capacity.map(|phase| phase.client(Importance::High.name()));
    let text = "work 30, 10 best-effort threads: the high-priority client";
    keeps_its_deadlines(
        outcome,
        "high.30",
        text,
        "issue 4, [Pyarali 2002] figure 24",
        high,
    );

    let source = "issue 4, [Pyarali 2002] figure 25";
    let below = at(played, SLACK_WORK, MOST_THREADS);
    let all = below
        .into_iter()
        .flat_map(|phase| Importance::ALL.map(|of| phase.client(of.name())));
    let text = "work 28, 10 best-effort threads: the clients with rates, least of the three";
    keeps_its_deadlines(outcome, "all.28", text, source, all);

    let best_effort = best_effort(&of_work(played, SLACK_WORK));
    // Of one number alone, a processor that is slower for a while may leave nothing.
    let mut sorted: Vec<f64> = best_effort.iter().map(|(_, hz)| *hz).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let text = "work 28: calls per second of all best-effort threads together, the median over all numbers of them, more than 0";
    let claim = Claim::new("best-effort", text, source, median, 0.0, median > 0.0);
    outcome.claim(claim);
    let growth = |gained: &[f64]| {
        let (few, many) = gained.split_at(gained.len() / 2);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        mean(many) / mean(few)
    };
    let raw: Vec<f64> = best_effort.iter().map(|(_, hz)| *hz).collect();
    outcome.parameter("best_effort_growth_raw", growth(&raw));
    let shares: Vec<f64> = of_work(played, SLACK_WORK)
        .iter()
        .filter_map(share_of_what_is_left)
        .collect();
    let text = "work 28: calls per second of best-effort threads, as a share of those that the clients with rates leave time for at the \
                speed that the processor has meanwhile; mean of the larger half of their numbers over that of the smaller one: more \
                threads get no more (a call at either end of the time aside)";
    outcome.claim(Claim::at_most(
        "best-effort.growth",
        text,
        source,
        growth(&shares),
        GROWTH,
    ));
}

/// A processor that is 2 % slower for a while leaves best effort a third less at this work. How fast it was says the client that
/// nothing interrupts.
fn share_of_what_is_left(phase: &Played<Point>) -> Option<f64> {
    let call_us = phase
        .client(Importance::High.name())
        .latencies()
        .quantile_us(0.5)?;
    let calls: u32 = Importance::ALL.into_iter().map(Importance::rate).sum();
    let left_hz = 1e6 / call_us - f64::from(calls);
    Some(phase.collective_hz()? / left_hz).filter(|_| left_hz >= 1.0)
}

/// What best-effort threads got together, by their number.
fn best_effort(played: &[Played<Point>]) -> Vec<(usize, f64)> {
    let of = |phase: &Played<Point>| Some((phase.key.threads, phase.collective_hz()?));
    played.iter().filter_map(of).collect()
}

fn claim_remote(local: &[Played<Point>], remote: &[Played<Point>], outcome: &mut Outcome) {
    if remote.is_empty() {
        return;
    }
    let here = best_effort(&of_work(local, SLACK_WORK));
    let both = best_effort(remote).into_iter().filter_map(|(threads, there)| {
        let (_, here) = here.iter().find(|(other, _)| *other == threads)?;
        Some((there, *here))
    });
    let (there, here): (Vec<f64>, Vec<f64>) = both.unzip();
    let Some(growth) = median_ratio(&there, &here) else {
        let reason = format!(
            "a processor that is 1 % slower for a while leaves best effort 15 % less, so it takes the median of {} pairs or more; this \
             run has {}",
            MedianEstimate::FEWEST,
            there.len()
        );
        return outcome.skip(Some(REMOTE_CLAIM), "whether the slack grows", reason);
    };
    outcome.parameter("remote_slack_growth_low", growth.low);
    outcome.parameter("remote_slack_growth_high", growth.high);
    let text = "remote, work 28: calls per second of best-effort threads over those on one machine, the median over all numbers of them, \
                above 1: the slack grows";
    let source = "issue 4, [Pyarali 2002] figure 26";
    let holds = growth.median > 1.0;
    outcome.claim(Claim::new(REMOTE_CLAIM, text, source, growth.median, 1.0, holds));
}

fn chapter(outcome: &Outcome, local: &[Played<Point>], remote: &[Played<Point>]) -> Chapter {
    let figure = |title, caption, played: Vec<Played<Point>>| {
        figure(title, caption, BEST_EFFORT_AXIS, achieved(&played, over_threads))
    };
    let front: Vec<_> = [("place", "place")].iter().chain(FRONT).copied().collect();
    let beside = at(local, tao::BEST_EFFORT_WORK, tao::BEST_EFFORT_THREADS);
    Chapter::new("Experiment 8: increasing best-effort work, lanes")
        .paper("[Pyarali 2002] experiment 8",
            "best-effort threads do not affect clients of higher priority, and more of them get no more",
            holds(outcome, "high")
                .zip(holds(outcome, "all"))
                .zip(holds(outcome, "best-effort"))
                .map(|((high, all), best)| high && all && best),
        )
        .paper("[Pyarali 2002] experiment 8, remote",
            "the slack for best-effort threads grows when the clients are on another machine",
            holds(outcome, "remote"),
        )
        .paragraph(
            "The clients of experiment 7; the server has a lane of one thread for each priority, best effort among them. At work 30 the \
             clients with rates are all that the CPU can do; at 28 a little is left.",
        )
        .figure(figure(
            "Lanes at capacity (work 30), same machine",
            "Best-effort threads take nothing from the clients with rates. [Pyarali 2002] figure 24.",
            of_work(local, REFERENCE_WORK),
        ))
        .figure(figure(
            "Lanes a little below capacity (work 28), same machine",
            "Best effort uses what is left; more of its threads get no more of it. [Pyarali 2002] figure 25.",
            of_work(local, SLACK_WORK),
        ))
        .figure(figure(
            "Lanes a little below capacity (work 28), remote",
            "The clients' own work is done on the other CPU, so more is left for best effort. [Pyarali 2002] figure 26.",
            remote.to_vec(),
        ))
        .table(tao::LANES_BEST_EFFORT.beside(beside, tao::BEST_EFFORT_WORK))
        .table(table(outcome, &front).title("Lanes beside best effort"))
}
