//! The scheduler object through real calls: TAO's interface, its exceptions, and bad input.

use std::thread::JoinHandle;

use punctual::{Interface, Orb, SystemExceptionKind};
use punctual_scheduling::{
    reconfigurable::Strategy,
    rtec::{
        SchedulerLimits, SchedulerServant,
        idl::{
            punctual_scheduling::SchedulerRef,
            rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT},
            rtec_scheduler::{self as rtec, scheduler::*, *},
        },
    },
};

use CriticalityT::{LowCriticality as Low, VeryHighCriticality as Critical};
use DependencyTypeT::TwoWayCall;

/// A server with a scheduler, and a reference to it in another ORB.
struct Scheduling {
    scheduler: SchedulerRef,
    server: Orb,
    /// References end with their ORB.
    _client: Orb,
    serving: Option<JoinHandle<()>>,
}

impl Drop for Scheduling {
    fn drop(&mut self) {
        self.server.shutdown();
        let serving = self.serving.take().map(JoinHandle::join);
        assert!(serving.is_none_or(|ended| ended.is_ok()));
    }
}

impl Scheduling {
    fn start(strategy: Strategy, limits: SchedulerLimits) -> Self {
        let orb = || Orb::builder().listen("iiop://127.0.0.1").lock_memory(false);
        let (server, client) = (orb().build().unwrap(), orb().build().unwrap());
        let servant = SchedulerServant::with(strategy, (1.0, 1.0), limits).unwrap();
        let object: SchedulerRef = server.root_poa().activate(servant).unwrap();
        let scheduler = client.resolve(&object.as_object().to_ior()).unwrap();
        let serving = std::thread::spawn({
            let server = server.clone();
            move || server.run()
        });
        Self {
            scheduler,
            server,
            _client: client,
            serving: Some(serving),
        }
    }

    fn with(strategy: Strategy) -> Self {
        Self::start(strategy, SchedulerLimits::default())
    }

    fn created(&self, name: &str) -> i32 {
        self.scheduler.create(name).unwrap()
    }

    /// Adds a tuple in milliseconds.
    fn set(&self, handle: i32, criticality: CriticalityT, period: i32, wcet: u64) {
        self.try_set(handle, criticality, period * 10_000, wcet * 10_000, 0)
            .unwrap();
    }

    fn try_set(
        &self,
        handle: i32,
        criticality: CriticalityT,
        period: i32,
        wcet: u64,
        threads: i32,
    ) -> Result<(), SetError> {
        let importance = ImportanceT::MediumImportance;
        self.scheduler.set(
            handle,
            criticality,
            wcet,
            7,
            8,
            period,
            importance,
            9,
            threads,
            InfoTypeT::Operation,
        )
    }

    fn source(&self, name: &str, criticality: CriticalityT, period: i32, wcet: u64) -> i32 {
        let handle = self.created(name);
        self.set(handle, criticality, period, wcet);
        handle
    }

    fn depends(&self, handle: i32, on: i32) {
        self.scheduler.add_dependency(handle, on, 1, TwoWayCall).unwrap();
    }
}

