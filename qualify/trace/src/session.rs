//! A whole recording: the kernel's events and what ORBs' flight recorders leave.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use punctual_flight::{ENVIRONMENT, ENVIRONMENT_RECORDS, ThreadRecords, read_folder};
use punctual_os::TaskId;

use crate::budget::{Explanation, explain};
use crate::event::ThreadId;
use crate::inversion::{Analysis, analyse, queued_behind};
use crate::kernel::{KernelRecorder, KernelSettings, KernelTrace};
use crate::request::{Request, requests};

/// A recording under way. Dropping it ends it and removes what it has made.
#[derive(Debug)]
pub struct Session {
    folder: FlightFolder,
    kernel: Result<KernelRecorder, String>,
    records_per_thread: usize,
}

/// How to record.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// Of the kernel; `None`: not at all.
    pub kernel: Option<KernelSettings>,
    /// How many flight records are kept for each thread, of 32 octets each. Default 65536.
    pub records_per_thread: usize,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            kernel: Some(KernelSettings::default()),
            records_per_thread: 65_536,
        }
    }
}

/// What was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What the kernel did; or why that is unknown, as a sentence for the user.
    pub kernel: Result<KernelTrace, String>,
    /// What threads of ORBs recorded.
    pub threads: Vec<ThreadRecords>,
    /// The requests in that.
    pub requests: Vec<Request>,
}

impl Session {
    /// Starts to record. Where the kernel may not be traced, the flight recorder alone is used.
    ///
    /// # Errors
    /// There is no file system in main memory for the flight records.
    pub fn start(settings: &SessionSettings) -> io::Result<Self> {
        let folder = FlightFolder::create()?;
        let kernel = match &settings.kernel {
            None => Err("it was not asked for".to_owned()),
            Some(settings) => KernelRecorder::start(settings).map_err(|error| error.to_string()),
        };
        Ok(Self {
            folder,
            kernel,
            records_per_thread: settings.records_per_thread,
        })
    }

    /// What turns the flight recorder on in processes that are started with it.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [
            (ENVIRONMENT, self.folder.0.display().to_string()),
            (ENVIRONMENT_RECORDS, self.records_per_thread.to_string()),
        ]
    }

    /// Why the kernel is not traced, if it is not.
    pub fn without_kernel(&self) -> Option<&str> {
        self.kernel.as_ref().err().map(String::as_str)
    }

    /// Ends it and gives what was recorded.
    ///
    /// # Errors
    /// Records cannot be read.
    pub fn stop(self) -> io::Result<Recorded> {
        let kernel = match self.kernel {
            Ok(recorder) => Ok(recorder.stop()?),
            Err(reason) => Err(reason),
        };
        let threads = read_folder(&self.folder.0)?;
        let requests = requests(&threads);
        Ok(Recorded {
            kernel,
            threads,
            requests,
        })
    }
}

impl Recorded {
    /// Finds inversions and holes; without the kernel's events what the flight records show by themselves.
    pub fn analyse(&self) -> Analysis {
        match &self.kernel {
            Ok(kernel) => analyse(&kernel.events, &self.requests, &kernel.allowed),
            Err(_) => queued_behind(&self.requests),
        }
    }

    /// Makes budgets of the `most` slowest calls of those that are `wanted` and took longer than `over_ns`; without the
    /// kernel's events of spans alone.
    pub fn explain(&self, over_ns: u64, most: usize, wanted: impl Fn(&Request) -> bool) -> Explanation {
        let events = self.kernel.as_ref().map_or(&[][..], |kernel| &kernel.events);
        explain(events, &self.requests, over_ns, most, wanted)
    }

    /// What threads are called. The ORB's own knowledge is the older one, as threads are named when they start.
    pub fn names(&self) -> HashMap<ThreadId, String> {
        let recorded = self
            .threads
            .iter()
            .map(|thread| (thread.thread, thread.name.clone()));
        let mut names: HashMap<_, _> = recorded.collect();
        if let Ok(kernel) = &self.kernel {
            names.extend(kernel.names.iter().map(|(thread, name)| (*thread, name.clone())));
        }
        names
    }

    /// How many flight records were overwritten before they could be read.
    pub fn overwritten(&self) -> u64 {
        self.threads.iter().map(|thread| thread.overwritten).sum()
    }
}

/// A folder in main memory that is removed in the end; if this process is killed, by the next one that makes such a folder.
#[derive(Debug)]
struct FlightFolder(PathBuf);

const PREFIX: &str = "punctual-flight-";

impl FlightFolder {
    fn create() -> io::Result<Self> {
        let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let places = [Some(PathBuf::from("/dev/shm")), own, Some("/run".into())];
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for place in places.into_iter().flatten() {
            remove_stale(&place);
            let path = place.join(format!("{PREFIX}{}", TaskId::current_process()));
            // What is there is of another process that had this number.
            let _ = std::fs::remove_dir_all(&path);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => failure = error,
            }
        }
        let text = format!("no folder in main memory for flight records: {failure}; is there a /dev/shm?");
        Err(io::Error::new(failure.kind(), text))
    }
}

impl Drop for FlightFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn remove_stale(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(Ok(process)) = process.map(str::parse::<TaskId>) else {
            continue;
        };
        if !Path::new(&format!("/proc/{process}")).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_with_its_owner_and_stale_ones_with_the_next() {
        let folder = match FlightFolder::create() {
            Ok(folder) => folder,
            Err(error) => return println!("skipped: {error}"),
        };
        let place = folder.0.parent().unwrap().to_owned();
        let mut process = std::process::Command::new("true").spawn().unwrap();
        let id = process.id();
        process.wait().unwrap();
        let stale = place.join(format!("{PREFIX}{id}"));
        std::fs::create_dir(&stale).unwrap();
        remove_stale(&place);
        assert!(!stale.exists() && folder.0.exists());
        let path = folder.0.clone();
        drop(folder);
        assert!(!path.exists());
    }
}
