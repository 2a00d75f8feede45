//! Other schedulers: installed while threads run, and broken ones.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_fixtures::eventually;
use punctual_os::ThreadSpec;
use punctual_rtsched::{Mechanism, Preemption, RtScheduling, SchedulingError, ThreadStatus};
use punctual_sched::dynamic::{
    EarliestDeadlineFirst, MaximumUrgencyFirst, ParameterKind, Scheduler, SchedulingParameters, Slot, Time,
};

use super::hosts::{Log, await_status, cooperative, importance};

#[test]
fn an_installed_scheduler_takes_over_all_threads() {
    let scheduling = cooperative();
    let current = scheduling.current();
    let log = Log::default();
    current
        .begin_scheduling_segment("main", importance(9), None)
        .unwrap();
    let others: Vec<_> = [("low", 1), ("high", 5)]
        .map(|(name, of_importance)| {
            let (scheduling, log) = (scheduling.clone(), log.clone());
            let thread = ThreadSpec::new(name).spawn(move || {
                let current = scheduling.current();
                current
                    .begin_scheduling_segment(name, importance(of_importance), None)
                    .unwrap();
                log.add(name);
                current.end_scheduling_segment(name).unwrap();
            });
            thread.unwrap()
        })
        .into();
    for name in ["low", "high"] {
        await_status(&scheduling, name, ThreadStatus::Ready);
    }
    let manager = scheduling.manager();
    manager
        .install(EarliestDeadlineFirst::new(), Mechanism::ReadyQueue)
        .unwrap();
    assert_eq!(manager.parameter_kind(), ParameterKind::Deadline);
    let wrong = current.update_scheduling_segment("main", importance(1), None);
    assert!(matches!(
        wrong,
        Err(SchedulingError::UnsupportedSchedulingDiscipline { .. })
    ));
    let urgent = SchedulingParameters::Deadline {
        deadline: current.now() + Duration::from_millis(5),
        period: Duration::ZERO,
        execution_time: Duration::ZERO,
        importance: 0,
    };
    current.update_scheduling_segment("main", urgent, None).unwrap();
    assert!(log.lines().is_empty(), "the thread with a deadline continues");
    current.end_scheduling_segment("main").unwrap();
    for other in others {
        other.join().unwrap();
    }
    assert_eq!(log.lines(), ["high", "low"], "equal deadlines, then importances");
}

#[test]
fn no_thread_waits_after_a_change_to_native_priorities() {
    let scheduling = cooperative();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("main", importance(9), None)
        .unwrap();
    let of_other = scheduling.clone();
    let other = ThreadSpec::new("other")
        .spawn(move || {
            let current = of_other.current();
            current
                .begin_scheduling_segment("other", importance(1), None)
                .unwrap();
            current.end_scheduling_segment("other").unwrap();
        })
        .unwrap();
    await_status(&scheduling, "other", ThreadStatus::Ready);
    let manager = scheduling.manager();
    manager
        .install(
            punctual_sched::dynamic::ThreadPriority::new(),
            Mechanism::OsPriorities,
        )
        .unwrap();
    // A thread that the kernel schedules does not wait for this one.
    eventually("the other has ended", || scheduling.threads() == 1);
    other.join().unwrap();
    manager
        .install(
            punctual_sched::dynamic::MostImportantFirst::new(),
            Mechanism::ReadyQueue,
        )
        .unwrap();
    current
        .update_scheduling_segment("main", importance(3), None)
        .unwrap();
    current.end_scheduling_segment("main").unwrap();
    assert_eq!(scheduling.threads(), 0);
}

/// Failure of a broken scheduler.
#[derive(Clone, Copy, Debug)]
enum Fault {
    PanicsWhenReady,
    PanicsWhenChoosing,
    ChoosesNobody,
    ChoosesStrangers,
    ChoosesAll,
}

struct Broken(Fault);

impl Scheduler for Broken {
    fn name(&self) -> &str {
        "broken"
    }
    fn kind(&self) -> ParameterKind {
        ParameterKind::Importance
    }
    fn reserve(&mut self, _: usize) {}
    fn ready(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
        if matches!(self.0, Fault::PanicsWhenReady) {
            panic!("on purpose");
        }
    }
    fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}
    fn remove(&mut self, _: Slot, _: Time) {}
    fn choose(&mut self, _: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
        match self.0 {
            Fault::PanicsWhenReady | Fault::ChoosesNobody => {}
            Fault::PanicsWhenChoosing => panic!("on purpose"),
            Fault::ChoosesStrangers => chosen.push(Slot(77)),
            Fault::ChoosesAll => chosen.extend([Slot(0), Slot(1)]),
        }
    }
    fn fixed_eligibility(&self, _: &SchedulingParameters) -> Option<i64> {
        Some(0)
    }
}

