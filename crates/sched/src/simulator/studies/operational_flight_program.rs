use alloc::{format, vec};
use core::time::Duration;

use punctual_types::Priority;

use crate::{
    dynamic::{SchedulingParameters, Time, Utility},
    simulator::{Arrival, Costs, Host, Model, Overrun, Parameters, Shedding, Step, Task, Work},
};

/// Operations of one rate. Times are what one takes on average where all of them together need the whole CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationGroup {
    /// How often per second.
    pub hertz: u32,
    /// How many critical ones there are.
    pub critical: u32,
    /// What each takes, in microseconds.
    pub critical_microseconds: u32,
    /// How many others.
    pub other: u32,
    /// What each takes, in microseconds.
    pub other_microseconds: u32,
}

/// The 70 operations. \[S4\] names their number (about 70), that some are critical, that their rates differ, and that several
/// non-critical ones are short. Rates are those of avionics mission computing (40 Hz down to 1 Hz); slower ones take longer; what
/// is not critical takes a third of what is. All critical ones together need 70 % of what all operations do: a CPU that is
/// overloaded by up to a third can still do them.
pub const OPERATIONS: [OperationGroup; 5] = [
    group(40, (4, 900), (4, 300)),
    group(20, (8, 1_000), (8, 350)),
    group(10, (8, 2_000), (10, 600)),
    group(5, (6, 4_500), (10, 1_300)),
    group(1, (4, 25_000), (8, 9_000)),
];

const fn group(hertz: u32, critical: (u32, u32), other: (u32, u32)) -> OperationGroup {
    OperationGroup {
        hertz,
        critical: critical.0,
        critical_microseconds: critical.1,
        other: other.0,
        other_microseconds: other.1,
    }
}

/// An operational flight program on one processor: \[S4\] section 3.2, figures 7 and 8.
///
/// `load` is what all operations need of the CPU on average: 1 is all of it, more is overload. Each operation's deadline is its
/// next arrival; while it has not ended, its next arrival is dropped and counts as missed. It takes between 80 % and 100 % of the
/// execution time that it states, as measured times do of a worst case. Scheduling takes time: 5 µs for a decision, 10 µs for a
/// hand-over, 100 µs to cancel an operation (on a computer whose shortest operation takes 0.3 ms).
///
/// A critical operation is worth 10 if it is in time, another one 1, whatever they take.
///
/// Under overload MUF does every critical operation in time as long as these fit, which they do up to a load of about 1.3. RMS
/// prefers rates: at 1.2 those of 5 Hz and more fill the CPU, and critical ones of 1 Hz miss.
///
/// # Panics
/// If `load` is negative or not finite.
pub fn operational_flight_program(load: f64, shedding: Shedding) -> Model {
    let mut host = Host::new("mission computer");
    host.costs = Costs {
        decision: Duration::from_micros(5),
        hand_over: Duration::from_micros(10),
        check: Duration::from_micros(5),
        cancellation: Duration::from_micros(100),
    };
    let mut model = Model {
        hosts: vec![host],
        shedding,
        ..Model::default()
    };
    for group in OPERATIONS {
        let count = group.critical + group.other;
        for number in 0..count {
            // Evenly among one another, so that none is always released before the others.
            let critical = (number + 1) * group.critical / count > number * group.critical / count;
            model.tasks.push(operation(group, number + 1, critical, load));
        }
    }
    model
}

/// The least and the most of its execution time that an operation takes.
const SHARES: (f64, f64) = (0.8, 1.0);

fn operation(group: OperationGroup, number: u32, critical: bool, load: f64) -> Task {
    let microseconds = if critical {
        group.critical_microseconds
    } else {
        group.other_microseconds
    };
    let mean = Duration::from_micros(microseconds.into()).mul_f64(load);
    let stated = mean.mul_f64(2.0 / (SHARES.0 + SHARES.1));
    let period = Duration::from_secs(1) / group.hertz;
    let kind = if critical { "critical" } else { "other" };
    let mut task = Task::new(format!("{} Hz {kind} {number}", group.hertz));
    task.arrival = Arrival::Periodic {
        offset: Time(0),
        period,
        jitter: Duration::ZERO,
    };
    task.overrun = Overrun::Skip;
    task.parameters = Some(Parameters {
        priority: Priority::new(i16::try_from(group.hertz).unwrap_or(i16::MAX)).unwrap_or(Priority::MIN),
        importance: 0,
        criticality: if critical {
            SchedulingParameters::CRITICAL
        } else {
            0
        },
        period,
        deadline: Some(period),
        execution_time: stated,
        utility: Utility {
            value: if critical { 10 } else { 1 },
            decay: Duration::ZERO,
        },
    });
    task.steps = vec![Step::Compute(Work {
        time: stated,
        least: SHARES.0,
        most: SHARES.1,
    })];
    task
}
