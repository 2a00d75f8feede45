//! Context switches of threads, as the kernel accounts for them.

use std::io;
use std::mem::MaybeUninit;

use punctual_os::TaskId;

use crate::process;

/// Numbers of context switches. Accounting for them is free until they are read, unlike
/// [`Counter::context_switches`](crate::perf::Counter::context_switches).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ContextSwitches {
    /// The thread blocked.
    pub voluntary: u64,
    /// The thread was preempted, or [gave way](punctual_os::scheduling::give_way).
    pub involuntary: u64,
}

impl ContextSwitches {
    /// Returns those of the calling thread since it started. One system call.
    ///
    /// ```
    /// use punctual_system::ContextSwitches;
    /// let before = ContextSwitches::of_current_thread();
    /// std::thread::sleep(std::time::Duration::from_millis(1));
    /// assert!(ContextSwitches::of_current_thread().voluntary > before.voluntary);
    /// ```
    pub fn of_current_thread() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: `usage` is a valid place for the result.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        assert_eq!(result, 0, "getrusage for the calling thread cannot fail");
        // SAFETY: the call succeeded and has therefore filled the structure.
        let usage = unsafe { usage.assume_init() };
        Self {
            voluntary: usage.ru_nvcsw.unsigned_abs(),
            involuntary: usage.ru_nivcsw.unsigned_abs(),
        }
    }

    /// Returns the sum over all present threads of a process. Threads that have ended are not included, so
    /// a difference is correct only if no thread ends meanwhile.
    ///
    /// # Errors
    /// `NotFound`: no such process exists.
    pub fn of_process(process: TaskId) -> io::Result<Self> {
        let mut sum = Self::default();
        for thread in process::threads_of(process)? {
            let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/status")) else {
                continue;
            };
            sum.voluntary += status_field(&status, "voluntary_ctxt_switches:").unwrap_or(0);
            sum.involuntary += status_field(&status, "nonvoluntary_ctxt_switches:").unwrap_or(0);
        }
        Ok(sum)
    }

    /// Returns the sum of both kinds.
    pub fn total(self) -> u64 {
        self.voluntary + self.involuntary
    }
}

/// Returns the number in a line of a `status` file; `field` includes its colon.
fn status_field(status: &str, field: &str) -> Option<u64> {
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    #[test]
    fn blocking_is_a_voluntary_switch() {
        // In a separate process: the threads of other tests come and go in this one.
        let script = "read a; sleep 0.01; sleep 0.01; read b";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let id = TaskId::of_child(&child);
        let before = settled(id);
        child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        let after = settled(id);
        assert!(after.voluntary >= before.voluntary + 2, "{before:?} {after:?}");
        assert_eq!(after.total(), after.voluntary + after.involuntary);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits until the counts have not changed for 40 ms, and returns them.
    fn settled(process: TaskId) -> ContextSwitches {
        let mut last = ContextSwitches::of_process(process).unwrap();
        loop {
            std::thread::sleep(Duration::from_millis(40));
            let now = ContextSwitches::of_process(process).unwrap();
            if now == last {
                return now;
            }
            last = now;
        }
    }
}
