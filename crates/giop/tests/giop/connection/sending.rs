//! Messages in fragments: what a connection's queue sends, in which order, and that the peer joins them.

use proptest::{collection::vec, prelude::*};
use punctual_cdr::Endian;
use punctual_giop::{
    connection::{Event, Role, SendHalf, SendQueue, Ticket},
    *,
};

use super::pair::{Pair, Seen, close, limits, request};
use crate::messages::message;

const FRAGMENT: usize = 256;

fn queue() -> SendQueue {
    SendQueue::new(Some(FRAGMENT), limits().max_fragmented_messages)
}

/// A Reply of this length in octets.
fn reply_of(endian: Endian, id: u32, length: usize) -> Vec<u8> {
    message(Version::V1_2, MessageType::Reply, endian, |encoder| {
        encode_reply_header(encoder, Version::V1_2, id, ReplyStatus::NoException, &[]).unwrap();
        let rest = length - encoder.position();
        for octet in 0..rest {
            encoder.octets(&[octet as u8 ^ id as u8]).unwrap();
        }
    })
}

/// Everything that waits, written in parts of at most `room` octets.
fn drain(queue: &mut SendQueue, room: usize) -> Vec<u8> {
    let mut written = Vec::new();
    loop {
        let octets = queue.next(None);
        if octets.is_empty() {
            assert!(queue.is_empty() && queue.waiting() == 0);
            return written;
        }
        let count = octets.len().min(room);
        written.extend_from_slice(&octets[..count]);
        queue.sent(count);
    }
}

fn received(octets: &[u8]) -> Vec<Seen> {
    let mut pair = Pair::new(Version::V1_2);
    pair.send_to_client(octets);
    let mut seen = pair.client_events(1000).unwrap();
    seen.retain(|seen| seen.event != Event::Progress);
    seen
}

#[test]
fn the_octets_of_fragments_are_those_of_the_specification() {
    for (endian, long) in [
        (Endian::Big, u32::to_be_bytes as fn(u32) -> [u8; 4]),
        (Endian::Little, u32::to_le_bytes),
    ] {
        let whole = reply_of(endian, 7, 600);
        let mut queue = queue();
        queue.divide(whole.clone());
        let sent = drain(&mut queue, usize::MAX);
        let flags = u8::from(endian == Endian::Little);
        let header = |message_type: u8, more: u8, size: u32| {
            let start = [b'G', b'I', b'O', b'P', 1, 2, flags | more, message_type];
            [&start[..], &long(size)].concat()
        };
        let golden = [
            header(1, 2, 256 - 12),
            whole[12..256].to_vec(),
            header(7, 2, 256 - 12),
            long(7).to_vec(),
            whole[256..256 + 240].to_vec(),
            header(7, 0, 4 + 104),
            long(7).to_vec(),
            whole[496..].to_vec(),
        ];
        assert_eq!(sent, golden.concat());
        let [Seen { message, .. }] = &received(&sent)[..] else {
            panic!("one message");
        };
        assert_eq!(message, &whole);
    }
}

#[test]
fn messages_of_every_length_arrive_as_they_were() {
    for length in (257..=800).chain([4096, 40_000]) {
        let whole = reply_of(Endian::NATIVE, 3, length);
        let mut queue = queue();
        assert!(queue.divides(&whole));
        queue.divide(whole.clone());
        let seen = received(&drain(&mut queue, 100));
        assert_eq!((seen.last().unwrap().message.as_slice()), whole, "{length}");
    }
}

#[test]
fn only_what_can_be_divided_is() {
    let long = |version, message_type| {
        message(version, message_type, Endian::NATIVE, |encoder| {
            encoder.octets(&[0; 400]).unwrap();
        })
    };
    let queue = queue();
    for (version, divisible) in [
        (Version::V1_0, false),
        (Version::V1_1, false),
        (Version::V1_2, true),
    ] {
        assert_eq!(queue.divides(&long(version, MessageType::Request)), divisible);
        assert_eq!(queue.divides(&long(version, MessageType::Reply)), divisible);
    }
    assert!(queue.divides(&long(Version::V1_2, MessageType::LocateReply)));
    assert!(!queue.divides(&long(Version::V1_2, MessageType::CloseConnection)));
    assert!(!queue.divides(&reply_of(Endian::NATIVE, 1, FRAGMENT)));
    let off = SendQueue::new(None, 4);
    assert!(!off.divides(&reply_of(Endian::NATIVE, 1, 1 << 20)));
}

/// Octets of a reply of 1 MiB that precede a short message that arrives when `sent` octets of the reply have
/// been sent, counted from then.
fn delay(fragment_size: Option<usize>, sent: usize) -> usize {
    let long = reply_of(Endian::NATIVE, 1, 1 << 20);
    let short = reply_of(Endian::NATIVE, 2, 24);
    let mut queue = SendQueue::new(fragment_size, 4);
    if queue.divides(&long) {
        queue.divide(long);
    } else {
        queue.keep(&long);
    }
    let mut before = 0;
    while before < sent {
        let count = queue.next(None).len().min(sent - before);
        queue.sent(count);
        before += count;
    }
    if queue.at_once() >= short.len() {
        return 0;
    }
    queue.keep(&short);
    let rest = drain(&mut queue, usize::MAX);
    rest.windows(short.len())
        .position(|octets| octets == short)
        .unwrap()
}

