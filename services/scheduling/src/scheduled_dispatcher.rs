//! A dispatcher whose levels are those of the reconfigurable scheduler, also after a change of rates.

use std::{
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use punctual::{NativePriority, Orb, SchedulerStatistics};
use punctual_dispatch::{
    Command, DispatchError, Dispatcher, Level, LevelStatistics, OperationLevels, Placement, Rejected,
};
use punctual_os::{PiMutex, Scheduling};
use punctual_sched::dynamic::Time;

use crate::{
    reconfigurable::{Anomaly, OperationId, ReconfigurableScheduler},
    watched_schedules::WatchedSchedules,
};

/// Dispatches the executions of operations as the reconfigurable scheduler has decided: with the level, the
/// order, the criticality and the importance of the operation, and with the end of its period as deadline.
///
/// [`Self::reconfigure`] computes again and passes the new levels on while operations wait and run. No
/// execution is lost: waiting ones move to the level of the same number in the new configuration. A schedule
/// in which critical work would stop is refused, and the one in force stays. Event channels, and calls,
/// follow the same schedule with [`Self::pass_on`].
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use punctual_dispatch::{Execution, Level};
/// use punctual_scheduling::{ScheduledDispatcher, reconfigurable::*};
///
/// let ms = Duration::from_millis;
/// let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
/// let track = scheduler.add(Operation::new("track", Criticality::VeryHigh).tuple(ms(50), ms(1)))?;
/// let dispatcher = ScheduledDispatcher::start(scheduler, |_, level| level)?;
/// let (done, results) = mpsc::channel();
/// let command = move |_: &Execution| {
///     done.send("tracked").unwrap();
///     Ok(())
/// };
/// dispatcher.dispatch(track, dispatcher.now(), command)?;
/// assert_eq!(results.recv()?, "tracked");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ScheduledDispatcher<C: Command> {
    dispatcher: Dispatcher<C>,
    /// The schedule in force. Locked by reconfigurations, one at a time.
    scheduler: PiMutex<ReconfigurableScheduler>,
    watched: Arc<WatchedSchedules>,
    plan: PiMutex<Arc<Vec<Option<Placement>>>>,
    configure: Box<Configure>,
    /// Locked after `scheduler`.
    followers: PiMutex<Vec<Box<Follower>>>,
    not_scheduled: AtomicU64,
}

/// Completes the description of a level: scheduling class, CPUs, capacity, shedding.
type Configure = dyn Fn(usize, Level) -> Level + Send + Sync;

/// Function that a schedule is passed on to.
type Follower = dyn FnMut(&ReconfigurableScheduler) -> Result<(), Reason> + Send;

/// Why a follower refuses a schedule.
type Reason = Box<dyn Error + Send + Sync>;

/// Why a schedule did not come into force.
#[derive(thiserror::Error)]
pub enum NotAdopted {
    /// There is an [objection](ReconfigurableScheduler::objection) to it.
    #[error("schedule refused, the previous one stays in force: {0}; or disable the operations concerned")]
    Refused(Anomaly),
    /// The dispatcher could not take its levels.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// A [follower](ScheduledDispatcher::pass_on) refused it.
    #[error("schedule refused by a follower, the previous one stays in force: {0}")]
    Follower(Box<dyn Error + Send + Sync>),
}

punctual_types::debug_as_display!(NotAdopted);

/// Why an execution was not queued.
#[derive(thiserror::Error)]
pub enum NotDispatched<C> {
    /// The operation is not admitted in the current schedule.
    #[error("the operation is not admitted in the current schedule")]
    NotScheduled(C),
    /// Its queue was full.
    #[error(transparent)]
    Rejected(#[from] Rejected<C>),
}

impl<C> fmt::Debug for NotDispatched<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotScheduled(_) => f.write_str("NotScheduled"),
            Self::Rejected(rejected) => rejected.fmt(f),
        }
    }
}

impl<C: Command> ScheduledDispatcher<C> {
    /// Computes the schedule and starts the threads of its levels. `configure` completes each level, given
    /// its place from 0, which is the first to be dispatched; most programs use [`fifo`].
    ///
    /// # Errors
    /// [`NotAdopted`]: as for [`Self::reconfigure`], and if no operation runs.
    pub fn start(
        mut scheduler: ReconfigurableScheduler,
        configure: impl Fn(usize, Level) -> Level + Send + Sync + 'static,
    ) -> Result<Self, NotAdopted> {
        let watched = Arc::new(WatchedSchedules::new(&scheduler));
        watched.compute(&mut scheduler).map_err(NotAdopted::Refused)?;
        let configure: Box<Configure> = Box::new(configure);
        let builder = Dispatcher::builder().levels(levels(&scheduler, &configure));
        let dispatcher = builder.build()?;
        watched.adopted(&scheduler);
        Ok(Self {
            dispatcher,
            watched,
            plan: PiMutex::new(Arc::new(plan(&scheduler))),
            scheduler: PiMutex::new(scheduler),
            configure,
            followers: PiMutex::default(),
            not_scheduled: AtomicU64::new(0),
        })
    }

