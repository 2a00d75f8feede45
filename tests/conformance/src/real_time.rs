//! What tests of Real-time CORBA ask references, servers and threads, without the ORB's own decoder.

use punctual::{Orb, Priority, SchedulingClass};
use punctual_os::{Granted, Scheduling, ThreadSpec, scheduling};

use crate::{
    conformance::ProbeRef,
    server::Profile,
    wire::{COMMON, Dialect, Message, Reader},
};

/// The papers' lanes.
pub const LOW: i16 = 10_922;
/// The papers' lanes.
pub const MIDDLE: i16 = 21_844;
/// The papers' lanes.
pub const HIGH: i16 = 32_767;

/// A CORBA priority.
pub fn priority(value: i16) -> Priority {
    Priority::new(value).expect("not negative")
}

/// Where TAO's linear mapping puts a CORBA priority in SCHED_FIFO, as its documentation has it.
pub fn native(value: i16) -> i16 {
    let steps = 98 * i32::from(value) / 32_767;
    1 + i16::try_from(steps).expect("at most 98")
}

/// Whether threads may be real-time ones here; if not, says that a part of the test is skipped.
pub fn realtime_or_skip() -> bool {
    let probe = ThreadSpec::new("probe")
        .scheduling(Scheduling::fifo(punctual::NativePriority(1)))
        .spawn(|| ())
        .expect("a thread");
    let granted = probe.granted() == Granted::RealTime;
    if !granted {
        eprintln!("skipped: no real-time rights");
    }
    granted
}

/// The class for a server's threads.
pub fn class(realtime: bool) -> SchedulingClass {
    if realtime {
        SchedulingClass::Fifo
    } else {
        SchedulingClass::Other
    }
}

/// An ORB for clients whose threads stay in the ordinary class, whatever priority their calls carry.
pub fn ordinary_client() -> Orb {
    Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .build()
        .expect("an ORB")
}

/// The calling thread's native priority, -1 in the ordinary class.
pub fn own_native_priority() -> i16 {
    let own = scheduling::current();
    if own.is_realtime() { own.priority.0 } else { -1 }
}

/// The service context with a priority, which [`COMMON`] requests carry.
pub fn propagated(value: i16) -> (u32, Vec<u8>) {
    propagated_in(COMMON, value)
}

/// The service context with a priority.
pub fn propagated_in(dialect: Dialect, value: i16) -> (u32, Vec<u8>) {
    (10, dialect.encapsulation(|data| data.u16(value.cast_unsigned())))
}

/// What a reference says about priorities.
#[derive(Debug, Eq, PartialEq)]
pub struct RealTime {
    /// The priorities of its endpoints; empty without the component.
    pub endpoints: Vec<i16>,
    /// The ports of its endpoints.
    pub ports: Vec<u16>,
    /// Types of the policies, in order.
    pub policies: Vec<u32>,
    /// From policy 45.
    pub bands: Vec<(i16, i16)>,
    /// From policy 40: 0 for CLIENT_PROPAGATED, 1 for SERVER_DECLARED; and the server's priority.
    pub model: Option<(u32, i16)>,
}

impl RealTime {
    /// Reads it by hand.
    pub fn of(probe: &ProbeRef) -> Self {
        let profile = Profile::of(probe);
        let component = |tag| profile.components.iter().find(|(found, _)| *found == tag);
        let mut said = Self {
            endpoints: Vec::new(),
            ports: Vec::new(),
            policies: Vec::new(),
            bands: Vec::new(),
            model: None,
        };
        if let Some((_, data)) = component(0x5441_4f02) {
            let mut data = Reader::encapsulation(data);
            for _ in 0..data.u32() {
                assert_eq!(data.string(), b"127.0.0.1");
                said.ports.push(data.u16());
                said.endpoints.push(data.u16().cast_signed());
            }
            assert_eq!(said.ports[0], profile.port, "the first is the profile's own");
        }
        if let Some((_, data)) = component(2) {
            let mut data = Reader::encapsulation(data);
            for _ in 0..data.u32() {
                let policy = data.u32();
                said.read_policy(policy, data.sequence());
            }
        }
        said
    }

    fn read_policy(&mut self, policy: u32, value: &[u8]) {
        self.policies.push(policy);
        let mut value = Reader::encapsulation(value);
        match policy {
            40 => {
                assert!(self.model.is_none());
                self.model = Some((value.u32(), value.u16().cast_signed()));
            }
            45 => {
                for _ in 0..value.u32() {
                    let band = (value.u16().cast_signed(), value.u16().cast_signed());
                    self.bands.push(band);
                }
            }
            _ => return,
        }
        assert_eq!(value.rest(), b"");
    }
}

/// The short that a call returned.
pub fn short(message: &Message) -> i16 {
    let reply = message.reply();
    assert_eq!(reply.status, 0, "{:02x?}", message.octets);
    reply.body.clone().u16().cast_signed()
}
