//! An operational flight program in one process: sensors, filters and displays run as the schedule decides,
//! before and after a change in the air.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{env, iter, thread};

use Criticality::{High, Low, Medium, VeryHigh, VeryLow};
use punctual::NativePriority;
use punctual::rtscheduling::{SheddingPolicy, Time};
use punctual_dispatch::{Cancellation, Command, Execution, Hopeless};
use punctual_os::clock;
use punctual_scheduling::reconfigurable::*;
use punctual_scheduling::{ScheduledDispatcher, fifo};

/// Change this: name, criticality, periods that would do (ms, the longest first), execution time (µs).
const OPERATIONS: [(&str, Criticality, &[u64], u64); 8] = [
    ("air data", VeryHigh, &[25], 2_000),
    ("flight control", VeryHigh, PASSIVE, 4_000),
    ("navigation", High, &[50], 5_000),
    ("radar track", High, &[100, 50], 9_000),
    ("weapon display", Medium, PASSIVE, 2_000),
    ("moving map", Medium, &[200, 100], 15_000),
    ("cockpit display", Low, &[100, 50], 10_000),
    ("maintenance log", VeryLow, &[500], 25_000),
];
/// Change this: an operation runs whenever the one that it follows has run.
const FOLLOWS: [(&str, &str); 2] = [("flight control", "air data"), ("weapon display", "radar track")];
/// Change this: the rates of one operation once a threat appears.
const THREAT: (&str, &[u64], u64) = ("radar track", &[100, 50, 25], 9_000);

const PASSIVE: &[u64] = &[];
/// Flight time before and after the threat.
const PHASE: Duration = Duration::from_millis(1_000);

struct Program {
    dispatcher: OnceLock<ScheduledDispatcher<Run>>,
    ids: Vec<OperationId>,
    /// Counts of each operation: in time, late, cancelled.
    counts: Vec<[AtomicU32; 3]>,
}

/// One execution of an operation.
struct Run {
    program: Arc<Program>,
    operation: usize,
}

impl Command for Run {
    fn execute(&mut self, execution: &Execution) -> Result<(), Hopeless> {
        compute(Duration::from_micros(OPERATIONS[self.operation].3));
        let is_late = self.program.now() > execution.qos().deadline;
        self.program.count(self.operation, usize::from(is_late));
        let name = OPERATIONS[self.operation].0;
        for (follower, _) in FOLLOWS.iter().filter(|(_, on)| *on == name) {
            self.program.raise(index(follower), self.program.now());
        }
        Ok(())
    }

    fn cancelled(&mut self, _: Cancellation) {
        self.program.count(self.operation, 2);
    }
}

impl Program {
    fn dispatcher(&self) -> &ScheduledDispatcher<Run> {
        self.dispatcher.get().expect("set before the first event")
    }

    fn now(&self) -> Time {
        self.dispatcher().now()
    }

    fn count(&self, operation: usize, fate: usize) {
        self.counts[operation][fate].fetch_add(1, SeqCst);
    }

    /// Queues an operation for the thread of its level.
    fn raise(self: &Arc<Self>, operation: usize, release: Time) {
        let program = Arc::clone(self);
        let run = Run { program, operation };
        if let Err(refused) = self.dispatcher().dispatch(self.ids[operation], release, run) {
            println!("{} was not dispatched: {refused}", OPERATIONS[operation].0);
        }
    }

    /// Releases all sources at the rates of the schedule.
    fn fly(self: &Arc<Self>, time: Duration) {
        let (begin, schedule) = (self.now(), self.dispatcher().scheduler());
        let periods = (0..OPERATIONS.len()).filter(|operation| OPERATIONS[*operation].2 != PASSIVE);
        let periods = periods.filter_map(|operation| {
            let period = schedule.assignment(self.ids[operation])?.period?;
            Some((operation, period))
        });
        let mut releases: Vec<(Duration, usize)> = periods
            .flat_map(|(operation, period)| {
                let times = iter::successors(Some(Duration::ZERO), move |last| Some(*last + period));
                times.take_while(|at| *at < time).map(move |at| (at, operation))
            })
            .collect();
        releases.sort();
        let start = Instant::now();
        for (at, operation) in releases {
            thread::sleep((start + at).saturating_duration_since(Instant::now()));
            self.raise(operation, begin + at);
        }
        self.dispatcher().dispatcher().wait_until_idle(time);
    }

