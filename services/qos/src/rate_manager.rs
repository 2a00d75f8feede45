//! The manager of rates: narrows the rates of operations to those that are needed and admitted.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use punctual_scheduling::reconfigurable::{Anomaly, OperationId, RateTuple, ReconfigurableScheduler};

/// Chooses among the rates of operations, as the Real-Time Adaptive Resource Manager of \[Gill 2004\] 3.3: it
/// knows which rates an operation still needs, and the scheduler knows which fit the processor.
///
/// Each operation begins with all its rates. A [`Need`] for more or less takes away those that do not meet
/// it, and the scheduler chooses among the rest. The ranges only become narrower, so that computations get
/// shorter and end: with one rate left, or none that helps, there is nothing to compute. [`Self::reopen`]
/// begins anew when the circumstances have changed.
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
/// let mut manager = RateManager::new(scheduler);
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
    computations: u64,
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
    /// Duration of the scheduler's computation; `None`: there was nothing to choose from.
    pub computed: Option<Duration>,
    /// Whether the need was met. If not, nothing has changed.
    pub is_met: bool,
    /// Number of rates from which the scheduler chose, of all operations.
    pub choices: usize,
}

/// A need that cannot be examined.
#[derive(Clone, Eq, PartialEq, thiserror::Error)]
pub enum RateManagerError {
    /// No operation has this id.
    #[error(transparent)]
    Unknown(#[from] Anomaly),
    /// It has no rate of its own.
    #[error("operation `{0}` follows others and has no rate of its own; adapt those that it depends on")]
    NoRate(String),
}

punctual_types::debug_as_display!(RateManagerError);

impl RateManager {
    /// Manages the rates of a scheduler's operations, and computes its schedule.
    pub fn new(mut scheduler: ReconfigurableScheduler) -> Self {
        scheduler.compute();
        Self {
            scheduler,
            described: HashMap::new(),
            computations: 1,
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
        self.computations
    }

    /// Takes away the rates of an operation that do not meet its need, if others remain, and computes.
    ///
    /// The choice is refused, and nothing changes except that these rates are not tried again, if the
    /// operation would not run at a remaining rate, or if critical operations that run now would not run.
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
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf).thresholds(0.9, 0.9);
    /// let operation = |name, criticality| {
    ///     let operation = Operation::new(name, criticality);
    ///     [100, 80, 60].into_iter().fold(operation, |own, every| own.tuple(ms(every), ms(30)))
    /// };
    /// let map = scheduler.add(operation("map", Criticality::Medium))?;
    /// let image = scheduler.add(operation("image", Criticality::Low))?;
    /// let mut manager = RateManager::new(scheduler);
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
        let mut candidate = self.scheduler.clone();
        for (id, narrowed) in &changes {
            let described = self.described.entry(*id);
            described.or_insert_with(|| [&narrowed.rest[..], &narrowed.serving[..]].concat());
            candidate.replace(*id, narrowed.serving.clone())?;
        }
        let computed = self.compute(&mut candidate);
        let runs = |(id, _): &(OperationId, Narrowed)| {
            candidate.assignment(*id).is_some_and(|own| own.period.is_some())
        };
        if changes.iter().all(runs) && self.keeps_critical(&candidate) {
            self.scheduler = candidate;
            return Ok(self.selected(id, Some(computed), true));
        }
        // A rate that was refused once is not tried again.
        let (_, narrowed) = changes.swap_remove(0);
        self.scheduler.replace(id, narrowed.rest)?;
        let again = self.scheduler.compute();
        debug_assert!(
            !again
                .iter()
                .any(|anomaly| matches!(anomaly, Anomaly::UnknownOperation(_)))
        );
        self.computations += 1;
        Ok(self.selected(id, Some(computed), false))
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
    /// # Errors
    /// [`RateManagerError::Unknown`].
    pub fn reopen(&mut self, id: OperationId) -> Result<Selected, RateManagerError> {
        let Some(tuples) = self.described.remove(&id) else {
            self.scheduler
                .operation(id)
                .ok_or(Anomaly::UnknownOperation(id))?;
            return Ok(self.selected(id, None, true));
        };
        self.scheduler.replace(id, tuples)?;
        let mut scheduler = self.scheduler.clone();
        let computed = self.compute(&mut scheduler);
        self.scheduler = scheduler;
        Ok(self.selected(id, Some(computed), true))
    }

    fn compute(&mut self, scheduler: &mut ReconfigurableScheduler) -> Duration {
        self.computations += 1;
        let began = Instant::now();
        scheduler.compute();
        began.elapsed()
    }

    fn keeps_critical(&self, candidate: &ReconfigurableScheduler) -> bool {
        let operations = self.scheduler.operations().iter().zip(0u32..);
        let mut critical = operations.filter(|(operation, _)| operation.criticality.is_critical());
        let runs = |scheduler: &ReconfigurableScheduler, id| {
            scheduler
                .assignment(OperationId(id))
                .is_some_and(|own| own.period.is_some())
        };
        critical.all(|(_, id)| !runs(&self.scheduler, id) || runs(candidate, id))
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
