//! The scheduler's configuration in force at a dispatcher: levels, order, and changes without loss.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use punctual_dispatch::{Command, Execution, Level, Overflow};
use punctual_fixtures::LONG;
use punctual_scheduling::{NotAdopted, NotDispatched, ScheduledDispatcher, reconfigurable::*};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn source(name: &str, criticality: Criticality, periods: &[u64], wcet: u64) -> Operation {
    let operation = Operation::new(name, criticality);
    periods.iter().fold(operation, |operation, every| {
        operation.tuple(ms(*every), ms(wcet))
    })
}

type Journal = Arc<Mutex<Vec<String>>>;

fn note(journal: &Journal, text: impl Into<String>) -> Box<dyn Command> {
    let (journal, text) = (Arc::clone(journal), text.into());
    Box::new(move |_: &Execution| {
        journal.lock().unwrap().push(text.clone());
        Ok(())
    })
}

/// Takes as much as suppliers offer, and makes them wait beyond that.
fn patient(_: usize, level: Level) -> Level {
    level.capacity(16).overflow(Overflow::Block(LONG))
}

#[test]
fn levels_deadlines_and_criticality_are_those_of_the_schedule() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    let critical = scheduler
        .add(source("critical", Criticality::VeryHigh, &[50], 5))
        .unwrap();
    // So slow that nothing is late here.
    let slow = scheduler
        .add(source("slow", Criticality::Low, &[80_000], 5))
        .unwrap();
    let fast = scheduler
        .add(source("fast", Criticality::Low, &[40_000], 5))
        .unwrap();
    let refused = scheduler
        .add(source("refused", Criticality::Low, &[10], 10))
        .unwrap();
    let dispatcher = ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, patient).unwrap();
    let journal = Journal::default();
    let gate = Arc::new(Mutex::new(()));
    // Both threads are held at their first commands, until everything is queued.
    let held = gate.lock().unwrap();
    let now = dispatcher.now();
    for id in [critical, slow] {
        let gate = Arc::clone(&gate);
        let waits = move |_: &Execution| {
            drop(gate.lock().unwrap());
            Ok(())
        };
        dispatcher.dispatch(id, now, Box::new(waits)).unwrap();
    }
    let qos = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&qos);
    let reads = move |execution: &Execution| {
        *seen.lock().unwrap() = Some(*execution.qos());
        Ok(())
    };
    dispatcher.dispatch(critical, now, Box::new(reads)).unwrap();
    for (id, name) in [(slow, "slow"), (fast, "fast")] {
        dispatcher.dispatch(id, now, note(&journal, name)).unwrap();
    }
    let not = dispatcher.dispatch(refused, now, note(&journal, "refused"));
    assert!(matches!(not, Err(NotDispatched::NotScheduled(_))));
    drop(held);
    assert!(dispatcher.dispatcher().wait_until_idle(LONG));
    assert_eq!(
        *journal.lock().unwrap(),
        ["fast", "slow"],
        "the least laxity first"
    );
    let qos = qos.lock().unwrap().unwrap();
    assert!(qos.is_critical && qos.deadline == now + ms(50) && qos.execution_time == ms(5));
    assert_eq!(
        (dispatcher.statistics().len(), dispatcher.not_scheduled()),
        (2 + 1, 1)
    );
}

