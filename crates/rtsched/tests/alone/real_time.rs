//! Preemption, native priorities and SCHED_DEADLINE, which require real-time rights. Each test is skipped
//! without them, and runs alone on one CPU; busy loops are bounded in time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use doubler::{Doubler, DoublerRef};
use punctual_fixtures::{LONG, Missing, eventually, realtime_or_skip, skip};
use punctual_orb::{Orb, PriorityModel};
use punctual_os::{
    CpuSet, Gate, PiMutex, Scheduling, SchedulingClass, TaskId, ThreadSpec, affinity, deadline_class,
    scheduling,
};
use punctual_rtsched::{
    BuildError, Mechanism, NativePriorities, Preemption, RtScheduling, SchedulingError, ThreadStatus,
};
use punctual_sched::{
    LinearMapping, PriorityMapping,
    dynamic::{
        EarliestDeadlineFirst, MaximumUrgencyFirst, MostImportantFirst, SchedulingParameters, SheddingPolicy,
        ThreadPriority, Time,
    },
};
use punctual_stub::Interface;
use punctual_types::{Minor, NativePriority, Priority, SystemExceptionKind};

mod doubler {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs"));
}

/// Returns the CPU that the test uses; `None`: the test is skipped.
fn cpu_with_rights() -> Option<usize> {
    if !realtime_or_skip() {
        return None;
    }
    let cpus: Vec<usize> = affinity::current().iter().collect();
    if cpus.len() < 2 {
        skip(Missing::Machine, "one CPU");
        return None;
    }
    cpus.last().copied()
}

fn importance(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

/// An OS thread above all others on the CPU, as a lane's: threads that it spawns reach their scheduling point
/// immediately.
fn on(cpu: usize, name: &str) -> ThreadSpec {
    ThreadSpec::new(name)
        .scheduling(Scheduling::fifo(NativePriority(80)))
        .affinity(CpuSet::single(cpu))
}

/// Spins until stopped, and counts.
#[derive(Clone, Default)]
struct Spinner {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicU64>,
}

impl Spinner {
    fn spin(&self) {
        let end = Instant::now() + LONG;
        while !self.stop.load(Ordering::Relaxed) && Instant::now() < end {
            self.turns.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Waits until it has had the CPU once more: the kernel's throttling stops all real-time threads now and
    /// then.
    fn gets_on(&self) {
        let before = self.turns();
        eventually("it gets the CPU again", || self.turns() > before);
    }
}

pub fn a_more_eligible_thread_preempts_a_running_one() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder().record_decisions(100).build().unwrap();
    let (low, high) = (Spinner::default(), Spinner::default());
    let start = |name: &'static str, of_importance, spinner: &Spinner| {
        let (scheduling, spinner) = (scheduling.clone(), spinner.clone());
        let body = move || {
            let result = scheduling
                .current()
                .segment(name, importance(of_importance), |_| {
                    spinner.spin();
                    Ok::<_, SchedulingError>(())
                });
            result.unwrap();
            scheduling::current()
        };
        on(cpu, name).spawn(body).unwrap()
    };
    let low_thread = start("low", 1, &low);
    eventually("the less important one runs", || low.turns() > 0);
    let high_thread = start("high", 9, &high);
    eventually("the more important one runs", || high.turns() > 0);
    let frozen = low.turns();
    high.gets_on();
    assert_eq!(low.turns(), frozen, "it does not run");
    let native = scheduling::of(low_thread.tid()).unwrap();
    assert_eq!(native, Scheduling::fifo(NativePriorities::default().inactive));
    high.stop();
    assert_eq!(
        high_thread.join().unwrap(),
        Scheduling::fifo(NativePriority(80)),
        "its own scheduling is restored"
    );
    eventually("the less important one continues", || low.turns() > frozen);
    assert_eq!(
        scheduling::of(low_thread.tid()).unwrap(),
        Scheduling::fifo(NativePriorities::default().active)
    );
    low.stop();
    low_thread.join().unwrap();
    let order: Vec<String> = scheduling
        .decisions()
        .iter()
        .map(|d| format!("{} {}", d.name(), d.switch))
        .collect();
    assert_eq!(
        order,
        [
            "low resumed",
            "low suspended",
            "high resumed",
            "high suspended",
            "low resumed",
            "low suspended"
        ]
    );
}

pub fn a_passed_thread_waits_at_its_next_scheduling_point() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder().build().unwrap();
    let (entered, resume) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (enters, resumed, of_low) = (Arc::clone(&entered), Arc::clone(&resume), scheduling.clone());
    let low = on(cpu, "low").spawn(move || {
        let result = of_low.current().segment("low", importance(1), |segment| {
            enters.open();
            // Off the processor, so that it reaches its scheduling point although others have passed it.
            resumed.pass(None);
            segment.update(importance(2))
        });
        result.unwrap();
    });
    let low = low.unwrap();
    entered.pass(None);
    let (high_entered, high_resume) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (enters, resumed, of_high) = (
        Arc::clone(&high_entered),
        Arc::clone(&high_resume),
        scheduling.clone(),
    );
    let high = on(cpu, "high").spawn(move || {
        let result = of_high.current().segment("high", importance(9), |_| {
            enters.open();
            resumed.pass(None);
            Ok::<_, SchedulingError>(())
        });
        result.unwrap();
    });
    let high = high.unwrap();
    high_entered.pass(None);
    resume.open();
    eventually("it waits for its turn", || {
        scheduling
            .snapshot()
            .iter()
            .any(|thread| thread.name == "low" && thread.status == ThreadStatus::Ready)
    });
    assert!(!low.is_finished());
    high_resume.open();
    high.join().unwrap();
    low.join().unwrap();
}

