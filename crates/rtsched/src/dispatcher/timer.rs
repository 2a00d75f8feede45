//! The thread `rt-dispatch`: decisions that are due although nothing happens.

use std::sync::Arc;

use punctual_os::{Scheduling, Thread, ThreadSpec};
use punctual_sched::dynamic::Time;

use super::{Dispatcher, instant, native, now};

/// The thread's name.
pub(crate) const NAME: &str = "rt-dispatch";

/// The thread, which ends with this.
pub(crate) struct Timer {
    dispatcher: Arc<Dispatcher>,
    thread: Option<Thread<()>>,
}

impl Timer {
    /// Starts it at the executive priority.
    pub(crate) fn start(dispatcher: &Arc<Dispatcher>, executive: Scheduling) -> std::io::Result<Self> {
        let for_thread = Arc::clone(dispatcher);
        let thread = ThreadSpec::new(NAME)
            .scheduling(executive)
            .stack_bytes(256 * 1024)
            .prefault(true)
            .spawn(move || for_thread.keep_time())?;
        Ok(Self {
            dispatcher: Arc::clone(dispatcher),
            thread: Some(thread),
        })
    }

    /// Whether such a scheduler wants it.
    pub(crate) fn is_wanted_by(scheduler: &dyn punctual_sched::dynamic::Scheduler) -> bool {
        native::depends_on_time(scheduler)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.dispatcher.state.lock().ends = true;
        self.dispatcher.earlier.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Dispatcher {
    /// Sleeps until a decision is due, takes it, and so on.
    fn keep_time(&self) {
        let mut state = self.state.lock();
        while !state.ends {
            let now = now();
            let due = state.choice.reconsider_at.unwrap_or(Time::NEVER);
            if due <= now {
                let wakes = state.reconsider(now);
                // Whoever was chosen must come to run in between, however long a decision takes: one that waits for processor time
                // of its own would be due again and again, and this thread would take all of it.
                let earliest = super::now() + LEAST_INTERVAL;
                state.choice.reconsider_at = state.choice.reconsider_at.map(|again| again.max(earliest));
                drop(state);
                wakes.open();
                state = self.state.lock();
                continue;
            }
            state.timer_until = Some(due);
            let _ = self.earlier.wait_until(&mut state, instant(due));
            state.timer_until = None;
        }
    }
}

/// Between two decisions that only time asks for.
const LEAST_INTERVAL: std::time::Duration = std::time::Duration::from_micros(50);
