//! Tests with child processes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::*;
use punctual_os::ThreadSpec;

#[test]
fn a_running_thread_is_listed() {
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
    assert_eq!(thread.tid().name().unwrap(), "listed");
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
            began.elapsed() < Duration::from_secs(50),
            "the child outlives the thread that started it"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_wrong_parent_is_an_error() {
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
    command.arg("60").stdin(Stdio::null()).spawn().unwrap()
}

#[test]
fn descendants_are_found_over_generations() {
    let mut shell = Command::new("sh")
        .args(["-c", "sleep 60 & sleep 60"])
        .spawn()
        .unwrap();
    let process = TaskId::new(i32::try_from(shell.id()).unwrap()).unwrap();
    let own = TaskId::current_process();
    let begun = std::time::Instant::now();
    let children = loop {
        let children = descendants_of(process).unwrap();
        if children.len() == 2 || begun.elapsed().as_secs() > 20 {
            break children;
        }
    };
    let all = descendants_of(own).unwrap();
    for child in &children {
        let _ = Command::new("kill").arg(child.to_string()).status();
    }
    shell.wait().unwrap();
    assert_eq!(children.len(), 2);
    assert!(all.contains(&process) && children.iter().all(|child| all.contains(child)));
    assert!(!all.contains(&own));
}
