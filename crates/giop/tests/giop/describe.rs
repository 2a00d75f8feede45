//! Decodes with this crate and describes the result in the format of the captures' own decode.

use punctual_cdr::{CharSet, Decode, Decoder, Encode, Encoder, Endian, Ior, TaggedComponent, TaggedProfile};
use punctual_giop::*;
use punctual_types::{Completion, PriorityModel};
use serde_json::{Map, Value, json};

/// Describes a message; `whole` is the reassembled message if `message` is the first fragment of one.
pub fn message(message: &[u8], whole: Option<&[u8]>) -> Result<Value, HeaderError> {
    let header = MessageHeader::parse(message, usize::MAX)?;
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| assert!(out.insert(key.into(), value).is_none());
    put("giop", header.version.to_string().into());
    put("type", format!("{:?}", header.message_type).into());
    put(
        "flags",
        (header.endian.flag() | u8::from(header.more_fragments) << 1).into(),
    );
    put(
        "byte_order",
        if header.endian == Endian::Big {
            "big"
        } else {
            "little"
        }
        .into(),
    );
    put("size", header.size.into());
    if header.version > Version::V1_0 {
        put("more_fragments", header.more_fragments.into());
    }
    let whole_header;
    let (message, header) = match whole {
        Some(whole) => {
            put("reassembled_length", whole.len().into());
            whole_header = MessageHeader::parse(whole, usize::MAX)?;
            assert!(!whole_header.more_fragments);
            assert_eq!(whole_header.total_size(), whole.len());
            (whole, whole_header)
        }
        None => (message, header),
    };
    match header.message_type {
        MessageType::Request => request(message, &header, &mut put),
        MessageType::Reply => reply(message, &header, &mut put),
        MessageType::CancelRequest => {
            put(
                "request_id",
                decode_cancel_request(message, &header).unwrap().into(),
            );
        }
        MessageType::LocateRequest => {
            let request = LocateRequestHeader::decode(message, &header).unwrap();
            put("request_id", request.request_id.into());
            if header.version >= Version::V1_2 {
                put("target", target(&request.target));
            } else {
                put("object_key", key(request.target.object_key().unwrap()));
            }
        }
        MessageType::LocateReply => {
            let reply = LocateReplyHeader::decode(message, &header).unwrap();
            put("request_id", reply.request_id.into());
            put("locate_status", locate_status(reply.status).into());
            if reply.status == LocateStatus::ObjectForward {
                put("body_offset", reply.body_offset().into());
                put("forward_to", ior(&reply.forward().unwrap()));
            }
        }
        MessageType::Fragment => {
            let mut decoder = Decoder::new(message, header.endian).at(HEADER_SIZE);
            put("request_id", u32::decode(&mut decoder).unwrap().into());
            put("fragment_data_length", decoder.remaining().into());
        }
        MessageType::CloseConnection | MessageType::MessageError => {}
    }
    Ok(out.into())
}

fn request(message: &[u8], header: &MessageHeader, put: &mut impl FnMut(&str, Value)) {
    let (request, body) = RequestHeader::decode(message, header).unwrap();
    put("request_id", request.request_id.into());
    if header.version >= Version::V1_2 {
        put("response_flags", (request.response as u8).into());
        put("target", target(&request.target));
    } else {
        put(
            "response_expected",
            u8::from(request.response.expects_reply()).into(),
        );
        put("object_key", key(request.target.object_key().unwrap()));
    }
    put("operation", request.operation.into());
    put("service_contexts", contexts(&request.contexts));
    put("body_offset", body.into());
    put("body_length", (message.len() - body).into());
    put("body_hex", hex(&message[body..]).into());
}

