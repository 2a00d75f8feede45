//! Follows the schedule of a scheduler object from another process: asks for it, and passes each new one on.

use std::{
    error::Error,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual::{
    Completion, Interface, Orb, ResolveError, SchedulerState, SchedulerStatistics, SystemException,
    SystemExceptionKind,
};
use punctual_dispatch::OperationLevels;
use punctual_os::{PiCondvar, PiMutex, TaskId, Thread, ThreadSpec, clock::later};

use super::{
    DispatchConfiguration,
    idl::{
        punctual_scheduling::SchedulerRef as OwnRef,
        rtec_scheduler::{ConfigInfo, SchedulerRef, scheduler::*},
    },
};

/// A thread that passes the schedule of an `RtecScheduler::Scheduler` on whenever another one comes into
/// force, for example to [`EventChannel::follow`] and [`OperationPriorities::follow`]. Dropping it ends the
/// thread; the schedule that was passed on last stays.
///
/// It asks periodically: TAO's interface has no subscriptions, the scheduler needs to know nobody who follows
/// it, none of them can delay it or miss a change, and one that is started again is found again. A schedule
/// is passed on one period and one call after it has come into force, at the latest. While nothing changes,
/// each period costs one call that returns a number (`PunctualScheduling::Scheduler::revision`); a scheduler
/// of another vendor is asked for levels and operations each time, and also shows what has been set and not
/// been computed yet. While the scheduler is away, or has computed nothing yet, the schedule in force stays.
///
/// [`EventChannel::follow`]: https://docs.rs/punctual-events
/// [`OperationPriorities::follow`]: crate::OperationPriorities::follow
///
/// ```
/// use std::sync::mpsc;
/// use punctual::{Interface, Orb};
/// use punctual_dispatch::OperationLevels;
/// use punctual_scheduling::{
///     reconfigurable::Strategy,
///     rtec::{
///         ScheduleFollower, SchedulerServant,
///         idl::{punctual_scheduling::SchedulerRef, rtec_scheduler::{CriticalityT, ImportanceT, InfoTypeT}},
///     },
/// };
///
/// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
/// let servant = SchedulerServant::new(Strategy::MufFair);
/// let scheduler: SchedulerRef = orb.root_poa().activate(servant)?;
/// let (tell, told) = mpsc::channel();
/// let (ior, period) = (scheduler.as_object().to_ior(), ScheduleFollower::DEFAULT_PERIOD);
/// let follower = ScheduleFollower::start(&orb, &ior, period, move |schedule| {
///     Ok(tell.send(schedule.clone())?)
/// })?;
///
/// let display = scheduler.create("display")?;
/// let (critical, importance) = (CriticalityT::LowCriticality, ImportanceT::LowImportance);
/// let kind = InfoTypeT::Operation;
/// scheduler.set(display, critical, 300_000, 0, 0, 500_000, importance, 0, 0, kind)?;
/// scheduler.compute_scheduling(1, 50)?;
/// assert_eq!(told.recv()?.placement_of_handle(display).map(|placed| placed.level), Some(0));
/// # drop(follower);
/// # orb.shutdown_and_wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ScheduleFollower {
    shared: Arc<Shared>,
    thread: Option<Thread<()>>,
}

/// Schedules that a [`ScheduleFollower`] has passed on so far, and failures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followed {
    /// Number of schedules that were passed on and adopted.
    pub adopted: u64,
    /// Number of schedules that were refused by the function that they were passed to.
    pub refused: u64,
    /// Number of queries that failed.
    pub failed: u64,
    /// Why the last query failed; `None`: it succeeded.
    pub failure: Option<String>,
    /// Why the last schedule was refused; `None`: it is in force.
    pub refusal: Option<String>,
}

#[derive(Default)]
struct Shared {
    state: PiMutex<State>,
    changed: PiCondvar,
}

#[derive(Default)]
struct State {
    ends: bool,
    followed: Followed,
    statistics: SchedulerStatistics,
}

/// Function that a new schedule is passed to.
type Adopt = dyn FnMut(&DispatchConfiguration) -> Result<(), Reason> + Send;

/// Why a schedule is refused.
type Reason = Box<dyn Error + Send + Sync>;

struct Follower {
    orb: Orb,
    url: String,
    /// `None`: it is to be looked for.
    scheduler: Option<SchedulerRef>,
    adopt: Box<Adopt>,
    revision: Option<u64>,
    last: Option<DispatchConfiguration>,
}

impl ScheduleFollower {
    /// Default time between two queries: that of a recomputation of the paper, [Gill 2004] 3.
    pub const DEFAULT_PERIOD: Duration = Duration::from_millis(100);
    /// Maximum time that a query waits for the scheduler.
    pub const TIMEOUT: Duration = Duration::from_secs(1);

    /// Starts the thread, in the ordinary class, which asks the scheduler at this `IOR:` or `corbaloc:` URL
    /// at once, and then with this period (1 ms at least). `adopt` is called on it with each schedule that
    /// differs from the one before; one that it refuses is not passed on again, and the one in force stays.
    ///
    /// A scheduler that cannot be reached is no error: after each query that has failed, it is looked for at
    /// the URL again.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        orb: &Orb,
        url: &str,
        period: Duration,
        adopt: impl FnMut(&DispatchConfiguration) -> Result<(), Reason> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut follower = Follower {
            orb: orb.clone(),
            url: url.to_owned(),
            scheduler: None,
            adopt: Box::new(adopt),
            revision: None,
            last: None,
        };
        let period = period.max(Duration::from_millis(1));
        let own = Arc::clone(&shared);
        let thread = ThreadSpec::new("schedule").spawn(move || own.run(&mut follower, period))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns what it has seen so far.
    pub fn followed(&self) -> Followed {
        self.shared.state.lock().followed.clone()
    }

