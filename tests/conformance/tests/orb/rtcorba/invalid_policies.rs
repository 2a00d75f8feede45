//! Each rule about policies, broken: a typed error whose text names the policy, the rule, and what to do.

use punctual::{
    Completion, DirectMapping, InvalidPolicy, Minor, Orb, OrbError, Poa, PoaBuilder, Priority, PriorityBand,
    PriorityMapping, PriorityModel, Protocol, ProtocolPolicy, StandardMapping, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    real_time::ordinary,
    server::Server,
};

fn band(low: i16, high: i16) -> PriorityBand {
    PriorityBand::new(priority(low), priority(high))
}

fn declared(value: i16) -> PriorityModel {
    PriorityModel::ServerDeclared(priority(value))
}

fn propagated() -> PriorityModel {
    client_propagated(Priority::MIN)
}

fn orb() -> Orb {
    ordinary().listen("iiop://127.0.0.1:0").build().unwrap()
}

/// An adapter with low and high lanes.
fn with_lanes(orb: &Orb) -> PoaBuilder {
    let pool = orb.threadpool().lane(priority(LOW), 1).lane(priority(HIGH), 1);
    orb.root_poa().child("lanes").threadpool(&pool.build().unwrap())
}

/// An adapter without lanes.
fn plain(orb: &Orb) -> PoaBuilder {
    let pool = orb.threadpool().build().unwrap();
    orb.root_poa().child("plain").threadpool(&pool)
}

