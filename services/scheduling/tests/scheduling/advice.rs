//! Advice for schedules that miss deadlines.

use punctual_scheduling::{Advice, Class, Refusal, Schedule};

fn schedule(text: &str) -> Schedule {
    Schedule::parse("f.toml", text).unwrap()
}

fn advice(text: &str) -> Option<Advice> {
    let schedule = schedule(text);
    assert!(!schedule.is_feasible(), "a feasible schedule needs no advice");
    let advice = Advice::for_schedule(&schedule);
    if let Some(advice) = &advice {
        assert!(advice.schedule.is_feasible());
        assert!(!advice.changes.is_empty());
        assert_eq!(&self::schedule(&advice.schedule.to_toml()), &advice.schedule);
    }
    advice
}

/// Two clients on one host of a server on another, whose pool is described by the argument.
fn two_clients(pool: &str) -> String {
    format!(
        r#"
        hosts = ["clients", "server"]
        [[pool]]
        name = "work"
        host = "server"
        {pool}
        [[activity]]
        name = "urgent"
        priority = 30000
        period = "10 ms"
        deadline = "5 ms"
        step = [{{ host = "clients", wcet = "100 us" }}, {{ pool = "work", wcet = "2 ms" }}]
        [[activity]]
        name = "slow"
        priority = 100
        period = "100 ms"
        step = [{{ host = "clients", wcet = "100 us" }}, {{ pool = "work", wcet = "40 ms" }}]
        "#
    )
}

#[test]
fn a_pool_at_one_priority_gets_lanes() {
    let advice = advice(&two_clients("threads = 4")).unwrap();
    assert_eq!(
        advice.changes,
        ["replace the threads of pool `work` by lanes of priorities 100, 30000"]
    );
    assert_eq!(advice.schedule.pools[0].lanes.len(), 2);
}

#[test]
fn lanes_take_over_the_settings_of_the_threads() {
    let pool = "threads = 4\ndynamic_threads = 2\ndynamic_run_time = \"1 s\"\ncpus = [0]";
    let advice = advice(&two_clients(pool)).unwrap();
    let pool = &advice.schedule.pools[0];
    assert_eq!((pool.dynamic_threads, pool.cpus.as_deref()), (0, Some(&[0][..])));
    for lane in &pool.lanes {
        assert_eq!((lane.dynamic_threads, lane.cpus.as_deref()), (2, None));
        assert_eq!(lane.dynamic_run_time, Some("1 s".parse().unwrap()));
    }
    // A lane added to a pool of ordinary threads has a class with priorities.
    let lanes = "class = \"ordinary\"\nlanes = [{ priority = 100, threads = 2, class = \"fifo\" }]";
    let advice = self::advice(&two_clients(lanes)).unwrap();
    assert_eq!(advice.schedule.pools[0].lanes[1].class, Some(Class::Fifo));
}

#[test]
fn a_missing_lane_is_added() {
    let text = two_clients("lanes = [{ priority = 100, threads = 2 }]");
    let refusals = schedule(&text).refusals();
    assert!(
        matches!(&refusals[..], [Refusal::NoLane { activity, .. }] if activity == "urgent"),
        "{refusals:?}"
    );
    let advice = advice(&text).unwrap();
    assert_eq!(
        advice.changes,
        ["add a lane of priority 30000 with 1 thread to pool `work`"]
    );
}

#[test]
fn wrong_priorities_are_changed_with_their_lanes() {
    let text = two_clients("lanes = [{ priority = 100, threads = 1 }, { priority = 30000, threads = 1 }]");
    let swapped = text
        .replace(
            "priority = 30000\n        period",
            "priority = 100\n        period",
        )
        .replacen(
            "priority = 100\n        period = \"100 ms\"",
            "priority = 30000\n        period = \"100 ms\"",
            1,
        );
    let advice = advice(&swapped).unwrap();
    assert!(
        advice.changes[0].contains("the priority of `"),
        "{:?}",
        advice.changes
    );
    assert!(
        advice
            .changes
            .iter()
            .any(|change| change.starts_with("add a lane")),
        "{:?}",
        advice.changes
    );
}

