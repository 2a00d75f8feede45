//! Asynchronous calls of distributable threads.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, mpsc},
    task::{Context, Poll, Waker},
    time::Duration,
};

use punctual_fixtures::eventually;
use punctual_os::{Gate, PiMutex, ThreadSpec};
use punctual_rtsched::{
    DistributableThreadState, RtScheduling, SchedulingError, ThreadStatus,
    storage::{Housekeeper, WordKey},
};
use punctual_sched::dynamic::SheddingPolicy;
use punctual_types::{Completion, SystemExceptionKind};

use super::hosts::{Host, Log, WorkerRef, await_status, cooperative, importance};

const LONG: Duration = Duration::from_secs(30);

/// The hosts of a caller and a servant, and an object whose operation waits for a gate.
struct Held {
    client: Host,
    server: Host,
    worker: WorkerRef,
    gate: Arc<Gate>,
}

fn held() -> Held {
    let (client, server) = (Host::with_replies(cooperative()), Host::new());
    let gate = Arc::new(Gate::new());
    let holds = Arc::clone(&gate);
    let worker = server.serve(move |value| {
        holds.pass(None);
        Ok(value + 1)
    });
    Held {
        worker: client.resolve(&worker).within(LONG),
        client,
        server,
        gate,
    }
}

#[test]
fn a_call_spawns_a_thread_with_the_implicit_parameters_and_the_caller_continues() {
    let (client, server) = (Host::with_replies(cooperative()), Host::new());
    let (sender, receiver) = mpsc::channel();
    let (sender, at_server) = (PiMutex::new(sender), server.scheduling.clone());
    let gate = Arc::new(Gate::new());
    let holds = Arc::clone(&gate);
    let worker = server.serve(move |value| {
        let current = at_server.current();
        let seen = (
            current.id().unwrap(),
            current.scheduling_parameter().unwrap(),
            current.implicit_scheduling_parameter().unwrap(),
            current.current_scheduling_segment_names().unwrap(),
        );
        sender.lock().send(seen).unwrap();
        holds.pass(None);
        Ok(value + 1)
    });
    let worker = client.resolve(&worker).within(LONG);
    let current = client.scheduling.current();
    current
        .segment_with_implicit("track", importance(5), importance(2), |segment| {
            let call = worker.work_later(41);
            let (spawned, parameters, implicit, names) = receiver.recv_timeout(LONG).unwrap();
            assert_ne!(spawned, current.id()?);
            assert_eq!((parameters, implicit), (importance(2), Some(importance(2))));
            assert_eq!(names, ["work"]);
            // While the servant executes, the caller keeps its identity and its head, and begins and ends
            // segments.
            assert_eq!(current.scheduling_parameter()?, importance(5));
            assert_eq!(client.scheduling.snapshot()[0].status, ThreadStatus::Running);
            segment.update(importance(6))?;
            current.segment("nested", importance(7), |_| Ok::<_, SchedulingError>(()))?;
            gate.open();
            assert_eq!(call.wait()?, 42);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    eventually("it has ended", || server.scheduling.threads() == 0);
    assert_eq!(client.scheduling.threads(), 0);
}

#[test]
fn without_implicit_parameters_the_spawned_thread_has_the_callers() {
    let (client, server) = (Host::with_replies(cooperative()), Host::new());
    let at_server = server.scheduling.clone();
    let worker = server.serve(move |_| {
        let is_callers = at_server.current().scheduling_parameter()? == importance(5);
        Ok(i32::from(is_callers))
    });
    let worker = client.resolve(&worker).within(LONG);
    let called = client.scheduling.current().segment("track", importance(5), |_| {
        Ok::<_, SchedulingError>(worker.work_later(0).wait()?)
    });
    assert_eq!(called.unwrap(), 1);
}

#[test]
fn another_thread_runs_while_the_caller_waits() {
    let Held {
        client,
        server,
        worker,
        gate,
    } = held();
    let log = Log::default();
    let current = client.scheduling.current();
    current
        .begin_scheduling_segment("high", importance(9), None)
        .unwrap();
    let (scheduling, of_low) = (client.scheduling.clone(), log.clone());
    let low = ThreadSpec::new("low").spawn(move || {
        scheduling.current().segment("low", importance(1), |_| {
            of_low.add("low");
            assert_eq!(status_of(&scheduling, "high"), ThreadStatus::Waiting);
            // Only now: the reply cannot arrive unless this one runs.
            gate.open();
            await_status(&scheduling, "high", ThreadStatus::Ready);
            of_low.add("low ends");
            Ok::<_, SchedulingError>(())
        })
    });
    let low = low.unwrap();
    await_status(&client.scheduling, "low", ThreadStatus::Ready);
    let call = worker.work_later(1);
    assert!(
        log.lines().is_empty(),
        "the call is no reason to suspend the caller"
    );
    assert_eq!(call.wait().unwrap(), 2);
    log.add("high");
    current.end_scheduling_segment("high").unwrap();
    low.join().unwrap().unwrap();
    assert_eq!(log.lines(), ["low", "low ends", "high"]);
    eventually("it has ended", || server.scheduling.threads() == 0);
}

#[test]
fn a_poll_without_a_reply_lets_a_waiting_thread_go_first() {
    let Held {
        client,
        server: _server,
        worker,
        gate,
    } = held();
    let log = Log::default();
    let current = client.scheduling.current();
    current
        .begin_scheduling_segment("low", importance(1), None)
        .unwrap();
    let mut call = worker.work_later(1);
    for look in ["is_ready", "poll"] {
        let (scheduling, of_high) = (client.scheduling.clone(), log.clone());
        let high = ThreadSpec::new("high").spawn(move || {
            scheduling.current().segment("high", importance(9), |_| {
                of_high.add("high");
                Ok::<_, SchedulingError>(())
            })
        });
        await_status(&client.scheduling, "high", ThreadStatus::Ready);
        if look == "is_ready" {
            assert!(!call.is_ready());
        } else {
            let polled = pin!(&mut call).poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending));
        }
        log.add(look);
        assert_eq!(status_of(&client.scheduling, "low"), ThreadStatus::Running);
        high.unwrap().join().unwrap().unwrap();
    }
    gate.open();
    assert_eq!(call.wait().unwrap(), 2);
    current.end_scheduling_segment("low").unwrap();
    assert_eq!(log.lines(), ["high", "is_ready", "high", "poll"]);
}

