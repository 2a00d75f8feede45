//! Computations of a scheduler and the schedule in force, as viewers see them.

use std::{sync::Arc, time::Instant};

use punctual::{Orb, SchedulerState, SchedulerStatistics};
use punctual_os::PiMutex;

use crate::reconfigurable::{Anomaly, OperationId, ReconfigurableScheduler, Strategy};

/// Counters of the computations of a scheduler, and the contents of the schedule in force.
///
/// `ScheduledDispatcher` and `SchedulerServant` have one; this is for programs that carry schedules out in
/// another way, such as by the lanes of an event channel. Viewers take its lock, never that of the scheduler.
///
/// ```
/// use std::time::Duration;
/// use punctual_scheduling::{WatchedSchedules, reconfigurable::*};
///
/// let ms = Duration::from_millis;
/// let mut scheduler = ReconfigurableScheduler::new(Strategy::Edf);
/// let watched = WatchedSchedules::new(&scheduler);
/// let track = scheduler.add(Operation::new("track", Criticality::High).tuple(ms(50), ms(5)))?;
/// watched.compute(&mut scheduler).unwrap();
/// watched.adopted(&scheduler);
/// // More than the processor has, and critical.
/// let mut changed = scheduler.clone();
/// changed.redefine(track, Operation::new("track", Criticality::High).tuple(ms(50), ms(60)))?;
/// assert!(watched.compute(&mut changed).is_err());
/// let state = watched.state("radar");
/// assert_eq!((state.statistics.running, state.statistics.refused), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WatchedSchedules(PiMutex<(Strategy, SchedulerStatistics)>);

impl WatchedSchedules {
    /// Creates counters that are zero; no schedule is in force.
    pub fn new(scheduler: &ReconfigurableScheduler) -> Self {
        let strategy = scheduler.strategy_in_use();
        Self(PiMutex::new((strategy, SchedulerStatistics::default())))
    }

    /// Computes and counts the findings.
    ///
    /// # Errors
    /// The objection if the schedule must not come into force, which counts as refused.
    pub fn compute(&self, scheduler: &mut ReconfigurableScheduler) -> Result<Vec<Anomaly>, Anomaly> {
        let (anomalies, objection) = self.examine(scheduler);
        match objection {
            None => Ok(anomalies),
            Some(objection) => {
                self.refused();
                Err(objection)
            }
        }
    }

    /// Computes and counts the findings; returns them with the objection, if there is one.
    pub(crate) fn examine(&self, scheduler: &mut ReconfigurableScheduler) -> (Vec<Anomaly>, Option<Anomaly>) {
        let began = Instant::now();
        let anomalies = scheduler.compute();
        let last_duration = began.elapsed();
        let (_, statistics) = &mut *self.0.lock();
        statistics.computations += 1;
        statistics.last_duration = last_duration;
        for anomaly in &anomalies {
            match anomaly {
                Anomaly::Cycle(_) => statistics.cycles += 1,
                Anomaly::Unresolved { .. } => statistics.unresolved += 1,
                Anomaly::Contradiction { .. } => statistics.contradictions += 1,
                Anomaly::NotAdmitted(_) => statistics.not_admitted += 1,
                Anomaly::LowerRate { .. } => statistics.lower_rates += 1,
                Anomaly::Stopped { .. } | Anomaly::DuplicateName(_) | Anomaly::UnknownOperation(_) => {}
            }
        }
        (anomalies, scheduler.objection())
    }

    /// Notes that the schedule of the last computation does not come into force for another reason than an
    /// objection.
    pub fn refused(&self) {
        self.0.lock().1.refused += 1;
    }

    /// Notes the schedule that has come into force.
    pub fn adopted(&self, scheduler: &ReconfigurableScheduler) {
        let operations = (0u32..).map(OperationId).zip(scheduler.operations());
        let (mut enabled, mut running) = (0, 0);
        for (id, _) in operations.filter(|(_, operation)| operation.enabled) {
            let assignment = scheduler.assignment(id).unwrap_or_default();
            enabled += 1;
            running += u64::from(assignment.period.is_some());
        }
        let (strategy, statistics) = &mut *self.0.lock();
        *strategy = scheduler.strategy_in_use();
        (statistics.operations, statistics.running) = (enabled, running);
        statistics.levels = scheduler.levels().len() as u64;
        statistics.utilization = scheduler.utilization();
    }

    /// Returns the counters, and the contents of the schedule in force.
    pub fn statistics(&self) -> SchedulerStatistics {
        self.0.lock().1
    }

    /// Returns strategy and counters under this name, as viewers get them.
    pub fn state(&self, name: impl Into<String>) -> SchedulerState {
        let (strategy, statistics) = *self.0.lock();
        SchedulerState {
            scheduler: name.into(),
            strategy: strategy.to_string(),
            statistics,
        }
    }

    /// Shows the scheduler under this name in `punctual top` and in metrics, as long as this exists.
    pub fn show(self: &Arc<Self>, orb: &Orb, name: impl Into<String>) {
        let (watched, name) = (Arc::downgrade(self), name.into());
        orb.inspect_scheduler(move || Some(watched.upgrade()?.state(&*name)));
    }
}
