//! Malformed input and the errors with which it is refused.

use punctual_cdr::{
    CdrError, CdrErrorKind, Decoder, Encode, Encoder, Endian, TaggedComponent, TaggedProfile,
};
use punctual_giop::*;

use crate::messages::{VERSIONS, everywhere, header, message, reply, request};

const V1_2: Version = Version::V1_2;

#[test]
fn malformed_headers_are_refused() {
    use HeaderError::*;
    let unsupported = |major, minor| UnsupportedVersion(Version { major, minor });
    let fragments = |version, message_type| CannotBeFragmented {
        version,
        message_type,
    };
    #[rustfmt::skip]
    let table: [(&[u8], HeaderError); 16] = [
        (b"", Incomplete(0)),
        (b"GIOP\x01\x02\x01\x00\0\0\0", Incomplete(11)),
        (b"HTTP/1.1 200", BadMagic(*b"HTTP")),
        (b"giop\x01\x02\x01\x00\0\0\0\0", BadMagic(*b"giop")),
        (b"GIOP\x01\x03\x01\x00\0\0\0\0", unsupported(1, 3)),
        (b"GIOP\x02\x00\x01\x00\0\0\0\0", unsupported(2, 0)),
        (b"GIOP\x00\x02\x01\x00\0\0\0\0", unsupported(0, 2)),
        (b"GIOP\x01\x02\x01\x08\0\0\0\0", UnknownType { version: V1_2, value: 8 }),
        (b"GIOP\x01\x02\x01\xff\0\0\0\0", UnknownType { version: V1_2, value: 255 }),
        (b"GIOP\x01\x00\x01\x07\0\0\0\0", UnknownType { version: Version::V1_0, value: 7 }),
        (b"GIOP\x01\x00\x03\x00\0\0\0\0", fragments(Version::V1_0, MessageType::Request)),
        (b"GIOP\x01\x01\x03\x03\0\0\0\0", fragments(Version::V1_1, MessageType::LocateRequest)),
        (b"GIOP\x01\x02\x03\x02\0\0\0\0", fragments(V1_2, MessageType::CancelRequest)),
        (b"GIOP\x01\x02\x02\x05\0\0\0\0", fragments(V1_2, MessageType::CloseConnection)),
        (b"GIOP\x01\x02\x01\x00\xf5\x03\0\0", TooLarge { size: 1025, limit: 1024 }),
        (b"GIOP\x01\x02\x00\x00\xff\xff\xff\xff", TooLarge { size: 0x1_0000_000b, limit: 1024 }),
    ];
    for (octets, error) in table {
        assert_eq!(MessageHeader::parse(octets, 1024), Err(error), "{octets:?}");
    }
    let accepted = MessageHeader::parse(b"GIOP\x01\x02\x01\x00\xf4\x03\0\0", 1024).unwrap();
    assert_eq!(accepted.total_size(), 1024);
}

#[test]
fn malformed_requests_are_refused_with_kind_and_offset() {
    use CdrErrorKind::*;
    let error = |version, write: &dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError>| {
        let message = message(version, MessageType::Request, Endian::Little, |encoder| {
            write(encoder).unwrap()
        });
        RequestHeader::decode(&message, &header(&message))
            .map(|_| ())
            .map_err(|error| (error.kind, error.offset))
    };
    // Service contexts, request id, response expected, reserved, key, operation, principal.
    let old = |contexts: u32, response: u8, operation: &'static [u8], principal: u32| {
        error(Version::V1_1, &|encoder| {
            (
                contexts,
                1_u32,
                (response, 0_u8, 0_u8, 0_u8),
                b"key!".as_slice(),
                operation,
                principal,
            )
                .encode(encoder)
        })
    };
    assert_eq!(old(0, 1, b"op\0", 0), Ok(()));
    assert_eq!(old(0x1000_0000, 1, b"op\0", 0), Err((LengthImpossible, 16)));
    assert_eq!(old(0, 2, b"op\0", 0), Err((BooleanInvalid, 21)));
    assert_eq!(old(0, 1, b"op", 0), Err((StringUnterminated, 38)));
    assert_eq!(old(0, 1, b"o\0p\0", 0), Err((StringUnterminated, 40)));
    assert_eq!(old(0, 1, b"\xff\0", 0), Err((TextInvalid, 38)));
    assert_eq!(old(0, 1, b"op\0", 1), Err((LengthImpossible, 44)));
    // Request id, flags, addressing disposition, key, operation, service contexts with one of data.
    let new = |disposition: u16, key_length: u32, contexts: u32, data_length: u32| {
        error(V1_2, &|encoder| {
            (
                1_u32,
                3_u32,
                disposition,
                key_length,
                *b"key!",
                b"op\0".as_slice(),
            )
                .encode(encoder)?;
            (contexts, 10_u32, data_length, *b"data").encode(encoder)
        })
    };
    assert_eq!(new(0, 4, 1, 4), Ok(()));
    assert_eq!(new(3, 4, 1, 4), Err((EnumOutOfRange, 22)));
    assert_eq!(new(0, 0xffff_ffff, 1, 4), Err((LengthImpossible, 28)));
    assert_eq!(new(0, 4, 2, 4), Err((LengthImpossible, 44)));
    assert_eq!(new(0, 4, 1, 5), Err((LengthImpossible, 52)));
}

