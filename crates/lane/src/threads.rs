//! Static and dynamic threads of a lane.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use punctual_os::{Granted, PiMutex, Scheduling, Thread, ThreadSpec};

use crate::{
    Lane, LaneError, RequestHandler, ThreadLife, blocking, buffering, mode::Mode, occupancy::Occupancy,
    thread_lifetime::ThreadLifetime, worker,
};

/// Threads of a lane.
pub(crate) struct LaneThreads {
    pub(crate) occupancy: Occupancy,
    config: ThreadsConfig,
    handles: PiMutex<Vec<Thread<()>>>,
    /// Number of the next thread, for its name.
    next_number: AtomicUsize,
    /// Dynamic threads alive.
    dynamic: AtomicUsize,
    /// A dynamic thread is being made: one at a time.
    growing: AtomicBool,
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
    pub dynamic_life: ThreadLife,
}

impl LaneThreads {
    pub(crate) fn new(config: ThreadsConfig) -> Self {
        Self {
            occupancy: Occupancy::default(),
            config,
            handles: PiMutex::new(Vec::new()),
            next_number: AtomicUsize::new(0),
            dynamic: AtomicUsize::new(0),
            growing: AtomicBool::new(false),
        }
    }

    /// Scheduling of the threads. `None`: the user's own threads serve the lane.
    pub(crate) fn scheduling(&self) -> Option<Scheduling> {
        self.config.thread.as_ref().map(|thread| thread.scheduling)
    }

    /// Number of threads that start with the lane.
    pub(crate) fn static_threads(&self) -> usize {
        self.config.threads
    }

    /// Number of threads that the lane has, and could have.
    pub(crate) fn most_threads(&self) -> usize {
        let to_come = self.config.dynamic_threads - self.dynamic.load(Ordering::SeqCst);
        self.occupancy.threads() + to_come
    }

    pub(crate) fn may_grow(&self) -> bool {
        self.config.dynamic_threads > 0
    }

    /// Removes one dynamic thread, unless it is the last one that waits. `false`: it must continue.
    pub(crate) fn retire(&self) -> bool {
        let retired = self.occupancy.leave_unless_needed();
        if retired {
            self.dynamic.fetch_sub(1, Ordering::SeqCst);
        }
        retired
    }

    fn spawn(&self, name: String, work: impl FnOnce() + Send + 'static) -> io::Result<Granted> {
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
        handles.retain(|thread| !thread.is_finished());
        handles.push(thread);
        Ok(granted)
    }

    /// Waits for the threads to end. Must not be called by one of them.
    pub(crate) fn join_all(&self) {
        loop {
            // One at a time: a thread that is making another one adds it meanwhile.
            let Some(thread) = self.handles.lock().pop() else {
                return;
            };
            // A thread that panicked has reported it; the others must be waited for all the same.
            let _ = thread.join();
        }
    }
}

impl<H: RequestHandler> Lane<H> {
    /// Starts the static threads. Returns whether all of them got the scheduling class that was asked for.
    ///
    /// # Errors
    /// [`LaneError::Thread`] if the system refuses one.
    pub fn start(self: &Arc<Self>, handler: &Arc<H>) -> Result<bool, LaneError> {
        let mut realtime = true;
        let mut start = |name: String, work: fn(&Arc<Self>, &Arc<H>)| {
            let (lane, handler) = (Arc::clone(self), Arc::clone(handler));
            let granted = self.threads.spawn(name.clone(), move || work(&lane, &handler));
            granted
                .map(|granted| realtime &= granted == Granted::RealTime)
                .map_err(|source| LaneError::Thread { name, source })
        };
        let work = match self.mode {
            Mode::Polled => worker::work_until_stopped,
            Mode::Blocking(_) => {
                start(format!("{}.poll", self.name()), worker::work_until_stopped)?;
                blocking::work_until_stopped
            }
            Mode::Buffered(_) => {
                start(format!("{}.io", self.name()), buffering::read_until_stopped)?;
                buffering::work_until_stopped
            }
        };
        for _ in 0..self.threads.config.threads {
            let number = self.threads.next_number.fetch_add(1, Ordering::Relaxed);
            start(format!("{}.{number}", self.name()), work)?;
        }
        Ok(realtime)
    }

    /// Makes a dynamic thread, if another one is permitted.
    ///
    /// By the thread that is about to leave no thread waiting, before its upcall: a separate thread for this purpose would be
    /// one more to configure for each lane, and the new thread would not exist any earlier. `spawn` returns when the new thread
    /// is configured and its stack has been touched, so under SCHED_FIFO on one CPU it waits for requests before the upcall
    /// begins.
    #[cold]
    pub(crate) fn grow(self: &Arc<Self>, handler: &Arc<H>) {
        let threads = &self.threads;
        if threads.growing.swap(true, Ordering::SeqCst) {
            return;
        }
        if !self.is_stopping() && threads.dynamic.load(Ordering::SeqCst) < threads.config.dynamic_threads {
            let number = threads.next_number.fetch_add(1, Ordering::Relaxed);
            let (lane, handler) = (Arc::clone(self), Arc::clone(handler));
            let lifetime = ThreadLifetime::start(threads.config.dynamic_life);
            threads.dynamic.fetch_add(1, Ordering::SeqCst);
            let name = format!("{}.{number}", self.name());
            let work = if self.mode.is_buffered() {
                buffering::work
            } else {
                worker::work
            };
            match threads.spawn(name, move || work(&lane, &handler, Some(lifetime))) {
                Ok(_) => self.counters.dynamic_threads.add_one(),
                Err(_) => {
                    threads.dynamic.fetch_sub(1, Ordering::SeqCst);
                    self.counters.thread_failures.add_one();
                }
            }
        }
        threads.growing.store(false, Ordering::SeqCst);
    }
}
