//! Schedule files: reading, writing, and the errors of invalid ones.

use punctual_scheduling::{Advice, FileError, Host, Model, Schedule, Wait};

const COMPLETE: &str = include_str!("../../radar.toml");

fn error(text: &str) -> String {
    Schedule::parse("f.toml", text).unwrap_err().to_string()
}

#[test]
fn the_complete_example_is_feasible_and_can_be_written() {
    let schedule = Schedule::parse("radar.toml", COMPLETE).unwrap();
    assert!(schedule.is_feasible());
    assert_eq!(
        Advice::for_schedule(&schedule),
        None,
        "a feasible schedule needs no change"
    );
    let again = Schedule::parse("again.toml", &schedule.to_toml()).unwrap();
    assert_eq!(again, schedule);
}

#[test]
fn an_empty_file_is_an_empty_schedule() {
    let schedule = Schedule::parse("f.toml", "").unwrap();
    assert_eq!(schedule.hosts, [Host::new("localhost")]);
    assert!(Model::of(&schedule).tasks.is_empty());
    assert_eq!(Schedule::parse("f.toml", &schedule.to_toml()).unwrap(), schedule);
}

#[test]
fn the_error_of_a_missing_file_names_it() {
    let error = Schedule::read("no/such/file.toml").unwrap_err();
    assert!(matches!(error, FileError::Read { .. }));
    assert!(
        error.to_string().starts_with("cannot read no/such/file.toml: "),
        "{error}"
    );
}

