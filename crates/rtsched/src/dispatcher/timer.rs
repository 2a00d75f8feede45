//! The thread `rt-dispatch`: decisions that are due without any other event.

use std::{sync::Arc, time::Duration};

use punctual_os::{Scheduling, Thread, ThreadSpec};
use punctual_sched::dynamic::{Scheduler, Time};

use super::{
    Dispatcher,
    clock::{instant, now},
    native_control,
};

/// Name of the thread.
pub(crate) const NAME: &str = "rt-dispatch";

/// Minimum interval between two decisions that only time requires.
const LEAST_INTERVAL: Duration = Duration::from_micros(50);

/// The running thread; dropping this ends it.
pub(crate) struct Timer {
    dispatcher: Arc<Dispatcher>,
    thread: Option<Thread<()>>,
}

impl Timer {
    /// Starts the thread at the executive priority.
    pub(crate) fn start(dispatcher: &Arc<Dispatcher>, executive: Scheduling) -> std::io::Result<Self> {
        let for_thread = Arc::clone(dispatcher);
        let thread = ThreadSpec::new(NAME)
            .scheduling(executive)
            .stack_bytes(256 * 1024)
            .prefault_bytes(ThreadSpec::USUAL_PREFAULT_BYTES)
            .spawn(move || for_thread.keep_time())?;
        Ok(Self {
            dispatcher: Arc::clone(dispatcher),
            thread: Some(thread),
        })
    }

    /// Returns whether the scheduler needs the thread.
    pub(crate) fn is_wanted_by(scheduler: &dyn Scheduler) -> bool {
        native_control::depends_on_time(scheduler)
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
    /// Sleeps until a decision is due, carries it out, and repeats.
    fn keep_time(&self) {
        let mut state = self.state.lock();
        while !state.ends {
            let now = now();
            let due = state.scheduler.reconsider_at.unwrap_or(Time::NEVER);
            if due <= now {
                let wakes = state.reschedule(None, now);
                // The chosen thread must get processor time in between, however long a decision takes.
                // Otherwise a decision that waits for processor time of that thread is due again and again,
                // and this thread takes the whole processor.
                let earliest = self::now() + LEAST_INTERVAL;
                let again = &mut state.scheduler.reconsider_at;
                *again = again.map(|again| again.max(earliest));
                drop(state);
                wakes.wake();
                state = self.state.lock();
                continue;
            }
            state.timer_until = Some(due);
            let _ = self.earlier.wait_until(&mut state, instant(due));
            state.timer_until = None;
        }
    }
}
