//! The counters of a channel as a CORBA object, for tools in other processes.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use punctual::{Poa, Priority, SchedulerState, SchedulerStatistics, SystemException};

use crate::{
    ChannelStatistics, ConsumerStatistics, EventChannel, EventError, GatewayStatistics, Refusals,
    SupplierStatistics, Undelivered,
    channel::Core,
    error::gone,
    wire::punctual_events::{
        self as wire, ChannelState, ConsumerState, GatewayState, Inspection, InspectionRef, RefusalState,
        SupplierState,
    },
};

impl EventChannel {
    /// Makes the channel's counters an object, which [`ChannelStatistics::of`] queries. Give it an adapter
    /// whose threads serve no other object: suppliers that wait for room then do not delay it.
    /// `punctual events top corbaloc::HOST:PORT/NAME` finds it under the name `NAME.inspection`
    /// ([`punctual::Orb::publish`]).
    ///
    /// # Errors
    /// The adapter refuses the object.
    ///
    /// ```
    /// use punctual::Orb;
    /// use punctual_events::{ChannelStatistics, EventChannel};
    ///
    /// let orb = Orb::builder().listen("iiop://localhost").build()?;
    /// let channel = EventChannel::builder().name("plant").build()?;
    /// let inspection = channel.serve_inspection(&orb.root_poa())?;
    /// assert_eq!(ChannelStatistics::of(&inspection)?.name, "plant");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serve_inspection(&self, poa: &Poa) -> Result<InspectionRef, EventError> {
        Ok(poa.activate(Inspected(Arc::downgrade(&self.core)))?)
    }

    /// Shows a scheduler whose schedule the channel follows in [`ChannelStatistics::schedulers`], as long as
    /// `state` returns one. This takes no time of any thread of the channel.
    ///
    /// ```
    /// use punctual::{Orb, SchedulerState};
    /// use punctual_events::{ChannelStatistics, EventChannel};
    ///
    /// let orb = Orb::builder().listen("iiop://localhost").build()?;
    /// let channel = EventChannel::builder().build()?;
    /// channel.show_scheduler(|| {
    ///     Some(SchedulerState {
    ///         scheduler: "flight".to_owned(),
    ///         strategy: "MUF".to_owned(),
    ///         statistics: Default::default(),
    ///     })
    /// });
    /// let inspection = channel.serve_inspection(&orb.root_poa())?;
    /// assert_eq!(ChannelStatistics::schedulers(&inspection)?[0].scheduler, "flight");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show_scheduler(&self, state: impl Fn() -> Option<SchedulerState> + Send + Sync + 'static) {
        self.core.schedule.show(Arc::new(state));
    }
}

impl ChannelStatistics {
    /// Queries a channel of this or another process.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST: the channel has been destroyed. Otherwise, the error of the call.
    pub fn of(inspection: &InspectionRef) -> Result<Self, SystemException> {
        inspection.state().map(Self::from)
    }

    /// Queries the schedulers that a channel of this or another process
    /// [shows](EventChannel::show_scheduler).
    ///
    /// # Errors
    /// As for [`Self::of`].
    pub fn schedulers(inspection: &InspectionRef) -> Result<Vec<SchedulerState>, SystemException> {
        let states = inspection.schedulers()?;
        Ok(states.into_iter().map(received).collect())
    }
}

struct Inspected(Weak<Core>);

impl Inspection for Inspected {
    fn state(&self) -> Result<ChannelState, SystemException> {
        let core = self.0.upgrade().filter(|core| !core.is_destroyed());
        Ok(core.ok_or_else(gone)?.statistics().into())
    }

    fn schedulers(&self) -> Result<Vec<wire::SchedulerState>, SystemException> {
        let core = self.0.upgrade().filter(|core| !core.is_destroyed());
        let states = core.ok_or_else(gone)?.schedule.states();
        Ok(states.into_iter().map(sent).collect())
    }
}

fn sent(state: SchedulerState) -> wire::SchedulerState {
    let own = state.statistics;
    wire::SchedulerState {
        name: state.scheduler,
        strategy: state.strategy,
        utilization: own.utilization,
        last_duration: u64::try_from(own.last_duration.as_nanos()).unwrap_or(u64::MAX),
        operations: own.operations,
        running: own.running,
        levels: own.levels,
        computations: own.computations,
        refused: own.refused,
        cycles: own.cycles,
        unresolved: own.unresolved,
        contradictions: own.contradictions,
        not_admitted: own.not_admitted,
        lower_rates: own.lower_rates,
    }
}

