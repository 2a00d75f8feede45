//! Cancellation from hosts without the head.

use std::{slice, sync::atomic::Ordering, thread, time::Duration};

use punctual_fixtures::{LONG, eventually};
use punctual_rtsched::{
    DistributableThreadState,
    remote::{CancellationPolicy, Place, RemoteThread, ThreadControlSpec, Whereabouts},
};
use punctual_stub::Interface as _;
use punctual_types::{DistributableThreadId, Minor, SystemExceptionKind};

use super::{
    host::{Host, kind_of},
    tracker::{DEAF, RETURN, SLEEP, TrackerRef, WORK},
};

/// Number of threads in a host's lane.
const THREADS: usize = 3;
const MORE_THAN_IT_HAS_THREADS: usize = 5;

const CANCELLED: Result<i32, SystemExceptionKind> = Err(SystemExceptionKind::ThreadCancelled);

/// Three hosts, each of which calls the next.
fn chain() -> [Host; 3] {
    let hosts = [Host::new(), Host::new(), Host::new()];
    for (from, to) in hosts.iter().zip(&hosts[1..]) {
        from.leads_to(&to.ior());
    }
    hosts
}

fn nothing_is_left(hosts: &[Host]) {
    for host in hosts {
        eventually("no thread is known", || host.scheduling.threads() == 0);
    }
}

fn at_head(hosts: u8, cancelled: bool) -> Whereabouts {
    Whereabouts {
        place: Place::AtHead,
        hosts,
        cancelled,
    }
}

/// Runs `cancel` while a thread of the first host is at the last one.
fn while_at_last_host(hosts: &[Host; 3], manner: i32, cancel: impl FnOnce(DistributableThreadId)) {
    thread::scope(|scope| {
        let sent = scope.spawn(|| kind_of(hosts[0].sends(manner)));
        eventually("the head is at the last host", || {
            hosts[2].received_thread().is_some()
        });
        cancel(hosts[2].received_thread().unwrap());
        if manner == DEAF {
            hosts[2].tracker.0.released.store(1, Ordering::SeqCst);
        }
        assert_eq!(sent.join().unwrap(), CANCELLED);
    });
    nothing_is_left(hosts);
}

#[test]
fn a_thread_is_cancelled_at_a_host_without_its_head() {
    for manner in [WORK, SLEEP, DEAF] {
        let hosts = chain();
        while_at_last_host(&hosts, manner, |id| {
            let thread = hosts[0].scheduling.lookup(id).unwrap();
            assert_eq!(thread.whereabouts(LONG), Ok(at_head(2, false)));
            assert_eq!(thread.cancel_everywhere(LONG), Ok(at_head(2, true)));
            // Twice has the same effect as once.
            if manner == DEAF {
                assert_eq!(thread.cancel_everywhere(LONG), Ok(at_head(2, true)));
                for host in &hosts {
                    let there = host.scheduling.lookup(id).unwrap();
                    assert_eq!(there.state(), Ok(DistributableThreadState::Cancelled));
                }
            }
        });
        if manner != DEAF {
            let seen = hosts[2].tracker.0.results.lock()[0].unwrap_err();
            assert_eq!(seen.kind, SystemExceptionKind::ThreadCancelled);
        }
        let passed_on = hosts[1].tracker.0.results.lock()[0].unwrap_err();
        assert_eq!(passed_on.kind, SystemExceptionKind::ThreadCancelled);
    }
}

#[test]
fn a_thread_is_cancelled_at_a_host_in_the_middle_of_its_calls() {
    let hosts = chain();
    while_at_last_host(&hosts, WORK, |id| {
        let thread = hosts[1].scheduling.lookup(id).unwrap();
        assert_eq!(thread.cancel_everywhere(LONG), Ok(at_head(1, true)));
    });
}

#[test]
fn a_thread_is_cancelled_by_a_host_that_it_never_called() {
    let hosts = chain();
    let outside = Host::new();
    let controls = [outside.control_at(&outside), outside.control_at(&hosts[0])];
    let mut found = None;
    while_at_last_host(&hosts, SLEEP, |id| {
        assert!(outside.scheduling.lookup(id).is_none());
        let thread = RemoteThread::find(id, &controls, LONG).unwrap();
        assert_eq!(thread.whereabouts(LONG), Ok(at_head(2, false)));
        assert_eq!(thread.cancel(LONG), Ok(at_head(2, true)));
        found = Some(thread);
    });
    let gone = found.unwrap().cancel(LONG).unwrap_err();
    assert_eq!(
        (gone.kind, gone.minor),
        (
            SystemExceptionKind::ObjectNotExist,
            Minor::DISTRIBUTABLE_THREAD_UNKNOWN
        )
    );
    let unknown = RemoteThread::find(DistributableThreadId(1), &controls, LONG).unwrap_err();
    assert_eq!(unknown.kind, SystemExceptionKind::ObjectNotExist);
}

