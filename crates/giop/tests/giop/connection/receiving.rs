//! Messages become events: in every version and byte order, however the octets are split.

use std::time::Instant;

use proptest::{collection::vec, prelude::*};
use punctual_cdr::{CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian, Text, WString};
use punctual_giop::{
    connection::{Event, ReceivedReply, Refusal, ReplyBody, ReplyContent, Role},
    *,
};

use super::pair::{Pair, Side, cancel, kinds, limits, locate_reply, locate_request, reply, request};
use crate::messages::{ORDERS, VERSIONS, everywhere, header, message};

#[test]
fn every_message_of_a_client_is_an_event_octet_by_octet() {
    everywhere(|version, endian| {
        let mut pair = Pair::new(version);
        let messages = [
            request(version, endian, 1, None),
            locate_request(version, endian, 2),
            cancel(version, 1),
        ];
        messages.iter().for_each(|message| pair.send_to_server(message));
        let seen = pair.server_events(1).unwrap();
        assert_eq!(
            kinds(&seen),
            [
                Event::Request(header(&messages[0])),
                Event::LocateRequest(header(&messages[1])),
                Event::Cancelled(1),
            ]
        );
        assert_eq!((&seen[0].message, &seen[1].message), (&messages[0], &messages[1]));
        assert!(pair.server.connection.receive.is_idle());
    });
}

#[test]
fn every_message_of_a_server_is_an_event_octet_by_octet() {
    everywhere(|version, endian| {
        let mut pair = Pair::new(version);
        let messages = [reply(version, endian, 1), locate_reply(version, endian, 2)];
        messages.iter().for_each(|message| pair.send_to_client(message));
        let seen = pair.client_events(1).unwrap();
        let (_, offset) = ReplyHeader::decode(&messages[0], &header(&messages[0])).unwrap();
        assert_eq!(
            kinds(&seen),
            [
                Event::Reply(ReceivedReply {
                    header: header(&messages[0]),
                    request_id: 1,
                    content: ReplyContent::Reply(ReplyBody {
                        status: ReplyStatus::UserException,
                        offset,
                    }),
                }),
                Event::Reply(ReceivedReply {
                    header: header(&messages[1]),
                    request_id: 2,
                    content: ReplyContent::LocateReply,
                }),
            ]
        );
        assert_eq!((&seen[0].message, &seen[1].message), (&messages[0], &messages[1]));
    });
}

#[test]
fn another_protocol_is_refused_at_its_first_octet() {
    for (octets, magic) in [
        (&b"S"[..], Some([b'S', 0, 0, 0])),
        (b"GIF8", Some(*b"GIF8")),
        (b"GIO", None),
        (b"GIOP", None),
    ] {
        let mut side = Side::new(Role::Server, Version::V1_0, limits());
        side.incoming.extend(octets);
        let refused = side
            .events(usize::MAX, Instant::now())
            .map_err(|refused| refused.reason);
        assert_eq!(
            refused.err(),
            magic.map(|magic| Refusal::Header(HeaderError::BadMagic(magic)))
        );
    }
}

#[test]
fn a_message_remains_until_the_next_poll() {
    let mut pair = Pair::new(Version::V1_2);
    let first = request(Version::V1_2, Endian::Little, 1, None);
    let second = locate_request(Version::V1_2, Endian::Big, 2);
    pair.send_to_server(&[first.as_slice(), &second].concat());
    pair.server.read(usize::MAX);
    let now = pair.now;
    let receive = &mut pair.server.connection.receive;
    assert!(receive.message().is_empty());
    assert_eq!(
        receive.poll(|| now).unwrap(),
        Some(Event::Request(header(&first)))
    );
    assert_eq!((receive.message(), receive.has_message()), (&*first, true));
    assert_eq!(
        receive.poll(|| now).unwrap(),
        Some(Event::LocateRequest(header(&second)))
    );
    assert_eq!((receive.message(), receive.has_message()), (&*second, false));
    let (mut taken, mut starts) = (Vec::new(), Vec::new());
    receive.take(&mut taken, &mut starts);
    assert_eq!(
        (&taken[..second.len()], receive.message()),
        (&*second, [].as_slice())
    );
    assert_eq!(receive.poll(|| now).unwrap(), None);
}

