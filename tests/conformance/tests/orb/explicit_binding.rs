//! Explicit binding: after `validate_connection` the first call makes no system call but its write and its
//! read.

use std::time::Duration;

use punctual::{Completion, Minor, PolicyOverrides, Priority, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::NOBODY,
    priority,
    real_time::ordinary_client,
    recorder::{CLIENT_PROPAGATED, Recorder, band, endpoints, model, policies, resolve},
    server::{Server, reference},
    skip_error,
    wire::{LOCATE_REQUEST, REQUEST},
};
use punctual_os::TaskId;
use punctual_system::perf::{Counter, PerfError};

/// The system calls of the next call on this thread.
fn system_calls(probe: &ProbeRef) -> Result<u64, PerfError> {
    let counter = Counter::syscalls(TaskId::current_thread(), false)?;
    counter.enable().unwrap();
    let result = probe.twice(21);
    counter.disable().unwrap();
    assert_eq!(result, Ok(42));
    // Without the call that pauses the counter.
    Ok(counter.read().unwrap() - 1)
}

fn with_lanes() -> Server {
    Server::with_propagated_priorities(Priority::MIN, |pool| {
        pool.lane(Priority::MIN, 1).lane(Priority::MAX, 1)
    })
}

/// Each row: a server, and what the client adds to its reference. The buffers of the thread are warm: it has
/// called before.
#[test]
fn the_first_call_connects_unless_it_was_bound() {
    type Row = (&'static str, fn() -> Server, fn() -> PolicyOverrides, u64);
    let rows: &[Row] = &[
        ("plain", Server::start, PolicyOverrides::new, 2),
        (
            "private",
            Server::start,
            || PolicyOverrides::new().private_connection(true),
            2,
        ),
        (
            "with a coarse timeout",
            Server::start,
            || PolicyOverrides::new().roundtrip_timeout(Duration::from_secs(5)),
            2,
        ),
        (
            "with a fine timeout, which waits apart",
            Server::start,
            || PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(45)),
            3,
        ),
        (
            "told to the server",
            Server::start,
            || {
                let policies = PolicyOverrides::new().roundtrip_timeout(Duration::from_secs(5));
                policies.sends_deadlines(true)
            },
            2,
        ),
        ("lanes", with_lanes, PolicyOverrides::new, 2),
        (
            "lanes and bands",
            with_lanes,
            || PolicyOverrides::new().priority_bands([band(0, 10), band(11, 32_767)]),
            2,
        ),
        (
            "bands that the server keeps to",
            with_lanes,
            || {
                let bands = PolicyOverrides::new().priority_bands([band(0, 10), band(11, 32_767)]);
                bands.binds_bands(true)
            },
            2,
        ),
    ];
    for (name, server, policies, expected) in rows {
        let counts = [false, true].map(|bound| {
            let (server, orb, warm) = (server(), ordinary_client(), Server::start());
            orb.current().set_priority(Priority::MAX).unwrap();
            assert_eq!(warm.reference_for(&orb).twice(1), Ok(2));
            let probe: ProbeRef = server.reference_for(&orb).with_policies(policies()).unchecked();
            if bound {
                probe.validate_connection().unwrap();
            }
            system_calls(&probe)
        });
        match counts {
            [Ok(unbound), Ok(bound)] => {
                assert_eq!(bound, *expected, "{name}");
                // Its socket, connect, and what sets them up.
                assert!(unbound > expected + 2, "{name}: {unbound}");
            }
            [Err(error), _] | [_, Err(error)] => return skip_error(&error),
        }
    }
}

/// It asks with a LocateRequest, over the connection that the call will use, and nowhere else.
#[test]
fn it_locates_where_the_present_priority_leads() {
    let (low, high, orb) = (Recorder::start(), Recorder::start(), ordinary_client());
    let components = [
        endpoints(&[(&low, 10), (&high, 20)]),
        policies(&[model(CLIENT_PROPAGATED, 0)]),
    ];
    let probe = low.reference(&orb, &components);
    let types = |server: &Recorder| -> Vec<_> {
        let seen = server.seen().into_iter();
        seen.map(|seen| (seen.connection, seen.message.message_type))
            .collect()
    };
    orb.current().set_priority(priority(20)).unwrap();
    assert_eq!(probe.validate_connection(), Ok(()));
    assert_eq!((types(&low), types(&high)), (vec![], vec![(0, LOCATE_REQUEST)]));
    assert_eq!(probe.twice(1), Ok(42));
    assert_eq!(types(&high), [(0, LOCATE_REQUEST), (0, REQUEST)]);
    orb.current().set_priority(priority(10)).unwrap();
    assert_eq!(probe.validate_connection(), Ok(()));
    assert_eq!(types(&low), [(0, LOCATE_REQUEST)]);
    orb.current().set_priority(priority(15)).unwrap();
    let nowhere = SystemException::new(Kind::InvPolicy, Minor::NO_ENDPOINT_FOR_PRIORITY, Completion::No);
    assert_eq!(probe.validate_connection(), Err(nowhere));
    assert_eq!(probe.inconsistent_policies()[0].policy_type, 40);
}

/// Errors where a reference cannot be bound.
#[test]
fn it_says_why_not() {
    let (server, orb) = (Server::start(), ordinary_client());
    let unknown = resolve(&orb, &reference([1, 2], server.port(), b"no such key", &[]));
    assert_eq!(
        unknown.validate_connection().unwrap_err().kind,
        Kind::ObjectNotExist
    );
    let nobody = resolve(&orb, &reference([1, 2], NOBODY, b"x", &[]));
    assert_eq!(
        nobody.validate_connection().unwrap_err().minor,
        Minor::CONNECT_REFUSED
    );
    assert_eq!(nobody.inconsistent_policies(), [], "the policies are good");
}

/// All that is wrong is listed, not just what a call would notice first.
#[test]
fn every_inconsistent_policy_is_listed() {
    let (server, orb) = (Recorder::start(), ordinary_client());
    let protocols = punctual::ProtocolPolicy::new([punctual::Protocol::UIOP]);
    let wrong = PolicyOverrides::new()
        .priority_bands([band(9, 5)])
        .client_protocols(protocols);
    let plain = server.reference(&orb, &[]);
    let probe: ProbeRef = plain.with_policies(wrong).unchecked();
    let conflicts = probe.inconsistent_policies();
    let found: Vec<_> = conflicts
        .iter()
        .map(|conflict| (conflict.policy_type, conflict.reason))
        .collect();
    let expected = [
        (45, Minor::BANDS_WITHOUT_PRIORITY_MODEL),
        (45, Minor::BAND_MALFORMED),
        (45, Minor::PRIORITY_OUTSIDE_BANDS),
        (43, Minor::NO_PROTOCOL_ALLOWED),
    ];
    assert_eq!(found, expected);
    for conflict in conflicts {
        let text = conflict.to_string();
        assert!(
            text.contains("Policy: "),
            "it names the policy and the rule: {text}"
        );
    }
    let error = probe.twice(1).unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::InvPolicy, Minor::BANDS_WITHOUT_PRIORITY_MODEL)
    );
    assert_eq!(server.connections(), 0);
}
