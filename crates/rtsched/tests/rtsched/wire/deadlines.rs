//! A call never gains time by travelling, and a wrong calendar costs at most the permitted skew.

use std::time::Duration;

use proptest::prelude::*;
use punctual_cdr::Endian;
use punctual_rtsched::wire::{
    CarriedParameters, Clocks, PeerLayout, Reader, Reading, SchedulingContext, UtcTime,
};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_types::DistributableThreadId;

use super::CLOCKS;

/// Returns the remaining time at the receiver, in nanoseconds, of a deadline that was `left` away at the
/// sender.
fn left_after(left: i64, sender: Clocks, receiver: Reader) -> i128 {
    let deadline = Time(sender.local.0.checked_add_signed(left).unwrap());
    let context = SchedulingContext {
        id: DistributableThreadId(1),
        parameters: Some(CarriedParameters::Known(SchedulingParameters::Laxity {
            deadline,
            execution_time: Duration::ZERO,
            importance: 0,
        })),
        implicit: None,
        begins: false,
    };
    let octets = context.encode(&sender, Endian::NATIVE);
    let Ok(Reading::Context(received)) = receiver.read(&octets) else {
        panic!("what was encoded can be read");
    };
    let deadline = received.parameters.unwrap().deadline().unwrap();
    i128::from(deadline.0) - i128::from(receiver.clocks.local.0)
}

/// A host whose calendar is ahead by `ahead` milliseconds, with another monotonic clock.
fn host(ahead: i64) -> Reader {
    let clocks = Clocks {
        local: Time(77_000_000_000),
        utc: UtcTime(CLOCKS.utc.0.checked_add_signed(ahead * 10_000).unwrap()),
    };
    Reader::new(clocks, PeerLayout::OwnOnly)
}

const MS: i64 = 1_000_000;

#[test]
fn transmission_takes_time_and_wrong_calendars_take_little() {
    let table = [
        // Remaining time when sent; the receiver's calendar when it reads, in ms; remaining time there.
        (100 * MS, 0, 100 * MS),
        (100 * MS, 3, 97 * MS),
        (100 * MS, 10, 90 * MS),
        // A long transmission is indistinguishable from a calendar that is ahead; it costs at most 10 ms.
        (100 * MS, 40, 90 * MS),
        (100 * MS, 3_600_000, 90 * MS),
        // A calendar that is behind gains nothing.
        (100 * MS, -3, 100 * MS),
        (100 * MS, -3_600_000, 100 * MS),
        // A passed deadline stays passed, by the same amount.
        (-5 * MS, 0, -5 * MS),
        (-5 * MS, 2, -7 * MS),
        (-5 * MS, 5000, -15 * MS),
        (5 * MS, 8, -3 * MS),
    ];
    for (left, ahead, expected) in table {
        assert_eq!(
            left_after(left, CLOCKS, host(ahead)),
            i128::from(expected),
            "{left} {ahead}"
        );
    }
    let exact = Reader {
        max_clock_skew: Duration::ZERO,
        ..host(3)
    };
    assert_eq!(left_after(100 * MS, CLOCKS, exact), i128::from(100 * MS));
    let trusting = Reader {
        max_clock_skew: Duration::MAX,
        ..host(30_000)
    };
    assert_eq!(left_after(100 * MS, CLOCKS, trusting), i128::from(-29_900 * MS));
}

#[test]
fn calendars_count_from_1582() {
    assert_eq!(
        UtcTime::from_unix(Duration::ZERO),
        UtcTime(122_192_928_000_000_000)
    );
    assert_eq!(
        UtcTime::from_unix(Duration::new(1, 199)),
        UtcTime(122_192_928_010_000_001)
    );
    assert_eq!(UtcTime::from_unix(Duration::MAX), UtcTime(u64::MAX));
}

fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..1000_u64,
        (u64::MAX - 1000)..=u64::MAX,
        Just(i64::MAX as u64)
    ]
}

proptest! {
    #[test]
    fn no_host_gains_time_whatever_the_clocks_read(
        (deadline, local, utc) in (extreme(), extreme(), extreme()),
        (local_there, utc_there) in (extreme(), extreme()),
        skew in 0..10_000_000_000_u64,
    ) {
        let sender = Clocks { local: Time(local), utc: UtcTime(utc) };
        let receiver = Clocks { local: Time(local_there), utc: UtcTime(utc_there) };
        let parameters = SchedulingParameters::Laxity {
            deadline: Time(deadline),
            execution_time: Duration::ZERO,
            importance: 0,
        };
        let context = SchedulingContext {
            id: DistributableThreadId(1),
            parameters: Some(parameters.into()),
            implicit: None,
            begins: false,
        };
        let octets = context.encode(&sender, Endian::Big);
        let skew = Duration::from_nanos(skew);
        let reader = Reader { max_clock_skew: skew, ..Reader::new(receiver, PeerLayout::OwnOnly) };
        let Reading::Context(received) = reader.read(&octets).unwrap() else {
            panic!("what was encoded can be read");
        };
        let received = received.parameters.unwrap().deadline().unwrap();
        if deadline == u64::MAX {
            prop_assert_eq!(received, Time::NEVER);
        } else {
            // Saturates at 63 bits.
            let most = i128::from(i64::MAX);
            let sent = (i128::from(deadline) - i128::from(local)).clamp(-most - 1, most);
            let bound = |left: i128| (i128::from(local_there) + left).clamp(0, i128::from(u64::MAX - 1));
            prop_assert!(i128::from(received.0) <= bound(sent));
            prop_assert!(i128::from(received.0) >= bound(sent - skew.as_nanos() as i128));
        }
    }
}
