//! Resources of distributable threads: their owners, the order of waiters, and the ends of waits.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use punctual_fixtures::{LONG, Missing, skip};
use punctual_os::PiMutex;
use punctual_rtsched::{
    Mechanism, Preemption, ResourceManager, RtScheduling, SchedulingError, SpawnSpec, Switch,
    storage::WordKey,
};
use punctual_sched::dynamic::{
    EarliestDeadlineFirst, MostImportantFirst, SchedulingParameters, SheddingPolicy,
};
use punctual_types::{Minor, SystemException, SystemExceptionKind};

fn important(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

/// `processors` threads run at a time, and stop only at scheduling points, so that nothing depends on rights.
fn scheduling(processors: usize) -> RtScheduling {
    RtScheduling::builder()
        .scheduler(MostImportantFirst::new())
        .mechanism(Mechanism::ReadyQueue)
        .preemption(Preemption::Cooperative)
        .processors(processors)
        .record_decisions(1_000)
        .build()
        .unwrap()
}

/// Starts a distributable thread for `work`; returns it and a channel for its result.
fn spawn<R: Send + 'static>(
    scheduling: &RtScheduling,
    name: &str,
    importance: i32,
    work: impl FnOnce() -> R + Send + 'static,
) -> (punctual_rtsched::DistributableThread, mpsc::Receiver<R>) {
    let (sender, result) = mpsc::channel();
    let parameters = Some(important(importance));
    let spawned = scheduling
        .current()
        .spawn(name, parameters, None, SpawnSpec::default(), move || {
            let _ = sender.send(work());
        });
    (spawned.unwrap(), result)
}

/// Waits until the thread has been suspended `times` times.
fn suspended(scheduling: &RtScheduling, name: &str, times: usize) {
    let start = Instant::now();
    let count = || {
        let decisions = scheduling.decisions();
        let of_thread = decisions.iter().filter(|decision| decision.name() == name);
        of_thread
            .filter(|decision| decision.switch == Switch::Suspended)
            .count()
    };
    while count() < times {
        assert!(start.elapsed() < LONG, "{name}: {:?}", scheduling.decisions());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn received<R>(result: &mpsc::Receiver<R>) -> R {
    result.recv_timeout(LONG).unwrap()
}

fn in_segment<R>(scheduling: &RtScheduling, work: impl FnOnce() -> R) -> R {
    let segment = scheduling
        .current()
        .segment("main", important(1), |_| Ok::<_, SchedulingError>(work()));
    segment.unwrap()
}

type Done = Result<(), SystemException>;

#[test]
fn an_owner_acquires_again_and_releases_as_often() {
    let scheduling = scheduling(2);
    let map = scheduling.create_resource_manager("map", None).unwrap();
    in_segment(&scheduling, || {
        let id = scheduling.current().id().unwrap();
        let outer = map.lock().unwrap();
        let inner = scheduling
            .current()
            .segment("nested", important(2), |_| {
                let inner = map.try_lock(Duration::ZERO).map_err(SchedulingError::System)?;
                Ok::<_, SchedulingError>(inner.unwrap())
            })
            .unwrap();
        drop(outer);
        assert_eq!(map.owner(), Some(id));
        let other = map.clone();
        let (_, refused) = spawn(&scheduling, "other", 1, move || {
            other.try_lock(Duration::ZERO).unwrap().is_none()
        });
        assert!(received(&refused));
        drop(inner);
        assert_eq!(map.owner(), None);
    });
}

#[test]
fn locking_requires_a_distributable_thread() {
    let scheduling = scheduling(1);
    let map = scheduling.create_resource_manager("map", None).unwrap();
    let error = map.lock().unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::BadInvOrder);
    assert!(format!("{map:?}").contains("map"));
}

#[test]
fn a_ceiling_for_another_scheduler_is_refused() {
    let scheduling = RtScheduling::builder()
        .scheduler(EarliestDeadlineFirst::new())
        .build()
        .unwrap();
    let refused = scheduling
        .create_resource_manager("map", Some(important(1)))
        .unwrap_err();
    assert!(matches!(
        refused,
        SchedulingError::UnsupportedSchedulingDiscipline { .. }
    ));
}

#[test]
fn waiters_acquire_in_the_order_of_the_scheduler() {
    let scheduling = scheduling(8);
    let map = scheduling.create_resource_manager("map", None).unwrap();
    let order = Arc::new(PiMutex::new(Vec::new()));
    in_segment(&scheduling, || {
        let guard = map.lock().unwrap();
        let results: Vec<_> = [("low", 2), ("high", 9), ("middle", 5), ("middle as well", 5)]
            .into_iter()
            .map(|(name, importance)| {
                let (map, order) = (map.clone(), Arc::clone(&order));
                let (_, result) = spawn(&scheduling, name, importance, move || -> Done {
                    let _guard = map.lock()?;
                    order.lock().push(name);
                    Ok(())
                });
                suspended(&scheduling, name, 1);
                result
            })
            .collect();
        assert!(order.lock().is_empty());
        drop(guard);
        for result in results {
            received(&result).unwrap();
        }
    });
    assert_eq!(*order.lock(), ["high", "middle", "middle as well", "low"]);
}

/// One processor. A thread of low importance owns what a thread of high importance waits for; one of middle
/// importance is ready.
fn order_of_three(ceiling: Option<i32>) -> Vec<&'static str> {
    let scheduling = scheduling(1);
    let map = scheduling
        .create_resource_manager("map", ceiling.map(important))
        .unwrap();
    let order = Arc::new(PiMutex::new(Vec::new()));
    let note = |who| {
        let order = Arc::clone(&order);
        move || order.lock().push(who)
    };
    let (high_notes, middle_notes, low_notes) = (note("high"), note("middle"), note("low, with the map"));
    in_segment(&scheduling, || {
        let guard = map.lock().unwrap();
        let map = map.clone();
        let (_, high) = spawn(&scheduling, "high", 9, move || -> Done {
            let _guard = map.lock()?;
            high_notes();
            Ok(())
        });
        let (_, middle) = spawn(&scheduling, "middle", 5, middle_notes);
        // Both have reached their first scheduling point, and no other thread runs.
        let start = Instant::now();
        while scheduling.threads() < 3 {
            assert!(start.elapsed() < LONG);
        }
        std::thread::sleep(Duration::from_millis(20));
        // Here the high thread gets the processor, and finds that the map has an owner.
        scheduling.current().scheduling_point().unwrap();
        low_notes();
        drop(guard);
        // Here more important threads go first again.
        scheduling.current().scheduling_point().unwrap();
        received(&high).unwrap();
        received(&middle);
    });
    let order = order.lock();
    order.clone()
}