    /// Returns the time by which deadlines are stated.
    pub fn now(&self) -> Time {
        punctual_dispatch::now()
    }

    /// Queues an execution of an operation that was released at this time; its deadline is one period later.
    ///
    /// # Errors
    /// The command: the operation does not run, or its queue is full.
    pub fn dispatch(&self, id: OperationId, release: Time, command: C) -> Result<(), NotDispatched<C>> {
        let plan = Arc::clone(&self.plan.lock());
        let Some(Some(placement)) = plan.get(id.0 as usize) else {
            self.not_scheduled.fetch_add(1, Relaxed);
            return Err(NotDispatched::NotScheduled(command));
        };
        Ok(self.dispatcher.dispatch(command, placement.qos(release))?)
    }

    /// Changes operations, computes, and passes the levels to the dispatcher; returns the anomalies. If no
    /// operation runs from now on, the levels stay, and none is dispatched.
    ///
    /// ```
    /// use std::time::Duration;
    /// use punctual_dispatch::Command;
    /// use punctual_scheduling::{ScheduledDispatcher, reconfigurable::*};
    ///
    /// type Dispatcher = ScheduledDispatcher<Box<dyn Command>>;
    /// let ms = Duration::from_millis;
    /// let track = |wcet| Operation::new("track", Criticality::High).tuple(ms(50), ms(wcet));
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    /// let id = scheduler.add(track(10))?;
    /// let dispatcher = Dispatcher::start(scheduler, |_, level| level)?;
    /// // More than the processor has.
    /// let refused = dispatcher.reconfigure(|changed| changed.redefine(id, track(60)).expect("it is known"));
    /// assert!(refused.unwrap_err().to_string().contains("`track` contradicts itself"));
    /// assert_eq!(dispatcher.scheduler().assignment(id).and_then(|own| own.period), Some(ms(50)));
    /// assert_eq!(dispatcher.computations().refused, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotAdopted::Refused`] if a cycle, an operation that nothing runs or critical work without room is in
    /// the changed schedule, [`NotAdopted::Follower`] if a [follower](Self::pass_on) refuses it, and
    /// [`NotAdopted::Dispatch`] as for [`Dispatcher::reconfigure`]. The schedule in force stays then,
    /// operations included, unless a thread could not be started.
    pub fn reconfigure(
        &self,
        change: impl FnOnce(&mut ReconfigurableScheduler),
    ) -> Result<Vec<Anomaly>, NotAdopted> {
        let mut scheduler = self.scheduler.lock();
        let mut changed = scheduler.clone();
        change(&mut changed);
        let anomalies = self.watched.compute(&mut changed).map_err(NotAdopted::Refused)?;
        let plan = Arc::new(plan(&changed));
        let mut followers = self.followers.lock();
        let passed = pass_on(&mut followers, &changed, &scheduler).and_then(|()| {
            let levels = levels(&changed, &self.configure);
            match levels.is_empty() {
                true => Ok(()),
                false => Ok(self.dispatcher.reconfigure(levels)?),
            }
        });
        match &passed {
            Ok(()) | Err(NotAdopted::Dispatch(DispatchError::Thread { .. })) => {
                self.watched.adopted(&changed);
                *self.plan.lock() = plan;
                *scheduler = changed;
            }
            Err(refused) => {
                self.watched.refused();
                if let NotAdopted::Dispatch(_) = refused {
                    return_to(&mut followers, &scheduler);
                }
            }
        }
        passed.map(|()| anomalies)
    }

    /// Passes the schedule in force to a follower, now and at each [`reconfigure`](Self::reconfigure), before
    /// the dispatcher takes it: to an event channel with `EventChannel::follow`, to calls with
    /// [`OperationPriorities::follow`](crate::OperationPriorities::follow). `follow` runs on the thread that
    /// calls this or `reconfigure`, and must not call this dispatcher. A schedule that it refuses comes into
    /// force nowhere: followers that have accepted it get the one before again. It follows as long as the
    /// dispatcher exists. For a scheduler of another process,
    /// [`ScheduleFollower`](crate::rtec::ScheduleFollower) does the same.
    ///
    /// ```
    /// use std::{sync::Arc, time::Duration};
    /// use punctual::Priority;
    /// use punctual_dispatch::Command;
    /// use punctual_scheduling::{OperationPriorities, ScheduledDispatcher, reconfigurable::*};
    ///
    /// type Dispatcher = ScheduledDispatcher<Box<dyn Command>>;
    /// let ms = Duration::from_millis;
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    /// let track = scheduler.add(Operation::new("track", Criticality::High).tuple(ms(50), ms(5)))?;
    /// let dispatcher = Dispatcher::start(scheduler, |_, level| level)?;
    /// let priorities = Arc::new(OperationPriorities::at_lanes([Priority::MAX]));
    /// let calls = Arc::clone(&priorities);
    /// dispatcher.pass_on(move |schedule| {
    ///     calls.follow(schedule.clone());
    ///     Ok(())
    /// })?;
    /// assert_eq!(priorities.of(track.handle()), Some(Priority::MAX));
    /// dispatcher.reconfigure(|changed| changed.enable(track, false).expect("it is known"))?;
    /// assert_eq!(priorities.of(track.handle()), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotAdopted::Follower`]: it refuses the schedule in force, and gets no other.
    pub fn pass_on(
        &self,
        mut follow: impl FnMut(&ReconfigurableScheduler) -> Result<(), Reason> + Send + 'static,
    ) -> Result<(), NotAdopted> {
        let scheduler = self.scheduler.lock();
        follow(&scheduler).map_err(NotAdopted::Follower)?;
        self.followers.lock().push(Box::new(follow));
        Ok(())
    }

