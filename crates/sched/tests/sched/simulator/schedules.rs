//! Textbook schedules, and properties of all schedules.

use std::{cmp::Ordering, time::Duration};

use proptest::prelude::*;
use punctual_sched::{
    analysis::{self, Step as Stage, Task as Analysed},
    dynamic::{
        Claim, ParameterKind, STANDARD, Scheduler, SchedulingParameters, Slot, Time, Utility, standard,
    },
    simulator::{Arrival, Costs, EventKind, Model, Overrun, Parameters, Simulation, Step, Work},
};

use crate::simulator::support::*;

/// Example of \[Liu 1973\] that is feasible under EDF but not under RMS: 2 of 5 and 4 of 7 (97 %).
#[test]
fn edf_meets_deadlines_that_rms_misses() {
    let model = hosts(1, vec![periodic("a", 5, 2), periodic("b", 7, 4)]);
    let (events, edf) = simulate(&model, "EDF", 1, MS * 34);
    assert_eq!((edf.tasks[0].missed(), edf.tasks[1].missed()), (0, 0));
    assert_eq!(
        runs(&events, 0, 34)[..8],
        [
            (0, 0, 2),
            (1, 2, 6),
            (0, 6, 8),
            (1, 8, 12),
            (0, 12, 14),
            (1, 14, 15),
            (0, 15, 17),
            (1, 17, 20)
        ]
    );
    let (events, rms) = simulate(&model, "RMS", 1, MS * 34);
    assert_eq!(rms.tasks[0].missed(), 0);
    assert!(rms.tasks[1].late > 0);
    assert_eq!(times(&events, 1, |kind| *kind == EventKind::DeadlineMissed)[0], 8);
}

/// Burns and Wellings: periods 80, 40, 20 and times 40, 10, 5 are just feasible under fixed priorities.
#[test]
fn response_times_equal_those_of_the_analysis() {
    let model = hosts(
        1,
        vec![periodic("a", 80, 40), periodic("b", 40, 10), periodic("c", 20, 5)],
    );
    let (_, statistics) = simulate(&model, "RMS", 1, MS * 80);
    let analysed: Vec<_> = [(80, 40, 1), (40, 10, 2), (20, 5, 3)]
        .into_iter()
        .map(|(period, wcet, priority)| Analysed::new(period, priority).step(Stage::new(0, wcet)))
        .collect();
    let analysis = analysis::analyse(&analysed).unwrap();
    for (task, response) in statistics.tasks.iter().zip(&analysis.responses) {
        assert_eq!(task.response.max().map(|max| max / 1_000_000), response.worst());
    }
}

#[test]
fn work_that_ends_at_the_arrival_of_more_urgent_work_has_ended() {
    let model = hosts(
        1,
        vec![
            once("low", 0, 1, vec![compute(5)]),
            once("high", 5, 2, vec![compute(5)]),
        ],
    );
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 20);
    assert_eq!(runs(&events, 0, 20), [(0, 0, 5), (1, 5, 10)]);
    assert_eq!(statistics.hosts[0].preemptions, 0);
}

#[test]
fn segments_change_the_order_and_restore_it() {
    let urgent = Parameters {
        importance: 9,
        ..Parameters::default()
    };
    let nested = vec![
        compute(2),
        Step::Begin(urgent),
        compute(2),
        Step::End,
        compute(2),
        Step::Update(urgent),
        compute(2),
    ];
    let model = hosts(
        1,
        vec![
            once("changes", 0, 1, nested),
            once("steady", 1, 5, vec![compute(1), compute(3)]),
        ],
    );
    let (events, _) = simulate(&model, "MIF", 1, MS * 20);
    // It is preempted until it is eligible again, and has its former importance.
    assert_eq!(runs(&events, 0, 20), [(0, 0, 1), (1, 1, 5), (0, 5, 12)]);
    let late = hosts(
        1,
        vec![
            once(
                "changes",
                0,
                1,
                vec![Step::Begin(urgent), compute(2), Step::End, compute(2)],
            ),
            once("steady", 1, 5, vec![compute(4)]),
        ],
    );
    let (events, _) = simulate(&late, "MIF", 1, MS * 20);
    assert_eq!(runs(&events, 0, 20), [(0, 0, 2), (1, 2, 6), (0, 6, 8)]);
}

#[test]
fn two_processors_run_the_two_most_eligible() {
    let tasks = (0..3)
        .map(|number| once("t", 0, number, vec![compute(4)]))
        .collect();
    let mut model = hosts(1, tasks);
    model.hosts[0].processors = 2;
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 8);
    let mut seen = runs(&events, 0, 8);
    seen.sort_unstable();
    assert_eq!(seen, [(0, 4, 8), (1, 0, 4), (2, 0, 4)]);
    assert_eq!(statistics.hosts[0].utilization(2, statistics.until), 12.0 / 16.0);
}

