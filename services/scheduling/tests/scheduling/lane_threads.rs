//! Threads that requests may have to wait for: of lanes on hosts by deadline, and of those that block.

use punctual_scheduling::{Advice, Model, Refusal, Schedule, Wait};

fn schedule(text: &str) -> Schedule {
    Schedule::parse("f.toml", text).unwrap()
}

/// Returns the bounds of the responses of all activities, in milliseconds.
fn worst(text: &str) -> Vec<Option<u64>> {
    let analysis = Model::of(&schedule(text)).analyse();
    let responses = analysis.responses.iter();
    responses
        .map(|response| response.worst().map(|worst| worst / 1_000_000))
        .collect()
}

/// An urgent and a slow activity that call a pool on a host by deadline.
fn by_deadline(pool: &str) -> String {
    format!(
        r#"
        hosts = [{{ name = "h", order = "deadline" }}]
        [[pool]]
        name = "p"
        {pool}
        [[activity]]
        name = "urgent"
        priority = 100
        period = "100 ms"
        deadline = "5 ms"
        step = [{{ pool = "p", wcet = "1 ms" }}]
        [[activity]]
        name = "slow"
        priority = 100
        period = "100 ms"
        step = [{{ pool = "p", wcet = "50 ms" }}]
        "#
    )
}

/// The slow activity may hold the only thread for 50 ms when the urgent one calls.
#[test]
fn a_lane_by_deadline_with_fewer_threads_than_requests_is_refused() {
    let text = by_deadline("lanes = [{ priority = 100, threads = 1 }]");
    let schedule = schedule(&text);
    assert!(!schedule.is_feasible());
    assert_eq!(worst(&text), [None, None]);
    let refusals = schedule.refusals();
    let [refusal @ Refusal::FewThreadsByDeadline { .. }] = &refusals[..] else {
        panic!("{refusals:?}");
    };
    assert_eq!(
        refusal.to_string(),
        "the lane of priority 100 of pool `p` has 1 thread for up to 2 requests at a time, and host `h` \
         serves by deadline: one with a late deadline can occupy the thread that one with an earlier \
         deadline needs; give the lane 2 threads"
    );
    let advice = Advice::for_schedule(&schedule).unwrap();
    assert_eq!(
        advice.changes,
        ["2 threads instead of 1 in the lane of priority 100 of pool `p`"]
    );
}

#[test]
fn a_pool_without_lanes_by_deadline_with_fewer_threads_than_requests_is_refused() {
    let adapter = "[[adapter]]\nname = \"a\"\npool = \"p\"\nmodel = \"client-propagated\"\npriority = 7";
    for text in [
        by_deadline(""),
        by_deadline("threads = 1\npriority = 5"),
        by_deadline(&format!("threads = 1\n{adapter}")),
    ] {
        let schedule = schedule(&text);
        assert!(!schedule.is_feasible());
        let refusals = schedule.refusals();
        let [refusal @ Refusal::FewThreadsByDeadline { .. }] = &refusals[..] else {
            panic!("{refusals:?}");
        };
        let shown = refusal.to_string();
        assert!(
            shown.starts_with("pool `p` has 1 thread for up to 2 requests"),
            "{shown}"
        );
        assert!(shown.ends_with("; give the pool 2 threads"), "{shown}");
        let advice = Advice::for_schedule(&schedule).unwrap();
        assert_eq!(advice.changes, ["2 threads instead of 1 in pool `p`"]);
    }
}

#[test]
fn lanes_by_deadline_with_a_thread_for_each_request_are_feasible() {
    for pool in [
        "threads = 2",
        "dynamic_threads = 1",
        "lanes = [{ priority = 100, threads = 2 }]",
        "lanes = [{ priority = 100, threads = 1, dynamic_threads = 1 }]",
    ] {
        let text = by_deadline(pool);
        assert_eq!(schedule(&text).refusals(), [], "{pool}");
        assert_eq!(worst(&text), [Some(1), Some(51)], "{pool}");
    }
    // In lanes of their own, no request meets another one.
    let lanes = "lanes = [{ priority = 100, threads = 1 }, { priority = 200, threads = 1 }]";
    let apart = by_deadline(lanes).replacen(
        "priority = 100\n        period",
        "priority = 200\n        period",
        1,
    );
    assert!(schedule(&apart).is_feasible());
    let lending = apart.replace("name = \"p\"\n", "name = \"p\"\nallow_borrowing = true\n");
    assert!(schedule(&lending).is_feasible(), "no thread is lent");
}

#[test]
fn instances_that_may_overlap_count_by_deadline() {
    let text = |threads| {
        let text = by_deadline(&format!("threads = {threads}"));
        text.replace(
            "period = \"100 ms\"\n        step",
            "period = \"100 ms\"\n        deadline = \"150 ms\"\n        step",
        )
    };
    let refusals = schedule(&text(2)).refusals();
    assert!(
        matches!(refusals[..], [Refusal::FewThreadsByDeadline { requests: 3, .. }]),
        "{refusals:?}"
    );
    assert!(schedule(&text(3)).is_feasible());
}

