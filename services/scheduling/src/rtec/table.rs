//! Operations and dependencies as clients have described them, and the schedule in force.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    idl::{
        rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT},
        rtec_scheduler::{ConfigInfo, OsPriority, PreemptionPriorityT, RtInfo, RtInfoEnabledTypeT},
    },
    information::{Attributes, dispatching_type, period, units},
    limits::SchedulerLimits,
    refusal::Refusal,
};
use crate::{
    reconfigurable::{Anomaly, Assignment, Operation, OperationId, RateTuple, ReconfigurableScheduler},
    watched_schedules::WatchedSchedules,
};

/// State of a scheduler object.
pub(super) struct Table {
    pub(super) scheduler: ReconfigurableScheduler,
    limits: SchedulerLimits,
    /// Attributes to which each operation was last set; `enabled` as in its RT_Info.
    described: Vec<(Attributes, RtInfoEnabledTypeT)>,
    dependencies: Vec<DependencyInfo>,
    /// Decisions of the last successful computation.
    in_force: Option<InForce>,
    /// Findings of the last computation.
    pub(super) anomalies: Vec<Anomaly>,
    pub(super) watched: Arc<WatchedSchedules>,
    /// Begins with the time, so that a scheduler that was started again has another one.
    pub(super) revision: u64,
}

/// A schedule, which stands until another computation succeeds.
struct InForce {
    assignments: Vec<Assignment>,
    levels: Vec<ConfigInfo>,
    utilization: f64,
}

/// Priorities of an operation: of the OS, within its level, and the level.
pub(super) type Priorities = (OsPriority, i32, PreemptionPriorityT);

/// `preemption_priority` of an operation that does not run.
const NOWHERE: i32 = -1;

impl Table {
    pub(super) fn new(scheduler: ReconfigurableScheduler, limits: SchedulerLimits) -> Self {
        let watched = Arc::new(WatchedSchedules::new(&scheduler));
        let described = scheduler.operations().iter();
        Self {
            described: described
                .map(|_| (Attributes::unset(), RtInfoEnabledTypeT::RtInfoEnabled))
                .collect(),
            scheduler,
            limits,
            dependencies: Vec::new(),
            in_force: None,
            anomalies: Vec::new(),
            watched,
            revision: started(),
        }
    }

    pub(super) fn create(&mut self, name: &str) -> Result<i32, Refusal> {
        if name.is_empty() {
            return Err(Refusal::OutOfRange);
        }
        if self.described.len() >= self.limits.operations || name.len() > self.limits.name {
            return Err(Refusal::Limit);
        }
        let mut operation = Attributes::unset().operation(Vec::new(), true);
        operation.name = name.into();
        let id = self
            .scheduler
            .add(operation)
            .map_err(|_| Refusal::DuplicateName)?;
        self.described
            .push((Attributes::unset(), RtInfoEnabledTypeT::RtInfoEnabled));
        Ok(id.handle())
    }

    pub(super) fn lookup(&self, name: &str) -> Result<i32, Refusal> {
        self.scheduler
            .lookup(name)
            .map(OperationId::handle)
            .ok_or(Refusal::UnknownTask)
    }

    /// Returns whether there is such an operation.
    pub(super) fn lookup_handle(&self, handle: i32) -> Result<(), Refusal> {
        self.id(handle).map(|_| ())
    }

    /// Checks whether all these operations can be set one after the other.
    pub(super) fn check_all(
        &self,
        all: impl Iterator<Item = (i32, Attributes)>,
        adds: bool,
    ) -> Result<(), Refusal> {
        let mut tuples: HashMap<OperationId, Vec<RateTuple>> = HashMap::new();
        for (handle, attributes) in all {
            let id = self.id(handle)?;
            let before = match adds {
                true => tuples
                    .remove(&id)
                    .unwrap_or_else(|| self.operation(id).tuples.clone()),
                false => Vec::new(),
            };
            tuples.insert(id, self.with_tuple(before, attributes.tuple()?)?);
        }
        Ok(())
    }

