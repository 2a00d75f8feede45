//! The dispatch configuration of a scheduler object, as lanes, dispatchers and callers elsewhere use it.

use std::{collections::BTreeMap, time::Duration};

use punctual_dispatch::{OperationLevels, Order, Placement, Timing};

use super::idl::rtec_scheduler::{
    ConfigInfo, CriticalityT, DispatchingTypeT, HandleT, RtInfo, RtInfoEnabledTypeT,
};

/// Levels of a schedule, and the place of each operation that runs: what the `Config_Info_Set` and the
/// `RT_Info_Set` of an `RtecScheduler` state, for [`EventChannel::follow`] and [`OperationPriorities`].
///
/// [`EventChannel::follow`]: https://docs.rs/punctual-events
/// [`OperationPriorities`]: crate::OperationPriorities
///
/// ```
/// use std::time::Duration;
/// use punctual_dispatch::OperationLevels;
/// use punctual_scheduling::rtec::{DispatchConfiguration, idl::rtec_scheduler::*};
///
/// let level = ConfigInfo { thread_priority: 50, ..ConfigInfo::default() };
/// let radar = RtInfo {
///     entry_point: "radar".to_owned(),
///     handle: 1,
///     period: 100_000,
///     priority: 50,
///     enabled: RtInfoEnabledTypeT::RtInfoEnabled,
///     ..RtInfo::default()
/// };
/// let schedule = DispatchConfiguration::new(&[level], &[radar]);
/// let placed = schedule.placement_of_handle(1).unwrap();
/// assert_eq!((placed.level, placed.timing.deadline), (0, Duration::from_millis(10)));
/// assert_eq!(schedule.placement_of("radar"), Some(placed));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DispatchConfiguration {
    orders: Vec<Order>,
    placements: BTreeMap<HandleT, Placement>,
    handles: BTreeMap<String, HandleT>,
    enabled: u64,
    utilization: f64,
}

impl DispatchConfiguration {
    /// Takes over the levels, and the operations that have a place in one of them. The deadline of an
    /// operation is its period; without one, it has none.
    pub fn new(levels: &[ConfigInfo], operations: &[RtInfo]) -> Self {
        let mut own = Self {
            orders: levels.iter().map(|level| order(level.dispatching_type)).collect(),
            ..Self::default()
        };
        let enabled = |one: &&RtInfo| one.enabled != RtInfoEnabledTypeT::RtInfoDisabled;
        for operation in operations.iter().filter(enabled) {
            own.enabled += 1;
            let Some(placement) = placement(levels, operation) else {
                continue;
            };
            own.placements.insert(operation.handle, placement);
            own.handles
                .insert(operation.entry_point.clone(), operation.handle);
            if operation.period > 0 {
                let worst = operation.worst_case_execution_time as f64;
                own.utilization += worst / f64::from(operation.period);
            }
        }
        own
    }

    /// Number of enabled operations.
    pub(super) fn enabled(&self) -> u64 {
        self.enabled
    }

    /// Number of operations that run.
    pub(super) fn running(&self) -> u64 {
        self.placements.len() as u64
    }

    /// Share of the processor that the operations with periods use.
    pub(super) fn utilization(&self) -> f64 {
        self.utilization
    }
}

impl OperationLevels for DispatchConfiguration {
    fn level_count(&self) -> u32 {
        u32::try_from(self.orders.len()).unwrap_or(u32::MAX)
    }

    fn order_of(&self, level: u32) -> Order {
        self.orders.get(level as usize).copied().unwrap_or_default()
    }

    fn placement_of(&self, operation: &str) -> Option<Placement> {
        self.placement_of_handle(*self.handles.get(operation)?)
    }

    fn placement_of_handle(&self, rt_info: i32) -> Option<Placement> {
        self.placements.get(&rt_info).copied()
    }
}

fn order(dispatching: DispatchingTypeT) -> Order {
    match dispatching {
        DispatchingTypeT::StaticDispatching => Order::Arrival,
        DispatchingTypeT::DeadlineDispatching => Order::Deadline,
        DispatchingTypeT::LaxityDispatching => Order::Laxity,
    }
}

/// `None`: it does not run, or the level is not one of these.
fn placement(levels: &[ConfigInfo], operation: &RtInfo) -> Option<Placement> {
    let level = u32::try_from(operation.preemption_priority).ok()?;
    let of_level = levels.get(level as usize)?;
    if of_level.thread_priority != operation.priority {
        return None;
    }
    let deadline = match u64::try_from(operation.period) {
        Ok(0) | Err(_) => Duration::MAX,
        Ok(period) => duration(period),
    };
    let timing = Timing {
        execution_time: duration(operation.worst_case_execution_time),
        importance: operation.importance as i32,
        is_critical: operation.criticality as u32 >= CriticalityT::HighCriticality as u32,
        ..Timing::within(deadline)
    };
    Some(Placement { level, timing })
}

/// Units of 100 ns.
fn duration(units: u64) -> Duration {
    Duration::from_nanos(units.saturating_mul(100))
}
