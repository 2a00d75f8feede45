//! An operational flight program on one processor: the model of [Gill 2004] section 3.2, figures 7 and 8.

use std::time::Duration;

use punctual::Priority;
use punctual_sched::{
    dynamic::{Scheduler, SchedulingParameters, SheddingPolicy, Time, Utility},
    simulator::{
        Arrival, Costs, Host, Model, ModelError, Overrun, Parameters, Simulation, Statistics, Step, Task,
        Work,
    },
};

/// Operations of one rate. Times are averages at a load of 1, at which all operations together use the whole
/// CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationGroup {
    /// Rate of each operation, in hertz.
    pub hertz: u32,
    /// Number of critical operations.
    pub critical: u32,
    /// Execution time of a critical operation, in microseconds.
    pub critical_microseconds: u32,
    /// Number of other operations.
    pub other: u32,
    /// Execution time of another operation, in microseconds.
    pub other_microseconds: u32,
}

/// The 70 operations. [Gill 2004] states their number (about 70), that some are critical, that their rates
/// differ, and that several non-critical ones are short. Rates are those of avionics mission computing (40 Hz
/// down to 1 Hz); slower operations take longer, and non-critical ones are short at all rates. The critical
/// operations use 77 % of the total time, so a CPU that is overloaded by up to a quarter can still execute
/// them.
pub const OPERATIONS: [OperationGroup; 5] = [
    group(40, 4, 1_000, 4, 330),
    group(20, 8, 1_100, 8, 380),
    group(10, 8, 2_200, 10, 650),
    group(5, 6, 4_900, 10, 900),
    group(1, 4, 27_000, 8, 1_175),
];

/// Creates a group; arguments in the order of its fields.
const fn group(
    hertz: u32,
    critical: u32,
    critical_microseconds: u32,
    other: u32,
    other_microseconds: u32,
) -> OperationGroup {
    OperationGroup {
        hertz,
        critical,
        critical_microseconds,
        other,
        other_microseconds,
    }
}

/// An operational flight program on one processor: [Gill 2004] section 3.2, figures 7 and 8.
///
/// Each operation's deadline is its next arrival. Each arrival is a separate event and is queued, as in an
/// event channel. Its stated execution time is the worst case; the actual one is shorter. The utility of a
/// critical operation that completes in time is 10, that of another one 1, regardless of their execution
/// times.
///
/// ```
/// use std::time::Duration;
/// use punctual_scenarios::simulated::FlightProgram;
/// use punctual_sched::dynamic::{SheddingPolicy, standard};
///
/// let shedding = SheddingPolicy::before_dispatch().sparing_critical();
/// let program = FlightProgram { load: 1.05, shedding, ..FlightProgram::default() };
/// let flown = program.fly(standard("MUF").unwrap(), 1, Duration::from_secs(2))?;
/// assert_eq!(flown.critical.missed, 0);
/// assert!(flown.other.cancelled > 0);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlightProgram {
    /// Average share of the CPU that all operations use, without scheduling: above 1 is overload. Not
    /// negative.
    pub load: f64,
    /// Smallest and largest share of the worst case that an operation takes, uniformly distributed. Measured
    /// times of programs are mostly between 30 % and 100 %.
    pub shares: (f64, f64),
    /// Costs of scheduling.
    pub costs: Costs,
    /// Treatment of an arrival while the operation has not completed.
    pub overrun: Overrun,
    /// Treatment of operations that would be late.
    pub shedding: SheddingPolicy,
}

impl Default for FlightProgram {
    /// Returns a program with the [load of the paper](Self::load_of_the_paper), 40 % to 100 % of the worst
    /// case, and no cancellation. Costs are those of a 200 MHz computer, as in the paper: 1,000 cycles (5 µs)
    /// for a decision, 2,000 for a hand-over, 4,000 to check whether an operation can meet its deadline (once
    /// per operation, with cancellation only), and 20,000 to cancel one (an exception that unwinds).
    fn default() -> Self {
        Self {
            load: Self::load_of_the_paper(),
            shares: (0.4, 1.0),
            costs: Costs {
                decision: Duration::from_micros(5),
                hand_over: Duration::from_micros(10),
                check: Duration::from_micros(20),
                cancellation: Duration::from_micros(100),
            },
            overrun: Overrun::Queue,
            shedding: SheddingPolicy::never(),
        }
    }
}

/// The results of a simulated flight.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flown {
    /// Counts of critical operations.
    pub critical: Outcomes,
    /// Counts of other operations.
    pub other: Outcomes,
    /// Utility of the operations that met their deadlines.
    pub utility: u64,
    /// Utility of all operations.
    pub utility_offered: u64,
}

/// Numbers of operations that met or missed their deadlines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outcomes {
    /// Met their deadlines.
    pub made: u64,
    /// Missed their deadlines, for any reason.
    pub missed: u64,
    /// Missed after they were dispatched; part of `missed`.
    pub dispatched_and_missed: u64,
    /// Cancelled; part of `missed`.
    pub cancelled: u64,
}

impl FlightProgram {
    /// Critical operations that miss their deadlines per sample under RMS in [Gill 2004] 3.2: the middle of
    /// "between 2 and 6".
    const MISSED_IN_THE_PAPER: f64 = 4.0;

    /// Returns the load of [Gill 2004] 3.2, 1.121. The paper calls it overload and states no number, but its
    /// result: "RMS missed between 2 and 6 critical operations per sample". Under RMS, work that does not fit
    /// is that of the lowest rate, here critical operations of 1 Hz. The load is the one at which as much
    /// work is too much in a sample of one second as four of them (the middle of 2 and 6) take.
    pub fn load_of_the_paper() -> f64 {
        let lowest = OPERATIONS[OPERATIONS.len() - 1];
        let work = f64::from(lowest.critical_microseconds * lowest.hertz) * 1e-6;
        1.0 / (1.0 - Self::MISSED_IN_THE_PAPER * work)
    }

    /// Returns the model, which can be simulated or run live.
    ///
    /// # Panics
    /// If `load` is negative or not finite.
    pub fn model(&self) -> Model {
        let mut host = Host::new("mission computer");
        (host.costs, host.shedding) = (self.costs, self.shedding);
        let mut model = Model {
            hosts: vec![host],
            ..Model::default()
        };
        for group in OPERATIONS {
            let count = group.critical + group.other;
            for number in 0..count {
                // Interleaved, so that no kind is always released first.
                let critical = (number + 1) * group.critical / count > number * group.critical / count;
                model.tasks.push(self.operation(group, number + 1, critical));
            }
        }
        model
    }

    /// Simulates the program for this time.
    ///
    /// # Errors
    /// [`shares`](Self::shares) is not a valid range, or a limit of simulations is reached.
    ///
    /// # Panics
    /// If `load` is negative or not finite.
    pub fn fly(&self, scheduler: Box<dyn Scheduler>, seed: u64, time: Duration) -> Result<Flown, ModelError> {
        let model = self.model();
        let mut scheduler = Some(scheduler);
        let mut simulation = Simulation::new(&model, seed, |_| {
            scheduler.take().expect("the model has one host")
        })?;
        simulation.run_until(Time(0) + time, &mut ())?;
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
