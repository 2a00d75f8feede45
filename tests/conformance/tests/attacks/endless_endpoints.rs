//! References that name more endpoints than any server has, and endpoints that cannot be reached.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use punctual::{
    Completion, Ior, Limits, Minor, Orb, PolicyOverrides, ResolveError, SystemExceptionKind as Kind,
    ior_to_string,
    transport::{Listener, ProtocolProperties, Stream, Transport},
};
use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder, TaggedProfile};
use punctual_fixtures::{
    recorder,
    server::{Server, client, client_with, reference},
    wire::{COMMON, Octets},
};

const TAG_ALTERNATE_ADDRESS: u32 = 3;
const TAO_ENDPOINTS: u32 = 0x5441_4f02;
const MANY: u16 = 50_000;

/// A component of `count` endpoints, each at another port.
fn endpoints(count: u16) -> (u32, Vec<u8>) {
    let write = |data: Octets| {
        (0..count).fold(data.u32(count.into()), |data, port| {
            data.string(b"h").u16(port).u16(0xffff)
        })
    };
    (TAO_ENDPOINTS, COMMON.encapsulation(write))
}

fn resolved(orb: &Orb, ior: &Ior) -> Result<(), Kind> {
    match orb.resolve_object(&ior_to_string(ior)) {
        Ok(_) => Ok(()),
        Err(ResolveError::Call { exception, .. }) => Err(exception.kind),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_reference_to_more_endpoints_than_the_limit_is_refused() {
    let server = Server::start();
    let orb = client();
    let of = |components: &[(u32, Vec<u8>)]| reference([1, 2], 1, b"endless", components);
    let alternate = |port| {
        (
            TAG_ALTERNATE_ADDRESS,
            COMMON.encapsulation(|data| data.string(b"h").u16(port)),
        )
    };
    let alternates: Vec<_> = (0..MANY).map(alternate).collect();
    let bands: Vec<_> = (0..16_000).map(|band| (2 * band, 2 * band + 1)).collect();
    let mut profiles = of(&[]);
    profiles.profiles = (0..MANY)
        .flat_map(|port| reference([1, 2], port, b"endless", &[]).profiles)
        .collect();
    let rows = [
        ("endpoints", of(&[endpoints(MANY)])),
        ("alternate addresses", of(&alternates)),
        ("bands", of(&[recorder::policies(&[recorder::bands(&bands)])])),
        ("profiles", profiles),
    ];
    for (name, ior) in rows {
        assert_eq!(resolved(&orb, &ior), Err(Kind::ImpLimit), "{name}");
    }
    // Addresses of any length are no way around it.
    let long = COMMON.encapsulation(|data| data.u32(1).string(&[b'h'; 100_000]).u16(1).u16(0xffff));
    assert_eq!(
        resolved(&orb, &of(&[(TAO_ENDPOINTS, long)])),
        Err(Kind::InvObjref)
    );
    assert_eq!(
        server.reference_for(&orb).twice(21),
        Ok(42),
        "others are as before"
    );
}

#[test]
fn the_limit_on_endpoints_is_a_setting() {
    let orb = client_with(Limits::default().max_endpoints(3));
    let of = |count| reference([1, 2], 1, b"endless", &[endpoints(count)]);
    assert_eq!(resolved(&orb, &of(3)), Ok(()));
    assert_eq!(resolved(&orb, &of(4)), Err(Kind::ImpLimit));
}

/// A transport whose servers take a while to refuse, regardless of the caller's timeout.
struct Slow(&'static AtomicUsize);

const TAG_SLOW: u32 = 0x534c_4f57;
const REFUSING_TAKES: Duration = Duration::from_millis(20);

impl Transport for Slow {
    fn scheme(&self) -> &str {
        "slow"
    }

    fn profile_tag(&self) -> u32 {
        TAG_SLOW
    }

    fn listen(&self, _: &str, _: Option<&str>, _: &ProtocolProperties) -> io::Result<Box<dyn Listener>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn connect(&self, _: &str, _: &ProtocolProperties, _: Duration) -> io::Result<Box<dyn Stream>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        thread::sleep(REFUSING_TAKES);
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn lane_address(&self, address: &str, _: &str) -> String {
        address.to_owned()
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (address, 0_u16).encode(encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        let host = String::decode(decoder)?;
        Ok(format!("{host}:{}", u16::decode(decoder)?))
    }
}

#[test]
fn a_call_tries_no_further_endpoint_after_its_deadline() {
    static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    const ENDPOINTS: u16 = 200;
    let orb = Orb::builder().transport(Slow(&ATTEMPTS)).build().unwrap();
    let profile = COMMON.encapsulation(|data| {
        let address = data.raw(&[1, 2]).string(b"h").u16(1).sequence(b"endless");
        address.contexts(&[endpoints(ENDPOINTS)])
    });
    let mut ior = reference([1, 2], 1, b"endless", &[]);
    ior.profiles = vec![TaggedProfile {
        tag: TAG_SLOW,
        data: profile,
    }];
    let probe = recorder::resolve(&orb, &ior);
    let timeout = 5 * REFUSING_TAKES;
    let policies = PolicyOverrides::new().roundtrip_timeout(timeout);
    let probe: punctual_fixtures::conformance::ProbeRef = probe.with_policies(policies).unchecked();
    // The second time, all that were tried are avoided, and still tried if no other is left.
    for _ in 0..2 {
        let before = ATTEMPTS.load(Ordering::Relaxed);
        let start = Instant::now();
        let late = probe.twice(1).unwrap_err();
        assert_eq!((late.kind, late.minor), (Kind::Timeout, Minor::REQUEST_TIMED_OUT));
        assert_eq!(late.completed, Completion::No);
        assert!(start.elapsed() >= timeout);
        let attempts = ATTEMPTS.load(Ordering::Relaxed) - before;
        assert!(
            (1..=6).contains(&attempts),
            "{attempts} of {ENDPOINTS} endpoints were tried"
        );
    }
}
