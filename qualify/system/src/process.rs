//! Other processes and their threads: list them, pin them, end them with their parent.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use punctual_os::{CpuSet, TaskId, affinity};

/// A thread and the CPUs on which it may run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlacedThread {
    /// Process of the thread.
    pub process: TaskId,
    /// Thread.
    pub thread: TaskId,
    /// CPUs on which it may run.
    pub cpus: CpuSet,
}

/// Returns all processes visible to this one, kernel threads included.
///
/// # Errors
/// `/proc` cannot be read.
pub fn processes() -> io::Result<Vec<TaskId>> {
    tasks_in(Path::new("/proc"))
}

/// Returns the threads of a process.
///
/// # Errors
/// `NotFound`: no such process exists.
pub fn threads_of(process: TaskId) -> io::Result<Vec<TaskId>> {
    tasks_in(Path::new(&format!("/proc/{process}/task")))
}

/// Returns the processes that a process has started, and those that these have started, as far as their
/// parents still run.
///
/// # Errors
/// `/proc` cannot be read.
pub fn descendants_of(ancestor: TaskId) -> io::Result<Vec<TaskId>> {
    let parents: Vec<_> = processes()?
        .into_iter()
        .filter_map(|process| Some((process, parent_of(process)?)))
        .collect();
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = parents.iter().filter(|(_, of)| *of == parent.get());
        found.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    found.remove(0);
    Ok(found)
}

fn parent_of(process: TaskId) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may contain anything, also parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// Returns all threads visible to this process, with the CPUs on which they may run. Threads that end
/// meanwhile are omitted.
///
/// # Errors
/// `/proc` cannot be read.
pub fn placed_threads() -> io::Result<Vec<PlacedThread>> {
    let mut placed = Vec::new();
    for process in processes()? {
        for thread in threads_of(process).unwrap_or_default() {
            if let Ok(cpus) = affinity::of(thread) {
                placed.push(PlacedThread {
                    process,
                    thread,
                    cpus,
                });
            }
        }
    }
    Ok(placed)
}

/// Pins all threads of a process to `cpus`, those that it starts meanwhile included. Threads that end
/// meanwhile are omitted.
///
/// # Errors
/// Those of [`affinity::set_of`]; some threads may have been pinned by then. Per-CPU kernel threads cannot be
/// pinned.
pub fn set_affinity(process: TaskId, cpus: &CpuSet) -> io::Result<()> {
    let mut pinned = Vec::new();
    loop {
        let threads = threads_of(process)?;
        let new: Vec<_> = threads
            .into_iter()
            .filter(|thread| !pinned.contains(thread))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        for thread in new {
            match affinity::set_of(thread, cpus) {
                Err(error) if error.raw_os_error() != Some(libc::ESRCH) => return Err(error),
                _ => pinned.push(thread),
            }
        }
    }
}

/// Has the child of `command` killed (SIGKILL) when the *thread* that starts it ends, however that happens.
/// Start it on a thread that lives as long as the child.
///
/// A program with file capabilities or the set-user-id bit loses this setting when it starts (a rule of the
/// kernel); such a program calls [`die_with_parent`] itself.
pub fn kill_with_starter(command: &mut Command) -> &mut Command {
    let starter = TaskId::current_process();
    // SAFETY: the closure runs in the child between fork and exec, and makes two system calls without
    // allocating.
    unsafe { command.pre_exec(move || arrange_death(starter)) }
}

/// Has this process killed (SIGKILL) when the thread that started it ends. `parent` is the process that
/// started it, as communicated by that process.
///
/// # Errors
/// ESRCH: the parent has already ended.
pub fn die_with_parent(parent: TaskId) -> io::Result<()> {
    arrange_death(parent)
}

fn arrange_death(parent: TaskId) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The parent may have ended before the signal was set.
    match rustix::process::getppid() {
        Some(now) if now.as_raw_nonzero().get() == parent.get() => Ok(()),
        _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
    }
}

fn tasks_in(directory: &Path) -> io::Result<Vec<TaskId>> {
    let mut tasks = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        // Entries whose names are not numbers are not tasks.
        if let Some(task) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests;