#[test]
fn each_rule_for_the_policies_of_an_adapter_has_its_error() {
    type Row = (InvalidPolicy, u32, &'static str, fn(&Orb) -> PoaBuilder);
    let rows: &[Row] = &[
        (
            InvalidPolicy::LanesWithoutModel,
            40,
            "PriorityModelPolicy",
            |orb| with_lanes(orb),
        ),
        (
            InvalidPolicy::BandsWithoutModel,
            45,
            "PriorityModelPolicy",
            |orb| plain(orb).priority_bands([band(0, HIGH)]),
        ),
        (
            InvalidPolicy::NoBands,
            45,
            "PriorityBandedConnectionPolicy",
            |orb| plain(orb).priority_model(declared(5)).priority_bands([]),
        ),
        (InvalidPolicy::BandReversed(band(7, 6)), 45, "7-6", |orb| {
            plain(orb)
                .priority_model(declared(5))
                .priority_bands([band(0, 5), band(7, 6)])
        }),
        (InvalidPolicy::DeclaredOutsideBands(priority(6)), 40, "6", |orb| {
            plain(orb)
                .priority_model(declared(6))
                .priority_bands([band(0, 5), band(7, 8)])
        }),
        (
            InvalidPolicy::BandWithoutLane(band(LOW + 1, HIGH - 1)),
            45,
            "10923-32766",
            |orb| {
                let bands = [band(0, LOW), band(LOW + 1, HIGH - 1)];
                with_lanes(orb).priority_model(propagated()).priority_bands(bands)
            },
        ),
        (
            InvalidPolicy::DeclaredWithoutLane(priority(MIDDLE)),
            40,
            "ThreadpoolPolicy",
            |orb| with_lanes(orb).priority_model(declared(MIDDLE)),
        ),
        (
            InvalidPolicy::DeclaredWithoutLane(priority(MIDDLE)),
            40,
            "21844",
            |orb| {
                with_lanes(orb)
                    .priority_model(declared(MIDDLE))
                    .priority_bands([band(0, HIGH)])
            },
        ),
        (InvalidPolicy::NothingAccepted, 40, "`highest_priority`", |orb| {
            plain(orb).priority_model(propagated())
        }),
        (InvalidPolicy::NothingAccepted, 40, "CLIENT_PROPAGATED", |orb| {
            orb.root_poa().child("run").priority_model(propagated())
        }),
        (InvalidPolicy::ProtocolWithoutAcceptor, 42, "`listen`", |orb| {
            plain(orb).server_protocols(ProtocolPolicy::new([Protocol::UIOP]))
        }),
        (InvalidPolicy::PersistentSystemIds, 17, "`user_ids`", |orb| {
            orb.root_poa().child("persistent").persistent()
        }),
    ];
    for (rule, policy_type, words, builder) in rows {
        let orb = orb();
        let result = builder(&orb).build().inspect_err(|error| {
            let exception = error.system_exception();
            assert_eq!(
                (exception.kind, exception.minor),
                (Kind::InvPolicy, Minor::POLICY_CONFLICT)
            );
        });
        match result {
            Err(OrbError::InvalidPolicy { of, conflict: found }) => {
                assert!(of.starts_with("adapter `"), "it names the adapter: {of}");
                assert_eq!(found, *rule);
                assert_eq!(found.policy_type(), *policy_type);
                let text = found.to_string();
                assert!(text.contains("Policy"), "it names the policy: {text}");
                assert!(text.contains(words), "{text}");
            }
            Err(other) => panic!("{rule:?}: {other}"),
            Ok(_) => panic!("{rule:?} was broken, but not reported"),
        }
    }
}

#[test]
fn what_follows_the_rules_is_allowed() {
    let builders: &[fn(&Orb) -> PoaBuilder] = &[
        |orb| with_lanes(orb).priority_model(propagated()),
        |orb| with_lanes(orb).priority_model(declared(HIGH)),
        |orb| {
            with_lanes(orb)
                .priority_model(propagated())
                .priority_bands([band(LOW, LOW)])
        },
        |orb| {
            with_lanes(orb)
                .priority_model(declared(LOW))
                .priority_bands([band(0, LOW), band(LOW + 1, HIGH)])
        },
        |orb| plain(orb),
        |orb| plain(orb).priority_model(declared(0)),
        |orb| {
            plain(orb)
                .priority_model(declared(5))
                .priority_bands([band(5, 5)])
        },
        // With bands, or a default above 0, the server has named a priority that it expects.
        |orb| {
            plain(orb)
                .priority_model(propagated())
                .priority_bands([band(0, 5)])
        },
        |orb| plain(orb).priority_model(client_propagated(priority(1))),
        |orb| {
            plain(orb)
                .priority_model(propagated())
                .highest_priority(Priority::MIN)
        },
    ];
    for (number, builder) in builders.iter().enumerate() {
        let orb = orb();
        builder(&orb)
            .build()
            .unwrap_or_else(|error| panic!("{number}: {error}"));
    }
}

#[test]
fn priorities_that_the_mapping_does_not_have_are_refused() {
    let orb = ordinary()
        .standard_mapping(StandardMapping::Direct)
        .build()
        .unwrap();
    assert_eq!(DirectMapping::new(1..=99).to_native(priority(100)), None);
    let unmappable = |error: OrbError, value| {
        assert!(
            error
                .to_string()
                .contains(&format!("priority {value} has no native priority")),
            "{error}"
        );
        assert!(matches!(error, OrbError::PriorityUnmappable(found) if found == priority(value)));
    };
    unmappable(
        orb.threadpool().lane(priority(100), 1).build().err().unwrap(),
        100,
    );
    unmappable(orb.threadpool().build().err().unwrap(), 0);
    let pool = orb.threadpool().default_priority(priority(1)).build().unwrap();
    let poa = |name: &str| orb.root_poa().child(name).threadpool(&pool);
    unmappable(poa("a").priority_model(declared(100)).build().err().unwrap(), 100);
    unmappable(
        poa("b")
            .priority_model(propagated())
            .highest_priority(priority(9))
            .build()
            .err()
            .unwrap(),
        0,
    );
    let poa = poa("c").priority_model(declared(99)).build().unwrap();
    let server = Server::with_poa(orb.clone(), pool.clone(), poa);
    let error = server
        .poa
        .object(server.servant())
        .priority(priority(100))
        .activate::<ProbeRef>()
        .unwrap_err();
    unmappable(error, 100);

    // The same in a call of RTCORBA::Current.
    for value in [0, 100, HIGH] {
        let error = orb.current().set_priority(priority(value)).unwrap_err();
        let expected = (
            Kind::DataConversion,
            Minor::OMG_PRIORITY_UNMAPPABLE,
            Completion::No,
        );
        assert_eq!((error.kind, error.minor, error.completed), expected);
        assert_eq!(error.minor, Minor(0x4f4d_0002));
    }
}

#[test]
fn a_priority_that_was_never_set_cannot_be_asked_for() {
    let orb = orb();
    let error = orb.current().priority().unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Initialize, Minor::PRIORITY_UNSET)
    );
    orb.current().set_priority(priority(5)).unwrap();
    assert_eq!(orb.current().priority().unwrap(), priority(5));
    // A priority that is none cannot be made.
    assert!(
        Priority::new(-1)
            .unwrap_err()
            .to_string()
            .contains("-1 is not a CORBA priority")
    );
}

/// The operations that give an object its own priority, in adapters that do not allow it.
#[test]
fn operations_with_a_priority_say_which_rule_they_break() {
    let orb = orb();
    let served = |poa: Poa| {
        let pool = orb.threadpool().build().unwrap();
        Server::with_poa(orb.clone(), pool, poa)
    };
    let bands = [band(0, LOW), band(LOW + 1, HIGH)];
    let lanes = with_lanes(&orb)
        .priority_model(declared(LOW))
        .priority_bands(bands);
    let lanes = served(lanes.build().unwrap());
    let banded = plain(&orb)
        .priority_model(declared(5))
        .priority_bands([band(5, 10)]);
    let banded = served(banded.build().unwrap());
    let model = propagated();
    let propagated = orb
        .root_poa()
        .child("propagated")
        .priority_model(model)
        .highest_priority(Priority::MAX);
    let propagated = served(propagated.build().unwrap());
    let without = served(orb.root_poa().child("without").build().unwrap());

    for (server, value, words) in [
        (&without, 5, "ServerDeclared"),
        (&propagated, 5, "ServerDeclared"),
        (&lanes, MIDDLE, "lane"),
        (&lanes, 0, "lane"),
        (&banded, 4, "no band contains it"),
        (&banded, 11, "no band contains it"),
    ] {
        let priority = priority(value);
        for error in [
            server
                .poa
                .object(server.servant())
                .priority(priority)
                .activate::<ProbeRef>()
                .unwrap_err(),
            server
                .poa
                .reference()
                .priority(priority)
                .create::<ProbeRef>()
                .unwrap_err(),
        ] {
            assert!(error.to_string().contains(words), "{error}");
            match error {
                OrbError::WrongPolicy(_) => assert_eq!(words, "ServerDeclared"),
                OrbError::PriorityNotServed(found) => assert_eq!(found, priority),
                other => panic!("{other}"),
            }
        }
    }
    for (server, value) in [(&lanes, LOW), (&lanes, HIGH), (&banded, 5), (&banded, 10)] {
        server.another_with_priority(priority(value));
    }
}

