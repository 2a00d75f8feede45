//! References as they stand on the wire, and how clients read those of others.

use std::thread;

use punctual::{
    Completion, Interface, Minor, ObjectRef, Orb, Poa, Priority, PriorityBand, PriorityModel,
    SchedulingClass, SystemException, SystemExceptionKind as Kind, ior_to_string,
    transport::{Protocol, ProtocolPolicy},
};
use punctual_cdr::TaggedProfile;
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    peer::{Listener, Peer},
    priorities::{HIGH, LOW},
    priority,
    real_time::ordinary_client,
    recorder::resolve,
    server::{Profile, Server, Setup, client, reference},
    wire::{COMMON, Dialect, Reader},
};

const ORB_TYPE: u32 = 0;
const CODE_SETS: u32 = 1;
const POLICIES: u32 = 2;
/// Tag of a profile that consists of components.
const MULTIPLE_COMPONENTS: u32 = 1;
const TAO_ENDPOINTS: u32 = 0x5441_4f02;

fn start(model: Option<PriorityModel>, lanes: bool) -> Server {
    let setup = Setup {
        model,
        pool: if lanes {
            |pool| pool.lane(priority(HIGH), 1).lane(priority(LOW), 1)
        } else {
            |pool| pool
        },
        ..Setup::default()
    };
    setup.start()
}

#[test]
fn a_plain_reference_says_which_orb_and_which_code_sets() {
    let server = start(None, false);
    let profile = Profile::of(&server.probe);
    assert_eq!(server.probe.ior().type_id, ProbeRef::REPOSITORY_ID);
    assert_eq!((profile.version, &profile.host[..]), ([1, 2], &b"127.0.0.1"[..]));
    assert_eq!(profile.key.len(), 20, "prefix, boot, slot, generation");
    assert_ne!(
        profile.key[4..12],
        Server::start().key()[4..12],
        "each run has its own boot"
    );
    let tags: Vec<_> = profile.components.iter().map(|(tag, _)| *tag).collect();
    assert_eq!(tags, [ORB_TYPE, CODE_SETS]);
    assert_eq!(
        Reader::encapsulation(&profile.components[0].1).u32(),
        u32::from_be_bytes(*b"PUNC")
    );
    let mut code_sets = Reader::encapsulation(&profile.components[1].1);
    let numbers: Vec<_> = (0..6).map(|_| code_sets.u32()).collect();
    assert_eq!(
        numbers,
        [0, 2, 0x0501_0001, 0x0001_0001, 0x0001_0109, 0],
        "no native one"
    );
    assert_eq!(code_sets.rest(), b"");
}

#[test]
fn a_real_time_reference_says_its_endpoints_and_its_priority_model() {
    let propagated = client_propagated(priority(LOW));
    let declared = PriorityModel::ServerDeclared(priority(HIGH));
    // Model on the wire, lanes, priorities of the endpoints.
    let rows = [
        (propagated, 0, LOW, true, &[LOW, HIGH][..]),
        (declared, 1, HIGH, true, &[HIGH]),
        (propagated, 0, LOW, false, &[-1]),
        (declared, 1, HIGH, false, &[-1]),
    ];
    for (model, number, server_priority, lanes, priorities) in rows {
        let server = start(Some(model), lanes);
        let profile = Profile::of(&server.probe);
        let tags: Vec<_> = profile.components.iter().map(|(tag, _)| *tag).collect();
        assert_eq!(
            tags,
            [ORB_TYPE, CODE_SETS, TAO_ENDPOINTS, POLICIES],
            "the order of TAO"
        );
        let mut endpoints = Reader::encapsulation(&profile.components[2].1);
        assert_eq!(endpoints.u32(), priorities.len() as u32);
        for (index, priority) in priorities.iter().enumerate() {
            assert_eq!(endpoints.string(), profile.host);
            let port = endpoints.u16();
            assert_eq!(
                port == profile.port,
                index == 0,
                "the first one is the profile's own"
            );
            assert_eq!(endpoints.u16() as i16, *priority);
        }
        assert_eq!(endpoints.rest(), b"");
        let mut policies = Reader::encapsulation(&profile.components[3].1);
        assert_eq!((policies.u32(), policies.u32()), (1, 40));
        let value = policies.sequence();
        assert_eq!(value.len(), 10);
        let mut value = Reader::encapsulation(value);
        assert_eq!(
            (value.u32(), value.u16() as i16),
            (number, server_priority),
            "{model:?}"
        );
        assert_eq!(policies.rest(), b"");
    }
}