#[test]
fn a_thread_that_returns_to_its_first_host_is_found_there() {
    let hosts = [Host::new(), Host::new()];
    // Both lead to one object: the first host's own, which calls no other.
    let end = Host::new();
    hosts[1].leads_to(&hosts[0].ior());
    let by = hosts[0].orb.resolve(&hosts[1].ior()).unwrap();
    drop(end);
    thread::scope(|scope| {
        let sent = scope.spawn(|| kind_of(hosts[0].sends_by(&by, WORK)));
        eventually("the head has returned", || hosts[0].received_thread().is_some());
        let id = hosts[0].received_thread().unwrap();
        let here = hosts[0].scheduling.lookup(id).unwrap();
        assert_eq!(here.whereabouts(LONG), Ok(at_head(0, false)));
        let there = hosts[1].scheduling.lookup(id).unwrap();
        assert_eq!(there.whereabouts(LONG), Ok(at_head(1, false)));
        assert_eq!(there.cancel_everywhere(LONG), Ok(at_head(1, true)));
        assert_eq!(sent.join().unwrap(), CANCELLED);
    });
    nothing_is_left(&hosts);
}

#[test]
fn a_cancelled_thread_can_cancel_another_one() {
    let hosts = chain();
    while_at_last_host(&hosts, WORK, |id| {
        let current = hosts[0].scheduling.current();
        current
            .segment("canceller", super::host::IMPORTANCE, |_| {
                // A cancelled thread can still cancel another one.
                current.distributable_thread()?.cancel()?;
                let thread = hosts[0].scheduling.lookup(id).unwrap();
                assert_eq!(thread.cancel_everywhere(LONG)?, at_head(2, true));
                Ok::<_, punctual_rtsched::SchedulingError>(())
            })
            .unwrap_err();
    });
}

#[test]
fn a_control_that_does_not_respond_costs_its_timeout_only() {
    let hosts = chain();
    let outside = Host::new();
    let control = outside.control_at(&hosts[2]);
    hosts[2].orb.shutdown_and_wait().unwrap();
    let failure =
        RemoteThread::find(DistributableThreadId(1), &[control], Duration::from_secs(2)).unwrap_err();
    assert_ne!(failure.kind, SystemExceptionKind::ObjectNotExist);
}

#[test]
fn a_control_responds_while_all_other_lanes_are_busy() {
    let (busy, outside) = (Host::new(), Host::new());
    let control = outside.control_at(&busy);
    let by = outside.orb.resolve::<TrackerRef>(&busy.ior()).unwrap();
    let callers: Vec<_> = (0..MORE_THAN_IT_HAS_THREADS).map(|_| Host::new()).collect();
    let to: Vec<TrackerRef> = callers
        .iter()
        .map(|caller| caller.orb.resolve(&busy.ior()).unwrap())
        .collect();
    thread::scope(|scope| {
        let sent: Vec<_> = callers
            .iter()
            .zip(&to)
            .map(|(caller, to)| scope.spawn(move || kind_of(caller.sends_by(to, DEAF))))
            .collect();
        eventually("all threads of the lane are busy", || {
            busy.scheduling.threads() == THREADS
        });
        // No thread is left for another request.
        let with_timeout: TrackerRef = by
            .as_object()
            .with_timeout(Duration::from_millis(100))
            .unchecked();
        assert_eq!(
            with_timeout.track(RETURN).unwrap_err().kind,
            SystemExceptionKind::Timeout
        );
        let id = busy.received_thread().unwrap();
        let thread = RemoteThread::find(id, slice::from_ref(&control), LONG).unwrap();
        assert_eq!(thread.cancel(LONG), Ok(at_head(0, true)));
        assert_eq!(busy.tracker.0.results.lock().len(), 0, "all are still busy");
        busy.tracker.0.released.store(1, Ordering::SeqCst);
        let results: Vec<_> = sent.into_iter().map(|sent| sent.join().unwrap()).collect();
        let cancelled = results.iter().filter(|result| **result == CANCELLED).count();
        assert_eq!(cancelled, 1, "{results:?}");
        let finished = results.iter().filter(|result| **result == Ok(DEAF)).count();
        assert_eq!(finished, callers.len() - 1, "{results:?}");
    });
    nothing_is_left(&callers);
    nothing_is_left(&[busy]);
}

#[test]
fn a_calling_host_may_cancel_and_others_may_not() {
    let only_callers = CancellationPolicy::deny_all().callers(true);
    let last = Host::answering(
        Host::scheduling(),
        ThreadControlSpec::default().policy(only_callers),
    );
    let deaf = ThreadControlSpec::default().policy(CancellationPolicy::deny_all());
    let refusing = Host::answering(Host::scheduling(), deaf);
    let first = Host::new();
    let control = first.control_at(&last);
    for (host, place) in [(&last, Place::AtHead), (&refusing, Place::OutOfReach)] {
        first.leads_to(&host.ior());
        thread::scope(|scope| {
            let refused = RemoteThread::find(DistributableThreadId(1), slice::from_ref(&control), LONG);
            assert_eq!(refused.unwrap_err().minor, Minor::CONTROL_REFUSED);
            let sent = scope.spawn(|| kind_of(first.sends(WORK)));
            eventually("the head has arrived", || host.received_thread().is_some());
            let id = host.received_thread().unwrap();
            let found = first.scheduling.lookup(id).unwrap().cancel_everywhere(LONG);
            assert_eq!(found.unwrap().place, place);
            if place == Place::OutOfReach {
                // The cancellation is reported when it returns.
                host.tracker.0.released.store(1, Ordering::SeqCst);
            }
            assert_eq!(sent.join().unwrap(), CANCELLED);
        });
        let there = host.tracker.0.results.lock()[0].map_err(|exception| exception.kind);
        let reached = place == Place::AtHead;
        assert_eq!(there, if reached { CANCELLED } else { Ok(WORK) });
    }
    nothing_is_left(&[first, last, refusing]);
}
