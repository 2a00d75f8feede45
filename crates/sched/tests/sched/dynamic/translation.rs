//! Translation of parameters between kinds.

use std::time::Duration;

use proptest::prelude::*;
use punctual_sched::dynamic::*;
use punctual_types::Priority;

use crate::dynamic::{
    attributes::Attributes,
    machine::{at, ms},
};

pub const KINDS: [ParameterKind; 8] = [
    ParameterKind::FixedPriority,
    ParameterKind::Importance,
    ParameterKind::Rate,
    ParameterKind::Deadline,
    ParameterKind::Laxity,
    ParameterKind::Urgency,
    ParameterKind::RateOrLaxity,
    ParameterKind::Utility,
];

/// Parameters of every kind, including the ends of all scales.
fn parameters() -> impl Strategy<Value = SchedulingParameters> {
    let duration = prop_oneof![Just(Duration::ZERO), Just(Duration::MAX), (0..50u64).prop_map(ms),];
    let deadline = prop_oneof![Just(Time::NEVER), Just(Time(0)), (0..50u64).prop_map(at)];
    let importance = prop_oneof![Just(i32::MIN), Just(i32::MAX), -5..50_000i32];
    let criticality = prop_oneof![Just(i32::MIN), Just(i32::MAX), -1..7i32];
    let value = prop_oneof![Just(0), Just(u32::MAX), 0..50_000u32];
    (
        prop::sample::select(&KINDS[..]),
        0..=i16::MAX,
        (importance, criticality, value),
        (duration.clone(), duration),
        deadline,
    )
        .prop_map(
            |(kind, priority, (importance, criticality, value), (period, execution_time), deadline)| {
                Attributes {
                    priority: Priority::new(priority).unwrap(),
                    importance,
                    criticality,
                    period,
                    deadline,
                    execution_time,
                    utility: Utility { value, decay: period },
                }
                .parameters(kind)
            },
        )
}

fn defaults() -> TranslationDefaults {
    TranslationDefaults {
        now: at(10),
        ..TranslationDefaults::default()
    }
}

/// Returns whether an attribute that both have is equal.
fn kept<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.is_none() || other.is_none() || one == other
}

fn priority(parameters: &SchedulingParameters) -> i16 {
    match parameters.translated(ParameterKind::FixedPriority, &defaults()) {
        SchedulingParameters::FixedPriority { priority } => priority.value(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn translations_keep_attributes_that_both_kinds_have(one in parameters()) {
        for kind in KINDS {
            let other = one.translated(kind, &defaults());
            prop_assert_eq!(other.kind(), kind);
            prop_assert!(kind != one.kind() || other == one);
            prop_assert!(kept(one.deadline(), other.deadline()), "{:?} {:?}", one, other);
            prop_assert!(kept(one.execution_time(), other.execution_time()), "{:?} {:?}", one, other);
            prop_assert!(kept(one.importance(), other.importance()), "{:?} {:?}", one, other);
            prop_assert!(kept(one.criticality(), other.criticality()), "{:?} {:?}", one, other);
            prop_assert!(kept(one.period(), other.period()), "{:?} {:?}", one, other);
        }
    }

    #[test]
    fn derived_scales_keep_the_order(one in -5..40_000i32, other in -5..40_000i32) {
        let parameters = |importance| SchedulingParameters::Importance { importance };
        let (low, high) = (parameters(one.min(other)), parameters(one.max(other)));
        prop_assert!(priority(&low) <= priority(&high));
        let criticality = |parameters: &SchedulingParameters| {
            parameters.translated(ParameterKind::Urgency, &defaults()).criticality()
        };
        prop_assert!(criticality(&low) <= criticality(&high));
    }
}

#[test]
fn the_ends_of_scales_are_mapped_to_each_other() {
    let priority_of = |value| SchedulingParameters::FixedPriority {
        priority: Priority::new(value).unwrap(),
    };
    let criticality = |value| {
        priority_of(value)
            .translated(ParameterKind::Urgency, &defaults())
            .criticality()
    };
    assert_eq!(criticality(0), Some(0));
    assert_eq!(criticality(i16::MAX), Some(4));
    assert!(criticality(20_000) >= Some(SchedulingParameters::CRITICAL));

    let urgency = |criticality, importance| SchedulingParameters::Urgency {
        criticality,
        deadline: Time::NEVER,
        execution_time: Duration::ZERO,
        importance,
    };
    // Criticality decides first, then importance.
    assert!(priority(&urgency(3, 0)) > priority(&urgency(2, i32::MAX)));
    assert!(priority(&urgency(3, 5)) > priority(&urgency(3, 4)));
    assert_eq!(priority(&urgency(i32::MIN, i32::MIN)), 0);
    assert_eq!(priority(&urgency(i32::MAX, i32::MAX)), i16::MAX);
}

#[test]
fn deadlines_and_periods_are_derived_from_each_other() {
    let rate = SchedulingParameters::Rate {
        period: ms(20),
        importance: 1,
    };
    assert_eq!(
        rate.translated(ParameterKind::Urgency, &defaults()).deadline(),
        Some(at(30))
    );
    let deadline = |deadline| SchedulingParameters::Deadline {
        deadline,
        period: Duration::ZERO,
        execution_time: Duration::ZERO,
        importance: 1,
    };
    let period = |time| {
        deadline(time)
            .translated(ParameterKind::Rate, &defaults())
            .period()
    };
    assert_eq!(period(at(15)), Some(ms(5)));
    assert_eq!(period(at(5)), Some(Duration::ZERO));
    assert_eq!(period(Time::NEVER), Some(Duration::MAX));

    // The default counts from now, and is never earlier than a stated deadline.
    let day = TranslationDefaults {
        deadline: Duration::from_secs(86_400),
        ..defaults()
    };
    let important = SchedulingParameters::Importance { importance: 1 };
    assert_eq!(
        important.translated(ParameterKind::Deadline, &day).deadline(),
        Some(at(10) + Duration::from_secs(86_400))
    );
    assert_eq!(
        important
            .translated(ParameterKind::Deadline, &defaults())
            .deadline(),
        Some(Time::NEVER)
    );
}
