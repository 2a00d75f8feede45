//! The machine prepared for measurements, with one supervisor and one progress bar for the whole run.

use std::time::Duration;

use punctual_harness::{
    Interruption, MachineFacts, Outcome, Progress, Supervisor, child::Failure, supervisor::Preparation,
};
use punctual_os::{CpuSet, TaskId, affinity, rights};
use punctual_system::signals::TerminationSignal;

use crate::{control::Control, error::Error, length::Length, settings::Settings};

/// Warning that this program was built without optimisation; `None` if it is optimised.
pub(crate) const UNOPTIMISED: Option<&str> = if cfg!(debug_assertions) {
    Some(
        "this program is built without optimisation, so its figures mean little: measure with \
         `cargo run --release`",
    )
} else {
    None
};

/// The measured CPU and the driver's CPU; they are the same on a machine with one CPU.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The CPU of server and clients.
    pub(crate) pinned: CpuSet,
    /// The CPU of everything else.
    pub(crate) driver: CpuSet,
}

impl Places {
    /// Selects the last allowed CPU for the measurement and the first one for the driver.
    pub(crate) fn find() -> Result<Self, Error> {
        let cpus: Vec<usize> = affinity::current().iter().collect();
        let (&first, &last) = cpus.first().zip(cpus.last()).ok_or("no CPU to run on")?;
        Ok(Self {
            pinned: CpuSet::single(last),
            driver: CpuSet::single(first),
        })
    }

    /// Returns the CPU of a reader of the kernel's trace: the driver's, or none if it is also the measured
    /// one.
    pub(crate) fn reader(&self) -> CpuSet {
        if self.has_driver() {
            self.driver.clone()
        } else {
            CpuSet::empty()
        }
    }

    /// Returns whether the driver has a CPU other than the measured one.
    pub(crate) fn has_driver(&self) -> bool {
        self.pinned != self.driver
    }
}

/// The prepared machine. Until it is finished, foreign tasks are kept off the measured CPU and real-time
/// throttling is lifted.
pub struct Testbed {
    pub(crate) places: Places,
    pub(crate) length: Length,
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    /// Rounds per unit of work, once a benchmark has calibrated the load.
    pub(crate) rounds_per_unit_of_work: Option<u32>,
    /// The control of the running benchmark; `None` in an ordinary run.
    pub(crate) control: Option<&'static Control>,
    interruption: Interruption,
    supervisor: Supervisor,
    prepared: serde_json::Value,
}

impl Testbed {
    /// Prepares the machine. From now on, a termination signal makes the running benchmark fail.
    ///
    /// # Errors
    /// Another run has prepared the machine.
    pub(crate) fn prepare(
        title: &str,
        length: Length,
        settings: &Settings,
        expected: Duration,
    ) -> Result<Self, Error> {
        let interruption = Interruption::watch()?;
        let places = Places::find()?;
        let progress = Progress::start(title, expected);
        if let Some(warning) = UNOPTIMISED {
            progress.note(warning);
        }
        let rights = rights::probe();
        if let (false, Some(remedy)) = (rights.realtime, rights.advice().first()) {
            progress.note(format!(
                "no right to real-time scheduling: no result is a real-time one; to grant it: {remedy}"
            ));
        }
        let supervisor = Preparation::new(places.pinned.clone())
            .leave_system_alone(settings.leave_system_alone)
            .start()?;
        let prepared = serde_json::to_value(supervisor.prepared())?;
        affinity::set_current(&places.driver)?;
        Ok(Self {
            places,
            length,
            settings: settings.clone(),
            progress,
            rounds_per_unit_of_work: None,
            control: None,
            interruption,
            supervisor,
            prepared,
        })
    }

    /// Creates an outcome with the facts of the machine and how it was prepared.
    pub fn outcome(&self, benchmark: &str) -> Outcome {
        let mut outcome = Outcome::new(benchmark, MachineFacts::read(&self.places.pinned));
        outcome.parameter("prepared", self.prepared.clone());
        outcome.parameter("optimised", UNOPTIMISED.is_none());
        outcome
    }

    /// Returns whether to measure what this control changes.
    pub fn is_under(&self, control: &Control) -> bool {
        self.control == Some(control)
    }

    /// Returns `changed` if this control is being measured, otherwise `usual`.
    pub fn under<T>(&self, control: &Control, changed: T, usual: T) -> T {
        if self.is_under(control) { changed } else { usual }
    }

    /// Returns how much is to be measured.
    pub fn length(&self) -> Length {
        self.length
    }

    /// Returns the progress display; each benchmark calls [`Progress::stage`].
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the termination signal that was received, if any. Child processes have ended by then; code
    /// that waits for no child checks this.
    pub fn interrupted(&self) -> Option<TerminationSignal> {
        self.interruption.by()
    }

    /// Prepares the machine for the next benchmark: moves this thread to the driver's CPU, and new foreign
    /// tasks off the measured CPU.
    pub(crate) fn sweep(&mut self) -> Result<(), Error> {
        affinity::set_current(&self.places.driver)?;
        self.supervisor.sweep()?;
        Ok(())
    }

    /// Makes the measured CPU an exclusive scheduling domain of a process; the inner error states why the
    /// kernel does not allow it.
    pub(crate) fn isolate(&mut self, process: TaskId) -> Result<Result<(), String>, Error> {
        match self.supervisor.isolate(process) {
            Ok(()) => Ok(Ok(())),
            Err(error) => match error.failure() {
                Failure::Refused(reason) => Ok(Err(reason.clone())),
                _ => Err(error.into()),
            },
        }
    }

    /// Ends the exclusive scheduling domain.
    pub(crate) fn share(&mut self) -> Result<(), Error> {
        Ok(self.supervisor.share()?)
    }

    /// Restores the machine.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.progress.finish();
        Ok(self.supervisor.finish()?)
    }
}
