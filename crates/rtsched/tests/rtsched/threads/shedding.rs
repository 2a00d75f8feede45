//! Work that can no longer meet its deadline: segments, requests and operations under each policy.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use punctual_rtsched::{Current, Preemption, RtScheduling, SchedulingError, ThreadStatus};
use punctual_sched::dynamic::{MaximumUrgencyFirst, SchedulingParameters, SheddingPolicy, Time, TimedWork};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::hosts::{Host, Log, await_status, system, trusting};

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(600);

fn host(policy: SheddingPolicy) -> RtScheduling {
    trusting()
        .scheduler(MaximumUrgencyFirst::new())
        .preemption(Preemption::Cooperative)
        .shedding(policy)
        .build()
        .unwrap()
}

/// Work of this criticality, with this time left and this execution time.
fn urgent(criticality: i32, left: Duration, execution_time: Duration) -> SchedulingParameters {
    SchedulingParameters::Urgency {
        criticality,
        deadline: now() + left,
        execution_time,
        importance: 0,
    }
}

fn now() -> Time {
    Time(punctual_os::clock::monotonic().as_nanos() as u64)
}

fn hopeless(criticality: i32) -> SchedulingParameters {
    urgent(criticality, LONG, 2 * LONG)
}

fn done(_: &punctual_rtsched::Segment<'_>) -> Result<(), SchedulingError> {
    Ok(())
}

fn shed(result: Result<(), SchedulingError>) -> SystemException {
    let error = result.unwrap_err();
    assert!(error.is_lateness(), "{error}");
    system(error)
}

#[test]
fn a_hopeless_segment_does_not_begin_and_its_thread_continues() {
    let scheduling = host(SheddingPolicy::before_dispatch().sparing_critical());
    let current = scheduling.current();
    let never = |_: &punctual_rtsched::Segment<'_>| -> Result<(), SchedulingError> { panic!("it ran") };
    let alone = shed(current.segment("alone", hopeless(0), never));
    assert_eq!(alone.completed, Completion::No);
    assert_eq!(scheduling.threads(), 0, "it would have been a thread of its own");
    current.segment("critical", hopeless(3), done).unwrap();
    let outer = urgent(0, LONG, MS);
    current
        .segment("outer", outer, |segment| {
            let nested = shed(current.segment("nested", hopeless(0), never));
            assert_eq!(nested.completed, Completion::No);
            assert_eq!(current.current_scheduling_segment_names()?, ["outer"]);
            assert_eq!(current.scheduling_parameter()?, outer);
            current.scheduling_point()?;
            segment.update(outer)
        })
        .unwrap();
    assert_eq!(scheduling.manager().shed(), 2);
    scheduling.manager().set_shedding(SheddingPolicy::never());
    current.segment("kept", hopeless(0), done).unwrap();
}

/// It becomes hopeless while others run, and is cancelled when it gets its turn.
#[test]
fn work_that_has_waited_too_long_is_not_dispatched() {
    let scheduling = host(SheddingPolicy::before_dispatch());
    let current = scheduling.current();
    let log = Log::default();
    let (of_other, told) = (scheduling.clone(), log.clone());
    current
        .begin_scheduling_segment("main", urgent(9, LONG, MS), None)
        .unwrap();
    let other = punctual_os::ThreadSpec::new("other")
        .spawn(move || {
            let current = of_other.current();
            let work = urgent(1, 20 * MS, MS);
            let late = current.segment("other", work, |_| {
                told.add("dispatched");
                Ok::<_, SchedulingError>(())
            });
            told.add(format!("{:?}", shed(late).completed));
        })
        .unwrap();
    await_status(&scheduling, "other", ThreadStatus::Ready);
    std::thread::sleep(25 * MS);
    assert!(log.lines().is_empty(), "it has no turn");
    current.end_scheduling_segment("main").unwrap();
    other.join().unwrap();
    assert_eq!(log.lines(), ["No"]);
}

/// Runs a segment that becomes hopeless; returns whether a scheduling point within it says so.
fn is_cancelled_inside(current: &Current<'_>) -> bool {
    let mut cancelled = false;
    let result = current.segment("late", urgent(0, 5 * MS, MS), |_| {
        current.sleep_until(now() + 10 * MS).or_else(|late| {
            assert_eq!(late.minor, Minor::OPERATION_CANCELLED);
            Ok::<_, SystemException>(())
        })?;
        cancelled = current.scheduling_point().is_err();
        Ok::<_, SchedulingError>(())
    });
    // Its thread ends normally.
    assert!(result.is_ok());
    cancelled
}

