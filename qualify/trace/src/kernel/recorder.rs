//! Recorder of kernel events: trace instance, reading thread, recorded trace.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use punctual_harness::{Span, TraceInstance, watchdog::above_all};
use punctual_os::{CpuSet, Thread, ThreadSpec, clock};
use punctual_system::process;

use super::{
    missing_switches,
    parser::{EVENTS, Parser},
};
use crate::event::{KernelEvent, ThreadId};

/// Settings of a recording.
#[derive(Clone, Debug)]
pub struct KernelSettings {
    /// Events to record. Each event costs its CPU a fraction of a microsecond. Default: all.
    pub events: Recorded,
    /// CPUs of the recording thread, which runs above all others: not the observed ones. Empty: anywhere, as
    /// an ordinary thread.
    pub reader: CpuSet,
    /// Size of the kernel's buffer per CPU in KiB; must suffice while the reader cannot run. Default: 4096.
    pub buffer_kib: usize,
    /// Maximum number of events kept, about 40 octets each; later ones count as lost. Default: 16 million.
    pub max_events: usize,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            events: Recorded::All,
            reader: CpuSet::empty(),
            buffer_kib: 4096,
            max_events: 16_000_000,
        }
    }
}

/// Kernel events that are recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Recorded {
    /// All events that the analysis of inversions needs.
    All,
    /// Switches between threads only.
    Switches,
    /// Interrupts only: wake-ups and switches of threads are not recorded.
    Interrupts,
}

impl Recorded {
    fn includes(self, event: &str) -> bool {
        match self {
            Self::All => true,
            Self::Switches => event == "sched/sched_switch",
            Self::Interrupts => event.starts_with("irq"),
        }
    }
}

/// Recorder of the kernel's scheduling events on all CPUs, until it is stopped or dropped.
#[derive(Debug)]
pub struct KernelRecorder {
    instance: TraceInstance,
    stop: Arc<AtomicBool>,
    /// `None` after it has been stopped.
    thread: Option<Thread<io::Result<KernelTrace>>>,
}

/// Recorded kernel events.
#[derive(Clone, Debug, Default)]
pub struct KernelTrace {
    /// Events, ordered by time.
    pub events: Vec<KernelEvent>,
    /// Names of threads.
    pub names: HashMap<ThreadId, String>,
    /// Affinities of threads, as far as observed.
    pub allowed: HashMap<ThreadId, CpuSet>,
    /// Start of the recording, in nanoseconds of the monotonic clock.
    pub begin_ns: u64,
    /// End of the recording.
    pub end_ns: u64,
    /// Losses.
    pub lost: Lost,
}

/// Losses of a trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lost {
    /// Events that the kernel overwrote or dropped before they were read.
    pub by_kernel: u64,
    /// Events beyond [`KernelSettings::max_events`].
    pub beyond_limit: u64,
    /// Malformed pages.
    pub malformed_pages: u64,
}

