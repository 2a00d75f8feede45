//! Exact octets of the real-time parts of messages and references, in both byte orders.
//!
//! Written by hand from the IDL and the rules of CDR, in the layout of TAO's captures.

use punctual_cdr::{CharSet, Decode, Encode, Endian, TaggedComponent, TaggedProfile};
use punctual_giop::*;
use punctual_types::{Priority, PriorityModel};

/// Parses hexadecimal digits; white space separates fields.
fn octets(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    crate::describe::from_hex(&digits)
}

/// Little-endian octets, then big-endian ones.
type Golden = [&'static str; 2];

const ORDERS: [Endian; 2] = [Endian::Little, Endian::Big];

#[test]
fn the_priority_of_a_caller() {
    let golden: Golden = [
        "47494f50 01020100 2c000000
         07000000 03 000000 0000 0000 02000000 4142 0000 03000000 6f7000 00
         01000000 0a000000 04000000 01 00 aa2a",
        "47494f50 01020000 0000002c
         00000007 03 000000 0000 0000 00000002 4142 0000 00000003 6f7000 00
         00000001 0000000a 00000004 00 00 2aaa",
    ];
    for (endian, golden) in ORDERS.into_iter().zip(golden) {
        let mut message = Vec::new();
        let (version, kind) = (Version::V1_2, MessageType::Request);
        let mut writer = MessageWriter::new(&mut message, version, kind, endian, CharSet::Latin1, usize::MAX);
        let request = OutgoingRequest {
            request_id: 7,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"AB"),
            operation: "op",
            contexts: &[ServiceContext::Priority(10_922)],
        };
        encode_request(writer.encoder(), version, &request).unwrap();
        writer.finish().unwrap();
        assert_eq!(message, octets(golden), "{endian:?}");

        let header = MessageHeader::parse(&message, usize::MAX).unwrap();
        let (request, _) = RequestHeader::decode(&message, &header).unwrap();
        let context = request.contexts.find(RT_CORBA_PRIORITY).unwrap();
        assert_eq!(decode_priority(context), Ok(10_922));
    }
    // The octet of padding is arbitrary, and each byte order is decoded independently.
    for (data, priority) in [("01 ff aa2a", 10_922), ("00 40 2aaa", 10_922), ("01 00 ffff", -1)] {
        assert_eq!(decode_priority(&octets(data)), Ok(priority));
    }
}

#[test]
fn a_connection_bound_to_a_band() {
    let golden: Golden = [
        "47494f50 01020100 3e000000
         07000000 03 000000 0000 0000 02000000 4142 0000
         14000000 5f62696e645f7072696f726974795f62616e6400
         01000000 0b000000 06000000 01 00 ab2a ff7f",
        "47494f50 01020000 0000003e
         00000007 03 000000 0000 0000 00000002 4142 0000
         00000014 5f62696e645f7072696f726974795f62616e6400
         00000001 0000000b 00000006 00 00 2aab 7fff",
    ];
    for (endian, golden) in ORDERS.into_iter().zip(golden) {
        let mut message = Vec::new();
        let (version, kind) = (Version::V1_2, MessageType::Request);
        let mut writer = MessageWriter::new(&mut message, version, kind, endian, CharSet::Latin1, usize::MAX);
        let request = OutgoingRequest {
            request_id: 7,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"AB"),
            operation: BIND_PRIORITY_BAND,
            contexts: &[ServiceContext::PriorityRange {
                min: 10_923,
                max: 32_767,
            }],
        };
        encode_request(writer.encoder(), version, &request).unwrap();
        writer.finish().unwrap();
        assert_eq!(message, octets(golden), "{endian:?}");

        let header = MessageHeader::parse(&message, usize::MAX).unwrap();
        let (request, _) = RequestHeader::decode(&message, &header).unwrap();
        assert_eq!(request.operation, BIND_PRIORITY_BAND);
        let context = request.contexts.find(RT_CORBA_PRIORITY_RANGE).unwrap();
        assert_eq!(decode_priority_range(context), Ok((10_923, 32_767)));
    }
    // The same for bands; the receiver has to refuse invalid ones.
    for (data, range) in [
        ("01 ff 0000 aa2a", (0, 10_922)),
        ("00 40 0000 2aaa", (0, 10_922)),
        ("01 00 ffff 0080", (-1, i16::MIN)),
    ] {
        assert_eq!(decode_priority_range(&octets(data)), Ok(range));
    }
}

