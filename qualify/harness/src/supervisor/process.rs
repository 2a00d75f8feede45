//! The supervising process.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use punctual_os::{CpuSet, TaskId, affinity, scheduling};
use punctual_system::signals::Termination;
use punctual_system::throttling::{self, RealtimeRuntime};

use super::journal::{self, Entry, Lock, ThrottlingChange};
use super::{Prepared, Request, Scope, Throttling, scratch};
use crate::child::{Control, ControlError};
use crate::exclusive_cpuset::ExclusiveCpuset;
use crate::foreign_tasks::{self, Move, TaskStat};
use crate::watchdog::above_all;
use crate::{memory_folder, trace_instance};

pub(super) const SUBCOMMAND: &str = "__supervisor";

/// Becomes the supervising process, and does not return, if the command line requests it. A program that uses
/// [`Preparation`](super::Preparation) calls this first in `main`.
pub fn main_if_asked() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(SUBCOMMAND) {
        return;
    }
    let arguments: Vec<String> = arguments.collect();
    std::process::exit(match run(&arguments) {
        Ok(()) => 0,
        Err(error) => {
            // Not `eprintln!`, which panics if the terminal has been closed.
            let _ = writeln!(io::stderr(), "punctual supervisor: {error}");
            1
        }
    })
}

fn run(arguments: &[String]) -> Result<(), ControlError> {
    let parsed = match arguments {
        [run, pinned, scope, directory] => run
            .parse::<TaskId>()
            .ok()
            .zip(cpus(pinned))
            .zip(Scope::from_argument(scope))
            .map(|((run, pinned), scope)| (run, pinned, scope, directory)),
        _ => None,
    };
    let Some((run, pinned, scope, directory)) = parsed else {
        return Control::refuse("this subcommand is internal");
    };
    // From now on a signal to the whole group does not prevent restoration, which happens at the end of the
    // run.
    if let Err(error) = Termination::watch() {
        return Control::refuse(error);
    }
    let supervision = journal::directory(directory)
        .and_then(|directory| Supervision::begin(&directory, run, pinned, scope));
    let (mut supervision, prepared) = match supervision {
        Ok(begun) => begun,
        Err(error) => return Control::refuse(error),
    };
    // The machine is restored, regardless of what ends the connection.
    let ended = Control::ready(&(&prepared, &supervision.scratch)).and_then(|control| {
        control.serve(|request| match request {
            Request::Sweep => supervision.move_foreign().map(|(moved, _)| moved),
            Request::Isolate(process) => supervision.isolate(process),
            Request::Share => supervision.share(),
            Request::Restore => supervision.restore(),
        })
    });
    if supervision.entry.changes_anything() {
        let _ = writeln!(
            io::stderr(),
            "punctual: the run ended early; the machine's settings are restored"
        );
    }
    supervision.restore()?;
    // If the run has ended, a broken connection is not an error.
    match ended {
        Err(ControlError::Gone(_)) => Ok(()),
        other => other,
    }
}

fn cpus(list: &str) -> Option<CpuSet> {
    if list.is_empty() {
        return Some(CpuSet::empty());
    }
    CpuSet::parse(list)
}

/// State of the supervision of a run.
struct Supervision {
    entry: Entry,
    journal: PathBuf,
    /// Whether this run has written the journal; one left by an earlier run is kept if nothing may be
    /// changed.
    wrote: bool,
    run: TaskId,
    pinned: CpuSet,
    scope: Scope,
    /// Throttling in force while a process is isolated, to be lifted again afterwards.
    throttled: Option<RealtimeRuntime>,
    /// Moves that failed, so that they are not tried again.
    refused: Vec<Move>,
    /// Folder for temporary files of the run's processes.
    scratch: Option<PathBuf>,
    _lock: Option<Lock>,
}

impl Supervision {
    fn begin(directory: &Path, run: TaskId, pinned: CpuSet, scope: Scope) -> io::Result<(Self, Prepared)> {
        let lock = (scope != Scope::TraceOnly)
            .then(|| Lock::take(directory, run))
            .transpose()?;
        let journal = directory.join(journal::FILE);
        let mut prepared = Prepared {
            throttling: Throttling::LeftAlone,
            moved: 0,
            refused: 0,
            notices: Vec::new(),
        };
        let left = match scope {
            // The journal belongs to the holder of the lock.
            Scope::TraceOnly => None,
            Scope::All | Scope::LockOnly => Entry::read(&journal)?,
        };
        let scratch = match &lock {
            Some(_) => Some(scratch::create(directory, run)?),
            None => None,
        };
        let me = TaskStat::of(TaskId::current_process().get());
        let mut supervision = Self {
            entry: Entry::new(me.map_or(u64::MAX, |stat| stat.started)),
            journal,
            wrote: false,
            run,
            pinned,
            scope,
            throttled: None,
            refused: Vec::new(),
            scratch,
            _lock: lock,
        };
        if scope != Scope::LockOnly {
            let stale = trace_instance::remove_stale();
            if stale > 0 {
                let notice = format!("removed {stale} trace instances of killed runs");
                prepared.notices.push(notice);
            }
        }
        if scope == Scope::TraceOnly {
            supervision.step_aside();
            return Ok((supervision, prepared));
        }
        if scope == Scope::LockOnly {
            if left.is_some() {
                prepared.notices.push(
                    "an earlier run was killed without restoring the machine; a run that may change settings repairs this"
                        .to_owned(),
                );
            }
            return Ok((supervision, prepared));
        }
        if let Some(left) = left {
            let done = left.undo()?;
            prepared
                .notices
                .push(format!("repaired after a killed run: {done}"));
            Entry::remove(&supervision.journal)?;
        }
        supervision.step_aside();
        match supervision.prepare(&mut prepared) {
            Ok(()) => Ok((supervision, prepared)),
            Err(error) => {
                supervision.restore()?;
                Err(error)
            }
        }
    }

