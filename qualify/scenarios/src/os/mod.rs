//! `os.*`: the endsystem without an ORB: context switches, timers, the clock tick, semaphores and mutexes.
//!
//! Each benchmark has a child process on the measured CPU at real-time priorities, and a driver that sends
//! commands and evaluates the results. Samples are times between two readings of the clock, each with its
//! start, stored in memory that was touched beforehand. The driver subtracts the cost of reading the clock,
//! and also reports raw figures. Disturbed samples are identified by the kernel's recording of interrupts,
//! which costs almost nothing per switch, and by recorded holes. Clock ticks are identified by their phase in
//! the tick's period, which is determined in blocks with a recording and applied to blocks without one.
//!
//! Sources: [Schmidt 2002] 3.1, [Levine 1999], [Fayyad-Kazan 2013].

mod clock_tick;
mod context_switch;
mod disturbance;
mod more_samples;
mod mutex;
mod mutex_contention;
mod mutex_inheritance;
mod samples;
mod semaphore;
mod subject;
mod sustained_timers;
mod thread_switch;
mod tick_clock;
mod timer;
mod timer_latency;
mod tracing_overhead;
mod wake_up;
mod worker;

pub(crate) use context_switch::switch_us;
pub(crate) use disturbance::Disturbances;
pub(crate) use samples::{Log, Sample, now_ns};
pub(crate) use subject::{Interrupts, Subject};
pub(crate) use worker::{Job, Measured, Ready, Timed, fifo, get_ready, joined, run, spin_for, timed};

use punctual_harness::child::TaskEntry;

use self::worker::Worker;
use crate::{
    benchmark::Benchmark,
    experiment::benchmark,
    role::{Role, entry},
};

/// The benchmarks, in the order of the papers.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    benchmark::<context_switch::ContextSwitch>(),
    benchmark::<tracing_overhead::TracingOverhead>(),
    benchmark::<clock_tick::ClockTick>(),
    benchmark::<thread_switch::ThreadSwitch>(),
    benchmark::<timer_latency::TimerLatency>(),
    benchmark::<sustained_timers::SustainedTimers>(),
    benchmark::<semaphore::ManyWaiters>(),
    benchmark::<mutex_inheritance::MutexInheritance>(),
    benchmark::<mutex_contention::MutexContention>(),
];

/// Jobs of their child process.
const JOBS: &[TaskEntry<Worker>] = &[
    TaskEntry::of::<Timed<context_switch::YieldToEachOther>>(),
    TaskEntry::of::<Timed<context_switch::Synchronize>>(),
    TaskEntry::of::<Timed<tracing_overhead::ReadClock>>(),
    TaskEntry::of::<Timed<clock_tick::Spin>>(),
    TaskEntry::of::<Timed<thread_switch::Switch>>(),
    TaskEntry::of::<Timed<timer_latency::WakeUp>>(),
    TaskEntry::of::<Timed<sustained_timers::Expire>>(),
    TaskEntry::of::<Timed<semaphore::Contend>>(),
    TaskEntry::of::<Timed<mutex_inheritance::Contend>>(),
    TaskEntry::of::<Timed<mutex_contention::Contend>>(),
];

/// The roles of the child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[entry::<Worker>()];