impl Lost {
    /// Returns whether nothing is missing.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl KernelRecorder {
    /// Starts to record in a trace instance of this process.
    ///
    /// Run a [`Supervisor`](punctual_harness::Supervisor), which removes the instance if this process is
    /// killed.
    ///
    /// # Errors
    /// Tracing is not permitted, or not supported by this kernel; the text states the remedy.
    pub fn start(settings: &KernelSettings) -> io::Result<Self> {
        let instance = TraceInstance::create()?;
        let parser = Parser::read(instance.tracefs().root())?;
        let set = |file: &str, value: &str| {
            std::fs::write(instance.path().join(file), value).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot set `{file}` of the trace instance: {error}"),
                )
            })
        };
        set("tracing_on", "0")?;
        set("trace_clock", "mono")?;
        set("buffer_size_kb", &settings.buffer_kib.to_string())?;
        let chosen = |event: &&(&str, bool)| settings.events.includes(event.0);
        for &(event, required) in EVENTS.iter().filter(chosen) {
            let enabled = set(&format!("events/{event}/enable"), "1");
            if required {
                enabled?;
            }
        }
        let pipes = pipes(instance.path())?;
        let page_size = page_size(instance.path());
        let begin_ns = now_ns();
        set("tracing_on", "1")?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, max_events) = (Arc::clone(&stop), settings.max_events);
        let mut spec = ThreadSpec::new("trace-reader");
        if !settings.reader.is_empty() {
            spec = spec.scheduling(above_all()).affinity(settings.reader.clone());
        }
        let folder = instance.path().to_owned();
        let thread = spec.spawn(move || {
            let mut reader = Reader {
                parser,
                pipes,
                page: vec![0; page_size],
                max_events,
                trace: KernelTrace {
                    begin_ns,
                    ..KernelTrace::default()
                },
                places_seen: None,
            };
            let result = reader.run(&folder, &stopped);
            result.map(|()| reader.trace)
        })?;
        Ok(Self {
            instance,
            stop,
            thread: Some(thread),
        })
    }

    /// Stops it and returns the recorded events.
    ///
    /// # Errors
    /// The kernel's files could not be read.
    ///
    /// # Panics
    /// If the recording thread panicked.
    pub fn stop(mut self) -> io::Result<KernelTrace> {
        std::fs::write(self.instance.path().join("tracing_on"), "0")?;
        self.stop.store(true, Ordering::Release);
        let thread = self.thread.take().expect("it is stopped once");
        let mut trace = thread.join().expect("the recorder does not panic")?;
        trace.events.sort_by_key(|event| event.time_ns);
        missing_switches::add(&mut trace.events);
        Ok(trace)
    }
}

/// For failed measurements. The thread ends first, because the instance cannot be removed while it is being
/// read.
impl Drop for KernelRecorder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Interval at which the kernel's buffers are read.
const PERIOD: Duration = Duration::from_millis(20);
/// Interval at which affinities are read.
const PLACES_PERIOD: Duration = Duration::from_secs(1);

struct Reader {
    parser: Parser,
    pipes: Vec<(u32, File)>,
    page: Vec<u8>,
    max_events: usize,
    trace: KernelTrace,
    places_seen: Option<Instant>,
}

impl Reader {
    fn run(&mut self, folder: &Path, stop: &AtomicBool) -> io::Result<()> {
        loop {
            // In this order, so that events recorded before the end are read.
            let ends = stop.load(Ordering::Acquire);
            self.drain()?;
            if ends || self.places_seen.is_none_or(|seen| seen.elapsed() > PLACES_PERIOD) {
                self.read_affinities();
            }
            if ends {
                break;
            }
            std::thread::sleep(PERIOD);
        }
        self.trace.end_ns = now_ns();
        for (cpu, _) in &self.pipes {
            let statistics = std::fs::read_to_string(folder.join(format!("per_cpu/cpu{cpu}/stats")))?;
            self.trace.lost.by_kernel += lost_by_kernel(&statistics);
        }
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        for (cpu, pipe) in &mut self.pipes {
            loop {
                let length = match pipe.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                let trace = &mut self.trace;
                let facts = self
                    .parser
                    .page(*cpu, &self.page[..length], &mut trace.events, &mut trace.names);
                trace.lost.malformed_pages += u64::from(facts.malformed);
                let beyond = trace.events.len().saturating_sub(self.max_events);
                trace.events.truncate(self.max_events);
                trace.lost.beyond_limit += beyond as u64;
            }
        }
        Ok(())
    }

    fn read_affinities(&mut self) {
        self.places_seen = Some(Instant::now());
        for placed in process::placed_threads().unwrap_or_default() {
            self.trace.allowed.insert(placed.thread.get(), placed.cpus);
        }
    }
}

fn pipes(instance: &Path) -> io::Result<Vec<(u32, File)>> {
    let mut pipes = Vec::new();
    for entry in std::fs::read_dir(instance.join("per_cpu"))? {
        let entry = entry?;
        let name = entry.file_name();
        let cpu = name.to_str().and_then(|name| name.strip_prefix("cpu"));
        if let Some(Ok(cpu)) = cpu.map(str::parse) {
            let pipe = OpenOptions::new()
                .read(true)
                .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
                .open(entry.path().join("trace_pipe_raw"))?;
            pipes.push((cpu, pipe));
        }
    }
    pipes.sort_by_key(|(cpu, _)| *cpu);
    Ok(pipes)
}