    /// Returns the function that shows the schedule in force and its counters under this name, as long as
    /// this exists: computations are the schedules that were passed on.
    pub fn shown(
        &self,
        name: impl Into<String>,
    ) -> impl Fn() -> Option<SchedulerState> + Send + Sync + 'static {
        let (shared, name) = (Arc::downgrade(&self.shared), name.into());
        move || {
            Some(SchedulerState {
                scheduler: name.clone(),
                strategy: "followed".to_owned(),
                statistics: shared.upgrade()?.state.lock().statistics,
            })
        }
    }
}

impl Drop for ScheduleFollower {
    fn drop(&mut self) {
        self.shared.state.lock().ends = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self
            .thread
            .take()
            .filter(|one| one.tid() != TaskId::current_thread())
        {
            // It ends after the present query, which has a timeout.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self, follower: &mut Follower, period: Duration) {
        loop {
            let due = later(Instant::now(), period);
            let noted = follower.query();
            if noted.is_err() {
                follower.scheduler = None;
            }
            let mut state = self.state.lock();
            state.note(noted);
            let waits = |state: &mut State| !state.ends;
            let _ = self.changed.wait_while_until(&mut state, due, waits);
            if state.ends {
                return;
            }
        }
    }
}

/// A schedule that was passed on, and why it was refused.
type PassedOn = (DispatchConfiguration, Option<String>);

impl State {
    fn note(&mut self, queried: Result<Option<PassedOn>, ResolveError>) {
        let followed = &mut self.followed;
        followed.failure = queried.as_ref().err().map(|error| error.to_string());
        match queried {
            Err(_) => followed.failed += 1,
            Ok(None) => {}
            Ok(Some((_, Some(refusal)))) => {
                followed.refused += 1;
                followed.refusal = Some(refusal);
            }
            Ok(Some((schedule, None))) => {
                followed.adopted += 1;
                followed.refusal = None;
                self.statistics.operations = schedule.enabled();
                self.statistics.running = schedule.running();
                self.statistics.levels = u64::from(schedule.level_count());
                self.statistics.utilization = schedule.utilization();
            }
        }
        self.statistics.refused = followed.refused;
        self.statistics.computations = followed.adopted + followed.refused;
    }
}

impl Follower {
    /// Asks for the schedule, and passes it on if it is another one. `None`: it is not.
    fn query(&mut self) -> Result<Option<PassedOn>, ResolveError> {
        let scheduler = self.found()?;
        let number = revision(&scheduler)?;
        if number.is_some() && number == self.revision {
            return Ok(None);
        }
        let Some(configured) = levels(&scheduler)? else {
            return Ok(None);
        };
        let operations = scheduler.get_rt_info_set().map_err(|error| match error {
            GetRtInfoSetError::System(error) => error,
            _ => unavailable(),
        })?;
        // Another schedule may have come into force between these calls: next time, then.
        let is_whole = match number {
            Some(_) => revision(&scheduler)? == number,
            None => levels(&scheduler)?.as_ref() == Some(&configured),
        };
        if !is_whole {
            return Ok(None);
        }
        self.revision = number;
        let schedule = DispatchConfiguration::new(&configured, &operations);
        if self.last.as_ref() == Some(&schedule) {
            return Ok(None);
        }
        let refusal = (self.adopt)(&schedule).err().map(|error| error.to_string());
        self.last = Some(schedule.clone());
        Ok(Some((schedule, refusal)))
    }

    fn found(&mut self) -> Result<SchedulerRef, ResolveError> {
        if let Some(scheduler) = &self.scheduler {
            return Ok(scheduler.clone());
        }
        let found: SchedulerRef = self.orb.resolve(&self.url)?;
        let timed = found.as_object().with_timeout(ScheduleFollower::TIMEOUT);
        Ok(self.scheduler.insert(SchedulerRef::from_object(timed)).clone())
    }
}

/// The number of the schedule in force; `None`: a scheduler of another vendor has none.
fn revision(scheduler: &SchedulerRef) -> Result<Option<u64>, SystemException> {
    match OwnRef::from_object(scheduler.as_object().clone()).revision() {
        Ok(revision) => Ok(Some(revision)),
        Err(error) if error.kind == SystemExceptionKind::BadOperation => Ok(None),
        Err(error) => Err(error),
    }
}

/// `None`: nothing has been computed yet.
fn levels(scheduler: &SchedulerRef) -> Result<Option<Vec<ConfigInfo>>, SystemException> {
    match scheduler.get_config_infos() {
        Ok(levels) => Ok(Some(levels)),
        Err(GetConfigInfosError::NotScheduled(_)) => Ok(None),
        Err(GetConfigInfosError::System(error)) => Err(error),
        Err(_) => Err(unavailable()),
    }
}

/// For exceptions of a scheduler that cannot read its own state.
fn unavailable() -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, Completion::No)
}
