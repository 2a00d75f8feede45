//! Foreign tasks: user-space threads that do not belong to a run. They are moved off its CPUs for its
//! duration, because a runnable ordinary task makes the kernel take the CPU from real-time threads (fair
//! server).
//!
//! Plain steps; the [`supervisor`](crate::supervisor) undoes them on every exit.

mod task_stat;

use std::collections::{HashMap, HashSet};
use std::io;

use punctual_os::{CpuSet, TaskId, affinity};
use punctual_system::process;
use serde::{Deserialize, Serialize};

pub(crate) use task_stat::TaskStat;

/// Move of one thread, with the data to undo it. Sets of CPUs are in the kernel's list notation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Move {
    /// Thread.
    pub thread: i32,
    /// Start time in clock ticks since boot, which identifies the thread together with its id.
    pub started: u64,
    /// Affinity before the run.
    pub before: String,
    /// Affinity during the run.
    pub after: String,
}

/// Returns the moves that take all foreign threads off `pinned`. A thread that may run nowhere else gets all
/// other CPUs. Kernel threads and the descendants of the process `run`, which have their own affinity, are
/// not moved; the threads of `run` are. Empty if there is no other CPU.
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

/// Makes the moves; returns those that failed: threads of other users, of the deadline class, or ended ones.
pub fn apply(moves: &[Move]) -> Vec<Move> {
    let refused = |step: &&Move| !change(step, &step.before, &step.after);
    moves.iter().filter(refused).cloned().collect()
}

/// Undoes moves; returns the number of changed threads. A thread that another program has moved since is left
/// there.
///
/// Threads started by moved threads have inherited the new affinity. Therefore a thread that started at or
/// after `since` (clock ticks since boot) and has exactly such an affinity gets the corresponding old one.
/// Threads that another program has deliberately placed there meanwhile cannot be distinguished from these.
pub fn restore(moves: &[Move], since: u64) -> usize {
    let mut restored = moves
        .iter()
        .filter(|step| change(step, &step.after, &step.before))
        .count();
    let mut old_affinity: HashMap<&str, &str> = HashMap::new();
    for step in moves {
        old_affinity.entry(&step.after).or_insert(&step.before);
    }
    let known: HashSet<(i32, u64)> = moves.iter().map(|step| (step.thread, step.started)).collect();
    // Repeated until none is found, because a thread may be starting another one now. Bounded, because it may
    // never end.
    for _ in 0..5 {
        let heirs = heirs(&old_affinity, &known, since);
        restored += heirs.len();
        if heirs.is_empty() {
            break;
        }
    }
    restored
}

/// Moves back the threads that inherited an affinity, and returns them.
fn heirs(old_affinity: &HashMap<&str, &str>, known: &HashSet<(i32, u64)>, since: u64) -> Vec<Move> {
    let mut heirs = Vec::new();
    for placed in process::placed_threads().unwrap_or_default() {
        let affinity = placed.cpus.to_string();
        let Some(&before) = old_affinity.get(affinity.as_str()) else {
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
            after: affinity,
        };
        if change(&heir, &heir.after, &heir.before) {
            heirs.push(heir);
        }
    }
    heirs
}

/// Changes the affinity of a thread; returns whether it is still the same thread, had `from`, and now has
/// `to`.
fn change(step: &Move, from: &str, to: &str) -> bool {
    let same = || TaskStat::of(step.thread).is_some_and(|stat| stat.started == step.started);
    let (Some(thread), Some(from), Some(to)) =
        (TaskId::new(step.thread), CpuSet::parse(from), CpuSet::parse(to))
    else {
        return false;
    };
    same() && affinity::of(thread).is_ok_and(|now| now == from) && affinity::set_of(thread, &to).is_ok()
}

/// Returns `cpus` without `those`.
pub(crate) fn without(cpus: &CpuSet, those: &CpuSet) -> CpuSet {
    cpus.iter().filter(|&cpu| !those.contains(cpu)).collect()
}

/// Returns all descendants of a process, without the process itself.
fn descendants(of: TaskId) -> io::Result<HashSet<i32>> {
    let processes = process::processes()?.into_iter().map(TaskId::get);
    let parents: HashMap<i32, i32> = processes
        .filter_map(|process| Some((process, TaskStat::of(process)?.parent)))
        .collect();
    let descends = |&process: &i32| {
        let mut ancestor = process;
        // Ids are reused meanwhile, so a circle is conceivable: no chain is longer than the number of
        // processes.
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
