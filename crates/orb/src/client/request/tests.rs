//! Tests of the buffer of requests: a message does not depend on the previous one.

use punctual_cdr::{CharSet, Encode};
use punctual_giop::{OutgoingRequest, ServiceContext, TargetAddress, begin_body, encode_request, end_body};

use super::*;

#[derive(Clone, Copy, Debug)]
struct Spec {
    route: (u64, u32),
    response: ResponseFlags,
    priority: Option<i16>,
    operation: &'static str,
    argument: Option<i32>,
}

/// Writes a request whose header its kind determines, as for a reference.
fn write(buffer: &mut RequestBuffer, id: u32, spec: Spec) -> Vec<u8> {
    let kind = HeaderKind {
        route: spec.route,
        response: spec.response,
        priority: spec.priority.map(|value| Priority::new(value).unwrap()),
    };
    let encoding = MessageEncoding {
        code_sets: CharSet::Utf8.into(),
        max_size: usize::MAX,
        max_nesting: 64,
    };
    let key = [spec.route.0 as u8, spec.route.1 as u8];
    let header = |encoder: &mut Encoder<'_>| {
        let context = spec.priority.map(ServiceContext::Priority);
        let request = OutgoingRequest {
            request_id: id,
            response: spec.response,
            target: TargetAddress::Key(&key),
            operation: spec.operation,
            contexts: context.as_slice(),
        };
        encode_request(encoder, Version::V1_2, &request)
    };
    let mut writer = buffer.repeat(kind, spec.operation, id, encoding, header).unwrap();
    let body = begin_body(writer.encoder(), Version::V1_2).unwrap();
    if let Some(argument) = spec.argument {
        argument.encode(writer.encoder()).unwrap();
    }
    end_body(writer.encoder(), body);
    writer.finish().unwrap();
    buffer.message().to_vec()
}

#[test]
fn a_message_does_not_depend_on_the_previous_one() {
    let mut specs = Vec::new();
    for route in [(1, 0), (2, 0), (1, 1)] {
        for response in [ResponseFlags::WithTarget, ResponseFlags::None] {
            for priority in [None, Some(0), Some(7)] {
                for operation in ["cube", "cub"] {
                    for argument in [None, Some(3)] {
                        specs.push(Spec {
                            route,
                            response,
                            priority,
                            operation,
                            argument,
                        });
                    }
                }
            }
        }
    }
    let mut buffer = RequestBuffer::default();
    for &before in &specs {
        for (id, &spec) in (0..).zip(&specs) {
            write(&mut buffer, 99, before);
            let alone = write(&mut RequestBuffer::default(), id, spec);
            assert_eq!(write(&mut buffer, id, spec), alone, "{spec:?} after {before:?}");
        }
    }
}

#[test]
fn a_header_is_forgotten_with_other_messages_and_after_errors() {
    let spec = Spec {
        route: (1, 0),
        response: ResponseFlags::WithTarget,
        priority: None,
        operation: "cube",
        argument: Some(3),
    };
    let mut buffer = RequestBuffer::default();
    let written = write(&mut buffer, 1, spec);
    buffer.clear().0.extend_from_slice(b"something else");
    assert_eq!(write(&mut buffer, 1, spec), written);
    let kind = HeaderKind {
        route: (2, 0),
        response: ResponseFlags::WithTarget,
        priority: None,
    };
    let too_short = MessageEncoding {
        code_sets: CharSet::Utf8.into(),
        max_size: 20,
        max_nesting: 64,
    };
    let failed = buffer.repeat(kind, "cube", 2, too_short, |encoder| "long".encode(encoder));
    assert!(failed.is_err());
    assert_eq!(write(&mut buffer, 1, spec), written);
}
