//! A request that repeats the header of the last one is decoded like any other.

use proptest::{collection::vec, prelude::*};
use punctual_cdr::{CharSet, Encode, Endian};
use punctual_giop::*;

use crate::messages::{ORDERS, VERSIONS, whole};

/// The varying parts of requests; few values, so that many headers are equal.
#[derive(Clone, Debug)]
struct Spec {
    version: Version,
    order: Endian,
    id: u32,
    response: ResponseFlags,
    key: &'static [u8],
    operation: &'static str,
    contexts: &'static [ServiceContext<'static>],
    arguments: Vec<u8>,
}

const CONTEXTS: [&[ServiceContext<'static>]; 4] = [
    &[],
    &[ServiceContext::Priority(10_922)],
    &[
        ServiceContext::Priority(10_923),
        ServiceContext::CodeSets {
            char: ISO_8859_1,
            wchar: UTF_16,
        },
    ],
    &[ServiceContext::Raw {
        id: RT_CORBA_PRIORITY,
        data: &[1],
    }],
];

const KEYS: [&[u8]; 3] = [b"Tracker", b"Tracker2", b""];

fn spec() -> impl Strategy<Value = Spec> {
    let what = (
        prop::sample::select(&[Version::V1_2, Version::V1_2, Version::V1_2, VERSIONS[0]][..]),
        prop::sample::select(&ORDERS[..]),
        0..3_u32,
        prop::sample::select(&[ResponseFlags::WithTarget, ResponseFlags::None][..]),
        prop::sample::select(KEYS.to_vec()),
        prop::sample::select(&["cube", "cub"][..]),
        prop::sample::select(&CONTEXTS[..]),
        vec(any::<u8>(), 0..12),
    );
    what.prop_map(
        |(version, order, id, response, key, operation, contexts, arguments)| Spec {
            version,
            order,
            id,
            response,
            key,
            operation,
            contexts,
            arguments,
        },
    )
}

fn message(spec: &Spec) -> Vec<u8> {
    let mut buffer = Vec::new();
    let mut writer = MessageWriter::new(
        &mut buffer,
        spec.version,
        MessageType::Request,
        spec.order,
        CharSet::Utf8,
        usize::MAX,
    );
    let request = OutgoingRequest {
        request_id: spec.id,
        response: spec.response,
        target: TargetAddress::Key(spec.key),
        operation: spec.operation,
        contexts: spec.contexts,
    };
    encode_request(writer.encoder(), spec.version, &request).unwrap();
    let body = begin_body(writer.encoder(), spec.version).unwrap();
    writer.encoder().octets(&spec.arguments).unwrap();
    end_body(writer.encoder(), body);
    writer.finish().unwrap();
    buffer
}

/// Decodes a message with and without memory of the last one.
fn check(last: &mut LastRequest, message: &[u8]) {
    let Some(header) = whole(message) else {
        return;
    };
    let alone = RequestHeader::decode(message, &header);
    let read = last.decode(message, &header);
    match (alone, read) {
        (Ok((request, body)), Ok(incoming)) => {
            assert_eq!(incoming.header, request);
            assert_eq!(incoming.body, body);
            let priority = request.contexts.find(RT_CORBA_PRIORITY).map(decode_priority);
            assert_eq!(incoming.priority, priority);
        }
        (Err(alone), Err(read)) => assert_eq!(alone, read),
        (alone, read) => panic!("alone {alone:?}, after another {read:?}"),
    }
}

proptest! {
    #[test]
    fn memory_of_the_last_request_does_not_change_the_result(specs in vec(spec(), 1..20)) {
        let mut last = LastRequest::new();
        for spec in &specs {
            check(&mut last, &message(spec));
        }
    }

    /// A truncated or modified copy of the remembered message.
    #[test]
    fn damage_is_detected(spec in spec(), at in 12..120_usize, value: u8, cut in 0..120_usize) {
        let whole = message(&spec);
        let mut last = LastRequest::new();
        check(&mut last, &whole);
        let mut changed = whole.clone();
        let at = at.min(whole.len() - 1);
        changed[at] = value;
        check(&mut last, &changed);
        check(&mut last, &whole);
        let mut shorter = whole[..whole.len() - cut.min(whole.len() - HEADER_SIZE)].to_vec();
        let size = (shorter.len() - HEADER_SIZE) as u32;
        shorter[8..12].copy_from_slice(&match spec.order {
            Endian::Big => size.to_be_bytes(),
            Endian::Little => size.to_le_bytes(),
        });
        check(&mut last, &shorter);
    }
}

#[test]
fn a_repeated_request_equals_one_encoded_in_full() {
    let spec = |id, arguments: &[u8]| Spec {
        version: Version::V1_2,
        order: Endian::NATIVE,
        id,
        response: ResponseFlags::WithTarget,
        key: b"Tracker",
        operation: "cube",
        contexts: CONTEXTS[1],
        arguments: arguments.to_vec(),
    };
    // The header only: the padding before a body is not part of it.
    let kept = message(&spec(0, &[])).len();
    let mut buffer = message(&spec(0, &[1, 2, 3]));
    for (id, arguments) in [(1, &[7_u8][..]), (2, &[]), (3, &[9; 9])] {
        let mut writer = MessageWriter::repeat_request(&mut buffer, kept, id, CharSet::Utf8, usize::MAX);
        let body = begin_body(writer.encoder(), Version::V1_2).unwrap();
        arguments
            .iter()
            .try_for_each(|octet| octet.encode(writer.encoder()))
            .unwrap();
        end_body(writer.encoder(), body);
        writer.finish().unwrap();
        assert_eq!(buffer, message(&spec(id, arguments)));
    }
}

#[test]
fn headers_that_are_too_long_are_decoded_in_full() {
    let mut last = LastRequest::new();
    let key: &'static [u8] = &[7; LastRequest::LONGEST];
    let spec = Spec {
        version: Version::V1_2,
        order: Endian::Big,
        id: 1,
        response: ResponseFlags::WithTarget,
        key,
        operation: "cube",
        contexts: CONTEXTS[1],
        arguments: vec![1],
    };
    check(&mut last, &message(&spec));
    check(&mut last, &message(&spec));
}
