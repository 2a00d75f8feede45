//! A whole recording: the kernel's events and what ORBs' flight recorders leave.

use std::collections::{BTreeSet, HashMap};
use std::io;

use punctual_flight::{ENVIRONMENT, ENVIRONMENT_RECORDS, ThreadRecords, read_folder};
use punctual_harness::MemoryFolder;

use crate::budget::{Explanation, explain};
use crate::distributable::{DistributableThread, Doing, distributable_threads};
use crate::event::ThreadId;
use crate::inversion::{Analysis, analyse, queued_behind};
use crate::kernel::{KernelRecorder, KernelSettings, KernelTrace};
use crate::request::{Request, requests};

/// A recording under way. Dropping it ends it and removes what it has made.
#[derive(Debug)]
pub struct Session {
    folder: MemoryFolder,
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
    /// The distributable threads in that.
    pub distributable: Vec<DistributableThread>,
}

impl Session {
    /// Starts to record. Where the kernel may not be traced, the flight recorder alone is used.
    ///
    /// # Errors
    /// There is no file system in main memory for the flight records.
    pub fn start(settings: &SessionSettings) -> io::Result<Self> {
        let folder = MemoryFolder::create()?;
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
            (ENVIRONMENT, self.folder.path().display().to_string()),
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

    /// What processes of ORBs are called.
    pub fn processes(&self) -> HashMap<i32, String> {
        let named = self
            .threads
            .iter()
            .filter(|thread| !thread.process_name.is_empty());
        named
            .map(|thread| (thread.process, thread.process_name.clone()))
            .collect()
    }

    /// When the first thing happened that ORBs recorded; 0 where nothing did.
    pub fn begin_ns(&self) -> u64 {
        let first = self.threads.iter().filter_map(|thread| thread.records.first());
        first.map(|record| record.time_ns).min().unwrap_or(0)
    }

    /// What segments of distributable threads are called. At the host of a servant that is the operation.
    pub fn segments(&self) -> BTreeSet<&str> {
        let spans = self.distributable.iter().flat_map(|thread| &thread.spans);
        let names = spans.filter_map(|span| match &span.what {
            Doing::Segment { name, .. } => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// How many flight records were overwritten before they could be read.
    pub fn overwritten(&self) -> u64 {
        self.threads.iter().map(|thread| thread.overwritten).sum()
    }
}