fn reply(message: &[u8], header: &MessageHeader, put: &mut impl FnMut(&str, Value)) {
    let (reply, body) = ReplyHeader::decode(message, header).unwrap();
    put("request_id", reply.request_id.into());
    put("reply_status", reply_status(reply.status).into());
    put("service_contexts", contexts(&reply.contexts));
    put("body_offset", body.into());
    put("body_length", (message.len() - body).into());
    put("body_hex", hex(&message[body..]).into());
    let mut decoder = Decoder::new(message, header.endian)
        .with_char_set(CharSet::Latin1)
        .at(body);
    match reply.status {
        ReplyStatus::UserException => {
            put(
                "exception",
                json!({ "repository_id": String::decode(&mut decoder).unwrap() }),
            );
        }
        ReplyStatus::SystemException => {
            let exception = decode_system_exception(&mut decoder).unwrap();
            assert_eq!(decoder.remaining(), 0);
            put(
                "exception",
                json!({
                    "repository_id": exception.repository_id(),
                    "minor": format!("{:#010x}", exception.minor.0),
                    "completed": match exception.completed {
                        Completion::Yes => "YES",
                        Completion::No => "NO",
                        Completion::Maybe => "MAYBE",
                    },
                }),
            );
        }
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
            put("forward_to", ior(&Ior::decode(&mut decoder).unwrap()));
        }
        ReplyStatus::NoException | ReplyStatus::NeedsAddressingMode => {}
    }
}

/// Describes a reference.
pub fn ior(ior: &Ior) -> Value {
    json!({ "type_id": ior.type_id, "profiles": ior.profiles.iter().map(profile).collect::<Vec<_>>() })
}

fn profile(tagged: &TaggedProfile) -> Value {
    let mut out = json!({
        "tag": format!("{:#010x}", tagged.tag),
        "length": tagged.data.len(),
        "byte_order": tagged.data[0],
    });
    let (version, object_key, components) = match tagged.tag {
        TAG_UIOP => {
            let profile = Profile::decode_with(tagged, String::decode).unwrap();
            out["rendezvous_point"] = profile.address.into();
            (profile.version, profile.object_key, profile.components)
        }
        _ => {
            let profile = IiopProfile::decode(tagged).unwrap();
            out["host"] = profile.host.into();
            out["port"] = profile.port.into();
            (profile.version, profile.object_key, profile.components)
        }
    };
    out["version"] = version.to_string().into();
    out["object_key"] = key(&object_key);
    if version > Version::V1_0 {
        out["components"] = components
            .iter()
            .map(|tagged_component| component(tagged_component, tagged.tag))
            .collect();
    }
    out
}

fn component(tagged: &TaggedComponent, profile_tag: u32) -> Value {
    let mut out = json!({
        "tag": format!("{:#010x}", tagged.tag),
        "hex": hex(&tagged.data),
        "byte_order": tagged.data[0],
    });
    if (tagged.tag, profile_tag) == (TAO_TAG_ENDPOINTS, TAG_UIOP) {
        let endpoints = decode_endpoints_with(tagged, String::decode).unwrap();
        out["count"] = endpoints.len().into();
        out["as_uiop"] = endpoints
            .into_iter()
            .map(|(path, priority)| json!({ "rendezvous_point": path, "priority": priority }))
            .collect();
        return out;
    }
    match Component::decode(tagged).unwrap() {
        Component::OrbType(orb_type) => out["orb_type"] = format!("{orb_type:#010x}").into(),
        Component::CodeSets(info) => {
            out["char"] = code_sets(&info.char);
            out["wchar"] = code_sets(&info.wchar);
        }
        Component::AlternateIiopAddress { host, port } => {
            out["host"] = host.into();
            out["port"] = port.into();
        }
        Component::Policies(policies) => out["policies"] = policies.iter().map(policy).collect(),
        Component::TaoEndpoints(endpoints) => {
            out["count"] = endpoints.len().into();
            out["as_iiop"] = endpoints
                .into_iter()
                .map(|e| json!({ "host": e.host, "port": e.port, "priority": e.priority }))
                .collect();
        }
        Component::Ssl(ssl) => out["ssl"] = json!([ssl.supports.0, ssl.requires.0, ssl.port]),
        Component::TaoSslEndpoints(ssl) => out["ports"] = ssl.iter().map(|ssl| ssl.port).collect(),
        Component::Other(_) => {}
    }
    out
}

