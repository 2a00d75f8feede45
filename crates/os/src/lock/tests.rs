//! Inheritance, deadlocks and constant initialisation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use punctual_types::NativePriority;

use super::*;
use crate::{CpuSet, Scheduling, ThreadSpec};
use punctual_fixtures::realtime_or_skip;

#[test]
fn counts_of_many_threads_are_not_lost() {
    let count = Arc::new(PiMutex::new(0u32));
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let count = Arc::clone(&count);
            let add = move || (0..5_000).for_each(|_| *count.lock() += 1);
            ThreadSpec::new(format!("adder-{i}")).spawn(add).unwrap()
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*count.lock(), 20_000);
}

#[test]
fn a_timed_lock_times_out() {
    let mutex = Arc::new(PiMutex::new(()));
    let guard = mutex.lock();
    let other = Arc::clone(&mutex);
    let began = Instant::now();
    let waiter =
        ThreadSpec::new("waiter").spawn(move || other.try_lock_for(Duration::from_millis(5)).is_none());
    assert!(waiter.unwrap().join().unwrap());
    assert!(began.elapsed() >= Duration::from_millis(5));
    drop(guard);
    assert!(mutex.try_lock().is_some());
}

#[test]
fn medium_runs_after_high_because_low_inherits() {
    if !realtime_or_skip() {
        return;
    }
    let pi = Arc::new(PiMutex::new(()));
    assert_eq!(
        finishing_order(move |inside| inside(&pi.lock())),
        ["high", "medium"]
    );
    let answering = Arc::new(crate::InheritingLock::new());
    let order = finishing_order(move |inside| {
        answering.lock().unwrap();
        inside(&());
        answering.unlock().unwrap();
    });
    assert_eq!(order, ["high", "medium"]);
    // The same scenario without inheritance, to show that the test detects the difference.
    #[expect(clippy::disallowed_types)]
    let plain = Arc::new(std::sync::Mutex::new(()));
    assert_eq!(
        finishing_order(move |inside| inside(&plain.lock().unwrap())),
        ["medium", "high"]
    );
}

#[test]
fn medium_runs_after_high_because_low_runs_at_the_ceiling() {
    if !realtime_or_skip() {
        return;
    }
    // The lock does not inherit: only the ceiling keeps medium away.
    #[expect(clippy::disallowed_types)]
    let plain = Arc::new(std::sync::Mutex::new(()));
    let order = finishing_order(move |inside| {
        let raised = crate::ceiling::raise(NativePriority(30)).unwrap();
        inside(&plain.lock().unwrap());
        drop(raised);
    });
    assert_eq!(order, ["high", "medium"]);
}

/// Runs the classic priority inversion on one CPU: low owns the lock, high waits for it, medium needs the
/// CPU.
///
/// The director's priority is above all three, so that it determines when each becomes runnable.
fn finishing_order<L>(with_lock: L) -> Vec<&'static str>
where
    L: Fn(&dyn Fn(&())) + Clone + Send + 'static,
{
    const BURN: Duration = Duration::from_millis(6);
    let cpu = crate::affinity::current_cpu();
    let fifo = move |name: &str, priority| {
        let scheduling = Scheduling::fifo(NativePriority(priority));
        ThreadSpec::new(name)
            .affinity(CpuSet::single(cpu))
            .scheduling(scheduling)
    };
    let direct = move || {
        let finished = Arc::new(PiMutex::new(Vec::with_capacity(2)));
        let low_owns = Arc::new(AtomicBool::new(false));
        let (lock, owns) = (with_lock.clone(), Arc::clone(&low_owns));
        let low = fifo("low", 10).spawn(move || {
            lock(&|_| {
                owns.store(true, Ordering::Release);
                burn(BURN);
            });
        });
        while !low_owns.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_micros(200));
        }
        let (lock, order) = (with_lock.clone(), Arc::clone(&finished));
        let high = fifo("high", 30).spawn(move || lock(&|_| order.lock().push("high")));
        let order = Arc::clone(&finished);
        let medium = fifo("medium", 20).spawn(move || {
            burn(BURN);
            order.lock().push("medium");
        });
        for thread in [low, high, medium] {
            thread.unwrap().join().unwrap();
        }
        finished.lock().clone()
    };
    fifo("director", 40).spawn(direct).unwrap().join().unwrap()
}

fn burn(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
