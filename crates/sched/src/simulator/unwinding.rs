use super::{
    EventKind, Observer, Retry, Simulation, Step,
    thread::{Ending, State, Thread},
};

/// Cancellation: of threads that somebody wants to end, and of operations that would miss their deadlines.
impl Simulation<'_> {
    /// Cancels all threads of a task. Each sees it at its next scheduling point; waits end at once.
    pub(super) fn cancel(&mut self, task: usize, observer: &mut dyn Observer) {
        for thread in 0..self.threads.len() {
            let state = &mut self.threads[thread];
            if state.state == State::Free || state.id.task as usize != task || state.ending.is_some() {
                continue;
            }
            state.ending = Some(Ending::Cancelled);
            let waits = state.state;
            self.report(thread, EventKind::CancelAsked, observer);
            match waits {
                State::Waiting => {
                    self.stop_waiting(thread, observer);
                    self.ready(thread);
                }
                State::Paused | State::Awaiting => self.ready(thread),
                State::Ready | State::Travelling | State::Free => {}
            }
        }
    }

    /// Cancels the operation of this depth of a thread that is ready but does not run.
    pub(super) fn shed(&mut self, thread: usize, depth: usize, observer: &mut dyn Observer) {
        self.report(thread, EventKind::OperationCancelled, observer);
        self.threads[thread].unwinding_to = Some(depth);
        self.unwind(thread, observer);
    }

    /// Leaves one frame of a thread that is cancelled, wholly or to a depth.
    pub(super) fn unwind(&mut self, thread: usize, observer: &mut dyn Observer) {
        let to = self.threads[thread].unwinding_to.unwrap_or(0);
        self.release_held(thread, observer);
        if self.threads[thread].frames.len() == 1 {
            return self.unwound(thread, observer);
        }
        if self.threads[thread].frames.len() == to + 1 {
            // This call is what was cancelled.
            self.threads[thread].unwinding_to = None;
            self.statistics.tasks[self.threads[thread].id.task as usize].calls_shed += 1;
            self.return_to_caller(thread, observer);
            return self.try_call_again(thread, observer);
        }
        self.return_to_caller(thread, observer);
    }

    /// The caller's next step is that call again, if it may be.
    fn try_call_again(&mut self, thread: usize, observer: &mut dyn Observer) {
        let frame = self.threads[thread]
            .frames
            .last_mut()
            .expect("a caller has a frame");
        let Some(Step::Call(call)) = frame.next.checked_sub(1).and_then(|last| frame.steps.get(last)) else {
            return;
        };
        if frame.retries >= call.retry.times {
            frame.retries = 0;
            return;
        }
        frame.retries += 1;
        frame.next -= 1;
        frame.delay = call.retry.after;
        self.statistics.tasks[self.threads[thread].id.task as usize].retries += 1;
        self.report(thread, EventKind::Retried, observer);
    }

    /// All frames of a cancelled thread have been left but the first.
    fn unwound(&mut self, thread: usize, observer: &mut dyn Observer) {
        let Thread {
            id,
            dispatched,
            ending,
            retries,
            ..
        } = self.threads[thread];
        let Retry { times, after } = self.model.tasks[id.task as usize].retry;
        if ending.is_none() && retries < times {
            self.statistics.tasks[id.task as usize].retries += 1;
            self.report(thread, EventKind::Retried, observer);
            self.leave(thread, State::Paused);
            let state = &mut self.threads[thread];
            state.retries += 1;
            state.unwinding_to = None;
            state.remaining = 0;
            state.end_segments(1);
            state.frames.clear();
            self.begin(thread, self.now + after);
            return self.alarm(thread, after);
        }
        let task = &mut self.statistics.tasks[id.task as usize];
        match ending {
            Some(Ending::Cancelled) => task.cancelled += 1,
            Some(Ending::Deadlock) => {
                task.refused += 1;
                task.dispatched_and_missed += 1;
            }
            None => {
                task.shed += 1;
                task.dispatched_and_missed += u64::from(dispatched);
            }
        }
        self.report(thread, EventKind::Cancelled, observer);
        self.end(thread);
    }
}
