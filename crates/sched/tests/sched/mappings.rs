//! Properties of all priority mappings: order and inverse.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use punctual_sched::{LinearMapping, PriorityMapping, StandardMapping};
use punctual_types::{NativePriority, Priority};

const ALL: [StandardMapping; 3] = [
    StandardMapping::Linear,
    StandardMapping::Direct,
    StandardMapping::Continuous,
];

fn ranges() -> impl Strategy<Value = RangeInclusive<i16>> {
    let any = (-1000_i16..1000, 0_i16..2000).prop_map(|(start, length)| start..=start + length);
    prop_oneof![Just(1..=99), Just(0..=0), Just(-20..=19), any]
}

fn mappings() -> impl Strategy<Value = (StandardMapping, RangeInclusive<i16>)> {
    (proptest::sample::select(&ALL[..]), ranges())
}

fn priorities() -> impl Strategy<Value = Priority> {
    (0..=i16::MAX).prop_map(|value| Priority::new(value).unwrap())
}

proptest! {
    #[test]
    fn a_higher_corba_priority_never_runs_lower(
        (kind, range) in mappings(),
        a in priorities(),
        b in priorities(),
    ) {
        let mapping = kind.over(range.clone());
        let (low, high) = (a.min(b), a.max(b));
        let (native_low, native_high) = (mapping.to_native(low), mapping.to_native(high));
        for native in [native_low, native_high].into_iter().flatten() {
            prop_assert!(range.contains(&native.0));
        }
        if let (Some(native_low), Some(native_high)) = (native_low, native_high) {
            prop_assert!(native_low <= native_high);
        }
    }

    #[test]
    fn a_higher_native_priority_never_maps_back_lower((kind, range) in mappings(), a: i16, b: i16) {
        let mapping = kind.over(range.clone());
        let (low, high) = (NativePriority(a.min(b)), NativePriority(a.max(b)));
        for native in [low, high] {
            let back = mapping.to_corba(native);
            prop_assert!(back.is_none() || range.contains(&native.0), "outside the range there is nothing");
        }
        if let (Some(low), Some(high)) = (mapping.to_corba(low), mapping.to_corba(high)) {
            prop_assert!(low <= high);
        }
    }

    #[test]
    fn native_priorities_come_back((kind, range) in mappings()) {
        let mapping = kind.over(range.clone());
        for native in range.clone() {
            match mapping.to_corba(NativePriority(native)) {
                Some(corba) => prop_assert_eq!(mapping.to_native(corba), Some(NativePriority(native))),
                None => prop_assert!(kind == StandardMapping::Direct && native < 0),
            }
        }
    }

    /// The linear mapping joins neighbours: the inverse returns the least of them.
    #[test]
    fn corba_priorities_come_back((kind, range) in mappings(), priority in priorities()) {
        let mapping = kind.over(range.clone());
        if let Some(native) = mapping.to_native(priority) {
            let back = mapping.to_corba(native).unwrap();
            prop_assert_eq!(mapping.to_native(back), Some(native));
            if kind == StandardMapping::Linear {
                prop_assert!(back <= priority);
                let below = back.value().checked_sub(1).and_then(|below| Priority::new(below).ok());
                prop_assert!(below.is_none_or(|below| mapping.to_native(below) < Some(native)));
            } else {
                prop_assert_eq!(back, priority);
            }
        } else {
            prop_assert!(kind != StandardMapping::Linear, "the linear mapping covers all priorities");
        }
    }
}

#[test]
fn the_linear_mapping_is_that_of_the_paper() {
    let mapping = LinearMapping::new(1..=99);
    for (corba, native) in [(0, 1), (10_922, 33), (21_844, 66), (32_767, 99)] {
        let priority = Priority::new(corba).unwrap();
        assert_eq!(mapping.to_native(priority), Some(NativePriority(native)));
    }
    assert_eq!(mapping.to_corba(NativePriority(0)), None);
    assert_eq!(mapping.to_corba(NativePriority(100)), None);
}

#[test]
fn direct_and_continuous_mappings_end_with_the_scheduling_class() {
    let direct = StandardMapping::Direct.over(1..=99);
    let continuous = StandardMapping::Continuous.over(1..=99);
    for (corba, directly, continuously) in [
        (0, None, Some(1)),
        (1, Some(1), Some(2)),
        (98, Some(98), Some(99)),
        (99, Some(99), None),
        (100, None, None),
        (32_767, None, None),
    ] {
        let priority = Priority::new(corba).unwrap();
        assert_eq!(direct.to_native(priority), directly.map(NativePriority));
        assert_eq!(continuous.to_native(priority), continuously.map(NativePriority));
    }
}

#[test]
fn names_of_mappings_are_parsed() {
    for mapping in ALL {
        assert_eq!(mapping.to_string().parse(), Ok(mapping));
    }
    assert!("Linear".parse::<StandardMapping>().is_err());
    assert!("".parse::<StandardMapping>().is_err());
}
