//! Priorities of calls by the schedule in force.

use punctual::{Priority, at_priority};
use punctual_dispatch::OperationLevels;
use punctual_os::PiMutex;

/// The CORBA priority with which each operation of a schedule is called, at present: callers ask for it, or
/// call with it, and another schedule changes it while calls are under way.
///
/// Where a server has lanes and takes the priority of its clients
/// ([`PriorityModel::ClientPropagated`](punctual::PriorityModel)), it serves each call in the lane of that
/// priority: so that the function that gives levels their priorities should name priorities of its lanes, as
/// [`at_lanes`](Self::at_lanes) does. A call that has begun stays in its lane.
///
/// ```
/// use std::time::Duration;
/// use punctual::{Orb, Priority};
/// use punctual_scheduling::{OperationPriorities, reconfigurable::*};
///
/// let ms = Duration::from_millis;
/// let orb = Orb::builder().build()?;
/// let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
/// let radar = scheduler.add(Operation::new("radar", Criticality::High).tuple(ms(10), ms(1)))?;
/// let display = scheduler.add(Operation::new("display", Criticality::Low).tuple(ms(100), ms(1)))?;
/// scheduler.compute();
///
/// let priorities = OperationPriorities::at_lanes([Priority::MIN, Priority::MAX]);
/// assert_eq!(priorities.of(radar.handle()), None);
/// priorities.follow(scheduler);
/// assert_eq!(priorities.of(radar.handle()), Some(Priority::MAX));
/// priorities.call(display.handle(), || assert_eq!(orb.current().priority(), Ok(Priority::MIN)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OperationPriorities {
    schedule: PiMutex<Option<Box<dyn OperationLevels + Send + Sync>>>,
    of_level: Box<dyn Fn(u32) -> Priority + Send + Sync>,
}

impl OperationPriorities {
    /// Creates priorities without a schedule. `of_level` states that of a level, given its number from 0,
    /// which is the first to be dispatched; callers call it, so that it must be short and not allocate.
    pub fn new(of_level: impl Fn(u32) -> Priority + Send + Sync + 'static) -> Self {
        Self {
            schedule: PiMutex::new(None),
            of_level: Box::new(of_level),
        }
    }

    /// Creates priorities that are those of a server's lanes: the first level has that of the highest lane,
    /// each next one that of the next lane, and all further ones that of the lowest. Without lanes, all have
    /// [`Priority::MIN`].
    pub fn at_lanes(lanes: impl IntoIterator<Item = Priority>) -> Self {
        let mut lanes: Vec<_> = lanes.into_iter().collect();
        lanes.sort_unstable_by(|one, other| other.cmp(one));
        Self::new(move |level| {
            let lane = lanes.get(level as usize).or(lanes.last());
            lane.copied().unwrap_or(Priority::MIN)
        })
    }

    /// Has this schedule decide from now on.
    pub fn follow(&self, schedule: impl OperationLevels + Send + Sync + 'static) {
        let schedule: Box<dyn OperationLevels + Send + Sync> = Box::new(schedule);
        let former = self.schedule.lock().replace(schedule);
        // Without the lock, which callers wait for.
        drop(former);
    }

    /// Returns the priority of the operation with this handle; `None`: it does not run, or there is none.
    /// Allocates nothing.
    pub fn of(&self, rt_info: i32) -> Option<Priority> {
        let placement = self.schedule.lock().as_ref()?.placement_of_handle(rt_info)?;
        Some((self.of_level)(placement.level))
    }

    /// Makes calls with the priority of the operation, which are calls at the thread's own priority if it
    /// does not run. The thread itself keeps its native priority; give it that of its own operation.
    pub fn call<R>(&self, rt_info: i32, calls: impl FnOnce() -> R) -> R {
        match self.of(rt_info) {
            Some(priority) => at_priority(priority, calls),
            None => calls(),
        }
    }
}
