//! CPU-time clocks, the monotonic clock, and sleeping until a point in time.

use std::io;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::TaskId;

/// Returns the CPU time used by all threads of a process, ended ones included, in nanosecond resolution.
///
/// # Errors
/// ESRCH: no such process exists.
pub fn process_cpu_time(process: TaskId) -> io::Result<Duration> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is a valid place for the result.
    match unsafe { libc::clock_getcpuclockid(process.get(), &mut clock) } {
        0 => {}
        // Unlike other calls, this one returns the error number.
        error => return Err(io::Error::from_raw_os_error(error)),
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        // The process has ended meanwhile, and its clock with it.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(duration(time.tv_sec, time.tv_nsec))
}

/// Returns the CPU time used by the calling thread, in nanosecond resolution.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    duration(time.tv_sec, time.tv_nsec)
}

/// Returns the CPU time used by a thread of this process, in nanosecond resolution. One system call.
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
/// EINVAL: this process has no such thread.
pub fn thread_cpu_time_of(thread: TaskId) -> io::Result<Duration> {
    // The kernel's number for such a clock: the inverted thread id above three bits (CPUCLOCK_PERTHREAD_MASK
    // and CPUCLOCK_SCHED in linux/posix-timers.h). The C library computes it from thread handles only.
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

/// Reads the monotonic clock (CLOCK_MONOTONIC). The value is comparable between processes, and with the
/// timestamps of a kernel trace with `trace_clock=mono`. [`Instant`] reads the same clock but hides the
/// number.
pub fn monotonic() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    duration(time.tv_sec, time.tv_nsec)
}

/// Returns the time after this duration; one that is beyond the clock's range stands for a century.
///
/// ```
/// use std::time::{Duration, Instant};
/// use punctual_os::clock;
///
/// let now = Instant::now();
/// assert_eq!(clock::later(now, Duration::from_secs(1)), now + Duration::from_secs(1));
/// assert!(clock::later(now, Duration::MAX) > now);
/// ```
pub fn later(from: Instant, duration: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
    from.checked_add(duration).unwrap_or_else(|| from + CENTURY)
}

/// Sleeps until `deadline`, never less, regardless of signals. Usually one system call.
///
/// The kernel is given an absolute time, so that preemption before the call does not delay the wake-up.
pub fn sleep_until(deadline: Instant) {
    loop {
        // In this order: if the thread is delayed between the two readings, the result is too early, never
        // too late, and the loop corrects it.
        let monotonic = clock_gettime(ClockId::Monotonic);
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return;
        }
        let Some(target) = Timespec::try_from(remaining)
            .ok()
            .and_then(|remaining| monotonic.checked_add(remaining))
        else {
            // Centuries away: sleep for a long time and check again.
            std::thread::sleep(Duration::from_secs(u32::MAX.into()));
            continue;
        };
        // Interrupted or woken: the loop reads the clock again in both cases.
        let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &target);
    }
}

/// Reduces the timer slack of the calling thread from 50 µs to 1 ns, so that its timers expire as precisely
/// as possible. Threads that it starts later inherit the setting. Real-time threads have no slack anyway.
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
        u32::try_from(nanoseconds).expect("the kernel returns less than a second"),
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
    fn cpu_time_excludes_sleep() {
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
    fn cpu_time_of_another_thread_is_readable_until_it_ends() {
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
                started.elapsed() < Duration::from_secs(60),
                "the id is free again soon"
            );
        }
    }

    #[test]
    fn cpu_time_of_another_process_is_readable_until_it_ends() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let id = TaskId::of_child(&child);
        let used = process_cpu_time(id).unwrap();
        assert!(used < Duration::from_secs(1), "{used:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process_cpu_time(id).is_err());
    }

    #[test]
    fn sleep_is_never_short() {
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
            began.elapsed() < Duration::from_secs(60),
            "a deadline in the past must not cause a sleep"
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
