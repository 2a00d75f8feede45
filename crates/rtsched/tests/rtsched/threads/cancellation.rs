//! Cancellation, at each scheduling point and in each wait.

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use punctual_fixtures::{LONG, eventually, in_time};
use punctual_os::{Gate, PiMutex, ThreadSpec};
use punctual_rtsched::{DistributableThreadState, RtScheduling, SchedulingError, SpawnSpec, ThreadStatus};
use punctual_sched::dynamic::Time;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::hosts::{Host, await_status, cooperative, importance, system};

/// Returns the exception of a scheduling point directly after a cancellation.
fn after_cancelling(point: impl FnOnce(&RtScheduling) -> Result<(), SystemException>) -> SystemException {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("outer", importance(1), None)
        .unwrap();
    current
        .begin_scheduling_segment("inner", importance(1), None)
        .unwrap();
    let thread = current.distributable_thread().unwrap();
    thread.cancel().unwrap();
    thread.cancel().unwrap();
    assert_eq!(thread.state().unwrap(), DistributableThreadState::Cancelled);
    let exception = point(&scheduling).unwrap_err();
    // It has ended with all its segments, and the OS thread is free for another one.
    assert_eq!(scheduling.threads(), 0);
    assert_eq!(current.id().unwrap_err().minor, Minor::NO_DISTRIBUTABLE_THREAD);
    current
        .begin_scheduling_segment("next", importance(1), None)
        .unwrap();
    current.end_scheduling_segment("next").unwrap();
    exception
}

#[test]
fn each_scheduling_point_reports_a_cancellation() {
    let server = Host::new();
    let worker = server.serve(Ok);
    type Point = Box<dyn FnOnce(&RtScheduling) -> Result<(), SystemException>>;
    let points: Vec<(&str, Point)> = vec![
        (
            "begin",
            Box::new(|s| {
                s.current()
                    .begin_scheduling_segment("x", importance(2), None)
                    .map_err(system)
            }),
        ),
        (
            "update",
            Box::new(|s| {
                s.current()
                    .update_scheduling_segment("inner", importance(2), None)
                    .map_err(system)
            }),
        ),
        ("end", Box::new(|s| s.current().end_scheduling_segment("inner"))),
        (
            "spawn",
            Box::new(|s| {
                s.current()
                    .spawn("x", None, None, SpawnSpec::default(), || ())
                    .map(|_| ())
                    .map_err(system)
            }),
        ),
        ("point", Box::new(|s| s.current().scheduling_point())),
        ("sleep", Box::new(|s| s.current().sleep_until(Time::NEVER))),
        (
            "call",
            Box::new(move |s| {
                let client = Host::with(s.clone());
                client.resolve(&worker).work(1).map(|_| ())
            }),
        ),
    ];
    for (name, point) in points {
        assert_eq!(
            after_cancelling(point).kind,
            SystemExceptionKind::ThreadCancelled,
            "{name}"
        );
    }
}