#[test]
fn start_and_polls_report_the_callers_cancellation_and_the_spawned_thread_continues() {
    for point in ["start", "is_ready", "wait"] {
        let Held {
            client,
            server,
            worker,
            gate,
        } = held();
        let called = client.scheduling.current().segment("track", importance(5), |_| {
            let call = (point != "start").then(|| worker.work_later(1));
            if call.is_some() {
                eventually("it has begun", || server.scheduling.threads() == 1);
            }
            client.scheduling.current().distributable_thread()?.cancel()?;
            let told = match call {
                None => worker.work_later(1).wait(),
                Some(mut call) => {
                    // The call has ended with the exception that is reported to the caller.
                    assert!(point == "wait" || call.is_ready());
                    call.wait()
                }
            };
            let told = told.unwrap_err();
            assert_eq!(told.kind, SystemExceptionKind::ThreadCancelled, "{point}");
            Ok::<_, SchedulingError>(())
        });
        assert!(called.unwrap_err().is_cancellation());
        assert_eq!(client.scheduling.threads(), 0);
        if point != "start" {
            // It has a separate head.
            let spawned = server.scheduling.snapshot()[0].id;
            let spawned = server.scheduling.lookup(spawned).unwrap();
            assert_eq!(spawned.state(), Ok(DistributableThreadState::Active));
        }
        gate.open();
        eventually("it has ended", || server.scheduling.threads() == 0);
    }
}

#[test]
fn a_cancellation_during_the_wait_is_reported_with_the_reply() {
    let Held {
        client,
        server: _server,
        worker,
        gate,
    } = held();
    let scheduling = client.scheduling.clone();
    let caller = ThreadSpec::new("caller").spawn(move || {
        scheduling.current().segment("track", importance(5), |_| {
            let told = worker.work_later(1).wait().unwrap_err();
            assert_eq!(
                (told.kind, told.completed),
                (SystemExceptionKind::ThreadCancelled, Completion::Yes)
            );
            Ok::<_, SchedulingError>(())
        })
    });
    await_status(&client.scheduling, "track", ThreadStatus::Waiting);
    let id = client.scheduling.snapshot()[0].id;
    client.scheduling.lookup(id).unwrap().cancel().unwrap();
    gate.open();
    assert!(caller.unwrap().join().unwrap().unwrap_err().is_cancellation());
    assert_eq!(client.scheduling.threads(), 0);
}