#[test]
fn an_owner_inherits_so_threads_in_between_wait() {
    assert_eq!(order_of_three(None), ["low, with the map", "high", "middle"]);
}

#[test]
fn with_a_ceiling_threads_below_it_wait_from_the_start() {
    assert_eq!(order_of_three(Some(9)), ["low, with the map", "high", "middle"]);
}

/// The kernel runs the owner at the waiter's priority.
#[test]
fn with_native_priorities_the_owner_has_the_priority_of_its_waiter() {
    let scheduling = RtScheduling::builder()
        .mechanism(Mechanism::OsPriorities)
        .processors(8)
        .record_decisions(100)
        .build()
        .unwrap();
    let map = scheduling.create_resource_manager("map", None).unwrap();
    in_segment(&scheduling, || {
        let own = punctual_os::scheduling::current();
        if !own.is_realtime() {
            return skip(Missing::Right, "no real-time scheduling class");
        }
        let guard = map.lock().unwrap();
        let waits = map.clone();
        let (sender, waiters) = mpsc::channel();
        let (_, result) = spawn(&scheduling, "waiter", 9, move || {
            sender.send(punctual_os::scheduling::current()).unwrap();
            waits.lock().map(drop)
        });
        suspended(&scheduling, "waiter", 1);
        let inherited = punctual_os::scheduling::current();
        assert_eq!(inherited.priority, received(&waiters).priority);
        assert!(inherited.priority > own.priority, "{inherited:?} {own:?}");
        drop(guard);
        received(&result).unwrap();
        assert!(punctual_os::scheduling::current().priority < inherited.priority);
    });
    assert!(!punctual_os::scheduling::current().is_realtime());
}

#[test]
fn a_cancelled_waiter_stops_waiting() {
    let scheduling = scheduling(4);
    let map = scheduling.create_resource_manager("map", None).unwrap();
    in_segment(&scheduling, || {
        let _guard = map.lock().unwrap();
        let waits = map.clone();
        let (thread, result) = spawn(&scheduling, "waiter", 5, move || waits.lock().map(drop));
        suspended(&scheduling, "waiter", 1);
        thread.cancel().unwrap();
        let error = received(&result).unwrap_err();
        assert_eq!(error.kind, SystemExceptionKind::ThreadCancelled);
        assert_eq!(map.owner(), Some(scheduling.current().id().unwrap()));
    });
    assert_eq!(map.owner(), None);
}

