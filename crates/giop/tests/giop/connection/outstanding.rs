//! Request ids of several outstanding requests: matched with replies, late ones, invented ones.

use std::collections::HashSet;

use proptest::{collection::vec, prelude::*};
use punctual_cdr::Endian;
use punctual_giop::{
    MessageType, Version,
    connection::{Event, OutstandingRequests, Parity, ReplyMatch},
};

use super::pair::{Pair, locate_reply, reply, request};

#[test]
fn replies_find_their_requests_in_any_order() {
    let mut requests = OutstandingRequests::new(5, Parity::Any);
    let begun: Vec<_> = (0..5)
        .map(|_| requests.begin(MessageType::Reply).unwrap())
        .collect();
    assert_eq!(requests.begin(MessageType::Reply), None, "all slots are in use");
    assert_eq!(requests.id_without_reply(), None);
    for request in begun.iter().rev() {
        let matched = requests.complete(request.request_id, MessageType::Reply);
        assert_eq!(matched, ReplyMatch::Request(request.slot));
        assert!(!requests.is_waiting(request.slot));
        requests.release(request.slot);
    }
    assert!(requests.is_idle());
}

#[test]
fn a_reply_is_matched_once_and_by_its_type() {
    let mut requests = OutstandingRequests::new(2, Parity::Any);
    let locate = requests.begin(MessageType::LocateReply).unwrap();
    assert_eq!(
        requests.complete(locate.request_id, MessageType::Reply),
        ReplyMatch::Unknown
    );
    assert_eq!(
        requests.complete(locate.request_id, MessageType::LocateReply),
        ReplyMatch::Request(locate.slot)
    );
    assert_eq!(
        requests.complete(locate.request_id, MessageType::LocateReply),
        ReplyMatch::Unknown
    );
}

#[test]
fn there_are_as_many_late_replies_as_abandoned_requests() {
    let mut requests = OutstandingRequests::new(1, Parity::Any);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let request = requests.begin(MessageType::Reply).unwrap();
        ids.push(request.request_id);
        requests.abandon(request.slot);
        requests.abandon(request.slot);
        requests.release(request.slot);
    }
    let current = requests.begin(MessageType::Reply).unwrap();
    for id in ids {
        assert_eq!(requests.complete(id, MessageType::Reply), ReplyMatch::Late);
    }
    assert_eq!(requests.complete(12345, MessageType::Reply), ReplyMatch::Unknown);
    assert_eq!(
        requests.complete(current.request_id, MessageType::Reply),
        ReplyMatch::Request(0)
    );
}

#[test]
fn what_was_not_sent_or_has_ended_leaves_no_late_reply() {
    let mut requests = OutstandingRequests::new(2, Parity::Any);
    let [withdrawn, ended] = [(); 2].map(|()| requests.begin(MessageType::Reply).unwrap());
    requests.release(withdrawn.slot);
    requests.end(ended.slot);
    requests.abandon(ended.slot);
    requests.release(ended.slot);
    for request in [withdrawn, ended] {
        assert_eq!(
            requests.complete(request.request_id, MessageType::Reply),
            ReplyMatch::Unknown
        );
    }
}

#[test]
fn ids_differ_from_use_to_use_and_the_limit_is_bounded() {
    let mut requests = OutstandingRequests::new(usize::MAX, Parity::Any);
    assert_eq!(requests.capacity(), 1 << 16);
    let mut ids = HashSet::new();
    for _ in 0..1000 {
        let request = requests.begin(MessageType::Reply).unwrap();
        assert!(ids.insert(request.request_id));
        requests.release(request.slot);
        assert!(ids.insert(requests.id_without_reply().unwrap()));
    }
    assert_eq!(OutstandingRequests::new(0, Parity::Any).capacity(), 1);
}

proptest! {
    /// A client with many requests outstanding and a server that answers in another order, over chunks of any
    /// size.
    #[test]
    fn every_request_has_its_reply(
        locates in vec(any::<bool>(), 1..12),
        order in vec(any::<proptest::sample::Index>(), 12),
        (there, back) in (1..100_usize, 1..100_usize),
        big: bool,
    ) {
        let endian = if big { Endian::Big } else { Endian::Little };
        let version = Version::V1_2;
        let mut pair = Pair::new(version);
        let mut outstanding = OutstandingRequests::new(locates.len(), Parity::Any);
        for locate in &locates {
            let wanted = if *locate { MessageType::LocateReply } else { MessageType::Reply };
            let id = outstanding.begin(wanted).unwrap().request_id;
            pair.send_to_server(&match locate {
                true => super::pair::locate_request(version, endian, id),
                false => request(version, endian, id, None),
            });
        }
        let mut received = pair.server_events(there).unwrap();
        prop_assert_eq!(received.len(), locates.len());
        for at in order {
            if received.is_empty() {
                break;
            }
            let chosen = received.remove(at.index(received.len()));
            let id: [u8; 4] = chosen.message[12..16].try_into().unwrap();
            let id = if big { u32::from_be_bytes(id) } else { u32::from_le_bytes(id) };
            pair.send_to_client(&match chosen.event {
                Event::LocateRequest(_) => locate_reply(version, endian, id),
                _ => reply(version, endian, id),
            });
        }
        for seen in pair.client_events(back).unwrap() {
            let Event::Reply(received) = seen.event else {
                panic!("{:?}", seen.event)
            };
            let (id, reply_type) = (received.request_id, received.header.message_type);
            let ReplyMatch::Request(slot) = outstanding.complete(id, reply_type) else {
                panic!("no request {id}")
            };
            prop_assert_eq!(locates[slot], reply_type == MessageType::LocateReply);
            outstanding.release(slot);
        }
        prop_assert!(outstanding.is_idle());
    }
}

/// Each side of a bidirectional connection knows its own requests, regardless of what the other one sends.
#[test]
fn the_sides_of_a_bidirectional_connection_issue_different_ids() {
    let [mut even, mut odd] = [Parity::Even, Parity::Odd].map(|parity| OutstandingRequests::new(3, parity));
    for _ in 0..100 {
        let requests: Vec<_> = (0..3)
            .map(|_| [&mut even, &mut odd].map(|side| side.begin(MessageType::Reply).unwrap()))
            .collect();
        for [ours, theirs] in requests {
            assert_eq!((ours.request_id % 2, theirs.request_id % 2), (0, 1));
            assert_eq!(
                odd.complete(ours.request_id, MessageType::Reply),
                ReplyMatch::Unknown
            );
            assert_eq!(
                even.complete(theirs.request_id, MessageType::Reply),
                ReplyMatch::Unknown
            );
            for (side, own) in [(&mut even, ours), (&mut odd, theirs)] {
                assert_eq!(
                    side.complete(own.request_id, MessageType::Reply),
                    ReplyMatch::Request(own.slot)
                );
                side.release(own.slot);
            }
        }
    }
}
