//! [S4] figure 6.

use std::time::Duration;

use punctual_sched::{
    dynamic::Time,
    simulator::{
        EventKind, dispatch_graph,
        studies::{FIGURE_6, Turn, TurnEnd, figure_6},
    },
};

use crate::support::simulate;

const SECOND: Duration = Duration::from_secs(1);

/// All turns on host 1, then all on host 2.
fn turns(scheduler: &str, late: Duration) -> Vec<(Turn, Time, Time)> {
    let (events, statistics) = simulate(&figure_6(SECOND, late), scheduler, 1, 25 * SECOND);
    assert!(
        statistics.tasks.iter().all(|task| task.made == 1),
        "{statistics:#?}"
    );
    let mut turns: Vec<_> = dispatch_graph(&events, Time(0) + 25 * SECOND, true)
        .into_iter()
        .map(|run| {
            let end = match run.end.expect("all are done") {
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
fn threads_are_suspended_and_resumed_in_the_papers_order() {
    for scheduler in ["MIF", "TP", "FP", "EDF", "RMS"] {
        for late in [Duration::ZERO, SECOND / 10] {
            let made: Vec<_> = turns(scheduler, late).iter().map(|(turn, ..)| *turn).collect();
            assert_eq!(made, FIGURE_6, "{scheduler}, {late:?}");
        }
    }
}

#[test]
fn without_delays_turns_begin_and_end_with_whole_seconds() {
    for (turn, from, to) in turns("MIF", Duration::ZERO) {
        assert_eq!(
            (from, to),
            (Time(0) + turn.from * SECOND, Time(0) + turn.to * SECOND)
        );
    }
}

/// The table of the paper's text: who runs on which host in which second.
#[test]
fn table_from_second_to_second() {
    let mut table = [[0; 21]; 2];
    for turn in FIGURE_6 {
        for second in turn.from..turn.to {
            let place = &mut table[turn.host as usize][second as usize];
            assert_eq!(*place, 0, "two at once");
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
fn a_unit_of_another_length_changes_nothing_but_the_length() {
    let unit = Duration::from_millis(50);
    let (short, _) = simulate(&figure_6(unit, unit / 10), "MIF", 1, 25 * unit);
    let (long, _) = simulate(&figure_6(SECOND, SECOND / 10), "MIF", 1, 25 * SECOND);
    assert_eq!(short.len(), long.len());
    for (short, long) in short.iter().zip(&long) {
        assert_eq!(
            (short.kind, short.thread, short.time.0 * 20),
            (long.kind, long.thread, long.time.0)
        );
    }
}
