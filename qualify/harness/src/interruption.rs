//! The user wants the run to end: Ctrl-C, or a signal from elsewhere. Who waits for a child then must not wait on.
//!
//! Once [`watch`](Interruption::watch) has been called, such a signal kills the children that do the measured work (not
//! the supervisor), and starting one fails. So the measurement that goes on fails within a moment, wherever it is, and
//! clears away what it made, as after any other failure.

use std::collections::HashMap;
use std::io;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use punctual_os::{Interest, Poller, ThreadSpec, Trigger};
use punctual_system::signals::{Termination, TerminationSignal};

use crate::child::Killer;
use crate::watchdog::above_all;

/// Notices the wish to end.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    termination: Termination,
}

impl Interruption {
    /// How long the run has for clearing away and for writing what it has, before the process ends hard.
    pub const GRACE: Duration = Duration::from_secs(30);

    /// Starts to watch, for the life of the process; again is the same.
    ///
    /// # Errors
    /// The limit of open files or threads is reached.
    pub fn watch() -> io::Result<Self> {
        let termination = Termination::watch()?;
        static STARTED: OnceLock<()> = OnceLock::new();
        if STARTED.get().is_none() {
            let poller = Poller::new()?;
            poller.add(termination, 0, Interest::READ, Trigger::Level)?;
            ThreadSpec::new("interruption")
                .scheduling(above_all())
                .spawn(move || end_all_when_asked(&poller))?;
            let _ = STARTED.set(());
        }
        Ok(Self { termination })
    }

    /// The signal, once it came.
    pub fn by(self) -> Option<TerminationSignal> {
        self.termination.requested()
    }
}

fn end_all_when_asked(poller: &Poller) {
    // Without a deadline there is no other way out than the signal.
    let _ = poller.wait_one(None);
    CHILDREN.end_all();
    std::thread::sleep(Interruption::GRACE);
    let _ = writeln!(
        io::stderr(),
        "punctual: asked to end {} s ago, and not done yet: ends now; the machine's settings are restored",
        Interruption::GRACE.as_secs()
    );
    std::process::exit(2);
}

/// The children that end with the run.
pub(crate) struct Children(Mutex<Registered>);

struct Registered {
    ending: bool,
    /// Created on first use, for a map cannot be made in a constant.
    killers: Option<HashMap<u64, Killer>>,
}

pub(crate) static CHILDREN: Children = Children(Mutex::new(Registered {
    ending: false,
    killers: None,
}));

/// A place in the list; left when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(u64);

impl Children {
    /// Whether no more may be started.
    pub(crate) fn are_ending(&self) -> bool {
        self.lock().ending
    }

    /// Adds one; it is killed now if all are ending.
    pub(crate) fn add(&self, killer: Killer) -> Place {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let place = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut registered = self.lock();
        if registered.ending {
            let _ = killer.kill();
        }
        registered.killers.get_or_insert_default().insert(place, killer);
        Place(place)
    }

    fn end_all(&self) {
        let mut registered = self.lock();
        registered.ending = true;
        for killer in registered.killers.iter().flat_map(HashMap::values) {
            let _ = killer.kill();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Registered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(killers) = &mut CHILDREN.lock().killers {
            killers.remove(&self.0);
        }
    }
}
