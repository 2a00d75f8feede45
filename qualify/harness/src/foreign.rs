//! Foreign tasks: user-space threads that are no part of a run. They are moved off its CPUs while it lasts, for an
//! ordinary task that is runnable there makes the kernel take the CPU from real-time threads (fair server).
//!
//! Plain steps; that they are undone on every way out is the [`supervisor`](crate::supervisor)'s work.

mod task_stat;

use std::collections::{HashMap, HashSet};
use std::io;

use punctual_os::{CpuSet, TaskId, affinity};
use punctual_system::process;
use serde::{Deserialize, Serialize};

pub(crate) use task_stat::TaskStat;

/// A thread that is moved, with what it takes to move it back. Sets of CPUs are in the kernel's list notation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Move {
    /// The thread.
    pub thread: i32,
    /// When it started, in clock ticks since boot: with the number, its identity.
    pub started: u64,
    /// Where it might run.
    pub before: String,
    /// Where it may run during the run.
    pub after: String,
}

/// The moves that take all foreign threads off `pinned`. A thread that may run nowhere else gets all other CPUs. Kernel
/// threads stay, and so do the descendants of the process `run`, which bring their own affinity; its own threads are
/// moved. Empty when there is no other CPU.
///
/// # Errors
/// `/proc` cannot be read.
pub fn moves(pinned: &CpuSet, run: TaskId) -> io::Result<Vec<Move>> {
    let others = without(&CpuSet::all(), pinned);
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let family = descendants(run)?;
    let mut moves = Vec::new();
    for placed in process::placed_threads()? {
        if !placed.cpus.iter().any(|cpu| pinned.contains(cpu)) || family.contains(&placed.process.get()) {
            continue;
        }
        let Some(stat) = TaskStat::of(placed.thread.get()).filter(|stat| !stat.is_kernel_thread) else {
            continue;
        };
        let rest = without(&placed.cpus, pinned);
        moves.push(Move {
            thread: placed.thread.get(),
            started: stat.started,
            before: placed.cpus.to_string(),
            after: if rest.is_empty() {
                others.to_string()
            } else {
                rest.to_string()
            },
        });
    }
    Ok(moves)
}

/// Makes the moves and gives those that the kernel refused: threads of other users, of the deadline class, or gone.
pub fn apply(moves: &[Move]) -> Vec<Move> {
    let refused = |step: &&Move| !change(step, &step.before, &step.after);
    moves.iter().filter(refused).cloned().collect()
}

/// Undoes moves, and gives how many threads were changed. A thread that somebody else has moved since stays there.
///
/// What moved threads have started meanwhile inherited the new place. So a thread that started at or after `since`
/// (clock ticks since boot) and has exactly such a place gets the old one that belongs to it. One that somebody put
/// there on purpose during the run cannot be told from those.
pub fn restore(moves: &[Move], since: u64) -> usize {
    let mut restored = moves
        .iter()
        .filter(|step| change(step, &step.after, &step.before))
        .count();
    let mut old_place: HashMap<&str, &str> = HashMap::new();
    for step in moves {
        old_place.entry(&step.after).or_insert(&step.before);
    }
    let known: HashSet<(i32, u64)> = moves.iter().map(|step| (step.thread, step.started)).collect();
    // Again until none is found: a thread may be starting another one right now. Bounded, for one may be at it forever.
    for _ in 0..5 {
        let heirs = heirs(&old_place, &known, since);
        restored += heirs.len();
        if heirs.is_empty() {
            break;
        }
    }
    restored
}

/// Moves back those that inherited a place, and gives them.
fn heirs(old_place: &HashMap<&str, &str>, known: &HashSet<(i32, u64)>, since: u64) -> Vec<Move> {
    let mut heirs = Vec::new();
    for placed in process::placed_threads().unwrap_or_default() {
        let place = placed.cpus.to_string();
        let Some(&before) = old_place.get(place.as_str()) else {
            continue;
        };
        let thread = placed.thread.get();
        let Some(stat) = TaskStat::of(thread) else {
            continue;
        };
        if stat.is_kernel_thread || stat.started < since || known.contains(&(thread, stat.started)) {
            continue;
        }
        let heir = Move {
            thread,
            started: stat.started,
            before: before.to_owned(),
            after: place,
        };
        if change(&heir, &heir.after, &heir.before) {
            heirs.push(heir);
        }
    }
    heirs
}

/// Whether the thread is still the same, was at `from`, and is now at `to`.
fn change(step: &Move, from: &str, to: &str) -> bool {
    let same = || TaskStat::of(step.thread).is_some_and(|stat| stat.started == step.started);
    let (Some(thread), Some(from), Some(to)) =
        (TaskId::new(step.thread), CpuSet::parse(from), CpuSet::parse(to))
    else {
        return false;
    };
    same() && affinity::of(thread).is_ok_and(|now| now == from) && affinity::set_of(thread, &to).is_ok()
}

/// All CPUs but those.
pub(crate) fn without(cpus: &CpuSet, those: &CpuSet) -> CpuSet {
    cpus.iter().filter(|&cpu| !those.contains(cpu)).collect()
}

/// The processes that a process has started, and those that these have started, and so on; without itself.
fn descendants(of: TaskId) -> io::Result<HashSet<i32>> {
    let processes = process::processes()?.into_iter().map(TaskId::get);
    let parents: HashMap<i32, i32> = processes
        .filter_map(|process| Some((process, TaskStat::of(process)?.parent)))
        .collect();
    let descends = |&process: &i32| {
        let mut ancestor = process;
        // Numbers are reused while we read, so a circle is conceivable: no chain is longer than all processes.
        for _ in 0..parents.len() {
            match parents.get(&ancestor) {
                Some(&parent) if parent == of.get() => return true,
                Some(&parent) => ancestor = parent,
                None => return false,
            }
        }
        false
    };
    Ok(parents.keys().copied().filter(descends).collect())
}

#[cfg(test)]
mod tests;