#[test]
fn a_taken_message_costs_no_memory_once_buffers_are_warm() {
    let mut pair = Pair::new(Version::V1_2);
    let message = request(Version::V1_2, Endian::Little, 1, None);
    let (mut taken, mut starts) = (Vec::new(), Vec::new());
    let mut memory = Vec::new();
    for _ in 0..6 {
        pair.send_to_server(&message);
        pair.server.read(usize::MAX);
        let now = pair.now;
        pair.server.connection.receive.poll(|| now).unwrap().unwrap();
        pair.server.connection.receive.take(&mut taken, &mut starts);
        memory.push((taken.as_ptr(), taken.capacity()));
    }
    // The two buffers change places.
    assert_eq!((memory[2], memory[3]), (memory[4], memory[5]));
    assert_ne!(memory[2], memory[3]);
}

const EUC_JP: u32 = 0x0003_0010;
const WINDOWS_1252: u32 = 0x1002_04e4;

#[test]
fn the_first_request_that_announces_code_sets_determines_them() {
    everywhere(|version, endian| {
        let mut pair = Pair::new(version);
        let announced = [
            (None, CharSet::Latin1),
            (Some(UTF_8), CharSet::Utf8),
            (Some(ISO_8859_1), CharSet::Utf8),
        ];
        for (id, (char_set, in_force)) in announced.into_iter().enumerate() {
            pair.send_to_server(&request(version, endian, id as u32, char_set));
            pair.server_events(7).unwrap();
            assert_eq!(pair.server.connection.receive.char_set(), in_force);
        }
    });
    // Another one, a set that this side does not have, and none.
    for (announced, in_force) in [
        (WINDOWS_1252, CharSet::Windows1252),
        (EUC_JP, CharSet::Ascii),
        (0, CharSet::Latin1),
    ] {
        let mut pair = Pair::new(Version::V1_2);
        pair.send_to_server(&request(Version::V1_2, Endian::Big, 0, Some(announced)));
        pair.send_to_server(&request(Version::V1_2, Endian::Big, 1, Some(UTF_8)));
        pair.server_events(7).unwrap();
        assert_eq!(pair.server.connection.receive.char_set(), in_force);
    }
}

/// ASCII is the same in every code set for `char`.
#[test]
fn of_text_in_an_unknown_code_set_ascii_is_understood() {
    let mut pair = Pair::new(Version::V1_2);
    pair.send_to_server(&request(Version::V1_2, Endian::Big, 1, Some(EUC_JP)));
    pair.server_events(7).unwrap();
    let char_set = pair.server.connection.receive.char_set();
    let decoded = |octets: &[u8]| {
        let text = Text::decode(&mut Decoder::new(octets, Endian::Big).with_char_set(char_set));
        text.map(drop).map_err(|error| error.kind)
    };
    assert_eq!(decoded(b"\0\0\0\x04abc\0"), Ok(()));
    assert_eq!(decoded(b"\0\0\0\x03\xa4\xa2\0"), Err(CdrErrorKind::TextInvalid));
}

