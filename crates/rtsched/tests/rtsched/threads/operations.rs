//! Operations with a deadline.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_fixtures::eventually;
use punctual_os::Gate;
use punctual_rtsched::{SchedulingError, ThreadStatus};
use punctual_sched::dynamic::{SheddingPolicy, Time};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::hosts::{Host, Log, await_status, cooperative, importance};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_late_operation_is_cancelled_and_the_thread_continues() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .segment("track", importance(1), |segment| {
            let result: Result<(), SchedulingError> =
                current.operation(SHORT, SheddingPolicy::at_checkpoints(), |_| {
                    current.sleep_until(Time::NEVER)?;
                    Ok(())
                });
            let late = result.unwrap_err();
            let SchedulingError::System(exception) = late else {
                panic!("a system exception expected: {late}");
            };
            assert_eq!(exception.minor, Minor::OPERATION_CANCELLED);
            // Each scheduling point inside reports it, repeatedly.
            let result: Result<(), SchedulingError> =
                current.operation(SHORT, SheddingPolicy::at_checkpoints(), |_| {
                    while current.now() < Time::NEVER && segment.update(importance(2)).is_ok() {}
                    assert!(current.scheduling_point().is_err());
                    segment.update(importance(3))
                });
            assert!(result.is_err());
            assert_eq!(current.scheduling_parameter()?, importance(3));
            segment.update(importance(4))
        })
        .unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn calls_in_an_operation_end_at_its_deadline() {
    let (client, server) = (Host::new(), Host::new());
    let release = Arc::new(Gate::new());
    let released = Arc::clone(&release);
    let worker = server.serve(move |value| {
        released.pass(None);
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    current
        .segment("track", importance(1), |_| {
            let began = Instant::now();
            let result: Result<i32, SchedulingError> =
                current.operation(SHORT, SheddingPolicy::at_checkpoints(), |_| Ok(worker.work(1)?));
            let SchedulingError::System(late) = result.unwrap_err() else {
                panic!("a system exception")
            };
            assert_eq!(
                (late.kind, late.completed),
                (SystemExceptionKind::Timeout, Completion::Maybe)
            );
            assert!(began.elapsed() < LONG, "the call ended at its own timeout");
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    release.open();
    // Outside of operations, calls have their original timeout.
    let other = server.serve(|value| {
        std::thread::sleep(2 * SHORT);
        Ok(value)
    });
    assert_eq!(client.resolve(&other).work(3).unwrap(), 3);
}

#[test]
fn retries_follow_the_policy() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let attempts = |policy: SheddingPolicy, kind: SystemExceptionKind, completed: Completion| {
        let mut count = 0;
        let result: Result<(), SchedulingError> = current.operation(LONG, policy, |attempt| {
            count += 1;
            assert_eq!(attempt, count);
            Err(SystemException::new(kind, 0, completed).into())
        });
        assert!(result.is_err());
        count
    };
    let three = SheddingPolicy::at_checkpoints().retrying(2);
    current
        .segment("track", importance(1), |_| {
            use SystemExceptionKind::{ThreadCancelled, Transient};
            assert_eq!(attempts(three, Transient, Completion::No), 3);
            assert_eq!(attempts(three, Transient, Completion::Maybe), 1);
            assert_eq!(attempts(three.idempotent(), Transient, Completion::Maybe), 3);
            assert_eq!(attempts(three.idempotent(), ThreadCancelled, Completion::No), 1);
            assert_eq!(
                attempts(SheddingPolicy::at_checkpoints(), Transient, Completion::No),
                1
            );
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
}

#[test]
fn an_inner_operation_ends_with_the_outer_one_without_a_retry() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let mut attempts = 0;
    current
        .segment("track", importance(1), |_| {
            let outer: Result<(), SchedulingError> =
                current.operation(SHORT, SheddingPolicy::at_checkpoints(), |_| {
                    current.operation(
                        LONG,
                        SheddingPolicy::at_checkpoints().retrying(99).idempotent(),
                        |_| {
                            attempts += 1;
                            current.sleep_until(Time::NEVER)?;
                            Ok(())
                        },
                    )
                });
            assert!(outer.is_err());
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(attempts, 1);
}

#[test]
fn a_wait_for_a_turn_ends_at_the_deadline() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("main", importance(5), None)
        .unwrap();
    let log = Log::default();
    let (of_other, told) = (scheduling.clone(), log.clone());
    let other = punctual_os::ThreadSpec::new("other")
        .spawn(move || {
            let current = of_other.current();
            current.segment("other", importance(9), |segment| {
                let late: Result<(), SchedulingError> =
                    current.operation(SHORT, SheddingPolicy::at_checkpoints(), |_| {
                        let updated = segment.update(importance(1));
                        told.add(format!("{}", updated.is_ok()));
                        updated
                    });
                assert!(late.is_err());
                Ok::<_, SchedulingError>(current.now())
            })
        })
        .unwrap();
    await_status(&scheduling, "other", ThreadStatus::Ready);
    // It runs, is less important after its update, and waits for this one, whose deadline passes.
    current.scheduling_point().unwrap();
    eventually("the timeout is reported", || !log.lines().is_empty());
    assert_eq!(log.lines(), ["false"]);
    // The rest of it waits for its turn again.
    await_status(&scheduling, "other", ThreadStatus::Ready);
    current.end_scheduling_segment("main").unwrap();
    other.join().unwrap().unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn a_late_operation_is_still_scheduled() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let standing = || scheduling.snapshot()[0].status;
    current
        .segment("track", importance(1), |segment| {
            let late = current.operation(SHORT, SheddingPolicy::at_checkpoints(), |_| {
                assert!(current.sleep_until(Time::NEVER).is_err());
                assert_eq!(standing(), ThreadStatus::Running, "its sleep has ended");
                assert!(current.scheduling_point().is_err());
                assert_eq!(standing(), ThreadStatus::Running);
                segment.update(importance(2))
            });
            assert!(late.is_err());
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
}
