//! A place of our own in the kernel's tracing, so that nobody else's is disturbed; and its removal on every way out.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use punctual_os::TaskId;
use punctual_system::tracefs::Tracefs;

/// A trace instance of the kernel that belongs to this process: its own buffers, clock and choice of events.
///
/// Dropping it removes it. Where this process is killed, its [`Supervisor`](crate::Supervisor) does, and failing that the
/// next one that is started.
#[derive(Debug)]
pub struct TraceInstance {
    tracefs: Tracefs,
    path: PathBuf,
}

const PREFIX: &str = "punctual-";

impl TraceInstance {
    /// Makes the one of this process.
    ///
    /// # Errors
    /// Tracing cannot be used (the text says what to do), or this process has one already.
    pub fn create() -> io::Result<Self> {
        let tracefs = Tracefs::open()?;
        let path = path_of(&tracefs, TaskId::current_process());
        std::fs::create_dir(&path).map_err(|error| {
            let text = format!("no trace instance can be made ({error}): be root; is tracing locked down?");
            io::Error::new(error.kind(), text)
        })?;
        Ok(Self { tracefs, path })
    }

    /// The folder with its files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tracing files of the whole system.
    pub fn tracefs(&self) -> &Tracefs {
        &self.tracefs
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        // There is nobody to tell; the next supervisor removes what is left.
        let _ = remove(&self.path);
    }
}

/// Removes that of a process, if it is there.
pub(crate) fn remove_of(process: TaskId) -> io::Result<()> {
    // Without the right to see it, we have not made it either.
    let Ok(tracefs) = Tracefs::open() else {
        return Ok(());
    };
    match remove(&path_of(&tracefs, process)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes those of processes that are no more, and gives their number.
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
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        match std::fs::remove_dir(path) {
            // Somebody who was killed a moment ago has it open still.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_while_it_lives_and_stale_ones_go() {
        let instance = match TraceInstance::create() {
            Ok(instance) => instance,
            Err(error) => return punctual_fixtures::skip_error(&error),
        };
        let path = instance.path().to_owned();
        assert!(path.join("events/sched/sched_switch/enable").exists());
        assert!(TraceInstance::create().is_err(), "one for each process");
        // Of a process that has ended, and been waited for.
        let mut process = std::process::Command::new("true").spawn().unwrap();
        let id = TaskId::of_child(&process);
        process.wait().unwrap();
        let stale = path_of(instance.tracefs(), id);
        std::fs::create_dir(&stale).unwrap();
        assert!(remove_stale() >= 1);
        assert!(!stale.exists());
        assert!(path.exists(), "its process lives");
        drop(instance);
        let tracefs = Tracefs::open().unwrap();
        assert!(!path_of(&tracefs, TaskId::current_process()).exists());
        assert!(remove_of(id).is_ok(), "nothing to remove is fine");
    }
}
