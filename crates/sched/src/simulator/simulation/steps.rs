//! Steps: the actions of a thread between its computations.

use core::{mem, time::Duration};

use crate::dynamic::{ParameterKind, SheddingPoint, Utility, nanoseconds};

use super::{
    super::{
        Call, EventKind, Observer, Start, Step, Work,
        thread::{Frame, Segment, State},
    },
    Occurrence, Simulation,
};

impl<'m> Simulation<'m> {
    /// Executes the next step of a running thread that has nothing to compute.
    pub(super) fn step(&mut self, thread: usize, observer: &mut dyn Observer) {
        self.count();
        if self.threads[thread].unwinding.ending.is_some() && self.threads[thread].unwinding.to.is_none() {
            self.threads[thread].unwinding.to = Some(0);
        }
        if self.threads[thread].unwinding.to.is_some() {
            let host = self.threads[thread].host;
            let cost = self.model.hosts[host].costs.cancellation;
            if let Some(processor) = self.threads[thread].processor {
                self.hosts[host].add_overhead(processor, self.now, cost);
            }
            return self.unwind(thread, observer);
        }
        if self.is_examined(thread, SheddingPoint::Checkpoint) && self.shed_at_checkpoint(thread, observer) {
            return;
        }
        let frame = self.threads[thread].frame_mut();
        let delay = mem::take(&mut frame.delay);
        if !delay.is_zero() {
            return self.pause(thread, delay, observer);
        }
        let steps: &'m [Step] = frame.steps;
        let Some(step) = steps.get(frame.next) else {
            return self.frame_done(thread, observer);
        };
        frame.next += 1;
        match step {
            Step::Compute(work) => self.compute(thread, work),
            Step::Begin(parameters) => {
                let segment = Segment {
                    parameters: *parameters,
                    kind: self.kind_at(thread),
                    from: self.now,
                    done: 0,
                    received: 0,
                };
                self.threads[thread].segments.push(segment);
                self.report(thread, EventKind::SegmentBegun, observer);
                self.parameters_changed(thread, observer);
            }
            Step::Update(parameters) => {
                let kind = self.kind_at(thread);
                if let Some(segment) = self.threads[thread].segments.last_mut() {
                    (segment.parameters, segment.kind, segment.done) = (*parameters, kind, 0);
                }
                self.report(thread, EventKind::SegmentUpdated, observer);
                self.parameters_changed(thread, observer);
            }
            Step::End => {
                let left = self.threads[thread].segments.len() - 1;
                self.threads[thread].end_segments(left);
                self.report(thread, EventKind::SegmentEnded, observer);
                self.parameters_changed(thread, observer);
            }
            Step::Call(call) => self.call(thread, call, observer),
            Step::Oneway(start) => self.post(thread, start, None, observer),
            Step::Async(start) => self.post(thread, start, Some(start.reply_bytes), observer),
            Step::Await if self.threads[thread].replies.outstanding == 0 => {}
            Step::Await => {
                self.make_unready(thread, State::Awaiting);
                self.report(thread, EventKind::Paused, observer);
            }
            Step::Spawn { task } => {
                let spawned = self.start(*task, thread, true, self.now, None);
                let id = self.threads[spawned].id;
                self.report(thread, EventKind::Spawned { thread: id }, observer);
                self.report(spawned, EventKind::Arrived, observer);
                self.make_ready(spawned);
            }
            Step::Lock(resource) => self.lock(thread, *resource, observer),
            Step::Unlock(resource) => self.unlock(thread, *resource, observer),
            Step::Sleep(time) => self.pause(thread, *time, observer),
            Step::Cancel { task } => self.cancel(*task, observer),
        }
    }

    /// Draws the processor time of a computation.
    fn compute(&mut self, thread: usize, work: &Work) {
        let state = &mut self.threads[thread];
        let factor = if work.least < work.most {
            work.least + (work.most - work.least) * state.random.share()
        } else {
            work.least
        };
        let time = nanoseconds(work.time);
        state.remaining = if factor == 1.0 {
            time
        } else {
            (time as f64 * factor) as u64
        };
    }

    /// Returns the parameter kind of the scheduler where the thread is.
    fn kind_at(&self, thread: usize) -> ParameterKind {
        self.hosts[self.threads[thread].host].scheduler.kind()
    }

    fn parameters_changed(&mut self, thread: usize, observer: &mut dyn Observer) {
        self.rebase(thread, observer);
        self.update(thread);
    }

    pub(super) fn pause(&mut self, thread: usize, time: Duration, observer: &mut dyn Observer) {
        self.make_unready(thread, State::Paused);
        self.report(thread, EventKind::Paused, observer);
        self.wake_after(thread, time);
    }

    /// Queues the end of a pause.
    pub(super) fn wake_after(&mut self, thread: usize, time: Duration) {
        let state = &mut self.threads[thread];
        state.pauses += 1;
        let pauses = state.pauses;
        self.queue_at(self.now + time, Occurrence::Wake { thread, pauses });
    }