    /// Prints and resets what became of all operations.
    fn report(&self) {
        let schedule = self.dispatcher().scheduler();
        println!(
            "{:<16} {:>9} {:>6} {:>8} {:>5} {:>10}",
            "operation", "period", "level", "in time", "late", "cancelled"
        );
        for (operation, (name, ..)) in OPERATIONS.iter().enumerate() {
            let assignment = schedule.assignment(self.ids[operation]).unwrap_or_default();
            let period = assignment
                .period
                .map_or("-".to_owned(), |period| format!("{period:?}"));
            let level = assignment.level.map_or("-".to_owned(), |level| level.to_string());
            let [made, late, cancelled] = [0, 1, 2].map(|fate| self.counts[operation][fate].swap(0, SeqCst));
            println!("{name:<16} {period:>9} {level:>6} {made:>8} {late:>5} {cancelled:>10}");
        }
        println!("{:.0} % of the processor\n", schedule.utilization() * 100.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let strategy: Strategy = env::args().nth(1).unwrap_or("MUF".to_owned()).parse()?;
    let mut scheduler = ReconfigurableScheduler::new(strategy).thresholds(1.0, 0.97)?;
    let mut ids = Vec::new();
    for (name, criticality, periods, wcet) in OPERATIONS {
        let mut operation = Operation::new(name, criticality);
        operation.tuples = tuples(periods, wcet);
        ids.push(scheduler.add(operation)?);
    }
    for (follower, on) in FOLLOWS {
        scheduler.depend(ids[index(follower)], ids[index(on)], 1)?;
    }
    // Work that would be late anyway is not begun, unless it is critical.
    let priorities = fifo(NativePriority(40));
    let shedding = SheddingPolicy::before_dispatch().sparing_critical();
    let dispatcher = ScheduledDispatcher::start(scheduler, move |place, level| {
        priorities(place, level).shedding(shedding)
    })?;
    let program = Arc::new(Program {
        dispatcher: OnceLock::from(dispatcher),
        ids,
        counts: OPERATIONS.iter().map(|_| Default::default()).collect(),
    });

    println!("{strategy}, before the threat");
    program.fly(PHASE);
    program.report();

    let (name, periods, wcet) = THREAT;
    let anomalies = program.dispatcher().reconfigure(|scheduler| {
        scheduler
            .replace(program.ids[index(name)], tuples(periods, wcet))
            .expect("it is known")
    })?;
    println!("{strategy}, with the threat");
    program.fly(PHASE);
    program.report();
    for anomaly in anomalies {
        println!("{anomaly}");
    }
    Ok(())
}

fn index(name: &str) -> usize {
    let found = OPERATIONS.iter().position(|operation| operation.0 == name);
    found.unwrap_or_else(|| panic!("there is no operation `{name}`"))
}

fn tuples(periods: &[u64], wcet: u64) -> Vec<RateTuple> {
    let wcet = Duration::from_micros(wcet);
    let periods = periods.iter().map(|every| Duration::from_millis(*every));
    let mut tuples: Vec<RateTuple> = periods.map(|period| RateTuple { period, wcet }).collect();
    if tuples.is_empty() {
        tuples.push(RateTuple {
            period: Duration::ZERO,
            wcet,
        });
    }
    tuples
}

/// Uses this much processor time.
fn compute(time: Duration) {
    let end = clock::thread_cpu_time() + time;
    while clock::thread_cpu_time() < end {}
}
