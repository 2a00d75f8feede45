//! Tests of the dispatcher: order, bounds, shedding, and changes of the levels in operation.

mod allocations;
mod ends;
mod hopeless;
mod order;
mod overflow;
mod priorities;
mod reconfiguration;
mod shedding;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use punctual_dispatch::*;

#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(20);

/// Calls of commands, in order.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    fn note(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// A command that notes its execution or cancellation.
    fn command(&self, name: impl Into<String>) -> Noted {
        Noted {
            name: name.into(),
            journal: self.clone(),
            attempt: |_| Ok(()),
        }
    }
}

/// A command that notes what becomes of it.
struct Noted {
    name: String,
    journal: Journal,
    attempt: fn(&Execution) -> Result<(), Hopeless>,
}

impl Command for Noted {
    fn execute(&mut self, execution: &Execution) -> Result<(), Hopeless> {
        self.journal.note(self.name.clone());
        (self.attempt)(execution)
    }

    fn cancelled(&mut self, cancellation: Cancellation) {
        self.journal.note(format!("{} {cancellation:?}", self.name));
    }
}

/// A dispatcher with one level that executes nothing yet.
fn held(level: Level) -> Dispatcher<Noted> {
    Dispatcher::builder().level(level).held().build().unwrap()
}

/// Executes what is queued; returns what has happened.
fn outcome(dispatcher: &Dispatcher<Noted>, journal: &Journal) -> Vec<String> {
    dispatcher.activate();
    assert!(dispatcher.wait_until_idle(LONG));
    journal.take()
}