    /// Makes a two-way call.
    fn call(&mut self, thread: usize, call: &'m Call, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let (from, to) = (
            state.host,
            call.hosts[state.id.stream as usize % call.hosts.len()],
        );
        let mut frame = Frame::new(to, &call.steps, state.segments.len());
        frame.shedding = call.shedding;
        frame.deadline = call.deadline.map(|deadline| self.now + deadline);
        frame.estimate = nanoseconds(Step::execution_time(&call.steps));
        frame.reply_bytes = call.reply_bytes;
        if from == to {
            // A collocated call is executed by the calling thread, without a scheduling point.
            frame.started = true;
            state.frames.push(frame);
            return;
        }
        let arrives = self
            .links
            .arrival((from, to), call.request_bytes, self.now, &mut state.random);
        self.report(thread, EventKind::Sent { to: to as u32 }, observer);
        self.make_unready(thread, State::Travelling);
        let state = &mut self.threads[thread];
        let segment = state.segment().on_another_host();
        state.segments.push(segment);
        state.frames.push(frame);
        self.queue_at(arrives, Occurrence::Request { thread, host: to });
    }

    /// Sends a oneway or asynchronous request.
    fn post(&mut self, thread: usize, start: &Start, reply: Option<u64>, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let hosts = &self.model.tasks[start.task].hosts;
        let to = hosts[state.id.stream as usize % hosts.len()];
        let direction = (state.host, to);
        let arrives = self
            .links
            .arrival(direction, start.request_bytes, self.now, &mut state.random);
        state.replies.outstanding += u32::from(reply.is_some());
        let kind = EventKind::Posted {
            task: start.task as u32,
            to: to as u32,
        };
        self.report(thread, kind, observer);
        let started = self.start(start.task, thread, false, arrives, reply);
        self.queue_at(arrives, Occurrence::Start { thread: started });
    }

    /// Handles the reply to an asynchronous request.
    pub(super) fn receive_async_reply(
        &mut self,
        thread: usize,
        generation: u32,
        observer: &mut dyn Observer,
    ) {
        let state = &mut self.threads[thread];
        if state.generation != generation || state.state == State::Free {
            return;
        }
        state.replies.outstanding -= 1;
        if state.state == State::Awaiting && state.replies.outstanding == 0 {
            self.report(thread, EventKind::Woken, observer);
            self.make_ready(thread);
        }
    }

    /// Ends the innermost frame, whose steps are done.
    fn frame_done(&mut self, thread: usize, observer: &mut dyn Observer) {
        self.release_held(thread, observer);
        let state = &mut self.threads[thread];
        if state.frames.len() == 1 {
            return self.completed(thread, observer);
        }
        let late = state.frame().deadline.is_some_and(|deadline| deadline < self.now);
        self.statistics.tasks[state.id.task as usize].calls_late += u64::from(late);
        self.return_to_caller(thread, observer);
        if let Some(caller) = self.threads[thread].frames.last_mut() {
            caller.retries = 0;
        }
    }

    /// Leaves the innermost frame, which is a call's, and sends the reply if the caller is on another host.
    pub(super) fn return_to_caller(&mut self, thread: usize, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let segments = state.segments.len();
        let (here, bytes) = (state.host, state.frame().reply_bytes);
        state.leave_frame();
        let to = state.frame().host;
        if here == to {
            if state.segments.len() != segments {
                self.parameters_changed(thread, observer);
            }
            return;
        }
        let arrives = self.links.arrival((here, to), bytes, self.now, &mut state.random);
        self.report(thread, EventKind::Replied { to: to as u32 }, observer);
        self.make_unready(thread, State::Travelling);
        self.queue_at(arrives, Occurrence::Reply { thread });
    }

    /// Records the completion of a thread.
    fn completed(&mut self, thread: usize, observer: &mut dyn Observer) {
        let state = &self.threads[thread];
        let now = self.now;
        let task = &mut self.statistics.tasks[state.id.task as usize];
        let deadline = state.frames[0].deadline;
        let in_time = deadline.is_none_or(|deadline| now <= deadline);
        task.response
            .record(nanoseconds(now.since(state.attempt.arrived)));
        if in_time {
            task.made += 1;
        } else {
            task.late += 1;
            task.dispatched_and_missed += 1;
        }
        let utility: Utility = state.segments[0].parameters.utility;
        let late = deadline.map_or(Duration::ZERO, |deadline| now.since(deadline));
        task.utility += u64::from(utility.worth(late));
        self.report(thread, EventKind::Completed, observer);
        if deadline.is_some() {
            let kind = if in_time {
                EventKind::DeadlineMet
            } else {
                EventKind::DeadlineMissed
            };
            self.report(thread, kind, observer);
        }
        self.end(thread);
    }

    /// Ends the thread.
    pub(super) fn end(&mut self, thread: usize) {
        if self.threads[thread].state == State::Ready {
            self.make_unready(thread, State::Travelling);
        }
        if let Some(parent) = self.threads[thread].replies.parent.take() {
            let direction = (self.threads[thread].host, parent.host);
            let random = &mut self.threads[thread].random;
            let arrives = self
                .links
                .arrival(direction, parent.reply_bytes, self.now, random);
            let (thread, generation) = (parent.thread, parent.generation);
            self.queue_at(arrives, Occurrence::AsyncReply { thread, generation });
        }
        self.free(thread);
    }
}
