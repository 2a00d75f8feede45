//! Limits on what a peer may make a connection keep, and for how long, in virtual time.

use std::time::{Duration, Instant};

use punctual_cdr::Endian;
use punctual_giop::{
    connection::{ConnectionLimits, Event, Refusal, Role, State},
    *,
};

use super::{
    pair::{Pair, Side, kinds, limits, request},
    split::{fragmented, large, with_id},
};
use crate::messages::header;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_message_above_the_limit_is_refused_by_its_header() {
    let message = large(Version::V1_2, Endian::Little);
    let limit = message.len() - 1;
    let limits = ConnectionLimits {
        max_message_size: limit,
        ..limits()
    };
    let mut side = Side::new(Role::Server, Version::V1_0, limits);
    side.incoming.extend(&message[..HEADER_SIZE]);
    let refused = side.events(1, Instant::now()).unwrap_err();
    let size = message.len() as u64;
    assert_eq!(
        refused.reason,
        Refusal::Header(HeaderError::TooLarge { size, limit })
    );
}

#[test]
fn the_buffer_grows_with_what_was_received_and_not_with_what_is_announced() {
    let mut side = Side::new(Role::Server, Version::V1_0, ConnectionLimits::default());
    let mut header = request(Version::V1_2, Endian::Big, 1, None)[..HEADER_SIZE].to_vec();
    header[8..].copy_from_slice(&(8_u32 << 20).to_be_bytes()[..]);
    header[8..].copy_from_slice(&((8_u32 << 20) - 12).to_be_bytes());
    side.incoming.extend(&header);
    side.incoming.extend([0; 100_000]);
    let mut received = 0;
    while !side.incoming.is_empty() {
        let space = side.connection.receive.space().len();
        assert!(space <= received.max(8 << 10), "{space} for {received} octets");
        let before = side.incoming.len();
        side.read(usize::MAX);
        received += before - side.incoming.len();
        assert_eq!(side.connection.receive.poll(Instant::now).unwrap(), None);
    }
}

#[test]
fn fragmented_messages_above_the_limits_are_refused() {
    let parts = fragmented(&large(Version::V1_2, Endian::Little), &[64]);
    let mut pair = Pair::new(Version::V1_2);
    for id in 0..4 {
        pair.send_to_server(&with_id(parts[0].clone(), id));
    }
    assert_eq!(pair.server_events(64).unwrap().len(), 4);
    pair.send_to_server(&with_id(parts[0].clone(), 4));
    let refused = pair.server_events(64).unwrap_err();
    assert_eq!(
        refused.reason,
        Refusal::Fragment(FragmentError::TooManyPending(4))
    );

    let limits = ConnectionLimits {
        max_message_size: 256,
        ..limits()
    };
    let mut side = Side::new(Role::Server, Version::V1_0, limits);
    let parts = fragmented(&large(Version::V1_2, Endian::Little), &[128, 250]);
    parts[..2].iter().for_each(|part| side.incoming.extend(part));
    side.incoming.extend(&parts[1]);
    let refused = side.events(64, Instant::now()).unwrap_err();
    assert_eq!(refused.reason, Refusal::Fragment(FragmentError::TooLarge(256)));
}

#[test]
fn a_message_that_is_not_completed_in_time_is_refused() {
    let message = request(Version::V1_1, Endian::Big, 1, None);
    for part in [1, 6, 20] {
        let mut pair = Pair::new(Version::V1_2);
        let start = pair.now;
        pair.send_to_server(&message[..part]);
        assert_eq!(pair.server_events(1).unwrap(), []);
        let receive = &mut pair.server.connection.receive;
        assert!(!receive.is_idle());
        assert_eq!(receive.incomplete_since(), Some(start));
        assert_eq!(receive.poll_timeout(), Some(start + SECOND));
        receive.handle_timeout(start + SECOND / 2).unwrap();
        let refused = receive.handle_timeout(start + SECOND).unwrap_err();
        assert_eq!(refused.reason, Refusal::Incomplete(SECOND));
        let version = if part < 6 { Version::V1_0 } else { Version::V1_1 };
        assert_eq!((refused.version, receive.state()), (version, State::Closed));
    }
}