pub fn many_threads_all_run_and_regain_their_own_priorities() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    for mechanism in [Mechanism::ReadyQueue, Mechanism::OsPriorities] {
        let scheduling = RtScheduling::builder().mechanism(mechanism).build().unwrap();
        let threads: Vec<_> = (1..=5_i32)
            .map(|number| {
                let scheduling = scheduling.clone();
                let body = move || {
                    let current = scheduling.current();
                    for round in 0..200 {
                        let turn = |step: i32| importance((number * 7 + round * 3 + step * 5) % 11);
                        let result = current.segment("play", turn(0), |segment| {
                            segment.update(turn(1))?;
                            current.sleep_until(current.now() + Duration::from_micros(50))?;
                            segment.update(turn(2))
                        });
                        result.unwrap();
                    }
                    scheduling::current()
                };
                on(cpu, "player").spawn(body).unwrap()
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Scheduling::fifo(NativePriority(80)));
        }
        assert_eq!(scheduling.threads(), 0);
    }
}

pub fn native_priorities_follow_the_eligibility() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder()
        .scheduler(ThreadPriority::new())
        .mechanism(Mechanism::OsPriorities)
        .build()
        .unwrap();
    let release = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = [3, 1, 2]
        .map(|of_importance| {
            let (scheduling, release) = (scheduling.clone(), Arc::clone(&release));
            let body = move || {
                let result = scheduling
                    .current()
                    .segment("work", importance(of_importance), |segment| {
                        while !release.load(Ordering::Relaxed) {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        // From here on alone, or among equals.
                        segment.update(importance(7))
                    });
                result.unwrap();
                scheduling::current()
            };
            on(cpu, "work").spawn(body).unwrap()
        })
        .into();
    eventually("all have begun", || {
        let threads = scheduling.snapshot();
        let run = |thread: &&punctual_rtsched::ThreadSnapshot| thread.status == ThreadStatus::Running;
        threads.iter().filter(run).count() == 3
    });
    let native: Vec<Scheduling> = threads
        .iter()
        .map(|thread| scheduling::of(thread.tid()).unwrap())
        .collect();
    assert!(native.iter().all(|native| native.class == SchedulingClass::Fifo));
    assert!(
        native[0].priority > native[2].priority && native[2].priority > native[1].priority,
        "{native:?}"
    );
    release.store(true, Ordering::Relaxed);
    for thread in threads {
        assert_eq!(
            thread.join().unwrap(),
            Scheduling::fifo(NativePriority(80)),
            "its own scheduling is restored"
        );
    }
}

