//! Choice of the profile and endpoint of a reference for a call.

use punctual::{
    Completion, Ior, Minor, PolicyOverrides, Priority, Protocol, ProtocolPolicy, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_cdr::TaggedProfile;
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{Listener, NOBODY},
    real_time::ordinary_client,
    recorder::{CLIENT_PROPAGATED, Recorder, SERVER_DECLARED, band, endpoints, model, policies, resolve},
    server::reference,
    wire::COMMON,
};

const ALTERNATE: u32 = 3;
const UIOP: u32 = 0x5441_4f00;

type Component = (u32, Vec<u8>);

fn alternate(port: u16) -> Component {
    let address = COMMON.encapsulation(|data| data.string(b"127.0.0.1").u16(port));
    (ALTERNATE, address)
}

/// The policy 43: IIOP without properties of its own, or another protocol.
fn protocols(tags: &[u32]) -> Component {
    let value = COMMON.encapsulation(|data| {
        tags.iter()
            .fold(data.u32(tags.len() as u32), |data, tag| match tag {
                // Buffer sizes; keep-alive, don't-route, no-delay.
                0 => data.u32(*tag).u32(0).u32(0).raw(&[1, 0, 1]),
                _ => data.u32(*tag).u32(0).u32(0),
            })
    });
    (43, value)
}

/// The three places that rows speak of.
type Places = [Recorder; 3];
/// A profile: its port and components.
type Profiles = Vec<(u16, Vec<Component>)>;

fn propagated() -> Component {
    policies(&[model(CLIENT_PROPAGATED, 0)])
}

fn declared() -> Component {
    policies(&[model(SERVER_DECLARED, 20)])
}