#[test]
fn further_octets_do_not_extend_the_time_of_a_message() {
    let message = request(Version::V1_2, Endian::Big, 1, None);
    let mut pair = Pair::new(Version::V1_2);
    let start = pair.now;
    for octet in &message[..message.len() - 1] {
        pair.send_to_server(&[*octet]);
        pair.server_events(1).unwrap();
        pair.now += SECOND / 1000;
        assert_eq!(pair.server.connection.receive.incomplete_since(), Some(start));
    }
    pair.send_to_server(&message[message.len() - 1..]);
    assert_eq!(
        kinds(&pair.server_events(1).unwrap()),
        [Event::Request(header(&message))]
    );
    assert_eq!(pair.server.connection.receive.poll_timeout(), None);
}

#[test]
fn the_start_of_a_message_behind_another_one_is_timed() {
    let message = request(Version::V1_2, Endian::Big, 1, None);
    let mut pair = Pair::new(Version::V1_2);
    pair.send_to_server(&message);
    pair.send_to_server(&message[..5]);
    pair.server.read(usize::MAX);
    let now = pair.now;
    let receive = &mut pair.server.connection.receive;
    assert_eq!(
        receive.poll(|| now).unwrap(),
        Some(Event::Request(header(&message)))
    );
    assert_eq!(receive.incomplete_since(), Some(now));
    assert!(!receive.has_message() && !receive.is_idle());
}

#[test]
fn the_oldest_fragmented_message_is_timed_while_others_arrive() {
    let parts = fragmented(&large(Version::V1_2, Endian::Little), &[64]);
    let whole = request(Version::V1_2, Endian::Little, 99, None);
    let mut pair = Pair::new(Version::V1_2);
    let start = pair.now;
    for id in 0..3 {
        pair.send_to_server(&with_id(parts[0].clone(), id));
        pair.send_to_server(&whole);
        pair.server_events(10).unwrap();
        pair.now += SECOND / 4;
        assert_eq!(pair.server.connection.receive.incomplete_since(), Some(start));
    }
    // The first one becomes complete: the time of the second one counts from now.
    pair.send_to_server(&with_id(parts[1].clone(), 0));
    pair.server_events(10).unwrap();
    let receive = &mut pair.server.connection.receive;
    assert_eq!(receive.incomplete_since(), Some(pair.now));
    receive.handle_timeout(start + SECOND).unwrap();
    assert!(receive.handle_timeout(pair.now + SECOND).is_err());
}

/// No user has to interrupt a peer that sends without a pause: each part asks for the time.
#[test]
fn parts_that_arrive_without_a_pause_end_with_the_time_of_their_message() {
    let message = large(Version::V1_2, Endian::Little);
    let cuts: Vec<_> = (16..message.len()).step_by(8).collect();
    let parts = fragmented(&message, &cuts);
    let mut pair = Pair::new(Version::V1_2);
    for (number, part) in parts.iter().enumerate() {
        pair.send_to_server(part);
        let seen = pair.server_events(usize::MAX);
        if number < 10 {
            assert_eq!(kinds(&seen.unwrap()), [Event::Progress]);
        } else {
            assert_eq!(seen.unwrap_err().reason, Refusal::Incomplete(SECOND));
            break;
        }
        pair.now += SECOND / 10;
    }

    // The same for the octets of one message.
    let mut pair = Pair::new(Version::V1_2);
    pair.send_to_server(&message[..20]);
    assert_eq!(pair.server_events(1).unwrap(), []);
    pair.now += SECOND;
    pair.send_to_server(&message[20..30]);
    assert_eq!(
        pair.server_events(1).unwrap_err().reason,
        Refusal::Incomplete(SECOND)
    );
}