fn protocol(
    profile_tag: u32,
    [send_buffer_size, recv_buffer_size]: [Option<u32>; 2],
    [keep_alive, dont_route, no_delay]: [bool; 3],
) -> PolicyValue {
    let mut properties = ProtocolProperties::default();
    properties.send_buffer_size = send_buffer_size;
    properties.recv_buffer_size = recv_buffer_size;
    properties.keep_alive = keep_alive;
    properties.dont_route = dont_route;
    properties.no_delay = no_delay;
    PolicyValue::ClientProtocols(ProtocolPolicy::new([
        Protocol::tagged(profile_tag).with(properties)
    ]))
}

#[test]
fn policies_of_references() {
    let default_flags = [true, false, true];
    let tcp = protocol(TAG_INTERNET_IOP, [Some(0xffff), Some(0x1_0000)], default_flags);
    let unix = protocol(TAG_UIOP, [Some(1), Some(2)], default_flags);
    let shared_memory = protocol(TAG_SHMIOP, [Some(3), Some(4)], [false, true, false]);

    let cases: [(PolicyValue, Golden); 7] = [
        (
            PolicyValue::PriorityModel(PriorityModel::ClientPropagated {
                default: Priority::new(10_922).unwrap(),
            }),
            [
                "28000000 0a000000  01 000000 00000000 aa2a",
                "00000028 0000000a  00 000000 00000000 2aaa",
            ],
        ),
        (
            PolicyValue::PriorityModel(PriorityModel::ServerDeclared(Priority::MAX)),
            [
                "28000000 0a000000  01 000000 01000000 ff7f",
                "00000028 0000000a  00 000000 00000001 7fff",
            ],
        ),
        (
            PolicyValue::PriorityBands(vec![(0, 10_922), (10_923, 32_767)]),
            [
                "2d000000 10000000  01 000000 02000000 0000 aa2a ab2a ff7f",
                "0000002d 00000010  00 000000 00000002 0000 2aaa 2aab 7fff",
            ],
        ),
        (
            tcp,
            [
                "2b000000 17000000  01 000000 01000000  00000000 ffff0000 00000100 01 00 01",
                "0000002b 00000017  00 000000 00000001  00000000 0000ffff 00010000 01 00 01",
            ],
        ),
        (
            unix,
            [
                "2b000000 14000000  01 000000 01000000  004f4154 01000000 02000000",
                "0000002b 00000014  00 000000 00000001  54414f00 00000001 00000002",
            ],
        ),
        (
            shared_memory,
            [
                "2b000000 29000000  01 000000 01000000  024f4154 03000000 04000000 00 01 00 00
                 00000000  01000000 00 000000  01000000 00",
                "0000002b 00000029  00 000000 00000001  54414f02 00000003 00000004 00 01 00 00
                 00000000  00000001 00 000000  00000001 00",
            ],
        ),
        (
            protocol(TAG_DIOP, [None; 2], default_flags),
            [
                "2b000000 0c000000  01 000000 01000000  044f4154",
                "0000002b 0000000c  00 000000 00000001  54414f04",
            ],
        ),
    ];
    for (policy, golden) in cases {
        for ((endian, golden), count) in ORDERS
            .into_iter()
            .zip(golden)
            .zip(["01 000000 01000000", "00 000000 00000001"])
        {
            let golden = TaggedComponent {
                tag: TAG_POLICIES,
                data: octets(&format!("{count} {golden}")),
            };
            let component = Component::Policies(vec![policy.clone()]);
            assert_eq!(component.encode_in(endian).as_ref(), Ok(&golden), "{endian:?}");
            assert_eq!(Component::decode(&golden), Ok(component));
        }
    }
}