/// Each row: the profiles; then callers' priorities with the place that serves them, or why none does.
#[test]
fn calls_go_where_reference_and_priority_say() {
    type Row = (
        &'static str,
        fn(&Places) -> Profiles,
        &'static [(i16, Result<usize, Minor>)],
    );
    const NO_LANE: &[(i16, Result<usize, Minor>)] = &[(15, Err(Minor::NO_ENDPOINT_FOR_PRIORITY))];
    let rows: &[Row] = &[
        (
            "one profile, nothing else",
            |[a, ..]| vec![(a.port, vec![])],
            &[(0, Ok(0)), (20, Ok(0))],
        ),
        (
            "lanes without a model: the first one for every caller",
            |[a, b, _]| vec![(a.port, vec![endpoints(&[(a, 10), (b, 20)])])],
            &[(10, Ok(0)), (20, Ok(0)), (15, Ok(0))],
        ),
        (
            "lanes for the priority of the caller",
            |[a, b, c]| {
                vec![(
                    a.port,
                    vec![endpoints(&[(a, 10), (b, 20), (c, 30)]), propagated()],
                )]
            },
            &[(10, Ok(0)), (20, Ok(1)), (30, Ok(2)), (10, Ok(0))],
        ),
        (
            "no lane of that priority",
            |[a, b, _]| vec![(a.port, vec![endpoints(&[(a, 10), (b, 20)]), propagated()])],
            NO_LANE,
        ),
        (
            "an alternate address is no lane",
            |[a, b, c]| {
                vec![(
                    a.port,
                    vec![endpoints(&[(a, 10), (b, 20)]), alternate(c.port), propagated()],
                )]
            },
            NO_LANE,
        ),
        (
            "the profile's own address is not used where lanes are listed",
            |[a, b, c]| vec![(a.port, vec![endpoints(&[(b, 10), (c, 20)]), propagated()])],
            &[(10, Ok(1)), (20, Ok(2))],
        ),
        (
            "a pool without lanes: one for all",
            |[a, b, _]| vec![(a.port, vec![endpoints(&[(b, -1)]), propagated()])],
            &[(10, Ok(1)), (20, Ok(1))],
        ),
        (
            "a server that does not list its endpoints",
            |[a, ..]| vec![(a.port, vec![propagated()])],
            &[(10, Ok(0)), (20, Ok(0))],
        ),
        (
            "declared by the server: its lane for every caller",
            |[a, b, _]| vec![(a.port, vec![endpoints(&[(b, 20)]), declared()])],
            &[(10, Ok(1)), (20, Ok(1))],
        ),
        (
            "several lanes of one priority: the first one",
            |[a, b, c]| vec![(a.port, vec![endpoints(&[(b, 10), (c, 10)]), propagated()])],
            &[(10, Ok(1)), (10, Ok(1))],
        ),
        (
            "an endpoint without a listener: the next one",
            |[_, b, _]| vec![(NOBODY, vec![alternate(NOBODY), alternate(b.port)])],
            &[(0, Ok(1)), (20, Ok(1))],
        ),
        (
            "endpoints that cannot be read: the profile's own address, for all",
            |[a, b, _]| {
                let (tag, octets) = endpoints(&[(b, 10)]);
                vec![(a.port, vec![(tag, octets[..9].to_vec()), propagated()])]
            },
            &[(10, Ok(0)), (20, Ok(0))],
        ),
        (
            "an alternate address that cannot be read: the profile's own",
            |[a, ..]| vec![(a.port, vec![(ALTERNATE, vec![1, 0, 0])])],
            &[(10, Ok(0))],
        ),
        (
            "two profiles of one key: the first, then the second",
            |[_, b, c]| vec![(NOBODY, vec![]), (b.port, vec![]), (c.port, vec![])],
            &[(0, Ok(1))],
        ),
        (
            "protocols named by the server",
            |[a, ..]| vec![(a.port, vec![policies(&[protocols(&[UIOP, 0])])])],
            &[(0, Ok(0))],
        ),
        (
            "protocols named by the server, without the reference having one",
            |[a, ..]| vec![(a.port, vec![policies(&[protocols(&[UIOP])])])],
            &[(0, Err(Minor::NO_PROTOCOL_ALLOWED))],
        ),
    ];
    for (name, profiles, calls) in rows {
        println!("{name}");
        let places = [(); 3].map(|()| Recorder::start());
        let orb = ordinary_client();
        let profiles = profiles(&places);
        let mut ior = Ior::default();
        for (port, components) in &profiles {
            ior.type_id = String::from("IDL:conformance/Probe:1.0");
            ior.profiles
                .extend(reference([1, 2], *port, b"key", components).profiles);
        }
        let probe = resolve(&orb, &ior);
        for (priority, expected) in *calls {
            orb.current()
                .set_priority(Priority::new(*priority).unwrap())
                .unwrap();
            let before = places.each_ref().map(|place| place.seen().len());
            let result = probe.twice(1);
            let refused = |minor| SystemException::new(Kind::InvPolicy, minor, Completion::No);
            assert_eq!(result, expected.map(|_| 42).map_err(refused), "at {priority}");
            for (index, place) in places.iter().enumerate() {
                let served = usize::from(*expected == Ok(index));
                assert_eq!(
                    place.seen().len() - before[index],
                    served,
                    "place {index} at {priority}"
                );
            }
        }
    }
}

