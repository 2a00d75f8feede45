//! Arbitrary input never causes a panic, and never more memory than was received.

use std::time::Instant;

use proptest::{collection::vec, option, prelude::*, sample::select};
use punctual_cdr::{Decode, Decoder, Endian, Ior, TaggedComponent, TaggedProfile};
use punctual_giop::{
    connection::{ConnectionLimits, Role},
    *,
};

use crate::{
    connection::pair::{Side, cancel},
    messages::{ORDERS, VERSIONS, an_ior, reply, request, whole},
};

/// Decodes `octets` as every type of message, completely.
fn read_message(octets: &[u8]) {
    let Some(header) = whole(octets) else {
        return;
    };
    let message = &octets[..header.total_size()];
    if let Ok((request, body)) = RequestHeader::decode(message, &header) {
        assert!(body <= message.len());
        assert!(request.contexts.iter().count() == request.contexts.len());
        let _ = (request.target.object_key(), format!("{request:?}"));
        if let Target::Reference { ior, .. } = request.target {
            ior.to_ior();
        }
        read_contexts(&request.contexts);
    }
    if let Ok((reply, body)) = ReplyHeader::decode(message, &header) {
        assert!(body <= message.len());
        let _ = decode_system_exception(&mut Decoder::new(message, header.endian).at(body));
        read_contexts(&reply.contexts);
    }
    let _ = LocateRequestHeader::decode(message, &header).map(|request| request.target.object_key());
    if let Ok(reply) = LocateReplyHeader::decode(message, &header) {
        let _ = (reply.forward(), reply.system_exception(), reply.addressing_mode());
    }
    let _ = decode_cancel_request(message, &header);
}

fn read_contexts(contexts: &ServiceContexts<'_>) {
    for (_, data) in contexts.iter() {
        let _ = (
            decode_priority(data),
            decode_priority_range(data),
            decode_code_sets(data),
            decode_listen_points(data),
        );
    }
}

fn url() -> impl Strategy<Value = ObjectUrl> {
    let address = prop_oneof![
        (
            select(&VERSIONS[..]),
            "[a-z][a-z0-9.-]{0,19}|[0-9]{1,3}\\.[0-9]{1,3}|[0-9a-f]{0,4}:[0-9a-f:]{1,20}",
            1..=u16::MAX
        )
            .prop_map(|(version, host, port)| UrlAddress::Iiop(IiopAddress { version, host, port })),
        (
            "[a-z0-9+.-]{1,3}x",
            select(&VERSIONS[..]),
            any::<(char, String)>()
        )
            .prop_map(
                // An empty address is refused.
                |(protocol, version, (first, rest))| UrlAddress::Other {
                    protocol,
                    version,
                    address: format!("{first}{rest}")
                }
            ),
    ];
    let profile = (any::<u32>(), vec(any::<u8>(), 0..20)).prop_map(|(tag, data)| TaggedProfile { tag, data });
    let context = prop_oneof![
        (vec(address.clone(), 1..4), vec(any::<u8>(), 1..20))
            .prop_map(|(addresses, key)| ObjectUrl::Corbaloc { addresses, key }),
        "\\PC{1,20}".prop_map(|name| ObjectUrl::Rir { name }),
    ];
    prop_oneof![
        "[^\\x00]{0,20}"
            .prop_flat_map(move |type_id| (Just(type_id), vec(profile.clone(), 0..4)))
            .prop_map(|(type_id, profiles)| ObjectUrl::Ior(Ior { type_id, profiles })),
        (vec(address, 1..4), vec(any::<u8>(), 0..20))
            .prop_map(|(addresses, key)| ObjectUrl::Corbaloc { addresses, key }),
        "\\PC{1,20}|[\\x00-\\x7f]{1,20}".prop_map(|name| ObjectUrl::Rir { name }),
        (context, option::of(name())).prop_map(|(context, name)| ObjectUrl::Corbaname {
            context: Box::new(context),
            name
        }),
        "/[^\\x00]{0,20}".prop_map(|path| ObjectUrl::File { path }),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    let part = "[a-z./\\\\]{0,5}|[^\\x00]{0,5}";
    let component = (part, part).prop_map(|(id, kind)| NameComponent { id, kind });
    vec(component, 1..5).prop_map(|components| Name::new(components).unwrap())
}

/// Octets after a header that is usually valid, so that they are decoded.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let header = (select(&VERSIONS[..]), 0..4_u8, 0..8_u8);
    (header, vec(any::<u8>(), 0..200)).prop_map(|((version, flags, message_type), body)| {
        let mut message = b"GIOP".to_vec();
        message.extend([version.major, version.minor, flags, message_type]);
        let size = body.len() as u32;
        message.extend(if flags & 1 == 0 {
            size.to_be_bytes()
        } else {
            size.to_le_bytes()
        });
        message.extend(body);
        message
    })
}