fn received(state: wire::SchedulerState) -> SchedulerState {
    SchedulerState {
        scheduler: state.name,
        strategy: state.strategy,
        statistics: SchedulerStatistics {
            utilization: state.utilization,
            last_duration: Duration::from_nanos(state.last_duration),
            operations: state.operations,
            running: state.running,
            levels: state.levels,
            computations: state.computations,
            refused: state.refused,
            cycles: state.cycles,
            unresolved: state.unresolved,
            contradictions: state.contradictions,
            not_admitted: state.not_admitted,
            lower_rates: state.lower_rates,
        },
    }
}

impl From<ChannelStatistics> for ChannelState {
    fn from(all: ChannelStatistics) -> Self {
        Self {
            name: all.name,
            age: u64::try_from(all.age.as_nanos()).unwrap_or(u64::MAX),
            received: all.received,
            unmatched: all.unmatched,
            refused: all.refused,
            deferred: all.deferred,
            timeouts: all.timeouts,
            disconnected: all.disconnected,
            last_disconnected: converted(all.last_disconnected),
            lost: all.undelivered.lost,
            failed: all.undelivered.failed,
            cancelled: all.undelivered.cancelled,
            lost_at_consumer: all.undelivered.lost_at_consumer,
            refusals: all.refusals.into(),
            observers: all.observers,
            consumers: converted(all.consumers),
            gateways: converted(all.gateways),
            suppliers: converted(all.suppliers),
        }
    }
}

impl From<ChannelState> for ChannelStatistics {
    fn from(state: ChannelState) -> Self {
        Self {
            name: state.name,
            age: Duration::from_nanos(state.age),
            received: state.received,
            unmatched: state.unmatched,
            refused: state.refused,
            deferred: state.deferred,
            timeouts: state.timeouts,
            disconnected: state.disconnected,
            last_disconnected: state
                .last_disconnected
                .into_iter()
                .next()
                .map(ConsumerStatistics::from),
            undelivered: Undelivered {
                lost: state.lost,
                failed: state.failed,
                cancelled: state.cancelled,
                lost_at_consumer: state.lost_at_consumer,
            },
            refusals: state.refusals.into(),
            observers: state.observers,
            consumers: converted(state.consumers),
            gateways: converted(state.gateways),
            suppliers: converted(state.suppliers),
        }
    }
}

fn converted<A, B: From<A>>(all: impl IntoIterator<Item = A>) -> Vec<B> {
    all.into_iter().map(B::from).collect()
}

/// Conversions between two structures with the same fields, in both directions.
macro_rules! same_fields {
    ($own:ident, $wire:ident: $($field:ident),*) => {
        impl From<$own> for $wire {
            fn from($own { $($field),* }: $own) -> Self {
                Self { $($field),* }
            }
        }

        impl From<$wire> for $own {
            fn from($wire { $($field),* }: $wire) -> Self {
                Self { $($field),* }
            }
        }
    };
}

same_fields! { Refusals, RefusalState: depth, length, malformed, limit }
same_fields! {
    SupplierStatistics, SupplierState:
    id, name, address, is_connected, pushed, unmatched, refused, lost
}
same_fields! {
    GatewayStatistics, GatewayState:
    name, forwarded, repeated, returned, expired, lost, malformed, implausible, interrupted, reconnected
}

impl From<ConsumerStatistics> for ConsumerState {
    fn from(one: ConsumerStatistics) -> Self {
        let events = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            id: one.id,
            name: one.name,
            priority: one.priority.value(),
            waiting: events(one.waiting),
            octets: one.octets as u64,
            capacity: events(one.capacity),
            high_water: events(one.high_water),
            is_suspended: one.is_suspended,
            is_gateway: one.is_gateway,
            queued: one.queued,
            delivered: one.delivered,
            sets: one.sets,
            lost: one.undelivered.lost,
            failed: one.undelivered.failed,
            cancelled: one.undelivered.cancelled,
            lost_at_consumer: one.undelivered.lost_at_consumer,
            late: one.late,
            error: one.error.unwrap_or_default(),
        }
    }
}

impl From<ConsumerState> for ConsumerStatistics {
    fn from(state: ConsumerState) -> Self {
        Self {
            id: state.id,
            name: state.name,
            // A channel that lies about it is shown with the lowest.
            priority: Priority::new(state.priority).unwrap_or(Priority::MIN),
            waiting: state.waiting as usize,
            octets: usize::try_from(state.octets).unwrap_or(usize::MAX),
            capacity: state.capacity as usize,
            high_water: state.high_water as usize,
            is_suspended: state.is_suspended,
            is_gateway: state.is_gateway,
            queued: state.queued,
            delivered: state.delivered,
            sets: state.sets,
            undelivered: Undelivered {
                lost: state.lost,
                failed: state.failed,
                cancelled: state.cancelled,
                lost_at_consumer: state.lost_at_consumer,
            },
            late: state.late,
            error: Some(state.error).filter(|error| !error.is_empty()),
        }
    }
}