#[test]
fn a_header_larger_than_the_message_is_refused() {
    let message = request(V1_2, Endian::Little, 5_i32);
    let longer = MessageHeader {
        size: u32::MAX,
        ..header(&message)
    };
    let truncated = Err(CdrError {
        kind: CdrErrorKind::Truncated,
        offset: message.len(),
    });
    assert_eq!(RequestHeader::decode(&message, &longer), truncated);
}

#[test]
fn data_after_the_message_is_not_decoded() {
    everywhere(|version, endian| {
        let message = message(version, MessageType::LocateRequest, endian, |encoder| {
            encode_locate_request(encoder, version, 3, TargetAddress::Key(b"key")).unwrap();
        });
        let header = header(&message);
        let mut with_next = message.clone();
        with_next.extend_from_slice(&message);
        for cut in 0..message.len() - HEADER_SIZE {
            let short = MessageHeader {
                size: cut as u32,
                ..header
            };
            LocateRequestHeader::decode(&with_next, &short).unwrap_err();
        }
        LocateRequestHeader::decode(&with_next, &header).unwrap();
    });
}

#[test]
fn messages_truncated_in_their_headers_are_refused() {
    everywhere(|version, endian| {
        let refused = |message: &[u8], end: usize, decode: &dyn Fn(&[u8], &MessageHeader) -> bool| {
            let cut = MessageHeader {
                size: (end - HEADER_SIZE) as u32,
                ..header(message)
            };
            assert!(!decode(&message[..end], &cut), "{cut:?}");
            // The same with the original size in the header.
            assert!(!decode(&message[..end], &header(message)));
        };
        let empty = request(version, endian, ());
        for end in HEADER_SIZE..empty.len() {
            refused(&empty, end, &|octets, header| {
                RequestHeader::decode(octets, header).is_ok()
            });
        }
        let empty = reply(version, endian, ReplyStatus::NoException, ());
        for end in HEADER_SIZE..empty.len() {
            refused(&empty, end, &|octets, header| {
                ReplyHeader::decode(octets, header).is_ok()
            });
        }
        let locate = message(version, MessageType::LocateReply, endian, |encoder| {
            encode_locate_reply(encoder, version, 3, LocateStatus::ObjectForward).unwrap();
            crate::messages::an_ior().encode(encoder).unwrap();
        });
        for end in HEADER_SIZE..locate.len() {
            refused(&locate, end, &|octets, header| {
                LocateReplyHeader::decode(octets, header).is_ok_and(|reply| reply.forward().is_ok())
            });
        }
    });
}

