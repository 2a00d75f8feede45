//! [Gill 2004] figure 6.

use std::time::Duration;

use crate::simulated::{FIGURE_6, Turn, TurnEnd, figure_6};
use punctual_sched::{
    dynamic::{Time, standard},
    simulator::{Event, EventKind, Model, Simulation, Statistics, dispatch_graph},
};

const SECOND: Duration = Duration::from_secs(1);

/// Simulates a model for this time, with the named scheduler on every host.
fn simulate(model: &Model, name: &str, time: Duration) -> (Vec<Event>, Statistics) {
    let scheduler = |_| standard(name).unwrap_or_else(|| panic!("unknown scheduler {name}"));
    let mut simulation = Simulation::new(model, 1, scheduler).unwrap();
    let mut events = Vec::new();
    simulation.run_until(Time(0) + time, &mut events).unwrap();
    (events, simulation.finish())
}

/// Returns all turns on host 1, then all on host 2, with their exact times.
fn turns(scheduler: &str, late: Duration) -> Vec<(Turn, Time, Time)> {
    let (events, statistics) = simulate(&figure_6(SECOND, late), scheduler, 25 * SECOND);
    assert!(
        statistics.tasks.iter().all(|task| task.made == 1),
        "{statistics:#?}"
    );
    let mut turns: Vec<_> = dispatch_graph(&events, Time(0) + 25 * SECOND, true)
        .into_iter()
        .map(|run| {
            let end = match run.end.expect("all threads have completed") {
                EventKind::Sent { .. } => TurnEnd::Calls,
                EventKind::Replied { .. } => TurnEnd::Replies,
                EventKind::Suspended => TurnEnd::Suspended,
                EventKind::Completed => TurnEnd::Completes,
                other => panic!("{other:?}"),
            };
            let rounded = |time: Time| ((time.0 + 500_000_000) / 1_000_000_000) as u32;
            let turn = Turn {
                host: run.host,
                thread: run.thread.task,
                from: rounded(run.from),
                to: rounded(run.to),
                end,
            };
            (turn, run.from, run.to)
        })
        .collect();
    turns.sort_by_key(|(turn, from, _)| (turn.host, *from));
    turns
}

#[test]
fn threads_are_suspended_and_resumed_in_the_order_of_the_paper() {
    for scheduler in ["MIF", "TP", "FP", "EDF", "RMS"] {
        for late in [Duration::ZERO, SECOND / 10] {
            let made: Vec<_> = turns(scheduler, late).iter().map(|(turn, ..)| *turn).collect();
            assert_eq!(made, FIGURE_6, "{scheduler}, {late:?}");
        }
    }
}

#[test]
fn without_delays_turns_start_and_end_at_whole_seconds() {
    for (turn, from, to) in turns("MIF", Duration::ZERO) {
        assert_eq!(
            (from, to),
            (Time(0) + turn.from * SECOND, Time(0) + turn.to * SECOND)
        );
    }
}

/// The table of the paper's text: the thread that runs on each host in each second.
#[test]
fn turns_agree_with_the_table_of_seconds() {
    let mut table = [[0; 21]; 2];
    for turn in FIGURE_6 {
        for second in turn.from..turn.to {
            let place = &mut table[turn.host as usize][second as usize];
            assert_eq!(*place, 0, "two threads at once");
            *place = turn.thread + 1;
        }
    }
    assert_eq!(
        table,
        [
            [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 2, 2, 2],
            [4, 4, 4, 1, 1, 1, 4, 4, 4, 5, 5, 5, 4, 4, 4, 2, 2, 2, 0, 0, 0],
        ]
    );
}

#[test]
fn another_unit_scales_all_times() {
    let unit = Duration::from_millis(50);
    let (short, _) = simulate(&figure_6(unit, unit / 10), "MIF", 25 * unit);
    let (long, _) = simulate(&figure_6(SECOND, SECOND / 10), "MIF", 25 * SECOND);
    assert_eq!(short.len(), long.len());
    for (short, long) in short.iter().zip(&long) {
        assert_eq!(
            (short.kind, short.thread, short.time.0 * 20),
            (long.kind, long.thread, long.time.0)
        );
    }
}
