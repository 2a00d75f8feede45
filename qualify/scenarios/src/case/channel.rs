//! The event channel of a case study: each operation is a consumer, which the channel serves at the level
//! that the scheduler has decided.

use punctual::{LinearMapping, NativePriority, Priority, PriorityMapping, rtscheduling::SheddingPolicy};
use punctual_events::{ChannelBuilder, EventChannel, EventType, Lane};
use punctual_scheduling::reconfigurable::OperationId;

/// Priority of the thread that releases operations; levels are below it.
pub(super) const RELEASES: i16 = 60;
/// Native priority of the first level; each next level has the priority below.
const HIGHEST_LEVEL: i16 = 50;
/// Type of the event that releases the operation 0.
const FIRST_TYPE: i32 = 16;

/// Begins to build a channel whose lanes are replaced when a schedule is adopted.
pub(super) fn channel() -> ChannelBuilder {
    EventChannel::builder().lane(Priority::MIN, 1)
}

/// Returns the lanes of the levels of a schedule, with one thread each.
pub(super) fn lanes(shedding: SheddingPolicy) -> impl Fn(u32) -> Lane {
    // As the channel maps its lanes' priorities to native ones.
    let mapping = LinearMapping::new(1..=99);
    move |level| {
        let below = i16::try_from(level).unwrap_or(i16::MAX);
        let native = NativePriority(HIGHEST_LEVEL.saturating_sub(below).max(1));
        Lane {
            shedding,
            ..Lane::new(mapping.to_corba(native).unwrap_or(Priority::MIN), 1)
        }
    }
}

/// Type of the events that release an operation.
pub(super) fn releases(operation: OperationId) -> EventType {
    EventType(FIRST_TYPE + operation.0 as i32)
}