pub fn threads_hand_over_in_order_while_their_native_priorities_are_spread() {
    const THREADS: usize = 10;
    const TURNS: usize = 200;
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    // Above all levels, so that no thread has a turn before all have begun.
    let above = move |name, priority| on(cpu, name).scheduling(Scheduling::fifo(NativePriority(priority)));
    let scheduling = RtScheduling::builder()
        .scheduler(ThreadPriority::new())
        .mechanism(Mechanism::OsPriorities)
        .build()
        .unwrap();
    let taken: Arc<[AtomicUsize]> = (0..TURNS).map(|_| AtomicUsize::new(usize::MAX)).collect();
    let turns = Arc::clone(&taken);
    let start = move || {
        let next = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..THREADS)
            .rev()
            .map(|number| {
                let (scheduling, next, turns) = (scheduling.clone(), Arc::clone(&next), Arc::clone(&turns));
                let body = move || {
                    let current = scheduling.current();
                    current.segment("turns", importance(-(number as i32)), |segment| {
                        loop {
                            let turn = next.fetch_add(1, Ordering::Relaxed);
                            let Some(of_turn) = turns.get(turn) else {
                                return Ok::<_, SchedulingError>(());
                            };
                            of_turn.store(number, Ordering::Relaxed);
                            // Below all others: without room for another level, all are spread.
                            segment.update(importance(-((THREADS + turn) as i32)))?;
                        }
                    })
                };
                above("turns", 92).spawn(body).unwrap()
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap().unwrap());
    };
    above("starts", 93).spawn(start).unwrap().join().unwrap();
    let taken: Vec<usize> = taken
        .iter()
        .map(|number| number.load(Ordering::Relaxed))
        .collect();
    let in_order: Vec<usize> = (0..TURNS).map(|turn| turn % THREADS).collect();
    assert_eq!(taken, in_order);
}

pub fn decisions_that_depend_on_time_are_taken_in_time() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    // The laxity of a waiting thread falls until it is less than that of the running one.
    let scheduling = RtScheduling::builder()
        .scheduler(MaximumUrgencyFirst::new())
        .record_decisions(1000)
        .build()
        .unwrap();
    let (first, second) = (Spinner::default(), Spinner::default());
    let now = scheduling.now();
    let parameters = |deadline: u64, execution: u64| SchedulingParameters::Urgency {
        criticality: 1,
        deadline: now + Duration::from_millis(deadline),
        execution_time: Duration::from_millis(execution),
        importance: 0,
    };
    let start = |name: &'static str, parameters, spinner: &Spinner| {
        let (scheduling, spinner) = (scheduling.clone(), spinner.clone());
        let body = move || {
            let result = scheduling.current().segment(name, parameters, |_| {
                spinner.spin();
                Ok::<_, SchedulingError>(())
            });
            result.unwrap();
        };
        on(cpu, name).spawn(body).unwrap()
    };
    let first_thread = start("first", parameters(500, 450), &first);
    eventually("the first runs", || first.turns() > 0);
    let second_thread = start("second", parameters(600, 500), &second);
    eventually("the second runs without a scheduling point of the first", || {
        second.turns() > 0
    });
    first.stop();
    second.stop();
    first_thread.join().unwrap();
    second_thread.join().unwrap();
}

