//! The header octet by octet, and hostile datagrams.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use punctual_cdr::Endian;

use super::{
    DatagramLimits,
    header::{Header, LENGTH},
    reassembly::{Joined, Reassembly},
    send::fragments,
};
use crate::gateway::{decode_set, encode_set};
use crate::rtec::rtec_event_comm::Event;

const ONE: Header = Header {
    is_little_endian: true,
    request: 0x0102_0304,
    message_size: 0x190,
    size: 4,
    offset: 8,
    fragment: 2,
    fragments: 0x32,
};

/// Like `ONE`, in both byte orders, followed by its content.
const LITTLE: &str = "01414243 04030201 90010000 04000000 08000000 02000000 32000000 00000000 de adbeef";
const BIG: &str = "00414243 01020304 00000190 00000004 00000008 00000002 00000032 00000000 de adbeef";

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter(|digit| !digit.is_whitespace()).collect();
    let octet = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(octet).collect()
}

fn sender(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

#[test]
fn the_header_has_the_octets_of_taos() {
    let big = Header {
        is_little_endian: false,
        ..ONE
    };
    for (expected, header) in [(LITTLE, ONE), (BIG, big)] {
        let expected = octets(expected);
        assert_eq!(header.encode(), expected[..LENGTH]);
        assert_eq!(Header::decode(&expected), Some((header, &expected[LENGTH..])));
    }
    // A checksum in the last four octets of the header is not examined.
    let mut with_checksum = octets(LITTLE);
    with_checksum[28..32].fill(0xff);
    assert_eq!(
        Header::decode(&with_checksum).map(|(header, _)| header),
        Some(ONE)
    );
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let good = octets(LITTLE);
    assert!(Header::decode(&good).is_some());
    for length in 0..good.len() {
        assert!(Header::decode(&good[..length]).is_none(), "{length}");
    }
    assert!(
        Header::decode(&[&good[..], &[0]].concat()).is_none(),
        "longer than it states"
    );
    for (place, value) in [
        (0, 2),     // byte order
        (1, b'B'),  // magic
        (12, 0),    // size
        (17, 2),    // ends behind the message
        (19, 0xff), // begins far behind it
        (20, 0x32), // number of the fragment
        (24, 0),    // no fragments
        (24, 1),    // the only one, but not the whole
        (27, 1),    // more fragments than octets
    ] {
        let mut bad = good.clone();
        bad[place] = value;
        assert!(Header::decode(&bad).is_none(), "{value:#x} at {place}");
    }
}

#[test]
fn an_event_is_a_set_of_one_with_its_ttl_decremented() {
    let mut event = Event::default();
    event.header.r#type = 16;
    event.header.source = 7;
    event.header.ttl = 2;
    event.header.ec_recv_time = 9;
    event.data.payload = b"hot".to_vec();
    let mut message = Vec::new();
    encode_set(&event, &mut message).unwrap();
    let expected = "01000000 10000000 07000000 01000000 0000000000000000 0900000000000000 0000000000000000
        00000000 03000000 686f74 00 00000000";
    if Endian::NATIVE == Endian::Little {
        assert_eq!(message, octets(expected));
    }
    let decoded = decode_set(&message, Endian::NATIVE).unwrap();
    event.header.ttl = 1;
    assert_eq!(decoded, [event]);
}

/// Joins fragments of a message of `size` octets in this order; returns the message, if it was completed.
fn join(reassembly: &mut Reassembly, message: &[u8], order: &[usize], datagram: usize) -> Option<Vec<u8>> {
    let all: Vec<_> = fragments(message, datagram, 1).map(Option::unwrap).collect();
    let now = Instant::now();
    order.iter().find_map(|place| {
        let (header, content) = all[place % all.len()];
        match reassembly.join(sender(1), &header, content, now) {
            Joined::Complete(whole) => Some(whole),
            _ => None,
        }
    })
}

proptest! {
    #[test]
    fn fragments_are_joined_in_any_order_and_repeated(
        size in 9_usize..2_000,
        datagram in 40_usize..400,
        seed in proptest::collection::vec(0_usize..1_000, 0..100),
    ) {
        let message: Vec<u8> = (0..size).map(|octet| octet as u8).collect();
        let mut order = seed;
        order.extend(0..size.div_ceil(datagram - LENGTH));
        let mut reassembly = Reassembly::new(DatagramLimits::default());
        if size > datagram - LENGTH {
            prop_assert_eq!(join(&mut reassembly, &message, &order, datagram), Some(message));
        }
    }

    #[test]
    fn arbitrary_datagrams_never_complete_a_message_of_another_length_and_stay_within_the_memory(
        datagrams in proptest::collection::vec(
            (0_u16..4, 0_u32..3, 1_u32..200, 0_u32..200, 0_u32..200, 1_u32..5,
             proptest::collection::vec(any::<u8>(), 0..64)),
            0..200,
        ),
    ) {
        let limits = DatagramLimits { incomplete: 3, memory: 1_000, ..DatagramLimits::default() };
        let mut reassembly = Reassembly::new(limits);
        for (port, request, message_size, offset, fragment, fragments, content) in datagrams {
            let header = Header {
                is_little_endian: true, request, message_size, offset, fragment, fragments,
                size: content.len() as u32,
            };
            let datagram = [&header.encode()[..], &content].concat();
            if let Some((header, content)) = Header::decode(&datagram).filter(|(one, _)| one.fragments > 1) {
                let joined = reassembly.join(sender(port), &header, content, Instant::now());
                if let Joined::Complete(message) = joined {
                    prop_assert_eq!(message.len(), message_size as usize);
                }
                let (messages, held) = reassembly.load();
                prop_assert!(messages <= 3 && held <= 1_000, "{messages} messages, {held} octets");
            }
        }
    }

    #[test]
    fn arbitrary_messages_are_decoded_or_refused(
        message in proptest::collection::vec(any::<u8>(), 0..300),
        is_set in any::<bool>(),
    ) {
        let mut message = message;
        if is_set && message.len() >= 4 {
            message[..4].copy_from_slice(&1_u32.to_le_bytes());
        }
        let _ = decode_set(&message, Endian::Little);
        let _ = decode_set(&message, Endian::Big);
    }
}

fn fragment(request: u32, message_size: u32, offset: u32, size: u32) -> (Header, Vec<u8>) {
    let header = Header {
        is_little_endian: true,
        request,
        message_size,
        size,
        offset,
        fragment: 0,
        fragments: 2,
    };
    (header, vec![7; size as usize])
}

#[test]
fn a_message_that_claims_a_megabyte_costs_what_has_arrived() {
    let mut reassembly = Reassembly::new(DatagramLimits::default());
    for request in 0..64 {
        let (header, content) = fragment(request, 1 << 20, 0, 1);
        assert_eq!(
            reassembly.join(sender(1), &header, &content, Instant::now()),
            Joined::Incomplete
        );
    }
    assert_eq!(reassembly.load(), (64, 64 * 65));
}

#[test]
fn a_sender_that_floods_loses_its_own_messages() {
    let limits = DatagramLimits {
        incomplete: 8,
        ..DatagramLimits::default()
    };
    let mut reassembly = Reassembly::new(limits);
    let now = Instant::now();
    let (first, half) = fragment(1, 2, 0, 1);
    assert_eq!(reassembly.join(sender(1), &first, &half, now), Joined::Incomplete);
    for request in 0..1_000 {
        let (header, content) = fragment(request, 100, 0, 50);
        assert_eq!(
            reassembly.join(sender(2), &header, &content, now),
            Joined::Incomplete
        );
    }
    assert_eq!(reassembly.take_lost(), 1_000 - 7);
    let (second, rest) = fragment(1, 2, 1, 1);
    assert_eq!(
        reassembly.join(sender(1), &second, &rest, now),
        Joined::Complete(vec![7; 2])
    );
}

#[test]
fn overlapping_late_and_contradicting_fragments_are_not_joined() {
    let mut reassembly = Reassembly::new(DatagramLimits::default());
    let now = Instant::now();
    let mut join =
        |fragment: (Header, Vec<u8>), now| reassembly.join(sender(1), &fragment.0, &fragment.1, now);
    assert_eq!(join(fragment(1, 100, 10, 10), now), Joined::Incomplete);
    for (offset, size) in [(9, 2), (10, 9), (10, 11), (19, 1), (0, 100), (0, 11)] {
        assert_eq!(
            join(fragment(1, 100, offset, size), now),
            Joined::Refused,
            "{offset} {size}"
        );
    }
    assert_eq!(
        join(fragment(1, 100, 10, 10), now),
        Joined::Incomplete,
        "a repeated one"
    );
    // The sender has started again.
    assert_eq!(join(fragment(1, 4, 0, 2), now), Joined::Incomplete);
    assert_eq!(join(fragment(1, 4, 2, 2), now), Joined::Complete(vec![7; 4]));
    assert_eq!(join(fragment(2, 4, 0, 2), now), Joined::Incomplete);
    let late = now + Duration::from_millis(1_001);
    assert_eq!(join(fragment(2, 4, 2, 2), late), Joined::Incomplete);
    assert_eq!(reassembly.take_lost(), 2);
}