/// Each case: a line of the complete example, its replacement, the key and the advice in the error.
#[test]
fn errors_name_position_key_and_a_valid_value() {
    let table: &[(&str, &str, &str, &str)] = &[
        (
            "hosts = [\"console\", \"radar\"]",
            "hosts = []",
            "hosts: ",
            "at least one host",
        ),
        (
            "hosts = [\"console\", \"radar\"]",
            "hosts = [\"radar\", \"radar\"]",
            "hosts[2]: ",
            "duplicate name",
        ),
        (
            "mapping = \"linear\"",
            "mapping = \"log\"",
            "mapping: ",
            "use `linear`, `direct` or `continuous`",
        ),
        (
            "limits = { max_connections = 256, connection_idle = \"10 min\" }",
            "limits = { max_connections = 256, connection_idle = 10 }",
            "orb[1].limits.connection_idle: ",
            "expected a time span with its unit",
        ),
        (
            "limits = { max_connections = 256, connection_idle = \"10 min\" }",
            "limits = { max_conections = 256 }",
            "orb[1].limits.max_conections: ",
            "unknown key `max_conections`; did you mean `max_connections`?",
        ),
        (
            "listen = [\"iiop://127.0.0.1:0\"]",
            "listen = [\"iiop://127.0.0.1:471110\"]",
            "orb[1].listen[1]: ",
            "port 471110 is above 65535",
        ),
        (
            "listen = [\"iiop://127.0.0.1:0\"]",
            "listen = [\"http://127.0.0.1:0\"]",
            "orb[1].listen[1]: ",
            "did you mean `iiop://127.0.0.1:0`?",
        ),
        (
            "listen = [\"iiop://127.0.0.1:0\"]",
            "listen = [\"iiop://127.0.0.1:x\"]",
            "orb[1].listen[1]: ",
            "`x` in `iiop://127.0.0.1:x` is not a port",
        ),
        (
            "listen = [\"iiop://127.0.0.1:0\"]",
            "listen = [\"iiop://127.0.0.1:4711\", \"iiop://127.0.0.1:4711\"]",
            "orb[1].listen[2]: ",
            "the ORB of this host already listens at `iiop://127.0.0.1:4711`",
        ),
        (
            "initial_references = { NameService = \"corbaloc::192.0.2.1:2809/NameService\" }",
            "initial_references = { Log = \"iiop://192.0.2.1:2809/Log\" }",
            "orb[1].initial_references: ",
            "did you mean `corbaloc::192.0.2.1:2809/Log`?",
        ),
        (
            "initial_references = { NameService = \"corbaloc::192.0.2.1:2809/NameService\" }",
            "initial_references = { Log = \"iop://log\" }",
            "orb[1].initial_references: ",
            "`Log`: `iop://log` is not an object reference; use `corbaloc:",
        ),
        (
            "initial_references = { NameService = \"corbaloc::192.0.2.1:2809/NameService\" }",
            "initial_references = { Log = \"corbaloc::log:99999/Log\" }",
            "orb[1].initial_references: ",
            "`99999` is not a port",
        ),
        (
            "default_initial_reference = \"corbaloc::192.0.2.1:2809\"",
            "default_initial_reference = \"iiop://192.0.2.1:2809\"",
            "orb[1].default_initial_reference: ",
            "did you mean `corbaloc::192.0.2.1:2809/NAME`?",
        ),
        (
            "call_timeout = \"2 s\"",
            "call_timeout = \"0 s\"",
            "orb[1].call_timeout: ",
            "no call would end in time; write a longer one",
        ),
        (
            "limits = { max_connections = 256, connection_idle = \"10 min\" }",
            "limits = { resolve_timeout = \"0 s\" }",
            "orb[1].limits.resolve_timeout: ",
            "no call would end in time",
        ),
        (
            "[[orb]]\nhost = \"radar\"",
            "[[orb]]",
            "orb[1]: ",
            "`host` is missing; known: `console`, `radar`",
        ),
        (
            "[[orb]]\nhost = \"radar\"",
            "[[orb]]\nhost = \"radar\"\n[[orb]]\nhost = \"radar\"",
            "orb[2]: ",
            "another `[[orb]]` is for the same host",
        ),
        (
            "mapping = \"linear\"",
            "maping = \"linear\"",
            "maping: ",
            "unknown key `maping`; did you mean `mapping`?",
        ),
        (
            "mapping = \"linear\"",
            "mapping = \"direct\"",
            "pool[1].lanes[1].priority: ",
            "has no native priority (1 to 99)",
        ),
        (
            "name = \"archive\"",
            "name = \"tracks\"",
            "pool[2].name: ",
            "duplicate name `tracks`",
        ),
        (
            "name = \"archive\"",
            "name = \"\"",
            "pool[2].name: ",
            "must not be empty",
        ),
        (
            "threads = 2",
            "threads = 0",
            "pool[2].threads: ",
            "at least 1 thread",
        ),
        (
            "threads = 2",
            "threads = -2",
            "pool[2].threads: ",
            "expected an integer from 0",
        ),
        (
            "threads = 2",
            "lanes = [{ priority = 1, threads = 1 }]",
            "pool[2].priority: ",
            "remove this or `lanes`",
        ),
        (
            "priority = 100",
            "priority = 100\nlanes = [{ priority = 1, threads = 1 }]",
            "pool[2].threads: ",
            "remove this",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 32767, threads = 1 }",
            "pool[1].lanes[2].priority: ",
            "each lane needs its own priority",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 10922, threads = 0 }",
            "pool[1].lanes[1].threads: ",
            "at least 1 thread",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 10922 }",
            "pool[1].lanes[1]: ",
            "missing key `threads`",
        ),
        (
            "priority = 100",
            "priority = 32768",
            "pool[2].priority: ",
            "use 0 (lowest) to 32767 (highest)",
        ),
        (
            "priority = 100",
            "priority = -1",
            "pool[2].priority: ",
            "use 0 (lowest) to 32767 (highest)",
        ),
        (
            "host = \"radar\"\nthreads",
            "threads",
            "pool[2]: ",
            "`host` is missing; known: `console`, `radar`",
        ),
        (
            "host = \"radar\"\nthreads",
            "host = \"rader\"\nthreads",
            "pool[2].host: ",
            "`hosts` has `console`, `radar`",
        ),
        (
            "pool = \"tracks\"\nmodel = \"client",
            "pool = \"track\"\nmodel = \"client",
            "adapter[1].pool: ",
            "known: `tracks`, `archive`",
        ),
        (
            "model = \"client-propagated\"",
            "model = \"client\"",
            "adapter[1].model: ",
            "`client-propagated`",
        ),
        (
            "priority = 10922\n\n# An object",
            "priority = 5\n\n# An object",
            "adapter[2].priority: ",
            "its lanes have priorities 10922, 32767",
        ),
        (
            "adapter = \"alarms\"",
            "adapter = \"alarm\"",
            "object[1].adapter: ",
            "known: `tracks`, `alarms`",
        ),
        (
            "adapter = \"alarms\"",
            "adapter = \"tracks\"",
            "object[1].adapter: ",
            "\"server-declared\"",
        ),
        (
            "priority = 32767\n\n# An activity",
            "priority = 1\n\n# An activity",
            "object[1].priority: ",
            "no lane of priority 1",
        ),
        (
            "period = \"10 ms\"",
            "period = \"10\"",
            "activity[1].period: ",
            "such as \"10 ms\"",
        ),
        (
            "period = \"10 ms\"",
            "period = 10",
            "activity[1].period: ",
            "a time span with its unit",
        ),
        (
            "period = \"10 ms\"",
            "period = \"0 ms\"",
            "activity[1].period: ",
            "longer than 0",
        ),
        ("period = \"10 ms\"", "", "activity[1]: ", "`period` is missing"),
        (
            "priority = 0\n",
            "priority = 0\nperiod = \"1 s\"\n",
            "activity[3]: ",
            "`step` is missing",
        ),
        (
            "{ host = \"console\", wcet = \"500 us\" }",
            "{ wcet = \"500 us\" }",
            "activity[1].step[1]: ",
            "exactly one of",
        ),
        (
            "{ host = \"console\", wcet = \"500 us\" }",
            "{ host = \"radar\", pool = \"tracks\", wcet = \"5 us\" }",
            "activity[1].step[1]: ",
            "exactly one of",
        ),
        (
            "{ host = \"console\", wcet = \"500 us\" }",
            "{ host = \"konsole\", wcet = \"5 us\" }",
            "activity[1].step[1].host: ",
            "`hosts` has",
        ),
        (
            "{ adapter = \"tracks\", wcet = \"5 ms\"",
            "{ pool = \"trakcs\", wcet = \"5 ms\"",
            "activity[2].step[2].pool: ",
            "known: `tracks`, `archive`",
        ),
        (
            "{ adapter = \"tracks\", wcet = \"5 ms\"",
            "{ adapter = \"trakcs\", wcet = \"5 ms\"",
            "activity[2].step[2].adapter: ",
            "known: `tracks`, `alarms`",
        ),
        (
            "{ pool = \"archive\", wcet",
            "{ host = \"radar\", wcet",
            "activity[2].step[2].calls[1].host: ",
            "`wcet` or `after`",
        ),
        (
            "{ pool = \"archive\", wcet",
            "{ pool = \"archives\", wcet",
            "activity[2].step[2].calls[1].pool: ",
            "known: `tracks`, `archive`",
        ),
        (
            "{ object = \"siren\", wcet = \"100 us\"",
            "{ object = \"siren\", after = { wcet = \"1 us\" }, wcet = \"100 us\"",
            "activity[2].step[3].after: ",
            "only for a step with `calls`",
        ),
        (
            "{ object = \"siren\"",
            "{ object = \"sirene\"",
            "activity[2].step[3].object: ",
            "known: `siren`",
        ),
        (
            "{ host = \"console\", wcet = \"500 us\" }",
            "{ host = \"console\" }",
            "activity[1].step[1]: ",
            "missing key `wcet`",
        ),
        (
            "dynamic_threads = 2",
            "dynamic_threads = 65537",
            "pool[2].dynamic_threads: ",
            "the limit of 65536",
        ),
        (
            "dynamic_threads = 2",
            "",
            "pool[2].dynamic_idle_timeout: ",
            "requires `dynamic_threads`",
        ),
        (
            "dynamic_idle_timeout = \"10 s\"",
            "dynamic_idle_timeout = \"0 s\"",
            "pool[2].dynamic_idle_timeout: ",
            "longer than 0",
        ),
        (
            "dynamic_idle_timeout = \"10 s\"",
            "dynamic_idle_timeout = 10",
            "pool[2].dynamic_idle_timeout: ",
            "a time span with its unit",
        ),
        (
            "dynamic_idle_timeout = \"10 s\"",
            "dynamic_idle_timeout = \"10 s\"\ndynamic_run_time = \"1 min\"",
            "pool[2].dynamic_run_time: ",
            "incompatible with `dynamic_idle_timeout`",
        ),
        (
            "wait = \"polled\"",
            "wait = \"blocking\"",
            "pool[2].dynamic_threads: ",
            "incompatible with `wait`",
        ),
        (
            "wait = \"polled\"",
            "wait = \"block\"",
            "pool[2].wait: ",
            "`polled` or `blocking`",
        ),
        (
            "stack_bytes = 524288",
            "stack_bytes = -1",
            "pool[2].stack_bytes: ",
            "expected an integer from 0",
        ),
        (
            "stack_bytes = 524288",
            "stack_byte = 524288",
            "pool[2].stack_byte: ",
            "`stack_bytes`",
        ),
        ("cpus = [0]", "cpus = []", "pool[2].cpus: ", "at least one CPU"),
        (
            "cpus = [0]",
            "cpus = [0, 1024]",
            "pool[2].cpus: ",
            "numbers are from 0 to 1023",
        ),
        (
            "class = \"fifo\"",
            "class = \"FIFO\"",
            "orb[1].class: ",
            "`fifo`, `round-robin`, `ordinary`",
        ),
        (
            "requests = 64",
            "requests = 0",
            "pool[2].request_buffering.requests: ",
            "at least 1 request",
        ),
        (
            "octets = 262144",
            "octets = 0",
            "pool[2].request_buffering.octets: ",
            "at least 1 octet",
        ),
        (
            "octets = 262144",
            "bytes = 262144",
            "pool[2].request_buffering.bytes: ",
            "expected `requests` or `octets`",
        ),
        (
            "\"drop-by-waiting-time\"\n",
            "\"drop\"\n",
            "pool[2].expired_requests: ",
            "`serve`, `drop-by-waiting-time`",
        ),
        (
            "threads = 2\npriority",
            "threads = 2\nallow_borrowing = true\npriority",
            "pool[2].allow_borrowing: ",
            "requires at least 2 lanes",
        ),
        (
            "allow_borrowing = true",
            "wait = \"blocking\"",
            "pool[1].wait: ",
            "move it to the lanes",
        ),
        (
            "allow_borrowing = true",
            "dynamic_threads = 1",
            "pool[1].dynamic_threads: ",
            "move it to the lanes",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 10922, threads = 1, wait = \"blocking\" }",
            "pool[1].lanes[1].wait: ",
            "`allow_borrowing`",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 10922, threads = 1, cpus = [] }",
            "pool[1].lanes[1].cpus: ",
            "at least one CPU",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 10922, threads = 1, dynamic_run_time = \"1 s\" }",
            "pool[1].lanes[1].dynamic_run_time: ",
            "`dynamic_threads`",
        ),
        (
            "{ priority = 10922, threads = 1 }",
            "{ priority = 10922, threads = 1, stack = 5 }",
            "pool[1].lanes[1].stack: ",
            "unknown key `stack`",
        ),
        (
            "sockets = { incoming_cpu = 0,",
            "sockets = { incoming_cpu = 1024,",
            "pool[1].lanes[2].sockets.incoming_cpu: ",
            "numbers are from 0 to 1023",
        ),
        (
            "sockets = { incoming_cpu = 0,",
            "sockets = { busy_poll = \"50 us\",",
            "pool[1].lanes[2].sockets.busy_poll: ",
            "requires `wait` = \"blocking\"",
        ),
        (
            "allow_borrowing = true",
            "[[pool]]\nname = \"polls\"\nhost = \"radar\"\nlanes = [{ priority = 5, threads = 1, \
             wait = \"blocking\", sockets = { busy_poll = \"900 ns\" } }]",
            "pool[2].lanes[1].sockets.busy_poll: ",
            "1 us or more",
        ),
        (
            "sockets = { incoming_cpu = 0,",
            "sockets = { dscp = 0,",
            "pool[1].lanes[2].sockets.dscp: ",
            "expected one of `busy_poll`, `incoming_cpu`, `priority`",
        ),
        (
            "allow_borrowing = true",
            "[[pool]]\nname = \"polls\"\nhost = \"radar\"\nlisten = [\"iiop://127.0.0.1:65534\"]\n\
             lanes = [{ priority = 5, threads = 1 }, { priority = 6, threads = 1 }, \
             { priority = 7, threads = 1 }]",
            "pool[2].listen[1]: ",
            "3 lanes at the ports from 65534 on end at 65536, above 65535",
        ),
        (
            "mapping = \"linear\"",
            "mapping = \"linear",
            "",
            "invalid basic string",
        ),
    ];
    let mut wrong = Vec::new();
    for (line, instead, key, valid) in table {
        assert!(COMPLETE.contains(line), "{line}");
        let text = COMPLETE.replacen(line, instead, 1);
        let error = error(&text);
        let (position, rest) = error.split_once(": ").unwrap();
        let numbers: Vec<usize> = position
            .split(':')
            .skip(1)
            .map(|number| number.parse().unwrap())
            .collect();
        let changed = COMPLETE[..COMPLETE.find(line).unwrap()].matches('\n').count() + 1;
        // A list's or table's own line may be above or below the changed one.
        let is_near = numbers[0].abs_diff(changed) <= 20 && numbers[1] > 0;
        if !is_near || !rest.starts_with(key) || !error.contains(valid) {
            wrong.push(format!(
                "{instead}: expected {key}..{valid} near line {changed}, got {error}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_setting_of_lanes_and_pools_is_written() {
    let text = r#"
        [[pool]]
        name = "all"
        stack_bytes = 0
        cpus = [0, 3]
        class = "ordinary"
        expired_requests = "drop-by-clock"
        request_buffering = { requests = 5 }
        lanes = [
            { priority = 1, threads = 1, dynamic_threads = 2, dynamic_run_time = "1 min", stack_bytes = 64 },
            { priority = 2, threads = 3, cpus = [1], class = "round-robin", sockets = { priority = 3 } },
        ]
        [[pool]]
        name = "blocking"
        wait = "blocking"
    "#;
    let schedule = Schedule::parse("f.toml", text).unwrap();
    let [all, blocking] = &schedule.pools[..] else {
        panic!("two pools")
    };
    let queue = all.request_buffering.unwrap();
    assert_eq!((queue.requests, queue.octets), (5, 1 << 20));
    assert_eq!(all.lanes[0].dynamic_run_time, Some("1 min".parse().unwrap()));
    assert_eq!(blocking.wait, Wait::Blocking);
    assert_eq!(all.lanes[1].sockets.priority, Some(3));
    let written = schedule.to_toml();
    assert_eq!(Schedule::parse("again.toml", &written).unwrap(), schedule);
    assert!(
        !written.contains("allow_borrowing"),
        "defaults are not written: {written}"
    );
}

#[test]
fn ordinary_lanes_are_refused_only_if_deadlines_depend_on_them() {
    let text = |called: i16| {
        format!(
            r#"
            [[pool]]
            name = "mixed"
            lanes = [{{ priority = 1, threads = 1, class = "ordinary" }}, {{ priority = 2, threads = 1 }}]
            [[activity]]
            name = "a"
            priority = {called}
            period = "1 s"
            step = [{{ pool = "mixed", wcet = "1 ms" }}]
            "#
        )
    };
    assert!(Schedule::parse("f.toml", &text(2)).is_ok());
    assert!(
        error(&text(1))
            .contains("activity[1].step[1]: pool `mixed` serves it with threads of class \"ordinary\"")
    );
}

#[test]
fn the_position_is_that_of_the_value() {
    let error = error(
        "[[activity]]\nname = \"a\"\npriority = 1\nperiod = \"1 ms\"\n\
         step = [\n  { host = \"x\", wcet = \"1 us\" },\n]\n",
    );
    assert!(
        error.starts_with("f.toml:6:12: activity[1].step[1].host: "),
        "{error}"
    );
}
