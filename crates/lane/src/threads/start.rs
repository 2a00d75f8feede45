//! Starting the threads of a lane.

use std::sync::{Arc, atomic::Ordering};

use punctual_os::Granted;

use crate::{
    Lane, LaneError, ServingSlot,
    queue::buffering,
    threads::{blocking, lifetime::RemainingLifetime, mode::Mode},
    worker::{Source, work},
};

impl<H: ServingSlot> Lane<H> {
    /// Starts the static threads. Returns whether all of them have the requested scheduling class.
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
        let poll = |lane: &Arc<Self>, handler: &Arc<H>| work(lane, handler, Source::Poller, None);
        let serve: fn(&Arc<Self>, &Arc<H>) = match self.mode {
            Mode::Polled => poll,
            Mode::Blocking(_) => {
                start(format!("{}.poll", self.name()), poll)?;
                blocking::work_until_stopped
            }
            Mode::Buffered(_) => {
                start(format!("{}.io", self.name()), buffering::read_until_stopped)?;
                |lane, handler| work(lane, handler, Source::Queue, None)
            }
        };
        for _ in 0..self.threads.config.threads {
            let number = self.threads.next_number.fetch_add(1, Ordering::Relaxed);
            start(format!("{}.{number}", self.name()), serve)?;
        }
        Ok(realtime)
    }

    /// Provides another thread; called by a thread that leaves none waiting.
    pub(crate) fn reinforce(self: &Arc<Self>, handler: &Arc<H>) {
        if self.threads.may_grow() {
            self.grow(handler);
            if !self.threads.occupancy.is_exhausted() {
                return;
            }
        }
        self.call_for_help();
    }

    /// Starts a dynamic thread, if another one is permitted.
    ///
    /// By the thread that is about to leave no thread waiting, before its upcall: a separate thread for this
    /// purpose would be one more to configure for each lane, and the new thread would not exist any earlier.
    /// `spawn` returns when the new thread is configured and its stack has been touched, so under SCHED_FIFO
    /// on one CPU it waits for requests before the upcall begins.
    #[cold]
    pub(crate) fn grow(self: &Arc<Self>, handler: &Arc<H>) {
        let threads = &self.threads;
        if threads.growing.swap(true, Ordering::SeqCst) {
            return;
        }
        if !self.is_stopping() && threads.dynamic.load(Ordering::SeqCst) < threads.config.dynamic_threads {
            let number = threads.next_number.fetch_add(1, Ordering::Relaxed);
            let (lane, handler) = (Arc::clone(self), Arc::clone(handler));
            let lifetime = RemainingLifetime::start(threads.config.dynamic_lifetime);
            threads.dynamic.fetch_add(1, Ordering::SeqCst);
            let name = format!("{}.{number}", self.name());
            let source = match self.mode.is_buffered() {
                true => Source::Queue,
                false => Source::Poller,
            };
            let spawned = threads.spawn(name, move || work(&lane, &handler, source, Some(lifetime)));
            match spawned {
                Ok(_) => self.counters.threads.dynamic.add_one(),
                Err(_) => {
                    threads.dynamic.fetch_sub(1, Ordering::SeqCst);
                    self.counters.threads.failures.add_one();
                }
            }
        }
        threads.growing.store(false, Ordering::SeqCst);
    }
}
