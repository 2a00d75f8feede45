//! Scenario files: reading, and the errors of invalid ones.

#[path = "scenarios/bounds.rs"]
mod bounds;
#[path = "scenarios/task_sets.rs"]
mod task_sets;

use std::{path::Path, time::Duration};

use punctual_sched::{
    dynamic::{SheddingPolicy, Time},
    simulator::{Arrival, Model, Protocol, Simulation, Step},
};
use punctual_scheduling::Schedule;
use punctual_simulation::Scenario;

/// Reads a file of the documentation.
fn documented(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulation");
    Scenario::read(folder.join(name)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_fleet_has_a_thousand_hosts_and_a_hundred_thousand_threads() {
    let model = documented("fleet.toml").model();
    assert_eq!(model.hosts.len(), 1_000);
    assert_eq!(
        model.tasks.iter().map(|task| task.hosts.len()).sum::<usize>(),
        100_000
    );
}

#[test]
fn every_key_is_read() {
    let scenario = documented("complete.toml");
    let model = scenario.model();
    let shedding = SheddingPolicy::before_dispatch().sparing_critical();
    assert!(model.hosts.iter().all(|host| host.shedding == shedding));
    let names: Vec<_> = model.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["console", "radar-1", "radar-2"]);
    assert_eq!(model.links.len(), 2);
    assert!(matches!(model.resources[1].protocol, Protocol::Ceiling(_)));
    assert_eq!(
        (scenario.scheduler_name(0), scenario.scheduler_name(2)),
        ("MUF", "EDF")
    );
    let kinds = |task: usize, wanted: fn(&Step) -> bool| model.tasks[task].steps.iter().any(wanted);
    assert!(kinds(0, |step| matches!(step, Step::Async(_))) && kinds(0, |step| *step == Step::Await));
    assert!(
        model
            .tasks
            .iter()
            .any(|task| matches!(task.arrival, Arrival::Sporadic { .. }))
    );
    let mut simulation = Simulation::new(&model, 1, |host| scenario.scheduler_of(host, None)).unwrap();
    simulation.run_until(Time(0) + scenario.until.0, &mut ()).unwrap();
    let statistics = simulation.finish();
    assert!(
        statistics.tasks.iter().all(|task| task.arrived > 0),
        "{statistics:#?}"
    );
}

#[test]
fn each_host_of_a_group_calls_the_next_one() {
    let text = r#"
        scheduler = "EDF"
        until = "1 s"
        [[host]]
        name = "node"
        count = 3
        [[host]]
        name = "store"
        count = 2
        [[task]]
        name = "t"
        host = "node"
        threads = 2
        start = "0 s"
        steps = [
          { call = "node", steps = [{ compute = "1 ms" }] },
          { call = "node", shift = 2 },
          { call = "store" },
          { call = "node-3" },
        ]
    "#;
    let model = Scenario::parse("t.toml", text).unwrap().model();
    let task = &model.tasks[0];
    assert_eq!(task.hosts, [0, 1, 2, 0, 1, 2]);
    let called: Vec<_> = task
        .steps
        .iter()
        .map(|step| match step {
            Step::Call(call) => call.hosts.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(called, [vec![1, 2, 0], vec![2, 0, 1], vec![3, 4], vec![2]]);
}

#[test]
fn parameters_default_to_those_of_the_task() {
    let text = r#"
        scheduler = "RMS"
        until = "1 s"
        [[host]]
        name = "h"
        [[task]]
        name = "t"
        host = "h"
        period = "10 ms"
        parameters = { deadline = "8 ms" }
        steps = [{ compute = "1 ms" }, { call = "h", steps = [{ compute = "2 ms" }] }]
    "#;
    let model: Model = Scenario::parse("t.toml", text).unwrap().model();
    let parameters = model.tasks[0].parameters.unwrap();
    assert_eq!(parameters.period, Duration::from_millis(10));
    assert_eq!(parameters.execution_time, Duration::from_millis(3));
    assert_eq!(parameters.deadline, Some(Duration::from_millis(8)));
}

const GOOD: &str = r#"scheduler = "EDF"
until = "1 s"
network = { latency = "1 ms" }
[[host]]
name = "a"
[[host]]
name = "b"
[[resource]]
name = "map"
[[task]]
name = "t"
host = "a"
period = "10 ms"
steps = [{ compute = "1 ms" }, { call = "b", steps = [{ compute = "1 ms" }] },
  { lock = "map" }, { unlock = "map" }]
"#;

/// Each case: text, replacement, expected error.
#[test]
fn errors_name_position_key_and_a_valid_value() {
    assert!(Scenario::parse("x.toml", GOOD).is_ok());
    let on_demand = "period = \"10 ms\"\n";
    let cases = [
        (
            "\"EDF\"",
            "\"FIFO\"",
            "x.toml:1:13: scheduler: unknown scheduler `FIFO`; known: FP, TP, MIF, RMS, EDF",
        ),
        (
            "until = \"1 s\"",
            "until = \"0 s\"",
            "x.toml:2:9: until: must be longer than 0",
        ),
        ("until = \"1 s\"\n", "", "missing key `until`"),
        (
            "\"1 s\"",
            "\"-1 s\"",
            "2:9: until: invalid time span `-1 s`; write a number and one of ns",
        ),
        ("\"1 s\"", "1", "such as \"10 ms\""),
        ("latency", "delay", "network.delay: unknown key `delay`"),
        (
            "latency = \"1 ms\"",
            "bytes_per_second = 0",
            "network.bytes_per_second: must be greater than 0",
        ),
        (
            "name = \"b\"",
            "name = \"a\"",
            "7:8: host[2].name: duplicate name `a`",
        ),
        (
            "name = \"b\"",
            "name = \"\"",
            "host[2].name: a name must not be empty",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\nprocessors = 0",
            "host[2].processors: at least 1",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\nprocessors = 9223372036854775807",
            "host[2].processors: 9223372036854775808 processors up to here; at most 100000 in total",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\ncount = 9999\nprocessors = 1000000000",
            "host[2].processors: 9999000000001 processors up to here; at most 100000 in total",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\ncount = 9223372036854775807",
            "at most 100000 in total; 9223372036854775808 hosts up to here",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\ncount = 90000\n[[link]]\nfrom = \"b\"\nto = \"b\"",
            "link[1]: 8100000000 pairs of hosts up to here; at most 1000000",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\ncount = 0",
            "host[2].count: must be at least 1",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\nscheduler = \"LIFO\"",
            "host[2].scheduler: unknown scheduler `LIFO`",
        ),
        (
            "name = \"a\"",
            "name = \"c\"\ncount = 2\n[[host]]\nname = \"c-1\"",
            "duplicate name `c-1`: that of its host 1",
        ),
        (
            "host = \"a\"",
            "host = \"c\"",
            "12:8: task[1].host: unknown host `c`; known: `a`, `b`",
        ),
        (
            "call = \"b\"",
            "call = \"c\"",
            "task[1].steps[2].call: unknown host `c`",
        ),
        (
            "lock = \"map\"",
            "lock = \"mop\"",
            "task[1].steps[3].lock: unknown resource `mop`; known: `map`",
        ),
        (
            "{ lock = \"map\" }, ",
            "",
            "steps[3].unlock: `map` is not locked before it",
        ),
        (
            "{ lock = \"map\" }",
            "{ end = true }",
            "steps[3].end: no segment begins before it",
        ),
        (
            "{ lock = \"map\" }",
            "{ sleep = \"1 ms\", spawn = \"t\" }",
            "steps[3]: a step is exactly one of",
        ),
        ("{ lock = \"map\" }", "{ await = false }", "await: write true"),
        (
            "{ lock = \"map\" }",
            "{ lock = \"map\", shift = 1 }",
            "steps[3].shift: requires `call`",
        ),
        (
            "{ lock = \"map\" }",
            "{ oneway = \"t\", reply_bytes = 1 }",
            "reply_bytes: requires `call` or `async`",
        ),
        (
            "{ lock = \"map\" }",
            "{ oneway = \"u\" }",
            "steps[3].oneway: unknown task `u`; known: `t`",
        ),
        (
            "{ lock = \"map\" }",
            "{ spawn = \"t\" }",
            "steps[3].spawn: `t` has its own arrivals; remove its",
        ),
        (
            "{ lock = \"map\" }",
            "{ cancel = \"u\" }",
            "steps[3].cancel: unknown task `u`",
        ),
        (
            "{ lock = \"map\" }",
            "{ compute = \"1 ms\", least = 2.0 }",
            "least: invalid factors 2 and 1",
        ),
        ("{ lock = \"map\" }", "{ wait = true }", "unknown key `wait`"),
        (on_demand, "", "task[1]: nothing starts it"),
        (
            on_demand,
            "period = \"0 ms\"\n",
            "task[1].period: must be longer than 0",
        ),
        (
            on_demand,
            "mean = \"0 ms\"\n",
            "task[1].mean: must be longer than 0",
        ),
        (
            on_demand,
            "between = [\"5 ms\", \"1 ms\"]\n",
            "task[1].between: 5 ms is longer than 1 ms",
        ),
        (
            on_demand,
            "between = [\"5 ms\"]\n",
            "13:11: task[1].between: invalid length 1",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nstart = \"1 ms\"\n",
            "task[1]: state its arrivals with only one of",
        ),
        (
            on_demand,
            "start = \"1 ms\"\njitter = \"1 ms\"\n",
            "task[1].jitter: requires `period`",
        ),
        (
            on_demand,
            "start = \"1 ms\"\noffset = \"1 ms\"\n",
            "task[1].offset: requires",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nthreads = 0\n",
            "task[1].threads: must be at least 1",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nthreads = 1000001\n",
            "at most 1000000 on all hosts and of all tasks; 1000001 up to here",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nparameters = { priority = 40000 }\n",
            "40000 is not a CORBA priority",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nparameters = { urgency = 4 }\n",
            "unknown key `urgency`",
        ),
        (
            on_demand,
            "period = \"1 ms\"\noverrun = \"drop\"\n",
            "unknown variant `drop`, expected `queue` or `skip`",
        ),
        (
            "name = \"map\"",
            "name = \"map\"\nprotocol = \"ceiling\"",
            "resource[1]: `ceiling` is missing",
        ),
        (
            "name = \"map\"",
            "name = \"map\"\nceiling = { priority = 1 }",
            "resource[1].ceiling: requires protocol",
        ),
        (
            "[[resource]]",
            "[[link]]\nfrom = \"a\"\nto = \"z\"\n[[resource]]",
            "link[1].to: unknown host `z`",
        ),
        (
            "[[resource]]",
            "[[cancel]]\ntask = \"z\"\nat = \"1 s\"\n[[resource]]",
            "cancel[1].task: unknown task `z`",
        ),
        ("[[task]]", "[[task]", "expected"),
    ];
    for (what, instead, expected) in cases {
        assert!(GOOD.contains(what), "{what}");
        let error = Scenario::parse("x.toml", &GOOD.replacen(what, instead, 1)).expect_err(instead);
        let error = error.to_string();
        assert!(
            error.contains(expected),
            "{instead:?}: {error:?}, expected {expected:?}"
        );
        assert!(error.starts_with("x.toml:"), "{error}");
    }
}

#[test]
fn tasks_that_start_each_other_endlessly_are_refused() {
    let task = |name: &str, starts: &str| {
        format!("[[task]]\nname = \"{name}\"\nhost = \"a\"\nsteps = [{{ spawn = \"{starts}\" }}]\n")
    };
    let text = format!("{GOOD}{}{}", task("ping", "pong"), task("pong", "ping"));
    let error = Scenario::parse("x.toml", &text).unwrap_err().to_string();
    assert!(
        error.starts_with("x.toml:16:1: task[2]: task `ping` starts itself"),
        "{error}"
    );
}

#[test]
fn the_error_of_an_incomplete_file_names_the_next_table() {
    let error = |text: &str| Scenario::parse("x.toml", text).unwrap_err().to_string();
    let head = "scheduler = \"EDF\"\nuntil = \"1 s\"\n";
    assert!(error("").contains("missing key `scheduler`"));
    assert!(error(head).contains("no host; add [[host]]"));
    assert!(error(&format!("{head}[[host]]\nname = \"a\"\n")).contains("no task; add [[task]]"));
}

#[test]
fn a_schedule_is_not_a_scenario_and_vice_versa() {
    let radar = include_str!("../../scheduling/radar.toml");
    assert!(Schedule::parse("radar.toml", radar).is_ok());
    assert!(Scenario::parse("radar.toml", radar).is_err());
    assert!(Schedule::parse("x.toml", GOOD).is_err());
}
