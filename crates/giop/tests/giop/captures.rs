//! Messages recorded from TAO 2.2.2: decoded as in the captures' own decode, and encoded to the same octets.

use std::{collections::BTreeMap, fs, path::Path, time::Instant};

use punctual_cdr::{CharSet, Decode, Decoder, Encode, Endian, Ior, TaggedComponent, TaggedProfile};
use punctual_giop::{
    connection::{ConnectionLimits, Event, Role},
    *,
};
use serde_json::Value;

use crate::{
    connection::pair::Side,
    describe::{self, from_hex},
};

const SCENARIOS: usize = 25;
const MESSAGES: usize = 591;
const REFERENCES: usize = 33;

#[test]
fn every_message_is_decoded_as_in_its_capture() {
    let mut seen = BTreeMap::new();
    let mut refused = Vec::new();
    for capture in messages() {
        let Capture {
            place,
            octets,
            whole,
            decoded,
        } = &capture;
        match describe::message(octets, whole.as_deref()) {
            Ok(ours) => {
                assert_eq!(same_words(ours), same_words(decoded.clone()), "{place}");
                *seen
                    .entry(decoded["type"].as_str().unwrap().to_owned())
                    .or_insert(0) += 1;
                padding_is_to_8(decoded);
            }
            Err(error) => refused.push((error, place.clone())),
        }
    }
    let seen: Vec<_> = seen.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(
        seen,
        [
            ("CancelRequest", 1),
            ("CloseConnection", 1),
            ("Fragment", 1),
            ("LocateReply", 31),
            ("LocateRequest", 31),
            ("MessageError", 1),
            ("Reply", 248),
            ("Request", 273),
        ]
    );
    let version = |major, minor| HeaderError::UnsupportedVersion(Version { major, minor });
    assert_eq!(
        refused,
        [
            (version(1, 3), "raw_requests, seq 61".to_owned()),
            (version(2, 0), "raw_requests, seq 62".to_owned()),
            (
                HeaderError::UnknownType {
                    version: Version::V1_2,
                    value: 99
                },
                "raw_requests, seq 63".to_owned()
            ),
            (HeaderError::BadMagic(*b"GIOQ"), "raw_requests, seq 64".to_owned()),
        ]
    );
}

#[test]
fn messages_are_encoded_to_the_same_octets_except_padding() {
    let mut written = 0;
    let mut by_other_targets = 0;
    for capture in messages() {
        let message = capture.whole.as_deref().unwrap_or(&capture.octets);
        let Ok(header) = MessageHeader::parse(message, usize::MAX) else {
            continue;
        };
        if let MessageType::Request | MessageType::LocateRequest = header.message_type
            && let Ok((request, _)) = RequestHeader::decode(message, &header)
            && !matches!(request.target, Target::Key(_))
        {
            // Only targets by key are encoded.
            by_other_targets += 1;
            continue;
        }
        let Some(ours) = rewritten(message, &header, header.endian) else {
            continue;
        };
        same_octets_outside_padding(&ours, message, &capture.place, |octets| {
            without_padded_octets(describe::message(octets, None).unwrap())
        });
        written += 1;
    }
    // Requests, replies, locate requests and replies, CancelRequest, CloseConnection and MessageError.
    assert_eq!(
        (written, by_other_targets),
        (273 - 2 + 248 + 31 + 31 + 1 + 1 + 1, 2)
    );
}

#[test]
fn every_reference_is_decoded_as_in_its_capture() {
    for reference in references() {
        let ior = ior_from_string(reference["ior"].as_str().unwrap()).unwrap();
        let mut ours = describe::ior(&ior);
        ours["byte_order"] = 1.into();
        assert_eq!(
            same_words(ours),
            same_words(reference["decoded"].clone()),
            "{}",
            reference["name"]
        );
        let [form, text] = [ior_to_string(&ior), reference["ior"].as_str().unwrap().to_owned()];
        assert_eq!(ior_from_string(&form).unwrap(), ior);
        assert_eq!(form.len(), text.len());
    }
}

