//! The order in which threads run.

use punctual_os::{Gate, ThreadSpec};
use punctual_rtsched::{RtScheduling, SchedulingError, SpawnSpec, ThreadStatus};
use std::sync::Arc;

use super::hosts::{Log, await_status, cooperative, decisions, importance};

/// Starts an OS thread with a distributable thread, and waits until that is ready.
fn contender(
    scheduling: &RtScheduling,
    name: &'static str,
    of_importance: i32,
    work: impl FnOnce(&RtScheduling) + Send + 'static,
) -> punctual_os::Thread<()> {
    let of_thread = scheduling.clone();
    let thread = ThreadSpec::new(name)
        .spawn(move || {
            let current = of_thread.current();
            let run = current.segment(name, importance(of_importance), |_| {
                work(&of_thread);
                Ok::<_, SchedulingError>(())
            });
            run.unwrap();
        })
        .unwrap();
    await_status(scheduling, name, ThreadStatus::Ready);
    thread
}

#[test]
fn the_most_important_thread_runs_next_and_alone() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let log = Log::default();
    let mut threads = Vec::new();
    current
        .begin_scheduling_segment("first", importance(100), None)
        .unwrap();
    for (name, of_importance) in [("low", 1), ("high", 9), ("middle", 5)] {
        let log = log.clone();
        threads.push(contender(&scheduling, name, of_importance, move |scheduling| {
            for step in 0..3 {
                log.add(format!("{name} {step}"));
                scheduling.current().scheduling_point().unwrap();
            }
        }));
    }
    assert!(log.lines().is_empty(), "they wait for the first thread");
    current.end_scheduling_segment("first").unwrap();
    for thread in threads {
        thread.join().unwrap();
    }
    let expected = ["high", "middle", "low"]
        .iter()
        .flat_map(|name| (0..3).map(move |step| format!("{name} {step}")))
        .collect::<Vec<_>>();
    assert_eq!(log.lines(), expected);
    assert_eq!(
        decisions(&scheduling),
        [
            "first resumed",
            "first suspended",
            "high resumed",
            "high suspended",
            "middle resumed",
            "middle suspended",
            "low resumed",
            "low suspended"
        ]
    );
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn an_update_lets_others_run() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let log = Log::default();
    let of_other = log.clone();
    current
        .begin_scheduling_segment("main", importance(5), None)
        .unwrap();
    let other = contender(&scheduling, "other", 3, move |scheduling| {
        of_other.add("other runs");
        let current = scheduling.current();
        // Below the main thread again.
        current
            .update_scheduling_segment("other", importance(1), None)
            .unwrap();
        of_other.add("other again");
    });
    log.add("main runs");
    current
        .update_scheduling_segment("main", importance(2), None)
        .unwrap();
    log.add("main again");
    current.end_scheduling_segment("main").unwrap();
    other.join().unwrap();
    assert_eq!(
        log.lines(),
        ["main runs", "other runs", "main again", "other again"]
    );
}

#[test]
fn a_nested_segment_applies_while_it_is_open() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let log = Log::default();
    current
        .begin_scheduling_segment("main", importance(5), None)
        .unwrap();
    let of_other = log.clone();
    let other = contender(&scheduling, "other", 3, move |_| of_other.add("other"));
    current
        .segment("urgent", importance(8), |_| {
            log.add("urgent");
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    current
        .segment("idle", importance(1), |_| {
            log.add("idle");
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    log.add("main");
    current.end_scheduling_segment("main").unwrap();
    other.join().unwrap();
    assert_eq!(log.lines(), ["urgent", "other", "idle", "main"]);
}

#[test]
fn sleeping_lets_others_run() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let log = Log::default();
    current
        .begin_scheduling_segment("main", importance(5), None)
        .unwrap();
    let of_other = log.clone();
    let other = contender(&scheduling, "other", 3, move |_| of_other.add("other"));
    let later = current.now() + std::time::Duration::from_millis(30);
    current.sleep_until(later).unwrap();
    assert!(current.now() >= later);
    other.join().unwrap();
    log.add("main");
    current.end_scheduling_segment("main").unwrap();
    assert_eq!(log.lines(), ["other", "main"]);
}

#[test]
fn as_many_run_as_there_are_processors() {
    let scheduling = RtScheduling::builder()
        .processors(2)
        .preemption(punctual_rtsched::Preemption::Cooperative)
        .build()
        .unwrap();
    let current = scheduling.current();
    let (started, resume) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    current
        .segment("main", importance(1), |_| {
            let (starts, resumed) = (Arc::clone(&started), Arc::clone(&resume));
            current.spawn("second", None, None, SpawnSpec::default(), move || {
                starts.open();
                resumed.pass(None);
            })?;
            // While this one runs.
            started.pass(None);
            current.spawn("third", Some(importance(0)), None, SpawnSpec::default(), || ())?;
            await_status(&scheduling, "third", ThreadStatus::Ready);
            resume.open();
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    punctual_fixtures::eventually("all have ended", || scheduling.threads() == 0);
}

#[test]
fn ten_thousand_switches_lose_no_wake_up() {
    const ROUNDS: i32 = 10_000;
    let scheduling = RtScheduling::builder()
        .preemption(punctual_rtsched::Preemption::Cooperative)
        .build()
        .unwrap();
    let turns = Arc::new(std::sync::atomic::AtomicI32::new(0));
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let (scheduling, turns) = (scheduling.clone(), Arc::clone(&turns));
            ThreadSpec::new(format!("player-{number}"))
                .spawn(move || {
                    let current = scheduling.current();
                    current
                        .begin_scheduling_segment("play", importance(0), None)
                        .unwrap();
                    for round in 0..ROUNDS {
                        turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        // The thread with the most turns goes last.
                        current
                            .update_scheduling_segment("play", importance(-round), None)
                            .unwrap();
                    }
                    current.end_scheduling_segment("play").unwrap();
                })
                .unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(turns.load(std::sync::atomic::Ordering::Relaxed), 3 * ROUNDS);
    assert_eq!(scheduling.manager().scheduler_failures(), 0);
}
