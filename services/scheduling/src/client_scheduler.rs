//! Priorities of a client's threads.

use std::collections::HashMap;

use punctual::{Orb, Priority};

use crate::{Schedule, SchedulingError, UnknownName};

/// Gives threads the priorities of activities: `RTCosScheduling::ClientScheduler`.
///
/// ```
/// use punctual::Orb;
/// use punctual_scheduling::{ClientScheduler, Schedule};
///
/// let schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
/// let orb = Orb::builder().build()?;
/// let scheduler = ClientScheduler::new(&orb, &schedule);
/// scheduler.schedule_activity("display")?;
/// assert_eq!(orb.current().priority()?.value(), 10_922);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ClientScheduler {
    orb: Orb,
    activities: HashMap<String, Priority>,
}

impl ClientScheduler {
    /// Creates a scheduler for threads that call through this ORB, which should use the schedule's priority
    /// mapping.
    pub fn new(orb: &Orb, schedule: &Schedule) -> Self {
        let activities = schedule.activities.iter();
        Self {
            orb: orb.clone(),
            activities: activities
                .map(|activity| (activity.name.clone(), activity.priority))
                .collect(),
        }
    }

    /// Gives the calling thread and its subsequent calls the activity's priority. Allocates nothing.
    ///
    /// # Errors
    /// [`SchedulingError::UnknownName`], and [`SchedulingError::Priority`] if the ORB has no native priority
    /// for it.
    pub fn schedule_activity(&self, name: &str) -> Result<(), SchedulingError> {
        let Some(priority) = self.activities.get(name) else {
            let mut known: Vec<_> = self.activities.keys().cloned().collect();
            known.sort_unstable();
            return Err(SchedulingError::UnknownName(UnknownName {
                kind: "activity",
                name: name.to_owned(),
                known,
            }));
        };
        Ok(self.orb.current().set_priority(*priority)?)
    }
}
