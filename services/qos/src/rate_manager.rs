//! The manager of rates: narrows the rates of operations to those that are needed and admitted.

use std::{collections::HashMap, time::Duration};

use punctual_os::clock::thread_cpu_time;
use punctual_scheduling::reconfigurable::{Anomaly, OperationId, RateTuple, ReconfigurableScheduler};

/// Chooses among the rates of operations, as the Real-Time Adaptive Resource Manager of \[Gill 2004\] 3.3: it
/// knows which rates an operation still needs, and the scheduler knows which fit the processor.
///
/// Each operation begins with all its rates. A [`Need`] for more or less takes away those that do not meet
/// it, and the scheduler chooses among the rest. The ranges only become narrower, so that computations get
/// shorter and end: with one rate left, or none that helps, there is nothing to compute. [`Self::reopen`]
/// begins anew when the circumstances have changed. Neither displaces critical operations that run.
///
/// ```
/// use std::time::Duration;
/// use punctual_qos::{Need, RateManager};
/// use punctual_scheduling::reconfigurable::*;
///
/// let ms = Duration::from_millis;
/// let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
/// let rates = [200, 100, 50, 25].into_iter();
/// let decompress = Operation::new("decompress", Criticality::Low);
/// let decompress = scheduler.add(rates.fold(decompress, |own, every| own.tuple(ms(every), ms(20))))?;
/// let mut manager = RateManager::new(scheduler)?;
/// assert_eq!(manager.period(decompress), Some(ms(25)), "as often as there is room");
/// // Progress is ahead of the deadline.
/// assert_eq!(manager.adapt(decompress, Need::Less)?.period, Some(ms(50)));
/// assert_eq!(manager.adapt(decompress, Need::Less)?.period, Some(ms(100)));
/// // Now it falls behind: no rate is left between 100 ms and the 50 ms that were too much.
/// let settled = manager.adapt(decompress, Need::More)?;
/// assert_eq!((settled.period, settled.computed), (Some(ms(100)), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RateManager {
    scheduler: ReconfigurableScheduler,
    /// All rates of operations whose rates were narrowed, as they were described.
    described: HashMap<OperationId, Vec<RateTuple>>,
    computing: Computing,
}

/// Number of computations, and the processor time that they took.
#[derive(Clone, Copy, Debug, Default)]
struct Computing {
    number: u64,
    time: Duration,
}

/// The rates of an operation that serve its need, and the others.
struct Narrowed {
    serving: Vec<RateTuple>,
    rest: Vec<RateTuple>,
}

/// Consequence of an operation's present rate for its deadline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// The deadline would be missed: a higher rate is needed.
    More,
    /// The rate serves.
    Same,
    /// A lower rate would serve, and leave room for others.
    Less,
}

/// Result of an adaptation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Selected {
    /// Time between two executions of the operation; `None`: it does not run.
    pub period: Option<Duration>,
    /// Processor time of the scheduler's computations: one, and after a refusal of [`RateManager::adapt`] a
    /// second one without the refused rates. `None`: there was nothing to choose from.
    pub computed: Option<Duration>,
    /// Whether the need was met. If not, no period has changed.
    pub is_met: bool,
    /// Number of rates from which the scheduler chose, of all operations.
    pub choices: usize,
}

/// A schedule that cannot be managed, or a need that cannot be examined.
#[derive(Clone, Eq, PartialEq, thiserror::Error)]
pub enum RateManagerError {
    /// No operation has this id.
    #[error(transparent)]
    Unknown(#[from] Anomaly),
    /// It has no rate of its own.
    #[error("operation `{0}` follows others and has no rate of its own; adapt those that it depends on")]
    NoRate(String),
    /// The schedule with all rates must not come into force ([`ReconfigurableScheduler::objection`]).
    #[error("the rates cannot be managed: {0}")]
    Objection(Anomaly),
}

punctual_types::debug_as_display!(RateManagerError);

impl RateManager {
    /// Manages the rates of a scheduler's operations, and computes its schedule.
    ///
    /// # Errors
    /// [`RateManagerError::Objection`]: a cycle, an operation that nothing runs, or a critical operation that
    /// would not run.
    pub fn new(scheduler: ReconfigurableScheduler) -> Result<Self, RateManagerError> {
        let mut manager = Self {
            scheduler,
            described: HashMap::new(),
            computing: Computing::default(),
        };
        manager.computing.compute(&mut manager.scheduler);
        match manager.scheduler.objection() {
            None => Ok(manager),
            Some(objection) => Err(RateManagerError::Objection(objection)),
        }
    }

