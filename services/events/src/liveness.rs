//! Detection of dead consumers of other processes to which nothing is sent: they are queried periodically.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, TaskId, Thread, ThreadSpec, clock::later};

use crate::EventError;

/// The querying thread, in the ordinary class. It starts with the first consumer of another process.
#[derive(Default)]
pub(crate) struct Liveness {
    state: PiMutex<State>,
    changed: PiCondvar,
}

#[derive(Default)]
struct State {
    ends: bool,
    thread: Option<Thread<()>>,
}

/// The channel as the sender of the queries.
pub(crate) trait Questioner: Send + Sync {
    /// Queries all consumers once, and disconnects the dead ones.
    fn ask(&self);
}

impl Liveness {
    /// Starts the thread, unless it runs already or the interval is zero, which disables the queries.
    pub(crate) fn start(
        self: &Arc<Self>,
        channel: Weak<dyn Questioner>,
        name: &str,
        interval: Duration,
    ) -> Result<(), EventError> {
        let mut state = self.state.lock();
        if state.thread.is_some() || state.ends || interval.is_zero() {
            return Ok(());
        }
        let shared = Arc::clone(self);
        let thread = ThreadSpec::new(format!("{name}-ping")).spawn(move || shared.run(&channel, interval));
        state.thread = Some(thread.map_err(EventError::Timer)?);
        Ok(())
    }

    fn run(&self, channel: &Weak<dyn Questioner>, interval: Duration) {
        let mut state = self.state.lock();
        loop {
            let due = later(Instant::now(), interval);
            let _ = self
                .changed
                .wait_while_until(&mut state, due, |state| !state.ends);
            if state.ends {
                return;
            }
            drop(state);
            match channel.upgrade() {
                Some(channel) => channel.ask(),
                None => return,
            }
            state = self.state.lock();
        }
    }

    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ends = true;
        let thread = state.thread.take();
        drop(state);
        self.changed.notify_all();
        if let Some(thread) = thread.filter(|thread| thread.tid() != TaskId::current_thread()) {
            // It ends after the current query, which has a timeout.
            let _ = thread.join();
        }
    }
}
