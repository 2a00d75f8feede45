//! Errors of applications.

use punctual_rtsched::{BuildError, Mechanism, NativePriorities, RtScheduling, SchedulingError, SpawnSpec};
use punctual_sched::dynamic::{MinimumLaxityFirst, ParameterKind, SchedulingParameters};
use punctual_types::{DistributableThreadId, Minor, NativePriority, Priority, SystemExceptionKind};

use super::hosts::{cooperative, importance, system};

#[test]
fn without_a_thread_everything_but_begin_is_bad_inv_order() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let refused = [
        current.end_scheduling_segment("track").unwrap_err(),
        system(
            current
                .update_scheduling_segment("track", importance(1), None)
                .unwrap_err(),
        ),
        system(
            current
                .spawn("track", None, None, SpawnSpec::default(), || ())
                .unwrap_err(),
        ),
        current.id().unwrap_err(),
        current.scheduling_parameter().unwrap_err(),
        current.implicit_scheduling_parameter().unwrap_err(),
        current.current_scheduling_segment_names().unwrap_err(),
        current.scheduling_point().unwrap_err(),
        current.sleep_until(current.now()).unwrap_err(),
    ];
    for exception in refused {
        assert_eq!(
            (exception.kind, exception.minor),
            (SystemExceptionKind::BadInvOrder, Minor::NO_DISTRIBUTABLE_THREAD)
        );
    }
}

#[test]
fn a_wrong_name_changes_nothing() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("outer", importance(1), None)
        .unwrap();
    current
        .begin_scheduling_segment("inner", importance(2), None)
        .unwrap();
    let wrong = current.end_scheduling_segment("outer").unwrap_err();
    assert_eq!(
        (wrong.kind, wrong.minor),
        (SystemExceptionKind::BadParam, Minor::SEGMENT_NAME_WRONG)
    );
    let wrong = current
        .update_scheduling_segment("outer", importance(3), None)
        .unwrap_err();
    assert_eq!(system(wrong).minor, Minor::SEGMENT_NAME_WRONG);
    assert_eq!(
        current.current_scheduling_segment_names().unwrap(),
        ["inner", "outer"]
    );
    assert_eq!(current.scheduling_parameter().unwrap(), importance(2));
    current.end_scheduling_segment("inner").unwrap();
    current.end_scheduling_segment("outer").unwrap();
}

#[test]
fn another_disciplines_parameters_change_nothing() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let other = SchedulingParameters::FixedPriority {
        priority: Priority::MAX,
    };
    let unsupported = Err(SchedulingError::UnsupportedSchedulingDiscipline {
        given: ParameterKind::FixedPriority,
        wanted: ParameterKind::Importance,
    });
    assert_eq!(
        current.begin_scheduling_segment("track", other, None),
        unsupported
    );
    assert_eq!(
        current.begin_scheduling_segment("track", importance(1), Some(other)),
        unsupported
    );
    assert_eq!(scheduling.threads(), 0);
    current
        .begin_scheduling_segment("track", importance(1), None)
        .unwrap();
    assert_eq!(
        current.update_scheduling_segment("track", other, None),
        unsupported
    );
    assert_eq!(
        current.update_scheduling_segment("track", importance(2), Some(other)),
        unsupported
    );
    let spawned = current.spawn("child", Some(other), None, SpawnSpec::default(), || ());
    assert_eq!(spawned.map(|_| ()), unsupported);
    assert_eq!(current.scheduling_parameter().unwrap(), importance(1));
    current.end_scheduling_segment("track").unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn a_scoped_segment_cannot_be_ended_explicitly() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .segment("track", importance(1), |_| {
            let refused = current.end_scheduling_segment("track").unwrap_err();
            assert_eq!(refused.minor, Minor::SEGMENT_IS_SCOPED);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
}

#[test]
fn limits_are_errors_and_change_nothing_else() {
    let scheduling = RtScheduling::builder()
        .max_threads(1)
        .max_segments(2)
        .build()
        .unwrap();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("one", importance(1), None)
        .unwrap();
    current
        .begin_scheduling_segment("two", importance(1), None)
        .unwrap();
    let third = system(
        current
            .begin_scheduling_segment("three", importance(1), None)
            .unwrap_err(),
    );
    assert_eq!(third.minor, Minor::SEGMENTS_NESTED_TOO_DEEP);
    let spawned = current.spawn("another", None, None, SpawnSpec::default(), || ());
    assert_eq!(
        system(spawned.unwrap_err()).minor,
        Minor::TOO_MANY_DISTRIBUTABLE_THREADS
    );
    current.end_scheduling_segment("two").unwrap();
    current.end_scheduling_segment("one").unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn a_failed_spawn_leaves_nothing_behind() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .segment("parent", importance(1), |_| {
            let impossible = SpawnSpec {
                stack_bytes: usize::MAX / 4,
                ..SpawnSpec::default()
            };
            let refused = current.spawn("child", None, None, impossible, || ()).unwrap_err();
            assert_eq!(system(refused).minor, Minor::SPAWN_FAILED);
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn unknown_and_ended_ids_are_reported() {
    let scheduling = cooperative();
    let current = scheduling.current();
    assert!(scheduling.lookup(DistributableThreadId(7)).is_none());
    let ended = current
        .segment("track", importance(1), |_| {
            Ok::<_, SchedulingError>(current.distributable_thread()?)
        })
        .unwrap();
    assert!(current.lookup(ended.id()).is_none());
    // Another thread uses its slot by now.
    current
        .begin_scheduling_segment("other", importance(1), None)
        .unwrap();
    for refused in [ended.cancel().unwrap_err(), ended.state().unwrap_err()] {
        assert_eq!(
            (refused.kind, refused.minor),
            (
                SystemExceptionKind::ObjectNotExist,
                Minor::DISTRIBUTABLE_THREAD_UNKNOWN
            )
        );
    }
    current.end_scheduling_segment("other").unwrap();
}

#[test]
fn invalid_settings_are_refused() {
    let mut upside_down = NativePriorities::default();
    (upside_down.active, upside_down.inactive) = (NativePriority(2), NativePriority(70));
    let refused = [
        RtScheduling::builder().native_priorities(upside_down).build(),
        RtScheduling::builder().processors(0).build(),
        RtScheduling::builder().max_threads(0).build(),
    ];
    for refused in refused {
        assert!(matches!(refused.map(|_| ()), Err(BuildError::InvalidSetting(_))));
    }
    let unsuitable = RtScheduling::builder()
        .scheduler(MinimumLaxityFirst::new())
        .mechanism(Mechanism::OsPriorities)
        .build();
    assert!(matches!(
        unsuitable.map(|_| ()),
        Err(BuildError::MechanismUnsuitable { .. })
    ));
}