    /// Adds a tuple, or replaces all.
    pub(super) fn set(&mut self, handle: i32, attributes: Attributes, adds: bool) -> Result<(), Refusal> {
        let id = self.id(handle)?;
        let before = match adds {
            true => self.operation(id).tuples.clone(),
            false => Vec::new(),
        };
        let tuples = self.with_tuple(before, attributes.tuple()?)?;
        let enabled = self.operation(id).enabled;
        self.described[id.0 as usize].0 = attributes;
        self.redefine(id, attributes.operation(tuples, enabled))
    }

    fn with_tuple(&self, mut tuples: Vec<RateTuple>, tuple: RateTuple) -> Result<Vec<RateTuple>, Refusal> {
        if !tuples.contains(&tuple) {
            tuples.push(tuple);
        }
        match tuples.len() <= self.limits.tuples {
            true => Ok(tuples),
            false => Err(Refusal::Limit),
        }
    }

    /// Takes the tuples from all operations but these.
    pub(super) fn clear_all_but(&mut self, kept: &HashSet<i32>) -> Result<(), Refusal> {
        for number in 0..self.described.len() as u32 {
            let id = OperationId(number);
            if !kept.contains(&id.handle()) {
                let enabled = self.operation(id).enabled;
                self.described[number as usize].0 = Attributes::unset();
                self.redefine(id, Attributes::unset().operation(Vec::new(), enabled))?;
            }
        }
        Ok(())
    }

    pub(super) fn enable(&mut self, handle: i32, enabled: RtInfoEnabledTypeT) -> Result<(), Refusal> {
        let id = self.id(handle)?;
        self.described[id.0 as usize].1 = enabled;
        let runs = enabled != RtInfoEnabledTypeT::RtInfoDisabled;
        self.scheduler.enable(id, runs).map_err(|_| Refusal::UnknownTask)
    }

    pub(super) fn add_dependency(&mut self, dependency: DependencyInfo) -> Result<(), Refusal> {
        self.known_pair(&dependency)?;
        if dependency.number_of_calls < 1 {
            return Err(Refusal::OutOfRange);
        }
        if self.dependencies.len() >= self.limits.dependencies {
            return Err(Refusal::Limit);
        }
        self.depend(&dependency)?;
        self.dependencies.push(dependency);
        Ok(())
    }

    /// Removes one dependency with these attributes, if there is one.
    pub(super) fn remove_dependency(&mut self, dependency: &DependencyInfo) -> Result<(), Refusal> {
        self.known_pair(dependency)?;
        let found = self.dependencies.iter().position(|own| is_same(own, dependency));
        if let Some(found) = found {
            self.dependencies.remove(found);
            self.depend_anew(dependency)?;
        }
        Ok(())
    }

    pub(super) fn enable_dependency(&mut self, dependency: &DependencyInfo) -> Result<(), Refusal> {
        self.known_pair(dependency)?;
        for own in &mut self.dependencies {
            if is_same(own, dependency) {
                own.enabled = dependency.enabled;
            }
        }
        self.depend_anew(dependency)
    }

    /// Computes; the schedule comes into force unless it is refused.
    pub(super) fn compute(&mut self, least: OsPriority, greatest: OsPriority) -> Result<(), Refusal> {
        if least > greatest {
            return Err(Refusal::OutOfRange);
        }
        let computed = self.computed(least, greatest);
        match &computed {
            Ok(()) => self.watched.adopted(&self.scheduler),
            Err(_) => self.watched.refused(),
        }
        computed
    }