/// Ids belong to the user or to the adapter, with a priority and without.
#[test]
fn operations_with_and_without_an_id_are_for_one_kind_of_adapter_each() {
    let orb = orb();
    let system = orb
        .root_poa()
        .child("system")
        .priority_model(declared(5))
        .build()
        .unwrap();
    let user = orb
        .root_poa()
        .child("user")
        .priority_model(declared(5))
        .user_ids()
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let server = Server::with_poa(orb.clone(), pool, system);
    let system = &server.poa;
    let servant = || server.servant();
    let own = priority(6);
    let wrong = |result: Result<ProbeRef, OrbError>, hint: &str| match result {
        Err(OrbError::WrongPolicy(text)) => assert!(text.contains(hint), "{text}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("allowed"),
    };
    for id in [&b"id"[..], b"", b"r\0\0\0\0\0\0\0\0"] {
        wrong(system.object(servant()).id(id).activate(), "user_ids");
        wrong(
            system.object(servant()).id(id).priority(own).activate(),
            "user_ids",
        );
        wrong(system.reference().id(id).create(), "user_ids");
        wrong(system.reference().id(id).priority(own).create(), "user_ids");
    }
    wrong(user.activate(servant()), ".id(..)");
    wrong(user.object(servant()).priority(own).activate(), ".id(..)");
    wrong(user.reference().create(), ".id(..)");
    wrong(user.reference().priority(own).create(), ".id(..)");
}

/// BAD_INV_ORDER: the priority of an object is said once.
#[test]
fn an_object_has_one_priority() {
    let orb = orb();
    let user = orb
        .root_poa()
        .child("user")
        .priority_model(declared(5))
        .user_ids()
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let system = orb.root_poa().child("system").build().unwrap();
    let server = Server::with_poa(orb.clone(), pool, system);
    let [five, six, seven] = [5, 6, 7].map(priority);
    let taken = |result: Result<ProbeRef, OrbError>, expected: (Priority, Priority)| match result {
        Err(OrbError::PriorityTaken { asked, has }) => assert_eq!((asked, has), expected),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("allowed"),
    };
    // First a reference, then the object.
    let reference: ProbeRef = user.reference().id("a").priority(six).create().unwrap();
    taken(user.reference().id("a").priority(seven).create(), (seven, six));
    taken(
        user.object(server.servant()).id("a").priority(seven).activate(),
        (seven, six),
    );
    let active: ProbeRef = user.object(server.servant()).id("a").activate().unwrap();
    assert_eq!(
        active.to_ior(),
        reference.to_ior(),
        "it has the priority of the reference"
    );
    let active_reference = active;
    let again: ProbeRef = user.reference().id("a").priority(six).create().unwrap();
    assert_eq!(again.to_ior(), reference.to_ior());
    // First the object.
    let own: ProbeRef = user
        .object(server.servant())
        .id("b")
        .priority(six)
        .activate()
        .unwrap();
    taken(user.reference().id("b").priority(seven).create(), (seven, six));
    let plain: ProbeRef = user.reference().id("b").create().unwrap();
    assert_eq!(plain.to_ior(), own.to_ior());
    let adapters: ProbeRef = user.object(server.servant()).id("c").activate().unwrap();
    taken(user.reference().id("c").priority(seven).create(), (seven, five));
    let active = user
        .object(server.servant())
        .id("c")
        .priority(seven)
        .activate::<ProbeRef>();
    assert!(matches!(active, Err(OrbError::AlreadyActive)));
    // The next object of that id may have another.
    user.deactivate(&adapters).unwrap();
    user.deactivate(&own).unwrap();
    let next: ProbeRef = user
        .object(server.servant())
        .id("b")
        .priority(seven)
        .activate()
        .unwrap();
    assert_ne!(next.to_ior(), own.to_ior());
    user.deactivate(&active_reference).unwrap();
    let next: ProbeRef = user
        .object(server.servant())
        .id("a")
        .priority(seven)
        .activate()
        .unwrap();
    assert_ne!(next.to_ior(), reference.to_ior());
}
