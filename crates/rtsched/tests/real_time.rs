//! What only real-time rights show: preemption, native priorities, SCHED_DEADLINE. Each test is skipped without them, and runs on one
//! CPU that nobody else here uses meanwhile; what spins is bounded in time.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{
    CpuSet, Gate, Granted, PiMutex, Scheduling, SchedulingClass, TaskId, ThreadSpec, affinity,
    deadline_class, scheduling,
};
use punctual_rtsched::{BuildError, Mechanism, NativePriorities, RtScheduling, SchedulingError, Standing};
use punctual_sched::dynamic::{
    EarliestDeadlineFirst, MaximumUrgencyFirst, SchedulingParameters, ThreadPriority,
};
use punctual_types::{Minor, NativePriority};

/// One test at a time has the CPU.
static ALONE: PiMutex<()> = punctual_os::lock::mutex(());

const LONG: Duration = Duration::from_secs(20);

/// The CPU that the test uses; `None`: skipped.
fn cpu_with_rights(test: &str) -> Option<usize> {
    let probe = ThreadSpec::new("probe").scheduling(Scheduling::fifo(NativePriority(90)));
    let granted = probe.spawn(|| ()).unwrap().granted();
    let cpus: Vec<usize> = affinity::current().iter().collect();
    if granted == Granted::RealTime && cpus.len() > 1 {
        return cpus.last().copied();
    }
    let _ = writeln!(
        std::io::stderr(),
        "skipped {test}: no real-time rights, or one CPU: {granted:?}"
    );
    None
}

fn importance(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "never came about: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An OS thread above all others on the CPU, as a lane's: what it begins comes to its scheduling point at once.
fn on(cpu: usize, name: &str) -> ThreadSpec {
    ThreadSpec::new(name)
        .scheduling(Scheduling::fifo(NativePriority(80)))
        .affinity(CpuSet::single(cpu))
}

/// Spins until told to stop, and counts.
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

    /// Whether it gets the CPU.
    fn gets_on(&self) -> bool {
        let before = self.turns();
        std::thread::sleep(Duration::from_millis(10));
        self.turns() > before
    }
}

#[test]
fn a_running_thread_is_passed_by_a_more_eligible_one_without_its_help() {
    let _alone = ALONE.lock();
    let Some(cpu) = cpu_with_rights("a_running_thread_is_passed_by_a_more_eligible_one_without_its_help")
    else {
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
    assert!(high.gets_on());
    assert_eq!(low.turns(), frozen, "it has no processor");
    let native = scheduling::of(low_thread.tid()).unwrap();
    assert_eq!(native, Scheduling::fifo(NativePriorities::default().inactive));
    high.stop();
    assert_eq!(
        high_thread.join().unwrap(),
        Scheduling::fifo(NativePriority(80)),
        "its own again"
    );
    eventually("the less important one goes on", || low.turns() > frozen);
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

#[test]
fn one_that_was_passed_waits_at_its_next_scheduling_point() {
    let _alone = ALONE.lock();
    let Some(cpu) = cpu_with_rights("one_that_was_passed_waits_at_its_next_scheduling_point") else {
        return;
    };
    let scheduling = RtScheduling::builder().build().unwrap();
    let (entered, go_on) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (enters, goes_on, of_low) = (Arc::clone(&entered), Arc::clone(&go_on), scheduling.clone());
    let low = on(cpu, "low").spawn(move || {
        let result = of_low.current().segment("low", importance(1), |segment| {
            enters.open();
            // Away from the processor, so that it comes to its scheduling point although it was passed.
            goes_on.pass(None);
            segment.update(importance(2))
        });
        result.unwrap();
    });
    let low = low.unwrap();
    entered.pass(None);
    let (high_entered, high_goes_on) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (enters, goes_on, of_high) = (
        Arc::clone(&high_entered),
        Arc::clone(&high_goes_on),
        scheduling.clone(),
    );
    let high = on(cpu, "high").spawn(move || {
        let result = of_high.current().segment("high", importance(9), |_| {
            enters.open();
            goes_on.pass(None);
            Ok::<_, SchedulingError>(())
        });
        result.unwrap();
    });
    let high = high.unwrap();
    high_entered.pass(None);
    go_on.open();
    eventually("it waits for its turn", || {
        scheduling
            .snapshot()
            .iter()
            .any(|thread| thread.name == "low" && thread.standing == Standing::Ready)
    });
    assert!(!low.is_finished());
    high_goes_on.open();
    high.join().unwrap();
    low.join().unwrap();
}

#[test]
fn nobody_is_lost_among_many_and_all_get_their_own_back() {
    let _alone = ALONE.lock();
    let Some(cpu) = cpu_with_rights("nobody_is_lost_among_many_and_all_get_their_own_back") else {
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

#[test]
fn native_priorities_follow_the_eligibility() {
    let _alone = ALONE.lock();
    let Some(cpu) = cpu_with_rights("native_priorities_follow_the_eligibility") else {
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
                        // Alone from here on, or among equals.
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
        let run = |thread: &&punctual_rtsched::ThreadSnapshot| thread.standing == Standing::Running;
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
            "its own again"
        );
    }
}

#[test]
fn decisions_that_only_time_asks_for_are_taken_in_time() {
    let _alone = ALONE.lock();
    let Some(cpu) = cpu_with_rights("decisions_that_only_time_asks_for_are_taken_in_time") else {
        return;
    };
    // The laxity of one that waits falls until it is less than that of one that runs.
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
    eventually("the second got its turn although the first did nothing", || {
        second.turns() > 0
    });
    first.stop();
    second.stop();
    first_thread.join().unwrap();
    second_thread.join().unwrap();
}

#[test]
fn the_kernels_deadline_class_is_used_or_refused_with_the_reason() {
    let _alone = ALONE.lock();
    let built = RtScheduling::builder()
        .scheduler(EarliestDeadlineFirst::new())
        .mechanism(Mechanism::KernelDeadline)
        .build();
    let scheduling = match built {
        Ok(scheduling) => scheduling,
        Err(BuildError::KernelDeadlineRefused(error)) => {
            let text = BuildError::KernelDeadlineRefused(error).to_string();
            assert!(text.contains("cpuset"), "{text}");
            let _ = writeln!(std::io::stderr(), "skipped the_kernels_deadline_class…: {text}");
            return;
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
            // More than there is: refused, and it goes on with what it has.
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
    assert!(!deadline_class::has(me).unwrap(), "its own class again");
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
