//! Processes and their threads: which there are, where they run, how often they were switched, and their end.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::{CpuSet, TaskId, affinity};

/// A thread and the CPUs it may run on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlacedThread {
    /// Its process.
    pub process: TaskId,
    /// The thread.
    pub thread: TaskId,
    /// Where it may run.
    pub cpus: CpuSet,
}

/// How often threads gave up the CPU (voluntary: they blocked) or lost it (involuntary: another one was due).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ContextSwitches {
    /// They blocked.
    pub voluntary: u64,
    /// Another thread was due.
    pub involuntary: u64,
}

impl ContextSwitches {
    /// Both kinds together.
    pub fn total(self) -> u64 {
        self.voluntary + self.involuntary
    }
}

/// All processes of the machine that this one can see, kernel threads included.
///
/// # Errors
/// `/proc` cannot be read.
pub fn processes() -> io::Result<Vec<TaskId>> {
    tasks_in(Path::new("/proc"))
}

/// The threads of a process.
///
/// # Errors
/// `NotFound` when there is no such process.
pub fn threads_of(process: TaskId) -> io::Result<Vec<TaskId>> {
    tasks_in(Path::new(&format!("/proc/{process}/task")))
}

/// All threads of the machine that this process can see, with the CPUs they may run on. Those that end meanwhile are
/// left out.
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

/// Pins all threads of a process to `cpus`, also those that it starts meanwhile. Threads that end meanwhile are left
/// out.
///
/// # Errors
/// As [`affinity::set_of`]; some threads may have been pinned then. Kernel threads that belong to one CPU refuse.
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

/// The context switches of all threads that a process has now. Those of threads that have ended are not in it, so a
/// difference is right only over a time in which none ends.
///
/// # Errors
/// `NotFound` when there is no such process.
pub fn context_switches(process: TaskId) -> io::Result<ContextSwitches> {
    let mut sum = ContextSwitches::default();
    for thread in threads_of(process)? {
        let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/status")) else {
            continue;
        };
        sum.voluntary += status_field(&status, "voluntary_ctxt_switches:").unwrap_or(0);
        sum.involuntary += status_field(&status, "nonvoluntary_ctxt_switches:").unwrap_or(0);
    }
    Ok(sum)
}

/// The name of a thread, or of a process's first one: at most 15 bytes.
///
/// # Errors
/// `NotFound` when there is no such thread.
pub fn name_of(thread: TaskId) -> io::Result<String> {
    Ok(std::fs::read_to_string(format!("/proc/{thread}/comm"))?
        .trim_end()
        .to_owned())
}

/// Makes the process that `command` starts be killed (SIGKILL) when the *thread* that starts it ends, however that
/// ends; so start it on a thread that lives as long as the process.
///
/// A program with file capabilities or the set-user-id bit loses this when it starts (the kernel's rule); such a
/// program calls [`die_with_parent`] itself.
pub fn kill_with_starter(command: &mut Command) -> &mut Command {
    let starter = TaskId::current_process();
    // SAFETY: the closure runs in the child between fork and exec, and makes two system calls without allocating.
    unsafe { command.pre_exec(move || arrange_death(starter)) }
}

/// Makes this process be killed (SIGKILL) when the thread that started it ends. `parent` is the process that started
/// it, as that one told it.
///
/// # Errors
/// ESRCH when the parent has already ended.
pub fn die_with_parent(parent: TaskId) -> io::Result<()> {
    arrange_death(parent)
}

fn arrange_death(parent: TaskId) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The parent may have ended before the signal was asked for.
    match rustix::process::getppid() {
        Some(now) if now == parent.pid() => Ok(()),
        _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
    }
}

/// The number in a line of a `/proc/…/status` file; `field` with its colon.
pub(crate) fn status_field(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

fn tasks_in(directory: &Path) -> io::Result<Vec<TaskId>> {
    let mut tasks = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        // Entries that are no number are no tasks.
        if let Some(task) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests;
