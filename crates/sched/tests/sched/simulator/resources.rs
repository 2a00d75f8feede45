//! Resources and the protocols against priority inversion.

use punctual_sched::{
    dynamic::STANDARD,
    simulator::{EventKind, Model, Parameters, Protocol, Resource, Step},
};

use crate::simulator::support::*;

/// The case of the Mars Pathfinder: low owns the resource that high needs, and middle delays low.
fn inversion(protocol: Protocol, middle: u32) -> Model {
    let section = |ms| vec![Step::Lock(0), compute(ms), Step::Unlock(0), compute(1)];
    let mut model = hosts(
        1,
        vec![
            once("low", 0, 1, section(5)),
            once("high", 1, 9, section(2)),
            once("middle", 2, 5, vec![compute(middle)]),
        ],
    );
    for (task, deadline) in model.tasks.iter_mut().zip([400, 20, 100]) {
        if let Some(parameters) = &mut task.parameters {
            parameters.deadline = Some(MS * deadline);
            parameters.period = MS * deadline;
            parameters.criticality = parameters.importance;
            parameters.utility.value = parameters.importance.unsigned_abs();
        }
    }
    model.resources = vec![Resource {
        name: "map".into(),
        protocol,
    }];
    model
}

#[test]
fn inheritance_bounds_the_wait_by_the_critical_section() {
    for middle in [10, 1000] {
        let (events, statistics) = simulate(&inversion(Protocol::Inheritance, middle), "MIF", 1, MS * 2000);
        let seen = runs(&events, 0, 2000);
        // Low runs until 1, when high requests the resource; low continues to 5, and high completes next.
        assert_eq!(
            seen[..4],
            [(0, 0, 1), (0, 1, 5), (1, 5, 8), (2, 8, 8 + u64::from(middle))]
        );
        assert_eq!(statistics.tasks[1].response.max(), Some(7_000_000));
        assert_eq!(times(&events, 0, |kind| *kind == EventKind::Inherited), [1]);
    }
}

#[test]
fn without_a_protocol_the_wait_includes_all_of_the_middle_thread() {
    for middle in [10, 1000] {
        let (_, statistics) = simulate(&inversion(Protocol::None, middle), "MIF", 1, MS * 2000);
        assert_eq!(
            statistics.tasks[1].response.max(),
            Some(u64::from(middle + 7) * 1_000_000)
        );
    }
}

#[test]
fn a_ceiling_prevents_preemption_by_threads_below_it() {
    let ceiling = Parameters {
        importance: 9,
        ..Parameters::default()
    };
    let (events, statistics) = simulate(&inversion(Protocol::Ceiling(ceiling), 10), "MIF", 1, MS * 100);
    assert_eq!(runs(&events, 0, 100)[..2], [(0, 0, 5), (1, 5, 8)]);
    assert_eq!(statistics.hosts[0].preemptions, 1, "at the end of the section");
    assert!(times(&events, 1, |kind| matches!(kind, EventKind::Waiting { .. })).is_empty());
}

#[test]
fn a_waiter_above_the_ceiling_lends_its_parameters() {
    let ceiling = Parameters {
        importance: 3,
        ..Parameters::default()
    };
    let (events, _) = simulate(&inversion(Protocol::Ceiling(ceiling), 10), "MIF", 1, MS * 100);
    assert_eq!(runs(&events, 0, 100)[..3], [(0, 0, 1), (0, 1, 5), (1, 5, 8)]);
    assert_eq!(times(&events, 0, |kind| *kind == EventKind::Inherited), [0, 1]);
}

#[test]
fn all_schedulers_inherit() {
    // MAU prefers the highest density and need not run middle after high.
    for scheduler in STANDARD.into_iter().filter(|name| !["FP", "MAU"].contains(name)) {
        let (_, statistics) = simulate(&inversion(Protocol::Inheritance, 60), scheduler, 1, MS * 2000);
        assert_eq!(statistics.tasks[1].response.max(), Some(7_000_000), "{scheduler}");
    }
}

#[test]
fn inheritance_is_transitive() {
    let chain = vec![
        once("first", 0, 1, vec![Step::Lock(0), compute(4), Step::Unlock(0)]),
        once(
            "second",
            1,
            2,
            vec![
                Step::Lock(1),
                Step::Lock(0),
                compute(1),
                Step::Unlock(0),
                Step::Unlock(1),
            ],
        ),
        once("third", 2, 9, vec![Step::Lock(1), compute(1), Step::Unlock(1)]),
        once("middle", 3, 5, vec![compute(50)]),
    ];
    let mut model = hosts(1, chain);
    model.resources = vec![Resource::new("a"), Resource::new("b")];
    let (events, _) = simulate(&model, "MIF", 1, MS * 100);
    let done = |task| times(&events, task, |kind| *kind == EventKind::Completed);
    assert_eq!((done(2), done(3)), (vec![6], vec![56]));
}

#[test]
fn resources_are_reentrant_and_handed_to_the_most_eligible() {
    let again = vec![
        Step::Lock(0),
        Step::Lock(0),
        compute(3),
        Step::Unlock(0),
        compute(1),
        Step::Unlock(0),
    ];
    let waits = |name, at_ms, importance| {
        once(
            name,
            at_ms,
            importance,
            vec![Step::Lock(0), compute(1), Step::Unlock(0)],
        )
    };
    let mut model = hosts(
        1,
        vec![
            once("holder", 0, 1, again),
            waits("minor", 1, 2),
            waits("major", 2, 3),
        ],
    );
    model.resources = vec![Resource::new("a")];
    let (events, _) = simulate(&model, "MIF", 1, MS * 100);
    let locked = |task| times(&events, task, |kind| matches!(kind, EventKind::Locked { .. }));
    assert_eq!((locked(2), locked(1)), (vec![4], vec![5]));
}

#[test]
fn a_deadlock_is_refused_and_ends_the_thread() {
    let both = |name, first, second| {
        once(
            name,
            0,
            1,
            vec![
                Step::Lock(first),
                Step::Sleep(MS),
                Step::Lock(second),
                Step::Unlock(second),
                Step::Unlock(first),
            ],
        )
    };
    let mut model = hosts(1, vec![both("a", 0, 1), both("b", 1, 0)]);
    model.resources = vec![Resource::new("x"), Resource::new("y")];
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 100);
    let [a, b] = &statistics.tasks[..] else {
        panic!("2 tasks")
    };
    assert_eq!((a.made, a.refused, b.made, b.refused), (1, 0, 0, 1));
    assert_eq!(b.missed(), 1);
    let refused = |kind: &EventKind| *kind == EventKind::Refused { resource: 0 };
    assert_eq!(times(&events, 1, refused), [1]);
    let locked = |task| times(&events, task, |kind| matches!(kind, EventKind::Locked { .. }));
    assert_eq!(locked(0), [0, 1], "`b` releases what `a` waits for");
}

#[test]
fn each_host_has_its_own_resources() {
    let locks = |name, host| {
        let mut task = once(name, 0, 1, vec![Step::Lock(0), compute(5), Step::Unlock(0)]);
        task.hosts = vec![host];
        task
    };
    let mut model = hosts(2, vec![locks("here", 0), locks("there", 1)]);
    model.resources = vec![Resource::new("a")];
    let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert!(
        statistics
            .tasks
            .iter()
            .all(|task| task.response.max() == Some(5_000_000))
    );
}