/// Three suppliers dispatch without pause while rates change, and operations come and go.
#[test]
fn no_event_is_lost_or_executed_twice_while_the_configuration_changes() {
    const EACH: usize = 2_000;
    const CHANGES: u64 = 60;
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let periods = [10, 20, 40, 80];
    let ids = periods.map(|every| {
        let operation = source(&format!("every {every}"), Criticality::Low, &[every], 1);
        scheduler.add(operation).unwrap()
    });
    let dispatcher = ScheduledDispatcher::start(scheduler, patient).unwrap();
    let executed = Arc::new(Mutex::new(vec![0u8; 3 * EACH]));
    let refused = Mutex::new(0u64);
    let mut layouts = std::collections::BTreeSet::new();
    thread::scope(|scope| {
        for supplier in 0..3 {
            let (dispatcher, executed, refused) = (&dispatcher, &executed, &refused);
            scope.spawn(move || {
                for number in supplier * EACH..(supplier + 1) * EACH {
                    let executed = Arc::clone(executed);
                    let command = move |_: &Execution| {
                        executed.lock().unwrap()[number] += 1;
                        Ok(())
                    };
                    match dispatcher.dispatch(ids[number % 4], dispatcher.now(), command) {
                        Ok(()) => {}
                        Err(NotDispatched::NotScheduled(_)) => *refused.lock().unwrap() += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        for change in 0..CHANGES {
            let id = ids[change as usize % 4];
            dispatcher
                .reconfigure(|scheduler| {
                    scheduler.enable(id, change % 8 < 4).unwrap();
                    let every = ms(10 << (change % 5));
                    let tuples = vec![RateTuple {
                        period: every,
                        wcet: ms(1),
                    }];
                    scheduler.replace(ids[(change as usize + 1) % 4], tuples).unwrap();
                })
                .unwrap();
            layouts.insert(dispatcher.statistics().len());
        }
    });
    assert!(dispatcher.dispatcher().wait_until_idle(LONG));
    let counts = executed.lock().unwrap();
    let once = counts.iter().filter(|times| **times == 1).count() as u64;
    assert!(counts.iter().all(|times| *times <= 1));
    assert_eq!(once + *refused.lock().unwrap(), 3 * EACH as u64);
    let counted: u64 = dispatcher.statistics().iter().map(|level| level.executed).sum();
    assert_eq!(counted, once);
    assert!(layouts.len() > 1, "the number of levels changed: {layouts:?}");
}

/// Property of a dispatcher as long as its schedule is in force: the tracker runs every 50 ms.
fn tracks(dispatcher: &ScheduledDispatcher<Box<dyn Command>>, track: OperationId) {
    let journal = Journal::default();
    let tracked = note(&journal, "tracked");
    dispatcher.dispatch(track, dispatcher.now(), tracked).unwrap();
    assert!(dispatcher.dispatcher().wait_until_idle(LONG));
    assert_eq!(*journal.lock().unwrap(), ["tracked"]);
    let scheduler = dispatcher.scheduler();
    assert_eq!(scheduler.assignment(track).unwrap().period, Some(ms(50)));
    assert_eq!(scheduler.operations().len(), 2);
    assert_eq!(
        (scheduler.levels().len(), dispatcher.statistics().len()),
        (2, 2 + 1)
    );
}

type Change = fn(&mut ReconfigurableScheduler, OperationId);

#[test]
fn a_schedule_in_which_critical_work_stops_is_refused_and_the_old_one_stays() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    let track = source("track", Criticality::VeryHigh, &[50], 5);
    let track = scheduler.add(track).unwrap();
    let other = scheduler
        .add(source("other", Criticality::Low, &[80], 5))
        .unwrap();
    let dispatcher = ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, patient).unwrap();
    // The change, what is said of it, and what is counted: cycles, unresolved, contradictions, no room.
    let changes: [(Change, &str, [u64; 4]); 6] = [
        (
            |changed, track| {
                let passive = RateTuple {
                    period: Duration::ZERO,
                    wcet: ms(5),
                };
                changed.replace(track, vec![passive]).unwrap();
                let follower = Operation::new("follower", Criticality::Low).passive(ms(1));
                let follower = changed.add(follower).unwrap();
                changed.depend(track, follower, 1).unwrap();
                changed.depend(follower, track, 1).unwrap();
            },
            "in a circle: track, follower; remove",
            [1, 0, 0, 0],
        ),
        (
            |changed, track| changed.replace(track, Vec::new()).unwrap(),
            "`track` has no rate",
            [0, 1, 0, 0],
        ),
        (
            |changed, track| {
                let long = RateTuple {
                    period: ms(50),
                    wcet: ms(51),
                };
                changed.replace(track, vec![long]).unwrap();
            },
            "`track` contradicts itself: an execution time exceeds its period",
            [0, 0, 1, 0],
        ),
        (
            |changed, _| {
                changed
                    .add(source("second", Criticality::VeryHigh, &[10], 10))
                    .unwrap();
            },
            "`track` was not admitted at any rate",
            [0, 0, 0, 2],
        ),
        (
            // Critical itself, but what it follows has no room.
            |changed, track| {
                let much = RateTuple {
                    period: ms(50),
                    wcet: ms(50),
                };
                changed.replace(track, vec![much]).unwrap();
                let alarm = Operation::new("alarm", Criticality::High).passive(ms(1));
                let alarm = changed.add(alarm).unwrap();
                changed.depend(alarm, OperationId(1), 1).unwrap();
            },
            "`alarm` does not run: `other`, from which it follows, was not admitted",
            [0, 0, 0, 1],
        ),
        (
            |changed, track| {
                // No execution for each one of the source is none at all.
                let alarm = Operation::new("alarm", Criticality::High).passive(ms(1));
                let alarm = changed.add(alarm).unwrap();
                changed.depend(alarm, track, 0).unwrap();
            },
            "`alarm` has no rate",
            [0, 0, 0, 0],
        ),
    ];
    let (mut refused, mut found) = (0, [0; 4]);
    for (change, text, counted) in changes {
        let error = dispatcher
            .reconfigure(|changed| change(changed, track))
            .unwrap_err();
        assert!(matches!(error, NotAdopted::Refused(_)), "{error}");
        assert!(error.to_string().contains(text), "{error}");
        refused += 1;
        found.iter_mut().zip(counted).for_each(|(all, one)| *all += one);
        let own = dispatcher.computations();
        assert_eq!((own.computations, own.refused), (1 + refused, refused), "{text}");
        let counters = [own.cycles, own.unresolved, own.contradictions, own.not_admitted];
        assert_eq!(counters, found, "{text}");
        assert_eq!((own.running, own.operations, own.levels), (2, 2, 2));
        tracks(&dispatcher, track);
    }
    // What is not critical may stop, and so may what is disabled.
    let anomalies = dispatcher.reconfigure(|changed| {
        let greedy = RateTuple {
            period: ms(50),
            wcet: ms(50),
        };
        changed.replace(track, vec![greedy]).unwrap();
    });
    assert_eq!(anomalies.unwrap(), [Anomaly::NotAdmitted("other".into())]);
    dispatcher
        .reconfigure(|changed| changed.enable(track, false).unwrap())
        .unwrap();
    let own = dispatcher.computations();
    assert_eq!((own.running, own.operations, own.refused), (1, 1, refused));
    assert!(dispatcher.scheduler().assignment(other).unwrap().period.is_some());
}

#[test]
fn a_schedule_without_its_critical_work_is_not_begun() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    scheduler
        .add(source("long", Criticality::High, &[10], 11))
        .unwrap();
    let started = ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, patient);
    let error = started.err().unwrap().to_string();
    assert!(error.contains("`long` contradicts itself"), "{error}");
}

/// An operation that waits for another host is known to wait, critical or not.
#[test]
fn what_waits_for_another_host_is_no_objection() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    scheduler.add(source("own", Criticality::Low, &[10], 1)).unwrap();
    let mut remote = Operation::new("remote", Criticality::VeryHigh).passive(ms(1));
    remote.is_remote = true;
    let remote = scheduler.add(remote).unwrap();
    let behind = Operation::new("behind", Criticality::VeryHigh).passive(ms(1));
    let behind = scheduler.add(behind).unwrap();
    scheduler.depend(behind, remote, 1).unwrap();
    assert_eq!(scheduler.compute().len(), 1);
    assert_eq!(scheduler.objection(), None);
    assert!(ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, patient).is_ok());
}