#[test]
fn a_cancelled_owner_releases_all_in_reverse_order() {
    let scheduling = scheduling(8);
    let managers =
        ["first", "second", "third"].map(|name| scheduling.create_resource_manager(name, None).unwrap());
    let released = Arc::new(PiMutex::new(Vec::new()));
    in_segment(&scheduling, || {
        let (sender, owns) = mpsc::channel();
        let of_owner = managers.clone();
        let (owner, ended) = spawn(&scheduling, "owner", 1, {
            let scheduling = scheduling.clone();
            move || {
                let current = scheduling.current();
                // Never dropped: the end of the thread releases them.
                of_owner
                    .iter()
                    .for_each(|manager| mem::forget(manager.lock().unwrap()));
                sender.send(()).unwrap();
                current.sleep_until(current.now() + LONG)
            }
        });
        received(&owns);
        let waiters = [1, 0, 2].map(|place| {
            let manager: ResourceManager = managers[place].clone();
            let released = Arc::clone(&released);
            let name = ["waits 0", "waits 1", "waits 2"][place];
            let (_, result) = spawn(&scheduling, name, 5, move || -> Done {
                let _guard = manager.lock()?;
                released.lock().push(place);
                Ok(())
            });
            suspended(&scheduling, name, 1);
            result
        });
        owner.cancel().unwrap();
        let error = received(&ended).unwrap_err();
        assert_eq!(error.kind, SystemExceptionKind::ThreadCancelled);
        for waiter in waiters {
            received(&waiter).unwrap();
        }
    });
    let mut all = released.lock().clone();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2]);
    assert!(managers.iter().all(|manager| manager.owner().is_none()));
}

#[test]
fn a_wait_ends_with_its_timeout() {
    let scheduling = scheduling(4);
    let map = scheduling.create_resource_manager("map", None).unwrap();
    in_segment(&scheduling, || {
        let _guard = map.lock().unwrap();
        let (in_vain, of_operation) = (map.clone(), map.clone());
        let (_, result) = spawn(&scheduling, "in vain", 5, move || {
            in_vain.try_lock(Duration::from_millis(3)).unwrap().is_none()
        });
        assert!(received(&result));
        let (_, result) = spawn(&scheduling, "operation", 5, {
            let scheduling = scheduling.clone();
            move || {
                let current = scheduling.current();
                let limited: Result<(), SchedulingError> =
                    current.operation(Duration::from_millis(3), SheddingPolicy::at_checkpoints(), |_| {
                        of_operation.lock().map(drop).map_err(SchedulingError::System)
                    });
                let went_on = current.scheduling_point();
                (limited, went_on)
            }
        });
        let (limited, went_on) = received(&result);
        let Err(SchedulingError::System(error)) = limited else {
            panic!("{limited:?}");
        };
        assert_eq!(error.kind, SystemExceptionKind::Timeout);
        assert_eq!(went_on, Ok(()), "the operation was late, but not the thread");
    });
}

#[test]
fn deadlocks_are_refused() {
    let scheduling = scheduling(4);
    let one = scheduling.create_resource_manager("one", None).unwrap();
    let two = scheduling.create_resource_manager("two", None).unwrap();
    in_segment(&scheduling, || {
        let _one = one.lock().unwrap();
        let (other_one, other_two) = (one.clone(), two.clone());
        let (_, result) = spawn(&scheduling, "other", 5, move || -> Done {
            let _two = other_two.lock()?;
            let _one = other_one.lock()?;
            Ok(())
        });
        suspended(&scheduling, "other", 1);
        let error = two.lock().unwrap_err();
        assert_eq!(
            (error.kind, error.minor),
            (SystemExceptionKind::BadInvOrder, Minor::OMG_WOULD_DEADLOCK)
        );
        drop(_one);
        received(&result).unwrap();
        assert!(two.lock().is_ok());
    });
}