#[test]
fn calls_that_may_go_to_several_lanes_by_deadline_need_threads_in_each() {
    let lanes = "lanes = [{ priority = 100, threads = 2 }, { priority = 200, threads = 1 }]";
    let adapters = "[[adapter]]\nname = \"a\"\npool = \"p\"\nmodel = \"client-propagated\"\npriority = 100\n\
                    [[adapter]]\nname = \"d\"\npool = \"p\"\nmodel = \"server-declared\"\npriority = 200";
    let text = by_deadline(&format!("{lanes}\n{adapters}"));
    let schedule = schedule(&text);
    let refusals = schedule.refusals();
    let [refusal @ Refusal::FewThreadsByDeadline { .. }] = &refusals[..] else {
        panic!("{refusals:?}");
    };
    let shown = refusal.to_string();
    assert!(
        shown.starts_with("one of the lanes of priorities 100, 200 of pool `p` has 1 thread for"),
        "{shown}"
    );
    assert!(shown.ends_with("; give each lane 2 threads"), "{shown}");
    let advice = Advice::for_schedule(&schedule).unwrap();
    assert_eq!(
        advice.changes,
        ["2 threads instead of 1 in the lane of priority 200 of pool `p`"]
    );
}

#[test]
fn threads_that_block_do_not_count_by_deadline() {
    let text = by_deadline("lanes = [{ priority = 100, threads = 2, wait = \"blocking\" }]");
    let schedule = schedule(&text);
    assert!(!schedule.is_feasible());
    let shown = schedule.refusals()[0].to_string();
    assert!(
        shown.contains(
            "has 2 threads that block, which serve the requests of one connection one after the other, for"
        ),
        "{shown}"
    );
    assert!(
        shown.ends_with("; give the lane 2 threads with `wait` = \"polled\""),
        "{shown}"
    );
    let advice = Advice::for_schedule(&schedule).unwrap();
    assert_eq!(
        advice.changes,
        ["2 polled threads instead of 2 that block in the lane of priority 100 of pool `p`"]
    );
    assert_eq!(advice.schedule.pools[0].lanes[0].wait, Wait::Polled);
}

/// In the simulation, too, the slow activity occupies the only thread.
#[test]
fn the_scenario_has_the_only_thread_of_a_lane_by_deadline() {
    let lane = by_deadline("lanes = [{ priority = 100, threads = 1 }]");
    let scenario = schedule(&lane).to_scenario();
    assert_eq!(
        scenario.matches("{ lock = \"lane 100 of p\" }").count(),
        2,
        "{scenario}"
    );
    let scenario = schedule(&by_deadline("threads = 1")).to_scenario();
    assert_eq!(
        scenario.matches("{ lock = \"threads of p\" }").count(),
        2,
        "{scenario}"
    );
    let scenario = schedule(&by_deadline("threads = 2")).to_scenario();
    assert!(!scenario.contains("lock"), "{scenario}");
}

/// The servant of X waits 50 ms for another host. Y needs 1 ms, and may share the connection of X.
fn nested(pool: &str) -> String {
    format!(
        r#"
        hosts = ["server", "other"]
        [[pool]]
        name = "work"
        host = "server"
        {pool}
        [[pool]]
        name = "far"
        host = "other"
        [[activity]]
        name = "y"
        priority = 1000
        period = "200 ms"
        deadline = "20 ms"
        step = [{{ pool = "work", wcet = "1 ms" }}]
        [[activity]]
        name = "x"
        priority = 1000
        period = "200 ms"
        step = [{{ pool = "work", wcet = "1 ms", calls = [{{ pool = "far", wcet = "50 ms" }}] }}]
        "#
    )
}

#[test]
fn threads_that_block_do_not_share_a_connection() {
    let lane = |wait: &str| nested(&format!("lanes = [{{ priority = 1000, threads = 2{wait} }}]"));
    assert_eq!(worst(&lane(""))[0], Some(2), "a thread is left");
    let blocking = lane(", wait = \"blocking\"");
    let found = worst(&blocking)[0].unwrap();
    assert!((52..=60).contains(&found), "{found} ms");
    assert!(!schedule(&blocking).is_feasible());
    let advice = Advice::for_schedule(&schedule(&blocking)).unwrap();
    assert_eq!(
        advice.changes,
        ["2 polled threads instead of 2 that block in the lane of priority 1000 of pool `work`"]
    );
    let scenario = schedule(&blocking).to_scenario();
    assert!(
        scenario.contains("{ lock = \"lane 1000 of work\" }"),
        "{scenario}"
    );
    let without_lanes = nested("threads = 2\nwait = \"blocking\"\npriority = 1000");
    let found = worst(&without_lanes)[0].unwrap();
    assert!((52..=60).contains(&found), "{found} ms");
}

#[test]
fn threads_that_block_are_few_for_several_priorities() {
    let text = |wait: &str| {
        format!(
            r#"
            [[pool]]
            name = "work"
            threads = 4
            {wait}
            [[adapter]]
            name = "a"
            pool = "work"
            model = "client-propagated"
            priority = 10
            [[activity]]
            name = "low"
            priority = 10
            period = "1 s"
            step = [{{ adapter = "a", wcet = "1 ms" }}]
            [[activity]]
            name = "high"
            priority = 30000
            period = "1 s"
            step = [{{ adapter = "a", wcet = "1 ms" }}]
            "#
        )
    };
    assert_eq!(schedule(&text("")).refusals(), []);
    let refusals = schedule(&text("wait = \"blocking\"")).refusals();
    let [refusal @ Refusal::FewThreads { .. }] = &refusals[..] else {
        panic!("{refusals:?}");
    };
    let shown = refusal.to_string();
    assert!(
        shown.contains("with 4 threads that block, which serve"),
        "{shown}"
    );
}
