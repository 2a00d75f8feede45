//! Fragmented messages: reassembled, interleaved, cancelled, refused.

use std::time::{Duration, Instant};

use proptest::{collection::vec, prelude::*};
use punctual_cdr::{Decode, Decoder, Encode, Endian};
use punctual_giop::{
    connection::{ConnectionLimits, Event, Refusal, Role},
    *,
};

use super::{
    pair::{Pair, Seen, Side, cancel, kinds, limits, locate_request},
    split::{fragmented, large, with_id, with_size},
};
use crate::messages::{ORDERS, header, request};

#[test]
fn a_fragmented_message_is_one_event_octet_by_octet() {
    for endian in ORDERS {
        for version in [Version::V1_1, Version::V1_2] {
            let whole = large(version, endian);
            let parts = fragmented(&whole, &[100, 200]);
            let mut pair = Pair::new(version);
            pair.send_to_server(&parts.concat());
            let seen = pair.server_events(1).unwrap();
            assert_eq!(
                kinds(&seen),
                [Event::Progress, Event::Progress, Event::Request(header(&whole))]
            );
            assert_eq!(seen[2].message, whole);
            let starts: &[usize] = if version == Version::V1_1 {
                &[100, 200]
            } else {
                &[]
            };
            assert_eq!(seen[2].fragment_starts, starts);
            assert!(pair.server.connection.receive.is_idle());
        }
    }
}

#[test]
fn other_messages_arrive_between_fragments() {
    let (old, new) = (
        large(Version::V1_1, Endian::Big),
        large(Version::V1_2, Endian::Little),
    );
    let [old_parts, new_parts] = [&old, &new].map(|message| fragmented(message, &[64, 128]));
    let other = locate_request(Version::V1_2, Endian::Little, 99);
    let mut pair = Pair::new(Version::V1_2);
    for part in 0..3 {
        pair.send_to_server(&old_parts[part]);
        pair.send_to_server(&other);
        pair.send_to_server(&new_parts[part]);
    }
    let seen = pair.server_events(3).unwrap();
    let others = kinds(&seen).into_iter().filter(|event| *event != Event::Progress);
    let between = Event::LocateRequest(header(&other));
    assert_eq!(
        others.collect::<Vec<_>>(),
        [
            between,
            between,
            Event::Request(header(&old)),
            between,
            Event::Request(header(&new))
        ]
    );
    assert_eq!(seen[6].message, old);
    assert_eq!(seen[6].fragment_starts, [64, 128]);
    assert_eq!((&seen[8].message, &seen[8].fragment_starts), (&new, &vec![]));
}

/// The only request in these parts, or the refusal.
fn reassembled(version: Version, parts: &[Vec<u8>], chunk: usize) -> Result<Seen, Refusal> {
    let mut side = Side::new(Role::Server, version, limits());
    side.incoming.extend(parts.concat());
    let seen = side
        .events(chunk, Instant::now())
        .map_err(|refused| refused.reason)?;
    let (request, parts_before) = seen.split_last().expect("an event");
    assert!(parts_before.iter().all(|seen| seen.event == Event::Progress));
    Ok(request.clone())
}

#[test]
fn a_message_split_anywhere_is_reassembled() {
    for endian in ORDERS {
        for version in [Version::V1_1, Version::V1_2] {
            let message = large(version, endian);
            for cut in 16..message.len() {
                let seen = reassembled(version, &fragmented(&message, &[cut]), 100).unwrap();
                assert_eq!(seen.message, message);
            }
            let seen = reassembled(version, &fragmented(&message, &[40, 48, 80, 100]), 7).unwrap();
            assert_eq!(seen.message, message);
        }
    }
}

#[test]
fn inconsistent_fragments_are_refused() {
    let parts = fragmented(&large(Version::V1_2, Endian::Little), &[64]);
    let other_order = fragmented(&large(Version::V1_2, Endian::Big), &[64]);
    let old = fragmented(&large(Version::V1_1, Endian::Little), &[64]);
    // Two of the four octets of a request id.
    let short = with_size([&parts[0][..HEADER_SIZE], &[2, 0]].concat());
    for (first, second, error) in [
        (None, &parts[1], FragmentError::NotUnderWay(Some(7))),
        (None, &old[1], FragmentError::NotUnderWay(None)),
        (
            Some(&parts[0]),
            &with_id(parts[1].clone(), 8),
            FragmentError::NotUnderWay(Some(8)),
        ),
        (
            Some(&parts[0]),
            &parts[0],
            FragmentError::AlreadyUnderWay(Some(7)),
        ),
        (Some(&old[0]), &old[0], FragmentError::AlreadyUnderWay(None)),
        (Some(&parts[0]), &other_order[1], FragmentError::Inconsistent),
        (None, &short, FragmentError::Truncated),
    ] {
        let parts: Vec<_> = first.into_iter().chain([second]).cloned().collect();
        assert_eq!(
            reassembled(Version::V1_2, &parts, 9),
            Err(Refusal::Fragment(error))
        );
    }
}

