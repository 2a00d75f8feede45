//! Sampling of the summed CPU time of processes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use punctual_os::{CpuSet, TaskId, Thread, ThreadSpec, clock, scheduling};
use punctual_system::throttling::{self, RealtimeRuntime};

use super::{Hole, HoleSource, Span, nanoseconds, outstanding_parts};
use crate::watchdog::above_all;

/// Samples the summed CPU time of the pinned processes from another CPU until it is stopped or dropped.
#[derive(Debug)]
pub struct HoleRecorder {
    stop: Arc<AtomicBool>,
    /// `None` after it has been stopped.
    thread: Option<Thread<Recording>>,
}

impl HoleRecorder {
    /// Time between two samples.
    pub const PERIOD: Duration = Duration::from_millis(5);

    /// Starts watching `processes`, which run on the CPUs `pinned`. The thread runs above all others, if
    /// permitted, on `driver`: CPUs other than the pinned ones, or an empty set if the machine has no others.
    ///
    /// # Errors
    /// A process has ended, the thread could not be started, or a CPU does not exist.
    pub fn start(processes: Vec<TaskId>, pinned: CpuSet, driver: &CpuSet) -> io::Result<Self> {
        for &process in &processes {
            clock::process_cpu_time(process)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = ThreadSpec::new("hole-recorder")
            .scheduling(above_all())
            .affinity((!driver.is_empty()).then(|| driver.clone()))
            .spawn(move || record(&processes, &pinned, &stopped))?;
        let thread = Some(thread);
        Ok(Self { stop, thread })
    }

    /// Returns the kernel's id of its thread.
    #[cfg(test)]
    pub(super) fn thread_id(&self) -> Option<TaskId> {
        self.thread.as_ref().map(Thread::tid)
    }

    /// Stops it and returns the recording.
    ///
    /// # Panics
    /// If the recording thread panicked.
    pub fn stop(mut self) -> Recording {
        self.stop.store(true, Ordering::Release);
        let thread = self.thread.take().expect("it is stopped once");
        thread.join().expect("the recorder does not panic")
    }
}

/// For failed measurements: the thread runs above all others and must not outlive the recorder.
impl Drop for HoleRecorder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Recording of a [`HoleRecorder`].
#[derive(Clone, Debug)]
pub struct Recording {
    pub(super) watched: Span,
    pub(super) stalls: Vec<Stall>,
    pub(super) samples: u64,
    pub(super) longest_gap: Duration,
}

/// Interval of 20 ms or more in which none of the processes ran, for any reason.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stall {
    pub(super) span: Span,
    pub(super) source: HoleSource,
}

impl Recording {
    /// Returns the holes: stalls during which a call was outstanding. `outstanding` are the intervals of all
    /// calls as the callers recorded them, in any order.
    pub fn holes(&self, outstanding: &[Span]) -> Vec<Hole> {
        let parts = self.stalls.iter().flat_map(|stall| {
            let parts = outstanding_parts(stall.span, outstanding);
            parts.into_iter().map(|part| Hole {
                start_ns: part.start_ns,
                length_ns: part.end_ns - part.start_ns,
                source: stall.source,
            })
        });
        parts.collect()
    }

    /// Returns the watched interval.
    pub fn watched(&self) -> Span {
        self.watched
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the longest time between two samples. Much more than [`HoleRecorder::PERIOD`] means that the
    /// recorder itself was delayed: the host stopped the machine, or real-time rights are missing.
    pub fn longest_gap(&self) -> Duration {
        self.longest_gap
    }
}

/// Returns whether the kernel may stop real-time threads for a share of each period. Threads of processes
/// without real-time rights, such as this one's, are not concerned.
fn is_throttling() -> bool {
    let is_limited = matches!(throttling::runtime(), Ok(RealtimeRuntime::Microseconds(_)));
    is_limited && scheduling::current().is_realtime()
}

fn record(processes: &[TaskId], pinned: &CpuSet, stop: &AtomicBool) -> Recording {
    let began = now_ns();
    let mut watch = Watch::new(began, cpu_time(processes), is_throttling());
    let mut next = Instant::now();
    while !stop.load(Ordering::Acquire) {
        next += HoleRecorder::PERIOD;
        let now = Instant::now();
        if next < now {
            // Delayed: continue from here instead of catching up.
            next = now;
        }
        clock::sleep_until(next);
        watch.sample(now_ns(), cpu_time(processes), || CpuAccount::read(pinned).ok());
    }
    watch.end()
}

/// Finds the stalls in a sequence of samples.
pub(super) struct Watch {
    recording: Recording,
    last_ns: u64,
    last_cpu: Duration,
    stall: Option<OpenStall>,
    /// Source of stalls in which the CPU was idle.
    if_idle: HoleSource,
}

struct OpenStall {
    start_ns: u64,
    first: Option<CpuAccount>,
    last: Option<CpuAccount>,
}

impl Watch {
    pub(super) fn new(now_ns: u64, cpu: Duration, is_throttling: bool) -> Self {
        Self {
            recording: Recording {
                watched: Span {
                    start_ns: now_ns,
                    end_ns: now_ns,
                },
                stalls: Vec::new(),
                samples: 0,
                longest_gap: Duration::ZERO,
            },
            last_ns: now_ns,
            last_cpu: cpu,
            stall: None,
            if_idle: if is_throttling {
                HoleSource::Throttling
            } else {
                HoleSource::Idle
            },
        }
    }

