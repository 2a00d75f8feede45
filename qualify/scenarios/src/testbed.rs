//! The machine, prepared for measurements: one supervisor and one progress bar for all that is measured in a run.

use std::time::Duration;

use punctual_harness::{MachineFacts, Outcome, Progress, Supervisor, supervisor::Preparation};
use punctual_os::{CpuSet, affinity};

use crate::{Error, benchmark::Length, load::Calibration};

/// The CPU of server and clients, and that of everything else; the same where there is but one.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) pinned: CpuSet,
    pub(crate) driver: CpuSet,
}

impl Places {
    pub(crate) fn find() -> Result<Self, Error> {
        let cpus: Vec<usize> = affinity::current().iter().collect();
        let (&first, &last) = cpus.first().zip(cpus.last()).ok_or("no CPU to run on")?;
        Ok(Self {
            pinned: CpuSet::single(last),
            driver: CpuSet::single(first),
        })
    }

    /// Whether there is a CPU besides the one that is measured.
    pub(crate) fn has_driver(&self) -> bool {
        self.pinned != self.driver
    }
}

/// What holds for everything that is measured in a run.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Settings {
    /// A first impression: shorter, with fewer points and wider confidence intervals
    #[arg(long)]
    pub quick: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are
    #[arg(long)]
    pub leave_system_alone: bool,
    /// Write the timeline to this file, for ui.perfetto.dev (`inversion` only)
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<std::path::PathBuf>,
}

/// Where benchmarks run. Foreign tasks are off the pinned CPU and real-time throttling is lifted until it is dropped.
pub(crate) struct Testbed {
    pub(crate) places: Places,
    pub(crate) length: Length,
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    /// The unit of work, once a benchmark has asked for it.
    pub(crate) calibration: Option<Calibration>,
    supervisor: Supervisor,
    prepared: serde_json::Value,
}

impl Testbed {
    /// Prepares the machine. Ends with exit code 2 where another run holds it.
    pub(crate) fn prepare(
        title: &str,
        length: Length,
        settings: &Settings,
        expected: Duration,
    ) -> Result<Self, Error> {
        let places = Places::find()?;
        let progress = Progress::start(title, expected);
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
            calibration: None,
            supervisor,
            prepared,
        })
    }

    /// An outcome that says where it was measured, and how the machine was prepared.
    pub(crate) fn outcome(&self, benchmark: &str) -> Outcome {
        let mut outcome = Outcome::new(benchmark, MachineFacts::read(&self.places.pinned));
        outcome.parameter("prepared", self.prepared.clone());
        outcome
    }

    /// Moves foreign tasks that have come to the pinned CPU since.
    pub(crate) fn sweep(&mut self) -> Result<(), Error> {
        self.supervisor.sweep()?;
        Ok(())
    }

    /// Restores the machine.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.progress.finish();
        Ok(self.supervisor.finish()?)
    }
}
