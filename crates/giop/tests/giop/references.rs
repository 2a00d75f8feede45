//! References as text, profiles, components, policies and code sets.

use punctual_cdr::{CharSet, Endian, Ior, TaggedComponent, TaggedProfile, WideCharSet};
use punctual_giop::*;
use punctual_types::{Priority, PriorityModel};

use crate::messages::{ORDERS, an_ior};

fn url(text: &str) -> Result<ObjectUrl, UrlError> {
    text.parse()
}

fn addresses(text: &str) -> Vec<(Version, String, u16)> {
    match url(text).unwrap() {
        ObjectUrl::Corbaloc { addresses, .. } => addresses
            .into_iter()
            .map(|address| match address {
                UrlAddress::Iiop(address) => (address.version, address.host, address.port),
                UrlAddress::Other { version, address, .. } => (version, address, 0),
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn key(text: &str) -> Vec<u8> {
    match url(text).unwrap() {
        ObjectUrl::Corbaloc { key, .. } => key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn corbaloc_addresses_are_parsed() {
    let v = Version::V1_0;
    let one = |version, host: &str, port| vec![(version, host.to_owned(), port)];
    assert_eq!(
        addresses("corbaloc:iiop:1.2@radar:4711/K"),
        one(Version::V1_2, "radar", 4711)
    );
    assert_eq!(
        addresses("corbaloc::1.1@radar/K"),
        one(Version::V1_1, "radar", 2809)
    );
    assert_eq!(addresses("CORBALOC:IIOP:radar/K"), one(v, "radar", 2809));
    assert_eq!(addresses("corbaloc::radar:/K"), one(v, "radar", 2809));
    assert_eq!(addresses("corbaloc::[::1]:2810/K"), one(v, "::1", 2810));
    assert_eq!(
        addresses("corbaloc::1.2@[fe80::1]/K"),
        one(Version::V1_2, "fe80::1", 2809)
    );
    assert_eq!(
        addresses(" corbaloc::a:1,iiop:b:2,other:c,:1.2@[::]/K\n"),
        [
            (v, "a".into(), 1),
            (v, "b".into(), 2),
            (v, "c".into(), 0),
            (Version::V1_2, "::".into(), 2809)
        ]
    );
}

#[test]
fn addresses_of_other_protocols_round_trip() {
    let address = UrlAddress::Other {
        protocol: "uiop".into(),
        version: Version::V1_2,
        address: "/run/a@b,c d.sock".into(),
    };
    let corbaloc = ObjectUrl::Corbaloc {
        addresses: vec![address],
        key: b"Tracker".to_vec(),
    };
    let text = corbaloc.to_string();
    assert_eq!(text, "corbaloc:uiop:1.2@%2frun%2fa%40b%2cc%20d.sock/Tracker");
    assert_eq!(url(&text).unwrap(), corbaloc);
}

#[test]
fn corbaloc_keys_are_unescaped() {
    assert_eq!(key("corbaloc::h/NameService"), b"NameService");
    assert_eq!(
        key("corbaloc::h/a/b%2fc%00%FF;?:@&=+$,-_.!~*'()"),
        b"a/b/c\0\xff;?:@&=+$,-_.!~*'()"
    );
    assert_eq!(key("corbaloc::h/"), b"");
    assert_eq!(key("corbaloc::h"), b"");
}

#[test]
fn initial_references_are_parsed() {
    assert_eq!(
        url("corbaloc:rir:/Radar"),
        Ok(ObjectUrl::Rir { name: "Radar".into() })
    );
    assert_eq!(
        url("corbaloc:rir:"),
        Ok(ObjectUrl::Rir {
            name: "NameService".into()
        })
    );
}

#[test]
fn corbaname_has_a_context_and_a_name() {
    for (text, context, name, canonical) in [
        (
            "corbaname::radar",
            "corbaloc::radar/NameService",
            None,
            "corbaname:iiop:1.0@radar:2809/NameService",
        ),
        (
            "corbaname::radar#",
            "corbaloc::radar/NameService",
            None,
            "corbaname:iiop:1.0@radar:2809/NameService",
        ),
        (
            "CORBANAME::1.2@radar:7/K%20#a/b.c",
            "corbaloc::1.2@radar:7/K%20",
            Some("a/b.c"),
            "corbaname:iiop:1.2@radar:7/K%20#a/b.c",
        ),
        (
            "corbaname::a,:b:1/#%5c.%5C%5c/%c3%bc%23%25%20",
            "corbaloc::a,:b:1/NameService",
            Some(r"\.\\/ü#% "),
            "corbaname:iiop:1.0@a:2809,iiop:1.0@b:1/NameService#%5c.%5c%5c/%c3%bc%23%25%20",
        ),
        (
            "corbaname:rir:#a",
            "corbaloc:rir:/NameService",
            Some("a"),
            "corbaname:rir:/NameService#a",
        ),
        (
            "corbaname:rir:/Names#.",
            "corbaloc:rir:/Names",
            Some("."),
            "corbaname:rir:/Names#.",
        ),
    ] {
        let expected = ObjectUrl::Corbaname {
            context: Box::new(url(context).unwrap()),
            name: name.map(|name| name.parse().unwrap()),
        };
        assert_eq!(url(text), Ok(expected), "{text}");
        assert_eq!(url(text).unwrap().to_string(), canonical);
        assert_eq!(url(canonical), url(text));
    }
}

#[test]
fn names_and_addresses_become_corbaname() {
    for (address, name, expected) in [
        (
            ":radar:2809/K",
            r"a\.b/c d.\\",
            "corbaname::radar:2809/K#a%5c.b/c%20d.%5c%5c",
        ),
        (":radar", "", "corbaname::radar"),
        ("rir:", "a", "corbaname:rir:#a"),
        ("iiop:1.2@a,:b/x%20y", ".k", "corbaname:iiop:1.2@a,:b/x%20y#.k"),
    ] {
        let made = corbaname_url(address, name);
        assert_eq!(made.as_deref(), Ok(expected));
        assert!(url(expected).is_ok(), "{expected}");
    }
    assert!(corbaname_url("", "a").is_err() && corbaname_url("radar", "a").is_err());
    let bad = UrlError::BadName("a.".into(), NameError::TrailingDot { at: 1 });
    assert_eq!(corbaname_url(":radar", "a."), Err(bad));
    // Their result would mean another address, or could not be read by others.
    for address in [
        ":ra#dar", ":h?st", ":h\"<>", ":a b", ":h\u{fc}", ":h%23", ":[::1%#]", "x y:z", "a#b:c", ":h,:i#j",
    ] {
        let refused = corbaname_url(address, "a");
        assert!(
            matches!(refused, Err(UrlError::BadHost(_) | UrlError::UnknownProtocol(_))),
            "{address}"
        );
    }
    assert_eq!(
        corbaname_url(":[fe80::1%25eth0]:1", "a").as_deref(),
        Ok("corbaname::[fe80::1%25eth0]:1#a")
    );
}

#[test]
fn files_are_named_by_absolute_paths() {
    let file = |path: &str| Ok(ObjectUrl::File { path: path.into() });
    for text in [
        "file:///tmp/a%20b",
        "file:/tmp/a%20b",
        "FILE://localhost/tmp/a%20b",
    ] {
        assert_eq!(url(text), file("/tmp/a b"), "{text}");
    }
    assert_eq!(url("file:///tmp/a%20b").unwrap().to_string(), "file:///tmp/a%20b");
}

#[test]
fn malformed_texts_are_refused() {
    use UrlError::*;
    for (text, error) in [
        ("", UnknownScheme("".into())),
        ("http://radar/", UnknownScheme("http://radar/".into())),
        ("iiop://radar:1/K", Endpoint("radar:1/K".into())),
        ("corbanames::radar#x", UnknownScheme("corbanames::radar#x".into())),
        (
            "corbaname::radar#a//b",
            BadName("a//b".into(), NameError::EmptyComponent { at: 2 }),
        ),
        ("corbaname::radar#%", BadNameEscape("%".into())),
        ("corbaname::radar#%ff", BadNameEscape("%ff".into())),
        ("corbaname::radar#a b", BadNameEscape("a b".into())),
        (r"corbaname::radar#a\.b", BadNameEscape(r"a\.b".into())),
        ("corbaname::radar#a#b", BadNameEscape("a#b".into())),
        ("corbaname:radar#a", UnknownProtocol("radar".into())),
        ("corbaname:rir:radar#a", BadRir),
        ("file:radar.ior", BadPath("radar.ior".into())),
        ("file://radar/a", BadPath("//radar/a".into())),
        ("file:///a%00", BadPath("///a%00".into())),
        ("IO\u{20ac}:00", UnknownScheme("IO\u{20ac}:00".into())),
        ("corbaloc:", UnknownProtocol("".into())),
        ("corbaloc:radar/K", UnknownProtocol("radar".into())),
        ("corbaloc:uiop:%zz/K", UnknownProtocol("uiop:%zz".into())),
        ("corbaloc:uiop:2.0@x/K", BadVersion("2.0".into())),
        ("corbaloc:rir:radar/K", BadRir),
        ("corbaloc::radar,rir:/K", BadRir),
        ("corbaloc::2.0@radar/K", BadVersion("2.0".into())),
        ("corbaloc::1@radar/K", BadVersion("1".into())),
        ("corbaloc::/K", BadHost("".into())),
        ("corbaloc::2809/K", BadHost("2809".into())),
        ("corbaloc:::2809/K", BadHost(":2809".into())),
        ("corbaloc::[::1/K", BadHost("[::1".into())),
        ("corbaloc::[::1]2809/K", BadHost("[::1]2809".into())),
        ("corbaloc::fe80::1/K", BadHost("fe80::1".into())),
        ("corbaloc::ra dar/K", BadHost("ra dar".into())),
        ("corbaloc::radar:0/K", BadPort("0".into())),
        ("corbaloc::radar:65536/K", BadPort("65536".into())),
        ("corbaloc::radar:+1/K", BadPort("+1".into())),
        ("corbaloc::::1/K", BadHost("::1".into())),
        ("corbaloc::h/50%", BadKey("50%".into())),
        ("corbaloc::h/%4", BadKey("%4".into())),
        ("corbaloc::h/%4g", BadKey("%4g".into())),
        ("corbaloc::h/a b", BadKey("a b".into())),
        ("corbaloc::h/\u{20ac}", BadKey("\u{20ac}".into())),
        ("IOR:01x0", BadHex { at: 6 }),
        ("IOR:012", BadHex { at: 6 }),
    ] {
        assert!(!error.to_string().contains("``"), "{text}: {error}");
        assert_eq!(url(text), Err(error), "{text}");
    }
    let said = url("iiop://radar:1").unwrap_err().to_string();
    assert!(said.ends_with("did you mean `corbaloc::radar:1/NAME`?"), "{said}");
    let long = "x".repeat(1000);
    assert_eq!(url(&long), Err(UnknownScheme(format!("{}\u{2026}", &long[..60]))));
}

#[test]
fn a_truncated_reference_is_refused() {
    let text = ior_to_string(&an_ior());
    assert_eq!(url(&text), Ok(ObjectUrl::Ior(an_ior())));
    assert_eq!(ior_from_string(&text.to_uppercase()), Ok(an_ior()));
    assert_eq!(ior_from_string(&text.replace("IOR:", "ior:")), Ok(an_ior()));
    for end in 0..text.len() {
        url(&text[..end]).unwrap_err();
    }
    assert_eq!(
        ior_from_string(&ior_to_string(&Ior::default())),
        Ok(Ior::default())
    );
}

#[test]
fn profiles_round_trip_and_truncated_ones_are_refused() {
    for version in [
        Version::V1_0,
        Version::V1_1,
        Version::V1_2,
        Version { major: 1, minor: 9 },
    ] {
        for endian in ORDERS {
            let components = vec![Component::OrbType(PUNCTUAL_ORB_TYPE).encode_in(endian).unwrap()];
            let profile = IiopProfile {
                version,
                host: "radar".into(),
                port: 4711,
                object_key: b"key".into(),
                components: if version == Version::V1_0 {
                    vec![]
                } else {
                    components
                },
            };
            let tagged = profile.encode_in(endian).unwrap();
            assert_eq!(IiopProfile::decode(&tagged).as_ref(), Ok(&profile));
            for end in 0..tagged.data.len() {
                IiopProfile::decode(&TaggedProfile {
                    tag: 0,
                    data: tagged.data[..end].into(),
                })
                .unwrap_err();
            }
        }
    }
}

#[test]
fn profiles_of_another_major_version_and_components_in_1_0_are_refused() {
    let profile = IiopProfile {
        version: Version { major: 2, minor: 0 },
        host: "h".into(),
        port: 1,
        object_key: vec![],
        components: vec![],
    };
    IiopProfile::decode(&profile.encode().unwrap()).unwrap_err();
    let components = vec![TaggedComponent::default()];
    IiopProfile {
        version: Version::V1_0,
        components,
        ..profile
    }
    .encode()
    .unwrap_err();
}

#[test]
fn components_round_trip() {
    let mut sized = ProtocolProperties::default();
    (sized.send_buffer_size, sized.recv_buffer_size) = (Some(1), Some(2));
    for endian in ORDERS {
        for component in [
            Component::OrbType(PUNCTUAL_ORB_TYPE),
            Component::CodeSets(CodeSetComponentInfo::ours()),
            Component::AlternateIiopAddress {
                host: "b".into(),
                port: 2,
            },
            Component::Policies(vec![
                PolicyValue::PriorityBands(vec![(0, 10), (11, 32767)]),
                PolicyValue::ClientProtocols(ProtocolPolicy::new([
                    Protocol::UIOP.with(sized.clone()),
                    Protocol::tagged(TAG_SHMIOP).with(sized.clone()),
                    Protocol::tagged(TAG_DIOP),
                    Protocol::IIOP.with(sized.clone()),
                ])),
                PolicyValue::PriorityModel(PriorityModel::ServerDeclared(Priority::MAX)),
                PolicyValue::Other {
                    type_id: 37,
                    data: vec![1, 2],
                },
            ]),
            Component::TaoEndpoints(vec![TaoEndpoint {
                host: "a".into(),
                port: 65535,
                priority: -1,
            }]),
            Component::Other(TaggedComponent {
                tag: 999,
                data: vec![5],
            }),
        ] {
            let tagged = component.encode_in(endian).unwrap();
            assert_eq!(tagged.tag, component.tag());
            assert_eq!(Component::decode(&tagged), Ok(component.clone()));
            if tagged.tag != 999 {
                for end in 0..tagged.data.len() {
                    let cut = TaggedComponent {
                        tag: tagged.tag,
                        data: tagged.data[..end].into(),
                    };
                    assert_ne!(Component::decode(&cut), Ok(component.clone()));
                }
            }
        }
    }
}

#[test]
fn protocol_properties_of_another_orb_are_kept_verbatim() {
    let foreign = PolicyValue::Other {
        type_id: 43,
        data: vec![1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    };
    let tagged = Component::Policies(vec![foreign.clone()]).encode().unwrap();
    assert_eq!(Component::decode(&tagged), Ok(Component::Policies(vec![foreign])));
}

#[test]
fn multiple_components_round_trip() {
    let components = [
        Component::OrbType(1).encode().unwrap(),
        TaggedComponent {
            tag: 5,
            data: vec![1],
        },
    ];
    let profile = encode_multiple_components(&components).unwrap();
    assert_eq!(profile.tag, TAG_MULTIPLE_COMPONENTS);
    assert_eq!(decode_multiple_components(&profile).unwrap(), components);
}

#[test]
fn a_component_is_found_by_its_tag() {
    let components = vec![Component::OrbType(5).encode().unwrap()];
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "h".into(),
        port: 1,
        object_key: vec![],
        components,
    };
    assert_eq!(profile.component(TAG_ORB_TYPE), Ok(Some(Component::OrbType(5))));
    assert_eq!(profile.component(TAG_CODE_SETS), Ok(None));
}

const LATIN_2: u32 = 0x0001_0002;

/// Native, conversions; then wide characters.
#[test]
fn a_server_states_its_code_sets() {
    for (native, golden) in [
        (None, [0, 2, UTF_8, ISO_8859_1, UTF_16, 0]),
        (Some(CharSet::Utf8), [UTF_8, 1, ISO_8859_1, UTF_16, 0, 0]),
        (Some(CharSet::Latin1), [ISO_8859_1, 1, UTF_8, UTF_16, 0, 0]),
        (
            Some(CharSet::Iso8859_2),
            [LATIN_2, 2, UTF_8, ISO_8859_1, UTF_16, 0],
        ),
    ] {
        let stated = Component::CodeSets(CodeSetComponentInfo::with_native(native));
        let data = stated.encode_in(Endian::Big).unwrap().data;
        let numbers: Vec<u32> = data[4..]
            .chunks(4)
            .map(|octets| u32::from_be_bytes(octets.try_into().unwrap()))
            .collect();
        assert_eq!(numbers, golden[..numbers.len()], "{native:?}");
        assert_eq!(numbers.len(), 4 + golden[1] as usize, "{native:?}");
    }
}

/// The same for narrow and wide characters.
#[test]
fn code_sets_are_negotiated_in_the_order_of_the_specification() {
    const EBCDIC: u32 = 0x1002_0025;
    const WINDOWS_1251: u32 = 0x1002_04e3;
    const ASCII: u32 = ISO_646;
    const UCS_4: u32 = 0x0001_0104;
    let ours = CodeSetComponentInfo::ours();
    let component = |native, conversion: &[u32]| CodeSetComponent {
        native,
        conversion: conversion.into(),
    };
    let narrow = |native, conversion: &[u32]| CodeSetComponentInfo {
        char: component(native, conversion),
        wchar: CodeSetComponent::default(),
    };
    let char = |server: &CodeSetComponentInfo| negotiate(&ours, Some(server)).map(|sets| sets.char);
    let incompatible = |server_native| Err(CodeSetIncompatible { server_native });
    for (server, expected) in [
        // A common native code set.
        (narrow(UTF_8, &[ISO_8859_1]), Ok(CharSet::Utf8)),
        // The server's native one, because the client can convert: TAO and omniORB.
        (narrow(ISO_8859_1, &[UTF_8]), Ok(CharSet::Latin1)),
        (narrow(LATIN_2, &[ISO_8859_1, UTF_8]), Ok(CharSet::Iso8859_2)),
        (narrow(WINDOWS_1251, &[UTF_8]), Ok(CharSet::Windows1251)),
        // The client's native one, because the server can convert.
        (narrow(EBCDIC, &[ISO_8859_1, UTF_8]), Ok(CharSet::Utf8)),
        (narrow(ASCII, &[UTF_8]), Ok(CharSet::Utf8)),
        // A common conversion code set, the first one of the server.
        (narrow(EBCDIC, &[ASCII, ISO_8859_1]), Ok(CharSet::Latin1)),
        (narrow(EBCDIC, &[LATIN_2, ISO_8859_1]), Ok(CharSet::Iso8859_2)),
        // A server without a native one, as ours by default: the client's.
        (narrow(0, &[ISO_8859_1, UTF_8]), Ok(CharSet::Utf8)),
        // The fallback.
        (narrow(EBCDIC, &[]), Ok(CharSet::Utf8)),
        (narrow(ASCII, &[]), Ok(CharSet::Utf8)),
        // No code set for `char`.
        (narrow(0, &[]), incompatible(0)),
        (narrow(0, &[EBCDIC]), incompatible(0)),
    ] {
        assert_eq!(char(&server), expected, "{server:?}");
    }
    for (native, conversion, expected) in [
        (UTF_16, &[][..], WideCharSet::Utf16),
        (UCS_4, &[UTF_16], WideCharSet::Utf16),
        // A server without a native one that converts ours.
        (0, &[UCS_4, UTF_16], WideCharSet::Utf16),
        // The fallback.
        (UCS_4, &[], WideCharSet::Utf16),
        // No code set for `wchar`.
        (0, &[], WideCharSet::None),
        (0, &[UCS_4], WideCharSet::None),
    ] {
        let mut server = narrow(UTF_8, &[]);
        server.wchar = component(native, conversion);
        let sets = negotiate(&ours, Some(&server)).unwrap();
        assert_eq!((sets.char, sets.wchar), (CharSet::Utf8, expected), "{server:?}");
    }
    let none = negotiate(&ours, None).unwrap();
    assert_eq!((none.char, none.wchar), (CharSet::Latin1, WideCharSet::None));
    // This ORB may not support a common code set.
    let ebcdic = narrow(EBCDIC, &[]);
    let unsupported = negotiate(&ebcdic, Some(&ebcdic)).map(|sets| sets.char);
    assert_eq!(unsupported, incompatible(EBCDIC));
}

/// The ids as omniORB states them, whose code sets these are.
#[test]
fn code_sets_have_the_ids_of_the_registry() {
    for (char_set, id) in [
        (CharSet::Utf8, UTF_8),
        (CharSet::Latin1, ISO_8859_1),
        (CharSet::Ascii, ISO_646),
        (CharSet::Iso8859_2, 0x0001_0002),
        (CharSet::Iso8859_3, 0x0001_0003),
        (CharSet::Iso8859_4, 0x0001_0004),
        (CharSet::Iso8859_5, 0x0001_0005),
        (CharSet::Iso8859_6, 0x0001_0006),
        (CharSet::Iso8859_7, 0x0001_0007),
        (CharSet::Iso8859_8, 0x0001_0008),
        (CharSet::Iso8859_9, 0x0001_0009),
        (CharSet::Iso8859_10, 0x0001_000a),
        (CharSet::Iso8859_11, 0x0001_000b),
        (CharSet::Iso8859_13, 0x0001_000d),
        (CharSet::Iso8859_14, 0x0001_000e),
        (CharSet::Iso8859_15, 0x0001_000f),
        (CharSet::Iso8859_16, 0x0001_0010),
        (CharSet::Windows1250, 0x1002_04e2),
        (CharSet::Windows1251, 0x1002_04e3),
        (CharSet::Windows1252, 0x1002_04e4),
        (CharSet::Windows1253, 0x1002_04e5),
        (CharSet::Windows1254, 0x1002_04e6),
        (CharSet::Windows1255, 0x1002_04e7),
        (CharSet::Windows1256, 0x1002_04e8),
        (CharSet::Windows1257, 0x1002_04e9),
        (CharSet::Windows1258, 0x1002_04ea),
    ] {
        assert_eq!(char_set_id(char_set), id, "{char_set:?}");
        assert_eq!(char_set_from_id(id), Some(char_set));
        let is_converted = CodeSetComponentInfo::ours().char.supports(id);
        assert_eq!(is_converted, char_set != CharSet::Ascii, "{char_set:?}");
    }
    assert_eq!(char_set_from_id(0x0001_000c), None, "there is no ISO-8859-12");
}
