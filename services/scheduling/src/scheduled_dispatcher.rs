//! A dispatcher whose levels are those of the reconfigurable scheduler, also after a change of rates.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use punctual::NativePriority;
use punctual_dispatch::{Command, DispatchError, Dispatcher, Level, LevelStatistics, Order, Qos, Rejected};
use punctual_os::{PiMutex, Scheduling};
use punctual_sched::dynamic::Time;

use crate::reconfigurable::{Anomaly, OperationId, Queue, ReconfigurableScheduler};

/// Dispatches the executions of operations as the reconfigurable scheduler has decided: with the level, the
/// order, the criticality and the importance of the operation, and with the end of its period as deadline.
///
/// [`Self::reconfigure`] computes again and passes the new levels on while operations wait and run. No
/// execution is lost: what waits moves to the level of its number in the new configuration.
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
    /// Locked by reconfigurations, one at a time.
    scheduler: PiMutex<ReconfigurableScheduler>,
    plan: PiMutex<Arc<Vec<Option<Qos>>>>,
    configure: Box<Configure>,
    not_scheduled: AtomicU64,
}

/// Completes the description of a level: scheduling class, CPUs, capacity, shedding.
type Configure = dyn Fn(usize, Level) -> Level + Send + Sync;

/// Why an execution was not queued.
#[derive(thiserror::Error)]
pub enum NotDispatched<C> {
    /// The operation does not run in the present schedule.
    #[error("the operation was not admitted, and does not run in the present schedule")]
    NotScheduled(C),
    /// Its queue took no more.
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
    /// its place from 0, which is the first to be dispatched; [`fifo`] is what most programs need.
    ///
    /// # Errors
    /// As for [`DispatcherBuilder::build`](punctual_dispatch::DispatcherBuilder::build); among others if no
    /// operation runs.
    pub fn start(
        mut scheduler: ReconfigurableScheduler,
        configure: impl Fn(usize, Level) -> Level + Send + Sync + 'static,
    ) -> Result<Self, DispatchError> {
        scheduler.compute();
        let configure: Box<Configure> = Box::new(configure);
        let builder = Dispatcher::builder().levels(levels(&scheduler, &configure));
        Ok(Self {
            dispatcher: builder.build()?,
            plan: PiMutex::new(Arc::new(plan(&scheduler))),
            scheduler: PiMutex::new(scheduler),
            configure,
            not_scheduled: AtomicU64::new(0),
        })
    }

    /// Returns the time by which deadlines are stated.
    pub fn now(&self) -> Time {
        Time(0) + punctual_os::clock::monotonic()
    }

    /// Queues an execution of an operation that was released at this time; its deadline is one period later.
    ///
    /// # Errors
    /// The command: the operation does not run, or its queue is full.
    pub fn dispatch(&self, id: OperationId, release: Time, command: C) -> Result<(), NotDispatched<C>> {
        let plan = Arc::clone(&self.plan.lock());
        let Some(Some(qos)) = plan.get(id.0 as usize) else {
            self.not_scheduled.fetch_add(1, Relaxed);
            return Err(NotDispatched::NotScheduled(command));
        };
        // Until here, the deadline was the period.
        let deadline = release + qos.deadline.since(Time(0));
        Ok(self.dispatcher.dispatch(command, qos.deadline(deadline))?)
    }

    /// Changes operations, computes, and passes the levels to the dispatcher; returns the anomalies. If
    /// nothing runs any more, the levels stay, and no operation is dispatched.
    ///
    /// # Errors
    /// As for [`Dispatcher::reconfigure`].
    pub fn reconfigure(
        &self,
        change: impl FnOnce(&mut ReconfigurableScheduler),
    ) -> Result<Vec<Anomaly>, DispatchError> {
        let mut scheduler = self.scheduler.lock();
        change(&mut scheduler);
        let anomalies = scheduler.compute();
        let plan = Arc::new(plan(&scheduler));
        let levels = levels(&scheduler, &self.configure);
        if !levels.is_empty() {
            self.dispatcher.reconfigure(levels)?;
        }
        *self.plan.lock() = plan;
        Ok(anomalies)
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
/// use punctual::NativePriority;
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

fn levels(scheduler: &ReconfigurableScheduler, configure: &Configure) -> Vec<Level> {
    let levels = scheduler.levels().iter().zip(0u32..);
    let configured = levels.map(|(level, place)| {
        let order = match level.queue {
            Queue::Static => Order::Arrival,
            Queue::Deadline => Order::Deadline,
            Queue::Laxity => Order::Laxity,
        };
        configure(place as usize, Level::new(place).order(order))
    });
    configured.collect()
}

/// Returns for each operation that runs its quality of service, with the period in place of the deadline.
fn plan(scheduler: &ReconfigurableScheduler) -> Vec<Option<Qos>> {
    let operations = scheduler.operations().iter().zip(0u32..);
    let planned = operations.map(|(operation, id)| {
        let assignment = scheduler.assignment(OperationId(id))?;
        let qos = Qos::new(assignment.level?)
            .deadline(Time(0) + assignment.period?)
            .execution_time(operation.wcet())
            .importance(operation.importance);
        Some(if assignment.criticality.is_critical() {
            qos.critical()
        } else {
            qos
        })
    });
    planned.collect()
}