#[test]
fn statuses_and_completions_out_of_range_are_refused() {
    for version in VERSIONS {
        let status = |message_type, status: u32| {
            message(
                version,
                message_type,
                Endian::Little,
                |encoder| match message_type {
                    MessageType::Reply if version < V1_2 => (0_u32, 1_u32, status).encode(encoder).unwrap(),
                    MessageType::Reply => (1_u32, status, 0_u32).encode(encoder).unwrap(),
                    _ => (1_u32, status).encode(encoder).unwrap(),
                },
            )
        };
        let known = if version == V1_2 { 6 } else { 4 };
        for value in [0, 1, 2, 3, 4, 5, 6, u32::MAX] {
            let reply = status(MessageType::Reply, value);
            assert_eq!(
                ReplyHeader::decode(&reply, &header(&reply)).is_ok(),
                value < known
            );
            let locate = status(MessageType::LocateReply, value);
            let known = if version == V1_2 { 6 } else { 3 };
            assert_eq!(
                LocateReplyHeader::decode(&locate, &header(&locate)).is_ok(),
                value < known
            );
        }
    }
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    ("IDL:omg.org/CORBA/UNKNOWN:1.0", 0_u32, 3_u32)
        .encode(&mut encoder)
        .unwrap();
    let error = decode_system_exception(&mut Decoder::new(&octets, Endian::Little)).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::EnumOutOfRange);
    for end in 0..octets.len() {
        decode_system_exception(&mut Decoder::new(&octets[..end], Endian::Little)).unwrap_err();
    }
    // An id without its NUL, and one of length 0.
    for id in [b"x".as_slice(), b""] {
        let mut octets = Vec::new();
        (id, 0_u32, 0_u32)
            .encode(&mut Encoder::new(&mut octets, Endian::Little))
            .unwrap();
        let error = decode_system_exception(&mut Decoder::new(&octets, Endian::Little)).unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::StringUnterminated);
    }
}

#[test]
fn an_offer_of_many_addresses_costs_its_receiver_no_more_than_sixteen() {
    let context = |points: &[(&str, u16)]| {
        let mut octets = vec![1, 0, 0, 0];
        points
            .encode(&mut Encoder::new(&mut octets, Endian::Little))
            .unwrap();
        octets
    };
    let points = decode_listen_points(&context(&vec![("host", 1); 100_000])).unwrap();
    assert_eq!((points.len(), points.capacity()), (16, 16));
    let long = "h".repeat(256);
    let points = decode_listen_points(&context(&[(&long, 1), (&long[1..], 2)])).unwrap();
    assert_eq!(points.iter().map(|point| point.port).collect::<Vec<_>>(), [2]);
}

#[test]
fn truncated_service_contexts_are_refused() {
    for data in [b"".as_slice(), b"\x01", b"\x01\0", b"\x01\0\x01"] {
        decode_priority(data).unwrap_err();
        decode_code_sets(data).unwrap_err();
        decode_listen_points(data).unwrap_err();
        decode_priority_range(data).unwrap_err();
    }
    for data in [b"\x01\0\x01\0".as_slice(), b"\0\0\0\x01\0"] {
        decode_priority_range(data).unwrap_err();
    }
    assert_eq!(decode_priority(&[0, 0xff, 0x80, 0]), Ok(i16::MIN));
}

#[test]
fn a_malformed_profile_has_no_object_key() {
    let profile = IiopProfile {
        version: V1_2,
        host: "radar".into(),
        port: 1,
        object_key: b"key".into(),
        components: vec![],
    };
    let tagged = profile.encode().unwrap();
    // The key ends before the count of components.
    let key_end = tagged.data.len() - 5;
    for end in 0..tagged.data.len() {
        let view = ProfileView {
            tag: TAG_INTERNET_IOP,
            data: &tagged.data[..end],
        };
        assert_eq!(view.object_key().is_some(), end >= key_end, "{end}");
    }
    let mut other_major = tagged.data.clone();
    other_major[1] = 2;
    assert_eq!(
        ProfileView {
            tag: TAG_INTERNET_IOP,
            data: &other_major
        }
        .object_key(),
        None
    );
}

#[test]
fn impossible_lengths_in_references_are_refused_before_memory_is_reserved() {
    let data = vec![1, 1, 2, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0];
    let error = IiopProfile::decode(&TaggedProfile {
        tag: TAG_INTERNET_IOP,
        data,
    })
    .unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::LengthImpossible);
    for tag in [TAG_POLICIES, TAO_TAG_ENDPOINTS] {
        let data = vec![1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0];
        let error = Component::decode(&TaggedComponent { tag, data }).unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::LengthImpossible);
    }
    let data = vec![
        1, 0, 0, 0, 1, 0, 0, 0, 40, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0,
    ];
    let error = Component::decode(&TaggedComponent {
        tag: TAG_POLICIES,
        data,
    })
    .unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::EnumOutOfRange);
}
