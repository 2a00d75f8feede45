//! Segments end with their scopes, regardless of what happens inside.

use std::panic::{AssertUnwindSafe, catch_unwind};

use punctual_fixtures::eventually;
use punctual_os::ThreadSpec;
use punctual_rtsched::{SchedulingError, SpawnSpec};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::hosts::{cooperative, importance, system};

#[test]
fn a_question_mark_and_a_panic_end_scoped_segments() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let failed = SystemException::new(SystemExceptionKind::Transient, 0, Completion::No);
    let result: Result<(), SchedulingError> = current.segment("outer", importance(1), |_| {
        current.segment("inner", importance(2), |_| Err(failed))?;
        unreachable!("`?` returns");
    });
    assert_eq!(system(result.unwrap_err()), failed);
    assert_eq!(scheduling.threads(), 0);

    let panicked = catch_unwind(AssertUnwindSafe(|| {
        current.segment("outer", importance(1), |_| {
            let inner = catch_unwind(AssertUnwindSafe(|| {
                current.segment("inner", importance(2), |_| -> Result<(), SchedulingError> {
                    panic!("on purpose")
                })
            }));
            assert!(inner.is_err());
            assert_eq!(current.current_scheduling_segment_names()?, ["outer"]);
            current.begin_scheduling_segment("left open", importance(3), None)?;
            panic!("on purpose");
            #[expect(unreachable_code, reason = "determines the type")]
            Ok::<(), SchedulingError>(())
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(scheduling.threads(), 0);
    assert_eq!(current.id().unwrap_err().minor, Minor::NO_DISTRIBUTABLE_THREAD);
}

#[test]
fn segments_left_open_in_a_scope_end_with_it() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .segment("outer", importance(1), |_| {
            current.segment("inner", importance(2), |_| {
                current.begin_scheduling_segment("left open", importance(3), None)
            })?;
            assert_eq!(current.current_scheduling_segment_names()?, ["outer"]);
            assert_eq!(current.scheduling_parameter()?, importance(1));
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn an_os_thread_that_ends_ends_its_segments() {
    let scheduling = cooperative();
    let of_thread = scheduling.clone();
    ThreadSpec::new("careless")
        .spawn(move || {
            let current = of_thread.current();
            current
                .begin_scheduling_segment("left open", importance(3), None)
                .unwrap();
        })
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(scheduling.threads(), 0);
    // No other thread occupies its processor.
    let alone = scheduling
        .current()
        .segment("alone", importance(1), |_| Ok::<_, SchedulingError>(()));
    alone.unwrap();
}

#[test]
fn a_spawned_thread_has_the_implicit_parameters_and_a_panic_ends_it() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let (sender, receiver) = std::sync::mpsc::channel();
    let own = current
        .segment_with_implicit("parent", importance(5), importance(2), |_| {
            let of_child = scheduling.clone();
            let child = current.spawn("child", None, None, SpawnSpec::default(), move || {
                let current = of_child.current();
                let seen = (
                    current.id(),
                    current.scheduling_parameter(),
                    current.current_scheduling_segment_names(),
                );
                sender.send(seen).unwrap();
                panic!("on purpose");
            })?;
            assert_ne!(child.id(), current.id()?);
            Ok::<_, SchedulingError>(child.id())
        })
        .unwrap();
    let (id, parameters, names) = receiver.recv().unwrap();
    assert_eq!(
        (id.unwrap(), parameters.unwrap(), names.unwrap()),
        (own, importance(2), vec!["child".to_owned()])
    );
    eventually("the child has ended", || scheduling.threads() == 0);
}

#[test]
fn two_endsystems_on_one_os_thread_do_not_mix() {
    let (first, second) = (cooperative(), cooperative());
    first
        .current()
        .segment("first", importance(1), |_| {
            assert!(second.current().id().is_err());
            second.current().segment("second", importance(2), |_| {
                assert!(first.current().id().is_err(), "the second is the current one");
                assert_eq!(second.current().current_scheduling_segment_names()?, ["second"]);
                Ok::<_, SchedulingError>(())
            })?;
            assert_eq!(first.current().current_scheduling_segment_names()?, ["first"]);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!((first.threads(), second.threads()), (0, 0));
}
