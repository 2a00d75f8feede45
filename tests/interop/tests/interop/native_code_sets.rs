//! omniORB with each of its native code sets of one octet for each character, in both directions.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use punctual::{CharSet, Orb, SystemExceptionKind::DataConversion, WString, any::Any, interceptors::*};
use punctual_cdr::{Decode, Decoder, Endian};
use punctual_giop::{CODE_SETS, Component, char_set_id, decode_code_sets};
use punctual_interop::{
    checks::{Context, limits},
    dynamics::ExchangeRef,
    exchange::ExchangeServer,
    omniorbpy::OmniOrbPy,
    server::{Served, Server},
};

use crate::{matrix::Row, programs};

const NATIVE_CODE_SETS: [(CharSet, &str); 23] = [
    (CharSet::Iso8859_2, "ISO-8859-2"),
    (CharSet::Iso8859_3, "ISO-8859-3"),
    (CharSet::Iso8859_4, "ISO-8859-4"),
    (CharSet::Iso8859_5, "ISO-8859-5"),
    (CharSet::Iso8859_6, "ISO-8859-6"),
    (CharSet::Iso8859_7, "ISO-8859-7"),
    (CharSet::Iso8859_8, "ISO-8859-8"),
    (CharSet::Iso8859_9, "ISO-8859-9"),
    (CharSet::Iso8859_10, "ISO-8859-10"),
    (CharSet::Iso8859_11, "ISO-8859-11"),
    (CharSet::Iso8859_13, "ISO-8859-13"),
    (CharSet::Iso8859_14, "ISO-8859-14"),
    (CharSet::Iso8859_15, "ISO-8859-15"),
    (CharSet::Iso8859_16, "ISO-8859-16"),
    (CharSet::Windows1250, "windows-1250"),
    (CharSet::Windows1251, "windows-1251"),
    (CharSet::Windows1252, "windows-1252"),
    (CharSet::Windows1253, "windows-1253"),
    (CharSet::Windows1254, "windows-1254"),
    (CharSet::Windows1255, "windows-1255"),
    (CharSet::Windows1256, "windows-1256"),
    (CharSet::Windows1257, "windows-1257"),
    (CharSet::Windows1258, "windows-1258"),
];

/// Name of the rows.
const CONFIGURATION: &str = "GIOP 1.2, ISO-8859-2 to -16, windows-1250 to -1258";

const NATIVE: &str = "-ORBnativeCharCodeSet";

/// Characters that omniORB does not have, or has elsewhere: it follows older editions.
const NEWER: [(CharSet, &str); 2] = [
    (CharSet::Iso8859_7, "\u{20ac}\u{20af}\u{37a}"),
    (CharSet::Iso8859_8, "\u{af}\u{200e}\u{200f}"),
];

/// Returns the octets above ASCII, and the characters that they stand for here and in omniORB.
fn characters(char_set: CharSet) -> (Vec<u32>, Vec<char>) {
    let newer = NEWER.iter().find(|(other, _)| *other == char_set);
    let newer = newer.map_or("", |(_, characters)| characters);
    let character = |octet: u8| {
        let octets = [octet];
        char::decode(&mut Decoder::new(&octets, Endian::Big).with_char_set(char_set)).ok()
    };
    let known = (0x80..=u8::MAX).filter_map(|octet| Some((u32::from(octet), character(octet)?)));
    known.filter(|(_, known)| !newer.contains(*known)).unzip()
}

/// The servers take the octets of their own text for code points, and so show what they have received.
#[test]
fn omniorb_servers() {
    let Some(programs) = programs() else { return };
    for (char_set, name) in NATIVE_CODE_SETS {
        let server = programs.server(&[NATIVE, name]);
        let context = Context::new(&server.reference).expect("the server's reference");
        let stated = context.profile.components.iter().find_map(|component| {
            let Ok(Component::CodeSets(stated)) = Component::decode(component) else {
                return None;
            };
            Some(stated.char.native)
        });
        assert_eq!(stated, Some(char_set_id(char_set)), "{name}");
        let (octets, characters) = characters(char_set);
        let text = String::from_iter(&characters);
        assert_eq!(context.peer.code_points(&text).as_ref(), Ok(&octets), "{name}");
        assert_eq!(
            context.peer.from_code_points(&octets).as_ref(),
            Ok(&text),
            "{name}"
        );
        for pair in characters.windows(2) {
            let mut inout = pair[1];
            let (result, out) = context.peer.rotate_char(pair[0], &mut inout, 'c').expect(name);
            assert_eq!([result, out, inout], [pair[0], pair[1], 'c'], "{name}");
        }
        let refused = context.peer.code_points("日").map_err(|exception| exception.kind);
        assert_eq!(refused, Err(DataConversion), "{name}");
        context
            .peer
            .shutdown()
            .expect("the server answers before it ends");
        server.ends();
    }
    Row::described("omniORB 4.2.5", "server", CONFIGURATION).record(NATIVE_CODE_SETS.len(), &[]);
}