    fn computed(&mut self, least: OsPriority, greatest: OsPriority) -> Result<(), Refusal> {
        let (anomalies, objection) = self.watched.examine(&mut self.scheduler);
        self.anomalies = anomalies;
        if let Some(objection) = objection {
            let refusal = refusal_for(&objection);
            if !self.anomalies.contains(&objection) {
                self.anomalies.insert(0, objection);
            }
            return Err(refusal);
        }
        if self.has_threads_only() {
            return Err(Refusal::ThreadSpecification);
        }
        let priorities = i64::from(greatest) - i64::from(least) + 1;
        let levels = self.scheduler.levels();
        if levels.len() as i64 > priorities {
            return Err(Refusal::InsufficientThreadPriorityLevels);
        }
        let levels = (0i32..).zip(levels).map(|(number, level)| ConfigInfo {
            preemption_priority: number,
            thread_priority: greatest - number,
            dispatching_type: dispatching_type(level.queue),
            timer_periods: level.periods.iter().map(|every| period(*every)).collect(),
        });
        let ids = (0u32..).take(self.described.len()).map(OperationId);
        self.in_force = Some(InForce {
            levels: levels.collect(),
            assignments: ids
                .map(|id| self.scheduler.assignment(id).unwrap_or_default())
                .collect(),
            utilization: self.scheduler.utilization(),
        });
        self.revision += 1;
        Ok(())
    }

    /// Returns whether an operation has threads, but no rate at which they run.
    fn has_threads_only(&self) -> bool {
        let mut all = self.described.iter().zip(self.scheduler.operations());
        all.any(|((described, _), operation)| {
            operation.enabled && described.threads > 0 && !operation.is_source()
        })
    }

    pub(super) fn information(&self, handle: i32) -> Result<RtInfo, Refusal> {
        let own = self.dependencies.iter().filter(|own| own.rt_info == handle);
        self.information_with(handle, own.cloned().collect())
    }

    fn information_with(&self, handle: i32, dependencies: Vec<DependencyInfo>) -> Result<RtInfo, Refusal> {
        let id = self.id(handle)?;
        let (described, enabled) = self.described[id.0 as usize];
        let operation = self.operation(id);
        let assignment = self.assignment(id);
        let running = assignment.and_then(|assignment| assignment.period);
        let at_rate = running.and_then(|every| operation.tuples.iter().find(|tuple| tuple.period == every));
        let (priority, preemption_subpriority, preemption_priority) =
            self.priorities(handle).unwrap_or((0, 0, NOWHERE));
        Ok(RtInfo {
            entry_point: operation.name.to_string(),
            handle,
            worst_case_execution_time: at_rate.map_or(described.worst, |tuple| units(tuple.wcet)),
            typical_execution_time: described.typical,
            cached_execution_time: described.cached,
            period: running.map_or(described.period, period),
            criticality: described.criticality,
            importance: described.importance,
            quantum: described.quantum,
            threads: described.threads,
            dependencies,
            priority,
            preemption_subpriority,
            preemption_priority,
            info_type: described.info_type,
            enabled,
            volatile_token: 0,
        })
    }

    pub(super) fn all_information(&self) -> Vec<RtInfo> {
        let mut dependencies: HashMap<i32, Vec<DependencyInfo>> = HashMap::new();
        for own in &self.dependencies {
            dependencies.entry(own.rt_info).or_default().push(own.clone());
        }
        let handles = 1..=self.described.len() as i32;
        let informed = handles.filter_map(|handle| {
            let dependencies = dependencies.remove(&handle).unwrap_or_default();
            self.information_with(handle, dependencies).ok()
        });
        informed.collect()
    }

    pub(super) fn dependencies(&self) -> &[DependencyInfo] {
        &self.dependencies
    }

    /// Returns the priorities of an operation that runs.
    pub(super) fn priorities(&self, handle: i32) -> Result<Priorities, Refusal> {
        let id = self.id(handle)?;
        let assignment = self.assignment(id).ok_or(Refusal::NotScheduled)?;
        let level = assignment.level.ok_or(Refusal::NotScheduled)?;
        let level = &self.levels()?[level as usize];
        let subpriority = i32::try_from(assignment.subpriority).unwrap_or(i32::MAX);
        Ok((level.thread_priority, subpriority, level.preemption_priority))
    }

