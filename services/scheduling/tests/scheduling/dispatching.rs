//! The scheduler's configuration in force at a dispatcher: levels, order, and changes without loss.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use punctual_dispatch::{Command, Execution, Level, Overflow};
use punctual_fixtures::LONG;
use punctual_scheduling::{NotDispatched, ScheduledDispatcher, reconfigurable::*};

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
    let slow = scheduler.add(source("slow", Criticality::Low, &[80], 5)).unwrap();
    let fast = scheduler.add(source("fast", Criticality::Low, &[40], 5)).unwrap();
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
