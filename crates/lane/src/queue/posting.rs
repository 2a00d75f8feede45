//! Posting of tasks to a lane: its doorbell wakes a thread that waits in the poller.

use std::sync::{Arc, atomic::Ordering};

use crate::{Lane, LaneTask, RequestHandler, ServingSlot, dispatch::busy, worker::Worker};

impl<H: RequestHandler> Lane<H> {
    /// Provides memory for so many more tasks at a time.
    pub fn provide_tasks(&self, count: usize) {
        self.tasks.waiting.lock().reserve(count);
    }

    /// Has a thread of the lane run the task, which must wait in its poller. It is dropped if the lane is
    /// stopping.
    pub fn post(&self, task: Arc<dyn LaneTask>) {
        let mut waiting = self.tasks.waiting.lock();
        if self.is_stopping() {
            drop(waiting);
            return drop(task);
        }
        waiting.push_back(task);
        self.tasks.count.store(waiting.len(), Ordering::SeqCst);
        drop(waiting);
        self.ring();
    }

    /// Takes a task; others are left to further threads. After the doorbell was reset.
    pub(crate) fn take_task(&self) -> Option<Arc<dyn LaneTask>> {
        if self.tasks.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut waiting = self.tasks.waiting.lock();
        let task = waiting.pop_front();
        self.tasks.count.store(waiting.len(), Ordering::SeqCst);
        let more = !waiting.is_empty();
        drop(waiting);
        if more {
            self.ring();
        }
        task
    }

    /// Drops the waiting tasks.
    pub(crate) fn clear_tasks(&self) {
        let forgotten = std::mem::take(&mut *self.tasks.waiting.lock());
        drop(forgotten);
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Runs a task, if one waits.
    pub(crate) fn run_task(&self) {
        if let Some(task) = self.lane.take_task() {
            let _busy = busy(self.home, self.handler);
            task.run();
        }
    }
}