    /// Returns the scheduler with the present choice.
    pub fn scheduler(&self) -> &ReconfigurableScheduler {
        &self.scheduler
    }

    /// Returns the present period of an operation; `None`: it does not run.
    pub fn period(&self, id: OperationId) -> Option<Duration> {
        self.scheduler.assignment(id)?.period
    }

    /// Returns the number of computations since the start.
    pub fn computations(&self) -> u64 {
        self.computing.number
    }

    /// Returns the processor time of all computations since the start, the first one included.
    pub fn computing_time(&self) -> Duration {
        self.computing.time
    }

    /// Takes away the rates of an operation that do not meet its need, if others remain, and computes.
    ///
    /// The choice is refused, and no period changes, if the operation would not run at a remaining rate, or
    /// if critical operations that run now would not run. These rates are not tried again then, unless a
    /// period would change without them.
    ///
    /// # Errors
    /// [`RateManagerError`].
    pub fn adapt(&mut self, id: OperationId, need: Need) -> Result<Selected, RateManagerError> {
        self.adapt_together(id, need, &[])
    }

    /// Like [`Self::adapt`], in one computation with the needs of others: usually one needs more, and takes
    /// the room of one that can do with less. Others that have no rate for their need keep their rates. The
    /// choice is refused if one of the operations that run would not run.
    ///
    /// ```
    /// use std::time::Duration;
    /// use punctual_qos::{Need, RateManager};
    /// use punctual_scheduling::reconfigurable::*;
    ///
    /// let ms = Duration::from_millis;
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf).thresholds(0.9, 0.9)?;
    /// let operation = |name, criticality| {
    ///     let operation = Operation::new(name, criticality);
    ///     [100, 80, 60].into_iter().fold(operation, |own, every| own.tuple(ms(every), ms(30)))
    /// };
    /// let map = scheduler.add(operation("map", Criticality::Medium))?;
    /// let image = scheduler.add(operation("image", Criticality::Low))?;
    /// let mut manager = RateManager::new(scheduler)?;
    /// assert_eq!((manager.period(map), manager.period(image)), (Some(ms(60)), Some(ms(80))));
    /// let selected = manager.adapt_together(map, Need::Less, &[(image, Need::More)])?;
    /// assert_eq!((manager.period(map), manager.period(image)), (Some(ms(80)), Some(ms(60))));
    /// // What is left: 80 and 100 ms, and 60 ms.
    /// assert_eq!(selected.choices, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RateManagerError`].
    pub fn adapt_together(
        &mut self,
        id: OperationId,
        need: Need,
        others: &[(OperationId, Need)],
    ) -> Result<Selected, RateManagerError> {
        let Some(narrowed) = self.narrowed(id, need)? else {
            return Ok(self.selected(id, None, need == Need::Same));
        };
        let mut changes = vec![(id, narrowed)];
        for &(other, need) in others {
            changes.extend(self.narrowed(other, need)?.map(|narrowed| (other, narrowed)));
        }
        let before = self.computing.time;
        let mut candidate = self.scheduler.clone();
        for (id, narrowed) in &changes {
            let described = self.described.entry(*id);
            described.or_insert_with(|| [&narrowed.rest[..], &narrowed.serving[..]].concat());
            candidate.replace(*id, narrowed.serving.clone())?;
        }
        self.computing.compute(&mut candidate);
        let changed: Vec<OperationId> = changes.iter().map(|(id, _)| *id).collect();
        let is_met = self.keeps(&candidate, &changed);
        if !is_met {
            // A rate that was refused once is not tried again.
            candidate = self.scheduler.clone();
            candidate.replace(id, changes.swap_remove(0).1.rest)?;
            self.computing.compute(&mut candidate);
        }
        if is_met || self.is_same_choice(&candidate) {
            self.scheduler = candidate;
        }
        Ok(self.selected(id, Some(self.computing.time - before), is_met))
    }