/// TAO misreads known policies that follow an unknown one.
#[test]
fn policies_are_in_the_order_that_tao_can_read() {
    let golden: Golden = [
        "01 000000 04000000
         2d000000 0c000000 01 000000 01000000 0000 aa2a
         2b000000 08000000 01 000000 00000000
         28000000 0a000000 01 000000 00000000 aa2a 0000
         25000000 01000000 01",
        "00 000000 00000004
         0000002d 0000000c 00 000000 00000001 0000 2aaa
         0000002b 00000008 00 000000 00000000
         00000028 0000000a 00 000000 00000000 2aaa 0000
         00000025 00000001 01",
    ];
    let other = PolicyValue::Other {
        type_id: 37,
        data: vec![1],
    };
    let [bands, protocols, model] = [
        PolicyValue::PriorityBands(vec![(0, 10_922)]),
        PolicyValue::ClientProtocols(ProtocolPolicy::default()),
        PolicyValue::PriorityModel(PriorityModel::ClientPropagated {
            default: Priority::new(10_922).unwrap(),
        }),
    ];
    let policies = [&other, &model, &protocols, &bands].map(Clone::clone);
    let component = Component::Policies(policies.into());
    for (endian, golden) in ORDERS.into_iter().zip(golden) {
        let golden = TaggedComponent {
            tag: TAG_POLICIES,
            data: octets(golden),
        };
        assert_eq!(component.encode_in(endian).as_ref(), Ok(&golden), "{endian:?}");
        let read = [&bands, &protocols, &model, &other].map(Clone::clone);
        assert_eq!(Component::decode(&golden), Ok(Component::Policies(read.into())));
    }
}

#[test]
fn endpoints_with_their_priorities() {
    let golden: Golden = [
        "01 000000 02000000
         03000000 616200 00 feff aa2a
         02000000 6300 f90a ffff",
        "00 000000 00000002
         00000003 616200 00 fffe 2aaa
         00000002 6300 0af9 ffff",
    ];
    let endpoint = |host: &str, port, priority| TaoEndpoint {
        host: host.into(),
        port,
        priority,
    };
    let component = Component::TaoEndpoints(vec![endpoint("ab", 0xfffe, 10_922), endpoint("c", 2809, -1)]);
    for (endian, golden) in ORDERS.into_iter().zip(golden) {
        let golden = TaggedComponent {
            tag: TAO_TAG_ENDPOINTS,
            data: octets(golden),
        };
        assert_eq!(component.encode_in(endian).as_ref(), Ok(&golden), "{endian:?}");
        assert_eq!(Component::decode(&golden).as_ref(), Ok(&component));
        // The same with the functions for protocols with their own addresses.
        let addresses = [(("ab", 0xfffe_u16), 10_922), (("c", 2809), -1)];
        let written = encode_endpoints_with(endian, &addresses, |address, encoder| address.encode(encoder));
        assert_eq!(written, Ok(golden));
    }
}

#[test]
fn unix_domain_profiles_and_their_endpoints() {
    let endpoints: Golden = [
        "01 000000 02000000  03000000 2f6100 00 0000  0000 03000000 2f6200 00 ff7f",
        "00 000000 00000002  00000003 2f6100 00 0000  0000 00000003 2f6200 00 7fff",
    ];
    let profiles: Golden = [
        "01 01 02 00  03000000 2f6100 00  02000000 4b31 0000  01000000 024f4154 1e000000",
        "00 01 02 00  00000003 2f6100 00  00000002 4b31 0000  00000001 54414f02 0000001e",
    ];
    for ((endian, endpoints), profile) in ORDERS.into_iter().zip(endpoints).zip(profiles) {
        let endpoints = TaggedComponent {
            tag: TAO_TAG_ENDPOINTS,
            data: octets(endpoints),
        };
        let addresses = [(String::from("/a"), 0), (String::from("/b"), 32_767)];
        let written = encode_endpoints_with(endian, &addresses, String::encode);
        assert_eq!(written.as_ref(), Ok(&endpoints), "{endian:?}");
        assert_eq!(
            decode_endpoints_with(&endpoints, String::decode).as_deref(),
            Ok(&addresses[..])
        );

        let mut data = octets(profile);
        data.extend(&endpoints.data);
        let golden = TaggedProfile { tag: TAG_UIOP, data };
        let profile = Profile {
            tag: TAG_UIOP,
            version: Version::V1_2,
            address: String::from("/a"),
            object_key: b"K1".to_vec(),
            components: vec![endpoints],
        };
        assert_eq!(
            profile.encode_with(endian, String::encode).as_ref(),
            Ok(&golden),
            "{endian:?}"
        );
        assert_eq!(Profile::decode_with(&golden, String::decode), Ok(profile));
    }
}
