//! The reconfigurable scheduler: operations with alternative rates, admitted by utilisation, and the dispatch
//! configuration that follows. The algorithm of TAO's `RtecScheduler`, as \[Gill 2004\] uses it.

mod admission;
mod anomaly;
mod configuration;
mod file;
mod graph;
mod objection;
mod operation;
mod operation_id;
mod operation_levels;
mod pending;
mod queue;
mod solution;
mod strategy;
mod system;
mod threshold;

use std::{collections::HashMap, sync::Arc, time::Duration};

pub use self::{
    anomaly::{Anomaly, Severity},
    configuration::DispatchLevel,
    operation::{Criticality, Dependency, Firing, Operation, RateTuple},
    operation_id::OperationId,
    queue::Queue,
    strategy::Strategy,
    threshold::InvalidThreshold,
};
use self::{solution::Solution, system::System};

/// Chooses a rate for each operation so that the processor is not overloaded, and the priority at which each
/// is dispatched.
///
/// Operations with rates of their own are sources. Others run whenever the operations on which they depend
/// have run, so they take the rates of those. A source's work includes all operations that follow from it.
/// Sources are admitted at the greatest of their rates that the thresholds allow, in the order of the
/// strategy. The lower rates of a source are tried first; where execution times differ, one that has no room
/// does not prevent a higher one that uses less of the processor.
///
/// ```
/// use std::time::Duration;
/// use punctual_scheduling::reconfigurable::*;
///
/// let ms = Duration::from_millis;
/// let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
/// let sensor = Operation::new("sensor", Criticality::VeryHigh).tuple(ms(100), ms(5)).tuple(ms(20), ms(5));
/// let sensor = scheduler.add(sensor)?;
/// let filter = scheduler.add(Operation::new("filter", Criticality::VeryHigh).passive(ms(5)))?;
/// let display = scheduler.add(Operation::new("display", Criticality::Low).tuple(ms(50), ms(30)))?;
/// scheduler.depend(filter, sensor, 1)?;
/// let anomalies = scheduler.compute();
/// // The sensor runs at its greater rate: 10 of 20 ms with the filter. The display does not fit then.
/// assert_eq!(scheduler.assignment(filter).and_then(|filter| filter.period), Some(ms(20)));
/// assert_eq!(scheduler.assignment(display).and_then(|display| display.period), None);
/// assert!(anomalies.iter().any(|anomaly| anomaly.to_string().contains("`display` was not admitted")));
/// # Ok::<(), Anomaly>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReconfigurableScheduler {
    strategy: Strategy,
    /// Utilisation up to which critical work is admitted.
    critical_threshold: f64,
    /// Utilisation up to which other work is admitted.
    threshold: f64,
    operations: Vec<Operation>,
    names: HashMap<Arc<str>, OperationId>,
    dependencies: Vec<Dependency>,
    /// Result of the computation; `None` before [`Self::compute`], and after changes of the structure.
    solution: Option<Solution>,
}

/// Decision for one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assignment {
    /// Time between two executions; `None`: it does not run.
    pub period: Option<Duration>,
    /// Criticality, its own or that of a more critical operation from which it follows.
    pub criticality: Criticality,
    /// Index in [`ReconfigurableScheduler::levels`]: 0 is dispatched first.
    pub level: Option<u32>,
    /// Order within the level among operations with equal deadlines: the smallest first.
    pub subpriority: u32,
}