#[test]
fn scheduling_costs_take_processor_time() {
    let mut model = hosts(
        1,
        vec![
            once("low", 0, 1, vec![compute(4)]),
            once("high", 2, 2, vec![compute(2)]),
        ],
    );
    model.hosts[0].costs = Costs {
        decision: Duration::from_micros(10),
        hand_over: Duration::from_micros(100),
        check: Duration::ZERO,
        cancellation: Duration::ZERO,
    };
    let (_, statistics) = simulate(&model, "MIF", 1, MS * 20);
    // Low begins, high preempts it, low continues: a decision and a switch each. The end of the last thread
    // needs none.
    assert_eq!(
        (statistics.hosts[0].decisions, statistics.hosts[0].switches),
        (3, 3)
    );
    assert_eq!(statistics.hosts[0].overhead, Duration::from_micros(330));
    assert_eq!(statistics.hosts[0].busy, MS * 6);
    assert_eq!(statistics.tasks[0].response.max(), Some(6_330_000));
}

/// MAU under overload runs the valuable work that fits.
#[test]
fn accrued_utility_is_that_of_work_in_time() {
    let worth = |name: &str, value: u32, compute_ms: u32, decay_ms: u32| {
        let mut task = once(name, 0, 0, vec![compute(compute_ms)]);
        task.parameters = Some(Parameters {
            deadline: Some(MS * 10),
            execution_time: MS * compute_ms,
            utility: Utility {
                value,
                decay: MS * decay_ms,
            },
            ..Parameters::default()
        });
        task
    };
    let model = hosts(1, vec![worth("little", 1, 8, 0), worth("much", 100, 8, 0)]);
    let (_, mau) = simulate(&model, "MAU", 1, MS * 40);
    assert_eq!((mau.tasks[0].utility, mau.tasks[1].utility), (0, 100));
    // An arrival exactly at the end could still be in time, and offers nothing yet.
    let mut valuable = worth("valuable", 7, 2, 0);
    valuable.arrival = periodic("p", 10, 2).arrival;
    let (_, all) = simulate(&hosts(1, vec![valuable]), "MAU", 1, MS * 40);
    assert_eq!((all.tasks[0].arrived, all.tasks[0].unfinished), (5, 1));
    assert_eq!((all.tasks[0].utility, all.tasks[0].utility_offered), (28, 28));
    let late = hosts(1, vec![worth("late", 100, 12, 8)]);
    let (_, statistics) = simulate(&late, "EDF", 1, MS * 40);
    // Late by two of eight milliseconds.
    assert_eq!(
        (statistics.tasks[0].utility, statistics.tasks[0].utility_offered),
        (75, 100)
    );
}

#[test]
fn an_arrival_before_the_end_of_the_last_thread_is_queued_or_skipped() {
    let mut task = periodic("t", 10, 15);
    let (_, queued) = simulate(&hosts(1, vec![task.clone()]), "EDF", 1, MS * 39);
    assert_eq!((queued.tasks[0].arrived, queued.tasks[0].skipped), (4, 0));
    assert_eq!(
        (
            queued.tasks[0].late,
            queued.tasks[0].unfinished + queued.tasks[0].overdue
        ),
        (2, 2)
    );
    task.overrun = Overrun::Skip;
    let (_, skipped) = simulate(&hosts(1, vec![task]), "EDF", 1, MS * 39);
    assert_eq!(
        (
            skipped.tasks[0].arrived,
            skipped.tasks[0].skipped,
            skipped.tasks[0].late
        ),
        (4, 2, 2)
    );
}

/// A scheduler that chooses unknown slots, too many, and all of them twice.
struct Faulty(Vec<Slot>);

impl Scheduler for Faulty {
    fn name(&self) -> &str {
        "nonsense"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Importance
    }

    fn reserve(&mut self, _: usize) {}

    fn ready(&mut self, thread: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
        self.0.push(thread);
    }

    fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}

    fn remove(&mut self, thread: Slot, _: Time) {
        self.0.retain(|other| *other != thread);
    }

    fn choose(&mut self, _: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
        chosen.push(Slot(u32::MAX));
        chosen.extend(self.0.iter().chain(&self.0).copied());
    }

    fn reconsider_at(&self, now: Time) -> Option<Time> {
        Some(now)
    }

    fn compare(&self, _: &Claim, _: &Claim, _: Time) -> Ordering {
        Ordering::Greater
    }
}

