//! Allocations of segments, scheduling points, decisions, calls with a context on both sides, and operations.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual_os::{ThreadSpec, alloc_counter::allocations_of_this_thread};
use punctual_rtsched::{Preemption, RtScheduling, SchedulingError};
use punctual_sched::dynamic::{MaximumUrgencyFirst, SchedulingParameters, SheddingPolicy};

use crate::{
    ROUNDS, after_warm_up,
    hosts::{Host, cooperative, importance},
};

pub fn segments_and_scheduling_points() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let count = after_warm_up(|| {
        let result = current.segment_with_implicit("outer", importance(1), importance(2), |segment| {
            segment.update(importance(3))?;
            current.segment(
                "inner with a rather long name that is kept",
                importance(4),
                |_| {
                    current.scheduling_point()?;
                    Ok::<_, SchedulingError>(())
                },
            )?;
            current.begin_scheduling_segment("explicit", importance(5), None)?;
            current.end_scheduling_segment("explicit")?;
            current.sleep_until(current.now())?;
            current.operation(Duration::from_secs(1), SheddingPolicy::at_checkpoints(), |_| {
                current.scheduling_point()?;
                Ok::<_, SchedulingError>(())
            })
        });
        result.unwrap();
    });
    assert_eq!(count, 0);
}

pub fn work_that_is_examined_and_shed() {
    let scheduling = RtScheduling::builder()
        .scheduler(MaximumUrgencyFirst::new())
        .preemption(Preemption::Cooperative)
        .shedding(SheddingPolicy::at_checkpoints().sparing_critical())
        .build()
        .unwrap();
    let current = scheduling.current();
    let count = after_warm_up(|| {
        let urgent = |milliseconds| SchedulingParameters::Urgency {
            criticality: 1,
            deadline: current.now() + Duration::from_secs(1_000),
            execution_time: Duration::from_millis(milliseconds),
            importance: 0,
        };
        let outer = current.segment("track", urgent(1), |_| {
            let shed = current.segment("hopeless", urgent(1_000_001), |_| Ok::<_, SchedulingError>(()));
            assert!(shed.is_err());
            current.scheduling_point()?;
            Ok::<_, SchedulingError>(())
        });
        outer.unwrap();
    });
    assert_eq!(count, 0);
    assert!(scheduling.manager().shed() > 0);
}

pub fn schedulers_that_read_processor_times() {
    let scheduling = RtScheduling::builder()
        .scheduler(MaximumUrgencyFirst::new())
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    let current = scheduling.current();
    let count = after_warm_up(|| {
        let parameters = SchedulingParameters::Urgency {
            criticality: 1,
            deadline: current.now() + Duration::from_millis(5),
            execution_time: Duration::from_millis(1),
            importance: 0,
        };
        current
            .segment("track", parameters, |segment| segment.update(parameters))
            .unwrap();
    });
    assert_eq!(count, 0);
}

pub fn switches_between_threads() {
    let scheduling = cooperative();
    let counted = Arc::new(AtomicU64::new(0));
    let players: Vec<_> = (0..2)
        .map(|number| {
            let (scheduling, counted) = (scheduling.clone(), Arc::clone(&counted));
            let body = move || {
                let current = scheduling.current();
                current
                    .begin_scheduling_segment("play", importance(0), None)
                    .unwrap();
                let mut turn = 0;
                let count = after_warm_up(|| {
                    turn -= 1;
                    current
                        .update_scheduling_segment("play", importance(turn), None)
                        .unwrap();
                });
                counted.fetch_add(count, Ordering::Relaxed);
                current.end_scheduling_segment("play").unwrap();
            };
            ThreadSpec::new(format!("player-{number}")).spawn(body).unwrap()
        })
        .collect();
    for player in players {
        player.join().unwrap();
    }
    assert_eq!(counted.load(Ordering::Relaxed), 0);
}

pub fn calls_with_a_context_on_both_sides() {
    let (client, server) = (Host::new(), Host::new());
    // The lane's only thread reports how often it has allocated up to its upcall.
    let probe = server.serve_with(1, |_| Ok(i32::try_from(allocations_of_this_thread()).unwrap()));
    let probe = client.resolve(&probe);
    let current = client.scheduling.current();
    current
        .segment_with_implicit("track", importance(5), importance(2), |_| {
            let mut last = 0;
            let count = after_warm_up(|| last = probe.work(0).unwrap());
            assert_eq!(count, 0, "the caller");
            let before = probe.work(0)?;
            let count = after_warm_up(|| last = probe.work(0).unwrap());
            assert_eq!((count, last - before), (0, 0), "caller, lane");
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
}

pub fn oneways_and_collocated_calls() {
    let (client, server) = (Host::new(), Host::new());
    let worker = server.serve(Ok);
    let worker = client.resolve(&worker);
    let collocated = client.serve(Ok);
    let current = client.scheduling.current();
    current
        .segment_with_implicit("track", importance(5), importance(2), |_| {
            let count = after_warm_up(|| {
                worker.post(1).unwrap();
                // Lets the server catch up.
                worker.work(1).unwrap();
                collocated.work(1).unwrap();
                collocated.post(1).unwrap();
            });
            assert_eq!(count, 0);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
}

/// An asynchronous call keeps its arguments and its reply on the heap; its threads add nothing to that.
pub fn asynchronous_calls_allocate_no_more_with_a_thread() {
    let (client, server) = (Host::with_replies(cooperative()), Host::new());
    // The lane's only thread reports how often it has allocated up to its upcall.
    let probe = server.serve_with(1, |_| Ok(i32::try_from(allocations_of_this_thread()).unwrap()));
    let probe = client.resolve(&probe);
    let calls = || {
        let mut last = 0;
        let caller = after_warm_up(|| last = probe.work_later(0).wait().unwrap());
        let before = probe.work_later(0).wait().unwrap();
        (0..ROUNDS).for_each(|_| last = probe.work_later(0).wait().unwrap());
        (caller, last - before)
    };
    let without = calls();
    let current = client.scheduling.current();
    let with = current.segment_with_implicit("track", importance(5), importance(2), |_| {
        Ok::<_, SchedulingError>(calls())
    });
    assert_eq!(with.unwrap(), without, "caller, lane");
    assert_eq!(without.1, 0, "the lane");
    let segments = current.segment_with_implicit("track", importance(5), importance(2), |_| {
        let call = probe.work_later(0);
        let count = after_warm_up(|| {
            current
                .segment("nested", importance(6), |_| {
                    current.scheduling_point().map_err(SchedulingError::from)
                })
                .unwrap();
        });
        call.wait()?;
        Ok::<_, SchedulingError>(count)
    });
    assert_eq!(segments.unwrap(), 0, "segments during a call");
}
