//! Clocks that the standard library does not read, and sleeping until a point in time.

use std::io;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::TaskId;

/// The CPU time that all threads of a process have used, ended ones included, to the nanosecond.
///
/// # Errors
/// ESRCH when there is no such process.
pub fn process_cpu_time(process: TaskId) -> io::Result<Duration> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is a valid place for the result.
    match unsafe { libc::clock_getcpuclockid(process.get(), &mut clock) } {
        0 => {}
        // Unlike other calls, this one returns the error.
        error => return Err(io::Error::from_raw_os_error(error)),
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        // The process has ended since; its clock is gone with it.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(duration(time.tv_sec, time.tv_nsec))
}

/// The CPU time that the calling thread has used, to the nanosecond.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    duration(time.tv_sec, time.tv_nsec)
}

/// The CPU time that a thread of this process has used, to the nanosecond. One system call.
///
/// ```
/// use punctual_os::{TaskId, clock};
///
/// let before = clock::thread_cpu_time();
/// assert!(clock::thread_cpu_time_of(TaskId::current_thread())? >= before);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// EINVAL when there is no such thread in this process.
pub fn thread_cpu_time_of(thread: TaskId) -> io::Result<Duration> {
    // The kernel's numbers for such clocks: the thread's, inverted, above three bits that say "of a thread, as scheduled"
    // (CPUCLOCK_PERTHREAD_MASK and CPUCLOCK_SCHED in linux/posix-timers.h). The C library makes them of handles only.
    let clock: libc::clockid_t = (!thread.get()) << 3 | 0b110;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result; the kernel checks the clock's number.
    match unsafe { libc::clock_gettime(clock, &mut time) } {
        0 => Ok(duration(time.tv_sec, time.tv_nsec)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The monotonic clock (CLOCK_MONOTONIC) since its own beginning: comparable between processes, and with the stamps of
/// a kernel trace that uses `trace_clock=mono`. [`Instant`] reads the same clock and hides the number.
pub fn monotonic() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    duration(time.tv_sec, time.tv_nsec)
}

/// Sleeps until `deadline`, not earlier, and however often signals arrive. One system call as a rule.
///
/// The time is absolute to the kernel too, so that being preempted before the call does not move the wake-up.
pub fn sleep_until(deadline: Instant) {
    loop {
        // In this order: if the thread is held up between the two readings, the result is too early, never too late,
        // and the loop makes up for it.
        let monotonic = clock_gettime(ClockId::Monotonic);
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return;
        }
        let Some(target) = Timespec::try_from(remaining)
            .ok()
            .and_then(|remaining| monotonic.checked_add(remaining))
        else {
            // Centuries away: sleep as long as can be said, and look again.
            std::thread::sleep(Duration::from_secs(u32::MAX.into()));
            continue;
        };
        // Interrupted or woken: the loop looks at the clock again either way.
        let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &target);
    }
}

/// Makes the kernel fire the timers of the calling thread as exactly as it can: a timer slack of 1 ns instead of 50 µs.
/// Threads it starts later inherit it. Real-time threads have no slack to begin with.
///
/// # Errors
/// None is known.
pub fn exact_timers() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?)
}

fn duration(seconds: i64, nanoseconds: i64) -> Duration {
    let seconds = u64::try_from(seconds).expect("these clocks start at 0");
    Duration::new(
        seconds,
        u32::try_from(nanoseconds).expect("the kernel gives less than a second"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burn(time: Duration) {
        let began = thread_cpu_time();
        while thread_cpu_time() - began < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn cpu_time_is_what_was_burnt_and_not_what_was_slept() {
        let before = (
            thread_cpu_time(),
            process_cpu_time(TaskId::current_process()).unwrap(),
        );
        burn(Duration::from_millis(3));
        let process = process_cpu_time(TaskId::current_process()).unwrap() - before.1;
        assert!(process >= Duration::from_millis(3), "{process:?}");
        let awake = thread_cpu_time();
        std::thread::sleep(Duration::from_millis(20));
        assert!(thread_cpu_time() - awake < Duration::from_millis(10));
    }

    #[test]
    fn another_thread_is_read_until_it_is_gone() {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let burner = crate::ThreadSpec::new("burner")
            .spawn(move || {
                burn(Duration::from_millis(3));
                let used = thread_cpu_time();
                while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                used
            })
            .unwrap();
        let tid = burner.tid();
        while thread_cpu_time_of(tid).unwrap() < Duration::from_millis(3) {
            std::thread::sleep(Duration::from_millis(1));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(burner.join().unwrap() >= Duration::from_millis(3));
        let started = Instant::now();
        while thread_cpu_time_of(tid).is_ok() {
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "the number is free again soon"
            );
        }
    }

    #[test]
    fn another_process_is_read_until_it_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
        let id = TaskId::of_child(&child);
        let used = process_cpu_time(id).unwrap();
        assert!(used < Duration::from_secs(1), "{used:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process_cpu_time(id).is_err());
    }

    #[test]
    fn sleep_ends_at_the_deadline_and_not_before() {
        exact_timers().unwrap();
        for delay in [
            Duration::ZERO,
            Duration::from_micros(50),
            Duration::from_millis(3),
        ] {
            let deadline = Instant::now() + delay;
            sleep_until(deadline);
            assert!(Instant::now() >= deadline);
        }
        let began = Instant::now();
        sleep_until(began);
        assert!(
            began.elapsed() < Duration::from_secs(1),
            "the past is no reason to sleep"
        );
    }

    #[test]
    fn the_monotonic_clock_is_the_one_of_instant() {
        let (before, began) = (monotonic(), Instant::now());
        std::thread::sleep(Duration::from_millis(2));
        let (by_instant, by_clock) = (began.elapsed(), monotonic() - before);
        assert!(by_clock >= by_instant, "{by_clock:?} {by_instant:?}");
    }
}