#[test]
fn wide_text_in_an_unknown_code_set_is_refused() {
    const UCS_4: u32 = 0x0001_0106;
    for (wchar, refused) in [(UTF_16, false), (0, false), (UCS_4, true)] {
        let mut pair = Pair::new(Version::V1_2);
        pair.send_to_server(&announcing(wchar));
        pair.server_events(7).unwrap();
        let code_sets = pair.server.connection.receive.code_sets();
        assert_eq!(code_sets.char, CharSet::Utf8);
        let decoder = Decoder::new(b"\0\0\0\x04\0a\0b", Endian::Big).with_code_sets(code_sets);
        let text = <WString>::decode(&mut decoder.clone()).map(WString::into_inner);
        let passed = WString::pass(&mut decoder.clone(), None);
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Big).with_code_sets(code_sets);
        let sent = <WString>::from("ab").encode(&mut encoder);
        if refused {
            assert_eq!(text.map_err(|error| error.kind), Err(CdrErrorKind::TextInvalid));
            assert_eq!(passed.map_err(|error| error.kind), Err(CdrErrorKind::TextInvalid));
            assert_eq!(
                sent.map_err(|error| error.kind),
                Err(CdrErrorKind::TextNotInCodeSet)
            );
        } else {
            assert_eq!((text.as_deref(), passed, sent), (Ok("ab"), Ok(2), Ok(())));
        }
    }
}

/// A request that announces UTF-8, and this code set for wide text.
fn announcing(wchar: u32) -> Vec<u8> {
    message(Version::V1_2, MessageType::Request, Endian::Big, |encoder| {
        let request = OutgoingRequest {
            request_id: 1,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"key"),
            operation: "cube",
            contexts: &[ServiceContext::CodeSets { char: UTF_8, wchar }],
        };
        encode_request(encoder, Version::V1_2, &request).unwrap();
    })
}

#[test]
fn a_client_knows_the_code_set_and_announces_it_once() {
    let mut side = Side::new(Role::Client, Version::V1_2, limits());
    assert!(!side.connection.send.announces_code_sets());
    side.connection = side.connection.with_char_set(CharSet::Utf8, true);
    assert_eq!(side.connection.receive.char_set(), CharSet::Utf8);
    assert!(side.connection.send.announces_code_sets());
    side.connection.send.request_sent();
    assert!(!side.connection.send.announces_code_sets());
}

fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let version = proptest::sample::select(&VERSIONS[..]);
    let order = proptest::sample::select(&ORDERS[..]);
    (version, order, any::<u32>(), 0..5_u8).prop_map(|(version, order, id, kind)| match kind {
        0 => request(version, order, id, None),
        1 => request(version, order, id, Some(UTF_8)),
        2 => locate_request(version, order, id),
        3 => cancel(version, id),
        _ => reply(version, order, id),
    })
}

proptest! {
    #[test]
    fn chunks_do_not_change_events(
        messages in vec(any_message(), 0..12),
        chunks in vec(1..200_usize, 1..20),
    ) {
        let octets = messages.concat();
        let events = |chunks: &[usize]| {
            let mut side = Side::new(Role::Both, Version::V1_2, limits());
            side.incoming.extend(&octets);
            side.events_in_chunks(chunks, Instant::now()).unwrap()
        };
        let in_chunks = events(&chunks);
        prop_assert_eq!(in_chunks.len(), messages.len());
        prop_assert_eq!(&in_chunks, &events(&[1]));
        prop_assert_eq!(&in_chunks, &events(&[usize::MAX]));
    }

    #[test]
    fn arbitrary_octets_are_refused_at_the_same_place_however_they_are_split(
        messages in vec(any_message(), 0..4),
        at in any::<proptest::sample::Index>(),
        value: u8,
        chunks in vec(1..40_usize, 1..8),
    ) {
        let mut octets = messages.concat();
        if !octets.is_empty() {
            let at = at.index(octets.len());
            octets[at] = value;
        }
        let outcome = |chunks: &[usize]| {
            let mut side = Side::new(Role::Both, Version::V1_2, limits());
            side.incoming.extend(&octets);
            side.events_in_chunks(chunks, Instant::now())
                .map_err(|refused| refused.reason.to_string())
        };
        let whole = outcome(&[usize::MAX]);
        let split = outcome(&chunks);
        match (&whole, &split) {
            (Ok(whole), Ok(split)) => prop_assert_eq!(whole, split),
            // A wrong magic is seen with its first wrong octet, and the octets behind it are not.
            (Err(_), Err(_)) => {}
            _ => prop_assert!(false, "{whole:?}, in chunks {split:?}"),
        }
    }
}
