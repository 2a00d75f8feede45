//! The servant of the scheduler object.

use punctual::{Orb, SchedulerStatistics, SystemException};
use punctual_os::{PiMutex, PiMutexGuard};

use super::{
    idl::{
        punctual_scheduling::Scheduler as Own,
        rtec_base::{DependencyInfo, DependencyTypeT},
        rtec_scheduler::{Scheduler, scheduler::*, *},
    },
    information::{Attributes, described},
    limits::SchedulerLimits,
    refusal::Refusal,
    table::{Table, dependency},
};
use crate::reconfigurable::{InvalidThreshold, ReconfigurableScheduler, Strategy};

/// `RtecScheduler::Scheduler` over a [`ReconfigurableScheduler`].
///
/// A computation that finds a cycle, an operation that nothing runs, or critical work without room raises the
/// exception of that name, and the schedule that was in force remains. Other work that finds no room, and
/// tuples that contradict each other, are anomalies: that work does not run, all other work does.
///
/// Each request holds a lock that inherits priority for its duration, which is milliseconds for a computation
/// with thousands of operations. Memory is bounded by [`SchedulerLimits`].
///
/// ```
/// use punctual::Orb;
/// use punctual_scheduling::{
///     reconfigurable::Strategy,
///     rtec::{SchedulerServant, idl::{punctual_scheduling::SchedulerRef, rtec_scheduler::*}},
/// };
///
/// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
/// let servant = SchedulerServant::new(Strategy::MufFair);
/// let scheduler: SchedulerRef = orb.root_poa().activate(servant)?;
/// let display = scheduler.create("display")?;
/// // Every 50 ms, 30 ms each, in units of 100 ns.
/// let (critical, importance) = (CriticalityT::LowCriticality, ImportanceT::LowImportance);
/// let kind = InfoTypeT::Operation;
/// scheduler.set(display, critical, 300_000, 0, 0, 500_000, importance, 0, 0, kind)?;
/// let (infos, _, levels, anomalies) = scheduler.compute_scheduling(1, 50)?;
/// assert_eq!((infos[0].priority, levels.len(), anomalies.len()), (50, 1, 0));
/// # orb.shutdown_and_wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SchedulerServant {
    strategy: Strategy,
    table: PiMutex<Table>,
}

impl SchedulerServant {
    /// Creates a scheduler without operations, with thresholds 1 and default limits.
    pub fn new(strategy: Strategy) -> Self {
        Self::over(ReconfigurableScheduler::new(strategy), SchedulerLimits::default())
    }

    /// Creates a scheduler without operations. The thresholds are the utilisations up to which critical work,
    /// and other work, is admitted: 0 to 1 each.
    ///
    /// # Errors
    /// [`InvalidThreshold`].
    pub fn with(
        strategy: Strategy,
        (critical, other): (f64, f64),
        limits: SchedulerLimits,
    ) -> Result<Self, InvalidThreshold> {
        let scheduler = ReconfigurableScheduler::new(strategy).thresholds(critical, other)?;
        Ok(Self::over(scheduler, limits))
    }

    fn over(scheduler: ReconfigurableScheduler, limits: SchedulerLimits) -> Self {
        Self {
            strategy: scheduler.strategy_in_use(),
            table: PiMutex::new(Table::new(scheduler, limits)),
        }
    }

    /// Returns the counters of all computations, and what the schedule in force has.
    pub fn statistics(&self) -> SchedulerStatistics {
        self.table().watched.statistics()
    }

    /// Shows the scheduler under this name in `punctual top` and in metrics, beside the lanes of an inspected
    /// ORB, as long as it exists. No thread of the program does anything for this.
    ///
    /// ```
    /// use punctual::{Inspection, Orb};
    /// use punctual_scheduling::{
    ///     reconfigurable::Strategy,
    ///     rtec::{SchedulerServant, idl::punctual_scheduling::SchedulerRef},
    /// };
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").inspection(Inspection::new()).build()?;
    /// let servant = SchedulerServant::new(Strategy::MufFair);
    /// servant.show(&orb, "Scheduler");
    /// let scheduler: SchedulerRef = orb.root_poa().activate(servant)?;
    /// # orb.shutdown_and_wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show(&self, orb: &Orb, name: impl Into<String>) {
        self.table().watched.show(orb, name);
    }

    fn table(&self) -> PiMutexGuard<'_, Table> {
        self.table.lock()
    }
}

