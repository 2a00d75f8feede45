//! Distributable threads over calls between two hosts, over TCP.

use std::{sync::Arc, time::Duration};

use punctual_fixtures::eventually;
use punctual_os::{PiMutex, ThreadSpec};
use punctual_rtsched::{
    RtScheduling, SchedulingError, ThreadStatus,
    storage::{RetentionLimits, WordKey},
};
use punctual_sched::dynamic::{EarliestDeadlineFirst, SchedulingParameters};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::hosts::{Host, Log, await_status, cooperative, decisions, importance, trusting};

#[test]
fn a_two_way_call_takes_the_thread_along_and_back() {
    let (client, server) = (Host::new(), Host::new());
    let seen = Arc::new(PiMutex::new(None));
    let (note, at_server) = (Arc::clone(&seen), server.scheduling.clone());
    let worker = server.serve(move |value| {
        let current = at_server.current();
        *note.lock() = Some((
            current.id(),
            current.scheduling_parameter(),
            current.implicit_scheduling_parameter(),
            current.current_scheduling_segment_names(),
        ));
        Ok(value + 1)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    let id = current
        .segment_with_implicit("track", importance(5), importance(2), |_| {
            assert_eq!(worker.work(41)?, 42);
            assert_eq!(current.current_scheduling_segment_names()?, ["track"]);
            Ok::<_, SchedulingError>(current.id()?)
        })
        .unwrap();
    let (at_id, parameters, implicit, names) = seen.lock().take().unwrap();
    assert_eq!(at_id.unwrap(), id);
    assert_eq!(
        (parameters.unwrap(), implicit.unwrap()),
        (importance(5), Some(importance(2)))
    );
    assert_eq!(names.unwrap(), ["work"]);
    eventually("it has left", || server.scheduling.threads() == 0);
    assert_eq!(
        decisions(&client.scheduling),
        [
            "track resumed",
            "track suspended",
            "track resumed",
            "track suspended"
        ]
    );
    assert_eq!(decisions(&server.scheduling), ["work resumed", "work suspended"]);
}

#[test]
fn a_call_without_a_thread_has_no_context() {
    let (client, server) = (Host::new(), Host::new());
    let at_server = server.scheduling.clone();
    let worker = server.serve(move |_| Ok(i32::from(at_server.current().id().is_ok())));
    assert_eq!(client.resolve(&worker).work(0).unwrap(), 0);
    assert_eq!((client.scheduling.threads(), server.scheduling.threads()), (0, 0));
}

#[test]
fn a_oneway_call_spawns_a_thread_with_the_implicit_parameters() {
    let (client, server) = (Host::new(), Host::new());
    let (sender, receiver) = std::sync::mpsc::channel();
    let (sender, at_server) = (PiMutex::new(sender), server.scheduling.clone());
    let worker = server.serve(move |_| {
        let current = at_server.current();
        let seen = (current.id(), current.scheduling_parameter());
        sender.lock().send(seen).unwrap();
        Ok(0)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    let id = current
        .segment_with_implicit("track", importance(5), importance(2), |_| {
            worker.post(1)?;
            Ok::<_, SchedulingError>(current.id()?)
        })
        .unwrap();
    let (spawned, parameters) = receiver.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_ne!(spawned.unwrap(), id);
    assert_eq!(parameters.unwrap(), importance(2));
    eventually("it has ended", || server.scheduling.threads() == 0);
    // The caller's head stayed: it was suspended only at its end.
    assert_eq!(
        decisions(&client.scheduling),
        ["track resumed", "track suspended"]
    );
}

#[test]
fn collocated_calls_stay_on_the_thread() {
    let host = Host::new();
    let log = Log::default();
    let (of_servant, scheduling) = (log.clone(), host.scheduling.clone());
    let worker = host.serve(move |value| {
        let current = scheduling.current();
        of_servant.add(format!(
            "{:?} {}",
            current.current_scheduling_segment_names().unwrap(),
            current.id().unwrap()
        ));
        // Leaves a segment open, on its caller's thread.
        current
            .begin_scheduling_segment("left open", importance(9), None)
            .unwrap();
        Ok(value)
    });
    let current = host.scheduling.current();
    current
        .segment_with_implicit("track", importance(5), importance(2), |_| {
            let id = current.id()?;
            worker.work(1)?;
            assert_eq!(log.lines(), [format!("[\"track\"] {id}")]);
            assert_eq!(current.current_scheduling_segment_names()?, ["track"]);
            assert_eq!(current.scheduling_parameter()?, importance(5));
            worker.post(1)?;
            let posted = log.lines().pop().unwrap();
            assert!(
                posted.starts_with("[\"post\"]") && !posted.contains(&id.to_string()),
                "{posted}"
            );
            assert_eq!(current.current_scheduling_segment_names()?, ["track"]);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(host.scheduling.threads(), 0);
    let tail = decisions(&host.scheduling);
    assert_eq!(
        tail,
        [
            "track resumed",
            "track suspended",
            "post resumed",
            "post suspended",
            "track resumed",
            "track suspended"
        ],
        "the two-way call needs no decision"
    );
}

#[test]
fn a_collocated_servant_may_call_further() {
    let (client, server) = (Host::new(), Host::new());
    let at_server = server.scheduling.clone();
    let last = server.serve(move |value| {
        at_server.current().id()?;
        Ok(value + 1)
    });
    let last = client.resolve(&last);
    let collocated = client.serve(move |value| last.work(value));
    let current = client.scheduling.current();
    current
        .segment("track", importance(5), |segment| {
            assert_eq!(collocated.work(1)?, 2);
            segment.update(importance(6))?;
            assert_eq!(collocated.work(2)?, 3);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(client.scheduling.threads(), 0);
}

#[test]
fn nested_upcalls_have_their_own_thread_ids() {
    use punctual_orb::WaitStrategy;
    use punctual_stub::{Interface, PolicyOverrides};

    let (client, middle, last) = (Host::new(), Host::new(), Host::new());
    let log = Log::default();
    let (entered, release) = (
        Arc::new(punctual_os::Gate::new()),
        Arc::new(punctual_os::Gate::new()),
    );
    let (enters, released) = (Arc::clone(&entered), Arc::clone(&release));
    let blocking = last.serve(move |value| {
        enters.open();
        released.pass(None);
        Ok(value)
    });
    let blocking = middle.resolve(&blocking);
    let serving = PolicyOverrides::new().wait_strategy(WaitStrategy::Serving);
    let blocking = super::hosts::WorkerRef::from_object(blocking.as_object().with_policies(serving));
    let (of_servant, at_middle) = (log.clone(), middle.scheduling.clone());
    let tell = move |value: i32| {
        let current = at_middle.current();
        let line = match current.scheduling_parameter() {
            Ok(SchedulingParameters::Importance { importance }) => format!("{value}: {importance}"),
            _ => format!("{value}: nobody"),
        };
        of_servant.add(line);
        current.id().ok()
    };
    // One thread serves all: it waits in the first call while it serves the others.
    let worker = middle.serve_with(1, move |value| {
        let before = tell(value);
        if value == 1 {
            blocking.work(value)?;
        }
        assert_eq!(tell(value), before);
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let (of_first, first_worker) = (client.scheduling.clone(), worker.clone());
    let first = ThreadSpec::new("first")
        .spawn(move || {
            let current = of_first.current();
            current
                .segment("first", importance(1), |_| {
                    Ok::<_, SchedulingError>(first_worker.work(1)?)
                })
                .unwrap();
        })
        .unwrap();
    entered.pass(None);
    let current = client.scheduling.current();
    current
        .segment("second", importance(2), |_| {
            Ok::<_, SchedulingError>(worker.work(2)?)
        })
        .unwrap();
    worker.work(3).unwrap();
    release.open();
    first.join().unwrap();
    assert_eq!(
        log.lines(),
        ["1: 1", "2: 2", "2: 2", "3: nobody", "3: nobody", "1: 1"]
    );
    eventually("nothing is left", || middle.scheduling.threads() == 0);
}

#[test]
fn other_interceptors_may_begin_threads() {
    use punctual_orb::interceptors::{
        ClientRequestInfo, ClientRequestInterceptor, Interrupt, OrbInitInfo, OrbInitializer,
    };

    /// Begins a segment in each call, and leaves it open.
    #[derive(Clone)]
    struct Careless(RtScheduling);
    impl ClientRequestInterceptor for Careless {
        fn name(&self) -> &str {
            "careless"
        }
        fn send_request(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
            let current = self.0.current();
            assert!(current.id().is_err(), "the caller's head is away");
            let begun = current.begin_scheduling_segment("left open", importance(1), None);
            Ok(begun.map_err(super::hosts::system)?)
        }
    }
    impl OrbInitializer for Careless {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
            info.add_client_request_interceptor(Arc::new(self.clone()))
                .unwrap();
        }
    }

    let server = Host::new();
    let worker = server.serve(Ok);
    let scheduling = cooperative();
    let client = Host::intercepted(scheduling.clone(), &Careless(scheduling.clone()));
    let worker = client.resolve(&worker);
    let current = scheduling.current();
    current
        .segment("track", importance(5), |_| {
            assert_eq!(worker.work(1)?, 1);
            assert_eq!(current.current_scheduling_segment_names()?, ["track"]);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn another_thread_runs_while_one_is_away() {
    let (client, server) = (Host::new(), Host::new());
    let log = Log::default();
    let of_servant = log.clone();
    let worker = server.serve(move |value| {
        // Observes that the other host continues meanwhile.
        eventually("the less important one ran", || {
            of_servant.lines().iter().any(|line| line == "low")
        });
        of_servant.add("served");
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    current
        .begin_scheduling_segment("high", importance(9), None)
        .unwrap();
    let (scheduling, of_low) = (client.scheduling.clone(), log.clone());
    let low = ThreadSpec::new("low")
        .spawn(move || {
            let current = scheduling.current();
            current
                .begin_scheduling_segment("low", importance(1), None)
                .unwrap();
            of_low.add("low");
            eventually("the reply is there", || {
                scheduling
                    .snapshot()
                    .iter()
                    .any(|thread| thread.name == "high" && thread.status == ThreadStatus::Ready)
            });
            of_low.add("low ends");
            current.end_scheduling_segment("low").unwrap();
        })
        .unwrap();
    await_status(&client.scheduling, "low", ThreadStatus::Ready);
    worker.work(1).unwrap();
    log.add("high");
    current.end_scheduling_segment("high").unwrap();
    low.join().unwrap();
    assert_eq!(log.lines(), ["low", "served", "low ends", "high"]);
}

#[test]
fn a_callback_is_the_same_thread_with_its_storage() {
    let (client, server) = (Host::new(), Host::new());
    let hops = WordKey::<u32>::new().unwrap();
    let hops = Arc::new(hops);
    let (at_client, of_inner) = (client.scheduling.clone(), Arc::clone(&hops));
    let inner = client.serve(move |value| {
        assert_eq!(of_inner.get().unwrap(), Some(7), "what it stored before it left");
        of_inner.set(8).unwrap();
        assert_eq!(
            at_client.current().current_scheduling_segment_names().unwrap(),
            ["work"]
        );
        Ok(value * 2)
    });
    let (inner, of_outer) = (server.resolve(&inner), Arc::clone(&hops));
    let outer = server.serve(move |value| {
        assert_eq!(of_outer.get().unwrap(), None, "another host");
        of_outer.set(100).unwrap();
        inner.work(value)
    });
    let outer = client.resolve(&outer);
    let current = client.scheduling.current();
    current
        .segment("track", importance(5), |_| {
            hops.set(7).unwrap();
            assert_eq!(outer.work(4)?, 8);
            assert_eq!(hops.get().unwrap(), Some(8));
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert!(hops.get().is_err(), "storage requires a thread");
    assert_eq!(client.scheduling.threads(), 0);
    eventually("it has left", || server.scheduling.threads() == 0);
    assert_eq!(
        server.scheduling.retained_storage().len(),
        1,
        "retained for its return"
    );
}

#[test]
fn exceptions_return_the_thread() {
    let (client, server) = (Host::new(), Host::new());
    let failing = server.serve(|value| match value {
        0 => panic!("on purpose"),
        _ => Err(SystemException::new(
            SystemExceptionKind::NoResources,
            0,
            Completion::Yes,
        )),
    });
    let failing = client.resolve(&failing);
    let current = client.scheduling.current();
    current
        .segment("track", importance(5), |segment| {
            assert_eq!(failing.work(0).unwrap_err().kind, SystemExceptionKind::Unknown);
            assert_eq!(
                failing.work(1).unwrap_err().kind,
                SystemExceptionKind::NoResources
            );
            segment.update(importance(6))
        })
        .unwrap();
    eventually("it has left", || server.scheduling.threads() == 0);
}

#[test]
fn the_thread_returns_with_an_error_from_a_dead_host() {
    let (client, server) = (Host::new(), Host::new());
    let worker = server.serve(Ok);
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    current
        .segment("track", importance(5), |segment| {
            worker.work(1)?;
            server.orb.shutdown();
            let mut lost = None;
            eventually("its connections are closed", || {
                lost = worker.within(Duration::from_secs(20)).work(2).err();
                lost.is_some()
            });
            let lost = lost.unwrap();
            assert_ne!(lost.kind, SystemExceptionKind::ThreadCancelled, "{lost}");
            segment.update(importance(4))
        })
        .unwrap();
    assert_eq!(client.scheduling.threads(), 0);
}

#[test]
fn a_call_that_times_out_leaves_no_second_head() {
    let (client, server) = (Host::new(), Host::new());
    let log = Log::default();
    let release = Arc::new(punctual_os::Gate::new());
    let (of_servant, at_server, released) = (log.clone(), server.scheduling.clone(), Arc::clone(&release));
    let worker = server.serve(move |value| {
        if value == 1 {
            released.pass(None);
            // No caller waits for it now, but it is the head here until another request claims it.
            of_servant.add(format!("late {}", at_server.current().scheduling_point().is_ok()));
        }
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    current
        .segment("track", importance(5), |_| {
            let late = worker.within(Duration::from_millis(50)).work(1).unwrap_err();
            assert_eq!(late.kind, SystemExceptionKind::Timeout);
            // The host still has it.
            let refused = worker.work(2).unwrap_err();
            assert_eq!(refused.minor, Minor::DISTRIBUTABLE_THREAD_ACTIVE);
            release.open();
            eventually("it has left", || server.scheduling.threads() == 0);
            assert_eq!(worker.work(3)?, 3);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(log.lines(), ["late true"]);
}

#[test]
fn a_caller_that_continues_takes_its_head_back_within_one_process() {
    // Two ORBs of one endsystem: the thread calls the host that it is at.
    let scheduling = cooperative();
    let (client, server) = (Host::with(scheduling.clone()), Host::with(scheduling.clone()));
    let release = Arc::new(punctual_os::Gate::new());
    let (released, at_server) = (Arc::clone(&release), scheduling.clone());
    let (sender, receiver) = std::sync::mpsc::channel();
    let sender = PiMutex::new(sender);
    let worker = server.serve(move |value| {
        released.pass(None);
        let late = at_server.current().scheduling_point().unwrap_err();
        sender.lock().send(late.kind).unwrap();
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let current = scheduling.current();
    current
        .segment("track", importance(5), |segment| {
            let late = worker.within(Duration::from_millis(50)).work(1).unwrap_err();
            assert_eq!(late.kind, SystemExceptionKind::Timeout);
            segment.update(importance(3))?;
            release.open();
            let kind = receiver.recv_timeout(Duration::from_secs(30)).unwrap();
            assert_eq!(
                kind,
                SystemExceptionKind::ThreadCancelled,
                "the head has moved on"
            );
            segment.update(importance(2))
        })
        .unwrap();
    eventually("nothing is left", || scheduling.threads() == 0);
}

#[test]
fn another_scheduler_on_the_way_translates_and_the_original_travels_on() {
    let (client, last) = (Host::new(), Host::new());
    let middle = Host::with(
        trusting()
            .scheduler(EarliestDeadlineFirst::new())
            .preemption(punctual_rtsched::Preemption::Cooperative)
            .build()
            .unwrap(),
    );
    let at_last = last.scheduling.clone();
    let final_worker = last.serve(move |_| match at_last.current().scheduling_parameter().unwrap() {
        SchedulingParameters::Importance { importance } => Ok(importance),
        _ => Ok(-1),
    });
    let final_worker = middle.resolve(&final_worker);
    let worker = middle.serve(move |value| final_worker.work(value));
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    let arrived = current.segment("track", importance(5), |_| {
        Ok::<_, SchedulingError>(worker.work(0)?)
    });
    assert_eq!(arrived.unwrap(), 5);
}

#[test]
fn forged_and_malformed_contexts_are_refused() {
    use punctual_orb::interceptors::{
        ClientRequestInfo, ClientRequestInterceptor, Interrupt, OrbInitInfo, OrbInitializer,
    };

    /// Sends a given service context 30.
    #[derive(Clone)]
    struct Forger(Arc<PiMutex<Vec<u8>>>);
    impl ClientRequestInterceptor for Forger {
        fn name(&self) -> &str {
            "forger"
        }
        fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
            Ok(info.add_request_service_context(30, &self.0.lock())?)
        }
    }
    impl OrbInitializer for Forger {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
            info.add_client_request_interceptor(Arc::new(self.clone()))
                .unwrap();
        }
    }

    let server = Host::new();
    let at_server = server.scheduling.clone();
    let worker = server.serve(move |_| Ok(i32::from(at_server.current().id().is_ok())));
    let octets = Arc::new(PiMutex::new(Vec::new()));
    let forger = punctual_orb::Orb::builder()
        .initializer(&Forger(Arc::clone(&octets)))
        .build()
        .unwrap();
    let worker: super::hosts::WorkerRef = {
        use punctual_stub::Interface;
        forger.resolve(&worker.as_object().to_ior()).unwrap()
    };
    let context = |id: u128| {
        use punctual_rtsched::wire::{Clocks, SchedulingContext, UtcTime};
        use punctual_sched::dynamic::Time;
        let context = SchedulingContext {
            id: punctual_types::DistributableThreadId(id),
            parameters: Some(importance(1).into()),
            implicit: None,
            begins: false,
        };
        let clocks = Clocks {
            local: Time(0),
            utc: UtcTime(0),
        };
        context.encode(&clocks, punctual_cdr::Endian::NATIVE).to_vec()
    };

    *octets.lock() = context(7);
    assert_eq!(worker.work(0).unwrap(), 1, "an unused id");
    for cut in 4..context(7).len() {
        *octets.lock() = context(7)[..cut].to_vec();
        let refused = worker.work(0).unwrap_err();
        assert_eq!(refused.kind, SystemExceptionKind::Marshal, "{cut} octets");
    }
    let mut newer = context(7);
    newer[4] += 1;
    *octets.lock() = newer;
    assert_eq!(
        worker.work(0).unwrap(),
        0,
        "a newer version: outside of all threads"
    );

    let current = server.scheduling.current();
    current
        .segment("track", importance(5), |segment| {
            *octets.lock() = context(current.id()?.0);
            let refused = worker.work(0).unwrap_err();
            assert_eq!(refused.minor, Minor::DISTRIBUTABLE_THREAD_ACTIVE);
            segment.update(importance(6))
        })
        .unwrap();
    eventually("nothing is left", || server.scheduling.threads() == 0);
}

#[test]
fn a_flood_of_new_ids_is_bounded_by_the_maximum() {
    let limits = RetentionLimits {
        max_threads: 8,
        ..RetentionLimits::default()
    };
    let scheduling = trusting()
        .max_threads(4)
        .retention_limits(limits)
        .build()
        .unwrap();
    let (client, server) = (Host::new(), Host::with(scheduling));
    let key = WordKey::<u32>::new().unwrap();
    let worker = server.serve(move |value| {
        key.set(1).unwrap();
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    for round in 0..200 {
        let called = current.segment("track", importance(1), |_| {
            worker.post(round)?;
            Ok::<_, SchedulingError>(worker.work(round)?)
        });
        // Oneway requests in the queue occupy entries, too, and are refused if none is free.
        match called {
            Ok(result) => assert_eq!(result, round),
            Err(SchedulingError::System(full)) => {
                assert_eq!(full.minor, Minor::TOO_MANY_DISTRIBUTABLE_THREADS);
            }
            Err(other) => panic!("{other}"),
        }
        assert!(server.scheduling.threads() <= 4);
    }
    eventually("they have left", || server.scheduling.threads() == 0);
    assert!(server.scheduling.retained_storage().len() <= 8);
    assert!(server.scheduling.retained_storage().destroyed_by_lanes() > 0);
}