    /// Adds a sample. The account is expensive to read and therefore read in stalls only.
    pub(super) fn sample(
        &mut self,
        now_ns: u64,
        cpu: Duration,
        account: impl FnOnce() -> Option<CpuAccount>,
    ) {
        let gap = Duration::from_nanos(now_ns.saturating_sub(self.last_ns));
        self.recording.samples += 1;
        self.recording.longest_gap = self.recording.longest_gap.max(gap);
        if cpu == self.last_cpu {
            let account = account();
            let stall = self.stall.get_or_insert(OpenStall {
                start_ns: self.last_ns,
                first: account,
                last: None,
            });
            stall.last = account;
        } else {
            self.close_stall();
        }
        (self.last_ns, self.last_cpu) = (now_ns, cpu);
    }

    pub(super) fn end(mut self) -> Recording {
        self.close_stall();
        self.recording.watched.end_ns = self.last_ns;
        self.recording
    }

    /// Closes the stall at the previous sample, its certain end.
    fn close_stall(&mut self) {
        let Some(stall) = self.stall.take() else { return };
        let span = Span {
            start_ns: stall.start_ns,
            end_ns: self.last_ns,
        };
        if span.length() >= Hole::SHORTEST {
            let source = source_of(stall.first, stall.last, self.if_idle);
            self.recording.stalls.push(Stall { span, source });
        }
    }
}

/// The kernel's accounting of CPU time in ticks of 10 ms, summed over several CPUs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct CpuAccount {
    pub(crate) idle: u64,
    pub(crate) busy: u64,
}

impl CpuAccount {
    pub(crate) fn read(cpus: &CpuSet) -> io::Result<Self> {
        Ok(Self::parse(&std::fs::read_to_string("/proc/stat")?, cpus))
    }

    /// Fields of a line: user, nice, system, idle, iowait, irq, softirq, steal, …
    pub(super) fn parse(stat: &str, cpus: &CpuSet) -> Self {
        let mut account = Self::default();
        for line in stat.lines() {
            let mut fields = line.split_whitespace();
            let name = fields.next().and_then(|name| name.strip_prefix("cpu"));
            let Some(Ok(cpu)) = name.map(str::parse::<usize>) else {
                continue;
            };
            if cpus.contains(cpu) {
                let ticks: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
                let sum = |places: &[usize]| places.iter().filter_map(|&place| ticks.get(place)).sum::<u64>();
                account.idle += sum(&[3, 4]);
                account.busy += sum(&[0, 1, 2, 5, 6]);
            }
        }
        account
    }
}

fn source_of(first: Option<CpuAccount>, last: Option<CpuAccount>, if_idle: HoleSource) -> HoleSource {
    let (Some(first), Some(last)) = (first, last) else {
        return HoleSource::Unaccounted;
    };
    let idle = last.idle.saturating_sub(first.idle);
    let busy = last.busy.saturating_sub(first.busy);
    match (idle, busy) {
        (0, 0) => HoleSource::Unaccounted,
        _ if busy > idle => HoleSource::OtherTasks,
        _ => if_idle,
    }
}

/// Returns the summed CPU time; ended processes contribute nothing more.
fn cpu_time(processes: &[TaskId]) -> Duration {
    processes
        .iter()
        .filter_map(|&process| clock::process_cpu_time(process).ok())
        .sum()
}

fn now_ns() -> u64 {
    nanoseconds(clock::monotonic())
}