    /// Returns the levels in force, the first one first.
    pub(super) fn levels(&self) -> Result<&[ConfigInfo], Refusal> {
        let in_force = self.in_force.as_ref().ok_or(Refusal::NotScheduled)?;
        Ok(&in_force.levels)
    }

    /// Returns the utilisation in force.
    pub(super) fn utilization(&self) -> f64 {
        self.in_force
            .as_ref()
            .map_or(0.0, |in_force| in_force.utilization)
    }

    fn assignment(&self, id: OperationId) -> Option<Assignment> {
        let in_force = self.in_force.as_ref()?;
        in_force.assignments.get(id.0 as usize).copied()
    }

    fn operation(&self, id: OperationId) -> &Operation {
        &self.scheduler.operations()[id.0 as usize]
    }

    fn redefine(&mut self, id: OperationId, operation: Operation) -> Result<(), Refusal> {
        self.scheduler
            .redefine(id, operation)
            .map_err(|_| Refusal::UnknownTask)
    }

    fn id(&self, handle: i32) -> Result<OperationId, Refusal> {
        let known = OperationId::of_handle(handle).filter(|id| (id.0 as usize) < self.described.len());
        known.ok_or(Refusal::UnknownTask)
    }

    pub(super) fn known_pair(
        &self,
        dependency: &DependencyInfo,
    ) -> Result<(OperationId, OperationId), Refusal> {
        Ok((
            self.id(dependency.rt_info)?,
            self.id(dependency.rt_info_depended_on)?,
        ))
    }

    fn depend(&mut self, dependency: &DependencyInfo) -> Result<(), Refusal> {
        let (operation, on) = self.known_pair(dependency)?;
        if dependency.enabled == DependencyEnabledTypeT::DependencyDisabled {
            return Ok(());
        }
        let times = u32::try_from(dependency.number_of_calls).map_err(|_| Refusal::OutOfRange)?;
        self.scheduler
            .depend(operation, on, times)
            .map_err(|_| Refusal::UnknownTask)
    }

    /// Passes all dependencies of a pair of operations to the scheduler, after a change.
    fn depend_anew(&mut self, of: &DependencyInfo) -> Result<(), Refusal> {
        let (operation, on) = self.known_pair(of)?;
        self.scheduler.remove_dependency(operation, on);
        let pair = (of.rt_info, of.rt_info_depended_on);
        let own = self.dependencies.iter();
        let own = own.filter(|own| (own.rt_info, own.rt_info_depended_on) == pair);
        for dependency in own.cloned().collect::<Vec<_>>() {
            self.depend(&dependency)?;
        }
        Ok(())
    }
}

/// Nanoseconds of the calendar.
fn started() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or_default()
}

fn refusal_for(objection: &Anomaly) -> Refusal {
    match objection {
        Anomaly::Cycle(_) => Refusal::CyclicDependencies,
        Anomaly::Unresolved { .. } => Refusal::UnresolvedLocalDependencies,
        _ => Refusal::UtilizationBoundExceeded,
    }
}

/// Creates the description of an enabled dependency.
pub(super) fn dependency(
    handle: i32,
    on: i32,
    number_of_calls: i32,
    dependency_type: DependencyTypeT,
) -> DependencyInfo {
    DependencyInfo {
        dependency_type,
        number_of_calls,
        rt_info: handle,
        rt_info_depended_on: on,
        enabled: DependencyEnabledTypeT::DependencyEnabled,
    }
}

fn is_same(own: &DependencyInfo, other: &DependencyInfo) -> bool {
    let key = |of: &DependencyInfo| {
        (
            of.rt_info,
            of.rt_info_depended_on,
            of.number_of_calls,
            of.dependency_type,
        )
    };
    key(own) == key(other)
}