#[test]
fn levels_that_the_dispatcher_does_not_take_leave_the_schedule() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let track = scheduler
        .add(source("track", Criticality::High, &[50], 5))
        .unwrap();
    let first_only = |place: usize, level: Level| level.capacity(usize::from(place == 0));
    let dispatcher = ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, first_only).unwrap();
    let followed = follower(&dispatcher, usize::MAX);
    let refused = dispatcher.reconfigure(|changed| {
        changed.add(source("other", Criticality::Low, &[80], 5)).unwrap();
    });
    assert!(matches!(refused, Err(NotAdopted::Dispatch(_))));
    assert_eq!(*followed.lock().unwrap(), [1, 2, 1]);
    let scheduler = dispatcher.scheduler();
    assert_eq!((scheduler.operations().len(), scheduler.levels().len()), (1, 1));
    let own = dispatcher.computations();
    assert_eq!((own.computations, own.refused, own.running), (2, 1, 1));
    dispatcher
        .dispatch(track, dispatcher.now(), note(&Journal::default(), "tracked"))
        .unwrap();
}

/// Lets a function follow that refuses more operations than these; returns how many each schedule had that it
/// accepted.
fn follower(dispatcher: &ScheduledDispatcher<Box<dyn Command>>, most: usize) -> Arc<Mutex<Vec<usize>>> {
    let accepted = Arc::<Mutex<Vec<usize>>>::default();
    let accepts = Arc::clone(&accepted);
    let follow = move |schedule: &ReconfigurableScheduler| match schedule.operations().len() {
        number if number <= most => {
            accepts.lock().unwrap().push(number);
            Ok(())
        }
        number => Err(format!("{number} operations").into()),
    };
    dispatcher.pass_on(follow).unwrap();
    accepted
}

#[test]
fn a_schedule_that_a_follower_refuses_comes_into_force_nowhere() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    scheduler
        .add(source("track", Criticality::High, &[50], 5))
        .unwrap();
    let dispatcher = ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, patient).unwrap();
    let followed = [usize::MAX, 2, usize::MAX].map(|most| follower(&dispatcher, most));
    let add = |name| {
        let operation = source(name, Criticality::Low, &[80], 5);
        dispatcher.reconfigure(|changed| {
            changed.add(operation).unwrap();
        })
    };
    add("second").unwrap();
    let refused = add("third").unwrap_err();
    assert!(matches!(&refused, NotAdopted::Follower(_)), "{refused}");
    assert!(
        refused.to_string().ends_with("stays in force: 3 operations"),
        "{refused}"
    );
    let accepted = followed.each_ref().map(|one| one.lock().unwrap().clone());
    assert_eq!(accepted, [vec![1, 2, 3, 2], vec![1, 2], vec![1, 2]]);
    assert_eq!(dispatcher.scheduler().operations().len(), 2);
    let own = dispatcher.computations();
    assert_eq!((own.computations, own.refused, own.running), (3, 1, 2));
    let refuses = |_: &ReconfigurableScheduler| Err("no".into());
    assert!(matches!(
        dispatcher.pass_on(refuses),
        Err(NotAdopted::Follower(_))
    ));
    dispatcher.reconfigure(|_| {}).unwrap();
}
