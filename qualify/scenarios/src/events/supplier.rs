//! The process of a supplier.

use std::time::{Duration, Instant};

use punctual::{Orb, Priority};
use punctual_events::{EventType, RemoteChannel, RemoteSupplier, rtec::rtec_event_comm::Event};
use punctual_harness::child::{Role, RoleError, Task, TaskEntry};
use punctual_os::clock;
use serde::{Deserialize, Serialize};

use super::PAYLOAD;

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct SupplierSetup {
    pub(super) channel: String,
    pub(super) priority: i16,
    pub(super) event_type: i32,
}

/// Pushes numbered events. The first sets after a pause find cold caches: they have no time, and are not
/// measured.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) struct Push {
    pub(super) amount: Amount,
    /// Events in a set.
    pub(super) set: u32,
    /// Time between sets; zero: none.
    pub(super) interval: Duration,
}

/// Number of sets that are not measured.
const WARM_UP: u32 = 10;

#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) enum Amount {
    Sets(u32),
    Time(Duration),
}

#[derive(Deserialize, Serialize)]
pub(super) struct Pushed {
    pub(super) events: u64,
    /// Time of the first one, on the monotonic clock.
    pub(super) begin: Duration,
}

pub(crate) struct Supplier {
    _orb: Orb,
    supplier: RemoteSupplier,
    events: Vec<Event>,
    event_type: EventType,
    next: u64,
}

impl Role for Supplier {
    const NAME: &'static str = "__events-supplier";
    type Setup = SupplierSetup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Push>()];

    fn start(setup: SupplierSetup) -> Result<(Self, ()), RoleError> {
        let orb = Orb::builder().build()?;
        let event_type = EventType(setup.event_type);
        let supplier = RemoteChannel::new(orb.resolve(&setup.channel)?).supplier(&[event_type])?;
        orb.current().set_priority(Priority::new(setup.priority)?)?;
        let supplier = Self {
            _orb: orb,
            supplier,
            events: Vec::new(),
            event_type,
            next: 0,
        };
        Ok((supplier, ()))
    }
}

impl Task<Supplier> for Push {
    const NAME: &'static str = "push";
    type Reply = Pushed;

    fn perform(self, supplier: &mut Supplier) -> Result<Pushed, RoleError> {
        let mut event = Event::default();
        event.header.r#type = supplier.event_type.0;
        // For gateways.
        event.header.ttl = 8;
        event.data.payload = vec![0; PAYLOAD];
        supplier.events.resize(self.set as usize, event);
        let (first, begin) = (supplier.next, clock::monotonic());
        for _ in 0..WARM_UP {
            supplier.push(0)?;
        }
        let (start, mut sets) = (Instant::now(), 0);
        let mut due = start;
        while match self.amount {
            Amount::Sets(number) => sets < number,
            Amount::Time(time) => start.elapsed() < time,
        } {
            supplier.push(clock::monotonic().as_nanos() as u64)?;
            sets += 1;
            if self.interval > Duration::ZERO {
                due += self.interval;
                clock::sleep_until(due);
            }
        }
        supplier.supplier.flush()?;
        let events = supplier.next - first;
        Ok(Pushed { events, begin })
    }
}

impl Supplier {
    fn push(&mut self, now: u64) -> Result<(), RoleError> {
        for (event, number) in self.events.iter_mut().zip(self.next..) {
            event.data.payload[..8].copy_from_slice(&number.to_le_bytes());
            event.data.payload[8..16].copy_from_slice(&now.to_le_bytes());
        }
        self.next += self.events.len() as u64;
        Ok(self.supplier.push(&self.events)?)
    }
}