#[test]
fn keys_of_persistent_objects_are_their_names() {
    let orb = client();
    let poa = orb.root_poa().child("a").persistent().user_ids().build().unwrap();
    struct Nobody;
    impl punctual::rt::Skeleton<Nobody> for NobodyRef {
        fn dispatch(_: &Nobody, upcall: &mut punctual::rt::Upcall<'_, '_>) -> Result<(), SystemException> {
            Err(upcall.unknown_operation())
        }
    }
    struct NobodyRef(ObjectRef);
    impl Interface for NobodyRef {
        const REPOSITORY_ID: &'static str = "IDL:Nobody:1.0";
        const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Nobody:1.0"];
        fn from_object(object: ObjectRef) -> Self {
            Self(object)
        }
        fn as_object(&self) -> &ObjectRef {
            &self.0
        }
    }
    let nobody: NobodyRef = poa.object(Nobody).id("one").activate().unwrap();
    let probe = nobody.0.unchecked::<ProbeRef>();
    assert_eq!(Profile::of(&probe).key, b"PU\x01\x02\x00\x01aone");
}

/// Components of a reference with these endpoints, this priority model and these bands.
fn real_time(model: u32, endpoints: &[(u16, i16)], bands: &[(i16, i16)]) -> Vec<(u32, Vec<u8>)> {
    let tao = COMMON.encapsulation(|data| {
        endpoints
            .iter()
            .fold(data.u32(endpoints.len() as u32), |data, (port, priority)| {
                data.string(b"127.0.0.1").u16(*port).u16(*priority as u16)
            })
    });
    let model = (40, COMMON.encapsulation(|data| data.u32(model).u16(0)));
    let bands_policy = (
        45,
        COMMON.encapsulation(|data| {
            bands
                .iter()
                .fold(data.u32(bands.len() as u32), |data, (low, high)| {
                    data.u16(*low as u16).u16(*high as u16)
                })
        }),
    );
    let unknown = (99, vec![1, 2, 3]);
    let policies = if bands.is_empty() {
        vec![model, unknown]
    } else {
        vec![bands_policy, model, unknown]
    };
    let policies = COMMON.encapsulation(|data| data.contexts(&policies));
    vec![(TAO_ENDPOINTS, tao), (POLICIES, policies)]
}

#[test]
fn the_priority_travels_in_context_10_before_the_code_sets() {
    let listener = Listener::open();
    let orb = ordinary_client();
    let mut components = real_time(0, &[(listener.port, -1)], &[]);
    let code_sets = COMMON.encapsulation(|data| data.u32(0x0501_0001).u32(0).u32(0x0001_0109).u32(0));
    components.insert(0, (CODE_SETS, code_sets));
    let ior = ior_to_string(&reference([1, 2], listener.port, b"rt", &components));
    let probe: ProbeRef = orb.resolve(&ior).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept();
            let mut contexts = || {
                let message = peer.receive().unwrap();
                let request = message.request();
                peer.send(&COMMON.reply(request.id, 0, |body| body.i32(42)));
                request.contexts
            };
            let text = COMMON.encapsulation(|data| data.u32(0x0501_0001).u32(0x0001_0109));
            let unset: [(u32, Vec<u8>); 2] = [(10, native(0)), (CODE_SETS, text)];
            assert_eq!(contexts(), unset);
            assert_eq!(contexts(), [(10, native(LOW))]);
            assert_eq!(contexts(), [(10, native(HIGH))]);
        });
        assert_eq!(probe.twice(21), Ok(42));
        orb.current().set_priority(priority(LOW)).unwrap();
        assert_eq!(probe.twice(21), Ok(42));
        orb.current().set_priority(Priority::MAX).unwrap();
        assert_eq!(probe.twice(21), Ok(42));
    });
}

/// Four octets: byte order, padding, a short in the byte order of this machine.
fn native(priority: i16) -> Vec<u8> {
    let order = u8::from(cfg!(target_endian = "little"));
    [&[order, 0][..], &priority.to_ne_bytes()].concat()
}

