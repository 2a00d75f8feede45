//! No simulated response exceeds the bound of `punctual plan`, and no deadline of a schedule that it calls
//! feasible is missed.

use std::ops::RangeInclusive;

use punctual_sched::{
    dynamic::Time,
    simulator::{Arrival, Simulation},
};
use punctual_scheduling::{Model, Schedule};
use punctual_simulation::Scenario;

use crate::task_sets::{Kind, Random, schedule};

const KINDS: [Kind; 4] = [Kind::Steps, Kind::Chains, Kind::Everything, Kind::Deadlines];
/// Simulations of each set; the first one begins with all arrivals at once.
const PHASES: u64 = 4;

#[test]
fn no_simulated_response_exceeds_its_bound() {
    for kind in KINDS {
        let found = compare(kind, 0, 40);
        assert!(
            found.bounded > 40,
            "{kind:?}: {} bounds were compared",
            found.bounded
        );
    }
}

/// The slow activity occupies the only thread of the lane, and the urgent one waits for it.
#[test]
fn a_request_waits_for_the_only_thread_of_a_lane_by_deadline() {
    let text = |threads: u32| {
        format!(
            r#"
            hosts = [{{ name = "h", order = "deadline" }}]
            [[pool]]
            name = "p"
            lanes = [{{ priority = 100, threads = {threads} }}]
            [[activity]]
            name = "slow"
            priority = 100
            period = "100 ms"
            step = [{{ pool = "p", wcet = "50 ms" }}]
            [[activity]]
            name = "urgent"
            priority = 100
            period = "70 ms"
            deadline = "5 ms"
            step = [{{ pool = "p", wcet = "1 ms" }}]
            "#
        )
    };
    let longest = |threads: u32| {
        let schedule = Schedule::parse("lane.toml", &text(threads)).unwrap();
        let scenario = Scenario::parse("exported.toml", &schedule.to_scenario()).unwrap();
        let model = scenario.model();
        let mut simulation = Simulation::new(&model, 1, |host| scenario.scheduler_of(host, None)).unwrap();
        simulation.run_until(Time(0) + scenario.until.0, &mut ()).unwrap();
        let longest = simulation.finish().tasks[1].response.max().unwrap();
        (schedule.is_feasible(), longest / 1_000_000)
    };
    assert_eq!(longest(2), (true, 1));
    let (is_feasible, longest) = longest(1);
    assert!(!is_feasible);
    assert!((40..=51).contains(&longest), "{longest} ms");
}

/// 10,000 sets of all kinds, in turns: `cargo test -- --ignored --nocapture bounds`. `docs/planning.md`
/// states the medians and 95th percentiles.
#[test]
#[ignore = "takes a minute"]
fn no_response_of_2500_sets_of_single_steps_exceeds_its_bound() {
    compare_many(Kind::Steps, 1.0..=1.1, 1.3..=2.0);
}

#[test]
#[ignore = "takes a minute"]
fn no_response_of_2500_sets_of_chains_exceeds_its_bound() {
    compare_many(Kind::Chains, 1.2..=1.5, 5.5..=8.5);
}

#[test]
#[ignore = "takes a minute"]
fn no_response_of_2500_sets_with_everything_exceeds_its_bound() {
    compare_many(Kind::Everything, 1.15..=1.4, 4.3..=6.7);
}

#[test]
#[ignore = "takes a minute"]
fn no_response_of_2500_sets_by_deadline_exceeds_its_bound() {
    compare_many(Kind::Deadlines, 1.5..=2.0, 3.7..=5.7);
}

/// Compares many sets. The median and the 95th percentile of the ratio of bound and longest simulated
/// response lie in these ranges.
fn compare_many(kind: Kind, median: RangeInclusive<f64>, p95: RangeInclusive<f64>) {
    let mut found = compare(kind, 1_000, 2_500);
    let (sets, feasible, bounded) = (found.sets, found.feasible, found.bounded);
    assert!(bounded > 2_500, "{bounded} bounds were compared");
    found.ratios.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| found.ratios[(found.ratios.len() - 1) * share / 100];
    println!(
        "{kind:?}: {sets} sets, {feasible} feasible, {bounded} bounds; median {:.2}, p95 {:.2} of observed",
        at(50),
        at(95)
    );
    assert!(
        median.contains(&at(50)),
        "median {:.2}, not in {median:?}",
        at(50)
    );
    assert!(
        p95.contains(&at(95)),
        "95th percentile {:.2}, not in {p95:?}",
        at(95)
    );
}

/// Totals of the comparison.
#[derive(Default)]
struct Found {
    sets: usize,
    feasible: usize,
    bounded: usize,
    ratios: Vec<f64>,
}

fn compare(kind: Kind, first: u64, sets: u64) -> Found {
    let mut found = Found::default();
    let mut invalid = 0;
    let mut seed = first;
    while found.sets < sets as usize {
        let text = schedule(kind, seed);
        match Schedule::parse("random.toml", &text) {
            Ok(schedule) => compare_one(kind, seed, &text, &schedule, &mut found),
            Err(error) => {
                assert!(error.to_string().contains("locked on CPUs"), "{error}\n{text}");
                invalid += 1;
            }
        }
        seed += 1;
    }
    assert!(invalid < sets / 3, "{invalid} sets had a resource on two CPUs");
    found
}

fn compare_one(kind: Kind, seed: u64, text: &str, schedule: &Schedule, found: &mut Found) {
    let analysis = Model::of(schedule).analyse();
    let is_feasible = schedule.is_feasible();
    found.sets += 1;
    found.feasible += usize::from(is_feasible);
    let exported = schedule.to_scenario();
    let scenario =
        Scenario::parse("exported.toml", &exported).unwrap_or_else(|error| panic!("{error}\n{exported}"));
    let mut observed = vec![0; analysis.responses.len()];
    for phase in 0..PHASES {
        let mut random = Random(seed ^ phase << 32);
        let mut model = scenario.model();
        for task in &mut model.tasks {
            if let Arrival::Periodic { offset, period, .. } = &mut task.arrival {
                let most = if phase == 0 { 0 } else { period.as_nanos() as u64 };
                *offset = Time(random.up_to(most));
            }
        }
        let mut simulation = Simulation::new(&model, seed, |host| scenario.scheduler_of(host, None)).unwrap();
        simulation.run_until(Time(0) + scenario.until.0, &mut ()).unwrap();
        let statistics = simulation.finish();
        for (task, most) in statistics.tasks.iter().zip(&mut observed) {
            *most = task.response.max().unwrap_or(0).max(*most);
            let missed = task.missed();
            assert!(
                !is_feasible || missed == 0,
                "{kind:?} {seed}: feasible, {missed} missed\n{text}\n{exported}"
            );
        }
    }
    for (number, (response, observed)) in analysis.responses.iter().zip(observed).enumerate() {
        let Some(bound) = response.worst() else { continue };
        assert!(
            observed <= bound,
            "{kind:?} {seed}: t{number} takes {observed}, bound {bound}\n{text}\n{exported}"
        );
        found.bounded += 1;
        if observed > 0 {
            found.ratios.push(bound as f64 / observed as f64);
        }
    }
}
