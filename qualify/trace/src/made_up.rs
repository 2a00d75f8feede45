//! Events of the kernel, for tests.

use crate::event::{KernelEvent, Level, Task, ThreadId, What};

pub(crate) fn task(thread: ThreadId, level: u8) -> Task {
    Task {
        thread,
        level: Level(level),
    }
}

/// The thread of a CPU that has nothing to do.
pub(crate) fn idle() -> Task {
    task(0, 0)
}

pub(crate) fn event(time_ns: u64, cpu: u32, what: What) -> KernelEvent {
    KernelEvent { time_ns, cpu, what }
}

/// The CPU goes over from one to the other, which could have gone on or not.
pub(crate) fn switch(
    time_ns: u64,
    cpu: u32,
    previous: Task,
    still_runnable: bool,
    next: Task,
) -> KernelEvent {
    event(
        time_ns,
        cpu,
        What::Switch {
            previous,
            still_runnable,
            next,
        },
    )
}

pub(crate) fn blocks(time_ns: u64, cpu: u32, previous: Task, next: Task) -> KernelEvent {
    switch(time_ns, cpu, previous, false, next)
}

pub(crate) fn preempts(time_ns: u64, cpu: u32, previous: Task, next: Task) -> KernelEvent {
    switch(time_ns, cpu, previous, true, next)
}

pub(crate) fn waking(time_ns: u64, at: u32, task: Task, cpu: u32) -> KernelEvent {
    event(time_ns, at, What::Waking { task, cpu })
}

pub(crate) fn woken(time_ns: u64, at: u32, task: Task, cpu: u32) -> KernelEvent {
    event(time_ns, at, What::Woken { task, cpu })
}
