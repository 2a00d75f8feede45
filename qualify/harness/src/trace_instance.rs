//! Private instance of the kernel's tracing, which does not disturb other users; removed on every exit.

use std::io;
use std::path::{Path, PathBuf};

use punctual_os::TaskId;
use punctual_system::tracefs::Tracefs;

use crate::files::remove_released;

/// Trace instance of this process, with separate buffers, clock and selection of events.
///
/// Removed when dropped. If this process is killed, its [`Supervisor`](crate::Supervisor) removes it, or else
/// the next supervisor.
#[derive(Debug)]
pub struct TraceInstance {
    tracefs: Tracefs,
    path: PathBuf,
}

const PREFIX: &str = "punctual-";

impl TraceInstance {
    /// Creates the instance of this process.
    ///
    /// # Errors
    /// Tracing cannot be used (the text states the remedy), or this process already has an instance.
    pub fn create() -> io::Result<Self> {
        let tracefs = Tracefs::open()?;
        let path = path_of(&tracefs, TaskId::current_process());
        std::fs::create_dir(&path).map_err(|error| {
            let text = format!(
                "cannot create a trace instance ({error}): run as root, and check that tracing is not locked down"
            );
            io::Error::new(error.kind(), text)
        })?;
        Ok(Self { tracefs, path })
    }

    /// Returns the folder with its files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the tracing files of the whole system.
    pub fn tracefs(&self) -> &Tracefs {
        &self.tracefs
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        // Errors are ignored: the next supervisor removes it.
        let _ = remove(&self.path);
    }
}

/// Removes the instance of a process, if it exists.
pub(crate) fn remove_of(process: TaskId) -> io::Result<()> {
    // A process that cannot open tracefs has not created an instance either.
    let Ok(tracefs) = Tracefs::open() else {
        return Ok(());
    };
    match remove(&path_of(&tracefs, process)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the instances of ended processes; returns their number.
pub(crate) fn remove_stale() -> usize {
    let Ok(tracefs) = Tracefs::open() else { return 0 };
    let Ok(instances) = std::fs::read_dir(tracefs.root().join("instances")) else {
        return 0;
    };
    let stale = |name: &str| {
        let process = name.strip_prefix(PREFIX)?.parse::<TaskId>().ok()?;
        (!Path::new(&format!("/proc/{process}")).exists()).then_some(process)
    };
    let stale = instances
        .flatten()
        .filter_map(|entry| stale(entry.file_name().to_str()?));
    stale.filter(|process| remove_of(*process).is_ok()).count()
}

fn path_of(tracefs: &Tracefs, process: TaskId) -> PathBuf {
    tracefs
        .root()
        .join("instances")
        .join(format!("{PREFIX}{process}"))
}

fn remove(path: &Path) -> io::Result<()> {
    let _ = std::fs::write(path.join("tracing_on"), "0");
    remove_released(path, || ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_exists_until_it_is_dropped_and_stale_ones_are_removed() {
        let instance = match TraceInstance::create() {
            Ok(instance) => instance,
            Err(error) => return punctual_fixtures::skip_error(&error),
        };
        let path = instance.path().to_owned();
        assert!(path.join("events/sched/sched_switch/enable").exists());
        assert!(TraceInstance::create().is_err(), "one per process");
        // For a process that has ended and been waited for.
        let mut process = std::process::Command::new("true").spawn().unwrap();
        let id = TaskId::of_child(&process);
        process.wait().unwrap();
        let stale = path_of(instance.tracefs(), id);
        std::fs::create_dir(&stale).unwrap();
        assert!(remove_stale() >= 1);
        assert!(!stale.exists());
        assert!(path.exists(), "its process is running");
        drop(instance);
        let tracefs = Tracefs::open().unwrap();
        assert!(!path_of(&tracefs, TaskId::current_process()).exists());
        assert!(remove_of(id).is_ok(), "removing a missing instance succeeds");
    }
}
