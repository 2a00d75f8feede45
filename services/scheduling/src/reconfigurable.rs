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
mod queue;
mod strategy;
mod threshold;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use self::{admission::Entry, configuration::Periods, graph::Graph};
pub use self::{
    anomaly::{Anomaly, Severity},
    configuration::DispatchLevel,
    operation::{Criticality, Dependency, Firing, Operation, RateTuple},
    operation_id::OperationId,
    queue::Queue,
    strategy::Strategy,
    threshold::InvalidThreshold,
};

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

/// Result of a computation, from which a partial one continues.
#[derive(Clone, Debug, Default)]
struct Solution {
    graph: Graph,
    /// Alternative rates of all sources, in the order of admission.
    entries: Vec<Entry>,
    /// Index of each source's admitted tuple.
    admitted: Vec<Option<u32>>,
    utilization: f64,
    assignments: Vec<Assignment>,
    levels: Vec<DispatchLevel>,
    periods: Periods,
    /// Operations whose tuples contradict each other.
    contradictory: BTreeSet<u32>,
    /// Position of each operation among all, by importance and then in topological order.
    subpriorities: Vec<u32>,
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
    pub fn add(&mut self, operation: Operation) -> Result<OperationId, Anomaly> {
        let id = OperationId(u32::try_from(self.operations.len()).expect("fewer than 2^32 operations"));
        if self.names.contains_key(&operation.name) {
            return Err(Anomaly::DuplicateName(operation.name));
        }
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
            solution.graph.changed.push(id.0);
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
        self.solution.as_ref().map_or(&[], |solution| &solution.levels)
    }

    /// Returns the utilisation of the processor by everything that was admitted: 0 to 1.
    pub fn utilization(&self) -> f64 {
        self.solution
            .as_ref()
            .map_or(0.0, |solution| solution.utilization)
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
        let mut solution = match self.solution.take() {
            Some(mut solution) => {
                self.admit_changed(&mut solution);
                solution
            }
            None => self.computed_anew(),
        };
        solution.graph.changed.clear();
        let anomalies = self.anomalies(&solution);
        self.solution = Some(solution);
        anomalies
    }

    fn computed_anew(&self) -> Solution {
        let graph = Graph::of(&self.operations, &self.dependencies);
        let is_contradictory = |index: &u32| self.operations[*index as usize].contradiction().is_some();
        let mut solution = Solution {
            contradictory: (0u32..)
                .take(self.operations.len())
                .filter(is_contradictory)
                .collect(),
            subpriorities: configuration::subpriorities(&self.operations, &graph),
            admitted: vec![None; self.operations.len()],
            assignments: vec![Assignment::default(); self.operations.len()],
            graph,
            ..Solution::default()
        };
        solution.entries = admission::entries(&self.operations, &solution, self.strategy);
        self.admit(&mut solution);
        let all: Vec<u32> = solution.graph.order.clone();
        for operation in all {
            self.assign(&mut solution, operation);
        }
        configuration::set_levels(self.strategy, &mut solution);
        solution
    }

    /// Continues from a solution whose changed operations have other rates or execution times.
    fn admit_changed(&self, solution: &mut Solution) {
        let before = solution.admitted.clone();
        for changed in &solution.graph.changed {
            if self.operations[*changed as usize].contradiction().is_some() {
                solution.contradictory.insert(*changed);
            } else {
                solution.contradictory.remove(changed);
            }
        }
        let updated = solution.graph.update_follow_up(&self.operations);
        admission::update_entries(&self.operations, solution, self.strategy, &updated);
        self.admit(solution);
        let sources = solution.graph.sources.iter().copied();
        let moved = sources.filter(|source| before[*source as usize] != solution.admitted[*source as usize]);
        let mut changed = solution.graph.changed.clone();
        changed.retain(|operation| self.operations[*operation as usize].is_source());
        changed.extend(moved);
        let affected = solution.graph.following(&changed).into_iter();
        let moved = affected.filter_map(|operation| {
            let before = solution.assignments[operation as usize];
            self.assign(solution, operation).then_some((operation, before))
        });
        let moved: Vec<(u32, Assignment)> = moved.collect();
        configuration::update_levels(self.strategy, solution, &moved);
    }

    fn admit(&self, solution: &mut Solution) {
        solution.utilization = admission::admit(
            &solution.entries,
            self.strategy,
            (self.critical_threshold, self.threshold),
            &mut solution.admitted,
        );
    }

    /// Sets period and criticality of an operation whose predecessors have theirs; returns whether they
    /// changed.
    fn assign(&self, solution: &mut Solution, operation: u32) -> bool {
        let index = operation as usize;
        let (period, criticality) = if self.operations[index].is_source() {
            let tuple = solution.admitted[index].map(|tuple| &self.operations[index].tuples[tuple as usize]);
            (
                tuple.map(|tuple| tuple.period),
                self.operations[index].criticality,
            )
        } else {
            solution
                .graph
                .follows(&self.operations[index], operation, &solution.assignments)
        };
        let period = period.filter(|_| self.operations[index].enabled);
        let assignment = &mut solution.assignments[index];
        let changed = (assignment.period, assignment.criticality) != (period, criticality);
        (assignment.period, assignment.criticality) = (period, criticality);
        assignment.subpriority = solution.subpriorities[index];
        changed
    }

    fn name(&self, index: u32) -> Arc<str> {
        Arc::clone(&self.operations[index as usize].name)
    }

    fn unresolved(&self, index: u32) -> Anomaly {
        Anomaly::Unresolved {
            name: self.name(index),
            remote: self.operations[index as usize].is_remote,
        }
    }

    /// Finds all anomalies, the most severe first.
    fn anomalies(&self, solution: &Solution) -> Vec<Anomaly> {
        let graph = &solution.graph;
        let mut anomalies: Vec<Anomaly> = Vec::with_capacity(graph.sources.len());
        if !graph.cyclic.is_empty() {
            let names = graph.cyclic.iter().map(|index| self.name(*index)).collect();
            anomalies.push(Anomaly::Cycle(names));
        }
        let contradictory = solution.contradictory.iter();
        anomalies.extend(contradictory.filter_map(|index| self.operations[*index as usize].contradiction()));
        let unresolved = |remote: bool| {
            let unresolved = graph.unresolved.iter().copied();
            unresolved.filter(move |index| self.operations[*index as usize].is_remote == remote)
        };
        anomalies.extend(unresolved(false).map(|index| self.unresolved(index)));
        let resting = graph.sources.iter();
        let resting = resting.filter(|index| solution.admitted[**index as usize].is_none());
        anomalies.extend(resting.map(|index| Anomaly::NotAdmitted(self.name(*index))));
        anomalies.extend(unresolved(true).map(|index| self.unresolved(index)));
        for &index in &graph.sources {
            let tuples = &self.operations[index as usize].tuples;
            let admitted = solution.admitted[index as usize].map(|tuple| tuple as usize);
            if let Some(tuple) = admitted.filter(|tuple| tuple + 1 < tuples.len()) {
                anomalies.push(Anomaly::LowerRate {
                    name: self.name(index),
                    period: tuples[tuple].period,
                    wanted: tuples[tuples.len() - 1].period,
                });
            }
        }
        anomalies
    }
}
