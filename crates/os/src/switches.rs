//! How often a thread lost its CPU.

use std::mem::MaybeUninit;

/// The context switches of a thread since it began, by the kernel's own account: free of cost until it is read, unlike
/// [`Counter::context_switches`](crate::perf::Counter::context_switches).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Switches {
    /// It waited for something.
    pub voluntary: u64,
    /// It could have gone on: it was preempted, or [gave way](crate::scheduling::give_way).
    pub involuntary: u64,
}

impl Switches {
    /// Those of the calling thread. One system call.
    ///
    /// ```
    /// use punctual_os::Switches;
    /// let before = Switches::of_current();
    /// std::thread::sleep(std::time::Duration::from_millis(1));
    /// assert!(Switches::of_current().voluntary > before.voluntary);
    /// ```
    pub fn of_current() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: `usage` is a valid place for the result.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        assert_eq!(result, 0, "the calling thread may always be asked for");
        // SAFETY: the call succeeded, so that it has filled the structure.
        let usage = unsafe { usage.assume_init() };
        Self {
            voluntary: usage.ru_nvcsw.unsigned_abs(),
            involuntary: usage.ru_nivcsw.unsigned_abs(),
        }
    }
}
