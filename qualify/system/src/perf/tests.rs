//! Counters of this thread and of a child process.

use super::*;
use punctual_fixtures::{Missing, skip, skip_error};
use punctual_os::ThreadSpec;

/// Returns the counter, or `None` with a recorded skip if the machine or the rights do not permit it.
fn open_or_skip(open: Result<Counter, PerfError>) -> Option<Counter> {
    match open {
        Ok(counter) => Some(counter),
        Err(error @ PerfError::NoSuchTask(_)) => panic!("{error}"),
        Err(error) => {
            skip_error(&error);
            None
        }
    }
}

/// Drops the capabilities of the calling thread.
fn drop_capabilities() {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets).unwrap();
}

fn make_system_calls(number: u64) {
    (0..number).for_each(|_| {
        let _ = rustix::process::getppid();
    });
}

#[test]
fn system_calls_are_counted_exactly() {
    let me = TaskId::current_thread();
    let Some(counter) = open_or_skip(Counter::syscalls(me, false)) else {
        return;
    };
    make_system_calls(5);
    assert_eq!(counter.read().unwrap(), 0, "counters start disabled");
    for number in [0, 1, 1000] {
        counter.reset().unwrap();
        counter.enable().unwrap();
        make_system_calls(number);
        counter.disable().unwrap();
        make_system_calls(7);
        assert_eq!(
            counter.read().unwrap(),
            number + 1,
            "includes the call that pauses the counter"
        );
    }
}

#[test]
fn a_process_counter_includes_started_threads() {
    let me = TaskId::current_thread();
    if open_or_skip(Counter::syscalls(me, true)).is_none() {
        return;
    }
    // In a separate process: the threads of other tests come and go in this one.
    let mut child = std::process::Command::new("sh")
        .args(["-c", "read a; for i in 1 2 3; do (exit 0); done; read b"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let id = TaskId::of_child(&child);
    let counter = ProcessCounter::open(id, CounterKind::Syscalls).unwrap();
    counter.enable().unwrap();
    assert_eq!(counter.read().unwrap(), 0, "the child is blocked in read");
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    counter.disable().unwrap();
    // Each round starts, awaits and ends a process.
    assert!(counter.read().unwrap() >= 9);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(
        ProcessCounter::open(id, CounterKind::Syscalls),
        Err(PerfError::NoSuchTask(gone)) if gone == id
    ));
}

#[test]
fn inherit_includes_threads_started_later() {
    let count = |inherit| {
        let counter = open_or_skip(Counter::syscalls(TaskId::current_thread(), inherit))?;
        counter.enable().unwrap();
        ThreadSpec::new("later")
            .spawn(|| make_system_calls(5000))
            .unwrap()
            .join()
            .unwrap();
        counter.disable().unwrap();
        Some(counter.read().unwrap())
    };
    let (Some(alone), Some(with_child)) = (count(false), count(true)) else {
        return;
    };
    assert!(alone < 5000, "{alone}");
    assert!(with_child >= 5000, "{with_child}");
}

#[test]
fn sleeping_is_a_context_switch() {
    let me = TaskId::current_thread();
    let Some(counter) = open_or_skip(Counter::context_switches(me, false)) else {
        return;
    };
    counter.enable().unwrap();
    (0..10).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(200)));
    assert!(counter.read().unwrap() >= 10);
}

#[test]
fn twice_the_work_takes_about_twice_the_cycles_and_instructions() {
    let me = TaskId::current_thread();
    for counter in [
        Counter::user_cycles(me, false),
        Counter::user_instructions(me, false),
    ] {
        if let Some(counter) = open_or_skip(counter) {
            twice_the_work_counts_twice(&counter);
        }
    }
}

fn twice_the_work_counts_twice(counter: &Counter) {
    let cycles = |rounds: u64| {
        counter.reset().unwrap();
        counter.enable().unwrap();
        (0..rounds).for_each(|i| {
            std::hint::black_box(i);
        });
        counter.disable().unwrap();
        counter.read().unwrap()
    };
    cycles(100_000);
    let (once, twice) = (cycles(200_000), cycles(400_000));
    assert!(once >= 200_000, "less than one per round: {once}");
    assert!(twice > once * 3 / 2 && twice < once * 3, "{once} {twice}");
}

#[test]
fn a_refusal_names_the_remedy() {
    let refused = ThreadSpec::new("no-rights").spawn(|| {
        drop_capabilities();
        Counter::context_switches(TaskId::new(1).unwrap(), false)
    });
    match refused.unwrap().join().unwrap() {
        Err(error @ PerfError::Denied { .. }) => {
            assert!(error.to_string().contains("setcap cap_perfmon+ep"), "{error}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => skip(Missing::Machine, "every user may count on this machine"),
    }
}

#[test]
fn counts_of_shared_hardware_are_extrapolated() {
    assert_eq!(extrapolated(100, 10, 10), 100);
    assert_eq!(extrapolated(100, 40, 10), 400);
    assert_eq!(extrapolated(0, 40, 0), 0);
    assert_eq!(extrapolated(u64::MAX, 4, 2), u64::MAX);
}
