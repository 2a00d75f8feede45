//! Computations of a scheduler and the schedule in force, as viewers see them.

use std::{sync::Arc, time::Instant};

use punctual::{Orb, SchedulerState, SchedulerStatistics};
use punctual_os::PiMutex;

use crate::reconfigurable::{Anomaly, OperationId, ReconfigurableScheduler, Strategy};

/// Counters beside a scheduler. Viewers take their lock, never that of the scheduler.
pub(crate) struct Watched(PiMutex<(Strategy, SchedulerStatistics)>);

impl Watched {
    pub(crate) fn new(scheduler: &ReconfigurableScheduler) -> Self {
        let strategy = scheduler.strategy_in_use();
        Self(PiMutex::new((strategy, SchedulerStatistics::default())))
    }

    /// Computes and counts the findings; returns the objection if the schedule must not come into force.
    pub(crate) fn compute(&self, scheduler: &mut ReconfigurableScheduler) -> Result<Vec<Anomaly>, Anomaly> {
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

    /// Notes that the schedule of the last computation does not come into force.
    pub(crate) fn refused(&self) {
        self.0.lock().1.refused += 1;
    }

    /// Notes the schedule that has come into force.
    pub(crate) fn adopted(&self, scheduler: &ReconfigurableScheduler) {
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

    pub(crate) fn statistics(&self) -> SchedulerStatistics {
        self.0.lock().1
    }

    pub(crate) fn show(self: &Arc<Self>, orb: &Orb, name: String) {
        let watched = Arc::downgrade(self);
        orb.inspect_scheduler(move || {
            let (strategy, statistics) = *watched.upgrade()?.0.lock();
            Some(SchedulerState {
                scheduler: name.clone(),
                strategy: strategy.to_string(),
                statistics,
            })
        });
    }
}