    /// Divides the rates of an operation by its need; `None`: none serves, or there is nothing to choose.
    fn narrowed(&self, id: OperationId, need: Need) -> Result<Option<Narrowed>, RateManagerError> {
        let operation = self
            .scheduler
            .operation(id)
            .ok_or(Anomaly::UnknownOperation(id))?;
        if !operation.is_source() {
            return Err(RateManagerError::NoRate(operation.name.to_string()));
        }
        let Some(present) = self.period(id).filter(|_| need != Need::Same) else {
            return Ok(None);
        };
        let serves = |tuple: &RateTuple| match need {
            Need::More => tuple.period < present,
            Need::Less => tuple.period > present,
            Need::Same => true,
        };
        let (serving, rest): (Vec<RateTuple>, _) = operation.tuples.iter().partition(|tuple| serves(tuple));
        Ok((!serving.is_empty()).then_some(Narrowed { serving, rest }))
    }

    /// Gives an operation all its rates again, and computes.
    ///
    /// This is refused, and nothing changes, if the operation or critical ones that run now would not run;
    /// it may be tried again.
    ///
    /// # Errors
    /// [`RateManagerError::Unknown`].
    pub fn reopen(&mut self, id: OperationId) -> Result<Selected, RateManagerError> {
        let Some(tuples) = self.described.get(&id) else {
            self.scheduler
                .operation(id)
                .ok_or(Anomaly::UnknownOperation(id))?;
            return Ok(self.selected(id, None, true));
        };
        let before = self.computing.time;
        let mut candidate = self.scheduler.clone();
        candidate.replace(id, tuples.clone())?;
        self.computing.compute(&mut candidate);
        let is_met = self.keeps(&candidate, &[id]);
        if is_met {
            self.described.remove(&id);
            self.scheduler = candidate;
        }
        Ok(self.selected(id, Some(self.computing.time - before), is_met))
    }

    /// Returns whether a candidate runs what runs now of the critical and the changed operations.
    fn keeps(&self, candidate: &ReconfigurableScheduler, changed: &[OperationId]) -> bool {
        let runs = |scheduler: &ReconfigurableScheduler, id| {
            let assignment = scheduler.assignment(id);
            assignment.is_some_and(|own| own.period.is_some())
        };
        let operations = self.scheduler.operations().iter().zip((0u32..).map(OperationId));
        let mut kept =
            operations.filter(|(operation, id)| operation.criticality.is_critical() || changed.contains(id));
        kept.all(|(_, id)| !runs(&self.scheduler, id) || runs(candidate, id))
    }

    /// Returns whether all operations have their present periods in a candidate: without its highest rates,
    /// an operation may have another place in the order of admission.
    fn is_same_choice(&self, candidate: &ReconfigurableScheduler) -> bool {
        let mut ids = (0u32..).map(OperationId).take(self.scheduler.operations().len());
        let period = |id| candidate.assignment(id).and_then(|own| own.period);
        ids.all(|id| period(id) == self.period(id))
    }

    /// Describes the present choice.
    fn selected(&self, id: OperationId, computed: Option<Duration>, is_met: bool) -> Selected {
        let operations = self.scheduler.operations().iter();
        let sources = operations.filter(|operation| operation.is_source());
        Selected {
            period: self.period(id),
            computed,
            is_met,
            choices: sources.map(|operation| operation.tuples.len()).sum(),
        }
    }
}

impl Computing {
    /// Computes a schedule. Preemption of the thread does not count as time.
    fn compute(&mut self, scheduler: &mut ReconfigurableScheduler) {
        self.number += 1;
        let began = thread_cpu_time();
        scheduler.compute();
        self.time += thread_cpu_time().saturating_sub(began);
    }
}
