//! Attribution of each moment of a span to a cause, in one pass over all events in the order of time.

use std::collections::HashMap;

use super::{Budget, Cause, Part, Span, Stage};
use crate::event::{KernelEvent, ThreadId};
use crate::inversion::HoleSource;
use crate::machine::{Change, Cpu, LevelHistory, Machine, State, Thread, level_in_service, steps};
use crate::request::Request;

/// Fills in the parts of all spans and the levels of the calls.
pub(super) fn attribute(budgets: &mut [Budget], events: &[KernelEvent], requests: &[Request]) {
    let mut sweep = Sweep {
        requests,
        levels: (!events.is_empty()).then(|| LevelHistory::of(events)),
        machine: Machine::default(),
        nested: HashMap::new(),
    };
    for budget in budgets.iter_mut() {
        let request = &requests[budget.request];
        budget.level = sweep.levels.as_ref().map(|levels| levels.of_request(request));
    }
    // Starts of spans between the steps, with the thread that is known to run then.
    let mut boundaries: Vec<(u64, Option<ThreadId>)> = Vec::new();
    for budget in budgets.iter() {
        let nested = sweep.find_nested(budget).into_iter();
        boundaries.extend(nested.map(|time_ns| (time_ns, None)));
        let begun = budget
            .spans
            .iter()
            .filter(|span| span.stage.is_begun_by_its_thread());
        boundaries.extend(begun.map(|span| (span.start_ns, Some(span.thread))));
    }
    boundaries.sort_unstable();
    let mut boundaries = boundaries.into_iter().peekable();
    let mut now_ns = 0;
    let mut advance = |sweep: &Sweep<'_>, to: u64| {
        for budget in budgets.iter_mut() {
            sweep.advance(budget, now_ns, to);
        }
        now_ns = to;
    };
    for step in steps(events, requests) {
        while let Some((time_ns, runs)) = boundaries.next_if(|(time_ns, _)| *time_ns < step.time_ns) {
            advance(&sweep, time_ns);
            if let Some(thread) = runs {
                sweep.machine.runs(thread, time_ns);
            }
        }
        advance(&sweep, step.time_ns);
        sweep.apply(step.what);
    }
    // Nothing is known after the last event.
    sweep.machine = Machine::default();
    advance(&sweep, u64::MAX);
    for span in budgets.iter_mut().flat_map(|budget| &mut budget.spans) {
        span.parts.sort_by_key(|part| std::cmp::Reverse(part.length_ns));
    }
}

struct Sweep<'a> {
    requests: &'a [Request],
    /// `None`: no kernel trace.
    levels: Option<LevelHistory>,
    machine: Machine,
    /// Calls made by servants, by the request that they served.
    nested: HashMap<usize, Vec<usize>>,
}

