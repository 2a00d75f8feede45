//! Remaining execution time of threads that travel and return, as in live operation
//! (`crates/rtsched/tests/rtsched/threads/work_left.rs`).

use std::{cell::RefCell, cmp::Ordering, time::Duration};

use punctual_sched::{
    dynamic::{Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time, standard},
    simulator::{Arrival, EventKind, Parameters, Protocol, Resource, Simulation, Start, Step},
};

use crate::simulator::support::*;

/// Host on which a thread became ready, its declared and received execution times there, in milliseconds.
type Seen = (usize, u128, u128);

thread_local! {
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

/// A standard scheduler that records threads that become ready.
struct Keeping {
    host: usize,
    decides: Box<dyn Scheduler>,
}

impl Scheduler for Keeping {
    fn name(&self) -> &str {
        self.decides.name()
    }

    fn kind(&self) -> ParameterKind {
        self.decides.kind()
    }

    fn reserve(&mut self, threads: usize) {
        self.decides.reserve(threads);
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        let asked = parameters.execution_time().unwrap_or_default();
        let seen = (self.host, asked.as_millis(), received.as_millis());
        SEEN.with_borrow_mut(|all| all.push(seen));
        self.decides.ready(thread, parameters, received, now);
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        self.decides.update(thread, parameters, received, now);
    }

    fn remove(&mut self, thread: Slot, now: Time) {
        self.decides.remove(thread, now);
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        self.decides.choose(processors, now, received, chosen);
    }

    fn reconsider_at(&self, now: Time) -> Option<Time> {
        self.decides.reconsider_at(now)
    }

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        self.decides.compare(one, other, now)
    }
}

/// Returns the records of one thread on two hosts, with this declared work.
fn seen(scheduler: &str, execution_ms: u32, steps: Vec<Step>) -> Vec<Seen> {
    let mut task = once("t", 0, 0, steps);
    if let Some(parameters) = &mut task.parameters {
        parameters.execution_time = MS * execution_ms;
        parameters.deadline = Some(MS * 100);
    }
    let mut started = once("started", 0, 0, vec![compute(1)]);
    (started.arrival, started.hosts, started.parameters) = (Arrival::OnDemand, vec![1], None);
    let mut model = hosts(2, vec![task, started]);
    model.network.latency = MS;
    let keeping = |host| -> Box<dyn Scheduler> {
        Box::new(Keeping {
            host,
            decides: standard(scheduler).unwrap(),
        })
    };
    let mut simulation = Simulation::new(&model, 1, keeping).unwrap();
    simulation.run_until(at(100), &mut ()).unwrap();
    assert_eq!(simulation.finish().tasks[0].made, 1);
    SEEN.take()
}

const BY_WORK_LEFT: [&str; 4] = ["MLF", "MUF", "RMS+MLF", "MAU"];

#[test]
fn each_host_counts_its_own_work_and_passes_on_the_rest() {
    let there = [compute(4), Step::call(0, [compute(1)]), compute(1)];
    let steps = vec![
        compute(2),
        Step::call(1, there),
        // On the same host there is no other segment, and the work counts.
        Step::call(0, [compute(2)]),
        Step::call(1, [compute(1)]),
        compute(1),
    ];
    for scheduler in BY_WORK_LEFT {
        assert_eq!(
            seen(scheduler, 20, steps.clone()),
            [
                (0, 20, 0),
                (1, 18, 0),
                (0, 14, 0),
                (1, 18, 4),
                (0, 20, 2),
                (1, 16, 0),
                (0, 20, 4)
            ],
            "{scheduler}"
        );
    }
    // The execution time of EDF is the kernel's reservation in each period, not the remaining work.
    let reserved = seen("EDF", 20, steps);
    assert!(reserved.iter().all(|(_, asked, _)| *asked == 20), "{reserved:?}");
}

#[test]
fn a_thread_that_has_overrun_has_no_work_left() {
    let steps = vec![compute(5), Step::call(1, [compute(1)])];
    assert_eq!(seen("MLF", 3, steps), [(0, 3, 0), (1, 0, 0), (0, 3, 5)]);
}

