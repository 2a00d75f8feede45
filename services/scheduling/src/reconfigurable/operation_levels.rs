//! The schedule for code that only dispatches by it.

use punctual_dispatch::{OperationLevels, Order, Placement, Timing};

use super::{OperationId, Queue, ReconfigurableScheduler};

impl ReconfigurableScheduler {
    /// Returns level and timing of an operation, with its period as deadline; `None`: it does not run.
    pub(crate) fn placement(&self, id: OperationId) -> Option<Placement> {
        let assignment = self.assignment(id)?;
        let operation = self.operations().get(id.0 as usize)?;
        let timing = Timing {
            deadline: assignment.period?,
            execution_time: operation.wcet(),
            importance: operation.importance,
            is_critical: assignment.criticality.is_critical(),
        };
        let level = assignment.level?;
        Some(Placement { level, timing })
    }
}

impl OperationLevels for ReconfigurableScheduler {
    fn level_count(&self) -> u32 {
        u32::try_from(self.levels().len()).unwrap_or(u32::MAX)
    }

    fn order_of(&self, level: u32) -> Order {
        match self.levels().get(level as usize).map(|level| level.queue) {
            Some(Queue::Deadline) => Order::Deadline,
            Some(Queue::Laxity) => Order::Laxity,
            Some(Queue::Static) | None => Order::Arrival,
        }
    }

    fn placement_of(&self, operation: &str) -> Option<Placement> {
        self.placement(self.lookup(operation)?)
    }

    fn placement_of_handle(&self, rt_info: i32) -> Option<Placement> {
        self.placement(OperationId::of_handle(rt_info)?)
    }
}