#[test]
fn references_are_encoded_to_the_same_octets_except_padding() {
    let mut policies = 0;
    let (mut endpoints, mut unix_endpoints) = (0, 0);
    for reference in references() {
        let text = reference["ior"].as_str().unwrap();
        let ior = ior_from_string(text).unwrap();
        for profile in &ior.profiles {
            let (ours, components) = if profile.tag == TAG_UIOP {
                let understood = Profile::decode_with(profile, String::decode).unwrap();
                let ours = understood.encode_with(Endian::NATIVE, String::encode).unwrap();
                (ours, understood.components)
            } else {
                let understood = IiopProfile::decode(profile).unwrap();
                let ours = TaggedProfile {
                    tag: profile.tag,
                    ..understood.encode().unwrap()
                };
                (ours, understood.components)
            };
            let place = format!("{}, profile {:#x}", reference["name"], profile.tag);
            same_octets_outside_padding(&ours.data, &profile.data, &place, |octets| {
                let data = TaggedProfile {
                    tag: profile.tag,
                    data: octets.into(),
                };
                describe::ior(&Ior {
                    type_id: String::new(),
                    profiles: vec![data],
                })
            });
            for component in components {
                if (component.tag, profile.tag) == (TAO_TAG_ENDPOINTS, TAG_UIOP) {
                    unix_endpoints += 1;
                    let read = |octets: &[u8]| {
                        let component = TaggedComponent {
                            tag: TAO_TAG_ENDPOINTS,
                            data: octets.into(),
                        };
                        decode_endpoints_with(&component, String::decode).unwrap()
                    };
                    let understood = read(&component.data);
                    let ours = encode_endpoints_with(Endian::NATIVE, &understood, String::encode).unwrap();
                    let place = format!("{place}, endpoints");
                    same_octets_outside_padding(&ours.data, &component.data, &place, read);
                    continue;
                }
                let understood = Component::decode(&component).unwrap();
                assert!(
                    !matches!(understood, Component::Other(_)),
                    "{place}: {component:?}"
                );
                policies += usize::from(matches!(understood, Component::Policies(_)));
                endpoints += usize::from(matches!(understood, Component::TaoEndpoints(_)));
                let ours = understood.encode().unwrap();
                let place = format!("{place}, component {:#x}", component.tag);
                same_octets_outside_padding(&ours.data, &component.data, &place, |octets| {
                    Component::decode(&TaggedComponent {
                        tag: component.tag,
                        data: octets.into(),
                    })
                    .unwrap()
                });
            }
        }
    }
    assert_eq!((policies, endpoints, unix_endpoints), (9, 16, 3));
}

/// TAO's captures are little-endian; encoded in big-endian order, they have the same meaning.
#[test]
fn messages_have_the_same_meaning_in_the_other_byte_order() {
    let mut written = 0;
    for capture in messages() {
        let message = capture.whole.as_deref().unwrap_or(&capture.octets);
        let Ok(header) = MessageHeader::parse(message, usize::MAX) else {
            continue;
        };
        let by_key = |target: &Target<'_>| matches!(target, Target::Key(_));
        let is_ours = match header.message_type {
            MessageType::Request => by_key(&RequestHeader::decode(message, &header).unwrap().0.target),
            MessageType::LocateRequest => {
                by_key(&LocateRequestHeader::decode(message, &header).unwrap().target)
            }
            // Their content does not depend on the byte order, or they are encoded in the native order only.
            MessageType::CancelRequest | MessageType::CloseConnection | MessageType::MessageError => false,
            MessageType::Fragment => false,
            MessageType::Reply | MessageType::LocateReply => true,
        };
        if !is_ours {
            continue;
        }
        let other = match header.endian {
            Endian::Little => Endian::Big,
            Endian::Big => Endian::Little,
        };
        let ours = rewritten(message, &header, other).unwrap();
        let our_header = MessageHeader::parse(&ours, usize::MAX).unwrap();
        assert_eq!(our_header.endian, other);
        let place = &capture.place;
        assert_eq!(meaning(&ours, &our_header), meaning(message, &header), "{place}");
        written += 1;
    }
    assert_eq!(written, 273 - 2 + 248 + 31 + 31);
}