#[test]
fn clients_of_tao_describe_operations_and_get_their_priorities() {
    let test = Scheduling::with(Strategy::MufFair);
    let rtec: rtec::SchedulerRef = test.scheduler.as_object().narrow().unwrap().unwrap();
    assert_eq!(
        rtec::SchedulerRef::REPOSITORY_ID,
        "IDL:RtecScheduler/Scheduler:1.0"
    );
    let sensor = test.source("sensor", Critical, 100, 5);
    test.set(sensor, Critical, 20, 5);
    let filter = test.created("filter");
    test.set(filter, Low, 0, 5);
    test.depends(filter, sensor);
    let display = test.source("display", Low, 50, 30);
    let late = test.source("late", Low, 60, 30);
    assert_eq!([sensor, filter, display, late], [1, 2, 3, 4]);
    assert_eq!(rtec.lookup("filter"), Ok(filter));
    assert_eq!(
        rtec.priority(sensor),
        Err(PriorityError::NotScheduled(NotScheduled {}))
    );
    // The sensor with its filter at the lower rate 0.1, the display 0.6; the other one does not fit.
    let (infos, dependencies, configs, anomalies) = rtec.compute_scheduling(10, 20).unwrap();
    let priorities: Vec<_> = infos
        .iter()
        .map(|info| (info.priority, info.preemption_priority))
        .collect();
    assert_eq!(priorities, [(20, 0), (20, 0), (19, 1), (0, -1)]);
    assert_eq!(infos[0].period, 1_000_000);
    assert_eq!(infos[1].period, 1_000_000, "that of the sensor");
    assert_eq!(
        (infos[0].typical_execution_time, infos[0].cached_execution_time),
        (7, 8)
    );
    assert_eq!(infos[1].dependencies, dependencies);
    assert_eq!(dependencies[0].rt_info_depended_on, sensor);
    let types: Vec<_> = configs
        .iter()
        .map(|config| (config.thread_priority, config.dispatching_type))
        .collect();
    let laxity = DispatchingTypeT::LaxityDispatching;
    assert_eq!(types, [(20, laxity), (19, laxity)]);
    assert_eq!(configs[0].timer_periods, [1_000_000]);
    let severities: Vec<_> = anomalies.iter().map(|anomaly| anomaly.severity).collect();
    use AnomalySeverity::{AnomalyError, AnomalyWarning};
    assert_eq!(severities, [AnomalyError, AnomalyWarning], "{anomalies:?}");
    assert_eq!(rtec.last_scheduled_priority(), Ok(1));
    assert_eq!(rtec.dispatch_configuration(1), Ok((19, laxity)));
    for level in [-1, 2] {
        let unknown = DispatchConfigurationError::UnknownPriorityLevel(UnknownPriorityLevel {});
        assert_eq!(rtec.dispatch_configuration(level), Err(unknown));
    }
    assert_eq!(rtec.get_rt_info_set(), Ok(infos));
    assert_eq!(rtec.get_dependency_set(), Ok(dependencies));
    assert_eq!(rtec.get_config_info_set(), Ok(configs.clone()));
    assert_eq!(rtec.get_config_infos(), Ok(configs));
}

#[test]
fn tuples_are_added_replaced_and_taken_away() {
    let test = Scheduling::with(Strategy::RmsFair);
    let first = test.source("first", Low, 100, 10);
    let second = test.source("second", Low, 100, 10);
    test.set(first, Low, 20, 10);
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    assert_eq!(test.scheduler.get(first).unwrap().period, 200_000);
    let mut infos = test.scheduler.get_rt_info_set().unwrap();
    infos[0].period = 400_000;
    test.scheduler.replace_seq(&infos[..1]).unwrap();
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    assert_eq!(
        test.scheduler.get(first).unwrap().period,
        400_000,
        "20 ms is no longer a rate"
    );
    infos[0].period = 250_000;
    test.scheduler.set_seq(&infos[..1]).unwrap();
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    assert_eq!(test.scheduler.get(first).unwrap().period, 250_000, "added");
    // The second one loses its tuples, and would not run: nothing does it depend on.
    test.scheduler.reset_seq(&infos[..1]).unwrap();
    let refused = test.scheduler.recompute_scheduling(1, 99).unwrap_err();
    assert!(matches!(
        refused,
        RecomputeSchedulingError::UnresolvedLocalDependencies(_)
    ));
    test.depends(second, first);
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    assert_eq!(test.scheduler.get(second).unwrap().period, 250_000);
    let reset = test.scheduler.reset(
        second,
        Low,
        10_000,
        0,
        0,
        50_000,
        ImportanceT::default(),
        0,
        0,
        InfoTypeT::Operation,
    );
    reset.unwrap();
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    assert_eq!(test.scheduler.get(second).unwrap().period, 50_000);
}

