use alloc::{vec, vec::Vec};
use core::time::Duration;

use punctual_types::Priority;

use crate::{
    dynamic::{Time, Utility},
    simulator::{Arrival, Host, Model, Parameters, Step, Task},
};

/// Five distributable threads on two hosts: \[S4\] section 3.1 and figure 6. `unit` stands for the paper's second.
///
/// From the text: DT1 computes 3 s on host 1, 3 s on host 2 in a two-way call, and 3 s on host 1 again. DT2 computes 6 s on
/// host 1, 3 s on host 2 in a call, and the rest on host 1. DT3 arrives on host 1 at 12 s, DT4 on host 2 at 0 s, and DT5, which
/// computes 3 s, on host 2 at 9 s. DT1 is more important than DT2 and DT4, and so is DT5 than DT4. When DT5 is done DT4 runs,
/// although DT2's call is there: DT4 is more important than DT2 (the text has "DT5" there, which has ended). DT4 needs three
/// times 3 s. DT3 is suspended by nobody, DT2's return included, and hands over to DT2 at 18 s: it takes 6 s and is more
/// important than DT2. The rest of DT2 is not stated; we take 3 s.
///
/// Importances stand in that order. So do priorities, deadlines and periods, so that FP, RMS and EDF make the same turns. Each
/// deadline leaves `unit` to spare.
///
/// `late` is how long after their seconds DT3 and DT5 arrive; the paper's threads started late too, by "less than 1 sec". It
/// has to be longer than what calls and switches add up to by then: DT2 must have sent its call when DT3 comes.
pub fn figure_6(unit: Duration, late: Duration) -> Model {
    let seconds = |count: u32| unit * count;
    let work = |count: u32| Step::compute(seconds(count));
    // Name, host, arrival, importance, time to the deadline, steps.
    let threads = [
        (
            "DT1",
            0,
            0,
            50,
            10,
            vec![work(3), Step::call(1, [work(3)]), work(3)],
        ),
        (
            "DT2",
            0,
            0,
            10,
            23,
            vec![work(6), Step::call(1, [work(3)]), work(3)],
        ),
        ("DT3", 0, 12, 30, 7, vec![work(6)]),
        ("DT4", 1, 0, 20, 17, vec![work(9)]),
        ("DT5", 1, 9, 40, 4, vec![work(3)]),
    ];
    let task = |(name, host, arrival, importance, deadline, steps): (&str, _, u32, i32, u32, Vec<Step>)| {
        let at = Time(0) + seconds(arrival) + if arrival > 0 { late } else { Duration::ZERO };
        let deadline = seconds(deadline);
        let mut task = Task::new(name);
        task.hosts = vec![host];
        task.arrival = Arrival::Once { at };
        task.parameters = Some(Parameters {
            priority: i16::try_from(importance)
                .ok()
                .and_then(|priority| Priority::new(priority).ok())
                .unwrap_or(Priority::MIN),
            importance,
            criticality: 0,
            period: deadline,
            deadline: Some(deadline),
            execution_time: Step::execution_time(&steps),
            utility: Utility {
                value: importance.unsigned_abs(),
                decay: Duration::ZERO,
            },
        });
        task.steps = steps;
        task
    };
    Model {
        hosts: vec![Host::new("host 1"), Host::new("host 2")],
        tasks: threads.into_iter().map(task).collect(),
        ..Model::default()
    }
}

/// A thread runs on a host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Turn {
    /// 0 for host 1, 1 for host 2.
    pub host: u32,
    /// 0 for DT1, and so on.
    pub thread: u32,
    /// Since which second.
    pub from: u32,
    /// Until which second.
    pub to: u32,
    /// Why no longer.
    pub end: TurnEnd,
}

/// What ends a turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TurnEnd {
    /// It calls the other host.
    Calls,
    /// It goes back to the caller's host.
    Replies,
    /// A more important one is there.
    Suspended,
    /// It is done.
    Completes,
}

/// Who runs where from second to second according to the text of \[S4\] section 3.1: all turns on host 1, then all on host 2.
pub const FIGURE_6: [Turn; 12] = [
    turn(0, 1, 0, 3, TurnEnd::Calls),
    turn(0, 2, 3, 6, TurnEnd::Suspended),
    turn(0, 1, 6, 9, TurnEnd::Completes),
    turn(0, 2, 9, 12, TurnEnd::Calls),
    turn(0, 3, 12, 18, TurnEnd::Completes),
    turn(0, 2, 18, 21, TurnEnd::Completes),
    turn(1, 4, 0, 3, TurnEnd::Suspended),
    turn(1, 1, 3, 6, TurnEnd::Replies),
    turn(1, 4, 6, 9, TurnEnd::Suspended),
    turn(1, 5, 9, 12, TurnEnd::Completes),
    turn(1, 4, 12, 15, TurnEnd::Completes),
    turn(1, 2, 15, 18, TurnEnd::Replies),
];

/// The number of the paper for the thread.
const fn turn(host: u32, number: u32, from: u32, to: u32, end: TurnEnd) -> Turn {
    Turn {
        host,
        thread: number - 1,
        from,
        to,
        end,
    }
}