/// Many threads, three resources in any order, waits of any length, and cancellations: no resource ever has
/// two users, no wait is endless, and all resources are free in the end.
#[test]
fn resources_exclude_each_other_under_stress() {
    for processors in [1, 3] {
        let scheduling = scheduling(processors);
        let managers = [None, Some(important(4)), None]
            .map(|ceiling| scheduling.create_resource_manager("shared", ceiling).unwrap());
        let inside = Arc::new([const { AtomicBool::new(false) }; 3]);
        // The threads begin and wait while this one is outside of the ready queue.
        let started: Vec<_> = (0..6u64)
            .map(|number| {
                let (managers, inside) = (managers.clone(), Arc::clone(&inside));
                in_segment(&scheduling, || {
                    spawn(&scheduling, "stress", number as i32, move || -> Done {
                        let mut random = number + 1;
                        for _ in 0..300 {
                            step(&mut random, &managers, &inside)?;
                        }
                        Ok(())
                    })
                })
            })
            .collect();
        for (thread, _) in &started[..2] {
            std::thread::sleep(Duration::from_millis(2));
            // It may have ended already.
            let _ = thread.cancel();
        }
        for (number, (_, result)) in started.iter().enumerate() {
            match received(result) {
                Ok(()) => {}
                Err(error) => assert!(
                    number < 2 && error.kind == SystemExceptionKind::ThreadCancelled,
                    "{error}"
                ),
            }
        }
        assert!(managers.iter().all(|manager| manager.owner().is_none()));
    }
}

/// Uses one or two resources for a moment.
fn step(random: &mut u64, managers: &[ResourceManager; 3], inside: &[AtomicBool; 3]) -> Done {
    let mut next = |below: u64| {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) % below
    };
    let (outer, inner) = (next(3) as usize, next(3) as usize);
    let wait = Duration::from_micros(next(80));
    let outer_guard = if next(3) == 0 {
        managers[outer].try_lock(wait)?
    } else {
        Some(managers[outer].lock()?)
    };
    let Some(_outer_guard) = outer_guard else {
        return Ok(());
    };
    assert!(
        !inside[outer].swap(true, Ordering::SeqCst),
        "the resource has two users"
    );
    let nested = match managers[inner].try_lock(wait) {
        Ok(Some(_inner_guard)) => {
            if inner != outer {
                assert!(
                    !inside[inner].swap(true, Ordering::SeqCst),
                    "the resource has two users"
                );
                inside[inner].store(false, Ordering::SeqCst);
            }
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) if error.minor == Minor::OMG_WOULD_DEADLOCK => Ok(()),
        Err(error) => Err(error),
    };
    inside[outer].store(false, Ordering::SeqCst);
    nested
}

#[test]
fn a_guard_that_outlives_its_thread_releases_no_other_threads_resource() {
    let scheduling = scheduling(1);
    let map = scheduling.create_resource_manager("map", None).unwrap();
    let guard = in_segment(&scheduling, || map.lock().unwrap());
    assert_eq!(map.owner(), None, "the end of the thread has released it");
    in_segment(&scheduling, || {
        let own = map.lock().unwrap();
        drop(guard);
        assert_eq!(map.owner(), Some(scheduling.current().id().unwrap()));
        drop(own);
    });
}

#[test]
fn another_scheduler_takes_over_owners_and_waiters() {
    let scheduling = scheduling(4);
    let map = scheduling
        .create_resource_manager("map", Some(important(7)))
        .unwrap();
    in_segment(&scheduling, || {
        let guard = map.lock().unwrap();
        let waits = map.clone();
        let (_, result) = spawn(&scheduling, "waiter", 5, move || waits.lock().map(drop));
        suspended(&scheduling, "waiter", 1);
        scheduling
            .manager()
            .install(EarliestDeadlineFirst::new(), Mechanism::ReadyQueue)
            .unwrap();
        drop(guard);
        received(&result).unwrap();
    });
}

/// The storage of a thread exists from its first segment to the end of its last one.
#[test]
fn segments_and_spawned_threads_have_their_storage() {
    let (sender, destroyed) = mpsc::channel();
    let key = WordKey::with_destructor(move |value: u32| {
        let _ = sender.send((value, std::thread::current().id()));
    })
    .unwrap();
    let scheduling = scheduling(4);
    assert!(key.get().is_err());
    in_segment(&scheduling, || {
        assert_eq!(key.get(), Ok(None));
        key.set(1).unwrap();
        let nested = scheduling.current().segment("nested", important(2), |_| {
            let found = key.get();
            key.set(2).unwrap();
            Ok::<_, SchedulingError>(found)
        });
        assert_eq!(nested.unwrap(), Ok(Some(1)));
        let (_, result) = spawn(&scheduling, "other", 1, move || {
            let found = key.get();
            key.set(3).unwrap();
            found
        });
        assert_eq!(received(&result), Ok(None), "another thread has other storage");
        let (value, _) = destroyed.recv_timeout(LONG).unwrap();
        assert_eq!(value, 3);
        assert_eq!(key.get(), Ok(Some(2)));
        assert!(destroyed.try_recv().is_err());
    });
    assert_eq!(
        destroyed.try_recv(),
        Ok((2, std::thread::current().id())),
        "on the OS thread where the thread ends"
    );
    assert!(key.get().is_err());
}
