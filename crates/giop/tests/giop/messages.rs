//! Round trips of messages in every version and both byte orders, and exact octets.

use punctual_cdr::{CharSet, Decode, Decoder, Encode, Encoder, Endian, Ior, TaggedProfile};
use punctual_giop::*;
use punctual_types::{Completion, SystemException, SystemExceptionKind};

pub const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];
pub const ORDERS: [Endian; 2] = [Endian::Big, Endian::Little];
const CONTEXTS: [ServiceContext<'static>; 3] = [
    ServiceContext::Raw {
        id: RT_SCHEDULING,
        data: &[1, 2, 3],
    },
    ServiceContext::Priority(10_922),
    ServiceContext::CodeSets {
        char: UTF_8,
        wchar: UTF_16,
    },
];

/// Returns a message with the output of `write` after its header, encoded at an odd offset of a longer
/// buffer.
pub fn message(
    version: Version,
    message_type: MessageType,
    endian: Endian,
    write: impl FnOnce(&mut Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = b"odd".to_vec();
    let mut writer = MessageWriter::new(
        &mut buffer,
        version,
        message_type,
        endian,
        CharSet::Utf8,
        usize::MAX,
    );
    write(writer.encoder());
    writer.finish().unwrap();
    buffer.split_off(3)
}

pub fn header(message: &[u8]) -> MessageHeader {
    let header = MessageHeader::parse(message, message.len()).unwrap();
    assert_eq!(header.total_size(), message.len());
    header
}

/// The header of the message at the start of `octets`, if it is acceptable and complete.
pub fn whole(octets: &[u8]) -> Option<MessageHeader> {
    let header = MessageHeader::parse(octets, 1 << 16).ok()?;
    (header.total_size() <= octets.len()).then_some(header)
}

/// Runs `test` with every version and byte order.
pub fn everywhere(test: impl Fn(Version, Endian)) {
    for version in VERSIONS {
        for endian in ORDERS {
            test(version, endian);
        }
    }
}

pub fn request(version: Version, endian: Endian, body: impl Encode) -> Vec<u8> {
    message(version, MessageType::Request, endian, |encoder| {
        let request = OutgoingRequest {
            request_id: 7,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"some key"),
            operation: "cube",
            contexts: &CONTEXTS,
        };
        encode_request(encoder, version, &request).unwrap();
        let mark = begin_body(encoder, version).unwrap();
        body.encode(encoder).unwrap();
        end_body(encoder, mark);
    })
}

pub fn reply(version: Version, endian: Endian, status: ReplyStatus, body: impl Encode) -> Vec<u8> {
    message(version, MessageType::Reply, endian, |encoder| {
        encode_reply_header(encoder, version, 7, status, &CONTEXTS).unwrap();
        let mark = begin_body(encoder, version).unwrap();
        body.encode(encoder).unwrap();
        end_body(encoder, mark);
    })
}

pub fn an_ior() -> Ior {
    Ior {
        type_id: "IDL:Radar:1.0".into(),
        profiles: vec![TaggedProfile {
            tag: 9,
            data: vec![1, 2, 3],
        }],
    }
}

fn assert_contexts(contexts: &ServiceContexts<'_>) {
    assert_eq!(contexts.len(), 3);
    assert_eq!(contexts.find(RT_SCHEDULING), Some([1, 2, 3].as_slice()));
    assert_eq!(
        decode_priority(contexts.find(RT_CORBA_PRIORITY).unwrap()),
        Ok(10_922)
    );
    assert_eq!(
        decode_code_sets(contexts.find(CODE_SETS).unwrap()),
        Ok((UTF_8, UTF_16))
    );
    assert_eq!(contexts.find(BI_DIR_IIOP), None);
    assert_eq!(contexts.iter().map(|(id, _)| id).collect::<Vec<_>>(), [30, 10, 1]);
}

#[test]
fn requests_round_trip() {
    everywhere(|version, endian| {
        for body in [None, Some(-5_i64)] {
            let message = match body {
                Some(number) => request(version, endian, number),
                None => request(version, endian, ()),
            };
            let header = header(&message);
            assert_eq!(
                (header.version, header.endian, header.total_size()),
                (version, endian, message.len())
            );
            let (request, offset) = RequestHeader::decode(&message, &header).unwrap();
            assert_eq!(
                (request.request_id, request.response),
                (7, ResponseFlags::WithTarget)
            );
            assert_eq!(
                (request.target, request.operation),
                (Target::Key(b"some key"), "cube")
            );
            assert_contexts(&request.contexts);
            let mut decoder = Decoder::new(&message, endian).at(offset);
            match body {
                Some(number) => assert_eq!(i64::decode(&mut decoder), Ok(number)),
                None => assert_eq!(offset, message.len()),
            }
            assert_eq!(decoder.remaining(), 0);
        }
    });
}

