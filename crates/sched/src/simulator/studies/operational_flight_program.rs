use alloc::{boxed::Box, format, vec};
use core::time::Duration;

use punctual_types::Priority;

use crate::{
    dynamic::{Scheduler, SchedulingParameters, Time, Utility},
    simulator::{
        Arrival, Costs, Host, Model, ModelError, Overrun, Parameters, Shedding, Simulation, Statistics, Step,
        Task, Work,
    },
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
/// non-critical ones are short. Rates are those of avionics mission computing (40 Hz down to 1 Hz); slower ones take longer, and
/// what is not critical is short at all rates. All critical ones together need 77 % of what all operations do: a CPU that is
/// overloaded by up to a quarter can still do them.
pub const OPERATIONS: [OperationGroup; 5] = [
    group(40, (4, 1_000), (4, 330)),
    group(20, (8, 1_100), (8, 380)),
    group(10, (8, 2_200), (10, 650)),
    group(5, (6, 4_900), (10, 900)),
    group(1, (4, 27_000), (8, 1_175)),
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
/// Each operation's deadline is its next arrival. Each arrival is an event of its own, which is queued, as in an event channel. It
/// is said to take its worst case, and takes less. A critical operation is worth 10 if it is in time, another one 1, whatever they
/// take.
///
/// ```
/// use core::time::Duration;
/// use punctual_sched::dynamic::standard;
/// use punctual_sched::simulator::{Shedding, studies::FlightProgram};
///
/// let program = FlightProgram { load: 1.05, shedding: Shedding::NonCritical, ..FlightProgram::default() };
/// let flown = program.fly(standard("MUF").unwrap(), 1, Duration::from_secs(2))?;
/// assert_eq!(flown.critical.missed, 0);
/// assert!(flown.other.cancelled > 0);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlightProgram {
    /// What all operations need of the CPU on average, without scheduling: 1 is all of it, more is overload. Not negative.
    pub load: f64,
    /// The least and the most of its worst case that an operation takes, uniformly. Measured times of programs are mostly between
    /// 30 % and 100 %.
    pub shares: (f64, f64),
    /// What scheduling takes.
    pub costs: Costs,
    /// What becomes of an arrival while the operation has not ended.
    pub overrun: Overrun,
    /// What is cancelled.
    pub shedding: Shedding,
}

impl Default for FlightProgram {
    /// A load of 1.08, 40 % to 100 % of the worst case, no cancellation. Costs are those of a 200 MHz computer, as in the paper, at
    /// 1,000 cycles (5 µs) for a decision, 2,000 for a hand-over, 4,000 to check whether an operation can be in time (once for each,
    /// where operations are cancelled), and 20,000 to cancel one (an exception that unwinds).
    fn default() -> Self {
        Self {
            load: 1.08,
            shares: (0.4, 1.0),
            costs: Costs {
                decision: Duration::from_micros(5),
                hand_over: Duration::from_micros(10),
                check: Duration::from_micros(20),
                cancellation: Duration::from_micros(100),
            },
            overrun: Overrun::Queue,
            shedding: Shedding::None,
        }
    }
}

/// What operations came to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flown {
    /// The critical ones.
    pub critical: Outcomes,
    /// The others.
    pub other: Outcomes,
    /// What those in time were worth.
    pub utility: u64,
    /// What all would have been worth.
    pub utility_offered: u64,
}

/// How often operations of a kind were in time or not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outcomes {
    /// In time.
    pub made: u64,
    /// Not in time, for whatever reason.
    pub missed: u64,
    /// Of those, how many were dispatched, and then missed.
    pub dispatched_and_missed: u64,
    /// Of those, how many were cancelled.
    pub cancelled: u64,
}

impl FlightProgram {
    /// What is to be simulated, or run.
    ///
    /// # Panics
    /// If `load` is negative or not finite.
    pub fn model(&self) -> Model {
        let mut host = Host::new("mission computer");
        host.costs = self.costs;
        let mut model = Model {
            hosts: vec![host],
            shedding: self.shedding,
            ..Model::default()
        };
        for group in OPERATIONS {
            let count = group.critical + group.other;
            for number in 0..count {
                // Evenly among one another, so that none is always released before the others.
                let critical = (number + 1) * group.critical / count > number * group.critical / count;
                model.tasks.push(self.operation(group, number + 1, critical));
            }
        }
        model
    }

    /// Runs it for so long in virtual time.
    ///
    /// # Errors
    /// Where [`shares`](Self::shares) are none.
    ///
    /// # Panics
    /// If `load` is negative or not finite.
    pub fn fly(&self, scheduler: Box<dyn Scheduler>, seed: u64, time: Duration) -> Result<Flown, ModelError> {
        let model = self.model();
        let mut scheduler = Some(scheduler);
        let mut simulation = Simulation::new(&model, seed, |_| {
            scheduler.take().expect("the model has one host")
        })?;
        simulation.run_until(Time(0) + time, &mut ());
        Ok(Flown::of(&model, &simulation.finish()))
    }

    fn operation(&self, group: OperationGroup, number: u32, critical: bool) -> Task {
        let microseconds = if critical {
            group.critical_microseconds
        } else {
            group.other_microseconds
        };
        let mean = Duration::from_micros(microseconds.into()).mul_f64(self.load);
        let (least, most) = self.shares;
        let stated = mean.mul_f64(2.0 / (least + most));
        let period = Duration::from_secs(1) / group.hertz;
        let kind = if critical { "critical" } else { "other" };
        let mut task = Task::new(format!("{} Hz {kind} {number}", group.hertz));
        task.arrival = Arrival::Periodic {
            offset: Time(0),
            period,
            jitter: Duration::ZERO,
        };
        task.overrun = self.overrun;
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
            least,
            most,
        })];
        task
    }
}

impl Flown {
    fn of(model: &Model, statistics: &Statistics) -> Self {
        let mut flown = Self::default();
        for (task, about) in statistics.tasks.iter().zip(&model.tasks) {
            let critical = about
                .parameters
                .is_some_and(|parameters| parameters.is_critical());
            let sum = if critical {
                &mut flown.critical
            } else {
                &mut flown.other
            };
            sum.made += task.made;
            sum.missed += task.missed();
            sum.dispatched_and_missed += task.dispatched_and_missed;
            sum.cancelled += task.shed;
            flown.utility += task.utility;
            flown.utility_offered += task.utility_offered;
        }
        flown
    }
}