#[test]
fn a_refused_computation_leaves_the_schedule_in_force() {
    let test = Scheduling::with(Strategy::MufFair);
    let sound = test.source("sound", Critical, 10, 1);
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    let before = test.scheduler.priority(sound);
    // A cycle.
    let (one, two) = (test.created("one"), test.created("two"));
    for handle in [one, two] {
        test.set(handle, Low, 0, 1);
    }
    test.depends(one, two);
    test.depends(two, one);
    let cyclic = test.scheduler.compute_scheduling(1, 99).unwrap_err();
    assert!(matches!(cyclic, ComputeSchedulingError::CyclicDependencies(_)));
    let reasons = test.scheduler.anomalies().unwrap();
    assert!(
        reasons[0].description.contains("in a circle: one, two"),
        "{reasons:?}"
    );
    assert_eq!(test.scheduler.priority(sound), before);
    // Not enabled, a dependency closes no circle; then nothing runs the operation.
    let of = |enabled| {
        test.scheduler
            .set_dependency_enable_state(one, two, 1, TwoWayCall, enabled)
    };
    of(DependencyEnabledTypeT::DependencyDisabled).unwrap();
    let unresolved = test.scheduler.recompute_scheduling(1, 99).unwrap_err();
    assert!(matches!(
        unresolved,
        RecomputeSchedulingError::UnresolvedLocalDependencies(_)
    ));
    of(DependencyEnabledTypeT::DependencyNonVolatile).unwrap();
    assert!(matches!(
        test.scheduler.recompute_scheduling(1, 99),
        Err(RecomputeSchedulingError::CyclicDependencies(_))
    ));
    test.scheduler.remove_dependency(one, two, 1, TwoWayCall).unwrap();
    test.depends(one, sound);
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    // Critical work of 1.1 processors.
    let greedy = test.source("greedy", Critical, 10, 10);
    let exceeded = test.scheduler.recompute_scheduling(1, 99).unwrap_err();
    assert!(matches!(
        exceeded,
        RecomputeSchedulingError::UtilizationBoundExceeded(_)
    ));
    assert_eq!(test.scheduler.priority(sound), before);
    assert_eq!(
        test.scheduler.priority(greedy),
        Err(PriorityError::NotScheduled(NotScheduled {}))
    );
    assert!(test.scheduler.utilization().unwrap() < 0.5);
    // Without it, everything is as before.
    let off = RtInfoEnableStatePair {
        handle: greedy,
        enabled: RtInfoEnabledTypeT::RtInfoDisabled,
    };
    test.scheduler.set_rt_info_enable_state_seq(&[off]).unwrap();
    test.scheduler.recompute_scheduling(1, 99).unwrap();
    assert_eq!(test.scheduler.computations(), Ok(7));
    assert_eq!(test.scheduler.strategy().as_deref(), Ok("MUF_FAIR"));
}

#[test]
fn contradictory_tuples_do_not_run_and_harm_nothing_else() {
    let test = Scheduling::with(Strategy::Rms);
    let sound = test.source("sound", Low, 10, 1);
    let contradictory = test.source("contradictory", Low, 10, 1);
    test.set(contradictory, Low, 10, 2);
    let long = test.source("long", Low, 10, 11);
    let both = test.source("both", Low, 10, 1);
    test.set(both, Low, 0, 1);
    let (infos, _, _, anomalies) = test.scheduler.compute_scheduling(1, 99).unwrap();
    let fatal = anomalies
        .iter()
        .filter(|anomaly| anomaly.severity == AnomalySeverity::AnomalyFatal);
    assert_eq!(fatal.count(), 3, "{anomalies:?}");
    let levels: Vec<_> = [sound, contradictory, long, both]
        .map(|handle| infos[handle as usize - 1].preemption_priority)
        .into();
    assert_eq!(levels, [0, -1, -1, -1]);
}