/// One listener per endpoint; calls at each priority must come to the expected one, or fail.
#[test]
fn the_priority_selects_the_endpoint() {
    let bands = [(0, 15_000), (15_001, HIGH)];
    type Row<'r> = (
        &'static str,
        u32,
        &'r [i16],
        &'r [(i16, i16)],
        &'r [(i16, Option<usize>)],
    );
    let rows: &[Row<'_>] = &[
        (
            "lanes",
            0,
            &[LOW, HIGH],
            &[],
            &[(LOW, Some(0)), (HIGH, Some(1)), (5, None), (LOW, Some(0))],
        ),
        (
            "bands",
            0,
            &[LOW, HIGH],
            &bands,
            &[
                (0, Some(0)),
                (15_000, Some(0)),
                (15_001, Some(1)),
                (HIGH, Some(1)),
            ],
        ),
        (
            "outside all bands",
            0,
            &[LOW, HIGH],
            &[(0, 100)],
            &[(LOW, None), (50, None)],
        ),
        (
            "a server without lanes",
            0,
            &[-1],
            &[],
            &[(0, Some(0)), (LOW, Some(0)), (HIGH, Some(0))],
        ),
        (
            "declared by the server",
            1,
            &[HIGH],
            &[],
            &[(0, Some(0)), (LOW, Some(0))],
        ),
    ];
    for (name, model, endpoints, bands, calls) in rows {
        println!("{name}");
        let listeners: Vec<_> = endpoints.iter().map(|_| Listener::open()).collect();
        let places: Vec<_> = listeners.iter().map(|listener| listener.port).collect();
        let places: Vec<_> = places.into_iter().zip(endpoints.iter().copied()).collect();
        let ior = reference([1, 2], places[0].0, b"rt", &real_time(*model, &places, bands));
        let orb = ordinary_client();
        let probe: ProbeRef = orb.resolve(&ior_to_string(&ior)).unwrap();
        thread::scope(|scope| {
            for (index, listener) in listeners.into_iter().enumerate() {
                let expected = calls.iter().filter(|(_, place)| *place == Some(index)).count();
                scope.spawn(move || {
                    if expected == 0 {
                        return;
                    }
                    let mut peer = listener.accept();
                    for _ in 0..expected {
                        let message = peer.receive().unwrap();
                        let request = message.request();
                        assert_eq!(
                            request.contexts.len(),
                            usize::from(*model == 0),
                            "declared ones do not travel"
                        );
                        peer.send(&COMMON.reply(request.id, 0, |body| body.i32(index as i32)));
                    }
                });
            }
            for (at, place) in *calls {
                orb.current().set_priority(priority(*at)).unwrap();
                let minor = match bands.iter().find(|(low, high)| (*low..=*high).contains(at)) {
                    Some(_) => Minor::NO_ENDPOINT_IN_BAND,
                    None if bands.is_empty() => Minor::NO_ENDPOINT_FOR_PRIORITY,
                    None => Minor::PRIORITY_OUTSIDE_BANDS,
                };
                let none = SystemException::new(Kind::InvPolicy, minor, Completion::No);
                assert_eq!(
                    probe.twice(1),
                    place.map(|place| place as i32).ok_or(none),
                    "at {at}"
                );
            }
        });
    }
}

/// TAO does not initialise padding, and some ORBs do not have our byte order.
#[test]
fn equivalent_references_may_differ_in_every_octet_that_names_nothing() {
    let orb = client();
    let object = |dialect: Dialect, host: &[u8], port: u16, key: &[u8], filler: u8| {
        let mut data = dialect.encapsulation(|data| {
            let address = data.raw(&[1, 2]).string(host).u16(port).sequence(key);
            address.contexts(&[(0x5a5a, vec![filler; 4])])
        });
        assert_eq!(data[3], 0, "padding in front of the host's length");
        data[3] = filler;
        let mut ior = reference([1, 2], 1, b"", &[]);
        ior.profiles[0].data = data;
        resolve(&orb, &ior).as_object().clone()
    };
    let (little, big) = (Dialect::new(2, true), Dialect::new(2, false));
    let one = object(little, b"radar", 7, b"key", 0);
    for same in [
        object(little, b"radar", 7, b"key", 0xee),
        object(big, b"radar", 7, b"key", 3),
    ] {
        assert_ne!(one.ior(), same.ior());
        assert!(one.is_equivalent(&same) && same.is_equivalent(&one));
        assert_eq!(one.hash(0), same.hash(0));
    }
    for other in [
        object(little, b"sonar", 7, b"key", 0),
        object(little, b"radar", 8, b"key", 0),
        object(little, b"radar", 7, b"kez", 0),
    ] {
        assert!(!one.is_equivalent(&other) && !other.is_equivalent(&one));
    }
    // A profile that this ORB cannot read is compared as it is.
    let with = |tag, octet| {
        let mut ior = one.ior().clone();
        ior.profiles.push(TaggedProfile {
            tag,
            data: vec![0, octet],
        });
        resolve(&orb, &ior).as_object().clone()
    };
    let foreign = |octet| with(0x5a5a, octet);
    assert!(foreign(1).is_equivalent(&foreign(1)) && !foreign(1).is_equivalent(&foreign(2)));
    // Components beside profiles name nothing.
    let described = with(MULTIPLE_COMPONENTS, 0);
    assert!(described.is_equivalent(&one) && one.is_equivalent(&described));
    assert_eq!(one.hash(0), described.hash(0));
}

