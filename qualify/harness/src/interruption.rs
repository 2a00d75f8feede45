//! The user wants the run to end: Ctrl-C, or a signal from elsewhere. Who waits for a child then must not wait on.
//!
//! Once [`watch`](Interruption::watch) has been called, such a signal kills the children that do the measured work (not
//! the supervisor), and starting one fails. So the measurement that goes on fails within a moment, wherever it is, and
//! clears away what it made, as after any other failure.

use std::io;
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

use punctual_os::{Interest, Poller, ThreadSpec, Trigger};
use punctual_system::signals::{Termination, TerminationSignal};

use crate::running_children::CHILDREN;
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