/// Maximum size of a page of the buffer, which newer kernels make configurable.
fn page_size(instance: &Path) -> usize {
    let text = std::fs::read_to_string(instance.join("buffer_subbuf_size_kb"));
    let kib = text.ok().and_then(|text| text.trim().parse::<usize>().ok());
    kib.map_or_else(rustix::param::page_size, |kib| kib << 10)
}

/// Returns the losses in the `stats` file of a CPU.
fn lost_by_kernel(statistics: &str) -> u64 {
    let count = |name: &str| {
        let line = statistics.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<u64>().ok()
    };
    let causes = ["overrun:", "commit overrun:", "dropped events:"];
    causes.into_iter().filter_map(count).sum()
}

fn now_ns() -> u64 {
    let now = clock::monotonic();
    Span::between(now, now).start_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::What;

    #[test]
    fn losses_are_summed() {
        let text =
            "entries: 28\noverrun: 3\ncommit overrun: 0\nbytes: 848\ndropped events: 4\nread events: 9\n";
        assert_eq!(lost_by_kernel(text), 7);
        assert_eq!(lost_by_kernel(""), 0);
    }

    /// Each process has only one instance, and tests run concurrently.
    fn started(settings: &KernelSettings) -> io::Result<KernelRecorder> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match KernelRecorder::start(settings) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other,
            }
        }
    }

    #[test]
    fn only_selected_events_are_recorded() {
        let settings = KernelSettings {
            events: Recorded::Interrupts,
            ..KernelSettings::default()
        };
        let recorder = match started(&settings) {
            Ok(recorder) => recorder,
            Err(error) => return punctual_fixtures::skip_error(&error),
        };
        std::thread::sleep(Duration::from_millis(20));
        let trace = recorder.stop().unwrap();
        let interrupt =
            |event: &KernelEvent| matches!(event.what, What::InterruptBegin(_) | What::InterruptEnd(_));
        assert!(trace.events.iter().all(interrupt));
        assert!(!trace.events.is_empty(), "no interrupts were recorded");
    }

    #[test]
    fn a_dropped_recorder_removes_its_instance() {
        for _ in 0..2 {
            match started(&KernelSettings::default()) {
                Ok(recorder) => drop(recorder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => panic!("{error}"),
                Err(error) => return punctual_fixtures::skip_error(&error),
            }
        }
    }

    #[test]
    fn sleep_is_recorded_as_switches_with_exact_times() {
        let recorder = match started(&KernelSettings::default()) {
            Ok(recorder) => recorder,
            // The test checks that the pages are decoded.
            Err(error) if error.kind() != io::ErrorKind::InvalidData => {
                return punctual_fixtures::skip_error(&error);
            }
            Err(error) => panic!("{error}"),
        };
        let me = punctual_os::TaskId::current_thread().get();
        let before = now_ns();
        std::thread::sleep(Duration::from_millis(5));
        let after = now_ns();
        let trace = recorder.stop().unwrap();
        assert!(trace.lost.malformed_pages == 0, "{:?}", trace.lost);
        assert!(trace.events.is_sorted_by_key(|event| event.time_ns));
        let left = |event: &&KernelEvent| match event.what {
            What::Switch {
                previous,
                still_runnable: false,
                ..
            } => previous.thread == me,
            _ => false,
        };
        // Some kernels do not record the switch away from an idle thread.
        let came = |event: &&KernelEvent| match event.what {
            What::Switch { next: task, .. } | What::Woken { task, .. } => task.thread == me,
            _ => false,
        };
        let within = |event: &&KernelEvent| (before..=after).contains(&event.time_ns);
        let slept = trace.events.iter().filter(within).find(left).unwrap();
        let woke = trace.events.iter().filter(within).rfind(came).unwrap();
        assert!(woke.time_ns - slept.time_ns >= 4_900_000, "{slept:?} {woke:?}");
        assert!(trace.names.contains_key(&me) && trace.allowed.contains_key(&me));
        assert!(trace.begin_ns <= before && trace.end_ns >= after);
    }
}