#[test]
fn a_spawned_thread_that_is_cancelled_does_not_cancel_the_caller() {
    let (client, server) = (Host::with_replies(cooperative()), Host::new());
    let at_server = server.scheduling.clone();
    let worker = server.serve(move |value| {
        at_server.current().distributable_thread()?.cancel()?;
        Ok(value)
    });
    let worker = client.resolve(&worker).within(LONG);
    let current = client.scheduling.current();
    let called = current.segment("track", importance(5), |segment| {
        let told = worker.work_later(1).wait().unwrap_err();
        assert_eq!(told.kind, SystemExceptionKind::ThreadCancelled);
        segment.update(importance(6))
    });
    called.unwrap();
    eventually("it has ended", || server.scheduling.threads() == 0);
}

#[test]
fn a_wait_that_times_out_ends_for_the_caller_only() {
    for way in ["its own timeout", "an operation's"] {
        let Held {
            client,
            server,
            worker,
            gate,
        } = held();
        let current = client.scheduling.current();
        let called = current.segment("track", importance(5), |segment| {
            let soon = Duration::from_millis(50);
            if way == "its own timeout" {
                let late = worker.within(soon).work_later(1).wait().unwrap_err();
                assert_eq!(late.kind, SystemExceptionKind::Timeout);
            } else {
                let late = current.operation(soon, SheddingPolicy::at_checkpoints(), |_| {
                    Ok::<_, SchedulingError>(worker.work_later(1).wait()?)
                });
                let SchedulingError::System(late) = late.unwrap_err() else {
                    panic!("a system exception")
                };
                assert_eq!(late.kind, SystemExceptionKind::Timeout);
            }
            // The caller continues with its head.
            assert_eq!(status_of(&client.scheduling, "track"), ThreadStatus::Running);
            segment.update(importance(6))?;
            gate.open();
            eventually("it has ended", || server.scheduling.threads() == 0);
            // The gate lets one pass.
            gate.open();
            assert_eq!(worker.work(2)?, 3);
            Ok::<_, SchedulingError>(())
        });
        called.expect(way);
        assert_eq!(client.scheduling.threads(), 0);
        eventually("it has ended", || server.scheduling.threads() == 0);
    }
}

#[test]
fn an_abandoned_call_leaves_nothing() {
    let Held {
        client,
        server,
        worker,
        gate,
    } = held();
    let current = client.scheduling.current();
    let called = current.segment("track", importance(5), |segment| {
        let mut call = worker.work_later(1);
        assert!(
            !call.is_ready_within(Duration::from_millis(20)),
            "a poll without a reply"
        );
        assert_eq!(status_of(&client.scheduling, "track"), ThreadStatus::Running);
        eventually("it has begun", || server.scheduling.threads() == 1);
        drop(call);
        segment.update(importance(6))?;
        gate.open();
        eventually("it has ended", || server.scheduling.threads() == 0);
        // Its reply is discarded, and is not mistaken for that of the next call. The gate lets one pass.
        gate.open();
        assert_eq!(worker.work_later(5).wait()?, 6);
        Ok::<_, SchedulingError>(())
    });
    called.unwrap();
    assert_eq!(client.scheduling.threads(), 0);
    eventually("nothing is left", || server.scheduling.threads() == 0);
}

#[test]
fn values_of_a_spawned_thread_end_with_it() {
    let (sender, destroyed) = mpsc::channel();
    let sender = PiMutex::new(sender);
    let key = WordKey::<u32>::with_destructor(move |value| {
        let _ = sender.lock().send(value);
    });
    let key = key.unwrap();
    let (client, server) = (Host::with_replies(cooperative()), Host::new());
    let scheduling = server.scheduling.clone();
    let spec = ThreadSpec::new(Housekeeper::NAME);
    let retained = Arc::clone(server.scheduling.retained_storage());
    let _housekeeper = Housekeeper::start(retained, spec, move || scheduling.current().now()).unwrap();
    let worker = server.serve(move |value| {
        key.set(7).unwrap();
        Ok(value)
    });
    let worker = client.resolve(&worker).within(LONG);
    let called = client.scheduling.current().segment("track", importance(5), |_| {
        Ok::<_, SchedulingError>(worker.work_later(1).wait()?)
    });
    assert_eq!(called.unwrap(), 1);
    // If the thread might return, the value would be retained for a minute.
    assert_eq!(destroyed.recv_timeout(LONG), Ok(7));
}

fn status_of(scheduling: &RtScheduling, name: &str) -> ThreadStatus {
    let threads = scheduling.snapshot();
    let thread = threads.iter().find(|thread| thread.name == name);
    thread.expect("it is known here").status
}
