//! The service context INVOCATION_POLICIES: exact octets, both byte orders, and bad input.

use core::time::Duration;

use proptest::prelude::*;
use punctual_cdr::{CdrErrorKind, Encode, Encoder, Endian};
use punctual_giop::{INVOCATION_POLICIES, InvocationPolicies, ServiceContext, decode_invocation_policies};

const ALL: InvocationPolicies = InvocationPolicies {
    // 2001-09-09 01:46:40 UTC: 0x1DBF2E9_BF3D6500 and so on in units of 100 ns since 1582.
    request_end: Some(Duration::from_secs(1_000_000_000)),
    reply_end: Some(Duration::from_secs(1_000_000_001)),
    relative_request: Some(Duration::from_millis(20)),
    relative_roundtrip: Some(Duration::from_secs(1)),
};

/// The expected octets, written by hand.
fn octets(endian: Endian) -> Vec<u8> {
    let little = endian == Endian::Little;
    let order = |octets: &[u8]| -> Vec<u8> {
        if little {
            octets.iter().rev().copied().collect()
        } else {
            octets.to_vec()
        }
    };
    let long = |value: u32| order(&value.to_be_bytes());
    let time = |value: u64| {
        [
            vec![u8::from(little), 0, 0, 0, 0, 0, 0, 0],
            order(&value.to_be_bytes()),
        ]
        .concat()
    };
    // Time, inaccuracy (all ones: unknown), time zone 0.
    let utc = |value: u64| [time(value), vec![0xff; 6], vec![0; 2]].concat();
    let policy = |id: u32, value: Vec<u8>| [long(id), long(value.len() as u32), value].concat();
    // Seconds from 1582-10-15 to 1970-01-01: 12,219,292,800.
    let since_1582 = |seconds: u64| (seconds + 12_219_292_800) * 10_000_000;
    [
        vec![u8::from(little), 0, 0, 0],
        long(4),
        policy(28, utc(since_1582(1_000_000_000))),
        policy(30, utc(since_1582(1_000_000_001))),
        policy(31, time(200_000)),
        policy(32, time(10_000_000)),
    ]
    .concat()
}

fn context(policies: InvocationPolicies, endian: Endian) -> Vec<u8> {
    let mut buffer = Vec::new();
    ServiceContext::InvocationPolicies(policies)
        .encode(&mut Encoder::new(&mut buffer, endian))
        .unwrap();
    buffer
}

#[test]
fn octets_are_exact() {
    for endian in [Endian::Little, Endian::Big] {
        let data = octets(endian);
        assert_eq!(decode_invocation_policies(&data), Ok(ALL));
        let encoded = context(ALL, endian);
        assert_eq!(encoded.len(), 8 + data.len());
        assert_eq!(encoded[8..], data, "{endian:?}");
        let id = if endian == Endian::Little {
            encoded[0]
        } else {
            encoded[3]
        };
        assert_eq!(u32::from(id), INVOCATION_POLICIES);
    }
}

#[test]
fn absent_policies_are_not_encoded() {
    let none = InvocationPolicies::default();
    for endian in [Endian::Little, Endian::Big] {
        assert_eq!(decode_invocation_policies(&context(none, endian)[8..]), Ok(none));
    }
    assert_eq!((none.stale_from(), none.wanted_for()), (None, None));
    assert_eq!(ALL.stale_from(), ALL.request_end);
    assert_eq!(ALL.wanted_for(), ALL.relative_request);
    let only_reply = InvocationPolicies {
        reply_end: ALL.reply_end,
        ..none
    };
    assert_eq!(only_reply.stale_from(), ALL.reply_end);
}

#[test]
fn other_policies_are_ignored() {
    // Routing (33) with arbitrary octets, then a timeout.
    let mut data = vec![
        0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 33, 0, 0, 0, 1, 0xee, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 16,
    ];
    data.extend([0; 15]);
    data.push(1);
    let policies = decode_invocation_policies(&data).unwrap();
    assert_eq!(policies.relative_roundtrip, Some(Duration::from_nanos(100)));
}

#[test]
fn malformed_input_is_refused() {
    use CdrErrorKind::*;
    let whole = octets(Endian::Big);
    for length in 0..whole.len() {
        assert!(
            decode_invocation_policies(&whole[..length]).is_err(),
            "cut at {length}"
        );
    }
    let rows: &[(&str, &[u8], CdrErrorKind)] = &[
        ("no octet", &[], Truncated),
        (
            "more policies than there are",
            &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
            Truncated,
        ),
        (
            "a value longer than the rest",
            &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 200],
            LengthImpossible,
        ),
        (
            "a timeout of two octets",
            &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 2, 0, 9],
            Truncated,
        ),
    ];
    for (name, data, kind) in rows {
        let error = decode_invocation_policies(data).unwrap_err();
        assert_eq!(error.kind, *kind, "{name}");
    }
}

proptest! {
    #[test]
    fn times_round_trip_to_100_ns(seconds in 0..1_000_000_000_000_u64, units in 0..10_000_000_u32) {
        let time = Some(Duration::new(seconds, units * 100));
        let mut policies = InvocationPolicies::default();
        (policies.request_end, policies.relative_roundtrip) = (time, time);
        for endian in [Endian::Little, Endian::Big] {
            prop_assert_eq!(decode_invocation_policies(&context(policies, endian)[8..]), Ok(policies));
        }
    }

    #[test]
    fn any_time_can_be_encoded(seconds: u64, data: Vec<u8>) {
        let time = Some(Duration::from_secs(seconds));
        let [request_end, reply_end, relative_request, relative_roundtrip] = [time; 4];
        let policies = InvocationPolicies { request_end, reply_end, relative_request, relative_roundtrip };
        prop_assert!(decode_invocation_policies(&context(policies, Endian::Big)[8..]).is_ok());
        let _ = decode_invocation_policies(&data);
    }
}