#[test]
fn the_end_of_the_last_segment_reports_a_cancellation() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("only", importance(1), None)
        .unwrap();
    current.distributable_thread().unwrap().cancel().unwrap();
    assert_eq!(
        current.end_scheduling_segment("only").unwrap_err().kind,
        SystemExceptionKind::ThreadCancelled
    );
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn scopes_of_a_cancelled_thread_all_fail() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let result: Result<(), SchedulingError> = current.segment("outer", importance(1), |_| {
        let inner: Result<(), SchedulingError> = current.segment("inner", importance(1), |segment| {
            current.distributable_thread()?.cancel()?;
            assert!(segment.update(importance(2)).unwrap_err().is_cancellation());
            // A caller that ignores it gets it again.
            assert!(segment.update(importance(2)).unwrap_err().is_cancellation());
            Ok(())
        });
        assert!(inner.unwrap_err().is_cancellation());
        Ok(())
    });
    assert!(result.unwrap_err().is_cancellation());
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn waits_end_at_once() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("main", importance(9), None)
        .unwrap();
    let sleeper = |name: &'static str, wait: fn(&RtScheduling) -> Result<(), SystemException>| {
        let scheduling = scheduling.clone();
        ThreadSpec::new(name)
            .spawn(move || {
                let current = scheduling.current();
                let result = current.segment(name, importance(10), |_| {
                    wait(&scheduling)?;
                    Ok::<_, SchedulingError>(())
                });
                result.unwrap_err().is_cancellation()
            })
            .unwrap()
    };
    let asleep = sleeper("asleep", |scheduling| {
        scheduling.current().sleep_until(Time::NEVER)
    });
    // It is more important, and begins when this one reaches a scheduling point.
    eventually("it sleeps", || {
        current.scheduling_point().unwrap();
        scheduling
            .snapshot()
            .iter()
            .any(|thread| thread.name == "asleep" && thread.status == ThreadStatus::Waiting)
    });
    let of_ready = scheduling.clone();
    let ready = ThreadSpec::new("ready")
        .spawn(move || {
            of_ready
                .current()
                .begin_scheduling_segment("ready", importance(1), None)
                .unwrap_err()
        })
        .unwrap();
    await_status(&scheduling, "ready", ThreadStatus::Ready);
    for thread in scheduling.snapshot() {
        if thread.name != "main" {
            scheduling.lookup(thread.id).unwrap().cancel().unwrap();
        }
    }
    assert!(ready.join().unwrap().is_cancellation(), "in the ready queue");
    assert!(asleep.join().unwrap(), "asleep");
    assert_eq!(scheduling.threads(), 1);
    current.end_scheduling_segment("main").unwrap();
}

#[test]
fn a_cancellation_at_the_server_reaches_the_client() {
    let (client, server) = (Host::new(), Host::new());
    let at_server = server.scheduling.clone();
    let swallowing = server.serve(move |value| {
        at_server
            .current()
            .distributable_thread()
            .unwrap()
            .cancel()
            .unwrap();
        // The servant does not check: the reply reports it.
        Ok(value)
    });
    let swallowing = client.resolve(&swallowing);
    let current = client.scheduling.current();
    let result: Result<(), SchedulingError> = current.segment("track", importance(1), |segment| {
        let cancelled = swallowing.work(1).unwrap_err();
        assert_eq!(cancelled.kind, SystemExceptionKind::ThreadCancelled);
        assert!(segment.update(importance(2)).unwrap_err().is_cancellation());
        Err(cancelled.into())
    });
    assert!(result.unwrap_err().is_cancellation());
    assert_eq!(client.scheduling.threads(), 0);
    eventually("it has left", || server.scheduling.threads() == 0);
}

