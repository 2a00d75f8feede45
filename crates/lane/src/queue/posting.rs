//! Posting of tasks to a lane: its doorbell wakes a thread that waits in the poller, or, if the lane buffers
//! requests, one that waits at the queue. The thread that only reads runs no task: it may block.

use std::sync::{Arc, atomic::Ordering};

use crate::{Lane, LaneTask, RequestHandler, ServingSlot, dispatch::busy, worker::Worker};

impl<H: RequestHandler> Lane<H> {
    /// Provides memory for so many more tasks at a time.
    pub fn provide_tasks(&self, count: usize) {
        self.tasks.waiting.lock().reserve(count);
    }

    /// Has a thread of the lane that serves run the task. It is dropped if the lane is stopping.
    pub fn post(&self, task: Arc<dyn LaneTask>) {
        let mut waiting = self.tasks.waiting.lock();
        if self.is_stopping() {
            drop(waiting);
            return drop(task);
        }
        waiting.push_back(task);
        self.tasks.count.store(waiting.len(), Ordering::SeqCst);
        drop(waiting);
        self.wake_for_task();
    }

    /// Wakes a thread that may run a task.
    fn wake_for_task(&self) {
        if self.mode.is_buffered() {
            self.queue.wake_for_others();
        } else {
            self.ring();
        }
    }

    pub(crate) fn has_task(&self) -> bool {
        self.tasks.count.load(Ordering::SeqCst) > 0
    }

    /// Takes a task; others are left to further threads. After the doorbell was reset.
    fn take_task(&self) -> Option<Arc<dyn LaneTask>> {
        if !self.has_task() {
            return None;
        }
        let mut waiting = self.tasks.waiting.lock();
        let task = waiting.pop_front();
        self.tasks.count.store(waiting.len(), Ordering::SeqCst);
        let more = !waiting.is_empty();
        drop(waiting);
        if more {
            self.wake_for_task();
        }
        task
    }

    /// Drops the waiting tasks.
    pub(crate) fn clear_tasks(&self) {
        let forgotten = std::mem::take(&mut *self.tasks.waiting.lock());
        drop(forgotten);
    }
}

impl<H: ServingSlot> Lane<H> {
    /// Returns whether a thread at the queue has to do more than to serve its requests.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked_for_help() || self.mode.is_buffered() && self.has_task()
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Runs a task. `false`: none waits.
    pub(crate) fn run_task(&self) -> bool {
        let Some(task) = self.lane.take_task() else {
            return false;
        };
        let _busy = busy(self.home, self.handler);
        task.run();
        true
    }
}