#[test]
fn with_a_broken_scheduler_threads_run_in_the_order_of_arrival() {
    use Fault::*;
    for fault in [
        PanicsWhenReady,
        PanicsWhenChoosing,
        ChoosesNobody,
        ChoosesStrangers,
        ChoosesAll,
    ] {
        let scheduling = RtScheduling::builder()
            .scheduler(Broken(fault))
            .preemption(Preemption::Cooperative)
            .build()
            .unwrap();
        let current = scheduling.current();
        let log = Log::default();
        current
            .begin_scheduling_segment("main", importance(9), None)
            .unwrap();
        let threads: Vec<_> = ["first", "second", "third"]
            .map(|name| {
                let (of_thread, log) = (scheduling.clone(), log.clone());
                let thread = ThreadSpec::new(name).spawn(move || {
                    let current = of_thread.current();
                    current
                        .begin_scheduling_segment(name, importance(1), None)
                        .unwrap();
                    log.add(name);
                    current.end_scheduling_segment(name).unwrap();
                });
                await_status(&scheduling, name, ThreadStatus::Ready);
                thread.unwrap()
            })
            .into();
        current.end_scheduling_segment("main").unwrap();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(log.lines(), ["first", "second", "third"], "{fault:?}");
        assert!(scheduling.manager().scheduler_failures() > 0, "{fault:?}");
    }
}

#[test]
fn a_scheduler_that_depends_on_time_has_a_dispatch_thread() {
    let scheduling = RtScheduling::builder()
        .scheduler(MaximumUrgencyFirst::new())
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    let names = || {
        let folder = std::fs::read_dir("/proc/self/task").unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(entry.ok()?.path().join("comm")).ok()
        };
        folder
            .filter_map(name)
            .filter(|name| name.trim() == "rt-dispatch")
            .count()
    };
    let now = scheduling.now();
    let urgency = |criticality| SchedulingParameters::Urgency {
        criticality,
        deadline: now + Duration::from_secs(1),
        execution_time: Duration::from_millis(1),
        importance: 0,
    };
    let current = scheduling.current();
    current
        .segment("track", urgency(1), |segment| segment.update(urgency(2)))
        .unwrap();
    assert!(names() >= 1);
    // Waits until the thread has ended.
    drop(scheduling);
}

/// Chooses every thread, and wants to choose again immediately; counts.
struct Hasty {
    ready: Option<Slot>,
    decisions: Arc<AtomicU32>,
}

impl Scheduler for Hasty {
    fn name(&self) -> &str {
        "hasty"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Importance
    }

    fn reserve(&mut self, _: usize) {}

    fn ready(&mut self, thread: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
        self.ready = Some(thread);
    }

    fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}

    fn remove(&mut self, _: Slot, _: Time) {
        self.ready = None;
    }

    fn choose(&mut self, _: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
        self.decisions.fetch_add(1, Ordering::Relaxed);
        chosen.extend(self.ready);
    }

    fn reconsider_at(&self, now: Time) -> Option<Time> {
        Some(now + Duration::from_nanos(1))
    }
}

#[test]
fn a_scheduler_that_reconsiders_constantly_leaves_time_for_others() {
    let decisions = Arc::new(AtomicU32::new(0));
    let hasty = Hasty {
        ready: None,
        decisions: Arc::clone(&decisions),
    };
    let scheduling = RtScheduling::builder()
        .scheduler(hasty)
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    let current = scheduling.current();
    current
        .segment("track", importance(1), |_| {
            let began = Instant::now();
            let before = decisions.load(Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(100));
            let taken = u128::from(decisions.load(Ordering::Relaxed) - before);
            // At most one in 50 µs, regardless of the cost of a decision.
            assert!(taken <= began.elapsed().as_micros() / 50 + 1, "{taken}");
            assert!(taken > 1, "{taken}");
            Ok::<_, SchedulingError>(())
        })
        .unwrap();
    assert_eq!(scheduling.manager().scheduler_failures(), 0);
}
