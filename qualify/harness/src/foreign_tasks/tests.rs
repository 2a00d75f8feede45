//! Moves of foreign threads and their restoration.

use std::process::{Child, Command};

use super::*;

fn sleeper() -> (Child, TaskId) {
    let child = Command::new("sleep").arg("5").spawn().unwrap();
    let id = TaskId::of_child(&child);
    (child, id)
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns a move from all CPUs to the first one.
fn step(thread: TaskId) -> Move {
    Move {
        thread: thread.get(),
        started: TaskStat::of(thread.get()).unwrap().started,
        before: CpuSet::all().to_string(),
        after: "0".into(),
    }
}

#[test]
fn foreign_threads_are_found_and_descendants_are_not() {
    let all = CpuSet::all();
    if all.len() < 2 {
        return punctual_fixtures::skip(punctual_fixtures::Missing::Machine, "only one CPU");
    }
    let (child, id) = sleeper();
    let pinned = CpuSet::single(all.iter().last().unwrap());
    affinity::set_of(id, &pinned).unwrap();
    let me = TaskId::current_process();
    let found = |run| {
        moves(&pinned, run)
            .unwrap()
            .into_iter()
            .find(|step| step.thread == id.get())
    };
    assert_eq!(found(me), None, "a descendant of the run");
    // If the child is the run, neither this process nor the child itself is its descendant.
    let step = found(id).unwrap();
    assert_eq!(step.before, pinned.to_string());
    assert_eq!(
        step.after,
        without(&all, &pinned).to_string(),
        "it may run nowhere else"
    );
    let kernel_threads = moves(&pinned, id)
        .unwrap()
        .iter()
        .filter(|step| step.thread == 2)
        .count();
    assert_eq!(kernel_threads, 0);
    end(child);
}

#[test]
fn without_another_cpu_nothing_is_moved() {
    assert_eq!(moves(&CpuSet::all(), TaskId::current_process()).unwrap(), []);
}

#[test]
fn a_move_is_undone_unless_the_thread_was_moved_again() {
    if CpuSet::all().len() < 2 {
        return punctual_fixtures::skip(punctual_fixtures::Missing::Machine, "only one CPU");
    }
    let (child, id) = sleeper();
    affinity::set_of(id, &CpuSet::all()).unwrap();
    let step = step(id);
    assert_eq!(apply(std::slice::from_ref(&step)), []);
    assert_eq!(affinity::of(id).unwrap(), CpuSet::single(0));
    assert_eq!(restore(std::slice::from_ref(&step), u64::MAX), 1);
    assert_eq!(affinity::of(id).unwrap(), CpuSet::all());
    assert_eq!(apply(std::slice::from_ref(&step)), []);
    affinity::set_of(id, &CpuSet::single(1)).unwrap();
    assert_eq!(restore(std::slice::from_ref(&step), u64::MAX), 0);
    assert_eq!(affinity::of(id).unwrap(), CpuSet::single(1));
    end(child);
}

#[test]
fn a_reused_id_is_left_alone() {
    let (child, id) = sleeper();
    let other = Move {
        started: 1,
        ..step(id)
    };
    assert_eq!(apply(std::slice::from_ref(&other)), [other]);
    end(child);
}
