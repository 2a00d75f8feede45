//! Partial computations of the reconfigurable scheduler: after random changes, they decide as a scheduler
//! does that is given the changed operations at once.

use std::time::Duration;

use punctual_scheduling::reconfigurable::{
    Anomaly, Assignment, Criticality, DispatchLevel, Firing, Operation, OperationId, RateTuple,
    ReconfigurableScheduler, Strategy,
};
use punctual_types::SplitMix64;

const STRATEGIES: [Strategy; 7] = [
    Strategy::Rms,
    Strategy::RmsFair,
    Strategy::Muf,
    Strategy::MufFair,
    Strategy::RmsMlf,
    Strategy::Edf,
    Strategy::Mlf,
];
/// Some are often shared, so that levels come and go.
const PERIODS_MS: [u64; 8] = [1, 2, 4, 5, 10, 20, 25, 40];

/// A scheduler, and the description that it has got in many steps.
struct Changed {
    random: SplitMix64,
    scheduler: ReconfigurableScheduler,
    strategy: Strategy,
    thresholds: (f64, f64),
    operations: Vec<Operation>,
    dependencies: Vec<(u32, u32, u32)>,
}

/// Result of a computation.
#[derive(Debug, PartialEq)]
struct Decided {
    anomalies: Vec<Anomaly>,
    objection: Option<Anomaly>,
    assignments: Vec<Option<Assignment>>,
    levels: Vec<DispatchLevel>,
    utilization: f64,
}

impl Decided {
    fn by(scheduler: &mut ReconfigurableScheduler) -> Self {
        let anomalies = scheduler.compute();
        let ids = (0u32..).map(OperationId).take(scheduler.operations().len());
        Self {
            anomalies,
            objection: scheduler.objection(),
            assignments: ids.map(|id| scheduler.assignment(id)).collect(),
            levels: scheduler.levels().to_vec(),
            utilization: scheduler.utilization(),
        }
    }
}

