//! Many threads that do everything at once: none runs out of turn, and none waits forever.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use punctual_fixtures::{Missing, eventually, rights::realtime, skip};
use punctual_os::ThreadSpec;
use punctual_rtsched::{Mechanism, Preemption, RtScheduling, SchedulingError, SpawnSpec};
use punctual_sched::dynamic::{
    EarliestDeadlineFirst, MaximumUrgencyFirst, MostImportantFirst, ParameterKind, SchedulingParameters,
    SheddingPolicy, ThreadPriority, Time, TranslationDefaults,
};

use super::hosts::{Host, WorkerRef, importance, trusting};

/// Pseudo-random numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Counts running threads, and records when they are too many.
#[derive(Clone)]
struct Turnstile {
    inside: Arc<AtomicUsize>,
    most: usize,
    crowded: Arc<AtomicBool>,
}

impl Turnstile {
    fn new(most: usize) -> Self {
        Self {
            inside: Arc::default(),
            most,
            crowded: Arc::default(),
        }
    }

    /// Runs between two scheduling points.
    fn run(&self) {
        if self.inside.fetch_add(1, Ordering::SeqCst) >= self.most {
            self.crowded.store(true, Ordering::SeqCst);
        }
        // Long enough for another one, if that may run.
        std::thread::sleep(Duration::from_micros(20));
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One segment of a thread, with pseudo-random actions.
fn play(
    scheduling: &RtScheduling,
    numbers: &mut Numbers,
    turnstile: &Turnstile,
    worker: &WorkerRef,
) -> Result<(), SchedulingError> {
    let current = scheduling.current();
    let draw = |numbers: &mut Numbers| importance(numbers.next(10) as i32);
    current.segment("play", draw(numbers), |segment| {
        turnstile.run();
        for _ in 0..numbers.next(8) {
            match numbers.next(8) {
                0 | 1 => segment.update(draw(numbers))?,
                2 => current.scheduling_point()?,
                3 => current.sleep_until(current.now() + Duration::from_micros(numbers.next(200)))?,
                4 => current.segment("inner", draw(numbers), |_| {
                    turnstile.run();
                    Ok::<_, SchedulingError>(())
                })?,
                5 => {
                    worker.work(1)?;
                }
                6 if numbers.next(4) == 0 => current.distributable_thread()?.cancel()?,
                _ => {
                    let late = current.operation(
                        Duration::from_micros(50),
                        SheddingPolicy::at_checkpoints(),
                        |_| {
                            current.sleep_until(Time::NEVER)?;
                            Ok::<_, SchedulingError>(())
                        },
                    );
                    if late.is_err_and(|late| late.is_cancellation()) {
                        break;
                    }
                }
            }
            turnstile.run();
        }
        Ok(())
    })
}

fn exclusive(processors: usize, preemption: Preemption) {
    let scheduling = trusting()
        .preemption(preemption)
        .processors(processors)
        .build()
        .unwrap();
    let turnstile = Turnstile::new(processors);
    // Both hosts are one endsystem: threads in servants count, too.
    let (client, server) = (Host::with(scheduling.clone()), Host::with(scheduling.clone()));
    let of_servant = turnstile.clone();
    let worker = server.serve(move |value| {
        of_servant.run();
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let players: Vec<_> = (1..=6)
        .map(|seed| {
            let (scheduling, turnstile, worker) = (scheduling.clone(), turnstile.clone(), worker.clone());
            let body = move || {
                let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
                for _ in 0..150 {
                    match play(&scheduling, &mut numbers, &turnstile, &worker) {
                        Ok(()) => {}
                        Err(error) => assert!(error.is_cancellation(), "{error}"),
                    }
                }
            };
            ThreadSpec::new(format!("player-{seed}")).spawn(body).unwrap()
        })
        .collect();
    for player in players {
        player.join().unwrap();
    }
    assert!(
        !turnstile.crowded.load(Ordering::SeqCst),
        "more ran than there are processors"
    );
    eventually("nothing is left", || scheduling.threads() == 0);
    assert_eq!(scheduling.manager().scheduler_failures(), 0);
}

#[test]
fn one_thread_runs_on_one_processor() {
    exclusive(1, Preemption::Cooperative);
}

#[test]
fn two_threads_run_on_two_processors() {
    exclusive(2, Preemption::Cooperative);
}

#[test]
fn without_rights_native_preemption_is_cooperative() {
    if realtime() {
        return skip(Missing::Machine, "the process has real-time rights");
    }
    exclusive(1, Preemption::Native);
}

#[test]
fn schedulers_change_while_everything_runs() {
    let scheduling = RtScheduling::builder()
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let players: Vec<_> = (1..=4)
        .map(|seed| {
            let (scheduling, stop) = (scheduling.clone(), Arc::clone(&stop));
            let body = move || {
                let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
                let current = scheduling.current();
                let mut rounds = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    let parameters =
                        of_kind(scheduling.manager().parameter_kind(), &mut numbers, current.now());
                    let played = current.segment("play", parameters, |segment| {
                        segment.update(of_kind(parameters.kind(), &mut numbers, current.now()))?;
                        if numbers.next(10) == 0 {
                            current.spawn("child", None, None, SpawnSpec::default(), || ())?;
                        }
                        current.scheduling_point()?;
                        Ok::<_, SchedulingError>(())
                    });
                    match played {
                        Ok(()) | Err(SchedulingError::UnsupportedSchedulingDiscipline { .. }) => rounds += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                rounds
            };
            ThreadSpec::new(format!("player-{seed}")).spawn(body).unwrap()
        })
        .collect();
    let manager = scheduling.manager();
    for _ in 0..25 {
        manager
            .install(EarliestDeadlineFirst::new(), Mechanism::ReadyQueue)
            .unwrap();
        manager
            .install(ThreadPriority::new(), Mechanism::OsPriorities)
            .unwrap();
        manager
            .install(MaximumUrgencyFirst::new(), Mechanism::ReadyQueue)
            .unwrap();
        std::thread::sleep(Duration::from_millis(2));
        manager
            .install(MostImportantFirst::new(), Mechanism::ReadyQueue)
            .unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    stop.store(true, Ordering::Relaxed);
    for player in players {
        assert!(player.join().unwrap() > 0);
    }
    eventually("nothing is left", || scheduling.threads() == 0);
    assert_eq!(manager.scheduler_failures(), 0);
}

fn of_kind(kind: ParameterKind, numbers: &mut Numbers, now: Time) -> SchedulingParameters {
    let defaults = TranslationDefaults {
        now,
        deadline: Duration::from_millis(10),
        ..TranslationDefaults::default()
    };
    importance(numbers.next(10) as i32).translated(kind, &defaults)
}