#[test]
fn a_body_of_giop_1_2_is_aligned_to_8_and_an_empty_one_has_no_padding() {
    let offsets: Vec<_> = (0..8)
        .map(|length| {
            let write = |body: Option<u8>| {
                message(Version::V1_2, MessageType::Request, Endian::NATIVE, |encoder| {
                    let request = OutgoingRequest {
                        request_id: 1,
                        response: ResponseFlags::None,
                        target: TargetAddress::Key(&[7; 8][..length]),
                        operation: "o",
                        contexts: &[],
                    };
                    encode_request(encoder, Version::V1_2, &request).unwrap();
                    let mark = begin_body(encoder, Version::V1_2).unwrap();
                    body.into_iter().for_each(|octet| octet.encode(encoder).unwrap());
                    end_body(encoder, mark);
                })
            };
            let (empty, full) = (write(None), write(Some(1)));
            let (_, offset) = RequestHeader::decode(&full, &header(&full)).unwrap();
            assert_eq!(offset, empty.len().next_multiple_of(8));
            assert_eq!(full.len(), offset + 1);
            assert_eq!(
                RequestHeader::decode(&empty, &header(&empty)).unwrap().1,
                empty.len()
            );
            (empty.len(), offset)
        })
        .collect();
    assert_eq!(offsets[0], (40, 40));
    assert_eq!(offsets[1], (44, 48));
}

#[test]
fn response_flags_round_trip_as_far_as_the_version_supports_them() {
    everywhere(|version, endian| {
        for response in [
            ResponseFlags::None,
            ResponseFlags::WithServer,
            ResponseFlags::WithTarget,
        ] {
            let message = message(version, MessageType::Request, endian, |encoder| {
                let request = OutgoingRequest {
                    request_id: 1,
                    response,
                    target: TargetAddress::Key(b"k"),
                    operation: "o",
                    contexts: &[],
                };
                encode_request(encoder, version, &request).unwrap();
            });
            let (request, _) = RequestHeader::decode(&message, &header(&message)).unwrap();
            assert_eq!(request.response.expects_reply(), response.expects_reply());
            if version == Version::V1_2 {
                assert_eq!(request.response, response);
            }
        }
    });
}

#[test]
fn replies_round_trip_and_statuses_of_1_2_are_refused_in_earlier_versions() {
    use ReplyStatus::*;
    everywhere(|version, endian| {
        for status in [NoException, UserException, SystemException, LocationForward] {
            let message = reply(version, endian, status, 2.5_f64);
            let (reply, body) = ReplyHeader::decode(&message, &header(&message)).unwrap();
            assert_eq!((reply.request_id, reply.status), (7, status));
            assert_contexts(&reply.contexts);
            assert_eq!(f64::decode(&mut Decoder::new(&message, endian).at(body)), Ok(2.5));
        }
        for status in [LocationForwardPerm, NeedsAddressingMode] {
            let mut buffer = Vec::new();
            let encoded =
                encode_reply_header(&mut Encoder::new(&mut buffer, endian), version, 7, status, &[]);
            assert_eq!(encoded.is_ok(), version == Version::V1_2);
            let message = message(version, MessageType::Reply, endian, |encoder| {
                (0_u32, 7_u32, status as u32).encode(encoder).unwrap();
            });
            if version != Version::V1_2 {
                ReplyHeader::decode(&message, &header(&message)).unwrap_err();
            }
        }
    });
}

#[test]
fn system_exceptions_round_trip() {
    for endian in ORDERS {
        for kind in SystemExceptionKind::ALL {
            for completed in [Completion::Yes, Completion::No, Completion::Maybe] {
                let exception = SystemException::new(*kind, 0x4f4d_0002, completed);
                let mut octets = Vec::new();
                encode_system_exception(&mut Encoder::new(&mut octets, endian), &exception).unwrap();
                let mut decoder = Decoder::new(&octets, endian);
                assert_eq!(decode_system_exception(&mut decoder), Ok(exception));
                assert_eq!(decoder.remaining(), 0);
            }
        }
    }
}

