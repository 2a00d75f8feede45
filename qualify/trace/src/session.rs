//! Recording of kernel events and of the flight records of ORBs.

use std::collections::HashMap;
use std::io;

use punctual_flight::{ENVIRONMENT, ENVIRONMENT_RECORDS, ThreadRecords, read_folder};
use punctual_harness::MemoryFolder;

use crate::budget::{Explanation, explain};
use crate::distributable::{DistributableThread, distributable_threads};
use crate::event::ThreadId;
use crate::inversion::{Analysis, analyse, queued_behind};
use crate::kernel::{KernelRecorder, KernelSettings, KernelTrace};
use crate::request::{Request, requests};

/// Recording in progress. Dropping this stops it and removes its files.
#[derive(Debug)]
pub struct Session {
    folder: MemoryFolder,
    kernel: Result<KernelRecorder, String>,
    records_per_thread: usize,
}

/// Settings of a recording.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// Recording of the kernel; `None`: not recorded.
    pub kernel: Option<KernelSettings>,
    /// Number of flight records kept per thread, 32 octets each. Default: 65536.
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

/// Result of a recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Kernel events, or a sentence for the user why there are none.
    pub kernel: Result<KernelTrace, String>,
    /// Flight records of ORBs' threads.
    pub threads: Vec<ThreadRecords>,
    /// Requests in them.
    pub requests: Vec<Request>,
    /// Distributable threads in them.
    pub distributable: Vec<DistributableThread>,
}

impl Session {
    /// Starts to record. If the kernel may not be traced, only flight records are used.
    ///
    /// # Errors
    /// No file system in main memory is available for the flight records.
    pub fn start(settings: &SessionSettings) -> io::Result<Self> {
        let folder = MemoryFolder::create()?;
        let kernel = match &settings.kernel {
            None => Err("not requested".to_owned()),
            Some(settings) => KernelRecorder::start(settings).map_err(|error| error.to_string()),
        };
        Ok(Self {
            folder,
            kernel,
            records_per_thread: settings.records_per_thread,
        })
    }

    /// Returns the environment that turns the flight recorder on in processes.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [
            (ENVIRONMENT, self.folder.path().display().to_string()),
            (ENVIRONMENT_RECORDS, self.records_per_thread.to_string()),
        ]
    }

    /// Returns why the kernel is not traced, if so.
    pub fn without_kernel(&self) -> Option<&str> {
        self.kernel.as_ref().err().map(String::as_str)
    }

    /// Stops the recording and returns its result.
    ///
    /// # Errors
    /// Records cannot be read.
    pub fn stop(self) -> io::Result<Recorded> {
        let kernel = match self.kernel {
            Ok(recorder) => Ok(recorder.stop()?),
            Err(reason) => Err(reason),
        };
        let threads = read_folder(self.folder.path())?;
        Ok(Recorded {
            kernel,
            requests: requests(&threads),
            distributable: distributable_threads(&threads),
            threads,
        })
    }
}

impl Recorded {
    /// Finds inversions and holes; without kernel events, only inversions that flight records show.
    pub fn analyse(&self) -> Analysis {
        match &self.kernel {
            Ok(kernel) => analyse(&kernel.events, &self.requests, &kernel.allowed),
            Err(_) => queued_behind(&self.requests),
        }
    }

    /// Computes budgets of the `most` slowest `wanted` calls above `over_ns`; without kernel events, spans
    /// only.
    pub fn explain(&self, over_ns: u64, most: usize, wanted: impl Fn(&Request) -> bool) -> Explanation {
        let events = self.kernel.as_ref().map_or(&[][..], |kernel| &kernel.events);
        explain(events, &self.requests, over_ns, most, wanted)
    }

    /// Returns the names of threads. The kernel's are newer than the ORB's, because threads are named when
    /// they start.
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

    /// Returns the names of the ORBs' processes.
    pub fn processes(&self) -> HashMap<i32, String> {
        let named = self
            .threads
            .iter()
            .filter(|thread| !thread.process_name.is_empty());
        named
            .map(|thread| (thread.process, thread.process_name.clone()))
            .collect()
    }

    /// Returns the time of the first flight record; 0 without records.
    pub fn begin_ns(&self) -> u64 {
        let first = self.threads.iter().filter_map(|thread| thread.records.first());
        first.map(|record| record.time_ns).min().unwrap_or(0)
    }

    /// Returns the names of operations by their hashes, as in [`Request::operation`].
    pub fn operations(&self) -> HashMap<u64, String> {
        let threads = self.threads.iter();
        threads
            .flat_map(|thread| thread.operations.iter().cloned())
            .collect()
    }

    /// Returns the number of flight records overwritten before they could be read.
    pub fn overwritten(&self) -> u64 {
        self.threads.iter().map(|thread| thread.overwritten).sum()
    }
}