/// Describes the header of a message, and the parts of its body that this crate decodes.
fn meaning(message: &[u8], header: &MessageHeader) -> String {
    let contexts =
        |contexts: ServiceContexts<'_>| contexts.iter().map(meaning_of_context).collect::<Vec<_>>();
    match header.message_type {
        MessageType::Request => {
            let (request, body) = RequestHeader::decode(message, header).unwrap();
            let RequestHeader {
                request_id,
                response,
                target,
                operation,
                ..
            } = request;
            let body = &message[body..];
            let contexts = contexts(request.contexts);
            format!("{request_id} {response:?} {target:?} {operation} {contexts:?} {body:?}")
        }
        MessageType::Reply => {
            let (reply, body) = ReplyHeader::decode(message, header).unwrap();
            let (id, status) = (reply.request_id, reply.status);
            let contexts = contexts(reply.contexts);
            if status == ReplyStatus::SystemException {
                let mut decoder = Decoder::new(message, header.endian).at(body);
                let exception = decode_system_exception(&mut decoder).unwrap();
                return format!("{id} {contexts:?} {exception:?}");
            }
            format!("{id} {status:?} {contexts:?} {:?}", &message[body..])
        }
        MessageType::LocateRequest => format!("{:?}", LocateRequestHeader::decode(message, header).unwrap()),
        MessageType::LocateReply => {
            let reply = LocateReplyHeader::decode(message, header).unwrap();
            let forward = (reply.status == LocateStatus::ObjectForward).then(|| reply.forward().unwrap());
            format!("{} {:?} {forward:?}", reply.request_id, reply.status)
        }
        other => unreachable!("{other:?}"),
    }
}

fn meaning_of_context((id, data): (u32, &[u8])) -> (u32, Vec<i64>) {
    let values = match id {
        CODE_SETS => {
            let (char, wchar) = decode_code_sets(data).unwrap();
            vec![char.into(), wchar.into()]
        }
        RT_CORBA_PRIORITY => vec![decode_priority(data).unwrap().into()],
        _ => data.iter().map(|octet| (*octet).into()).collect(),
    };
    (id, values)
}

#[test]
fn references_have_the_same_meaning_in_the_other_byte_order() {
    let mut written = 0;
    for reference in references() {
        let ior = ior_from_string(reference["ior"].as_str().unwrap()).unwrap();
        for theirs in &ior.profiles {
            let transcoded = |component: &TaggedComponent| {
                if (component.tag, theirs.tag) == (TAO_TAG_ENDPOINTS, TAG_UIOP) {
                    let endpoints = decode_endpoints_with(component, String::decode).unwrap();
                    let ours = encode_endpoints_with(Endian::Big, &endpoints, String::encode).unwrap();
                    assert_eq!(decode_endpoints_with(&ours, String::decode).unwrap(), endpoints);
                    return;
                }
                let understood = Component::decode(component).unwrap();
                let ours = understood.encode_in(Endian::Big).unwrap();
                assert_eq!(ours.data[0], 0, "big-endian");
                assert_eq!(Component::decode(&ours).unwrap(), understood);
            };
            if theirs.tag == TAG_UIOP {
                let profile = Profile::decode_with(theirs, String::decode).unwrap();
                let ours = profile.encode_with(Endian::Big, String::encode).unwrap();
                assert_eq!(Profile::decode_with(&ours, String::decode).unwrap(), profile);
                profile.components.iter().for_each(transcoded);
            } else {
                let profile = IiopProfile::decode(theirs).unwrap();
                let ours = profile.encode_in(Endian::Big).unwrap();
                assert_eq!((ours.data[0], theirs.data[0]), (0, 1));
                assert_eq!(IiopProfile::decode(&ours).unwrap(), profile);
                profile.components.iter().for_each(transcoded);
            }
            written += 1;
        }
    }
    assert!(written >= REFERENCES);
}

