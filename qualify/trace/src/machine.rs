//! State of threads and CPUs, derived from kernel events.

mod levels;
mod steps;

use std::collections::{BTreeMap, HashMap};

use crate::event::{Interrupt, KernelEvent, Level, ThreadId, What};
use crate::inversion::{HoleSource, SILENCE_NS};
pub(crate) use levels::{LevelHistory, level_in_service};
pub(crate) use steps::{Change, steps};

/// State of all threads and CPUs.
#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) cpus: BTreeMap<u32, Cpu>,
    pub(crate) threads: HashMap<ThreadId, Thread>,
    /// Ready real-time threads.
    pub(crate) ready: Vec<ThreadId>,
}

/// State of a CPU.
#[derive(Default)]
pub(crate) struct Cpu {
    /// `None` before it is known; thread 0: idle.
    pub(crate) running: Option<ThreadId>,
    /// Interrupts in progress, innermost last.
    pub(crate) interrupts: Vec<Interrupt>,
    /// Whether the kernel has preferred the running thread to a real-time thread in the queue.
    pub(crate) held_back: Option<HoleSource>,
    /// End of a silence that is so long that the host may not have run it.
    pub(crate) silent_until: Option<u64>,
}

/// State of execution of a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Running,
    /// `true`: already in the queue of its CPU.
    Ready {
        queued: bool,
    },
    Blocked,
}

/// State of a thread.
pub(crate) struct Thread {
    pub(crate) state: State,
    /// Whether a kernel event has determined its state.
    pub(crate) seen: bool,
    pub(crate) cpu: u32,
    pub(crate) level: Level,
    /// Own level while it has inherited one.
    pub(crate) own_level: Option<Level>,
    /// Requests that it serves, innermost last.
    pub(crate) serving: Vec<usize>,
}

impl Machine {
    pub(crate) fn cpu(&mut self, cpu: u32) -> &mut Cpu {
        self.cpus.entry(cpu).or_default()
    }

    /// Returns the thread as far as known.
    pub(crate) fn thread(&mut self, id: ThreadId) -> &mut Thread {
        self.threads.entry(id).or_insert_with(Thread::unknown)
    }

    /// Records the start of a service.
    pub(crate) fn begin_service(&mut self, place: usize, thread: ThreadId) {
        self.thread(thread).serving.push(place);
    }

    /// Records the end of a service.
    pub(crate) fn end_service(&mut self, place: usize, thread: ThreadId) {
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.serving.retain(|other| *other != place);
        }
    }

    /// Records that a thread has written a flight record: it runs, even if the kernel has not recorded the
    /// switch to it, and its CPU is not silent.
    pub(crate) fn runs(&mut self, id: ThreadId, time_ns: u64) {
        let Some(thread) = self.threads.get(&id).filter(|thread| thread.seen) else {
            return;
        };
        let (state, home, level) = (thread.state, thread.cpu, thread.level);
        let cpu = self.cpu(home);
        cpu.silent_until = cpu
            .silent_until
            .filter(|until| until.saturating_sub(time_ns) >= SILENCE_NS);
        if state != State::Running {
            cpu.running = Some(id);
            self.set(id, State::Running, Some(home), Some(level));
        }
    }

    /// Applies a kernel event.
    pub(crate) fn apply(&mut self, event: KernelEvent) {
        match event.what {
            What::Switch {
                previous,
                still_runnable,
                next,
            } => {
                if previous.thread != 0 {
                    let state = if still_runnable {
                        State::Ready { queued: true }
                    } else {
                        State::Blocked
                    };
                    self.set(previous.thread, state, Some(event.cpu), Some(previous.level));
                }
                if next.thread != 0 {
                    self.set(next.thread, State::Running, Some(event.cpu), Some(next.level));
                }
                let cpu = self.cpu(event.cpu);
                cpu.running = Some(next.thread);
                cpu.interrupts.clear();
                self.hold_back(event.cpu);
            }
            What::Waking { task, cpu } => {
                // A thread that is still running on its way to sleep continues to run.
                if self
                    .state(task.thread)
                    .is_none_or(|state| state == State::Blocked)
                {
                    let ready = State::Ready { queued: false };
                    self.set(task.thread, ready, Some(cpu), Some(task.level));
                }
            }
            What::Woken { task, cpu } => {
                if self.state(task.thread) != Some(State::Running) {
                    let ready = State::Ready { queued: true };
                    self.set(task.thread, ready, Some(cpu), Some(task.level));
                }
            }
            What::Inherited { thread, from, to } => {
                let state = self.state(thread);
                let known = self.thread(thread);
                let own = known.own_level.unwrap_or(from);
                known.own_level = (to > own).then_some(own);
                if let Some(state) = state {
                    self.set(thread, state, None, Some(to));
                }
            }
            What::Migrated { thread, cpu } => {
                if let Some(state @ State::Ready { .. }) = self.state(thread) {
                    self.set(thread, state, Some(cpu), None);
                }
            }
            What::InterruptBegin(interrupt) => self.cpu(event.cpu).interrupts.push(interrupt),
            What::InterruptEnd(interrupt) => {
                let stack = &mut self.cpu(event.cpu).interrupts;
                if let Some(place) = stack.iter().rposition(|other| *other == interrupt) {
                    stack.truncate(place);
                }
            }
        }
    }

    /// Determines whether the kernel prefers the thread that a CPU runs to a real-time one in its queue.
    pub(crate) fn hold_back(&mut self, cpu: u32) {
        let runner = self.cpu(cpu).running;
        let level = |id| {
            self.threads
                .get(&id)
                .map_or(Level::ORDINARY, |thread| thread.level)
        };
        let is_ordinary = |id| id == 0 || !level(id).is_realtime();
        let queued_here = |id: &ThreadId| {
            let thread = &self.threads[id];
            thread.cpu == cpu && thread.state == State::Ready { queued: true }
        };
        let passes_over = |_: &ThreadId| self.ready.iter().any(queued_here);
        let runner = runner.filter(|id| is_ordinary(*id)).filter(passes_over);
        self.cpu(cpu).held_back = runner.map(|id| match id {
            0 => HoleSource::Throttling,
            _ => HoleSource::OtherTasks,
        });
    }

    fn state(&self, thread: ThreadId) -> Option<State> {
        let thread = self.threads.get(&thread)?;
        Some(thread.state)
    }

    fn set(&mut self, id: ThreadId, state: State, cpu: Option<u32>, level: Option<Level>) {
        let thread = self.thread(id);
        (thread.state, thread.seen) = (state, true);
        thread.cpu = cpu.unwrap_or(thread.cpu);
        thread.level = level.unwrap_or(thread.level);
        let waits = matches!(state, State::Ready { .. }) && thread.level.is_realtime();
        let place = self.ready.iter().position(|other| *other == id);
        match (waits, place) {
            (true, None) => self.ready.push(id),
            (false, Some(place)) => {
                self.ready.swap_remove(place);
            }
            _ => {}
        }
    }
}

impl Thread {
    /// Thread without events so far: it sleeps.
    pub(crate) fn unknown() -> Self {
        Self {
            state: State::Blocked,
            seen: false,
            cpu: 0,
            level: Level::ORDINARY,
            own_level: None,
            serving: Vec::new(),
        }
    }
}