/// No number of them would exceed a limit on the size of the message.
#[test]
fn an_empty_fragment_that_is_not_the_last_one_is_refused() {
    for version in [Version::V1_1, Version::V1_2] {
        let message = large(version, Endian::Little);
        let empty = fragmented(&message, &[64, 64]);
        assert_eq!(
            reassembled(version, &empty[..2], 100),
            Err(Refusal::Fragment(FragmentError::Empty))
        );
        let mut last = fragmented(&message, &[message.len()]);
        last[0][6] |= 2;
        assert_eq!(reassembled(version, &last, 100).unwrap().message, message);
    }
}

#[test]
fn an_empty_fragment_may_end_a_message_of_giop_1_1_anywhere() {
    let message = with_size(large(Version::V1_1, Endian::Little)[..66].to_vec());
    let mut first = message.clone();
    first[6] |= 2;
    let mut last = message[..HEADER_SIZE].to_vec();
    last[7] = MessageType::Fragment as u8;
    let seen = reassembled(Version::V1_1, &[first, with_size(last)], 5).unwrap();
    assert_eq!((seen.message, seen.fragment_starts), (message, vec![]));
}

/// The fragments of omniORB 4.2: each aligns its data to its own header.
#[test]
fn data_in_giop_1_1_is_aligned_to_its_fragment() {
    for endian in ORDERS {
        let mut parts = [
            request(Version::V1_1, endian, 1_u32),
            request(Version::V1_1, endian, ()),
            request(Version::V1_1, endian, ()),
        ];
        for fragment in &mut parts[1..] {
            fragment.truncate(HEADER_SIZE);
            fragment[7] = MessageType::Fragment as u8;
        }
        let write = |buffer: &mut Vec<u8>, values: &[f64]| {
            // The next multiple of 8, counted from the fragment's header.
            buffer.resize(16, 0);
            values.iter().for_each(|value| {
                value
                    .encode(&mut punctual_cdr::Encoder::new(buffer, endian))
                    .unwrap()
            });
        };
        // The first value does not fit after the odd octet at the end of the first fragment.
        parts[0].push(9);
        write(&mut parts[1], &[0.5, -1.5]);
        parts[1].push(8);
        write(&mut parts[2], &[2.5]);
        parts[0][6] |= 2;
        parts[1][6] |= 2;
        let body = parts[0].len() - 5;

        let seen = reassembled(Version::V1_1, &parts.map(with_size), 3).unwrap();
        let mut decoder = Decoder::new(&seen.message, endian)
            .with_fragments(&seen.fragment_starts)
            .at(body);
        assert_eq!(u32::decode(&mut decoder), Ok(1));
        assert_eq!(u8::decode(&mut decoder), Ok(9));
        assert_eq!(<[f64; 2]>::decode(&mut decoder), Ok([0.5, -1.5]));
        assert_eq!(u8::decode(&mut decoder), Ok(8));
        assert_eq!(f64::decode(&mut decoder), Ok(2.5));
        assert_eq!(decoder.remaining(), 0);
    }
}

#[test]
fn a_request_cancelled_between_its_fragments_is_discarded() {
    for version in [Version::V1_1, Version::V1_2] {
        let parts = fragmented(&large(version, Endian::Little), &[100, 200]);
        let mut pair = Pair::new(version);
        pair.send_to_server(&parts[0]);
        pair.send_to_server(&parts[1]);
        pair.send_to_server(&cancel(version, 7));
        let next = super::pair::request(version, Endian::Big, 8, None);
        pair.send_to_server(&next);
        assert_eq!(
            kinds(&pair.server_events(1).unwrap()),
            [
                Event::Progress,
                Event::Progress,
                Event::Cancelled(7),
                Event::Request(header(&next))
            ]
        );
        assert!(pair.server.connection.receive.is_idle());
        assert_eq!(pair.server.connection.receive.incomplete_since(), None);
        // No part of it may follow.
        pair.send_to_server(&parts[2]);
        let refused = pair.server_events(1).unwrap_err();
        assert!(matches!(
            refused.reason,
            Refusal::Fragment(FragmentError::NotUnderWay(_))
        ));
    }
}