#[test]
fn several_priorities_are_changed_if_one_is_not_enough() {
    // Reversed priorities: the three tasks are feasible only with the shortest deadline first.
    let text = r#"
        [[activity]]
        name = "a"
        priority = 100
        period = "10 ms"
        deadline = "2 ms"
        step = [{ host = "localhost", wcet = "2 ms" }]
        [[activity]]
        name = "b"
        priority = 10000
        period = "20 ms"
        deadline = "6 ms"
        step = [{ host = "localhost", wcet = "4 ms" }]
        [[activity]]
        name = "c"
        priority = 20000
        period = "40 ms"
        deadline = "20 ms"
        step = [{ host = "localhost", wcet = "10 ms" }]
    "#;
    let advice = advice(text).unwrap();
    let priorities: Vec<_> = advice
        .schedule
        .activities
        .iter()
        .map(|activity| activity.priority)
        .collect();
    assert!(
        priorities[0] > priorities[1] && priorities[1] > priorities[2],
        "{priorities:?}"
    );
    assert!(advice.changes.len() >= 2, "{:?}", advice.changes);
}

#[test]
fn few_threads_for_declared_priorities_are_refused() {
    let text = r#"
        [[pool]]
        name = "work"
        threads = 1
        [[adapter]]
        name = "rt"
        pool = "work"
        model = "server-declared"
        priority = 0
        [[object]]
        name = "low"
        adapter = "rt"
        priority = 10
        [[object]]
        name = "high"
        adapter = "rt"
        priority = 30000
        [[activity]]
        name = "a"
        priority = 1
        period = "1 s"
        step = [{ object = "low", wcet = "1 ms" }]
        [[activity]]
        name = "b"
        priority = 1
        period = "1 s"
        step = [{ object = "high", wcet = "1 ms" }]
    "#;
    let refusals = schedule(text).refusals();
    assert!(
        matches!(
            refusals[..],
            [Refusal::FewThreads {
                threads: 1,
                callers: 2,
                ..
            }]
        ),
        "{refusals:?}"
    );
    let advice = advice(text).unwrap();
    assert!(
        advice.changes[0].contains("lanes of priorities 0, 10, 30000"),
        "{:?}",
        advice.changes
    );
    assert!(schedule(&text.replace("threads = 1", "threads = 2")).is_feasible());
}

#[test]
fn a_pool_without_lanes_is_analysed_at_all_priorities_of_its_adapters() {
    use punctual_scheduling::Model;
    let text = two_clients("threads = 4\npriority = 5000");
    let adapter = |model: &str| {
        format!("{text}\n[[adapter]]\nname = \"a\"\npool = \"work\"\nmodel = \"{model}\"\npriority = 20000\n")
    };
    // Native priorities: 30000 is 90, 20000 is 60, 5000 is 15 and 100 is 1. The urgent activity, then the
    // slow one.
    for (text, expected) in [
        (text.clone(), [(Some(15), None), (Some(15), None)]),
        (
            adapter("client-propagated"),
            [(Some(15), Some(90)), (Some(1), Some(15))],
        ),
        (
            adapter("server-declared"),
            [(Some(15), Some(60)), (Some(15), Some(60))],
        ),
    ] {
        let model = Model::of(&schedule(&text));
        let found = [0, 1].map(|task: usize| {
            let step = &model.tasks[task].steps[1];
            (step.fixed_priority, step.peak_priority)
        });
        assert_eq!(found, expected, "{text}");
    }
    // The slow activity may occupy the only thread.
    let refusals = schedule(&adapter("client-propagated").replace("threads = 4", "threads = 1")).refusals();
    assert!(
        matches!(refusals[..], [Refusal::FewThreads { .. }]),
        "{refusals:?}"
    );
}

#[test]
fn there_is_no_advice_for_an_overloaded_host() {
    assert_eq!(
        advice(&two_clients("threads = 1").replace("40 ms", "90 ms")),
        None
    );
}

/// The requests run at the declared priority, regardless of the activity's.
#[test]
fn calls_through_a_declared_adapter_have_its_lane() {
    let text = |adapter: &str| {
        format!(
            r#"
            [[pool]]
            name = "work"
            lanes = [{{ priority = 1000, threads = 1 }}, {{ priority = 30000, threads = 1 }}]
            [[adapter]]
            name = "declared"
            pool = "work"
            model = "server-declared"
            priority = 1000
            {adapter}
            [[activity]]
            name = "urgent"
            priority = 30000
            period = "100 ms"
            deadline = "10 ms"
            step = [{{ pool = "work", wcet = "1 ms" }}]
            [[activity]]
            name = "medium"
            priority = 10000
            period = "100 ms"
            step = [{{ host = "localhost", wcet = "30 ms" }}]
            "#
        )
    };
    let declared = schedule(&text(""));
    assert_eq!(declared.refusals(), []);
    let worst = |schedule: &Schedule| {
        let analysis = punctual_scheduling::Model::of(schedule).analyse();
        analysis.responses[0].worst().map(|worst| worst / 1_000_000)
    };
    assert_eq!(worst(&declared), Some(31));
    // A priority without a lane of its own is served nevertheless.
    let elsewhere = text("").replace(
        "priority = 30000\n            period",
        "priority = 20000\n            period",
    );
    assert_eq!(schedule(&elsewhere).refusals(), []);
    // With two adapters, the call may go to either, unless it names one.
    let propagated =
        "[[adapter]]\nname = \"own\"\npool = \"work\"\nmodel = \"client-propagated\"\npriority = 1000";
    let both = text(propagated);
    assert_eq!(worst(&schedule(&both)), Some(31));
    let named = both.replace("{ pool = \"work\", wcet", "{ adapter = \"own\", wcet");
    assert_eq!(worst(&schedule(&named)), Some(1));
}

