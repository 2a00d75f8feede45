//! An ORB over traced and over bad connections.

use std::time::Duration;

use punctual_orb::Orb;
use punctual_stub::Interface;
use punctual_transport::{
    FaultInjector, Faults, Layer, Layered, Protocol, ProtocolPolicy, Side, Tcp, Trace, TraceEvent, Unix,
};
use punctual_types::{Completion, SystemException, SystemExceptionKind};

use crate::doubler::{Doubler, DoublerRef};

fn server(layer: impl Layer + 'static) -> (Orb, DoublerRef) {
    let orb = Orb::builder()
        .transport(Layered::new(Tcp, layer))
        .listen("iiop://127.0.0.1")
        .build()
        .unwrap();
    let pool = orb.threadpool().threads(2).build().unwrap();
    let poa = orb.root_poa().child("numbers").threadpool(&pool).build().unwrap();
    let doubler = poa.activate(Doubler).unwrap();
    (orb, doubler)
}

fn client(layer: impl Layer + 'static, doubler: &DoublerRef) -> (Orb, DoublerRef) {
    let orb = Orb::builder()
        .transport(Layered::new(Tcp, layer))
        .call_timeout(Duration::from_secs(20))
        .build()
        .unwrap();
    let doubler = orb.resolve(&doubler.as_object().to_ior()).unwrap();
    (orb, doubler)
}

/// Neither traces nor harms.
fn nothing() -> FaultInjector {
    FaultInjector::new(Faults::default())
}

#[test]
fn a_trace_shows_one_write_and_one_read_for_each_call() {
    let trace = Trace::new(1000);
    let (_server, doubler) = server(nothing());
    let (_client, doubler) = client(trace.clone(), &doubler);
    for value in 0..10 {
        assert_eq!(doubler.twice(value).unwrap(), 2 * value);
    }
    let traffic = trace.traffic();
    assert_eq!((traffic.connections, traffic.writes, traffic.reads), (1, 10, 10));
    let events: Vec<_> = trace.records().iter().map(|record| record.event).collect();
    assert_eq!(
        events[..3],
        [
            TraceEvent::Opened(Side::Client),
            TraceEvent::Wrote,
            TraceEvent::Read
        ]
    );
    let text = trace.to_string();
    assert_eq!(text.matches("GIOP 1.2 Request").count(), 10, "{text}");
    assert_eq!(text.matches("GIOP 1.2 Reply").count(), 10, "{text}");
}

#[test]
fn a_full_trace_keeps_the_newest() {
    let trace = Trace::new(4);
    let (_server, doubler) = server(nothing());
    let (_client, doubler) = client(trace.clone(), &doubler);
    (0..10).for_each(|value| assert_eq!(doubler.twice(value).unwrap(), 2 * value));
    let records = trace.records();
    assert_eq!((records.len(), trace.dropped()), (4, 21 - 4));
    assert!(records.is_sorted_by_key(|record| record.at));
    assert_eq!(records[3].event, TraceEvent::Read);
}

#[test]
fn messages_in_pieces_are_served_all_the_same() {
    for seed in 0..5 {
        let faults = Faults {
            seed,
            short_per_mille: 700,
            ..Faults::default()
        };
        let trace = Trace::new(1);
        let (_server, doubler) = server(FaultInjector::new(faults));
        let bad = Layered::new(Layered::new(Tcp, trace.clone()), FaultInjector::new(faults));
        let client = Orb::builder().transport(bad).build().unwrap();
        let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
        for value in 0..100 {
            assert_eq!(doubler.twice(value).unwrap(), 2 * value);
        }
        let traffic = trace.traffic();
        assert!(
            traffic.reads > 150 && traffic.writes > 150,
            "all of it came whole: {traffic:?}"
        );
    }
}

/// Outcomes of 60 calls over connections that break.
fn outcomes(seed: u64) -> Vec<Option<(SystemExceptionKind, Completion)>> {
    let faults = Faults {
        seed,
        refuse_per_mille: 300,
        cut_after: Some(333),
        ..Faults::default()
    };
    let (_server, doubler) = server(nothing());
    let (_client, doubler) = client(FaultInjector::new(faults), &doubler);
    let outcome = |value| match doubler.twice(value) {
        Ok(result) => {
            assert_eq!(result, 2 * value);
            None
        }
        Err(SystemException { kind, completed, .. }) => Some((kind, completed)),
    };
    (0..60).map(outcome).collect()
}

#[test]
fn broken_connections_are_said_as_such_and_replaced_the_same_way_each_time() {
    let first = outcomes(1);
    assert_eq!(first, outcomes(1), "the same seed, the same faults");
    assert!(first.iter().any(Option::is_none), "some calls get through");
    let refused = Some((SystemExceptionKind::Transient, Completion::No));
    let broken = Some((SystemExceptionKind::CommFailure, Completion::Maybe));
    assert!(first.contains(&refused), "{first:?}");
    assert!(first.contains(&broken), "{first:?}");
    assert!(
        first
            .iter()
            .flatten()
            .all(|outcome| [refused, broken].contains(&Some(*outcome))),
        "{first:?}"
    );
    assert_ne!(first, outcomes(2), "another seed, other faults");
}

#[test]
fn where_one_protocol_does_not_lead_there_the_next_one_does() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1")
        .listen("uiop://")
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("numbers").threadpool(&pool).build().unwrap();
    let doubler: DoublerRef = poa.activate(Doubler).unwrap();
    let (tcp, refuse) = (
        Trace::new(1),
        Faults {
            refuse_per_mille: 1000,
            ..Faults::default()
        },
    );
    let client = Orb::builder()
        .transport(Layered::new(Tcp, tcp.clone()))
        .transport(Layered::new(Unix, FaultInjector::new(refuse)))
        .client_protocols(ProtocolPolicy::new([Protocol::UIOP, Protocol::IIOP]))
        .build()
        .unwrap();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    assert_eq!(doubler.twice(21).unwrap(), 42);
    assert_eq!(tcp.traffic().connections, 1);
}
