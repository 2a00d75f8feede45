//! Interruption of a run: Ctrl-C or another termination signal.
//!
//! After [`watch`](Interruption::watch), such a signal kills the children that do the measured work (not the
//! supervisor), and no more can be started. The present measurement therefore fails at once, and cleans up as
//! after any other failure.

use std::io;
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

use punctual_os::{Interest, Poller, ThreadSpec, Trigger};
use punctual_system::signals::{Termination, TerminationSignal};

use crate::running_children::CHILDREN;
use crate::watchdog::above_all;

/// Detects termination signals.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    termination: Termination,
}

impl Interruption {
    /// Time for clean-up and for writing partial results, after which the process exits.
    pub const GRACE: Duration = Duration::from_secs(30);

    /// Starts watching permanently; further calls change nothing.
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

    /// Returns the signal, if one has been received.
    pub fn by(self) -> Option<TerminationSignal> {
        self.termination.requested()
    }
}

fn end_all_when_asked(poller: &Poller) {
    // Without a timeout only the signal ends the wait.
    let _ = poller.wait_one(None);
    CHILDREN.end_all();
    std::thread::sleep(Interruption::GRACE);
    let _ = writeln!(
        io::stderr(),
        "punctual: clean-up did not finish within {} s; exiting now; the machine's settings are restored",
        Interruption::GRACE.as_secs()
    );
    std::process::exit(2);
}
