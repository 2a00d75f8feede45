//! Lanes where the earliest deadline runs first: a request can wait for a thread that serves a later one.

use punctual_sched::analysis::*;

use crate::analysis::{
    bounds::{Random, ratios},
    simulation::{Actual, worst_responses},
};

/// Returns the occupation of a lane of this many threads.
fn lane(threads: usize, first: usize, last: usize) -> Hold {
    Hold {
        lane: 0,
        threads,
        first,
        last,
        borrows: false,
    }
}

/// An urgent request and a slow one to the same lane.
fn two_requests(threads: usize) -> [Task; 2] {
    let task = |deadline, wcet| {
        let task = Task::new(100, 5).deadline(deadline);
        task.step(Step::new(0, wcet).by_deadline())
            .hold(lane(threads, 0, 0))
    };
    [task(5, 1), task(100, 50)]
}

fn worst(tasks: &[Task]) -> Vec<Option<Time>> {
    let analysis = analyse(tasks).unwrap();
    analysis.responses.iter().map(Response::worst).collect()
}

#[test]
fn a_late_deadline_can_occupy_the_only_thread() {
    let tasks = two_requests(1);
    let actual = Actual {
        phases: &[1, 0],
        choose: &mut |most| most,
    };
    // The slow request arrives first, and keeps the thread until it ends.
    let simulated = worst_responses(&tasks, 1_000, actual);
    assert_eq!(simulated, [50, 50]);
    assert!(!analyse(&tasks).unwrap().is_feasible());
    assert_eq!(worst(&tasks), [None, None]);
    assert_eq!(demand_peak(&tasks, 0), None, "the test requires threads for all");
    let tasks = two_requests(2);
    assert_eq!(worst(&tasks), [Some(1), Some(51)]);
    assert_eq!(demand_peak(&tasks, 0), Some(0.51));
}

#[test]
fn calls_of_one_instance_count_if_one_is_within_another() {
    let task = |holds: &[Hold]| {
        let task = Task::new(100, 5)
            .step(Step::new(0, 1).by_deadline())
            .step(Step::new(0, 2).by_deadline())
            .step(Step::new(0, 1).by_deadline());
        holds.iter().copied().fold(task, Task::hold)
    };
    let without_lane = worst(&[task(&[])]);
    assert!(without_lane[0].is_some());
    let in_turn = |threads| [lane(threads, 0, 0), lane(threads, 2, 2)];
    assert_eq!(worst(&[task(&in_turn(1))]), without_lane);
    let nested = |threads| [lane(threads, 1, 1), lane(threads, 0, 2)];
    assert_eq!(worst(&[task(&nested(1))]), [None], "it waits for itself");
    assert_eq!(worst(&[task(&nested(2))]), without_lane);
    assert_eq!(Hold::at_a_time(&nested(2), 0), 2);
    assert_eq!(Hold::at_a_time(&in_turn(1), 0), 1);
    assert_eq!(Hold::at_a_time(&in_turn(1), 1), 0);
}

/// The slow task's instances last for more than a period, so that two of them occupy threads.
#[test]
fn instances_that_overlap_need_a_thread_each() {
    let tasks = |threads| {
        let [urgent, mut slow] = two_requests(threads);
        slow.deadline = 200;
        slow.steps[0].delay = 60;
        [urgent, slow]
    };
    assert_eq!(worst(&tasks(2)), [None, None]);
    assert_eq!(worst(&tasks(3)), [Some(1), Some(111)]);
}

#[test]
fn a_lane_that_cannot_serve_its_own_requests_takes_threads_of_others() {
    let tasks = |threads_of_high: usize| {
        let own = Hold {
            lane: 1,
            ..lane(threads_of_high, 0, 0)
        };
        let borrowed = Hold {
            borrows: true,
            ..lane(1, 0, 0)
        };
        let high = |wcet| {
            let task = Task::new(100, 9).step(Step::new(0, wcet).by_deadline());
            task.hold(own).hold(borrowed)
        };
        let low = Task::new(100, 5).step(Step::new(0, 1).by_deadline());
        [high(10), high(20), low.hold(lane(1, 0, 0))]
    };
    assert_eq!(worst(&tasks(2)), [Some(31), Some(31), Some(31)]);
    assert_eq!(worst(&tasks(1)), [None, None, None]);
}

/// Lets a lane of each processor serve whole tasks or some of their steps, all by deadline.
fn by_deadline(mut tasks: Vec<Task>, random: &mut Random) -> Vec<Task> {
    let threads = [2, 4].map(|most| 1 + random.up_to(most) as usize);
    for task in &mut tasks {
        task.deadline = 1 + random.up_to(task.period * 2);
        task.holds.clear();
        for step in &mut task.steps {
            step.by_deadline = true;
        }
        let last_step = task.steps.len() - 1;
        let first = random.up_to(last_step as u64) as usize;
        let last = first + random.up_to((last_step - first) as u64) as usize;
        if !random.once_in(4) {
            let lane = task.steps[first].processor;
            task.steps[last].processor = lane;
            task.holds.push(Hold {
                lane,
                threads: threads[lane],
                first,
                last,
                borrows: false,
            });
        }
    }
    tasks
}

#[test]
fn no_response_by_deadline_is_above_its_bound() {
    let ratios = ratios(0..2_000, by_deadline);
    assert!(
        ratios.len() > 2_000,
        "{} bounds of 2,000 sets were compared",
        ratios.len()
    );
}
