//! Rules of filters: what passes, in which sets, and what is refused.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;

use super::{Bits, EventType, Filter, FilterError, FilterLimits, FilterTree, SourceId, Stimulus};
use crate::rtec::{
    rtec_event_channel_admin::{Dependency, DependencyView},
    rtec_event_comm::{Event, EventHeader},
};

const A: i32 = 16;
const B: i32 = 17;
const C: i32 = 18;

fn kind(event_type: i32) -> Filter {
    Filter::event(EventType(event_type))
}

fn bits(event_type: i32, source: i32) -> Bits {
    Bits { event_type, source }
}

/// Events that pass for each event in turn: types with their sources.
fn passed(filter: &Filter, events: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    let mut tree = FilterTree::new(filter);
    events.iter().map(|event| pass(&mut tree, *event, None)).collect()
}

fn pass(tree: &mut FilterTree, (event_type, source): (i32, i32), timer: Option<usize>) -> Vec<(i32, i32)> {
    let mut event = Event::default();
    event.header.r#type = event_type;
    event.header.source = source;
    let event = Arc::new(event);
    let mut out = Vec::new();
    let stimulus = Stimulus {
        event: &event,
        timer,
        supplier: None,
    };
    let passes = tree.pass(stimulus, &mut out);
    assert_eq!(passes, !out.is_empty(), "what passes is not empty");
    out.iter()
        .map(|event| (event.header.r#type, event.header.source))
        .collect()
}

#[test]
fn single_events_pass_by_type_source_and_bits() {
    let any = Filter::every_event();
    let both = kind(A).from(SourceId(7));
    let masked = Filter::masked(bits(0xf0, 0), bits(0x10, 0));
    let of_source = any.clone().from(SourceId(7));
    let even_sources = any.clone().with_bits(bits(-1, 1)).negated();
    // Filter, event, whether it passes.
    let rules = [
        (&any, (A, 1), true),
        (&Filter::nothing(), (A, 1), false),
        (&kind(A), (A, 1), true),
        (&kind(A), (B, 1), false),
        (&both, (A, 7), true),
        (&both, (A, 8), false),
        (&both, (B, 7), false),
        (&of_source, (C, 7), true),
        (&of_source, (C, 8), false),
        (&masked, (0x1f, 3), true),
        (&masked, (0x2f, 3), false),
        (&even_sources, (A, 2), true),
        (&even_sources, (A, 3), false),
        (&kind(A).negated(), (B, 1), true),
        (&kind(A).negated(), (A, 1), false),
        (&kind(A).negated().negated(), (A, 1), true),
    ];
    for (filter, event, passes) in rules {
        assert_eq!(
            passed(filter, &[event])[0].len(),
            usize::from(passes),
            "{filter:?} {event:?}"
        );
    }
}

#[test]
fn groups_pass_alternatives_intersections_and_sets() {
    let a_or_b = Filter::any_of([kind(A), kind(B), kind(A)]);
    let (one, none) = (vec![(A, 1)], vec![]);
    assert_eq!(
        passed(&a_or_b, &[(A, 1), (C, 1)]),
        [one.clone(), none.clone()],
        "once, though two accept"
    );

    let a_not_7 = Filter::each_of([kind(A), Filter::every_event().from(SourceId(7)).negated()]);
    assert_eq!(
        passed(&a_not_7, &[(A, 1), (A, 7), (B, 1)]),
        [one, none.clone(), none.clone()]
    );

    let pair = Filter::all_of([kind(A), kind(B)]);
    let events = [(A, 1), (A, 2), (B, 3), (B, 4), (A, 5)];
    let sets = [
        none.clone(),
        none.clone(),
        vec![(A, 1), (B, 3)],
        none.clone(),
        vec![(A, 5), (B, 4)],
    ];
    assert_eq!(
        passed(&pair, &events),
        sets,
        "the first of each, then from the beginning"
    );

    let nested = Filter::any_of([
        kind(C),
        Filter::all_of([kind(A), Filter::any_of([kind(B), kind(C)])]),
    ]);
    let events = [(A, 1), (C, 2), (B, 3)];
    assert_eq!(
        passed(&nested, &events),
        [none.clone(), vec![(C, 2), (A, 1), (C, 2)], none]
    );
}

#[test]
fn a_conjunction_holds_one_event_of_each_operand_at_most() {
    let mut tree = FilterTree::new(&Filter::all_of([kind(A), kind(B)]));
    for source in 0..1_000 {
        assert!(pass(&mut tree, (A, source), None).is_empty());
    }
    assert_eq!(tree.number_held(), 1);
}

#[test]
fn timeouts_pass_their_own_element_only_and_groups_rearm_deadlines() {
    let filter = Filter::any_of([kind(A), Filter::unless_within(Duration::from_secs(1))]);
    let mut tree = FilterTree::new(&filter);
    let timeout = EventType::DEADLINE_TIMEOUT.0;
    assert_eq!(pass(&mut tree, (timeout, 0), Some(2)), [(timeout, 0)]);
    assert_eq!(
        pass(&mut tree, (timeout, 0), None),
        [],
        "a supplier cannot forge it"
    );
    tree.timers()[0].rearm = false;
    pass(&mut tree, (B, 1), None);
    assert!(!tree.timers()[0].rearm, "the group has not fired");
    pass(&mut tree, (A, 1), None);
    assert!(tree.timers()[0].rearm);
    let negated = Filter::any_of([kind(A).negated(), Filter::every(Duration::from_secs(1))]);
    assert_eq!(
        pass(&mut FilterTree::new(&negated), (timeout, 0), Some(9)),
        [],
        "another's timeout"
    );
}

#[test]
fn limits_refuse_what_is_too_deep_long_or_frequent() {
    let limits = FilterLimits::default();
    let deep = (0..10_000).fold(kind(A), |filter, _| filter.negated());
    let error = deep.check(&limits).unwrap_err();
    assert_eq!(
        error,
        FilterError::TooDeep {
            depth: 10_001,
            limit: 32
        }
    );
    assert!(
        error
            .to_string()
            .contains("10001 levels deep, and the channel permits 32"),
        "{error}"
    );
    let long = Filter::any_of((0..2_000).map(kind));
    let too_long = FilterError::TooLong {
        elements: 2_001,
        limit: 1_024,
    };
    assert_eq!(long.check(&limits), Err(too_long));
    let often = Filter::every(Duration::from_micros(10)).check(&limits);
    assert!(matches!(often, Err(FilterError::TooFrequent { .. })), "{often:?}");
    let deepest = (0..31).fold(kind(A), |filter, _| filter.negated());
    assert_eq!(deepest.check(&limits), Ok(()));
    assert_eq!(
        passed(&deepest, &[(B, 1)])[0].len(),
        1,
        "an odd number of negations"
    );
}

/// Reads dependencies of these types and sources.
fn read(elements: &[(i32, i32)]) -> Result<Filter, FilterError> {
    let views: Vec<DependencyView<'_>> = elements
        .iter()
        .map(|(event_type, source)| {
            let mut view = DependencyView::from(&EMPTY);
            view.event.header.r#type = *event_type;
            view.event.header.source = *source;
            view
        })
        .collect();
    Filter::from_dependencies(&views)
}

static EMPTY: std::sync::LazyLock<Dependency> = std::sync::LazyLock::new(Dependency::default);

impl<'a> From<&'a std::sync::LazyLock<Dependency>> for DependencyView<'a> {
    fn from(dependency: &'a std::sync::LazyLock<Dependency>) -> Self {
        use crate::rtec::{RtecEventDataView, rtec_event_comm::EventView};
        DependencyView {
            event: EventView {
                header: EventHeader::default(),
                data: RtecEventDataView {
                    pad1: 0,
                    payload: &dependency.event.data.payload,
                    any_value: dependency.event.data.any_value.view(),
                },
            },
            rt_info: 0,
        }
    }
}

#[test]
fn subscriptions_are_read_in_both_notations() {
    let pair = Filter::all_of([kind(A), kind(B)]);
    assert_eq!(read(&[(8, 2), (A, 0), (B, 0)]).as_ref(), Ok(&pair), "prefix");
    assert_eq!(read(&[(8, 0), (A, 0), (B, 0)]).as_ref(), Ok(&pair), "basic");
    let alternatives = Filter::any_of([pair, Filter::any_of([kind(C)])]);
    assert_eq!(
        read(&[(8, 0), (A, 0), (B, 0), (9, 0), (C, 0)]).as_ref(),
        Ok(&alternatives)
    );
    assert_eq!(
        read(&[(A, 0), (B, 0)]),
        Ok(Filter::any_of([kind(A), kind(B)])),
        "no group"
    );
    assert_eq!(read(&[]).map(|filter| filter.is_empty()), Ok(true));
    let masked = Filter::masked(bits(0xf0, 1), bits(0x10, 2));
    assert_eq!(read(&[(13, 0), (0xf0, 1), (0x10, 2)]), Ok(masked));
    assert_eq!(
        read(&[(12, 0), (1, 2), (10, 0), (A, 0)]),
        Ok(kind(A).negated().with_bits(bits(1, 2)))
    );

    let incomplete = |element, missing| Err(FilterError::Incomplete { element, missing });
    assert_eq!(read(&[(8, 2), (A, 0)]), incomplete(0, 1));
    assert_eq!(read(&[(8, 1), (10, 0)]), incomplete(1, 1));
    assert_eq!(read(&[(12, 0)]), incomplete(0, 2));
    assert_eq!(read(&[(13, 0), (1, 1)]), incomplete(0, 1));
    assert_eq!(
        read(&[(8, i32::MAX), (A, 0)]),
        incomplete(0, i32::MAX as usize - 1)
    );
    assert_eq!(
        read(&[(9, -1)]),
        Err(FilterError::Children {
            element: 0,
            children: -1
        })
    );
    assert_eq!(
        read(&[(9, 1), (8, 0)]),
        Err(FilterError::Children {
            element: 1,
            children: 0
        })
    );
    let deep: Vec<(i32, i32)> = (0..10_000).map(|_| (10, 0)).chain([(A, 0)]).collect();
    assert_eq!(read(&deep).unwrap().depth(), 10_001);
}

/// Expressions of limited depth.
fn expression() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        (A..C + 1, 0..3).prop_map(|(event_type, source)| kind(event_type).from(SourceId(source))),
        Just(Filter::nothing()),
        Just(Filter::every(Duration::from_secs(1))),
        (0..4, 0..4).prop_map(|(mask, value)| Filter::masked(bits(mask, 0), bits(value, 0))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operands = || proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            operands().prop_map(Filter::all_of),
            operands().prop_map(Filter::any_of),
            operands().prop_map(Filter::each_of),
            inner.clone().prop_map(Filter::negated),
            inner.clone().prop_map(|filter| filter.with_bits(bits(3, 3))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(filter in expression()) {
        let written = filter.to_dependencies();
        let elements: Vec<_> = written.iter().map(|one| &one.event.header).collect();
        let views: Vec<_> = elements.iter().map(|header| {
            let mut view = DependencyView::from(&EMPTY);
            view.event.header.clone_from(header);
            view
        }).collect();
        prop_assert_eq!(Filter::from_dependencies(&views), Ok(filter));
    }

    #[test]
    fn the_index_of_types_leaves_nothing_out(filter in expression(), events in events()) {
        let indexed: Option<Vec<i32>> = filter.event_types().map(|types| types.map(|one| one.0).collect());
        let sets = passed(&filter, &events);
        for (event, set) in events.iter().zip(sets) {
            let is_indexed = indexed.as_ref().is_none_or(|types| types.contains(&event.0));
            prop_assert!(set.is_empty() || is_indexed, "{event:?} passes {filter:?}");
        }
    }

    #[test]
    fn without_conjunctions_a_filter_is_its_boolean_function(filter in stateless(), events in events()) {
        for (event, set) in events.iter().zip(passed(&filter.0, &events)) {
            prop_assert_eq!(set, if (filter.1)(*event) { vec![*event] } else { vec![] });
        }
    }

    #[test]
    fn any_dependencies_are_a_filter_or_an_error(
        elements in proptest::collection::vec((-2..20, -2..5), 0..40)
    ) {
        if let Ok(filter) = read(&elements) && filter.check(&FilterLimits::default()).is_ok() {
            passed(&filter, &[(A, 1), (B, 2), (C, 0)]);
        }
    }
}

fn events() -> impl Strategy<Value = Vec<(i32, i32)>> {
    proptest::collection::vec((A..C + 2, 0..4), 1..30)
}

/// A filter without conjunctions, and what it means.
fn stateless() -> impl Strategy<Value = Meaning> {
    let leaf =
        (A..C + 1).prop_map(|event_type| Meaning::new(kind(event_type), move |event| event.0 == event_type));
    leaf.prop_recursive(4, 20, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                Meaning::new(Filter::any_of([one.0, other.0]), move |event| {
                    (one.1)(event) || (other.1)(event)
                })
            }),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                Meaning::new(Filter::each_of([one.0, other.0]), move |event| {
                    (one.1)(event) && (other.1)(event)
                })
            }),
            inner.prop_map(|one| Meaning::new(one.0.negated(), move |event| !(one.1)(event))),
        ]
    })
}

#[derive(Clone)]
struct Meaning(Filter, Arc<dyn Fn((i32, i32)) -> bool>);

impl Meaning {
    fn new(filter: Filter, meaning: impl Fn((i32, i32)) -> bool + 'static) -> Self {
        Self(filter, Arc::new(meaning))
    }
}

impl std::fmt::Debug for Meaning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