#[test]
fn a_client_reads_the_policies_that_a_reference_exposes() {
    let (low, high) = (Priority::new(100).unwrap(), Priority::new(200).unwrap());
    let orb = Orb::builder().listen("iiop://127.0.0.1").listen("uiop://");
    let orb = orb
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .build()
        .unwrap();
    let pool = orb.threadpool().lane(low, 1).lane(high, 1).build().unwrap();
    let adapter = |name: &str, model| orb.root_poa().child(name).threadpool(&pool).priority_model(model);
    let bands = [
        PriorityBand::new(Priority::MIN, low),
        PriorityBand::new(high, Priority::MAX),
    ];
    let declared = PriorityModel::ServerDeclared(high);
    let banded = adapter("declared", declared).priority_bands(bands);
    let propagated = client_propagated(low);
    let client = client();
    // A server ends its ORB with itself.
    let mut servers = Vec::new();
    let mut exposed = |poa: Poa| {
        let server = Server::with_poa(orb.clone(), pool.clone(), poa);
        let policies = server.reference_for(&client).as_object().exposed_policies();
        servers.push(server);
        policies
    };
    let policies = exposed(banded.build().unwrap());
    assert_eq!(policies.priority_model, Some(declared));
    assert_eq!(policies.priority_bands, bands);
    assert!(policies.client_protocols.protocols().is_empty());
    let only_unix = ProtocolPolicy::new([Protocol::UIOP]);
    let chosen = adapter("propagated", propagated).client_protocols(only_unix.clone());
    let policies = exposed(chosen.build().unwrap());
    assert_eq!(policies.priority_model, Some(propagated));
    assert_eq!(policies.priority_bands, []);
    assert_eq!(policies.client_protocols, only_unix);
}

#[test]
fn a_published_key_leads_to_the_whole_reference() {
    let server = Server::start();
    server.orb.publish("Probe", &server.probe).unwrap();
    let orb = server.orb.clone();
    let run = thread::spawn(move || orb.run());
    let url = server.orb.publish("Probe", &server.probe).unwrap();
    let port = url.split([':', '/']).rev().nth(1).unwrap().parse().unwrap();
    let mut peer = Peer::connect(port);
    peer.send(&COMMON.locate_request(5, b"Probe"));
    let located = peer.receive().unwrap();
    let mut body = located.reader();
    assert_eq!((located.message_type, body.u32(), body.u32()), (4, 5, 2));
    assert_eq!(body.string(), ProbeRef::REPOSITORY_ID.as_bytes());
    assert_eq!((body.u32(), body.u32()), (1, 0));
    assert_eq!(body.sequence(), server.probe.ior().profiles[0].data);
    for dialect in punctual_fixtures::wire::DIALECTS {
        peer.send(&dialect.request(6, b"Probe", "twice", |body| body.i32(21)));
        let message = peer.receive().unwrap();
        let mut reply = message.reply();
        assert_eq!((reply.id, reply.status), (6, 3));
        assert_eq!(reply.body.string(), ProbeRef::REPOSITORY_ID.as_bytes());
        assert_eq!((reply.body.u32(), reply.body.u32()), (1, 0));
        assert_eq!(reply.body.sequence(), server.probe.ior().profiles[0].data);
    }
    let probe: ProbeRef = client().resolve(&url).unwrap();
    assert_eq!(probe.ior(), server.probe.ior());
    drop(server);
    run.join().unwrap();
}
