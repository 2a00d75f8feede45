//! The parts of the time between the expiry of a timer and the waiting thread's code, from the kernel's
//! recording.

use punctual_os::CpuSet;
use punctual_trace::{
    event::{Interrupt, KernelEvent, ThreadId, What},
    kernel::KernelTrace,
};

use super::samples::Sample;

/// The parts of one wake-up, in nanoseconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Parts {
    /// Time from the expiry to the timer's interrupt: clock hardware, masked interrupts, and the host.
    pub(super) interrupt_ns: u64,
    /// Time from the interrupt to the wake-up of the thread.
    pub(super) handler_ns: u64,
    /// Time from the wake-up to the thread's reading of the clock. Not divided, because some kernels do not
    /// record every switch from an idle CPU.
    pub(super) thread_ns: u64,
}

impl Parts {
    pub(super) const NAMES: [&'static str; 3] = [
        "expiry to interrupt",
        "interrupt to waking the thread",
        "waking the thread to its code",
    ];

    pub(super) fn all(self) -> [u64; 3] {
        [self.interrupt_ns, self.handler_ns, self.thread_ns]
    }
}

/// The kernel's recording of the CPUs that a thread ran on.
pub(super) struct WakeUps {
    events: Vec<KernelEvent>,
    thread: ThreadId,
}

impl WakeUps {
    pub(super) fn new(trace: KernelTrace, pinned: &CpuSet, thread: ThreadId) -> Self {
        let mut events = trace.events;
        events.retain(|event| pinned.contains(event.cpu as usize));
        Self { events, thread }
    }

    /// Returns the parts of a sample that begins with an expiry. `None` if the recording is incomplete: the
    /// thread was not waiting yet, or an event is missing.
    pub(super) fn parts(&self, sample: Sample) -> Option<Parts> {
        let span = sample.span();
        let first = self.events.partition_point(|event| event.time_ns < span.start_ns);
        let mut events = self.events[first..]
            .iter()
            .take_while(|event| event.time_ns <= span.end_ns);
        let mut time_of =
            |is: &dyn Fn(What) -> bool| events.find(|event| is(event.what)).map(|event| event.time_ns);
        let interrupt = time_of(&|what| what == What::InterruptBegin(Interrupt::Timer))?;
        let woken = time_of(&|what| matches!(what, What::Waking { task, .. } if task.thread == self.thread))?;
        Some(Parts {
            interrupt_ns: interrupt - span.start_ns,
            handler_ns: woken - interrupt,
            thread_ns: span.end_ns - woken,
        })
    }
}

#[cfg(test)]
mod tests {
    use punctual_trace::event::{Level, Task};

    use super::*;

    fn task(thread: ThreadId) -> Task {
        Task {
            thread,
            level: Level(80),
        }
    }

    fn wake_ups(events: &[(u64, u32, What)]) -> WakeUps {
        let event = |&(time_ns, cpu, what): &(u64, u32, What)| KernelEvent { time_ns, cpu, what };
        let trace = KernelTrace {
            events: events.iter().map(event).collect(),
            ..KernelTrace::default()
        };
        WakeUps::new(trace, &CpuSet::single(1), 7)
    }

    fn waking(thread: ThreadId) -> What {
        What::Waking {
            task: task(thread),
            cpu: 1,
        }
    }

    const TIMER: What = What::InterruptBegin(Interrupt::Timer);

    #[test]
    fn the_parts_of_a_wake_up_add_up() {
        let wake_ups = wake_ups(&[
            (990, 1, TIMER),
            (1_001, 0, TIMER),
            (1_010, 1, TIMER),
            (1_011, 1, waking(8)),
            (1_013, 1, waking(7)),
            (1_900, 1, TIMER),
        ]);
        let parts = wake_ups.parts(Sample(1_000, 25)).unwrap();
        assert_eq!(parts.all(), [10, 3, 12]);
        assert_eq!(parts.all().iter().sum::<u64>(), 25);
    }

    #[test]
    fn without_all_events_there_are_no_parts() {
        let wake_ups = wake_ups(&[(1_010, 1, TIMER), (1_013, 1, waking(8)), (1_030, 1, waking(7))]);
        assert_eq!(
            wake_ups.parts(Sample(1_000, 25)),
            None,
            "it ended before the wake-up"
        );
        assert_eq!(wake_ups.parts(Sample(2_000, 25)), None);
    }
}