/// Time advances, and no processor runs two threads.
#[test]
fn invalid_choices_of_a_scheduler_are_ignored() {
    let tasks = (0..3)
        .map(|number| once("t", 0, number, vec![Step::compute(Duration::from_nanos(50))]))
        .collect();
    let mut model = hosts(1, tasks);
    model.hosts[0].processors = 2;
    let mut simulation = Simulation::new(&model, 1, |_| Box::new(Faulty(Vec::new()))).unwrap();
    simulation.run_until(at(1), &mut ()).unwrap();
    let statistics = simulation.finish();
    assert!(statistics.tasks.iter().all(|task| task.made == 1));
    assert_eq!(statistics.hosts[0].busy, Duration::from_nanos(150));
}

fn varied() -> Model {
    let work = |ms: u32| {
        Step::Compute(Work {
            time: MS * ms,
            least: 0.3,
            most: 1.2,
        })
    };
    let mut tasks = vec![periodic("p", 10, 3), periodic("q", 25, 5), periodic("r", 40, 8)];
    tasks[0].steps = vec![work(3)];
    tasks[1].steps = vec![work(1), Step::call(1, vec![work(3)]), work(1)];
    tasks[2].arrival = Arrival::Random {
        offset: at(0),
        mean: MS * 40,
    };
    tasks[2].hosts = vec![0, 1, 1];
    let mut model = hosts(2, tasks);
    model.network.latency = MS;
    model.network.jitter = MS;
    model
}

#[test]
fn events_depend_on_the_seed_alone() {
    let model = varied();
    for name in STANDARD {
        let first = simulate(&model, name, 7, MS * 2000);
        assert_eq!(first, simulate(&model, name, 7, MS * 2000), "{name}");
        assert_ne!(first.0, simulate(&model, name, 8, MS * 2000).0, "{name}");
    }
}

#[test]
fn all_schedulers_get_the_same_workload() {
    let model = varied();
    let arrivals = |name| {
        let (events, _) = simulate(&model, name, 3, MS * 2000);
        let arrived = events
            .into_iter()
            .filter(|event| event.kind == EventKind::Arrived);
        arrived
            .map(|event| (event.time, event.thread))
            .collect::<Vec<_>>()
    };
    let first = arrivals("EDF");
    assert!(STANDARD.iter().all(|name| arrivals(name) == first));
}

#[test]
fn running_in_pieces_gives_the_same_result() {
    let model = varied();
    let whole = simulate(&model, "MUF", 5, MS * 500);
    let mut simulation = Simulation::new(&model, 5, |_| standard("MUF").unwrap()).unwrap();
    let mut events = Vec::new();
    (1..=50).for_each(|piece| simulation.run_until(at(piece * 10), &mut events).unwrap());
    assert_eq!((events, simulation.finish()), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In all models, processor time is conserved, every thread is counted once, and a processor runs one
    /// thread.
    #[test]
    fn books_balance(
        sets in proptest::collection::vec((1u32..40, 1u32..15, 0u32..20, 0i32..5), 1..8),
        scheduler in 0usize..9,
        seed in 0u64..1000,
    ) {
        let tasks = sets.iter().map(|(period, compute_ms, offset, criticality)| {
            let mut task = periodic("t", *period, *compute_ms);
            task.arrival = Arrival::Periodic { offset: at(*offset), period: MS * *period, jitter: MS * 2 };
            if let Some(parameters) = &mut task.parameters {
                parameters.criticality = *criticality;
                parameters.importance = *criticality;
            }
            task
        });
        let model = hosts(1, tasks.collect());
        let (events, statistics) = simulate(&model, STANDARD[scheduler], seed, MS * 400);
        for task in &statistics.tasks {
            let counted = task.made + task.missed() + task.cancelled + task.unfinished;
            prop_assert_eq!(counted, task.arrived);
        }
        let used: Duration = statistics.tasks.iter().map(|task| task.processor_time).sum();
        prop_assert_eq!(used, statistics.hosts[0].busy);
        prop_assert!(statistics.hosts[0].busy <= MS * 400);
        let mut runs = punctual_sched::simulator::dispatch_graph(&events, at(400), false);
        runs.sort_by_key(|run| run.from);
        prop_assert!(runs.windows(2).all(|pair| pair[0].to <= pair[1].from));
        let ran: u64 = runs.iter().map(|run| run.to.0 - run.from.0).sum();
        prop_assert_eq!(Duration::from_nanos(ran), used);
        // It is never idle while a thread is ready.
        let shares = sets.iter().map(|(period, compute_ms, ..)| u64::from(compute_ms * 1000 / period));
        let total: u64 = shares.sum();
        prop_assert!(total < 1300 || statistics.hosts[0].busy > MS * 300);
    }
}
