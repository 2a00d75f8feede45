//! The machine, prepared for measurements: one supervisor and one progress bar for all that is measured in a run.

use std::time::Duration;

use punctual_harness::{
    Interruption, MachineFacts, Outcome, Progress, Supervisor, child::Failure, supervisor::Preparation,
};
use punctual_os::{CpuSet, TaskId, affinity, signals::TerminationSignal};

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
    /// As long as the papers measured, where they say it
    #[arg(long, conflicts_with = "quick")]
    pub paper_lengths: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are
    #[arg(long)]
    pub leave_system_alone: bool,
    /// Also say where the time of calls slower than this went, in a traced pass of their own (`cubit` and `orb.latency` only)
    #[arg(long, value_name = "MICROSECONDS", value_parser = crate::explain::microseconds)]
    pub explain_over: Option<f64>,
    /// Write the timeline to this file, for ui.perfetto.dev (`inversion` only)
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<std::path::PathBuf>,
}

impl Settings {
    pub(crate) fn length(&self) -> Length {
        match (self.quick, self.paper_lengths) {
            (true, _) => Length::Quick,
            (false, true) => Length::Paper,
            (false, false) => Length::Full,
        }
    }

    /// As they are written on a command line, without the files.
    pub(crate) fn arguments(&self) -> String {
        let flags = [
            (self.quick, " --quick"),
            (self.paper_lengths, " --paper-lengths"),
            (self.leave_system_alone, " --leave-system-alone"),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| *flag);
        let explained = self
            .explain_over
            .map_or(String::new(), |over| format!(" --explain-over {over}"));
        flags.collect::<String>() + &explained
    }
}

/// Where benchmarks run. Foreign tasks are off the pinned CPU and real-time throttling is lifted until it is dropped.
pub struct Testbed {
    pub(crate) places: Places,
    pub(crate) length: Length,
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    /// The unit of work, once a benchmark has asked for it.
    pub(crate) calibration: Option<Calibration>,
    interruption: Interruption,
    supervisor: Supervisor,
    prepared: serde_json::Value,
}

impl Testbed {
    /// Prepares the machine. From now on a signal to end fails the benchmark that runs.
    ///
    /// # Errors
    /// Another run holds the machine.
    pub(crate) fn prepare(
        title: &str,
        length: Length,
        settings: &Settings,
        expected: Duration,
    ) -> Result<Self, Error> {
        let interruption = Interruption::watch()?;
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
            interruption,
            supervisor,
            prepared,
        })
    }

    /// An outcome that says where it was measured, and how the machine was prepared.
    pub fn outcome(&self, benchmark: &str) -> Outcome {
        let mut outcome = Outcome::new(benchmark, MachineFacts::read(&self.places.pinned));
        outcome.parameter("prepared", self.prepared.clone());
        outcome
    }

    /// How much is measured.
    pub fn length(&self) -> Length {
        self.length
    }

    /// Where the user sees what goes on: each benchmark calls [`Progress::stage`].
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The signal that wants the run to end. Children are gone then; what waits for nobody looks here.
    pub fn interrupted(&self) -> Option<TerminationSignal> {
        self.interruption.by()
    }

    /// Makes it as it was for the first benchmark: this thread where the driver belongs, and foreign tasks that have come
    /// to the pinned CPU since moved away.
    pub(crate) fn sweep(&mut self) -> Result<(), Error> {
        affinity::set_current(&self.places.driver)?;
        self.supervisor.sweep()?;
        Ok(())
    }

    /// Gives the measured CPU to a process as a scheduling domain of its own, or says why that cannot be had.
    pub(crate) fn isolate(&mut self, process: TaskId) -> Result<Result<(), String>, Error> {
        match self.supervisor.isolate(process) {
            Ok(()) => Ok(Ok(())),
            Err(error) => match error.failure() {
                Failure::Refused(reason) => Ok(Err(reason.clone())),
                _ => Err(error.into()),
            },
        }
    }

    /// Undoes it.
    pub(crate) fn share(&mut self) -> Result<(), Error> {
        Ok(self.supervisor.share()?)
    }

    /// Restores the machine.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.progress.finish();
        Ok(self.supervisor.finish()?)
    }
}
