//! The recorded connections of TAO, in random chunks: the same events as messages that are decoded one by
//! one.

use std::{collections::BTreeMap, time::Instant};

use proptest::prelude::*;
use punctual_cdr::Endian;
use punctual_giop::{
    connection::{ConnectionLimits, Event, ReceivedReply, Refusal, ReplyBody, ReplyContent, Role},
    *,
};
use serde_json::Value;

use super::pair::{Side, kinds};
use crate::{captures::files, describe::from_hex};

/// The messages of one direction of a recorded connection.
struct Recorded {
    place: String,
    role: Role,
    messages: Vec<Vec<u8>>,
}

fn recorded() -> Vec<Recorded> {
    let mut all = Vec::new();
    for (name, text) in files("giop") {
        let mut directions: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for line in text.lines().skip(1) {
            let line: Value = serde_json::from_str(line).unwrap();
            let key = (line["conn"].as_u64(), line["dir"].as_str().unwrap().to_owned());
            let octets = from_hex(line["hex"].as_str().unwrap());
            directions.entry(key).or_default().push(octets);
        }
        all.extend(
            directions
                .into_iter()
                .map(|((connection, direction), messages)| Recorded {
                    place: format!("{name}, connection {connection:?}, {direction}"),
                    role: match &*direction {
                        // Raw messages include some that a server does not accept.
                        _ if name.starts_with("bidir") || name == "raw_requests" => Role::Both,
                        "client_to_server" => Role::Server,
                        _ => Role::Client,
                    },
                    messages,
                }),
        );
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

/// Events of the messages when each is decoded by itself, up to the first one that is refused.
fn expected(messages: &[Vec<u8>]) -> (Vec<Event>, Option<HeaderError>) {
    let mut events = Vec::new();
    let mut fragmented = Vec::new();
    for message in messages {
        let header = match MessageHeader::parse(message, usize::MAX) {
            Ok(header) => header,
            Err(error) => return (events, Some(error)),
        };
        // A fragment of GIOP 1.2 repeats the request id behind its header.
        match header.message_type {
            MessageType::Fragment => fragmented.extend_from_slice(&message[HEADER_SIZE + 4..]),
            _ => fragmented.clone_from(message),
        }
        events.push(if header.more_fragments {
            Event::Progress
        } else {
            let size = (fragmented.len() - HEADER_SIZE) as u32;
            fragmented[6] &= !2;
            fragmented[8..HEADER_SIZE].copy_from_slice(&match header.endian {
                Endian::Big => size.to_be_bytes(),
                Endian::Little => size.to_le_bytes(),
            });
            decoded(&fragmented)
        });
    }
    (events, None)
}

fn decoded(message: &[u8]) -> Event {
    let header = MessageHeader::parse(message, usize::MAX).unwrap();
    match header.message_type {
        MessageType::Request => Event::Request(header),
        MessageType::LocateRequest => Event::LocateRequest(header),
        MessageType::Reply => {
            let (reply, offset) = ReplyHeader::decode(message, &header).unwrap();
            Event::Reply(ReceivedReply {
                header,
                request_id: reply.request_id,
                content: ReplyContent::Reply(ReplyBody {
                    status: reply.status,
                    offset,
                }),
            })
        }
        MessageType::LocateReply => Event::Reply(ReceivedReply {
            header,
            request_id: LocateReplyHeader::decode(message, &header).unwrap().request_id,
            content: ReplyContent::LocateReply,
        }),
        MessageType::CancelRequest => Event::Cancelled(decode_cancel_request(message, &header).unwrap()),
        MessageType::CloseConnection => Event::CloseConnection,
        MessageType::MessageError => Event::MessageError,
        MessageType::Fragment => panic!("a whole message"),
    }
}

fn check(recorded: &Recorded, chunks: &[usize]) {
    let (events, refused) = expected(&recorded.messages);
    let mut side = Side::new(recorded.role, Version::V1_2, ConnectionLimits::default());
    // A refused message is fed by itself: chunks would contain what precedes it, whose events an error would
    // hide.
    let accepted = match refused {
        Some(_) => {
            let at = |message: &Vec<u8>| MessageHeader::parse(message, usize::MAX).is_err();
            recorded.messages.iter().position(at).unwrap()
        }
        None => recorded.messages.len(),
    };
    let octets = recorded.messages[..accepted].concat();
    side.incoming.extend(octets);
    let seen = side.events_in_chunks(chunks, Instant::now()).unwrap();
    assert_eq!(kinds(&seen), events, "{}", recorded.place);
    if let Some(error) = refused {
        side.incoming.extend(&recorded.messages[accepted]);
        let reason = side
            .events_in_chunks(&[usize::MAX], Instant::now())
            .unwrap_err()
            .reason;
        assert_eq!(reason, Refusal::Header(error), "{}", recorded.place);
    }
}

#[test]
fn recorded_connections_give_the_events_of_their_messages() {
    for recorded in recorded() {
        for chunks in [&[1][..], &[usize::MAX], &[13, 1, 5000]] {
            check(&recorded, chunks);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn random_chunks_of_recorded_connections_give_the_same_events(
        chunks in proptest::collection::vec(1..600_usize, 1..30),
    ) {
        recorded().iter().for_each(|recorded| check(recorded, &chunks));
    }
}

/// TAO's clients offer what its servers then use: the addresses are stated once, before the first request.
#[test]
fn offers_of_tao_are_reported() {
    let mut offers = 0;
    for recorded in recorded() {
        if !recorded.place.starts_with("bidir") || !recorded.place.ends_with("client_to_server") {
            continue;
        }
        let limits = ConnectionLimits::default();
        let mut receive =
            punctual_giop::connection::ReceiveHalf::new(Role::Server, limits).awaiting_bidirectional_offer();
        for message in recorded.messages {
            let mut rest = &message[..];
            while !rest.is_empty() {
                let space = receive.space();
                let count = space.len().min(rest.len());
                space[..count].copy_from_slice(&rest[..count]);
                receive.received(count);
                rest = &rest[count..];
                while let Some(event) = receive.poll(Instant::now).expect(&recorded.place) {
                    if event == Event::BidirectionalOffer {
                        offers += 1;
                        assert!(!receive.listen_points().is_empty(), "{}", recorded.place);
                        receive.accept_bidirectional();
                    }
                }
            }
        }
    }
    assert!(offers > 0, "no recorded client makes one");
}
