//! Conversion between TAO's structures and the scheduler's.

use std::time::Duration;

use super::{
    idl::rtec_scheduler::{
        AnomalySeverity, CriticalityT, DispatchingTypeT, ImportanceT, InfoTypeT, PeriodT, QuantumT,
        RtInfoView, SchedulingAnomaly, ThreadsT, Time,
    },
    refusal::Refusal,
};
use crate::reconfigurable::{Anomaly, Criticality, Firing, Operation, Queue, RateTuple, Severity};

/// Parameters of `set` and `reset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub(super) criticality: CriticalityT,
    pub(super) worst: Time,
    pub(super) typical: Time,
    pub(super) cached: Time,
    pub(super) period: PeriodT,
    pub(super) importance: ImportanceT,
    pub(super) quantum: QuantumT,
    pub(super) threads: ThreadsT,
    pub(super) info_type: InfoTypeT,
}

impl From<&RtInfoView<'_>> for Attributes {
    fn from(info: &RtInfoView<'_>) -> Self {
        Self {
            criticality: info.criticality,
            worst: info.worst_case_execution_time,
            typical: info.typical_execution_time,
            cached: info.cached_execution_time,
            period: info.period,
            importance: info.importance,
            quantum: info.quantum,
            threads: info.threads,
            info_type: info.info_type,
        }
    }
}

impl Attributes {
    /// Returns the attributes of an operation that has been created and not been set.
    pub(super) fn unset() -> Self {
        Self {
            criticality: CriticalityT::default(),
            worst: 0,
            typical: 0,
            cached: 0,
            period: 0,
            importance: ImportanceT::default(),
            quantum: 0,
            threads: 0,
            info_type: InfoTypeT::default(),
        }
    }

    /// Returns the rate tuple.
    pub(super) fn tuple(&self) -> Result<RateTuple, Refusal> {
        let period = u64::try_from(self.period).map_err(|_| Refusal::OutOfRange)?;
        if self.threads < 0 {
            return Err(Refusal::OutOfRange);
        }
        Ok(RateTuple {
            period: duration(period)?,
            wcet: duration(self.worst)?,
        })
    }

    /// Returns an operation with these attributes and tuples.
    pub(super) fn operation(&self, tuples: Vec<RateTuple>, enabled: bool) -> Operation {
        let mut operation = Operation::new("", criticality(self.criticality));
        operation.importance = self.importance as i32;
        operation.firing = match self.info_type {
            InfoTypeT::Conjunction => Firing::All,
            InfoTypeT::Operation | InfoTypeT::Disjunction | InfoTypeT::RemoteDependant => Firing::Any,
        };
        operation.is_remote = self.info_type == InfoTypeT::RemoteDependant;
        operation.tuples = tuples;
        operation.enabled = enabled;
        operation
    }
}

/// Units of 100 ns.
fn duration(units: Time) -> Result<Duration, Refusal> {
    let nanoseconds = units.checked_mul(100).ok_or(Refusal::OutOfRange)?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// Converts a duration to units of 100 ns; periods that follow from several rates are rounded down.
pub(super) fn units(duration: Duration) -> Time {
    Time::try_from(duration.as_nanos() / 100).unwrap_or(Time::MAX)
}

/// Like [`units`]; the greatest number stands for all above it.
pub(super) fn period(period: Duration) -> PeriodT {
    PeriodT::try_from(units(period)).unwrap_or(PeriodT::MAX)
}

fn criticality(criticality: CriticalityT) -> Criticality {
    match criticality {
        CriticalityT::VeryLowCriticality => Criticality::VeryLow,
        CriticalityT::LowCriticality => Criticality::Low,
        CriticalityT::MediumCriticality => Criticality::Medium,
        CriticalityT::HighCriticality => Criticality::High,
        CriticalityT::VeryHighCriticality => Criticality::VeryHigh,
    }
}

pub(super) fn dispatching_type(queue: Queue) -> DispatchingTypeT {
    match queue {
        Queue::Static => DispatchingTypeT::StaticDispatching,
        Queue::Deadline => DispatchingTypeT::DeadlineDispatching,
        Queue::Laxity => DispatchingTypeT::LaxityDispatching,
    }
}

pub(super) fn described(anomaly: &Anomaly) -> SchedulingAnomaly {
    SchedulingAnomaly {
        description: anomaly.to_string(),
        severity: match anomaly.severity() {
            Severity::Warning => AnomalySeverity::AnomalyWarning,
            Severity::Error => AnomalySeverity::AnomalyError,
            Severity::Fatal => AnomalySeverity::AnomalyFatal,
        },
    }
}
