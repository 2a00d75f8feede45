//! Static and dynamic threads of a lane.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use punctual_os::{Granted, PiMutex, Stack, Thread, ThreadSpec};

use crate::{
    StackUse, ThreadLifetime,
    threads::{lifetime::RemainingLifetime, occupancy::Occupancy},
};

/// Threads of a lane.
pub(crate) struct LaneThreads {
    pub(crate) occupancy: Occupancy,
    pub(crate) config: ThreadsConfig,
    handles: PiMutex<Vec<Thread<()>>>,
    /// Number of the next thread, for its name.
    pub(crate) next_number: AtomicUsize,
    /// Dynamic threads alive.
    pub(crate) dynamic: AtomicUsize,
    /// Most octets of stack that one of the ended threads has used.
    deepest_ended: AtomicUsize,
    /// A dynamic thread is being made: one at a time.
    pub(crate) growing: AtomicBool,
}

/// Configuration of a lane's threads.
#[derive(Clone, Default)]
pub struct ThreadsConfig {
    /// Scheduling, stack and affinity of each thread. `None`: the user's own threads serve the lane.
    pub thread: Option<ThreadSpec>,
    /// Number of threads that start with the lane.
    pub threads: usize,
    /// Most dynamic threads in addition.
    pub dynamic_threads: usize,
    /// Lifetime of dynamic threads.
    pub dynamic_lifetime: ThreadLifetime,
}

impl LaneThreads {
    pub(crate) fn new(config: ThreadsConfig) -> Self {
        Self {
            occupancy: Occupancy::default(),
            config,
            handles: PiMutex::new(Vec::new()),
            deepest_ended: AtomicUsize::new(0),
            next_number: AtomicUsize::new(0),
            dynamic: AtomicUsize::new(0),
            growing: AtomicBool::new(false),
        }
    }

    /// Returns the number of threads that start with the lane.
    pub(crate) fn static_threads(&self) -> usize {
        self.config.threads
    }

    /// Returns the number of threads that the lane has, and could have.
    pub(crate) fn most_threads(&self) -> usize {
        let to_come = self.config.dynamic_threads - self.dynamic.load(Ordering::SeqCst);
        self.occupancy.threads() + to_come
    }

    pub(crate) fn may_grow(&self) -> bool {
        self.config.dynamic_threads > 0
    }

    /// Removes a dynamic thread whose lifetime is over, unless it is the last one that waits. `false`: it
    /// must continue.
    pub(crate) fn retire(&self, lifetime: &mut RemainingLifetime) -> bool {
        if !lifetime.is_over() {
            return false;
        }
        let retired = self.occupancy.leave_unless_needed();
        if retired {
            self.dynamic.fetch_sub(1, Ordering::SeqCst);
        } else {
            // Check again after a while, not in a loop.
            lifetime.restart();
        }
        retired
    }

    pub(crate) fn spawn(&self, name: String, work: impl FnOnce() + Send + 'static) -> io::Result<Granted> {
        let mut thread = self.config.thread.clone().unwrap_or_else(|| ThreadSpec::new(""));
        thread.name = name;
        // Before it runs, so that the count includes it when another thread checks whether threads are left.
        self.occupancy.join();
        let thread = thread.spawn(work).inspect_err(|_| {
            self.occupancy.leave();
        })?;
        let granted = thread.granted();
        let mut handles = self.handles.lock();
        // Ended threads would be kept until the lane ends otherwise. Joining them does not wait.
        handles.retain(|thread| {
            let ended = thread.is_finished();
            if ended {
                // Ended threads have measured themselves.
                let used = thread.stack().and_then(Stack::used_bytes);
                self.deepest_ended.fetch_max(used.unwrap_or(0), Ordering::Relaxed);
            }
            !ended
        });
        handles.push(thread);
        Ok(granted)
    }

    /// Returns the stack size of its threads, and the most octets that one of them has used; `None` if the
    /// user's own threads serve the lane.
    pub(crate) fn stack_use(&self) -> Option<StackUse> {
        // Allocated and measured without the lock, which a thread needs to start another one.
        let mut stacks = Vec::with_capacity(self.occupancy.threads());
        stacks.extend(self.handles.lock().iter().filter_map(Thread::stack).cloned());
        let used = stacks.iter().filter_map(Stack::used_bytes).max();
        Some(StackUse {
            size_bytes: self.config.thread.as_ref()?.stack_bytes,
            used_bytes: used?.max(self.deepest_ended.load(Ordering::Relaxed)),
        })
    }

    /// Waits for the threads to end. Must not be called by one of them.
    pub(crate) fn join_all(&self) {
        loop {
            // One at a time: a thread that is making another one adds it meanwhile.
            let Some(thread) = self.handles.lock().pop() else {
                return;
            };
            // A thread that panicked has reported it; the others must still be joined.
            let _ = thread.join();
        }
    }
}
