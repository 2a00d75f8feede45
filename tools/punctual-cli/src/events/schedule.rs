//! The schedule of a served channel: read from a file, and read again at SIGHUP.

use std::path::{Path, PathBuf};

use punctual::Priority;
use punctual_events::{EventChannel, Lane};
use punctual_scheduling::reconfigurable::{OperationId, ReconfigurableScheduler, Severity};
use punctual_system::signals::Reload;

use super::{Failed, counted};
use crate::system_file;

/// A channel that follows the schedule of a file.
pub struct Scheduled<'c> {
    file: PathBuf,
    channel: &'c EventChannel,
    /// Priority of the first level; each next level has the priority below.
    highest: Priority,
    reload: Reload,
}

impl<'c> Scheduled<'c> {
    /// Lets the channel follow the schedule. Also returns the message about it.
    pub fn start(
        file: &Path,
        channel: &'c EventChannel,
        highest: Priority,
    ) -> Result<(Self, String), Failed> {
        let scheduled = Self {
            file: file.to_owned(),
            channel,
            highest,
            reload: Reload::watch()?,
        };
        let said = scheduled.follow().map_err(Failed::Refused)?;
        Ok((scheduled, said))
    }

    /// After a SIGHUP, reads the file again. Otherwise the schedule in force stays.
    pub fn reload_if_requested(&self) {
        if self.reload.take() {
            match self.follow() {
                Ok(said) => println!("{said}"),
                Err(error) => eprintln!("error: {error}\nThe schedule in force stays."),
            }
        }
    }

    fn follow(&self) -> Result<String, String> {
        let file = self.file.display();
        let mut scheduler = ReconfigurableScheduler::read(&self.file)
            .map_err(|error| system_file::misread(&self.file, error))?;
        let anomalies = scheduler.compute();
        if let Some(objection) = scheduler.objection() {
            return Err(format!("{file}: {objection}"));
        }
        let levels = scheduler.levels().len();
        if levels == 0 {
            return Err(format!(
                "{file}: no operation runs; `punctual scheduler show {file}` says why"
            ));
        }
        let all = scheduler.operations().len();
        let runs = |id: &u32| {
            scheduler
                .assignment(OperationId(*id))
                .is_some_and(|own| own.level.is_some())
        };
        let running = (0..).take(all).filter(runs).count();
        let warnings = anomalies.iter().filter(|one| one.severity() >= Severity::Warning);
        let warnings: String = warnings.map(|one| format!("\n  {one}")).collect();
        let followed = self.channel.follow(scheduler, Lane::descending(self.highest));
        followed.map_err(|error| format!("{file}: {error}"))?;
        let levels = counted(levels as u64, "lane");
        Ok(format!(
            "Schedule {file}: {levels} from priority {} down, {running} of {all} operations run.{warnings}",
            self.highest
        ))
    }
}
