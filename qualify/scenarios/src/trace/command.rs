//! The traced command, with the processes that it starts.

use std::{
    collections::HashSet,
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus},
    time::{Duration, Instant},
};

use punctual_os::TaskId;
use punctual_system::{process, signals::Termination};
use punctual_trace::Session;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

use super::wait;
use crate::error::Error;

/// End of the traced command.
pub(super) struct Ended {
    pub(super) how: String,
    /// Text of the error if it has failed.
    pub(super) failure: Option<String>,
    /// Threads of its processes.
    pub(super) threads: HashSet<i32>,
}

/// Runs the command until it ends or the time has elapsed, and then ends the processes that it has started.
/// `supervisor` is the only other process that this one has started.
pub(super) fn run(
    command: &[String],
    session: &Session,
    supervisor: Option<TaskId>,
    timeout: Option<Duration>,
    termination: Termination,
) -> Result<Ended, Error> {
    let [program, arguments @ ..] = command else {
        return Err("a command is expected".into());
    };
    // Processes whose parent has ended become children of this one.
    set_child_subreaper(Some(getpid()))?;
    let mut command = Command::new(program);
    command.args(arguments).envs(session.environment());
    let child = process::kill_with_starter(&mut command)
        .spawn()
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let mut family = Family { child, supervisor };
    let mut threads = HashSet::new();
    let mut looked = None;
    let ended = wait(timeout, termination, || {
        if looked.is_none_or(|looked: Instant| looked.elapsed() >= LOOK) {
            threads.extend(family.threads());
            looked = Some(Instant::now());
        }
        family.child.try_wait()
    });
    threads.extend(family.threads());
    let (status, left) = family.end()?;
    let failure = format!("`{program}` has failed ({status}); the trace may not show what was intended");
    let (how, failure) = match ended? {
        Some(status) if left > 0 => (
            format!("{status}; {left} processes that it left behind were ended"),
            (!status.success()).then_some(failure),
        ),
        Some(status) => (status.to_string(), (!status.success()).then_some(failure)),
        None if status.signal().is_some() => ("terminated when the time was over".to_owned(), None),
        None => (format!("time was over: {status}"), None),
    };
    Ok(Ended {
        how,
        failure,
        threads,
    })
}

/// Interval at which the processes of the command are listed. Threads of ORBs that do not live as long are
/// known from their records.
const LOOK: Duration = Duration::from_millis(100);

/// Time from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// The command and all processes that it has started.
struct Family {
    child: Child,
    supervisor: Option<TaskId>,
}

impl Family {
    fn processes(&self) -> impl Iterator<Item = TaskId> {
        let all = process::descendants_of(TaskId::current_process()).unwrap_or_default();
        let supervisor = self.supervisor;
        all.into_iter()
            .filter(move |process| Some(*process) != supervisor)
    }

    fn threads(&self) -> Vec<i32> {
        let threads = |process| process::threads_of(process).unwrap_or_default();
        self.processes().flat_map(threads).map(TaskId::get).collect()
    }

    /// Sends SIGTERM to all, and SIGKILL to those that still run after the time of grace. Returns the status
    /// of the command, and the number of other processes that ran.
    fn end(&mut self) -> io::Result<(ExitStatus, usize)> {
        self.collect();
        let running = self.send(Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while self.child.try_wait()?.is_none() || self.collect() > 0 {
            if Instant::now() >= deadline {
                self.send(Signal::KILL);
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let status = self.child.wait()?;
        self.collect();
        Ok((status, running))
    }

    /// Sends a signal to all; returns the number of those other than the command.
    fn send(&self, signal: Signal) -> usize {
        let pids = self
            .processes()
            .filter_map(|process| Pid::from_raw(process.get()));
        let child = Pid::from_child(&self.child);
        let sent = pids.filter(|pid| kill_process(*pid, signal).is_ok() && *pid != child);
        sent.count()
    }

    /// Takes the status of those that have ended and whose parents no longer exist; returns the number of
    /// those that run.
    fn collect(&self) -> usize {
        let child = Pid::from_child(&self.child);
        let pids = self
            .processes()
            .filter_map(|process| Pid::from_raw(process.get()));
        let others = pids.filter(|pid| *pid != child);
        let running = others.filter(|pid| !matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(Some(_))));
        running.count()
    }
}