#[test]
fn a_started_thread_has_the_whole_work_of_its_starters_segment() {
    let start = Step::Oneway(Start {
        task: 1,
        request_bytes: 0,
        reply_bytes: 0,
    });
    let steps = vec![
        compute(2),
        start.clone(),
        Step::call(1, [compute(3), start, compute(2)]),
    ];
    // Both messages arrive at 3; the second thread starts at 8.
    assert_eq!(
        seen("MLF", 20, steps),
        [(0, 20, 0), (1, 20, 0), (1, 18, 0), (1, 18, 0), (0, 20, 2)]
    );
}

#[test]
fn segments_at_the_servant_change_nothing_for_the_caller() {
    let other = Parameters {
        execution_time: MS * 50,
        deadline: Some(MS * 100),
        ..Parameters::default()
    };
    let there = [
        compute(1),
        // States the work from the arrival on.
        Step::Update(other),
        Step::call(0, [compute(1)]),
        Step::Begin(other),
        compute(3),
        Step::call(0, [compute(1)]),
        Step::End,
        Step::call(0, [compute(1)]),
    ];
    assert_eq!(
        seen("MLF", 20, vec![compute(2), Step::call(1, there), compute(1)]),
        [
            (0, 20, 0),
            (1, 18, 0),
            (0, 49, 0),
            (1, 50, 1),
            // Of the segment that began there and, after its end, of the enclosing one.
            (0, 47, 0),
            (1, 50, 3),
            (0, 46, 0),
            (1, 50, 4),
            (0, 20, 2)
        ]
    );
}

/// After the return from a call that has done much of its work, a thread has the same laxity and utility
/// density as before.
#[test]
fn the_order_after_a_return_ignores_the_work_of_the_servant() {
    let calls = vec![compute(2), Step::call(1, [compute(4)]), compute(2)];
    let mut tasks = vec![once("calls", 0, 0, calls), once("stays", 5, 0, vec![compute(3)])];
    for (task, (deadline, value)) in tasks.iter_mut().zip([(20, 20), (14, 10)]) {
        if let Some(parameters) = &mut task.parameters {
            parameters.deadline = Some(MS * deadline);
            parameters.period = MS * 100;
            parameters.utility.value = value;
        }
    }
    let model = hosts(2, tasks);
    // It returns at 6. By this host's count 6 ms are left and must begin by 14, the other thread's 2 ms by
    // 17. Without the servant's 4 ms they would have to begin by 18.
    for scheduler in ["MLF", "MUF", "RMS+MLF"] {
        let (events, _) = simulate(&model, scheduler, 1, MS * 40);
        let expected = [(0, 0, 2), (1, 5, 6), (0, 6, 8), (1, 8, 10)];
        assert_eq!(runs(&events, 0, 40), expected, "{scheduler}");
    }
    // 20 per 6 ms is less than 10 per 2 ms; 20 per 2 ms would be more.
    let (events, _) = simulate(&model, "MAU", 1, MS * 40);
    assert_eq!(runs(&events, 0, 40), [(0, 0, 2), (1, 5, 8), (0, 8, 10)]);
}

/// Parameters lent to an absent owner are compared with its own claim on the host of the resource.
#[test]
fn an_absent_owner_inherits_by_its_segment_on_the_host_of_the_resource() {
    let holds = vec![
        Step::Lock(0),
        compute(1),
        Step::call(1, [compute(2), compute(2)]),
        compute(2),
        Step::Unlock(0),
    ];
    let wants = vec![Step::Lock(0), compute(1), Step::Unlock(0)];
    let mut tasks = vec![once("holds", 0, 0, holds), once("wants", 4, 0, wants)];
    for (task, deadline) in tasks.iter_mut().zip([20, 12]) {
        if let Some(parameters) = &mut task.parameters {
            parameters.deadline = Some(MS * deadline);
        }
    }
    let mut model = hosts(2, tasks);
    model.resources = vec![Resource {
        name: "map".into(),
        protocol: Protocol::Inheritance,
    }];
    // The owner must begin by 14 here: it declares 7 ms and has done one of them. The waiter, at 4, must
    // begin by 15; that is before the 16 or 17 of the owner's segment at the servant.
    let (events, _) = simulate(&model, "MLF", 1, MS * 40);
    assert!(times(&events, 0, |kind| *kind == EventKind::Inherited).is_empty());
    assert_eq!(runs(&events, 0, 40), [(0, 0, 1), (0, 5, 7), (1, 7, 8)]);
}
