//! No simulated response exceeds the bound of `punctual plan`, and no deadline of a schedule that it calls
//! feasible is missed.

use std::collections::BTreeMap;

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
    let found = compare(0, 40);
    assert!(found.bounded > 150, "{} bounds were compared", found.bounded);
}

/// Run it with `--ignored`, in a release build: 10,000 sets.
#[test]
#[ignore = "takes minutes"]
fn no_simulated_response_of_10000_sets_exceeds_its_bound() {
    let found = compare(1_000, 2_500);
    assert!(found.bounded > 10_000, "{} bounds were compared", found.bounded);
    println!(
        "{} sets, {} feasible, {} bounds",
        found.sets, found.feasible, found.bounded
    );
    for (kind, ratios) in &mut { found.ratios } {
        ratios.sort_unstable_by(f64::total_cmp);
        let at = |share: usize| ratios[(ratios.len() - 1) * share / 100];
        println!(
            "{kind:?}: bound/observed median {:.2}, p95 {:.2}, of {}",
            at(50),
            at(95),
            ratios.len()
        );
    }
}

/// What was compared.
#[derive(Default)]
struct Found {
    sets: usize,
    feasible: usize,
    bounded: usize,
    ratios: BTreeMap<Kind, Vec<f64>>,
}

fn compare(first: u64, of_each_kind: u64) -> Found {
    let mut found = Found::default();
    let mut invalid = 0;
    for kind in KINDS {
        for seed in first..first + of_each_kind {
            let text = schedule(kind, seed);
            match Schedule::parse("random.toml", &text) {
                Ok(schedule) => compare_one(kind, seed, &text, &schedule, &mut found),
                // A resource on two CPUs.
                Err(error) => {
                    assert!(error.to_string().contains("locked on CPUs"), "{error}\n{text}");
                    invalid += 1;
                }
            }
        }
    }
    assert!(invalid < found.sets / 5, "{invalid} invalid sets");
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
            found
                .ratios
                .entry(kind)
                .or_default()
                .push(bound as f64 / observed as f64);
        }
    }
}