#[test]
fn running_work_is_examined_at_checkpoints_only() {
    for (policy, cancelled) in [
        (SheddingPolicy::never(), false),
        (SheddingPolicy::before_dispatch(), false),
        (SheddingPolicy::at_checkpoints(), true),
        (SheddingPolicy::at_checkpoints().sparing_critical(), true),
    ] {
        let scheduling = host(policy);
        assert_eq!(
            is_cancelled_inside(&scheduling.current()),
            cancelled,
            "{policy:?}"
        );
    }
}

/// The processor time that the work has received counts.
#[test]
fn work_that_is_done_does_not_count_as_remaining() {
    let scheduling = host(SheddingPolicy::at_checkpoints());
    let current = scheduling.current();
    let work = TimedWork {
        deadline: now() + 40 * MS,
        execution_time: 30 * MS,
        is_critical: false,
    };
    let policy = SheddingPolicy::at_checkpoints();
    let done = current.timed_segment("work", urgent(0, LONG, MS), work, policy, |_| {
        let began = punctual_os::clock::thread_cpu_time();
        while punctual_os::clock::thread_cpu_time() - began < 29 * MS {}
        // With all of its work left, it would be hopeless from the tenth millisecond on.
        let left = current.scheduling_point();
        assert!(left.is_ok() || now() + MS > work.deadline);
        Ok::<_, SchedulingError>(())
    });
    done.or_else(|late| late.is_lateness().then_some(()).ok_or(late))
        .unwrap();
}

#[test]
fn a_segment_has_its_own_deadline_and_policy() {
    let scheduling = host(SheddingPolicy::never());
    let current = scheduling.current();
    let work = TimedWork {
        deadline: now() + MS,
        execution_time: LONG,
        is_critical: false,
    };
    let run = |policy| current.timed_segment("own", urgent(0, LONG, MS), work, policy, done);
    run(SheddingPolicy::never()).unwrap();
    shed(run(SheddingPolicy::before_dispatch()));
    // A nested segment belongs to the work, and an update does not change it.
    let later = TimedWork {
        deadline: now() + 5 * MS,
        execution_time: Duration::ZERO,
        ..work
    };
    let policy = SheddingPolicy::at_checkpoints();
    let result = current.timed_segment("own", urgent(0, LONG, MS), later, policy, |segment| {
        segment.update(urgent(0, LONG, MS))?;
        while now() <= later.deadline {}
        current.segment("nested", urgent(0, LONG, MS), done)
    });
    shed(result);
}

/// The request carries the deadline; its caller may try again.
#[test]
fn a_request_that_arrives_too_late_is_not_served() {
    let (client, server) = (
        Host::with(host(SheddingPolicy::never())),
        Host::with(host(SheddingPolicy::before_dispatch())),
    );
    let served = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&served);
    let worker = server.serve(move |value| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    let late: Result<(), SchedulingError> = current.segment("late", hopeless(0), |_| {
        let refused = worker.work(1).unwrap_err();
        assert_eq!(
            (refused.kind, refused.minor, refused.completed),
            (
                SystemExceptionKind::Timeout,
                Minor::OPERATION_CANCELLED,
                Completion::No
            )
        );
        // The thread continues, with other parameters.
        let mut attempts = 0;
        let policy = SheddingPolicy::before_dispatch().retrying(2).retrying_after(MS);
        let answer = current.operation(LONG, policy, |attempt| {
            attempts = attempt;
            let parameters = if attempt < 3 {
                hopeless(0)
            } else {
                urgent(0, LONG, MS)
            };
            current.segment("try", parameters, |_| Ok::<_, SchedulingError>(worker.work(7)?))
        })?;
        assert_eq!((answer, attempts), (7, 3));
        Ok(())
    });
    late.unwrap();
    assert_eq!(served.load(Ordering::SeqCst), 1);
    assert_eq!(server.scheduling.manager().shed(), 3);
}

#[test]
fn an_operation_ends_as_its_policy_says() {
    let scheduling = host(SheddingPolicy::never());
    let current = scheduling.current();
    let run = |policy: SheddingPolicy, timeout: Duration| {
        let mut ran = false;
        let result: Result<(), SchedulingError> = current.operation(timeout, policy, |_| {
            ran = true;
            current.sleep_until(now() + 5 * MS)?;
            Ok(())
        });
        (ran, result.is_ok())
    };
    current
        .segment("track", urgent(0, LONG, MS), |_| {
            assert_eq!(run(SheddingPolicy::never(), MS), (true, true));
            assert_eq!(run(SheddingPolicy::before_dispatch(), LONG), (true, true));
            assert_eq!(
                run(SheddingPolicy::before_dispatch(), Duration::ZERO),
                (false, false)
            );
            assert_eq!(run(SheddingPolicy::at_checkpoints(), MS), (true, false));
            assert_eq!(run(SheddingPolicy::at_checkpoints(), LONG), (true, true));
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
}