#[test]
fn a_non_standard_system_exception_is_unknown_with_its_minor_code() {
    for id in ["IDL:omg.org/CORBA/NEW_ONE:1.0", "IDL:acme.com/Ø:1.0", ""] {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Big);
        (id, 5_u32, 2_u32).encode(&mut encoder).unwrap();
        let exception = decode_system_exception(&mut Decoder::new(&octets, Endian::Big)).unwrap();
        assert_eq!(
            exception,
            SystemException::new(SystemExceptionKind::Unknown, 5, Completion::Maybe)
        );
    }
}

#[test]
fn locate_messages_round_trip() {
    use LocateStatus::*;
    everywhere(|version, endian| {
        let request = message(version, MessageType::LocateRequest, endian, |encoder| {
            encode_locate_request(encoder, version, 3, TargetAddress::Key(b"key")).unwrap();
        });
        let request = LocateRequestHeader::decode(&request, &header(&request)).unwrap();
        assert_eq!((request.request_id, request.target), (3, Target::Key(b"key")));
        for status in [
            UnknownObject,
            ObjectHere,
            ObjectForward,
            ObjectForwardPerm,
            SystemException,
            NeedsAddressingMode,
        ] {
            let mut buffer = Vec::new();
            let encoded = encode_locate_reply(&mut Encoder::new(&mut buffer, endian), version, 3, status);
            assert_eq!(encoded.is_ok(), status.exists_in(version));
            if encoded.is_err() {
                continue;
            }
            let exception =
                punctual_types::SystemException::new(SystemExceptionKind::NoPermission, 1, Completion::No);
            let message = message(version, MessageType::LocateReply, endian, |encoder| {
                encode_locate_reply(encoder, version, 3, status).unwrap();
                match status {
                    UnknownObject | ObjectHere => {}
                    ObjectForward | ObjectForwardPerm => an_ior().encode(encoder).unwrap(),
                    SystemException => encode_system_exception(encoder, &exception).unwrap(),
                    NeedsAddressingMode => AddressingDisposition::ReferenceAddr.encode(encoder).unwrap(),
                }
            });
            let reply = LocateReplyHeader::decode(&message, &header(&message)).unwrap();
            assert_eq!(
                (reply.request_id, reply.status, reply.body_offset()),
                (3, status, 20)
            );
            match status {
                UnknownObject | ObjectHere => assert_eq!(message.len(), 20),
                ObjectForward | ObjectForwardPerm => assert_eq!(reply.forward(), Ok(an_ior())),
                SystemException => assert_eq!(reply.system_exception(), Ok(exception)),
                NeedsAddressingMode => {
                    assert_eq!(reply.addressing_mode(), Ok(AddressingDisposition::ReferenceAddr));
                }
            }
        }
    });
}

#[test]
fn a_locate_reply_of_giop_1_2_may_be_aligned_to_8() {
    for endian in ORDERS {
        let message = message(Version::V1_2, MessageType::LocateReply, endian, |encoder| {
            encode_locate_reply(encoder, Version::V1_2, 3, LocateStatus::ObjectForward).unwrap();
            encoder.align(8).unwrap();
            an_ior().encode(encoder).unwrap();
        });
        let reply = LocateReplyHeader::decode(&message, &header(&message)).unwrap();
        assert_eq!(reply.forward(), Ok(an_ior()));
    }
}

#[test]
fn a_target_can_be_a_profile_or_a_reference() {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "radar".into(),
        port: 2809,
        object_key: b"the key".into(),
        components: vec![],
    };
    for endian in ORDERS {
        let tagged = profile.encode_in(endian).unwrap();
        let by_profile = message(Version::V1_2, MessageType::LocateRequest, endian, |encoder| {
            (3_u32, AddressingDisposition::ProfileAddr, &tagged)
                .encode(encoder)
                .unwrap();
        });
        let by_profile = LocateRequestHeader::decode(&by_profile, &header(&by_profile)).unwrap();
        assert_eq!(by_profile.target.object_key(), Some(b"the key".as_slice()));
        let ior = Ior {
            type_id: "IDL:X:1.0".into(),
            profiles: vec![TaggedProfile::default(), tagged.clone()],
        };
        for (index, key) in [
            (0, None),
            (1, Some(b"the key".as_slice())),
            (2, None),
            (u32::MAX, None),
        ] {
            let message = message(Version::V1_2, MessageType::LocateRequest, endian, |encoder| {
                (3_u32, AddressingDisposition::ReferenceAddr, index, &ior)
                    .encode(encoder)
                    .unwrap();
            });
            let request = LocateRequestHeader::decode(&message, &header(&message)).unwrap();
            assert_eq!(request.target.object_key(), key);
            let Target::Reference { ior: view, .. } = request.target else {
                panic!("{:?}", request.target)
            };
            assert_eq!(view.to_ior(), ior);
        }
    }
}