/// Decodes `message` and encodes it in this byte order; `None` for a Fragment, which this crate never sends.
fn rewritten(message: &[u8], header: &MessageHeader, endian: Endian) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    let version = header.version;
    let mut writer = MessageWriter::new(
        &mut buffer,
        version,
        header.message_type,
        endian,
        CharSet::Latin1,
        usize::MAX,
    );
    let encoder = writer.encoder();
    match header.message_type {
        MessageType::Request => {
            let (request, body) = RequestHeader::decode(message, header).unwrap();
            let contexts: Vec<_> = request.contexts.iter().map(typed_context).collect();
            let request = OutgoingRequest {
                request_id: request.request_id,
                response: request.response,
                target: TargetAddress::Key(request.target.object_key().unwrap()),
                operation: request.operation,
                contexts: &contexts,
            };
            encode_request(encoder, version, &request).unwrap();
            copy_body(encoder, version, &message[body..]);
        }
        MessageType::Reply => {
            let (reply, body) = ReplyHeader::decode(message, header).unwrap();
            let contexts: Vec<_> = reply.contexts.iter().map(typed_context).collect();
            encode_reply_header(encoder, version, reply.request_id, reply.status, &contexts).unwrap();
            if reply.status == ReplyStatus::SystemException {
                let mut decoder = Decoder::new(message, header.endian).at(body);
                let exception = decode_system_exception(&mut decoder).unwrap();
                align_body(encoder, version).unwrap();
                encode_system_exception(encoder, &exception).unwrap();
            } else {
                copy_body(encoder, version, &message[body..]);
            }
        }
        MessageType::LocateRequest => {
            let request = LocateRequestHeader::decode(message, header).unwrap();
            let key = request.target.object_key().unwrap();
            encode_locate_request(encoder, version, request.request_id, TargetAddress::Key(key)).unwrap();
        }
        MessageType::LocateReply => {
            let reply = LocateReplyHeader::decode(message, header).unwrap();
            encode_locate_reply(encoder, version, reply.request_id, reply.status).unwrap();
            if reply.status == LocateStatus::ObjectForward {
                reply.forward().unwrap().encode(encoder).unwrap();
            }
        }
        MessageType::CancelRequest => {
            let mut buffer = Vec::new();
            write_cancel_request(
                &mut buffer,
                version,
                decode_cancel_request(message, header).unwrap(),
            );
            return Some(buffer);
        }
        MessageType::CloseConnection => {
            let mut buffer = Vec::new();
            write_close_connection(&mut buffer, version);
            return Some(buffer);
        }
        MessageType::MessageError => {
            let mut buffer = Vec::new();
            write_message_error(&mut buffer, version);
            return Some(buffer);
        }
        MessageType::Fragment => return None,
    }
    // TAO pads some messages whose body is empty.
    if writer.encoder().position() < message.len() {
        writer.encoder().align(8).unwrap();
    }
    writer.finish().unwrap();
    Some(buffer)
}

fn typed_context<'a>((id, data): (u32, &'a [u8])) -> ServiceContext<'a> {
    match id {
        CODE_SETS => {
            let (char, wchar) = decode_code_sets(data).unwrap();
            ServiceContext::CodeSets { char, wchar }
        }
        RT_CORBA_PRIORITY => ServiceContext::Priority(decode_priority(data).unwrap()),
        _ => ServiceContext::Raw { id, data },
    }
}

fn copy_body(encoder: &mut punctual_cdr::Encoder<'_>, version: Version, octets: &[u8]) {
    let body = begin_body(encoder, version).unwrap();
    encoder.octets(octets).unwrap();
    end_body(encoder, body);
}

/// Asserts that octets differ only if `meaning` does not depend on them.
fn same_octets_outside_padding<T: PartialEq + std::fmt::Debug>(
    ours: &[u8],
    theirs: &[u8],
    place: &str,
    meaning: impl Fn(&[u8]) -> T,
) {
    assert_eq!(ours.len(), theirs.len(), "{place}");
    let mut mixed = theirs.to_vec();
    for at in 0..ours.len() {
        if ours[at] != theirs[at] {
            assert_eq!(ours[at], 0, "{place}: octet {at} is not padding");
            mixed[at] = ours[at];
            assert_eq!(
                meaning(&mixed),
                meaning(theirs),
                "{place}: octet {at} is no padding of theirs"
            );
            mixed[at] = theirs[at];
        }
    }
}