    /// Returns a copy of the scheduler with the schedule in force.
    pub fn scheduler(&self) -> ReconfigurableScheduler {
        self.scheduler.lock().clone()
    }

    /// Returns the dispatcher.
    pub fn dispatcher(&self) -> &Dispatcher<C> {
        &self.dispatcher
    }

    /// Returns the number of executions that were refused because their operation did not run.
    pub fn not_scheduled(&self) -> u64 {
        self.not_scheduled.load(Relaxed)
    }

    /// Returns the counters of all computations, and the contents of the schedule in force.
    pub fn computations(&self) -> SchedulerStatistics {
        self.watched.statistics()
    }

    /// Shows the scheduler under this name in `punctual top` and in metrics, beside the lanes of an inspected
    /// ORB, as long as it exists. It costs no thread of the program any work.
    ///
    /// ```
    /// use punctual::{Inspection, Orb};
    /// use punctual_dispatch::Command;
    /// use punctual_scheduling::{ScheduledDispatcher, reconfigurable::*};
    ///
    /// type Dispatcher = ScheduledDispatcher<Box<dyn Command>>;
    /// let ms = std::time::Duration::from_millis;
    /// let orb = Orb::builder().inspection(Inspection::new()).build()?;
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    /// scheduler.add(Operation::new("track", Criticality::High).tuple(ms(50), ms(5)))?;
    /// let dispatcher = Dispatcher::start(scheduler, |_, level| level)?;
    /// dispatcher.show(&orb, "radar");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show(&self, orb: &Orb, name: impl Into<String>) {
        self.watched.show(orb, name);
    }

    /// Returns the counters of all levels, the present ones and those that were removed.
    pub fn statistics(&self) -> Vec<LevelStatistics> {
        let mut all = self.dispatcher.statistics();
        all.push(self.dispatcher.removed_statistics());
        all
    }
}

/// Returns a configuration of levels that gives the first one this priority of SCHED_FIFO, and each next one
/// the priority below, down to 1.
///
/// ```
/// use punctual::{NativePriority, Orb, SchedulerStatistics};
/// use punctual_dispatch::Level;
/// use punctual_scheduling::fifo;
///
/// let configure = fifo(NativePriority(50));
/// let _level: Level = configure(3, Level::new(3));
/// ```
pub fn fifo(highest: NativePriority) -> impl Fn(usize, Level) -> Level + Send + Sync + 'static {
    move |place, level| {
        let below = i16::try_from(place).unwrap_or(i16::MAX);
        let priority = NativePriority(highest.0.saturating_sub(below).max(1));
        level.scheduling(Scheduling::fifo(priority))
    }
}

/// Passes a schedule to all followers, or to none if one refuses it.
fn pass_on(
    followers: &mut [Box<Follower>],
    changed: &ReconfigurableScheduler,
    former: &ReconfigurableScheduler,
) -> Result<(), NotAdopted> {
    for place in 0..followers.len() {
        if let Err(reason) = followers[place](changed) {
            return_to(&mut followers[..place], former);
            return Err(NotAdopted::Follower(reason));
        }
    }
    Ok(())
}

/// Passes the schedule in force to followers that have accepted another one since.
fn return_to(followers: &mut [Box<Follower>], former: &ReconfigurableScheduler) {
    for follow in followers {
        // They have accepted it before.
        let _ = follow(former);
    }
}

fn levels(scheduler: &ReconfigurableScheduler, configure: &Configure) -> Vec<Level> {
    let levels = 0..scheduler.level_count();
    let configured = levels.map(|level| {
        let order = scheduler.order_of(level);
        configure(level as usize, Level::new(level).order(order))
    });
    configured.collect()
}

/// Returns the placements of all operations, by their ids.
fn plan(scheduler: &ReconfigurableScheduler) -> Vec<Option<Placement>> {
    let ids = (0u32..).take(scheduler.operations().len());
    ids.map(|id| scheduler.placement(OperationId(id))).collect()
}
