//! Five distributable threads on two hosts: the model and the expected turns of [Gill 2004] figure 6.

use std::time::Duration;

use punctual::Priority;
use punctual_sched::{
    dynamic::{Time, Utility},
    simulator::{Arrival, Host, Model, Parameters, Step, Task},
};

/// Returns the model of [Gill 2004] section 3.1 and figure 6. `unit` stands for the paper's second.
///
/// From the text: DT1 computes 3 s on host 1, 3 s on host 2 in a two-way call, and 3 s on host 1 again. DT2
/// computes 6 s on host 1, 3 s on host 2 in a call, and the rest on host 1. DT3 arrives on host 1 at 12 s,
/// DT4 on host 2 at 0 s, and DT5, which computes 3 s, on host 2 at 9 s. DT1 is more important than DT2 and
/// DT4, and DT5 more important than DT4. When DT5 completes, DT4 runs although DT2's call has arrived: DT4 is
/// more important than DT2 (the text says "DT5" there, which has ended). DT4 needs three times 3 s. No thread
/// suspends DT3, not even DT2 when its call returns, and DT3 hands over to DT2 at 18 s: it takes 6 s and is
/// more important than DT2. The paper does not state the rest of DT2; we use 3 s.
///
/// Importances have that order. So do priorities, deadlines and periods, and therefore FP, RMS and EDF
/// produce the same turns. Each deadline leaves `unit` of slack.
///
/// `late` delays the arrivals of DT3 and DT5; the paper's threads also started late, by "less than 1 sec". It
/// must exceed the sum of delays of calls and switches up to then: DT2 must have sent its call when DT3
/// arrives.
pub fn figure_6(unit: Duration, late: Duration) -> Model {
    let seconds = |count: u32| unit * count;
    let work = |count: u32| Step::compute(seconds(count));
    let thread = |name, host, importance| Thread {
        name,
        host,
        importance,
        arrival: Duration::ZERO,
        deadline: Duration::ZERO,
        steps: Vec::new(),
    };
    let threads = [
        Thread {
            deadline: seconds(10),
            steps: vec![work(3), Step::call(1, [work(3)]), work(3)],
            ..thread("DT1", 0, 50)
        },
        Thread {
            deadline: seconds(23),
            steps: vec![work(6), Step::call(1, [work(3)]), work(3)],
            ..thread("DT2", 0, 10)
        },
        Thread {
            arrival: seconds(12) + late,
            deadline: seconds(7),
            steps: vec![work(6)],
            ..thread("DT3", 0, 30)
        },
        Thread {
            deadline: seconds(17),
            steps: vec![work(9)],
            ..thread("DT4", 1, 20)
        },
        Thread {
            arrival: seconds(9) + late,
            deadline: seconds(4),
            steps: vec![work(3)],
            ..thread("DT5", 1, 40)
        },
    ];
    Model {
        hosts: vec![Host::new("host 1"), Host::new("host 2")],
        tasks: threads.into_iter().map(Thread::task).collect(),
        ..Model::default()
    }
}

/// One of the five threads.
struct Thread {
    name: &'static str,
    host: usize,
    /// Its importance: CORBA priority and utility.
    importance: u16,
    arrival: Duration,
    /// Time from arrival to deadline.
    deadline: Duration,
    steps: Vec<Step>,
}

impl Thread {
    fn task(self) -> Task {
        let mut task = Task::new(self.name);
        task.hosts = vec![self.host];
        task.arrival = Arrival::Once {
            at: Time(0) + self.arrival,
        };
        task.parameters = Some(Parameters {
            priority: i16::try_from(self.importance)
                .ok()
                .and_then(|priority| Priority::new(priority).ok())
                .unwrap_or(Priority::MIN),
            importance: self.importance.into(),
            criticality: 0,
            period: self.deadline,
            deadline: Some(self.deadline),
            execution_time: Step::execution_time(&self.steps),
            utility: Utility {
                value: self.importance.into(),
                decay: Duration::ZERO,
            },
        });
        task.steps = self.steps;
        task
    }
}

/// An interval in which a thread runs on a host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Turn {
    /// 0 for host 1, 1 for host 2.
    pub host: u32,
    /// 0 for DT1, and so on.
    pub thread: u32,
    /// First second.
    pub from: u32,
    /// Second at which it ends.
    pub to: u32,
    /// Why it ends.
    pub end: TurnEnd,
}

/// Event that ends a turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TurnEnd {
    /// The thread calls the other host.
    Calls,
    /// The call returns to the caller's host.
    Replies,
    /// A more important thread is ready.
    Suspended,
    /// The thread completes.
    Completes,
}

/// The turns according to the text of [Gill 2004] section 3.1: first those on host 1, then those on host 2.
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

/// Creates a turn from the paper's number of the thread.
const fn turn(host: u32, number: u32, from: u32, to: u32, end: TurnEnd) -> Turn {
    Turn {
        host,
        thread: number - 1,
        from,
        to,
        end,
    }
}