#[test]
fn memory_beyond_that_of_a_new_connection_is_stated_and_given_back() {
    let whole = |octets: usize| {
        let message = request(Version::V1_2, Endian::Little, 1, None);
        super::split::with_size([message, vec![0; octets]].concat())
    };
    let mut side = Side::new(Role::Server, Version::V1_2, ConnectionLimits::default());
    let now = Instant::now();
    assert_eq!(side.events(1 << 20, now).unwrap(), []);
    assert_eq!(side.connection.receive.held(), 0);
    assert!(!side.connection.receive.needs_watching());

    let large = whole(1 << 20);
    side.incoming.extend(&large[..900_000]);
    assert_eq!(side.events(1 << 20, now).unwrap(), []);
    let receive = &mut side.connection.receive;
    assert!(receive.needs_watching());
    receive.release();
    assert!(
        (800_000..2_000_000).contains(&receive.held()),
        "{}",
        receive.held()
    );
    side.incoming.extend(&large[900_000..]);
    assert_eq!(side.events(1 << 20, now).unwrap().len(), 1);
    side.connection.receive.release();
    assert_eq!(side.connection.receive.held(), 0);

    let parts = fragmented(&large, &[300_000, 600_000]);
    side.incoming.extend(parts[..2].concat());
    side.events(1 << 20, now).unwrap();
    let receive = &mut side.connection.receive;
    receive.release();
    assert!(
        (600_000..2_000_000).contains(&receive.held()),
        "{}",
        receive.held()
    );
    side.incoming.extend(&parts[2]);
    side.events(1 << 20, now).unwrap();
    assert!(side.connection.receive.needs_watching());
    side.connection.receive.release();
    assert_eq!(side.connection.receive.held(), 0);
    assert!(!side.connection.receive.needs_watching());
}

#[test]
fn without_a_time_limit_the_time_is_never_asked_for() {
    let limits = ConnectionLimits {
        message_completion: None,
        ..limits()
    };
    let mut side = Side::new(Role::Server, Version::V1_0, limits);
    let message = large(Version::V1_2, Endian::Little);
    side.incoming.extend(fragmented(&message, &[64]).concat());
    let unasked = || -> Instant { panic!("the time was asked for") };
    let mut events = Vec::new();
    while !side.incoming.is_empty() {
        side.read(1);
        events.extend(side.connection.receive.poll(unasked).unwrap());
        assert_eq!(side.connection.receive.poll_timeout(), None);
    }
    assert_eq!(events, [Event::Progress, Event::Request(header(&message))]);
    side.connection.receive.handle_timeout(Instant::now()).unwrap();
}

#[test]
fn a_whole_message_never_asks_for_the_time() {
    let mut pair = Pair::new(Version::V1_2);
    pair.send_to_server(&request(Version::V1_2, Endian::Big, 1, None));
    pair.server.read(usize::MAX);
    let unasked = || -> Instant { panic!("the time was asked for") };
    let receive = &mut pair.server.connection.receive;
    assert!(receive.poll(unasked).unwrap().is_some());
    assert_eq!(receive.poll(unasked).unwrap(), None);
}

#[test]
fn malformed_messages_are_refused() {
    // A reply that ends inside its header, code sets of which nothing is announced, a CancelRequest without
    // an id.
    let mut reply = super::pair::reply(Version::V1_2, Endian::Big, 1);
    reply.truncate(HEADER_SIZE + 4);
    let mut cancel = super::pair::cancel(Version::V1_2, 1);
    cancel.truncate(HEADER_SIZE);
    let code_sets = crate::messages::message(Version::V1_2, MessageType::Request, Endian::Big, |encoder| {
        let empty = ServiceContext::Raw {
            id: CODE_SETS,
            data: &[],
        };
        let request = OutgoingRequest {
            request_id: 1,
            response: ResponseFlags::None,
            target: TargetAddress::Key(b"key"),
            operation: "cube",
            contexts: &[empty],
        };
        encode_request(encoder, Version::V1_2, &request).unwrap();
    });
    for (role, mut octets) in [
        (Role::Client, reply),
        (Role::Server, cancel),
        (Role::Server, code_sets),
    ] {
        let size = (octets.len() - HEADER_SIZE) as u32;
        let size = if octets[6] & 1 == 0 {
            size.to_be_bytes()
        } else {
            size.to_le_bytes()
        };
        octets[8..12].copy_from_slice(&size);
        let mut side = Side::new(role, Version::V1_2, limits());
        side.incoming.extend(&octets);
        let refused = side.events(1, Instant::now()).unwrap_err();
        let expected = MessageHeader::parse(&octets, usize::MAX).unwrap().message_type;
        match refused.reason {
            Refusal::Malformed { message_type, .. } => assert_eq!(message_type, expected),
            reason => panic!("{expected:?}: {reason}"),
        }
    }
}
