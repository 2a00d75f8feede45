//! Priority bands, set by the client or exposed by the server: who may call, where the call goes, and over
//! which connection.

use punctual::{
    Completion, Minor, Orb, PolicyOverrides, Priority, PriorityBand, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    priorities::{HIGH, LOW},
    real_time::ordinary_client,
    recorder::{CLIENT_PROPAGATED, Recorder, SERVER_DECLARED, band, bands, endpoints, model, policies},
};

fn at(orb: &Orb, priority: i16) {
    orb.current()
        .set_priority(Priority::new(priority).unwrap())
        .unwrap();
}

fn banded(bands: &[PriorityBand]) -> PolicyOverrides {
    PolicyOverrides::new().priority_bands(bands)
}

fn refused(minor: Minor) -> SystemException {
    SystemException::new(Kind::InvPolicy, minor, Completion::No)
}

/// Each row: the client's bands, the reference's, its model with the server's priority, and what calls at
/// some priorities come to: the number of their connection, or why not.
#[test]
fn bands_choose_connections_and_refuse() {
    type Row<'r> = (
        &'r str,
        &'r [PriorityBand],
        &'r [(i16, i16)],
        Option<(u32, i16)>,
        &'r [(i16, Result<usize, Minor>)],
    );
    let halves = [band(0, 15_000), band(15_001, HIGH)];
    let outside = Err(Minor::PRIORITY_OUTSIDE_BANDS);
    let rows: &[Row<'_>] = &[
        (
            "no bands: one connection for all",
            &[],
            &[],
            Some((CLIENT_PROPAGATED, 0)),
            &[(0, Ok(0)), (LOW, Ok(0)), (HIGH, Ok(0))],
        ),
        (
            "the client's: each has its own",
            &halves,
            &[],
            Some((CLIENT_PROPAGATED, 0)),
            &[
                (0, Ok(0)),
                (15_000, Ok(0)),
                (15_001, Ok(1)),
                (HIGH, Ok(1)),
                (LOW, Ok(0)),
            ],
        ),
        (
            "the server's: each has its own",
            &[],
            &[(0, 15_000), (15_001, HIGH)],
            Some((CLIENT_PROPAGATED, 0)),
            &[(LOW, Ok(0)), (HIGH, Ok(1)), (15_000, Ok(0))],
        ),
        (
            "between the bands",
            &[band(0, 10), band(20, 30)],
            &[],
            Some((CLIENT_PROPAGATED, 0)),
            &[(10, Ok(0)), (15, outside), (20, Ok(1)), (31, outside)],
        ),
        (
            "between the server's bands",
            &[],
            &[(0, 10), (20, 30)],
            Some((CLIENT_PROPAGATED, 0)),
            &[(15, outside), (20, Ok(0))],
        ),
        (
            "on both sides",
            &halves,
            &[(0, HIGH)],
            Some((CLIENT_PROPAGATED, 0)),
            &[(0, Err(Minor::BANDS_ON_BOTH_SIDES))],
        ),
        (
            "no model",
            &halves,
            &[],
            None,
            &[(0, Err(Minor::BANDS_WITHOUT_PRIORITY_MODEL))],
        ),
        (
            "no model, the server's",
            &[],
            &[(0, HIGH)],
            None,
            &[(0, Err(Minor::BANDS_WITHOUT_PRIORITY_MODEL))],
        ),
        (
            "swapped ends",
            &[band(0, 10), band(30, 20)],
            &[],
            Some((CLIENT_PROPAGATED, 0)),
            &[(0, Err(Minor::BAND_MALFORMED))],
        ),
        (
            "swapped ends, the server's: it holds nothing",
            &[],
            &[(30, 20), (-5, -1), (0, 10)],
            Some((CLIENT_PROPAGATED, 0)),
            &[(5, Ok(0)), (25, outside)],
        ),
        (
            "declared by the server: its priority is banded, regardless of the caller's",
            &halves,
            &[],
            Some((SERVER_DECLARED, LOW)),
            &[(0, Ok(0)), (HIGH, Ok(0))],
        ),
        (
            "declared by the server, outside",
            &[band(0, 10)],
            &[],
            Some((SERVER_DECLARED, LOW)),
            &[(5, outside)],
        ),
        (
            "overlapping: the first one holds it",
            &[band(0, 20), band(10, 30)],
            &[],
            Some((CLIENT_PROPAGATED, 0)),
            &[(15, Ok(0)), (25, Ok(1)), (10, Ok(0))],
        ),
    ];
    for (name, own, exposed, declared, calls) in rows {
        println!("{name}");
        let (server, orb) = (Recorder::start(), ordinary_client());
        let mut list = Vec::new();
        if !exposed.is_empty() {
            list.push(bands(exposed));
        }
        list.extend(declared.map(|(kind, priority)| model(kind, priority)));
        let plain = server.reference(&orb, &[policies(&list)]);
        let probe: ProbeRef = plain.with_policies(banded(own)).unchecked();
        for (priority, expected) in *calls {
            at(&orb, *priority);
            let before = server.seen().len();
            assert_eq!(
                probe.twice(1),
                expected.map(|_| 42).map_err(refused),
                "at {priority}"
            );
            let conflicts = probe.inconsistent_policies();
            match expected {
                Ok(connection) => {
                    let request = &server.seen()[before];
                    assert_eq!(request.connection, *connection, "at {priority}");
                    let propagated = matches!(declared, Some((CLIENT_PROPAGATED, _)));
                    assert_eq!(request.priority(), if propagated { *priority } else { -1 });
                    assert_eq!(conflicts, []);
                }
                Err(reason) => {
                    assert_eq!(server.seen().len(), before, "nothing is sent");
                    assert!(
                        conflicts.iter().any(|conflict| conflict.reason == *reason),
                        "{conflicts:?}"
                    );
                    assert!(conflicts.iter().all(|conflict| conflict.policy_type == 45));
                    assert_eq!(probe.validate_connection(), Err(refused(*reason)));
                }
            }
        }
    }
}