#[test]
fn a_short_message_waits_for_one_fragment_of_a_long_one_at_most() {
    for fragment in [512, 4096, 64 << 10] {
        for sent in [0, 1, 13, 4095, 4096, 4097, 100_000, (1 << 20) - 1] {
            let waits = delay(Some(fragment), sent);
            assert!(waits <= fragment, "{waits} octets, fragments of {fragment}");
        }
        assert!(delay(Some(fragment), 1) == fragment - 1, "it waits for that one");
    }
    // The control: without fragments it waits for the rest.
    assert_eq!(delay(None, 1), (1 << 20) - 1);
}

#[test]
fn no_more_messages_are_divided_at_a_time_than_the_peer_accepts() {
    let mut queue = queue();
    let messages: Vec<_> = (0..10).map(|id| reply_of(Endian::NATIVE, id, 2000)).collect();
    let tickets: Vec<Ticket> = messages
        .iter()
        .map(|message| queue.divide(message.clone()))
        .collect();
    // The last would like to be the next, but may begin as the fourth at the earliest.
    let mut octets = Vec::new();
    for preferred in tickets.iter().rev() {
        let next = queue.next(Some(*preferred));
        octets.extend_from_slice(next);
        let length = next.len();
        queue.sent(length);
    }
    octets.extend(drain(&mut queue, 77));
    let mut replies = received(&octets);
    replies.sort_by_key(|seen| seen.message[HEADER_SIZE..HEADER_SIZE + 4].to_vec());
    let mut wanted = messages;
    wanted.sort_by_key(|message| message[HEADER_SIZE..HEADER_SIZE + 4].to_vec());
    assert_eq!(
        replies.into_iter().map(|seen| seen.message).collect::<Vec<_>>(),
        wanted
    );
}

fn long_request(id: u32) -> Vec<u8> {
    let mut octets = request(Version::V1_2, Endian::Big, id, None);
    octets.resize(1000, 9);
    octets[8..12].copy_from_slice(&(1000_u32 - 12).to_be_bytes());
    octets
}

/// Events of a server if the client withdraws a request after this number of sent octets.
fn withdrawn_after(sent: usize) -> (bool, Vec<Event>) {
    let mut send = SendHalf::new(Role::Client, Version::V1_2).with_queue(queue());
    send.queue.divide(long_request(5));
    let mut octets = Vec::new();
    while octets.len() < sent {
        let next = send.queue.next(None);
        let count = next.len().min(sent - octets.len());
        octets.extend_from_slice(&next[..count]);
        send.queue.sent(count);
    }
    let cancel = send.cancel(5);
    if let Some(cancel) = &cancel {
        send.queue.keep(cancel);
    }
    octets.extend(drain(&mut send.queue, 11));
    octets.extend(request(Version::V1_2, Endian::Big, 6, None));
    let mut pair = Pair::new(Version::V1_2);
    pair.send_to_server(&octets);
    let seen = pair.server_events(33).unwrap().into_iter().map(|seen| seen.event);
    let seen = seen.filter(|event| *event != Event::Progress).collect();
    (cancel.is_some(), seen)
}

#[test]
fn what_is_not_sent_of_a_withdrawn_request_is_dropped() {
    let (told, seen) = withdrawn_after(0);
    assert!(!told && matches!(seen[..], [Event::Request(_)]), "{seen:?}");
    for sent in [1, 255, 256, 257, 300, 512] {
        let (told, seen) = withdrawn_after(sent);
        assert!(
            told && matches!(seen[..], [Event::Cancelled(5), Event::Request(_)]),
            "{sent}: {seen:?}"
        );
    }
    // The first fragment has 256 octets of it, each further one 240.
    let all = 1000 + (1000_usize - 256).div_ceil(240) * 16;
    let (told, seen) = withdrawn_after(all);
    assert!(
        told && matches!(
            seen[..],
            [Event::Request(_), Event::Cancelled(5), Event::Request(_)]
        ),
        "{seen:?}"
    );
}

#[test]
fn close_connection_follows_what_is_being_sent_in_fragments() {
    let mut send = SendHalf::new(Role::Server, Version::V1_2).with_queue(queue());
    let long = reply_of(Endian::NATIVE, 1, 900);
    send.queue.divide(long.clone());
    let first = send.queue.next(None).to_vec();
    send.queue.sent(first.len());
    assert_eq!(send.close(), None);
    let octets = [first, drain(&mut send.queue, 50)].concat();
    assert!(octets.ends_with(&close(Version::V1_2)));
    let seen = received(&octets);
    let [.., reply, end] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!((&reply.message, end.event), (&long, Event::CloseConnection));
}

proptest! {
    /// The peer receives each message unchanged, regardless of the order and the parts in which it is sent.
    #[test]
    fn interleaved_messages_arrive_as_they_were(
        steps in vec((20_usize..3000, 0_usize..700, any::<bool>()), 1..30),
    ) {
        let mut queue = queue();
        let mut wanted = Vec::new();
        let mut octets = Vec::new();
        for (id, (length, room, little)) in (0..).zip(steps) {
            let endian = if little { Endian::Little } else { Endian::Big };
            let message = reply_of(endian, id, length.max(24));
            if queue.divides(&message) {
                queue.divide(message.clone());
            } else if message.len() <= queue.at_once() {
                octets.extend_from_slice(&message);
            } else {
                queue.keep(&message);
            }
            wanted.push(message);
            let next = queue.next(None);
            let count = next.len().min(room);
            octets.extend_from_slice(&next[..count]);
            if count > 0 {
                queue.sent(count);
            }
        }
        octets.extend(drain(&mut queue, usize::MAX));
        let mut seen: Vec<_> = received(&octets)
            .into_iter()
            .map(|seen| seen.message)
            .collect();
        seen.sort();
        wanted.sort();
        prop_assert_eq!(seen, wanted);
    }
}