fn policy(policy: &PolicyValue) -> Value {
    let mut out = json!({ "type": policy.type_id() });
    match policy {
        PolicyValue::PriorityModel(model) => {
            out["priority_model"] = u32::from(matches!(model, PriorityModel::ServerDeclared(_))).into();
            out["server_priority"] = model.server_priority().value().into();
        }
        PolicyValue::PriorityBands(bands) => out["bands"] = json!(bands),
        PolicyValue::ClientProtocols(protocols) => {
            let protocols = protocols.protocols();
            out["protocols"] = protocols
                .iter()
                .map(|p| json!(format!("{:#010x}", p.profile_tag)))
                .collect();
            let mut octets = Vec::new();
            let mut encoder = Encoder::new(&mut octets, Endian::Little);
            protocols
                .iter()
                .for_each(|protocol| protocol.encode(&mut encoder).unwrap());
            // The captures contain lists of one protocol; its properties follow its tag.
            assert_eq!(protocols.len(), 1);
            out["bytes_left"] = hex(&octets[4..]).into();
        }
        PolicyValue::Other { .. } => {}
    }
    out
}

fn target(target: &Target<'_>) -> Value {
    let mut out = json!({ "disposition": format!("{:?}", target.disposition()) });
    match target {
        Target::Key(object_key) => out["object_key"] = key(object_key),
        Target::Profile(view) => out["profile"] = profile(&view.to_profile()),
        Target::Reference { index, ior: view } => {
            out["selected_profile_index"] = (*index).into();
            out["ior"] = ior(&view.to_ior());
        }
    }
    out
}

fn contexts(contexts: &ServiceContexts<'_>) -> Value {
    contexts
        .iter()
        .map(|(id, data)| {
            let mut out = json!({ "id": id, "hex": hex(data) });
            match id {
                CODE_SETS => {
                    let (char, wchar) = decode_code_sets(data).unwrap();
                    out["char"] = format!("{char:#010x}").into();
                    out["wchar"] = format!("{wchar:#010x}").into();
                }
                RT_CORBA_PRIORITY => out["priority"] = decode_priority(data).unwrap().into(),
                BI_DIR_IIOP => {
                    out["listen_points"] = decode_listen_points(data)
                        .unwrap()
                        .into_iter()
                        .map(|point| json!({ "host": point.host, "port": point.port }))
                        .collect();
                }
                _ => {}
            }
            out
        })
        .collect()
}

fn code_sets(component: &CodeSetComponent) -> Value {
    let text = |id: &u32| format!("{id:#010x}");
    let conversion: Vec<_> = component.conversion.iter().map(text).collect();
    json!({ "native": text(&component.native), "conversion": conversion })
}

fn key(key: &[u8]) -> Value {
    json!({ "hex": hex(key) })
}

fn reply_status(status: ReplyStatus) -> &'static str {
    match status {
        ReplyStatus::NoException => "NO_EXCEPTION",
        ReplyStatus::UserException => "USER_EXCEPTION",
        ReplyStatus::SystemException => "SYSTEM_EXCEPTION",
        ReplyStatus::LocationForward => "LOCATION_FORWARD",
        ReplyStatus::LocationForwardPerm => "LOCATION_FORWARD_PERM",
        ReplyStatus::NeedsAddressingMode => "NEEDS_ADDRESSING_MODE",
    }
}

fn locate_status(status: LocateStatus) -> &'static str {
    match status {
        LocateStatus::UnknownObject => "UNKNOWN_OBJECT",
        LocateStatus::ObjectHere => "OBJECT_HERE",
        LocateStatus::ObjectForward => "OBJECT_FORWARD",
        LocateStatus::ObjectForwardPerm => "OBJECT_FORWARD_PERM",
        LocateStatus::SystemException => "LOC_SYSTEM_EXCEPTION",
        LocateStatus::NeedsAddressingMode => "LOC_NEEDS_ADDRESSING_MODE",
    }
}

pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

pub fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