/// With lanes the band chooses among them, so that client and lane need not have the same priority.
#[test]
fn the_band_chooses_the_lane() {
    let (low, high, orb) = (Recorder::start(), Recorder::start(), ordinary_client());
    let components = [
        endpoints(&[(&low, LOW), (&high, HIGH)]),
        policies(&[model(CLIENT_PROPAGATED, 0)]),
    ];
    let plain = low.reference(&orb, &components);
    at(&orb, 5);
    assert_eq!(plain.twice(1), Err(refused(Minor::NO_ENDPOINT_FOR_PRIORITY)));
    let bands = [band(0, 9), band(10, 20_000), band(20_001, HIGH)];
    let probe: ProbeRef = plain.with_policies(banded(&bands)).unchecked();
    assert_eq!(probe.twice(1), Err(refused(Minor::NO_ENDPOINT_IN_BAND)));
    for (priority, expected) in [(10, (1, 0)), (20_000, (2, 0)), (20_001, (2, 1)), (HIGH, (2, 2))] {
        at(&orb, priority);
        assert_eq!(probe.twice(1), Ok(42));
        assert_eq!((low.seen().len(), high.seen().len()), expected, "at {priority}");
    }
    assert_eq!((low.connections(), high.connections()), (1, 1));
}

/// The lane of the call's own priority, else the most urgent one below it, else the first one: an urgent call
/// is not served by a lower lane than necessary, and none delays what a lane above it serves.
#[test]
fn one_of_several_lanes_in_a_band_is_chosen_by_the_priority() {
    let lanes = [Recorder::start(), Recorder::start(), Recorder::start()];
    let [low, middle, high] = &lanes;
    let orb = ordinary_client();
    let components = [
        endpoints(&[(low, 1_000), (middle, 5_000), (high, HIGH)]),
        policies(&[model(CLIENT_PROPAGATED, 0)]),
    ];
    let plain = low.reference(&orb, &components);
    let probe: ProbeRef = plain.with_policies(banded(&[band(0, HIGH)])).unchecked();
    let calls = [
        (HIGH, 2),
        (1_000, 0),
        (4_999, 0),
        (5_000, 1),
        (HIGH - 1, 1),
        (0, 0),
        (HIGH, 2),
    ];
    let mut expected = [0, 0, 0];
    for (priority, lane) in calls {
        at(&orb, priority);
        assert_eq!(probe.twice(1), Ok(42));
        expected[lane] += 1;
        let seen = [low, middle, high].map(|lane| lane.seen().len());
        assert_eq!(seen, expected, "at {priority}");
    }
    assert_eq!([low, middle, high].map(Recorder::connections), [1, 1, 1]);
}

/// The bands of the ORB, of the thread and of the reference: the nearest ones count, and an empty list takes
/// them away.
#[test]
fn nearer_bands_replace_those_around() {
    let (server, orb) = (Recorder::start(), ordinary_client());
    let probe = server.reference(&orb, &[policies(&[model(CLIENT_PROPAGATED, 0)])]);
    at(&orb, 15);
    let call = |probe: &ProbeRef| probe.twice(1).map_err(|refused| refused.minor);
    orb.replace_policies(banded(&[band(0, 10)]));
    assert_eq!(call(&probe), Err(Minor::PRIORITY_OUTSIDE_BANDS));
    orb.current().replace_policies(banded(&[band(11, 20)]));
    assert_eq!(call(&probe), Ok(42));
    let own: ProbeRef = probe.with_policies(banded(&[band(30, 40)])).unchecked();
    assert_eq!(call(&own), Err(Minor::PRIORITY_OUTSIDE_BANDS));
    let none: ProbeRef = probe.with_policies(banded(&[])).unchecked();
    assert_eq!(call(&none), Ok(42));
    orb.current().replace_policies(PolicyOverrides::new());
    assert_eq!(call(&probe), Err(Minor::PRIORITY_OUTSIDE_BANDS));
    orb.replace_policies(PolicyOverrides::new());
    assert_eq!(call(&probe), Ok(42));
    assert_eq!(server.connections_of_requests(), [0, 1, 1]);
}

/// A false statement of a reference about its policies takes nothing but that policy away.
#[test]
fn malformed_policies_in_a_reference_do_not_end_calls() {
    let whole = policies(&[bands(&[(0, 10)]), model(CLIENT_PROPAGATED, 0)]);
    let rows = [
        ("no policies in the component", policies(&[])),
        ("an empty component", (2, vec![])),
        ("a list cut off", (2, whole.1[..20].to_vec())),
        (
            "more policies than there are",
            (2, vec![1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
        ),
        ("bands without octets", policies(&[(45, vec![])])),
        (
            "more bands than there are",
            policies(&[(45, vec![1, 0, 0, 0, 200, 0, 0, 0])]),
        ),
        ("a model that does not exist", policies(&[model(7, 0)])),
        ("a model cut off", policies(&[(40, vec![1, 0, 0, 0, 0])])),
        ("an unknown policy", policies(&[(99, vec![1, 2, 3])])),
    ];
    for (name, component) in rows {
        let (server, orb) = (Recorder::start(), ordinary_client());
        at(&orb, 5);
        let probe = server.reference(&orb, &[component]);
        assert_eq!(probe.twice(1), Ok(42), "{name}");
        assert_eq!(server.seen()[0].priority(), -1, "{name}");
    }
}