/// In GIOP 1.1 the id follows the service contexts, which may be split anywhere.
#[test]
fn a_request_of_giop_1_1_is_found_by_its_id_wherever_it_is_split() {
    for endian in ORDERS {
        let contexts = [(1, 3), (7, 0), (30, 8)].map(|(id, length)| ServiceContext::Raw {
            id,
            data: &[9; 8][..length],
        });
        let whole = crate::messages::message(Version::V1_1, MessageType::Request, endian, |encoder| {
            let request = OutgoingRequest {
                request_id: 7,
                response: ResponseFlags::WithTarget,
                target: TargetAddress::Key(b"key"),
                operation: "cube",
                contexts: &contexts,
            };
            encode_request(encoder, Version::V1_1, &request).unwrap();
        });
        // 12 octets of headers, 4 for the number of contexts, and 12, 8 and 16 for them.
        let behind_id = 56;
        for cut in (16..whole.len()).step_by(4) {
            let parts = fragmented(&whole, &[cut - 4, cut]);
            let mut pair = Pair::new(Version::V1_1);
            pair.send_to_server(&parts[0]);
            pair.send_to_server(&cancel(Version::V1_1, 8));
            pair.send_to_server(&parts[1]);
            pair.send_to_server(&cancel(Version::V1_1, 7));
            let seen = pair.server_events(9).unwrap();
            assert_eq!(seen[3].event, Event::Cancelled(7));
            let is_pending = pair.server.connection.receive.incomplete_since().is_some();
            assert_eq!(is_pending, cut < behind_id, "at {cut}");
        }
    }
}

/// A part costs time in proportion to its octets, and a cancellation a constant one: not that of decoding
/// what was received before.
#[test]
fn cancelling_a_long_message_costs_no_more_than_a_short_one() {
    let took = |contexts: u32| {
        let mut message = crate::messages::request(Version::V1_1, Endian::Little, ());
        message.truncate(HEADER_SIZE);
        message.extend_from_slice(&contexts.to_le_bytes());
        (0..contexts).for_each(|_| message.extend_from_slice(&[0; 8]));
        message.extend_from_slice(&9_u32.to_le_bytes());
        message[6] |= 2;
        let mut side = Side::new(Role::Server, Version::V1_1, ConnectionLimits::default());
        side.incoming.extend(with_size(message));
        side.incoming.extend(cancel(Version::V1_1, 7).repeat(1000));
        side.read(usize::MAX);
        let mut parts = side.events(usize::MAX, Instant::now()).unwrap().into_iter();
        assert_eq!(parts.next().map(|seen| seen.event), Some(Event::Progress));
        side.incoming.extend(cancel(Version::V1_1, 7).repeat(1000));
        let start = Instant::now();
        assert_eq!(side.events(usize::MAX, start).unwrap().len(), 1000);
        start.elapsed()
    };
    // 8 million octets, which took four orders of magnitude longer. The machine may stall in one of the runs.
    let least = |contexts| (0..5).map(|_| took(contexts)).min().unwrap();
    let (short, long) = (least(1), least(1_000_000));
    assert!(
        long < short * 30 + Duration::from_millis(20),
        "{long:?} and {short:?}"
    );
}

#[test]
fn the_memory_of_fragmented_messages_is_used_again() {
    for version in [Version::V1_1, Version::V1_2] {
        let octets = fragmented(&large(version, Endian::Little), &[64, 128]).concat();
        let mut pair = Pair::new(version);
        let mut memory = Vec::new();
        for _ in 0..4 {
            pair.send_to_server(&octets);
            pair.server.read(usize::MAX);
            let now = pair.now;
            let receive = &mut pair.server.connection.receive;
            while !matches!(receive.poll(|| now).unwrap(), Some(Event::Request(_))) {}
            memory.push((receive.message().as_ptr(), receive.fragment_starts().as_ptr()));
        }
        assert_eq!(memory[1..], [memory[0]; 3], "GIOP {version}");
    }
}

proptest! {
    #[test]
    fn interleaved_fragments_become_their_messages_in_any_chunks(
        cuts in vec(vec(16..400_usize, 0..5), 1..4),
        order in vec(any::<proptest::sample::Index>(), 30),
        big: bool,
        chunks in vec(1..100_usize, 1..10),
    ) {
        let endian = if big { Endian::Big } else { Endian::Little };
        let large = large(Version::V1_2, endian);
        let messages: Vec<_> = (0..cuts.len() as u32).map(|id| with_id(large.clone(), id)).collect();
        let mut parts: Vec<std::collections::VecDeque<_>> = messages
            .iter()
            .zip(cuts)
            .map(|(message, mut cuts)| {
                cuts.sort_unstable();
                // Only the last fragment may be empty.
                cuts.dedup();
                fragmented(message, &cuts).into()
            })
            .collect();
        let mut side = Side::new(Role::Server, Version::V1_2, limits());
        let mut order = order.iter().cycle();
        let mut completed = Vec::new();
        while parts.iter().any(|parts| !parts.is_empty()) {
            let chosen = order.next().unwrap().index(parts.len());
            // The next one that has parts left: any order of parts of different messages is permitted.
            let chosen = (chosen..parts.len()).chain(0..chosen).find(|at| !parts[*at].is_empty()).unwrap();
            side.incoming.extend(parts[chosen].pop_front().unwrap());
            if parts[chosen].is_empty() {
                completed.push(messages[chosen].clone());
            }
        }
        let seen = side.events_in_chunks(&chunks, Instant::now()).unwrap();
        let requests = seen.into_iter().filter(|seen| seen.event != Event::Progress);
        prop_assert_eq!(requests.map(|seen| seen.message).collect::<Vec<_>>(), completed);
    }
}