#[test]
fn wrong_handles_names_and_numbers_are_refused_and_change_nothing() {
    let limits = SchedulerLimits {
        operations: 3,
        dependencies: 2,
        tuples: 2,
        name: 10,
    };
    let test = Scheduling::start(Strategy::Rms, limits);
    let (scheduler, one) = (&test.scheduler, test.source("one", Low, 10, 1));
    for handle in [0, -1, 2, i32::MAX, i32::MIN] {
        let unknown = rtec::UnknownTask {};
        assert_eq!(
            scheduler.get(handle),
            Err(GetError::UnknownTask(unknown.clone())),
            "{handle}"
        );
        assert!(matches!(
            test.try_set(handle, Low, 1, 1, 0),
            Err(SetError::UnknownTask(_))
        ));
        for (handle, on) in [(handle, one), (one, handle)] {
            let refused = scheduler.add_dependency(handle, on, 1, TwoWayCall);
            assert_eq!(
                refused,
                Err(AddDependencyError::UnknownTask(unknown.clone())),
                "{handle}"
            );
        }
    }
    assert!(matches!(
        scheduler.create("one"),
        Err(CreateError::DuplicateName(_))
    ));
    assert!(matches!(
        scheduler.lookup("other"),
        Err(LookupError::UnknownTask(_))
    ));
    let kind = |error: SetError| match error {
        SetError::System(system) => system.kind,
        other => panic!("{other:?}"),
    };
    for (period, wcet, threads) in [(-1, 1, 0), (1, u64::MAX, 0), (1, 1, -1)] {
        let refused = test.try_set(one, Low, period, wcet, threads).unwrap_err();
        assert_eq!(kind(refused), SystemExceptionKind::BadParam);
    }
    let zero = scheduler.add_dependency(one, one, 0, TwoWayCall).unwrap_err();
    assert!(
        matches!(zero, AddDependencyError::System(system) if system.kind == SystemExceptionKind::BadParam)
    );
    // Limits.
    test.set(one, Low, 20, 1);
    assert_eq!(
        kind(test.try_set(one, Low, 5, 1, 0).unwrap_err()),
        SystemExceptionKind::ImpLimit
    );
    let is_limit = |error: CreateError| {
        let CreateError::System(system) = error else {
            panic!("{error:?}")
        };
        system.kind == SystemExceptionKind::ImpLimit
    };
    assert!(is_limit(scheduler.create("elevenchars").unwrap_err()));
    let (two, three) = (test.created("two"), test.created("three"));
    assert!(is_limit(scheduler.create("four").unwrap_err()));
    test.depends(two, one);
    test.depends(three, one);
    let full = scheduler.add_dependency(three, two, 1, TwoWayCall).unwrap_err();
    assert!(
        matches!(full, AddDependencyError::System(system) if system.kind == SystemExceptionKind::ImpLimit)
    );
    // A list with one wrong handle changes none.
    let mut infos = scheduler.get_rt_info_set().unwrap();
    let before = infos[0].clone();
    infos[0].worst_case_execution_time = 77;
    infos[1].handle = 99;
    assert!(matches!(
        scheduler.replace_seq(&infos),
        Err(ReplaceSeqError::UnknownTask(_))
    ));
    assert_eq!(scheduler.get(one), Ok(before));
    // Nor does one in which the tuples of an operation exceed their limit.
    let mut infos = scheduler.get_rt_info_set().unwrap();
    let before = infos.clone();
    infos.truncate(2);
    infos.reverse();
    for info in &mut infos {
        info.worst_case_execution_time += 1;
    }
    assert!(matches!(
        scheduler.set_seq(&infos),
        Err(SetSeqError::System(system)) if system.kind == SystemExceptionKind::ImpLimit
    ));
    assert_eq!(scheduler.get_rt_info_set(), Ok(before));
    let all = scheduler.get_dependency_set().unwrap();
    let disabled = DependencyInfo {
        enabled: DependencyEnabledTypeT::DependencyDisabled,
        ..all[0].clone()
    };
    let wrong = DependencyInfo {
        rt_info: 99,
        ..all[0].clone()
    };
    assert!(matches!(
        scheduler.set_dependency_enable_state_seq(&[disabled, wrong]),
        Err(SetDependencyEnableStateSeqError::UnknownTask(_))
    ));
    assert_eq!(scheduler.get_dependency_set(), Ok(all));
    let before = scheduler.get_rt_info_set();
    let pairs = [one, 99].map(|handle| RtInfoEnableStatePair {
        handle,
        enabled: RtInfoEnabledTypeT::RtInfoDisabled,
    });
    assert!(matches!(
        scheduler.set_rt_info_enable_state_seq(&pairs),
        Err(SetRtInfoEnableStateSeqError::UnknownTask(_))
    ));
    assert_eq!(scheduler.get_rt_info_set(), before);
    scheduler.recompute_scheduling(1, 99).unwrap();
}

#[test]
fn priorities_that_do_not_suffice_and_threads_without_period_are_refused() {
    let test = Scheduling::with(Strategy::Rms);
    for period in [10, 20, 40] {
        test.source(&format!("every {period}"), Low, period, 1);
    }
    let few = test.scheduler.recompute_scheduling(5, 6).unwrap_err();
    assert!(matches!(
        few,
        RecomputeSchedulingError::InsufficientThreadPriorityLevels(_)
    ));
    let none = test.scheduler.recompute_scheduling(6, 5).unwrap_err();
    let RecomputeSchedulingError::System(none) = none else {
        panic!("{none:?}")
    };
    assert_eq!(none.kind, SystemExceptionKind::BadParam);
    test.scheduler.recompute_scheduling(i32::MIN, i32::MAX).unwrap();
    assert_eq!(test.scheduler.dispatch_configuration(0).unwrap().0, i32::MAX);
    let threads = test.created("threads");
    test.try_set(threads, Low, 0, 1, 2).unwrap();
    test.depends(threads, 1);
    assert!(matches!(
        test.scheduler.recompute_scheduling(1, 99),
        Err(RecomputeSchedulingError::ThreadSpecification(_))
    ));
}