    /// Raises this process above all others, so that it can always restore, and moves it off the pinned CPUs.
    /// Without the rights both this process and the run are ordinary.
    fn step_aside(&self) {
        let others = foreign_tasks::without(&CpuSet::all(), &self.pinned);
        if !others.is_empty() {
            let _ = affinity::set_current(&others);
        }
        let _ = scheduling::set_current(above_all());
    }

    fn prepare(&mut self, prepared: &mut Prepared) -> io::Result<()> {
        prepared.throttling = match throttling::runtime() {
            Ok(RealtimeRuntime::Unlimited) => Throttling::WasOff,
            Ok(before) => match self.lift_throttling(before) {
                Ok(()) => Throttling::Lifted(before.to_string()),
                Err(error) => {
                    prepared
                        .notices
                        .push(format!("real-time throttling stays on: {error}"));
                    Throttling::LeftAlone
                }
            },
            Err(error) => {
                prepared
                    .notices
                    .push(format!("cannot read real-time throttling: {error}"));
                Throttling::LeftAlone
            }
        };
        (prepared.moved, prepared.refused) = self.move_foreign()?;
        if foreign_tasks::without(&CpuSet::all(), &self.pinned).is_empty() {
            prepared
                .notices
                .push("foreign tasks were not moved: the run uses all CPUs".to_owned());
        }
        Ok(())
    }

    fn lift_throttling(&mut self, before: RealtimeRuntime) -> io::Result<()> {
        self.entry.throttling = Some(ThrottlingChange {
            before: before.to_string(),
            during: RealtimeRuntime::Unlimited.to_string(),
        });
        self.write_ahead()?;
        throttling::set_runtime(RealtimeRuntime::Unlimited).inspect_err(|_| self.entry.throttling = None)
    }

    /// Makes the pinned CPUs a separate domain for one process. Meanwhile throttling is as before the run:
    /// without it the kernel admits every reservation.
    fn isolate(&mut self, process: i32) -> io::Result<usize> {
        if self.scope != Scope::All {
            return Err(io::Error::other("this run may not change settings of the system"));
        }
        let process = TaskId::new(process).ok_or(io::ErrorKind::InvalidInput)?;
        let cpuset = ExclusiveCpuset::of(self.run)?;
        self.entry.cpuset = Some(cpuset.clone());
        self.write_ahead()?;
        let made = cpuset
            .make(&self.pinned, process)
            .and_then(|()| self.resume_throttling());
        if let Err(error) = made {
            self.share()?;
            return Err(error);
        }
        Ok(0)
    }

    /// Undoes [`isolate`](Self::isolate); further calls change nothing.
    fn share(&mut self) -> io::Result<usize> {
        if let Some(cpuset) = &self.entry.cpuset {
            cpuset.undo()?;
            self.entry.cpuset = None;
            self.write_ahead()?;
        }
        if let Some(before) = self.throttled.take() {
            self.lift_throttling(before)?;
        }
        Ok(0)
    }

    fn resume_throttling(&mut self) -> io::Result<()> {
        let change = self.entry.throttling.as_ref();
        let Some(before) = change.and_then(|change| RealtimeRuntime::parse(&change.before)) else {
            return Ok(());
        };
        throttling::set_runtime(before)?;
        self.entry.throttling = None;
        self.throttled = Some(before);
        self.write_ahead()
    }

    /// Returns how many threads were moved, and how many could not be.
    fn move_foreign(&mut self) -> io::Result<(usize, usize)> {
        let (mut moved, mut refused) = (0, 0);
        // Repeated until none is found, because a thread may be starting another one now.
        for _ in 0..5 {
            let mut moves = foreign_tasks::moves(&self.pinned, self.run)?;
            moves.retain(|step| !self.refused.contains(step));
            if moves.is_empty() {
                break;
            }
            self.entry.moves.extend(moves.iter().cloned());
            self.write_ahead()?;
            let now_refused = foreign_tasks::apply(&moves);
            self.entry.moves.retain(|step| !now_refused.contains(step));
            moved += moves.len() - now_refused.len();
            refused += now_refused.len();
            self.refused.extend(now_refused);
        }
        Ok((moved, refused))
    }

    fn write_ahead(&mut self) -> io::Result<()> {
        self.wrote = true;
        self.entry.write(&self.journal)
    }

    /// Restores everything, the settings first; returns how many threads had been moved. An error does not
    /// prevent the remaining steps. Further calls change nothing.
    fn restore(&mut self) -> io::Result<usize> {
        let moved = self.entry.moves.len();
        let settings = self.restore_settings();
        let instance = trace_instance::remove_of(self.run).map_err(|error| {
            let text = format!(
                "cannot remove the trace instance of process {}: {error}",
                self.run
            );
            io::Error::new(error.kind(), text)
        });
        memory_folder::remove_of(self.run);
        let scratch = self.scratch.as_deref().map_or(Ok(()), scratch::remove);
        settings.and(instance).and(scratch).map(|()| moved)
    }

    fn restore_settings(&mut self) -> io::Result<()> {
        if self.wrote {
            self.entry.undo()?;
            Entry::remove(&self.journal)?;
            self.entry = Entry::new(self.entry.since);
            self.wrote = false;
        }
        Ok(())
    }
}