#[test]
fn the_object_key_of_a_unix_socket_profile_is_found() {
    let profile = Profile {
        tag: TAG_UIOP,
        version: Version::V1_2,
        address: String::from("/run/radar.sock"),
        object_key: b"the key".into(),
        components: vec![],
    };
    let tagged = profile.encode_with(Endian::NATIVE, String::encode).unwrap();
    assert_eq!(Profile::decode_with(&tagged, String::decode), Ok(profile));
    let view = ProfileView {
        tag: tagged.tag,
        data: &tagged.data,
    };
    assert_eq!(view.object_key(), Some(b"the key".as_slice()));
    assert_eq!(ProfileView { tag: 77, ..view }.object_key(), None);
}

#[test]
fn exact_octets_of_short_messages() {
    let endian = Endian::NATIVE.flag();
    let mut buffer = Vec::new();
    write_close_connection(&mut buffer, Version::V1_0);
    assert_eq!(buffer, [b'G', b'I', b'O', b'P', 1, 0, endian, 5, 0, 0, 0, 0]);
    buffer.clear();
    write_message_error(&mut buffer, Version::V1_2);
    assert_eq!(buffer, [b'G', b'I', b'O', b'P', 1, 2, endian, 6, 0, 0, 0, 0]);
    buffer.clear();
    write_cancel_request(&mut buffer, Version::V1_1, 7);
    assert_eq!(decode_cancel_request(&buffer, &header(&buffer)), Ok(7));
    let little = [b'G', b'I', b'O', b'P', 1, 1, 1, 2, 4, 0, 0, 0, 7, 0, 0, 0];
    assert_eq!(decode_cancel_request(&little, &header(&little)), Ok(7));
}

#[test]
fn exact_octets_of_a_giop_1_2_request() {
    let message = message(Version::V1_2, MessageType::Request, Endian::Little, |encoder| {
        let request = OutgoingRequest {
            request_id: 1,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"key"),
            operation: "op",
            contexts: &[ServiceContext::Priority(10_922)],
        };
        encode_request(encoder, Version::V1_2, &request).unwrap();
        let body = begin_body(encoder, Version::V1_2).unwrap();
        0x55_u8.encode(encoder).unwrap();
        end_body(encoder, body);
    });
    #[rustfmt::skip]
    let expected = [
        b'G', b'I', b'O', b'P', 1, 2, 1, 0, 45, 0, 0, 0,
        1, 0, 0, 0, 3, 0, 0, 0,
        0, 0, 0, 0, 3, 0, 0, 0, b'k', b'e', b'y', 0,
        3, 0, 0, 0, b'o', b'p', 0, 0,
        1, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0xaa, 0x2a,
        0x55,
    ];
    assert_eq!(message, expected);
}

#[test]
fn exact_octets_of_service_contexts() {
    let encoded = |context: ServiceContext<'_>, endian| {
        let mut octets = Vec::new();
        context.encode(&mut Encoder::new(&mut octets, endian)).unwrap();
        octets
    };
    assert_eq!(
        encoded(ServiceContext::Priority(10_922), Endian::Little),
        [10, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0xaa, 0x2a]
    );
    assert_eq!(
        encoded(ServiceContext::Priority(10_922), Endian::Big),
        [0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0x2a, 0xaa]
    );
    assert_eq!(
        encoded(
            ServiceContext::CodeSets {
                char: ISO_8859_1,
                wchar: UTF_16
            },
            Endian::Little
        ),
        [1, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 9, 1, 1, 0]
    );
    assert_eq!(
        encoded(
            ServiceContext::Raw {
                id: 30,
                data: &[4, 0]
            },
            Endian::Big
        ),
        [0, 0, 0, 30, 0, 0, 0, 2, 4, 0]
    );
}

#[test]
fn an_abandoned_message_leaves_the_buffer_unchanged() {
    let mut buffer = b"before".to_vec();
    let mut writer = MessageWriter::new(
        &mut buffer,
        Version::V1_2,
        MessageType::Request,
        Endian::NATIVE,
        CharSet::Utf8,
        16,
    );
    "longer than the limit".encode(writer.encoder()).unwrap_err();
    writer.abandon();
    assert_eq!(buffer, b"before");
}