impl ReconfigurableScheduler {
    /// Creates a scheduler without operations, which admits critical work up to the whole processor, and
    /// other work up to the same.
    pub fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            critical_threshold: 1.0,
            threshold: 1.0,
            operations: Vec::new(),
            names: HashMap::new(),
            dependencies: Vec::new(),
            solution: None,
        }
    }

    /// Sets the utilisations up to which critical work, and other work, is admitted: 0 to 1 each.
    ///
    /// ```
    /// use punctual_scheduling::reconfigurable::*;
    ///
    /// let scheduler = ReconfigurableScheduler::new(Strategy::Muf).thresholds(1.0, 0.8)?;
    /// assert_eq!(scheduler.thresholds(1.8, 0.8).err(), Some(InvalidThreshold(1.8)));
    /// # Ok::<(), InvalidThreshold>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidThreshold`].
    pub fn thresholds(self, critical: f64, other: f64) -> Result<Self, InvalidThreshold> {
        InvalidThreshold::check(critical)?;
        InvalidThreshold::check(other)?;
        Ok(Self {
            critical_threshold: critical,
            threshold: other,
            solution: None,
            ..self
        })
    }

    /// Admits all work at its highest rates, also more than the processor can do: for experiments with
    /// overload.
    pub fn admitting_everything(self) -> Self {
        Self {
            critical_threshold: f64::INFINITY,
            threshold: f64::INFINITY,
            solution: None,
            ..self
        }
    }

    /// Sets the order of admission and dispatch.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self.solution = None;
        self
    }

    /// Returns the order of admission and dispatch.
    pub fn strategy_in_use(&self) -> Strategy {
        self.strategy
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// [`Anomaly::DuplicateName`].
    pub fn add(&mut self, mut operation: Operation) -> Result<OperationId, Anomaly> {
        let id = OperationId(u32::try_from(self.operations.len()).expect("fewer than 2^32 operations"));
        if self.names.contains_key(&operation.name) {
            return Err(Anomaly::DuplicateName(operation.name));
        }
        operation.sort_tuples();
        self.names.insert(Arc::clone(&operation.name), id);
        self.operations.push(operation);
        self.solution = None;
        Ok(id)
    }

    /// Finds an operation by name.
    pub fn lookup(&self, name: &str) -> Option<OperationId> {
        self.names.get(name).copied()
    }

    /// Returns an operation.
    pub fn operation(&self, id: OperationId) -> Option<&Operation> {
        self.operations.get(id.index())
    }

    /// Makes `operation` run `times` times whenever `on` has run.
    ///
    /// # Errors
    /// [`Anomaly::UnknownOperation`].
    pub fn depend(&mut self, operation: OperationId, on: OperationId, times: u32) -> Result<(), Anomaly> {
        for id in [operation, on] {
            self.known(id)?;
        }
        self.dependencies.push(Dependency { operation, on, times });
        self.solution = None;
        Ok(())
    }

    /// Removes all dependencies of `operation` on `on`; returns how many there were.
    pub fn remove_dependency(&mut self, operation: OperationId, on: OperationId) -> usize {
        let before = self.dependencies.len();
        self.dependencies
            .retain(|dependency| (dependency.operation, dependency.on) != (operation, on));
        let removed = before - self.dependencies.len();
        if removed > 0 {
            self.solution = None;
        }
        removed
    }

    /// Replaces the rates of a source, or the execution time of a passive operation. The next computation is
    /// a partial one unless the kind of the operation changes.
    ///
    /// # Errors
    /// [`Anomaly::UnknownOperation`].
    pub fn replace(&mut self, id: OperationId, tuples: Vec<RateTuple>) -> Result<(), Anomaly> {
        self.known(id)?;
        let operation = &mut self.operations[id.index()];
        let was_source = operation.is_source();
        operation.tuples = tuples;
        operation.sort_tuples();
        if operation.is_source() != was_source {
            self.solution = None;
        } else if let Some(solution) = &mut self.solution {
            solution.note(id.0);
        }
        Ok(())
    }

    /// Replaces the description of an operation except for its name. The next computation is a partial one if
    /// only rates differ.
    ///
    /// # Errors
    /// [`Anomaly::UnknownOperation`].
    pub fn redefine(&mut self, id: OperationId, operation: Operation) -> Result<(), Anomaly> {
        self.known(id)?;
        let own = &mut self.operations[id.index()];
        let described = Operation {
            name: Arc::clone(&own.name),
            tuples: std::mem::take(&mut own.tuples),
            ..operation
        };
        let differs = Operation {
            tuples: Vec::new(),
            ..described.clone()
        } != *own;
        *own = described;
        if differs {
            self.solution = None;
        }
        self.replace(id, operation.tuples)
    }

    /// Enables or disables an operation, and with it everything that only follows from it.
    ///
    /// # Errors
    /// [`Anomaly::UnknownOperation`].
    pub fn enable(&mut self, id: OperationId, enabled: bool) -> Result<(), Anomaly> {
        self.known(id)?;
        if self.operations[id.index()].enabled != enabled {
            self.operations[id.index()].enabled = enabled;
            self.solution = None;
        }
        Ok(())
    }

    /// Returns all operations, in the order of their handles.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the decision for an operation; `None` for an unknown one, or before [`Self::compute`].
    pub fn assignment(&self, id: OperationId) -> Option<Assignment> {
        let assignments = &self.solution.as_ref()?.assignments;
        assignments.get(id.index()).copied()
    }

    /// Returns the levels of dispatch, the first one first; none before [`Self::compute`].
    pub fn levels(&self) -> &[DispatchLevel] {
        self.solution
            .as_ref()
            .map_or(&[], |solution| &solution.levels.levels)
    }

    /// Returns the utilisation of the processor by everything that was admitted: 0 to 1.
    pub fn utilization(&self) -> f64 {
        self.solution
            .as_ref()
            .map_or(0.0, |solution| solution.admission.utilization)
    }

    fn known(&self, id: OperationId) -> Result<(), Anomaly> {
        if id.index() < self.operations.len() {
            return Ok(());
        }
        Err(Anomaly::UnknownOperation(id))
    }

    /// Computes rates and priorities, after [`Self::replace`] only those that have changed; returns all
    /// anomalies, the most severe first.
    pub fn compute(&mut self) -> Vec<Anomaly> {
        let system = System {
            strategy: self.strategy,
            thresholds: (self.critical_threshold, self.threshold),
            operations: &self.operations,
        };
        let is_partial = self.solution.is_some();
        let anew = || Solution::new(system, &self.dependencies);
        let solution = self.solution.get_or_insert_with(anew);
        if is_partial {
            solution.update(system);
        }
        solution.anomalies(&self.operations)
    }

    fn name(&self, index: u32) -> Arc<str> {
        Arc::clone(&self.operations[index as usize].name)
    }
}