impl Sweep<'_> {
    /// Returns the times at which they start and end.
    fn find_nested(&mut self, budget: &Budget) -> Vec<u64> {
        let Some(upcall) = budget.spans.iter().find(|span| span.stage == Stage::Upcall) else {
            return Vec::new();
        };
        let during = upcall.start_ns..upcall.start_ns + upcall.length_ns;
        let calls = self.requests.iter().enumerate();
        let nested =
            calls.filter(|(_, call)| call.client == upcall.thread && during.contains(&call.begin_ns));
        let (nested, boundaries): (Vec<_>, Vec<_>) = nested
            .map(|(place, call)| (place, [call.begin_ns, call.end_ns]))
            .unzip();
        self.nested.insert(budget.request, nested);
        boundaries.concat()
    }

    /// Attributes an interval in which nothing changed.
    fn advance(&self, budget: &mut Budget, from: u64, to: u64) {
        if to <= budget.start_ns || from >= budget.start_ns + budget.length_ns {
            return;
        }
        let mut spans = std::mem::take(&mut budget.spans);
        for span in &mut spans {
            let begin = from.max(span.start_ns);
            let length_ns = to.min(span.start_ns + span.length_ns).saturating_sub(begin);
            if length_ns > 0 {
                let cause = self.cause(budget, span, begin);
                match span.parts.iter_mut().find(|part| part.cause == cause) {
                    Some(part) => part.length_ns += length_ns,
                    None => span.parts.push(Part { cause, length_ns }),
                }
            }
        }
        budget.spans = spans;
    }

    fn cause(&self, budget: &Budget, span: &Span, time_ns: u64) -> Cause {
        if matches!(span.stage, Stage::Unrecorded | Stage::NoReply) {
            return Cause::Unknown;
        }
        let unseen = Thread::unknown();
        let thread = self.machine.threads.get(&span.thread).unwrap_or(&unseen);
        let behind = self.behind(budget, span.stage, thread);
        if !thread.seen {
            return behind.unwrap_or(Cause::Unknown);
        }
        let no_cpu = Cpu::default();
        let cpu = self.machine.cpus.get(&thread.cpu).unwrap_or(&no_cpu);
        match thread.state {
            State::Running => match cpu.interrupts.last() {
                Some(_) if cpu.silent_until.is_some() => Cause::Hole(HoleSource::Unaccounted),
                Some(interrupt) => Cause::Interrupt(*interrupt),
                None => behind.unwrap_or(if cpu.silent_until.is_some() {
                    Cause::RanSilently
                } else {
                    Cause::Ran
                }),
            },
            State::Ready { queued } => self.held(budget, span, thread, cpu, queued),
            State::Blocked => behind.unwrap_or_else(|| self.asleep(budget, span, time_ns)),
        }
    }

    /// Returns the other request with which the lane's thread is busy.
    fn behind(&self, budget: &Budget, stage: Stage, thread: &Thread) -> Option<Cause> {
        if !matches!(stage, Stage::Lane | Stage::WakeUp) {
            return None;
        }
        let request = *thread.serving.last().filter(|place| **place != budget.request)?;
        let (other, ours) = (&self.requests[request], &self.requests[budget.request]);
        let inverted = match &self.levels {
            Some(levels) => levels.of_request(other) < levels.of_request(ours),
            None => other.priority < ours.priority && other.priority.is_some(),
        };
        Some(Cause::Behind { request, inverted })
    }

    /// Returns why a runnable thread does not run.
    fn held(&self, budget: &Budget, span: &Span, thread: &Thread, cpu: &Cpu, queued: bool) -> Cause {
        if queued && let Some(source) = cpu.held_back {
            return Cause::Hole(source);
        }
        let Some(runner) = cpu.running else {
            return Cause::Unknown;
        };
        let state = self.machine.threads.get(&runner).filter(|_| runner != 0);
        // A thread of equal or higher level may run for long without an event.
        let interrupted = cpu.interrupts.last();
        if cpu.silent_until.is_some()
            && (interrupted.is_some() || state.is_none_or(|state| state.level < thread.level))
        {
            return Cause::Hole(HoleSource::Unaccounted);
        }
        if let Some(interrupt) = interrupted {
            return Cause::Interrupt(*interrupt);
        }
        let request = &self.requests[budget.request];
        let server = request.service.as_ref().map(|service| service.thread);
        if runner != span.thread && (runner == request.client || Some(runner) == server) {
            return Cause::OtherSide;
        }
        match state {
            Some(state) if runner != span.thread => Cause::Held {
                thread: runner,
                level: state.level,
                inverted: self.is_less_important(budget, span, thread, state),
                request: state.serving.last().copied(),
            },
            _ => Cause::Starting,
        }
    }

    fn is_less_important(&self, budget: &Budget, span: &Span, waiting: &Thread, runner: &Thread) -> bool {
        let request = &self.requests[budget.request];
        if span.thread == request.client {
            return runner.level < waiting.level;
        }
        let importance = waiting.level.max(budget.level.unwrap_or_default());
        let server = request.service.as_ref().map_or(0, |service| service.process);
        let caller = |place: usize| Some(self.levels.as_ref()?.of_request(&self.requests[place]));
        level_in_service(runner, server, self.requests, caller) < importance
    }

    /// Returns what a sleeping thread waits for.
    fn asleep(&self, budget: &Budget, span: &Span, time_ns: u64) -> Cause {
        let request = &self.requests[budget.request];
        let sender = match span.stage {
            Stage::Lane => Some(request.client),
            Stage::ReplyWakeUp => request.service.as_ref().map(|service| service.thread),
            Stage::Upcall => {
                let under_way = |place: &&usize| {
                    let call = &self.requests[**place];
                    (call.begin_ns..call.end_ns).contains(&time_ns)
                };
                let calls = self.nested.get(&budget.request).map_or(&[][..], Vec::as_slice);
                // The innermost one.
                return match calls.iter().rfind(under_way) {
                    Some(&request) => Cause::Called { request },
                    None => Cause::Slept,
                };
            }
            _ => return Cause::Slept,
        };
        let runner = sender.and_then(|sender| {
            let cpu = self.machine.threads.get(&sender)?.cpu;
            let id = self.machine.cpus.get(&cpu)?.running?;
            let runner = self.machine.threads.get(&id)?;
            Some((id, runner.level))
        });
        Cause::Undelivered { by: runner }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Kernel(event) => self.machine.apply(event),
            Change::HoldsBack(cpu) => self.machine.hold_back(cpu),
            Change::SilenceBegins(cpu, until) => self.machine.cpu(cpu).silent_until = Some(until),
            Change::SilenceEnds(cpu) => self.machine.cpu(cpu).silent_until = None,
            Change::Served(place) => {
                if let Some(service) = &self.requests[place].service {
                    self.machine.begin_service(place, service.thread);
                }
            }
            Change::Done(place) => {
                if let Some(service) = &self.requests[place].service {
                    self.machine.end_service(place, service.thread);
                }
            }
            Change::Sent(_) | Change::Received(_) => {}
        }
    }
}
