//! Cancellation of threads, and of operations that would miss their deadlines.

use crate::dynamic::SheddingPoint;

use super::{
    super::{
        EventKind, Observer, Step,
        thread::{Ending, State, Thread},
    },
    Simulation,
};

impl Simulation<'_> {
    /// Cancels all threads of a task. Each is cancelled at its next scheduling point; waits end at once.
    pub(super) fn cancel(&mut self, task: usize, observer: &mut dyn Observer) {
        for thread in 0..self.threads.len() {
            let state = &mut self.threads[thread];
            if state.state == State::Free
                || state.id.task as usize != task
                || state.unwinding.ending.is_some()
            {
                continue;
            }
            state.unwinding.ending = Some(Ending::Cancelled);
            let waits = state.state;
            self.report(thread, EventKind::CancelAsked, observer);
            match waits {
                State::Waiting => {
                    self.stop_waiting(thread, observer);
                    self.make_ready(thread);
                }
                State::Paused | State::Awaiting => self.make_ready(thread),
                State::Ready | State::Travelling | State::Free => {}
            }
        }
    }

    /// Cancels the operation that a running thread can no longer complete in time, if its policy demands it;
    /// returns whether it did.
    pub(super) fn shed_at_checkpoint(&mut self, thread: usize, observer: &mut dyn Observer) -> bool {
        let Some(depth) = self.shed_operation(thread, SheddingPoint::Checkpoint) else {
            return false;
        };
        self.report(thread, EventKind::OperationCancelled, observer);
        // It takes the time of a cancellation at the next step.
        self.threads[thread].unwinding.to = Some(depth);
        true
    }

    /// Cancels the operation of this depth of a thread that is ready but not running.
    pub(super) fn shed(&mut self, thread: usize, depth: usize, observer: &mut dyn Observer) {
        self.report(thread, EventKind::OperationCancelled, observer);
        self.threads[thread].unwinding.to = Some(depth);
        self.unwind(thread, observer);
    }

    /// Leaves one frame of a cancelled thread or operation.
    pub(super) fn unwind(&mut self, thread: usize, observer: &mut dyn Observer) {
        let to = self.threads[thread].unwinding.to.unwrap_or(0);
        self.release_held(thread, observer);
        if self.threads[thread].frames.len() == 1 {
            return self.unwound(thread, observer);
        }
        if self.threads[thread].frames.len() == to + 1 {
            // This call is the cancelled operation.
            self.threads[thread].unwinding.to = None;
            self.statistics.tasks[self.threads[thread].id.task as usize].calls_shed += 1;
            self.return_to_caller(thread, observer);
            return self.retry_call(thread, observer);
        }
        self.return_to_caller(thread, observer);
    }

    /// Makes the call the caller's next step again, unless its retries are exhausted.
    fn retry_call(&mut self, thread: usize, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let of_host = self.model.hosts[state.host].shedding;
        let frame = state.frame_mut();
        let Some(Step::Call(call)) = frame.next.checked_sub(1).and_then(|last| frame.steps.get(last)) else {
            return;
        };
        let policy = call.shedding.unwrap_or(of_host);
        let Some(after) = policy.retry_after(frame.retries) else {
            frame.retries = 0;
            return;
        };
        frame.retries += 1;
        frame.next -= 1;
        frame.delay = after;
        self.statistics.tasks[self.threads[thread].id.task as usize].retries += 1;
        self.report(thread, EventKind::Retried, observer);
    }

    /// Ends or retries a thread that has left all frames except the first.
    fn unwound(&mut self, thread: usize, observer: &mut dyn Observer) {
        let Thread {
            id,
            unwinding,
            attempt,
            ..
        } = self.threads[thread];
        let of_host = self.model.hosts[self.threads[thread].host].shedding;
        let policy = self.model.tasks[id.task as usize].shedding.unwrap_or(of_host);
        if unwinding.ending.is_none()
            && let Some(after) = policy.retry_after(attempt.retries)
        {
            self.statistics.tasks[id.task as usize].retries += 1;
            self.report(thread, EventKind::Retried, observer);
            self.make_unready(thread, State::Paused);
            let state = &mut self.threads[thread];
            state.attempt.retries += 1;
            state.unwinding.to = None;
            state.remaining = 0;
            state.end_segments(1);
            state.frames.clear();
            self.begin(thread, self.now + after);
            return self.wake_after(thread, after);
        }
        let task = &mut self.statistics.tasks[id.task as usize];
        match unwinding.ending {
            Some(Ending::Cancelled) => task.cancelled += 1,
            Some(Ending::Deadlock) => {
                task.refused += 1;
                task.dispatched_and_missed += 1;
            }
            None => {
                task.shed += 1;
                task.dispatched_and_missed += u64::from(attempt.dispatched);
            }
        }
        self.report(thread, EventKind::Cancelled, observer);
        self.end(thread);
    }
}