pub fn kernel_deadlines_are_used_or_refused_with_the_reason() {
    let built = RtScheduling::builder()
        .scheduler(EarliestDeadlineFirst::new())
        .mechanism(Mechanism::KernelDeadline)
        .build();
    let scheduling = match built {
        Ok(scheduling) => scheduling,
        Err(BuildError::KernelDeadlineRefused(error)) => {
            let text = BuildError::KernelDeadlineRefused(error).to_string();
            assert!(text.contains("cpuset"), "{text}");
            return skip(Missing::Machine, text);
        }
        Err(other) => panic!("{other}"),
    };
    let now = scheduling.now();
    let parameters = move |execution_time: u64| SchedulingParameters::Deadline {
        deadline: now + Duration::from_secs(10),
        period: Duration::from_millis(100),
        execution_time: Duration::from_millis(execution_time),
        importance: 0,
    };
    let me = TaskId::current_thread();
    let current = scheduling.current();
    current
        .segment("track", parameters(5), |segment| {
            assert!(deadline_class::has(me).unwrap());
            // More than is available: refused, and the previous reservation stays.
            let refused = segment.update(parameters(1_000)).unwrap_err();
            let SchedulingError::System(exception) = refused else {
                panic!("{refused}")
            };
            assert_eq!(exception.minor, Minor::DEADLINE_NOT_ADMITTED);
            assert_eq!(current.scheduling_parameter()?, parameters(5));
            assert!(deadline_class::has(me).unwrap());
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert!(!deadline_class::has(me).unwrap(), "its own class is restored");
    // Another thread uses the OS thread meanwhile, with another reservation.
    let orb = Orb::builder().initializer(&scheduling).build().unwrap();
    let doubler: DoublerRef = orb.root_poa().activate(Doubler).unwrap();
    current
        .segment("track", parameters(5), |_| {
            doubler.as_object().oneway("wake", |_| Ok(()))?;
            assert!(deadline_class::has(me).unwrap(), "its reservation is restored");
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    let pinned =
        ThreadSpec::new("pinned").affinity(CpuSet::single(affinity::current().iter().next().unwrap()));
    if affinity::current().len() > 1 {
        let refused = pinned
            .spawn(move || {
                scheduling
                    .current()
                    .begin_scheduling_segment("track", parameters(5), None)
                    .unwrap_err()
            })
            .unwrap()
            .join()
            .unwrap();
        let SchedulingError::System(exception) = refused else {
            panic!("{refused}")
        };
        assert_eq!(exception.minor, Minor::DEADLINE_NOT_ADMITTED);
    }
}

/// A less important thread that a more important one passes while it is off the processor, and that then does
/// `work`.
struct Passed {
    low: Option<punctual_os::Thread<()>>,
    high: Option<punctual_os::Thread<()>>,
    resume: Arc<Gate>,
    high_ends: Arc<Gate>,
}

impl Passed {
    fn start(
        cpu: usize,
        scheduling: &RtScheduling,
        work: impl FnOnce(&punctual_rtsched::Segment<'_>) + Send + 'static,
    ) -> Self {
        let gates: [Arc<Gate>; 4] = std::array::from_fn(|_| Arc::new(Gate::new()));
        let [entered, resume, high_entered, high_ends] = gates;
        let (enters, waits, of_low) = (Arc::clone(&entered), Arc::clone(&resume), scheduling.clone());
        let low = on(cpu, "low").spawn(move || {
            let result = of_low.current().segment("low", importance(1), |segment| {
                enters.open();
                waits.pass(None);
                work(segment);
                Ok::<_, SchedulingError>(())
            });
            result.unwrap();
        });
        entered.pass(None);
        let (enters, waits, of_high) = (
            Arc::clone(&high_entered),
            Arc::clone(&high_ends),
            scheduling.clone(),
        );
        let high = on(cpu, "high").spawn(move || {
            let result = of_high.current().segment("high", importance(9), |_| {
                enters.open();
                waits.pass(None);
                Ok::<_, SchedulingError>(())
            });
            result.unwrap();
        });
        high_entered.pass(None);
        Self {
            low: Some(low.unwrap()),
            high: Some(high.unwrap()),
            resume,
            high_ends,
        }
    }

    /// Native scheduling of the passed thread.
    fn native(&self) -> Scheduling {
        scheduling::of(self.low.as_ref().unwrap().tid()).unwrap()
    }

    fn end(mut self) {
        self.high_ends.open();
        self.high.take().unwrap().join().unwrap();
        self.low.take().unwrap().join().unwrap();
    }
}

fn inactive() -> Scheduling {
    Scheduling::fifo(NativePriorities::default().inactive)
}

pub fn a_passed_thread_waits_for_its_turn_before_it_calls() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder().build().unwrap();
    let server = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let doubler: DoublerRef = server.root_poa().activate(Doubler).unwrap();
    let client = Orb::builder().initializer(&scheduling).build().unwrap();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    let calls = Arc::new(AtomicBool::new(false));
    let says = Arc::clone(&calls);
    let passed = Passed::start(cpu, &scheduling, move |_| {
        says.store(true, Ordering::Relaxed);
        assert_eq!(doubler.twice(4).unwrap(), 8);
    });
    passed.resume.open();
    eventually("it waits", || {
        calls.load(Ordering::Relaxed) && passed.low.as_ref().is_some_and(sleeps)
    });
    // No thread serves yet: if it had called, its head would be away.
    let threads = scheduling.snapshot();
    let low = threads.iter().find(|thread| thread.name == "low").unwrap();
    assert_eq!(low.status, ThreadStatus::Ready);
    std::thread::scope(|scope| {
        scope.spawn(|| server.run());
        passed.end();
        server.shutdown();
    });
}

pub fn calls_in_a_segment_have_the_priority_from_before_it() {
    if !realtime_or_skip() {
        return;
    }
    let scheduling = RtScheduling::builder().build().unwrap();
    let mapping = || LinearMapping::new(1..=99);
    let server = Orb::builder()
        .listen("iiop://127.0.0.1")
        .priority_mapping(mapping());
    let server = server.build().unwrap();
    let lowest = Priority::MIN;
    let own = mapping().to_corba(NativePriority(20)).unwrap();
    let pool = server.threadpool().lane(lowest, 1).lane(own, 1).build().unwrap();
    let model = PriorityModel::ClientPropagated { default: lowest };
    let poa = server
        .root_poa()
        .child("lanes")
        .threadpool(&pool)
        .priority_model(model);
    let doubler: DoublerRef = poa.build().unwrap().activate(Doubler).unwrap();
    let client = Orb::builder()
        .initializer(&scheduling)
        .priority_mapping(mapping());
    let client = client.build().unwrap();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    for before in [Scheduling::OTHER, Scheduling::fifo(NativePriority(20))] {
        let (scheduling, doubler) = (scheduling.clone(), doubler.clone());
        let body = move || {
            let active = Scheduling::fifo(NativePriorities::default().active);
            scheduling.current().segment("call", importance(1), |_| {
                assert_eq!(scheduling::current(), active);
                assert_eq!(doubler.twice(4)?, 8);
                Ok::<_, SchedulingError>(())
            })?;
            // Without a segment, the present native priority counts again.
            scheduling::set_current(Scheduling::fifo(NativePriority(50))).unwrap();
            let refused = doubler.twice(4).unwrap_err();
            assert_eq!(refused.kind, SystemExceptionKind::InvPolicy);
            Ok::<_, SchedulingError>(())
        };
        let thread = ThreadSpec::new("caller").scheduling(before).spawn(body).unwrap();
        thread.join().unwrap().unwrap();
    }
    server.shutdown();
}

/// Whether the kernel reports it as sleeping.
fn sleeps(thread: &punctual_os::Thread<()>) -> bool {
    let status = std::fs::read_to_string(format!("/proc/self/task/{}/stat", thread.tid().get())).unwrap();
    status.rsplit(')').next().unwrap().trim_start().starts_with('S')
}

pub fn a_late_operation_does_not_pass_more_eligible_threads() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder().build().unwrap();
    let (late, ends) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (is_late, waits, of_low) = (Arc::clone(&late), Arc::clone(&ends), scheduling.clone());
    let passed = Passed::start(cpu, &scheduling, move |segment| {
        // It waits for its turn here, not in the operation, which might end before it begins.
        segment.update(importance(1)).unwrap();
        let current = of_low.current();
        let limit = Duration::from_millis(50);
        let ended = current.operation(limit, SheddingPolicy::at_checkpoints(), |_| {
            let ended = current.sleep_until(Time::NEVER);
            is_late.open();
            waits.pass(None);
            Ok::<_, SchedulingError>(ended?)
        });
        assert!(ended.is_err());
    });
    passed.resume.open();
    passed.high_ends.open();
    assert!(late.pass(Some(Instant::now() + LONG)));
    let of_high = scheduling.clone();
    let high_ends = Arc::new(Gate::new());
    let waits = Arc::clone(&high_ends);
    let again = on(cpu, "again").spawn(move || {
        let result = of_high.current().segment("again", importance(9), |_| {
            waits.pass(None);
            Ok::<_, SchedulingError>(())
        });
        result.unwrap();
    });
    eventually("the more eligible one runs", || {
        let threads = scheduling.snapshot();
        threads
            .iter()
            .any(|thread| thread.name == "again" && thread.status == ThreadStatus::Running)
    });
    assert_eq!(passed.native(), inactive());
    ends.open();
    high_ends.open();
    again.unwrap().join().unwrap();
    passed.end();
}

pub fn a_passed_thread_stays_passed_under_another_scheduler() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder().build().unwrap();
    let passed = Passed::start(cpu, &scheduling, |_| ());
    assert_eq!(passed.native(), inactive());
    let manager = scheduling.manager();
    manager
        .install(MostImportantFirst::new(), Mechanism::ReadyQueue)
        .unwrap();
    assert_eq!(passed.native(), inactive());
    passed.resume.open();
    passed.end();
}

pub fn a_sleeping_thread_loses_the_priority_of_a_replaced_mechanism() {
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let scheduling = RtScheduling::builder()
        .scheduler(ThreadPriority::new())
        .mechanism(Mechanism::OsPriorities)
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    let of_sleeper = scheduling.clone();
    let sleeper = on(cpu, "sleeper").spawn(move || {
        let current = of_sleeper.current();
        let slept = current.segment("sleeper", importance(1), |_| {
            assert_ne!(scheduling::current(), Scheduling::fifo(NativePriority(80)));
            let cancelled = current.operation(
                Duration::from_millis(300),
                SheddingPolicy::at_checkpoints(),
                |_| {
                    current.sleep_until(Time::NEVER)?;
                    Ok::<_, SchedulingError>(())
                },
            );
            assert!(cancelled.is_err());
            Ok::<_, SchedulingError>(scheduling::current())
        });
        slept.unwrap()
    });
    eventually("it sleeps", || {
        let threads = scheduling.snapshot();
        threads
            .iter()
            .any(|thread| thread.status == ThreadStatus::Waiting)
    });
    let manager = scheduling.manager();
    manager
        .install(ThreadPriority::new(), Mechanism::ReadyQueue)
        .unwrap();
    assert_eq!(
        sleeper.unwrap().join().unwrap(),
        Scheduling::fifo(NativePriority(80))
    );
}

/// All threads arrive at the dispatcher's lock at once, above every level. The owner must not lose the
/// priority inherited from the others when it gets its level; otherwise they would wait for all threads in
/// between.
pub fn threads_that_begin_together_run_in_their_order() {
    const THREADS: usize = 30;
    let Some(cpu) = cpu_with_rights() else {
        return;
    };
    let builder = RtScheduling::builder().scheduler(ThreadPriority::new());
    let scheduling = builder.mechanism(Mechanism::OsPriorities).build().unwrap();
    let order = Arc::new(PiMutex::new(Vec::with_capacity(THREADS)));
    let gates: Vec<_> = (0..THREADS).map(|_| Arc::new(Gate::new())).collect();
    let above =
        |name: String, native| ThreadSpec::new(name).scheduling(Scheduling::fifo(NativePriority(native)));
    let threads = gates.iter().enumerate().map(|(number, gate)| {
        let (scheduling, order, gate) = (scheduling.clone(), Arc::clone(&order), Arc::clone(gate));
        let body = move || {
            gate.pass(Some(Instant::now() + LONG));
            let of = number as i32 % 5;
            let result = scheduling.current().segment("one", importance(of), |_| {
                order.lock().push(of);
                let end = Instant::now() + Duration::from_millis(1);
                while Instant::now() < end {}
                Ok::<_, SchedulingError>(())
            });
            result.unwrap();
        };
        let spec = above(format!("one-{number}"), 95).affinity(CpuSet::single(cpu));
        spec.spawn(body).unwrap()
    });
    let threads: Vec<_> = threads.collect();
    let opener = above("opener".to_owned(), 97).affinity(CpuSet::single(cpu));
    let opener = opener.spawn(move || gates.iter().for_each(|gate| gate.open()));
    opener.unwrap().join().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let order = order.lock();
    assert!(order.is_sorted_by(|one, next| one >= next), "{order:?}");
}