/// Profiles of protocols that this ORB does not have, and those that cannot be read, are passed over.
#[test]
fn other_profiles_are_passed_over() {
    let (server, orb) = (Recorder::start(), ordinary_client());
    let good = reference([1, 2], server.port, b"key", &[]);
    let odd = [
        TaggedProfile {
            tag: 77,
            data: vec![1, 2, 3],
        },
        TaggedProfile { tag: 0, data: vec![] },
        TaggedProfile {
            tag: 0,
            data: good.profiles[0].data[..12].to_vec(),
        },
        TaggedProfile {
            tag: 1,
            data: vec![1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        },
    ];
    for profile in odd {
        for position in [0, 1] {
            let mut ior = good.clone();
            ior.profiles.insert(position, profile.clone());
            assert_eq!(resolve(&orb, &ior).twice(1), Ok(42), "{profile:?} at {position}");
        }
    }
}

/// The client's protocols: for a reference, a thread or the ORB, the nearest; against what the reference
/// says.
#[test]
fn the_client_may_choose_protocols() {
    let (server, orb) = (Recorder::start(), ordinary_client());
    let only = |protocols: &[Protocol]| {
        PolicyOverrides::new().client_protocols(ProtocolPolicy::new(protocols.iter().cloned()))
    };
    let plain = server.reference(&orb, &[]);
    let exposing = server.reference(&orb, &[policies(&[protocols(&[0])])]);
    let call = |probe: &ProbeRef, overrides: &PolicyOverrides| {
        let probe: ProbeRef = probe.with_policies(overrides.clone()).unchecked();
        probe.twice(1).map_err(|error| error.minor)
    };
    let rows = [
        (only(&[]), Ok(42), Ok(42)),
        (
            only(&[Protocol::IIOP]),
            Ok(42),
            Err(Minor::PROTOCOLS_ON_BOTH_SIDES),
        ),
        (
            only(&[Protocol::UIOP, Protocol::IIOP]),
            Ok(42),
            Err(Minor::PROTOCOLS_ON_BOTH_SIDES),
        ),
        (
            only(&[Protocol::UIOP]),
            Err(Minor::NO_PROTOCOL_ALLOWED),
            Err(Minor::PROTOCOLS_ON_BOTH_SIDES),
        ),
    ];
    for (overrides, on_plain, on_exposing) in &rows {
        assert_eq!(call(&plain, overrides), *on_plain, "{overrides:?}");
        assert_eq!(call(&exposing, overrides), *on_exposing, "{overrides:?}");
        // A wider scope comes to the same.
        orb.current().replace_policies(overrides.clone());
        assert_eq!(call(&plain, &PolicyOverrides::new()), *on_plain);
        orb.current().replace_policies(PolicyOverrides::new());
        orb.replace_policies(overrides.clone());
        assert_eq!(call(&exposing, &PolicyOverrides::new()), *on_exposing);
        assert_eq!(
            call(&exposing, &only(&[])),
            Ok(42),
            "none takes those of the ORB away"
        );
        orb.replace_policies(PolicyOverrides::new());
    }
}

/// A forward is read as any reference is: with lanes and bands of its own.
#[test]
fn policies_are_those_of_the_place_that_it_was_forwarded_to() {
    let (low, high, orb) = (Recorder::start(), Recorder::start(), ordinary_client());
    let listener = Listener::open();
    let components = [endpoints(&[(&low, 10), (&high, 20)]), propagated()];
    let there = reference([1, 2], low.port, b"key", &components);
    let probe = resolve(&orb, &reference([1, 2], listener.port, b"key", &[]));
    let bands = PolicyOverrides::new().priority_bands([band(0, 15), band(16, 30)]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept();
            let id = peer.receive().unwrap().request().id;
            peer.send(&COMMON.reply(id, 3, |body| {
                let [profile] = &there.profiles[..] else {
                    panic!("one profile")
                };
                body.string(b"").contexts(&[(profile.tag, profile.data.clone())])
            }));
        });
        orb.current().set_priority(Priority::new(20).unwrap()).unwrap();
        assert_eq!(probe.twice(1), Ok(42));
    });
    assert_eq!((low.seen().len(), high.seen().len()), (0, 1));
    let banded: ProbeRef = probe.with_policies(bands).unchecked();
    orb.current().set_priority(Priority::new(5).unwrap()).unwrap();
    assert_eq!(
        probe.twice(1).map_err(|error| error.minor),
        Err(Minor::NO_ENDPOINT_FOR_PRIORITY)
    );
    assert_eq!(
        banded.twice(1),
        Ok(42),
        "the place it is at has a model, and a lane in the band"
    );
    assert_eq!((low.seen().len(), high.seen().len()), (1, 1));
}
