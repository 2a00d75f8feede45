//! The schedule of a served channel: read from a file, and again at SIGHUP, or that of a served scheduler.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use punctual::{Orb, Priority, ResolveError};
use punctual_dispatch::OperationLevels;
use punctual_events::{EventChannel, Lane};
use punctual_scheduling::{
    WatchedSchedules,
    reconfigurable::{OperationId, ReconfigurableScheduler, Severity, Strategy},
    rtec::ScheduleFollower,
};
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
    watched: Arc<WatchedSchedules>,
}

impl<'c> Scheduled<'c> {
    /// Lets the channel follow the schedule, and ORB and channel show it under the channel's name. Also
    /// returns the message about it.
    pub fn start(
        file: &Path,
        name: &str,
        orb: &Orb,
        channel: &'c EventChannel,
        highest: Priority,
    ) -> Result<(Self, String), Failed> {
        // Each reading of the file replaces the strategy.
        let watched = Arc::new(WatchedSchedules::new(&ReconfigurableScheduler::new(
            Strategy::Rms,
        )));
        watched.show(orb, name);
        let (weak, shown) = (Arc::downgrade(&watched), name.to_owned());
        channel.show_scheduler(move || Some(weak.upgrade()?.state(&*shown)));
        let scheduled = Self {
            file: file.to_owned(),
            channel,
            highest,
            reload: Reload::watch()?,
            watched,
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
        let refused = |reason: String| {
            self.watched.refused();
            reason
        };
        let mut scheduler = ReconfigurableScheduler::read(&self.file)
            .map_err(|error| refused(system_file::misread(&self.file, error)))?;
        let computed = self.watched.compute(&mut scheduler);
        let anomalies = computed.map_err(|objection| format!("{file}: {objection}"))?;
        let levels = scheduler.levels().len();
        if levels == 0 {
            return Err(refused(format!(
                "{file}: no operation runs; `punctual scheduler show {file}` says why"
            )));
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
        let highest = with_room(self.highest, levels);
        let followed = self.channel.follow(scheduler.clone(), Lane::descending(highest));
        followed.map_err(|error| refused(format!("{file}: {error}")))?;
        self.watched.adopted(&scheduler);
        let levels = counted(levels as u64, "lane");
        Ok(format!(
            "Schedule {file}: {levels} from priority {highest} down, {running} of {all} operations run.{warnings}"
        ))
    }
}

/// The priority of the first of so many levels, below the last of which there is a lane for others: this one,
/// or as many as that takes.
fn with_room(highest: Priority, levels: usize) -> Priority {
    let least = i16::try_from(levels)
        .ok()
        .and_then(|levels| Priority::new(levels).ok());
    highest.max(least.unwrap_or(Priority::MAX))
}

/// Lets the channel follow the schedule of a scheduler object, shows it under the channel's name, and reports
/// each change on standard output, and each failure on standard error.
pub fn follow(
    url: &str,
    name: &str,
    orb: &Orb,
    channel: &EventChannel,
    highest: Priority,
) -> Result<ScheduleFollower, Failed> {
    // A scheduler that is not there may come; a wrong address stays wrong.
    if let Err(
        error @ (ResolveError::Url(_)
        | ResolveError::UnknownInitialReference(_)
        | ResolveError::TooManySteps(_)
        | ResolveError::Nil),
    ) = orb.resolve_object(url)
    {
        return Err(Failed::Refused(format!("--scheduler {url}: {error}")));
    }
    let (own, from) = (channel.clone(), url.to_owned());
    let follower = ScheduleFollower::start(orb, url, ScheduleFollower::DEFAULT_PERIOD, move |schedule| {
        let levels = schedule.level_count();
        let highest = with_room(highest, levels as usize);
        own.follow(schedule.clone(), Lane::descending(highest))
            .inspect_err(|error| eprintln!("error: {from}: {error}\nThe schedule in force stays."))?;
        let levels = counted(levels.into(), "lane");
        println!("Schedule of {from}: {levels} from priority {highest} down.");
        Ok(())
    })?;
    channel.show_scheduler(follower.shown(name));
    orb.inspect_scheduler(follower.shown(name));
    Ok(follower)
}

/// Failures that have been reported.
#[derive(Default)]
pub struct Failures(bool);

impl Failures {
    /// Reports on standard error that the scheduler stops answering, once until it answers again.
    pub fn report(&mut self, follower: &ScheduleFollower) {
        let failure = follower.followed().failure;
        if let Some(failure) = failure.as_ref().filter(|_| !self.0) {
            eprintln!("error: the scheduler does not answer: {failure}\nThe schedule in force stays.");
        }
        self.0 = failure.is_some();
    }
}
