use std::process::Stdio;
use std::time::{Duration, Instant};

use super::*;
use crate::ThreadSpec;

#[test]
fn a_thread_is_listed_while_it_lives() {
    let me = TaskId::current_process();
    let thread = ThreadSpec::new("listed")
        .affinity(CpuSet::single(0))
        .spawn(std::thread::park)
        .unwrap();
    assert!(processes().unwrap().contains(&me));
    assert!(threads_of(me).unwrap().contains(&thread.tid()));
    let listed = PlacedThread {
        process: me,
        thread: thread.tid(),
        cpus: CpuSet::single(0),
    };
    assert!(placed_threads().unwrap().contains(&listed));
    assert_eq!(name_of(thread.tid()).unwrap(), "listed");
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn all_threads_of_another_process_are_pinned() {
    let mut child = sleeper(&mut Command::new("sleep"));
    let id = TaskId::of_child(&child);
    let cpu = CpuSet::single(CpuSet::all().iter().last().unwrap());
    set_affinity(id, &cpu).unwrap();
    assert!(
        threads_of(id)
            .unwrap()
            .into_iter()
            .all(|thread| affinity::of(thread).unwrap() == cpu)
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(threads_of(id).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn blocking_is_a_voluntary_switch() {
    // Of a process of its own: the threads of other tests come and go in this one.
    let script = "read a; sleep 0.01; sleep 0.01; read b";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let id = TaskId::of_child(&child);
    let before = settled_switches(id);
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
    let after = settled_switches(id);
    assert!(after.voluntary >= before.voluntary + 2, "{before:?} {after:?}");
    assert_eq!(after.total(), after.voluntary + after.involuntary);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The counts once they have not changed for 40 ms.
fn settled_switches(process: TaskId) -> ContextSwitches {
    let mut last = context_switches(process).unwrap();
    loop {
        std::thread::sleep(Duration::from_millis(40));
        let now = context_switches(process).unwrap();
        if now == last {
            return now;
        }
        last = now;
    }
}

#[test]
fn a_child_is_killed_when_the_thread_that_started_it_ends() {
    let start = || {
        let child = sleeper(kill_with_starter(&mut Command::new("sleep")));
        let alive = std::fs::exists(format!("/proc/{}", child.id())).unwrap();
        (child, alive)
    };
    let (mut child, alive) = ThreadSpec::new("starter").spawn(start).unwrap().join().unwrap();
    assert!(alive);
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(
            began.elapsed() < Duration::from_secs(4),
            "it outlives its starter"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_parent_that_is_not_the_parent_is_noticed() {
    let stranger = TaskId::current_process();
    let child = ThreadSpec::new("starter").spawn(move || {
        let mut command = Command::new("sleep");
        // SAFETY: makes system calls only.
        unsafe { command.pre_exec(move || arrange_death(TaskId::new(stranger.get() + 1).unwrap())) };
        command.arg("0").spawn().map(|_| ())
    });
    let error = child.unwrap().join().unwrap().unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
}

fn sleeper(command: &mut Command) -> std::process::Child {
    command.arg("5").stdin(Stdio::null()).spawn().unwrap()
}