#[test]
fn a_cancellation_while_away_is_reported_with_the_reply() {
    let (client, server) = (Host::new(), Host::new());
    let (entered, release) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (enters, released) = (Arc::clone(&entered), Arc::clone(&release));
    let worker = server.serve(move |value| {
        enters.open();
        released.pass(None);
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let scheduling = client.scheduling.clone();
    let caller = ThreadSpec::new("caller")
        .spawn(move || {
            let result = scheduling.current().segment("track", importance(1), |_| {
                Ok::<_, SchedulingError>(worker.work(1)?)
            });
            result.unwrap_err().is_cancellation()
        })
        .unwrap();
    entered.pass(None);
    let thread = client.scheduling.snapshot().pop().unwrap();
    assert_eq!(thread.status, ThreadStatus::Away);
    client.scheduling.lookup(thread.id).unwrap().cancel().unwrap();
    release.open();
    assert!(caller.join().unwrap());
    assert_eq!(client.scheduling.threads(), 0);
}

#[test]
fn a_cancellation_while_away_is_reported_with_the_timeout() {
    in_time(Duration::from_millis(500), |timeout| {
        let (client, server) = (Host::new(), Host::new());
        let release = Arc::new(Gate::new());
        let (released, at_client) = (Arc::clone(&release), client.scheduling.clone());
        let begun = Instant::now();
        let (cancelled, cancels) = mpsc::channel();
        let worker = server.serve(move |value| {
            // A call that has timed out is no longer away.
            if let Some(away) = at_client.snapshot().first() {
                let _ = at_client.lookup(away.id).map(|thread| thread.cancel());
            }
            let _ = cancelled.send(begun.elapsed());
            released.pass(None);
            Ok(value)
        });
        let worker = client.resolve(&worker).within(timeout);
        let mut told = None;
        let result = client.scheduling.current().segment("track", importance(1), |_| {
            told = worker.work(1).err().map(|error| (error.kind, error.completed));
            Ok::<_, SchedulingError>(())
        });
        let is_in_time = cancels.recv_timeout(LONG).unwrap() < timeout;
        release.open();
        eventually("it has left", || server.scheduling.threads() == 0);
        if is_in_time {
            let expected = (SystemExceptionKind::ThreadCancelled, Completion::Maybe);
            assert_eq!(told, Some(expected));
            assert!(result.unwrap_err().is_cancellation());
        }
        is_in_time
    });
}

#[test]
fn a_spawned_thread_that_is_cancelled_before_it_begins_never_runs() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let ran = Arc::new(PiMutex::new(false));
    current
        .segment("parent", importance(9), |_| {
            let runs = Arc::clone(&ran);
            let child = current.spawn(
                "child",
                Some(importance(1)),
                None,
                SpawnSpec::default(),
                move || *runs.lock() = true,
            )?;
            child.cancel()?;
            eventually("it has seen that", || scheduling.threads() == 1);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert!(!*ran.lock());
}

#[test]
fn storage_is_cleared_where_a_cancelled_thread_ends() {
    use punctual_rtsched::storage::ObjectKey;
    struct Noisy(Arc<PiMutex<Vec<&'static str>>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.lock().push("dropped");
        }
    }
    let scheduling = cooperative();
    let current = scheduling.current();
    let key = ObjectKey::<Noisy>::new(4).unwrap();
    let log = Arc::new(PiMutex::new(Vec::new()));
    let result: Result<(), SchedulingError> = current.segment("track", importance(1), |segment| {
        key.set(Noisy(Arc::clone(&log))).unwrap();
        current.distributable_thread()?.cancel()?;
        let cancelled = segment.update(importance(2));
        log.lock().push("seen");
        cancelled
    });
    assert!(result.is_err());
    assert_eq!(*log.lock(), ["seen", "dropped"]);
}

#[test]
fn cancellations_at_any_time_end_all_threads() {
    let scheduling = cooperative();
    let (client, server) = (Host::with(scheduling.clone()), Host::with(scheduling.clone()));
    let worker = client.resolve(&server.serve(Ok));
    let lock = scheduling.create_resource_manager("map", None).unwrap();
    let players: Vec<_> = (0..4)
        .map(|number| {
            let (scheduling, worker, lock) = (scheduling.clone(), worker.clone(), lock.clone());
            let body = move || {
                let current = scheduling.current();
                let mut cancelled = 0;
                for round in 0..300 {
                    let played = current.segment("play", importance(number), |segment| {
                        let guard = lock.lock()?;
                        current.sleep_until(current.now() + Duration::from_micros(100))?;
                        segment.update(importance(round % 7))?;
                        drop(guard);
                        worker.work(1)?;
                        Ok::<_, SchedulingError>(())
                    });
                    match played {
                        Ok(()) => {}
                        Err(error) if error.is_cancellation() => cancelled += 1,
                        Err(error) => panic!("{error}"),
                    }
                    assert!(current.id().is_err(), "nothing is left open");
                }
                cancelled
            };
            ThreadSpec::new("player").spawn(body).unwrap()
        })
        .collect();
    // Twice each, at any point, and after their end.
    while players.iter().any(|player| !player.is_finished()) {
        for thread in scheduling.snapshot() {
            if let Some(found) = scheduling.lookup(thread.id) {
                let _ = (found.cancel(), found.cancel());
            }
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    let cancelled: u32 = players.into_iter().map(|player| player.join().unwrap()).sum();
    assert!(cancelled > 0);
    assert_eq!(lock.owner(), None);
    eventually("all have left", || scheduling.threads() == 0);
}
