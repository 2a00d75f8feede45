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

/// How to record.
#[derive(Clone, Debug)]
pub struct KernelSettings {
    /// What to record. Each event costs the CPU that it happens on a fraction of a microsecond. Default: all.
    pub events: Recorded,
    /// Where the recording thread runs, above all others: CPUs other than the watched ones. Empty: anywhere, as an ordinary
    /// thread.
    pub reader: CpuSet,
    /// The kernel's buffer for each CPU in KiB; it must hold what happens while the reader cannot run. Default 4096.
    pub buffer_kib: usize,
    /// How many events are kept at most, of some 40 octets each; later ones are counted as lost. Default 16 million.
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

/// Which events of the kernel are recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Recorded {
    /// All that the analysis of inversions needs.
    All,
    /// Switches between threads alone.
    Switches,
    /// Interrupts alone: nothing is recorded where threads wake, wait and switch.
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

/// Records the kernel's scheduling events of all CPUs, until it is stopped or dropped.
#[derive(Debug)]
pub struct KernelRecorder {
    instance: TraceInstance,
    stop: Arc<AtomicBool>,
    /// Until it is stopped.
    thread: Option<Thread<io::Result<KernelTrace>>>,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct KernelTrace {
    /// In the order of time.
    pub events: Vec<KernelEvent>,
    /// What threads are called.
    pub names: HashMap<ThreadId, String>,
    /// Where threads may run, as far as it was seen.
    pub allowed: HashMap<ThreadId, CpuSet>,
    /// When recording began and ended, in nanoseconds of the monotonic clock.
    pub begin_ns: u64,
    /// See `begin_ns`.
    pub end_ns: u64,
    /// What is missing.
    pub lost: Lost,
}

/// What is missing from a trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lost {
    /// Events that the kernel overwrote or dropped before they were read.
    pub by_kernel: u64,
    /// Events beyond [`KernelSettings::max_events`].
    pub beyond_limit: u64,
    /// Pages in which something was not understood.
    pub malformed_pages: u64,
}

impl Lost {
    /// Whether nothing is.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl KernelRecorder {
    /// Starts to record, in a trace instance of this process's own.
    ///
    /// Have a [`Supervisor`](punctual_harness::Supervisor) run, which removes it where this process is killed.
    ///
    /// # Errors
    /// Tracing may not be used, or not in this kernel; the text says what to do.
    pub fn start(settings: &KernelSettings) -> io::Result<Self> {
        let instance = TraceInstance::create()?;
        let parser = Parser::read(instance.tracefs().root())?;
        let set = |file: &str, value: &str| {
            std::fs::write(instance.path().join(file), value).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("the trace's `{file}` cannot be set: {error}"),
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

    /// Ends it and gives what was recorded.
    ///
    /// # Errors
    /// The kernel's files could not be read.
    ///
    /// # Panics
    /// When the recording thread did.
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

/// For a measurement that failed. In this order: the instance cannot be removed while the thread reads it.
impl Drop for KernelRecorder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How often the kernel's buffers are emptied.
const PERIOD: Duration = Duration::from_millis(20);
/// How often it is looked where threads may run.
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
            // In this order: what was recorded before the end is read after it.
            let ends = stop.load(Ordering::Acquire);
            self.drain()?;
            if ends || self.places_seen.is_none_or(|seen| seen.elapsed() > PLACES_PERIOD) {
                self.look_at_places();
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

    fn look_at_places(&mut self) {
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

/// A read takes at most one page of the buffer, which newer kernels let choose.
fn page_size(instance: &Path) -> usize {
    let text = std::fs::read_to_string(instance.join("buffer_subbuf_size_kb"));
    let kib = text.ok().and_then(|text| text.trim().parse::<usize>().ok());
    kib.map_or_else(rustix::param::page_size, |kib| kib << 10)
}

/// From the `stats` file of a CPU.
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

    /// There is one for each process, and tests run beside each other.
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
    fn what_is_chosen_is_recorded_and_nothing_else() {
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
        assert!(!trace.events.is_empty(), "a machine without interrupts");
    }

    #[test]
    fn a_recorder_that_is_dropped_makes_room_for_the_next_one() {
        for _ in 0..2 {
            match started(&KernelSettings::default()) {
                Ok(recorder) => drop(recorder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => panic!("{error}"),
                Err(error) => return punctual_fixtures::skip_error(&error),
            }
        }
    }

    #[test]
    fn sleeping_is_seen_as_switches_with_exact_times() {
        let recorder = match started(&KernelSettings::default()) {
            Ok(recorder) => recorder,
            // Being understood is what is tested.
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
        let left = |event: &&KernelEvent| matches!(event.what, What::Switch { previous, still_runnable: false, .. } if previous.thread == me);
        // Some kernels keep the switch away from an idle thread to themselves.
        let came = |event: &&KernelEvent| matches!(event.what, What::Switch { next: task, .. } | What::Woken { task, .. } if task.thread == me);
        let within = |event: &&KernelEvent| (before..=after).contains(&event.time_ns);
        let slept = trace.events.iter().filter(within).find(left).unwrap();
        let woke = trace.events.iter().filter(within).rfind(came).unwrap();
        assert!(woke.time_ns - slept.time_ns >= 4_900_000, "{slept:?} {woke:?}");
        assert!(trace.names.contains_key(&me) && trace.allowed.contains_key(&me));
        assert!(trace.begin_ns <= before && trace.end_ns >= after);
    }
}
