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

pub(crate) use context_switch::yield_to_each_other;
pub(crate) use disturbance::Disturbances;
pub(crate) use samples::{Log, Sample, now_ns};
pub(crate) use subject::{Interrupts, Subject, no_rights, shortened};
pub(crate) use worker::{fifo, joined, run, serve};

use crate::{benchmark::Benchmark, role::Role};

/// The benchmarks, in the order of the papers.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    context_switch::BENCHMARK,
    tracing_overhead::BENCHMARK,
    clock_tick::BENCHMARK,
    thread_switch::BENCHMARK,
    timer_latency::BENCHMARK,
    sustained_timers::BENCHMARK,
    semaphore::BENCHMARK,
    mutex_inheritance::BENCHMARK,
    mutex_contention::BENCHMARK,
];

/// The roles of their child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[
    (context_switch::ROLE, context_switch::child),
    (tracing_overhead::ROLE, tracing_overhead::child),
    (clock_tick::ROLE, clock_tick::child),
    (thread_switch::ROLE, thread_switch::child),
    (timer_latency::ROLE, timer_latency::child),
    (sustained_timers::ROLE, sustained_timers::child),
    (semaphore::ROLE, semaphore::child),
    (mutex_inheritance::ROLE, mutex_inheritance::child),
    (mutex_contention::ROLE, mutex_contention::child),
];

/// Label of the axis of percentiles.
const SHORTER: &str = "share of the samples that were shorter (%)";