/// Checks everything before the first change.
fn set_all(table: &mut Table, infos: &[RtInfoView<'_>], adds: bool) -> Result<(), Refusal> {
    table.check_all(infos.iter().map(|info| (info.handle, info.into())), adds)?;
    infos
        .iter()
        .try_for_each(|info| table.set(info.handle, info.into(), adds))
}

impl Scheduler for SchedulerServant {
    fn create(&self, entry_point: &str) -> Result<HandleT, CreateError> {
        Ok(self.table().create(entry_point)?)
    }

    fn lookup(&self, entry_point: &str) -> Result<HandleT, LookupError> {
        Ok(self.table().lookup(entry_point)?)
    }

    fn get(&self, handle: HandleT) -> Result<RtInfo, GetError> {
        Ok(self.table().information(handle)?)
    }

    fn set(
        &self,
        handle: HandleT,
        criticality: CriticalityT,
        worst: Time,
        typical: Time,
        cached: Time,
        period: PeriodT,
        importance: ImportanceT,
        quantum: QuantumT,
        threads: ThreadsT,
        info_type: InfoTypeT,
    ) -> Result<(), SetError> {
        let attributes = Attributes {
            criticality,
            worst,
            typical,
            cached,
            period,
            importance,
            quantum,
            threads,
            info_type,
        };
        Ok(self.table().set(handle, attributes, true)?)
    }

    fn reset(
        &self,
        handle: HandleT,
        criticality: CriticalityT,
        worst: Time,
        typical: Time,
        cached: Time,
        period: PeriodT,
        importance: ImportanceT,
        quantum: QuantumT,
        threads: ThreadsT,
        info_type: InfoTypeT,
    ) -> Result<(), ResetError> {
        let attributes = Attributes {
            criticality,
            worst,
            typical,
            cached,
            period,
            importance,
            quantum,
            threads,
            info_type,
        };
        Ok(self.table().set(handle, attributes, false)?)
    }

    fn set_seq(&self, infos: &[RtInfoView<'_>]) -> Result<(), SetSeqError> {
        Ok(set_all(&mut self.table(), infos, true)?)
    }

    fn replace_seq(&self, infos: &[RtInfoView<'_>]) -> Result<(), ReplaceSeqError> {
        Ok(set_all(&mut self.table(), infos, false)?)
    }

    fn reset_seq(&self, infos: &[RtInfoView<'_>]) -> Result<(), ResetSeqError> {
        let mut table = self.table();
        set_all(&mut table, infos, false)?;
        let kept = infos.iter().map(|info| info.handle).collect();
        Ok(table.clear_all_but(&kept)?)
    }

    fn priority(
        &self,
        handle: HandleT,
    ) -> Result<(OsPriority, PreemptionSubpriorityT, PreemptionPriorityT), PriorityError> {
        Ok(self.table().priorities(handle)?)
    }

    fn entry_point_priority(
        &self,
        entry_point: &str,
    ) -> Result<(OsPriority, PreemptionSubpriorityT, PreemptionPriorityT), EntryPointPriorityError> {
        let table = self.table();
        Ok(table
            .lookup(entry_point)
            .and_then(|handle| table.priorities(handle))?)
    }

    fn add_dependency(
        &self,
        handle: HandleT,
        on: HandleT,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
    ) -> Result<(), AddDependencyError> {
        let dependency = dependency(handle, on, number_of_calls, dependency_type);
        Ok(self.table().add_dependency(dependency)?)
    }

    fn remove_dependency(
        &self,
        handle: HandleT,
        on: HandleT,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
    ) -> Result<(), RemoveDependencyError> {
        let dependency = dependency(handle, on, number_of_calls, dependency_type);
        Ok(self.table().remove_dependency(&dependency)?)
    }

    fn set_dependency_enable_state(
        &self,
        handle: HandleT,
        on: HandleT,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
        enabled: DependencyEnabledTypeT,
    ) -> Result<(), SetDependencyEnableStateError> {
        let dependency = DependencyInfo {
            enabled,
            ..dependency(handle, on, number_of_calls, dependency_type)
        };
        Ok(self.table().enable_dependency(&dependency)?)
    }

    fn set_dependency_enable_state_seq(
        &self,
        dependencies: &[DependencyInfo],
    ) -> Result<(), SetDependencyEnableStateSeqError> {
        let mut table = self.table();
        // All of them are checked before the first change.
        let check = |dependency| table.known_pair(dependency).map(|_| ());
        dependencies.iter().try_for_each(check)?;
        let mut dependencies = dependencies.iter();
        Ok(dependencies.try_for_each(|dependency| table.enable_dependency(dependency))?)
    }

    fn set_rt_info_enable_state(
        &self,
        handle: HandleT,
        enabled: RtInfoEnabledTypeT,
    ) -> Result<(), SetRtInfoEnableStateError> {
        Ok(self.table().enable(handle, enabled)?)
    }

    fn set_rt_info_enable_state_seq(
        &self,
        pairs: &[RtInfoEnableStatePair],
    ) -> Result<(), SetRtInfoEnableStateSeqError> {
        let mut table = self.table();
        // All of them are checked before the first change.
        pairs
            .iter()
            .try_for_each(|pair| table.lookup_handle(pair.handle))?;
        let mut pairs = pairs.iter();
        Ok(pairs.try_for_each(|pair| table.enable(pair.handle, pair.enabled))?)
    }

    fn compute_scheduling(
        &self,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<(RtInfoSet, DependencySet, ConfigInfoSet, SchedulingAnomalySet), ComputeSchedulingError> {
        let mut table = self.table();
        table.compute(minimum_priority, maximum_priority)?;
        Ok((
            table.all_information(),
            table.dependencies().to_vec(),
            table.levels()?.to_vec(),
            table.anomalies.iter().map(described).collect(),
        ))
    }

    fn recompute_scheduling(
        &self,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<SchedulingAnomalySet, RecomputeSchedulingError> {
        let mut table = self.table();
        table.compute(minimum_priority, maximum_priority)?;
        Ok(table.anomalies.iter().map(described).collect())
    }

    fn get_rt_info_set(&self) -> Result<RtInfoSet, GetRtInfoSetError> {
        Ok(self.table().all_information())
    }

    fn get_dependency_set(&self) -> Result<DependencySet, GetDependencySetError> {
        Ok(self.table().dependencies().to_vec())
    }

    fn get_config_info_set(&self) -> Result<ConfigInfoSet, GetConfigInfoSetError> {
        Ok(self
            .table()
            .levels()
            .map(<[ConfigInfo]>::to_vec)
            .unwrap_or_default())
    }

    fn get_config_infos(&self) -> Result<ConfigInfoSet, GetConfigInfosError> {
        Ok(self.table().levels()?.to_vec())
    }

    fn dispatch_configuration(
        &self,
        level: PreemptionPriorityT,
    ) -> Result<(OsPriority, DispatchingTypeT), DispatchConfigurationError> {
        let table = self.table();
        let levels = table.levels()?;
        let level = usize::try_from(level).ok().and_then(|level| levels.get(level));
        let level = level.ok_or(Refusal::UnknownPriorityLevel)?;
        Ok((level.thread_priority, level.dispatching_type))
    }

    fn last_scheduled_priority(&self) -> Result<PreemptionPriorityT, LastScheduledPriorityError> {
        let last = self.table().levels()?.len() as PreemptionPriorityT - 1;
        Ok(last)
    }
}

impl Own for SchedulerServant {
    fn strategy(&self) -> Result<String, SystemException> {
        Ok(self.strategy.to_string())
    }

    fn utilization(&self) -> Result<f64, SystemException> {
        Ok(self.table().utilization())
    }

    fn computations(&self) -> Result<u64, SystemException> {
        Ok(self.statistics().computations)
    }

    fn last_duration(&self) -> Result<u64, SystemException> {
        let duration = self.statistics().last_duration;
        Ok(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    fn revision(&self) -> Result<u64, SystemException> {
        Ok(self.table().revision)
    }

    fn anomalies(&self) -> Result<SchedulingAnomalySet, SystemException> {
        Ok(self.table().anomalies.iter().map(described).collect())
    }
}
