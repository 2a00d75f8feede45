//! Files for the simulator: what is read, and what is said of files that make no sense.

use std::{path::Path, time::Duration};

use punctual_sched::{
    dynamic::Time,
    simulator::{Arrival, Model, Protocol, Shedding, Simulation, Step, studies},
};
use punctual_scheduling::{Scenario, Schedule};

/// A file of the documentation.
fn documented(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulation");
    Scenario::read(folder.join(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// The benchmark runs the one, readers look at the other.
#[test]
fn figure_6_as_a_file_is_figure_6_as_code() {
    let scenario = documented("figure-6.toml");
    assert_eq!(
        scenario.model(),
        studies::figure_6(Duration::from_secs(1), Duration::from_millis(100))
    );
    assert_eq!(scenario.scheduler_name(1), "MIF");
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
    assert_eq!(model.shedding, Shedding::NonCritical);
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
    simulation.run_until(Time(0) + scenario.until.0, &mut ());
    let statistics = simulation.finish();
    assert!(
        statistics.tasks.iter().all(|task| task.arrived > 0),
        "{statistics:#?}"
    );
}

#[test]
fn hosts_of_a_group_call_the_next_one() {
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
fn parameters_default_to_what_the_task_says() {
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
steps = [{ compute = "1 ms" }, { call = "b", steps = [{ compute = "1 ms" }] }, { lock = "map" }, { unlock = "map" }]
"#;

/// What is changed, into what, and what is said: the place, and what would do.
#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    assert!(Scenario::parse("x.toml", GOOD).is_ok());
    let on_demand = "period = \"10 ms\"\n";
    let cases = [
        (
            "\"EDF\"",
            "\"FIFO\"",
            "x.toml:1:13: scheduler: no scheduler is named `FIFO`; there are FP, TP, MIF, RMS, EDF",
        ),
        (
            "until = \"1 s\"",
            "until = \"0 s\"",
            "x.toml:2:9: until: say how long",
        ),
        ("until = \"1 s\"\n", "", "missing field `until`"),
        (
            "\"1 s\"",
            "\"-1 s\"",
            "2:9: until: `-1 s` is no span of time; write a number and one of ns",
        ),
        ("\"1 s\"", "1", "such as \"10 ms\""),
        ("latency", "delay", "network.delay: unknown field `delay`"),
        (
            "latency = \"1 ms\"",
            "bytes_per_second = 0",
            "network.bytes_per_second: nothing would ever arrive",
        ),
        (
            "name = \"b\"",
            "name = \"a\"",
            "7:8: host[2].name: `a` is there twice",
        ),
        (
            "name = \"b\"",
            "name = \"\"",
            "host[2].name: a name must not be empty",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\nprocessors = 0",
            "host[2].processors: a host needs at least 1",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\ncount = 0",
            "host[2].count: between 1 and",
        ),
        (
            "name = \"b\"",
            "name = \"b\"\nscheduler = \"LIFO\"",
            "host[2].scheduler: no scheduler is named `LIFO`",
        ),
        (
            "name = \"a\"",
            "name = \"c\"\ncount = 2\n[[host]]\nname = \"c-1\"",
            "its host 1 would be `c-1`",
        ),
        (
            "host = \"a\"",
            "host = \"c\"",
            "12:8: task[1].host: no host is named `c`; there are `a`, `b`",
        ),
        (
            "call = \"b\"",
            "call = \"c\"",
            "task[1].steps[2].call: no host is named `c`",
        ),
        (
            "lock = \"map\"",
            "lock = \"mop\"",
            "task[1].steps[3].lock: no resource is named `mop`; there is `map`",
        ),
        (
            "{ lock = \"map\" }, ",
            "",
            "steps[3].unlock: `map` was not locked before it",
        ),
        (
            "{ lock = \"map\" }",
            "{ end = true }",
            "steps[3].end: no segment was begun before it",
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
            "steps[3].shift: `shift` goes with `call`",
        ),
        (
            "{ lock = \"map\" }",
            "{ oneway = \"t\", reply_bytes = 1 }",
            "`reply_bytes` goes with `call` and `async`",
        ),
        (
            "{ lock = \"map\" }",
            "{ oneway = \"u\" }",
            "steps[3].oneway: no task is named `u`; there is `t`",
        ),
        (
            "{ lock = \"map\" }",
            "{ spawn = \"t\" }",
            "steps[3].spawn: `t` arrives by itself; drop its",
        ),
        (
            "{ lock = \"map\" }",
            "{ cancel = \"u\" }",
            "steps[3].cancel: no task is named `u`",
        ),
        (
            "{ lock = \"map\" }",
            "{ compute = \"1 ms\", least = 2.0 }",
            "least: between 2 and 1 times",
        ),
        ("{ lock = \"map\" }", "{ wait = true }", "unknown field `wait`"),
        (on_demand, "", "task[1]: nothing starts it"),
        (
            on_demand,
            "period = \"0 ms\"\n",
            "task[1].period: threads would arrive without end",
        ),
        (
            on_demand,
            "mean = \"0 ms\"\n",
            "task[1].mean: threads would arrive without end",
        ),
        (
            on_demand,
            "between = [\"5 ms\", \"1 ms\"]\n",
            "task[1].between: 5 ms is longer than 1 ms",
        ),
        (on_demand, "between = [\"5 ms\"]\n", "13:11: invalid length 1"),
        (
            on_demand,
            "period = \"1 ms\"\nstart = \"1 ms\"\n",
            "task[1]: say when it arrives with one of",
        ),
        (
            on_demand,
            "start = \"1 ms\"\njitter = \"1 ms\"\n",
            "task[1].jitter: jitter goes with `period`",
        ),
        (
            on_demand,
            "start = \"1 ms\"\noffset = \"1 ms\"\n",
            "task[1].offset: an offset goes with",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nthreads = 0\n",
            "task[1].threads: between 1 per host",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nparameters = { priority = 40000 }\n",
            "40000 is no CORBA priority",
        ),
        (
            on_demand,
            "period = \"1 ms\"\nparameters = { urgency = 4 }\n",
            "unknown field `urgency`",
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
            "resource[1].ceiling: without protocol",
        ),
        (
            "[[resource]]",
            "[[link]]\nfrom = \"a\"\nto = \"z\"\n[[resource]]",
            "link[1].to: no host is named `z`",
        ),
        (
            "[[resource]]",
            "[[cancel]]\ntask = \"z\"\nat = \"1 s\"\n[[resource]]",
            "cancel[1].task: no task is named `z`",
        ),
        ("[[task]]", "[[task]", "expected"),
    ];
    for (what, instead, expected) in cases {
        assert!(GOOD.contains(what), "{what}");
        let error = Scenario::parse("x.toml", &GOOD.replacen(what, instead, 1)).expect_err(instead);
        let said = error.to_string();
        assert!(
            said.contains(expected),
            "{instead:?}: {said:?} does not say {expected:?}"
        );
        assert!(said.starts_with("x.toml:"), "{said}");
    }
}

#[test]
fn threads_that_start_each_other_without_end_are_named() {
    let task = |name: &str, starts: &str| {
        format!("[[task]]\nname = \"{name}\"\nhost = \"a\"\nsteps = [{{ spawn = \"{starts}\" }}]\n")
    };
    let text = format!("{GOOD}{}{}", task("ping", "pong"), task("pong", "ping"));
    let said = Scenario::parse("x.toml", &text).unwrap_err().to_string();
    assert!(
        said.starts_with("x.toml:15:1: task[2]: task `ping` starts itself"),
        "{said}"
    );
}

#[test]
fn empty_files_say_what_to_begin_with() {
    let said = |text: &str| Scenario::parse("x.toml", text).unwrap_err().to_string();
    let head = "scheduler = \"EDF\"\nuntil = \"1 s\"\n";
    assert!(said("").contains("missing field `scheduler`"));
    assert!(said(head).contains("there is no host; write [[host]]"));
    assert!(said(&format!("{head}[[host]]\nname = \"a\"\n")).contains("there is no task; write [[task]]"));
}

/// One is not taken for the other.
#[test]
fn schedules_are_no_scenarios() {
    let radar = include_str!("../radar.toml");
    assert!(Schedule::parse("radar.toml", radar).is_ok());
    assert!(Scenario::parse("radar.toml", radar).is_err());
    assert!(Schedule::parse("x.toml", GOOD).is_err());
}