/// A valid message with some octets replaced, mostly by small numbers, which pass more checks than others.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let octet = prop_oneof![0..12_u8, any::<u8>()];
    (
        select(&VERSIONS[..]),
        select(&ORDERS[..]),
        any::<bool>(),
        vec((any::<prop::sample::Index>(), octet), 1..6),
    )
        .prop_map(|(version, endian, is_request, changes)| {
            let mut message = if is_request {
                request(version, endian, an_ior())
            } else {
                reply(version, endian, ReplyStatus::LocationForward, an_ior())
            };
            for (at, octet) in changes {
                *at.get_mut(&mut message) = octet;
            }
            message
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn arbitrary_octets_never_panic(octets in vec(any::<u8>(), 0..64)) {
        read_message(&octets);
        let _ = (decode_priority(&octets), decode_code_sets(&octets), decode_listen_points(&octets));
        let _ = decode_system_exception(&mut Decoder::new(&octets, Endian::Little));
        for tag in [TAG_INTERNET_IOP, TAG_UIOP, TAG_MULTIPLE_COMPONENTS] {
            let profile = TaggedProfile { tag, data: octets.clone() };
            let _ = ProfileView { tag, data: &octets }.object_key();
            let _ = (Profile::decode_with(&profile, String::decode), decode_multiple_components(&profile));
            if let Ok(profile) = IiopProfile::decode(&profile) {
                profile.components.iter().for_each(|component| drop(Component::decode(component)));
            }
        }
    }

    #[test]
    fn arbitrary_messages_never_panic(message in message()) {
        read_message(&message);
    }

    #[test]
    fn damaged_messages_never_panic(message in damaged()) {
        read_message(&message);
    }

    #[test]
    fn arbitrary_components_never_panic_and_valid_ones_round_trip(
        tag in select(vec![
            TAG_ORB_TYPE, TAG_CODE_SETS, TAG_POLICIES, TAG_ALTERNATE_IIOP_ADDRESS, TAO_TAG_ENDPOINTS,
        ]),
        order in 0..2_u8,
        octets in vec(prop_oneof![Just(0), 0..50_u8, any::<u8>()], 0..80),
    ) {
        let component = TaggedComponent { tag, data: [&[order, 0, 0, 0], octets.as_slice()].concat() };
        let _ = decode_endpoints_with(&component, String::decode);
        if let Ok(understood) = Component::decode(&component) {
            let again = Component::decode(&understood.encode().unwrap()).unwrap();
            match (understood, again) {
                (Component::Policies(before), Component::Policies(after)) => {
                    assert_eq!(before.len(), after.len());
                    assert!(before.iter().all(|policy| after.contains(policy)));
                }
                (before, after) => assert_eq!(before, after),
            }
        }
    }

    #[test]
    fn arbitrary_messages_stay_within_the_limits(
        messages in vec(message(), 0..20),
        cancelled: u32,
        chunk in 1..100_usize,
    ) {
        let defaults = ConnectionLimits::default();
        let limits = ConnectionLimits { max_message_size: 300, max_fragmented_messages: 3, ..defaults };
        let mut side = Side::new(Role::Both, Version::V1_2, limits);
        for message in &messages {
            side.incoming.extend(message);
            let Ok(seen) = side.events(chunk, Instant::now()) else { return Ok(()) };
            for seen in seen {
                assert!(seen.message.len() <= limits.max_message_size);
                read_message(&seen.message);
            }
            side.incoming.extend(cancel(Version::V1_2, cancelled));
        }
    }

    #[test]
    fn arbitrary_text_never_panics(
        scheme in select(vec!["", "IOR:", "ior:01000000", "corbaloc:", "corbaloc::", "corbaloc:rir:",
            "corbaname::h#", "corbaname:rir:#", "file:/"]),
        text in "\\PC{0,40}|[0-9a-f]{0,80}|[a-z0-9.@:,/%\\[\\]-]{0,30}",
    ) {
        let text = format!("{scheme}{text}");
        if let Ok(url) = text.parse::<ObjectUrl>() {
            assert_eq!(url.to_string().parse(), Ok(url));
        }
    }

    #[test]
    fn any_name_round_trips(name in name()) {
        assert_eq!(name.to_string().parse(), Ok(name));
    }

    #[test]
    fn a_name_that_is_parsed_is_formatted_as_it_was(text in "[a./\\\\]{0,12}") {
        if let Ok(name) = text.parse::<Name>() {
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn any_url_round_trips(url in url()) {
        assert_eq!(url.to_string().parse(), Ok(url));
    }

    #[test]
    fn any_escaped_key_round_trips(key in vec(any::<u8>(), 0..40)) {
        let escaped: String = key.iter().map(|octet| format!("%{octet:02X}")).collect();
        match format!("corbaloc::radar/{escaped}").parse() {
            Ok(ObjectUrl::Corbaloc { key: read, .. }) => assert_eq!(read, key),
            other => panic!("{other:?}"),
        }
    }
}