/// Removes the octets of contexts and system exceptions, which include padding, but keeps their values.
fn without_padded_octets(mut message: Value) -> Value {
    if message["exception"].get("minor").is_some() {
        message.as_object_mut().unwrap().remove("body_hex");
    }
    for context in message
        .get_mut("service_contexts")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if ["char", "priority"].iter().any(|key| context.get(*key).is_some()) {
            context.as_object_mut().unwrap().remove("hex");
        }
    }
    message
}

/// Asserts that the body starts at the next multiple of 8 after the end of the header in the captures'
/// decode.
fn padding_is_to_8(decoded: &Value) {
    if let Some(header_end) = decoded.get("header_end") {
        assert_eq!(decoded["giop"], "1.2");
        assert_eq!(
            decoded["body_offset"],
            header_end.as_u64().unwrap().next_multiple_of(8)
        );
    }
}

/// Removes everything that is not part of the message: names, renderings, and octets that TAO does not clear.
fn same_words(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            if let Some(principal) = members.remove("requesting_principal") {
                assert_eq!(principal, "");
            }
            for left_out in [
                "name",
                "ascii",
                "priority_model_name",
                "reserved",
                "header_end",
                "padding_before_body",
            ] {
                members.remove(left_out);
            }
            if members
                .get("body_length")
                .and_then(Value::as_u64)
                .is_some_and(|length| length > 2048)
            {
                members.remove("body_hex");
            }
            // The octets of policies are compared after encoding.
            if members.contains_key("type") && !members.contains_key("giop") {
                members.remove("hex");
            }
            for member in members.values_mut() {
                *member = same_words(member.take());
            }
        }
        Value::Array(elements) => {
            for element in elements {
                *element = same_words(element.take());
            }
        }
        // An id and its name.
        Value::String(text) if text.starts_with("0x") => text.truncate(10),
        _ => {}
    }
    value
}

struct Capture {
    place: String,
    octets: Vec<u8>,
    /// The reassembled message if this is the first fragment of one.
    whole: Option<Vec<u8>>,
    decoded: Value,
}

/// Returns all messages, those of a connection in order.
fn messages() -> Vec<Capture> {
    let mut captures: Vec<Capture> = Vec::new();
    let files = files("giop");
    assert_eq!(files.len(), SCENARIOS);
    for (name, text) in files {
        let mut lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let listed = lines.next().unwrap()["messages"].as_u64().unwrap() as usize;
        let first = captures.len();
        let mut connections = BTreeMap::new();
        for line in lines {
            let octets = from_hex(line["hex"].as_str().unwrap());
            assert_eq!(octets.len() as u64, line["length"]);
            captures.push(Capture {
                place: format!("{name}, seq {}", line["seq"]),
                whole: None,
                decoded: line["decoded"].clone(),
                octets,
            });
            let octets = &captures[captures.len() - 1].octets;
            let (side, first_part) = connections
                .entry((line["conn"].as_u64(), line["dir"].to_string()))
                .or_insert_with(|| {
                    (
                        Side::new(Role::Both, Version::V1_2, ConnectionLimits::default()),
                        None,
                    )
                });
            side.incoming.extend(octets);
            let Ok(seen) = side.events(usize::MAX, Instant::now()) else {
                continue;
            };
            match &seen[..] {
                [seen] if seen.event == Event::Progress => *first_part = Some(captures.len() - 1),
                [seen] => {
                    if let Some(first_part) = first_part.take() {
                        captures[first_part].whole = Some(seen.message.clone());
                    }
                }
                _ => {}
            }
        }
        assert!(connections.values().all(|(_, first_part)| first_part.is_none()));
        assert_eq!(captures.len() - first, listed, "{name}");
    }
    assert_eq!(captures.len(), MESSAGES);
    assert_eq!(
        captures.iter().filter(|capture| capture.whole.is_some()).count(),
        1
    );
    captures
}

fn references() -> Vec<Value> {
    let references: Vec<_> = files("ior")
        .iter()
        .map(|(_, text)| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(references.len(), REFERENCES);
    references
}

pub fn files(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/captures")
        .join(kind);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}