/// X and Y share a lane of one thread; the servant of Y calls another object.
#[test]
fn a_servant_that_waits_for_its_own_call_delays_the_other_callers_of_its_lane() {
    let text = |threads: usize, y: &str| {
        format!(
            r#"
            hosts = ["server", "store"]
            [[pool]]
            name = "shared"
            host = "server"
            lanes = [{{ priority = 1000, threads = {threads} }}]
            [[pool]]
            name = "disk"
            host = "store"
            [[activity]]
            name = "x"
            priority = 1000
            period = "1 s"
            deadline = "10 ms"
            step = [{{ pool = "shared", wcet = "2 ms" }}]
            [[activity]]
            name = "y"
            priority = 1000
            period = "1 s"
            step = [{{ pool = "shared", wcet = "1 ms"{y} }}]
            "#
        )
    };
    let worst = |text: &str| {
        let analysis = punctual_scheduling::Model::of(&schedule(text)).analyse();
        analysis.responses[0].worst().map(|worst| worst / 1_000_000)
    };
    let calls = ", calls = [{ pool = \"disk\", wcet = \"50 ms\" }], after = { wcet = \"1 ms\" }";
    assert_eq!(worst(&text(1, "")), Some(3));
    let shared = worst(&text(1, calls)).unwrap();
    assert!((54..=60).contains(&shared), "{shared} ms");
    assert!(!schedule(&text(1, calls)).is_feasible());
    assert_eq!(worst(&text(2, calls)), Some(4), "a thread is left");
    // A servant that calls its own lane waits for itself.
    let itself = ", calls = [{ pool = \"shared\", wcet = \"1 ms\" }]";
    let model = punctual_scheduling::Model::of(&schedule(&text(1, itself)));
    assert_eq!(model.analyse().responses[1].worst(), None);
}

/// `quick` shares a lane of one thread with `nested`, whose servant waits 50 ms for another host.
fn shared_lane(deadline_of_quick: &str) -> String {
    format!(
        r#"
        hosts = ["server", "other"]
        [[pool]]
        name = "work"
        host = "server"
        lanes = [{{ priority = 20000, threads = 1 }}]
        [[pool]]
        name = "far"
        host = "other"
        lanes = [{{ priority = 20000, threads = 1 }}]
        [[activity]]
        name = "quick"
        priority = 20000
        period = "200 ms"
        deadline = "{deadline_of_quick}"
        step = [{{ pool = "work", wcet = "4 ms" }}]
        [[activity]]
        name = "nested"
        priority = 20000
        period = "200 ms"
        step = [{{ pool = "work", wcet = "2 ms", calls = [{{ pool = "far", wcet = "50 ms" }}] }}]
        "#
    )
}

#[test]
fn a_lane_whose_servants_wait_for_calls_gets_another_thread() {
    let advice = advice(&shared_lane("10 ms")).unwrap();
    assert_eq!(
        advice.changes,
        ["2 threads instead of 1 in the lane of priority 20000 of pool `work`"]
    );
    assert_eq!(advice.schedule.pools[0].lanes[0].threads, 2);
}

#[test]
fn an_activity_gets_a_lane_apart_from_servants_that_wait_and_compute() {
    // Another thread does not suffice: at the same priority it would wait for 2 ms of the other servant.
    let advice = advice(&shared_lane("5 ms")).unwrap();
    assert_eq!(advice.changes.len(), 2, "{:?}", advice.changes);
    assert!(
        advice.changes[0].contains("the priority of `"),
        "{:?}",
        advice.changes
    );
    assert!(
        advice.changes[1].starts_with("add a lane of priority"),
        "{:?}",
        advice.changes
    );
}
