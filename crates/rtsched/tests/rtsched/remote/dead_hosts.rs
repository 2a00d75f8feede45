//! Hosts that die while the head of a thread is at them, or behind them.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use punctual_fixtures::{LONG, eventually};
use punctual_os::PiMutex;
use punctual_rtsched::{SchedulingError, remote::Place, storage::WordKey};
use punctual_stub::Interface;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    host::{Host, HostProcess, IMPORTANCE, kind_of},
    tracker::{DEAF, RETURN, TrackerRef, WORK},
};

/// Whether the thread of this host is in a call to another one.
fn is_away(host: &Host) -> bool {
    host.scheduling.threads() == 1
}

/// A key, and the number of its destroyed values.
fn counting_key() -> (WordKey<u32>, Arc<AtomicU32>) {
    let destroyed = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&destroyed);
    let count = move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    };
    (WordKey::with_destructor(count).unwrap(), destroyed)
}

#[test]
fn a_call_to_a_dying_host_fails_and_leaves_nothing() {
    let first = Host::new();
    let mut dying = HostProcess::start(None);
    first.leads_to(&dying.ior);
    // It has been there and has returned.
    assert_eq!(kind_of(first.sends(RETURN)), Ok(RETURN));
    let (key, destroyed) = counting_key();
    let began = Instant::now();
    thread::scope(|scope| {
        let sent = scope.spawn(|| {
            let next = first.tracker.0.next.lock().clone().unwrap();
            let result = first.scheduling.current().segment("track", IMPORTANCE, |_| {
                key.set(1).unwrap();
                Ok::<_, SchedulingError>(next.track(WORK)?)
            });
            // Its OS thread continues as a new thread.
            assert_eq!(first.scheduling.threads(), 0);
            assert_eq!(destroyed.load(Ordering::SeqCst), 1);
            let again = first.scheduling.current().segment("after", IMPORTANCE, |_| {
                Ok::<_, SchedulingError>(key.get().unwrap())
            });
            assert_eq!(again.unwrap(), None);
            result
        });
        eventually("the head has arrived", || is_away(&first));
        // Its request may not have arrived yet; the result is the same.
        thread::sleep(Duration::from_millis(20));
        dying.kill();
        match sent.join().unwrap() {
            Err(SchedulingError::System(told)) => {
                assert_eq!(told.kind, SystemExceptionKind::CommFailure);
                assert_eq!(told.completed, Completion::Maybe);
            }
            other => panic!("{other:?}"),
        }
    });
    assert!(began.elapsed() < LONG);
    assert_eq!(first.scheduling.threads(), 0);
}

#[test]
fn a_call_to_a_stopped_host_ends_by_its_deadline() {
    let first = Host::new();
    let silent = HostProcess::start(None);
    first.leads_to(&silent.ior);
    assert_eq!(kind_of(first.sends(RETURN)), Ok(RETURN));
    signal(&silent, "STOP");
    eventually("all its threads have stopped", || has_stopped(&silent));
    let by: TrackerRef = first.orb.resolve(&silent.ior).unwrap();
    let with_timeout: TrackerRef = by
        .as_object()
        .with_timeout(Duration::from_millis(100))
        .unchecked();
    assert_eq!(
        kind_of(first.sends_by(&with_timeout, RETURN)),
        Err(SystemExceptionKind::Timeout)
    );
    assert_eq!(first.scheduling.threads(), 0);
    // Its control does not respond either.
    let begun = PiMutex::new(None);
    thread::scope(|scope| {
        let patient: TrackerRef = by.as_object().with_timeout(Duration::from_secs(8)).unchecked();
        let first = &first;
        let begun = &begun;
        let sent = scope.spawn(move || {
            let current = first.scheduling.current();
            kind_of(current.segment("track", IMPORTANCE, |_| {
                *begun.lock() = Some(current.id()?);
                Ok::<_, SchedulingError>(patient.track(RETURN)?)
            }))
        });
        eventually("the thread has begun", || begun.lock().is_some());
        let id = begun.lock().unwrap();
        let thread = first.scheduling.lookup(id).unwrap();
        let began = Instant::now();
        let found = thread.cancel_everywhere(Duration::from_millis(200)).unwrap();
        assert_eq!(
            (found.place, found.hosts, found.cancelled),
            (Place::OutOfReach, 0, true)
        );
        assert!(began.elapsed() < LONG);
        let told = sent.join().unwrap().unwrap_err();
        assert!(
            [SystemExceptionKind::Timeout, SystemExceptionKind::ThreadCancelled].contains(&told),
            "{told:?}"
        );
    });
    assert_eq!(first.scheduling.threads(), 0);
    signal(&silent, "CONT");
    silent.let_go();
}

#[test]
fn a_thread_whose_caller_has_died_ends_with_its_request() {
    let last = Host::new();
    let mut dying = HostProcess::start(Some(&last.ior()));
    let first = Host::new();
    first.leads_to(&dying.ior);
    let (key, destroyed) = counting_key();
    *last.tracker.0.key.lock() = Some(key);
    thread::scope(|scope| {
        let sent = scope.spawn(|| kind_of(first.sends(WORK)));
        eventually("the head is at the last host", || {
            last.received_thread().is_some()
        });
        dying.kill();
        assert_eq!(sent.join().unwrap(), Err(SystemExceptionKind::CommFailure));
    });
    assert_eq!(first.scheduling.threads(), 0);
    // No caller waits for it; it is known until its servant returns, and can be cancelled.
    let id = last.received_thread().unwrap();
    let orphan = last.scheduling.lookup(id).unwrap();
    assert!(orphan.cancel_everywhere(LONG).unwrap().cancelled);
    eventually("the orphan has ended", || last.scheduling.threads() == 0);
    // The values that it stored there are retained as long as it might return.
    let later = last.scheduling.now() + Duration::from_secs(3600);
    last.scheduling.retained_storage().destroy_forgotten(later);
    assert!(last.scheduling.retained_storage().is_empty());
    assert_eq!(destroyed.load(Ordering::SeqCst), 1);
}

#[test]
fn an_abandoned_upcall_does_not_continue_as_the_thread() {
    let hosts = [Host::new(), Host::new()];
    hosts[0].leads_to(&hosts[1].ior());
    let by: TrackerRef = hosts[0].orb.resolve(&hosts[1].ior()).unwrap();
    let with_timeout: TrackerRef = by
        .as_object()
        .with_timeout(Duration::from_millis(100))
        .unchecked();
    let told = hosts[0]
        .scheduling
        .current()
        .segment("track", IMPORTANCE, |_| {
            let told = with_timeout.track(DEAF).unwrap_err();
            assert_eq!(told.kind, SystemExceptionKind::Timeout);
            eventually("the upcall still runs", || hosts[1].received_thread().is_some());
            // A thread has one head.
            let refused: SystemException = by.track(RETURN).unwrap_err();
            hosts[1].tracker.0.released.store(1, Ordering::SeqCst);
            eventually("it has ended", || hosts[1].scheduling.threads() == 0);
            assert_eq!(by.track(RETURN), Ok(RETURN));
            Ok::<_, SchedulingError>(refused)
        })
        .unwrap();
    assert_eq!(told.minor, Minor::DISTRIBUTABLE_THREAD_ACTIVE);
    assert_eq!(hosts[0].scheduling.threads(), 0);
}

fn signal(process: &HostProcess, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), process.pid().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

fn has_stopped(process: &HostProcess) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", process.pid())).unwrap();
    let mut states = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("status")).unwrap());
    states.all(|status| status.contains("State:\tT"))
}