/// The clients belong to proxies with the same code set, and call servers of ours to which it is native.
#[test]
fn omniorb_clients() {
    let Some(programs) = programs() else { return };
    let orb = Orb::builder().build().expect("an ORB");
    for (char_set, name) in NATIVE_CODE_SETS {
        let announced = Announced::default();
        let builder = Orb::builder().native_code_set(Some(char_set));
        let ours = ExchangeServer::of(builder.initializer(&announced));
        let proxy = programs.exchange(&[NATIVE, name], Some(&ours.exchange.to_ior()));
        let exchange: ExchangeRef = orb.resolve(&proxy.reference).expect("the proxy's reference");
        let text = String::from_iter(characters(char_set).1);
        let any = Any::new(&text).expect("a string");
        let mut inout = any.clone();
        let (result, out) = exchange.rotate_any(&any, &mut inout, &any).expect(name);
        for any in [result, inout, out] {
            assert_eq!(any.get().as_ref(), Ok(&text), "{name}");
        }
        assert_eq!(
            announced.0.load(Ordering::Relaxed),
            char_set_id(char_set),
            "{name}"
        );
        exchange.shutdown().expect("the server answers before it ends");
        proxy.ends();
    }
    Row::described("omniORB 4.2.5", "client", CONFIGURATION).record(NATIVE_CODE_SETS.len(), &[]);
}

/// The code set of `char` that the client has announced.
#[derive(Clone, Default)]
struct Announced(Arc<AtomicU32>);

impl ServerRequestInterceptor for Announced {
    fn name(&self) -> &str {
        "announced"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        if let Some(data) = info.get_request_service_context(CODE_SETS) {
            let (char, _) = decode_code_sets(data).expect("code sets");
            self.0.store(char, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl OrbInitializer for Announced {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .expect("the name is free");
    }
}

/// Server and client of omniORBpy, which pass all calls on to a server of ours.
#[test]
fn omniorbpy_proxies() {
    let Some(omniorbpy) = OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    for (char_set, name) in [
        (CharSet::Iso8859_2, "ISO-8859-2"),
        (CharSet::Iso8859_15, "ISO-8859-15"),
        (CharSet::Windows1251, "windows-1251"),
    ] {
        let builder = Orb::builder().native_code_set(Some(char_set));
        let ours = Server::of(builder, limits(), Served::ByTheOrb);
        let proxy = omniorbpy.server(&[NATIVE, name], Some(&ours.peer.to_ior()));
        let context = Context::new(&proxy.reference).expect("the proxy's reference");
        let (_, characters) = characters(char_set);
        let text = String::from_iter(&characters);
        let points: Vec<u32> = characters.iter().copied().map(u32::from).collect();
        assert_eq!(context.peer.code_points(&text).as_ref(), Ok(&points), "{name}");
        assert_eq!(
            context.peer.from_code_points(&points).as_ref(),
            Ok(&text),
            "{name}"
        );
        let mut inout = characters[40];
        let rotated = context.peer.rotate_char(characters[50], &mut inout, 'c');
        assert_eq!(rotated, Ok((characters[50], characters[40])), "{name}");
    }
}

/// Code sets that only omniORB has, and text in them.
const OTHERS: [(&str, &str); 4] = [
    ("GBK", "中文, é"),
    ("IBM-037", "Grüße, ¼"),
    ("IBM-500", "Grüße, ¼"),
    ("SNI-EDF-4", "Grüße, ¼"),
];

/// Between omniORB with one of them and us, text is UTF-8, in which a `char` is ASCII.
#[test]
fn text_passes_to_and_from_code_sets_that_only_omniorb_has() {
    let Some(programs) = programs() else { return };
    let orb = Orb::builder().build().expect("an ORB");
    let ours = ExchangeServer::start();
    for (name, text) in OTHERS {
        let proxy = Some(ours.exchange.to_ior());
        for target in [None, proxy.as_deref()] {
            let peer = programs.exchange(&[NATIVE, name], target);
            let exchange: ExchangeRef = orb.resolve(&peer.reference).expect("the peer's reference");
            let any = Any::new(text).expect("a string");
            let mut inout = any.clone();
            let (result, out) = exchange.rotate_any(&any, &mut inout, &any).expect(name);
            for any in [result, inout, out] {
                assert_eq!(any.get::<String>().as_deref(), Ok(text), "{name}");
            }
            exchange.shutdown().expect("the server answers before it ends");
            peer.ends();
        }
        let server = programs.server(&[NATIVE, name]);
        let context = Context::new(&server.reference).expect("the server's reference");
        let mut inout = 'b';
        let rotated = context.peer.rotate_char('a', &mut inout, 'c');
        assert_eq!((rotated, inout), (Ok(('a', 'b')), 'c'), "{name}");
        let refused = context
            .peer
            .rotate_char('ü', &mut inout, 'c')
            .map_err(|error| error.kind);
        assert_eq!(refused, Err(DataConversion), "{name}");
        context
            .peer
            .shutdown()
            .expect("the server answers before it ends");
        server.ends();
    }
}

/// Where wide text is UCS-4 for omniORB's application, it is UTF-16 on the wire.
#[test]
fn wide_text_passes_to_and_from_ucs_4() {
    let Some(programs) = programs() else { return };
    let ours = ExchangeServer::start();
    let orb = Orb::builder().build().expect("an ORB");
    let proxy = Some(ours.exchange.to_ior());
    for target in [None, proxy.as_deref()] {
        let peer = programs.exchange(&["-ORBnativeWCharCodeSet", "UCS-4"], target);
        let exchange: ExchangeRef = orb.resolve(&peer.reference).expect("the peer's reference");
        let [a, mut b, c]: [WString; 3] = ["größer", "€", "ж"].map(|text: &str| text.into());
        let before = b.clone();
        let (result, d) = exchange.rotate_wstring(&a, &mut b, &c).expect("wide text");
        assert_eq!((&result, &b, &d), (&a, &c, &before));
        exchange.shutdown().expect("the server answers before it ends");
        peer.ends();
    }
}