impl Changed {
    /// Creates a system whose operations are one third sources.
    fn new(seed: u64, strategy: Strategy, operations: usize) -> Self {
        let mut random = SplitMix64::new(seed);
        let thresholds = [(1.0, 1.0), (0.9, 0.7), (0.4, 0.8)][seed as usize % 3];
        let (critical, other) = thresholds;
        let scheduler = ReconfigurableScheduler::new(strategy);
        let scheduler = scheduler.thresholds(critical, other).unwrap();
        random.next();
        let mut own = Self {
            random,
            scheduler,
            strategy,
            thresholds,
            operations: Vec::new(),
            dependencies: Vec::new(),
        };
        for number in 0..operations {
            let mut operation = Operation::new(format!("operation {number}"), Criticality::Low);
            operation.tuples = match number % 3 {
                0 => (0..own.below(6) + 1).map(|_| own.rate()).collect(),
                _ => vec![own.passive()],
            };
            operation.tuples.dedup_by_key(|rate| rate.period);
            own.describe(&mut operation);
            own.scheduler.add(sorted(&operation)).unwrap();
            own.operations.push(operation);
        }
        for _ in 0..operations {
            own.depend();
        }
        own
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.random.next() % limit as u64) as usize
    }

    /// Returns an execution time with which about half of the rates are admitted.
    fn wcet(&mut self) -> Duration {
        let most = 8_000_000 / self.operations.len().max(4);
        Duration::from_nanos(1 + self.below(most) as u64)
    }

    fn rate(&mut self) -> RateTuple {
        let period = Duration::from_millis(PERIODS_MS[self.below(PERIODS_MS.len())]);
        RateTuple {
            period,
            wcet: self.wcet(),
        }
    }

    fn passive(&mut self) -> RateTuple {
        RateTuple {
            period: Duration::ZERO,
            wcet: self.wcet(),
        }
    }

    /// Gives an operation another criticality, importance, and condition.
    fn describe(&mut self, operation: &mut Operation) {
        use Criticality::{High, Low, Medium, VeryHigh, VeryLow};
        operation.criticality = [VeryLow, Low, Medium, High, VeryHigh][self.below(5)];
        operation.importance = self.below(3) as i32;
        operation.firing = [Firing::Any, Firing::All][self.below(2)];
        operation.is_remote = self.below(8) == 0;
    }

    /// Adds a dependency, seldom one that makes a cycle.
    fn depend(&mut self) {
        let count = self.operations.len();
        let (one, other) = (self.below(count), self.below(count));
        let (first, last) = (one.min(other) as u32, one.max(other) as u32);
        let (operation, on) = match self.below(200) {
            0 => (first, last),
            _ => (last, first),
        };
        let times = self.below(3) as u32 + 1;
        let (id, on_id) = (OperationId(operation), OperationId(on));
        self.scheduler.depend(id, on_id, times).unwrap();
        self.dependencies.push((operation, on, times));
    }

    /// Changes rates or execution times of an operation: what a partial computation follows.
    fn change_rates(&mut self) {
        let index = self.below(self.operations.len());
        let mut tuples = self.operations[index].tuples.clone();
        let place = self.below(tuples.len());
        let is_source = self.operations[index].is_source();
        match self.below(8) {
            0 | 1 if tuples.len() > 1 => drop(tuples.remove(place)),
            2 if tuples.len() > 1 => tuples.truncate(place + 1),
            3 if is_source => tuples.push(self.rate()),
            4 if is_source => tuples = (0..self.below(6) + 1).map(|_| self.rate()).collect(),
            // Contradictory.
            5 if is_source => tuples[place].wcet = tuples[place].period * 2,
            6 if is_source => tuples[place].period = self.rate().period,
            7 => {}
            _ => tuples[place].wcet = self.wcet(),
        }
        self.scheduler
            .replace(OperationId(index as u32), tuples.clone())
            .unwrap();
        self.operations[index].tuples = tuples;
    }

    /// Changes what a partial computation does not follow.
    fn change_structure(&mut self) {
        let index = self.below(self.operations.len());
        let id = OperationId(index as u32);
        let mut operation = self.operations[index].clone();
        match self.below(6) {
            0 => self.depend(),
            1 if !self.dependencies.is_empty() => {
                let place = self.below(self.dependencies.len());
                let (operation, on, _) = self.dependencies[place];
                let same = |other: &(u32, u32, u32)| (other.0, other.1) == (operation, on);
                let removed = self.dependencies.extract_if(.., |other| same(other)).count();
                let removal = self
                    .scheduler
                    .remove_dependency(OperationId(operation), OperationId(on));
                assert_eq!(removal, removed);
            }
            2 => {
                operation.enabled = !operation.enabled;
                self.scheduler.enable(id, operation.enabled).unwrap();
            }
            3 => {
                operation.tuples = match operation.is_source() {
                    true => vec![self.passive()],
                    false => vec![self.rate()],
                };
                self.scheduler.replace(id, operation.tuples.clone()).unwrap();
            }
            _ => {
                self.describe(&mut operation);
                self.scheduler.redefine(id, operation.clone()).unwrap();
            }
        }
        self.operations[index] = operation;
    }

    /// Returns what a scheduler decides that gets the operations as they are now.
    fn anew(&self) -> Decided {
        let (critical, other) = self.thresholds;
        let scheduler = ReconfigurableScheduler::new(self.strategy);
        let mut scheduler = scheduler.thresholds(critical, other).unwrap();
        for operation in &self.operations {
            scheduler.add(sorted(operation)).unwrap();
        }
        for &(operation, on, times) in &self.dependencies {
            scheduler
                .depend(OperationId(operation), OperationId(on), times)
                .unwrap();
        }
        Decided::by(&mut scheduler)
    }
}

/// Returns an operation with its rates in ascending order.
fn sorted(operation: &Operation) -> Operation {
    let bare = Operation {
        tuples: Vec::new(),
        ..operation.clone()
    };
    let rates = operation.tuples.iter();
    rates.fold(bare, |own, rate| own.tuple(rate.period, rate.wcet))
}

#[test]
fn a_partial_computation_decides_as_a_full_one() {
    let (mut effects, mut computations) = (0, 0);
    for seed in 0..420u64 {
        let strategy = STRATEGIES[seed as usize % STRATEGIES.len()];
        let operations = [8, 30, 200][seed as usize / STRATEGIES.len() % 3];
        let mut changed = Changed::new(seed, strategy, operations);
        let mut before = Decided::by(&mut changed.scheduler);
        for step in 0..12 {
            // Clones are what the manager of rates computes with.
            changed.scheduler = changed.scheduler.clone();
            if step % 4 == 3 {
                (0..changed.below(3)).for_each(|_| changed.change_structure());
            }
            // One, some, or more than are moved one by one.
            let rates = [1, 2, 5, operations / 2][changed.below(4)];
            (0..rates).for_each(|_| changed.change_rates());
            let now = Decided::by(&mut changed.scheduler);
            assert_eq!(now, changed.anew(), "{strategy}, seed {seed}, step {step}");
            effects += usize::from(now != before);
            computations += 1;
            before = now;
        }
    }
    assert!(
        effects > computations / 2,
        "{effects} of {computations} changes had an effect"
    );
}
