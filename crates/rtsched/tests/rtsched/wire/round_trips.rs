//! Encoded contexts are read unchanged, and every context that can be read can be encoded.

use std::time::Duration;

use proptest::{collection::vec, option, prelude::*, sample::select};
use punctual_cdr::Endian;
use punctual_os::alloc_counter;
use punctual_rtsched::wire::{
    CarriedParameters, ContextOctets, PeerLayout, Reading, SchedulingContext, UnknownParameters,
};
use punctual_sched::dynamic::{SchedulingParameters, Time, Utility};
use punctual_types::{DistributableThreadId, Priority};

use super::{CLOCKS, reader};

fn deadline() -> impl Strategy<Value = Time> {
    // Whole units, so that nothing is rounded.
    let soon = (0..1_000_000_000_000_u64).prop_map(|time| Time(time * 100));
    prop_oneof![9 => soon, 1 => Just(Time::NEVER)]
}

fn duration() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_nanos)
}

fn parameters() -> impl Strategy<Value = SchedulingParameters> {
    use SchedulingParameters as P;
    let numbers = (any::<i32>(), any::<i32>(), any::<u32>());
    let times = (deadline(), duration(), duration());
    (0..8_u8, 0..=i16::MAX, numbers, times).prop_map(
        |(kind, priority, (importance, criticality, value), (deadline, period, execution_time))| match kind {
            0 => P::FixedPriority {
                priority: Priority::new(priority).unwrap(),
            },
            1 => P::Importance { importance },
            2 => P::Rate { period, importance },
            3 => P::Deadline {
                deadline,
                period,
                execution_time,
                importance,
            },
            4 => P::Laxity {
                deadline,
                execution_time,
                importance,
            },
            5 => P::Urgency {
                criticality,
                deadline,
                execution_time,
                importance,
            },
            6 => P::RateOrLaxity {
                criticality,
                period,
                deadline,
                execution_time,
                importance,
            },
            _ => P::Utility {
                deadline,
                execution_time,
                utility: Utility { value, decay: period },
            },
        },
    )
}

fn unknown() -> impl Strategy<Value = UnknownParameters> {
    let fields = vec(any::<[u8; 8]>(), 0..=UnknownParameters::MOST / 8);
    (9..=u16::MAX, option::of(deadline()), endian(), fields).prop_map(|(kind, deadline, endian, fields)| {
        UnknownParameters::new(kind, deadline, endian, fields.as_flattened()).unwrap()
    })
}

fn endian() -> impl Strategy<Value = Endian> {
    select(&[Endian::Little, Endian::Big][..])
}

fn carried() -> impl Strategy<Value = Option<CarriedParameters>> {
    option::of(prop_oneof![
        parameters().prop_map(CarriedParameters::Known),
        unknown().prop_map(CarriedParameters::Unknown),
    ])
}

pub fn context() -> impl Strategy<Value = SchedulingContext> {
    (1..=u128::MAX, carried(), carried(), any::<bool>()).prop_map(|(id, parameters, implicit, begins)| {
        SchedulingContext {
            id: DistributableThreadId(id),
            parameters,
            implicit,
            begins,
        }
    })
}

proptest! {
    #[test]
    fn encoded_contexts_are_read(
        context in context(), endian in endian(), appended in vec(any::<u8>(), 0..20),
    ) {
        assert!(alloc_counter::installed());
        let ((octets, reading), allocations) = alloc_counter::count_allocations(|| {
            let octets = context.encode(&CLOCKS, endian);
            let reading = reader(PeerLayout::OwnOnly).read(&octets);
            (octets, reading)
        });
        prop_assert_eq!(reading, Ok(Reading::Context(context)));
        prop_assert_eq!(allocations, 0);
        prop_assert!(octets.len() % 8 == 0 && octets.len() <= ContextOctets::MOST);
        // A newer minor version appends data.
        let mut newer = octets.to_vec();
        newer[5] = 9;
        newer.extend(appended);
        prop_assert_eq!(reader(PeerLayout::OwnOnly).read(&newer), Ok(Reading::Context(context)));
    }
}
