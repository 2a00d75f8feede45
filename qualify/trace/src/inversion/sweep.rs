//! One pass over all events in the order of time, which determines between any two events what waits for
//! what.

use std::collections::{BTreeMap, HashMap};

use punctual_os::CpuSet;

use super::{Analysis, CpuHole, Culprit, HoleSource, Inversion, Waiter, Waiting, Who, charge};
use crate::event::{KernelEvent, Level, ThreadId};
use crate::machine::{Change, LevelHistory, Machine, State, Thread, level_in_service, steps};
use crate::request::Request;

/// Finds inversions and holes. `events` are ordered by time; `allowed` are the affinities of threads (a
/// thread without one is assumed to be bound to the CPU in whose queue it is).
pub fn analyse(
    events: &[KernelEvent],
    requests: &[Request],
    allowed: &HashMap<ThreadId, CpuSet>,
) -> Analysis {
    let mut sweep = Sweep::new(requests, allowed, events);
    for step in steps(events, requests) {
        sweep.advance(step.time_ns);
        sweep.apply(step.what);
    }
    sweep.finish()
}

/// Active request.
struct Active {
    level: Level,
    phase: Phase,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Phase {
    Queued,
    InService,
    Reply,
}

/// Key of an open interval: what waits.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    Thread(ThreadId),
    Request(usize),
}

/// Classification of an interval for a thread or request.
enum Verdict {
    Inverted { cpu: u32, who: Who },
    Hole { cpu: u32, source: HoleSource },
}

struct Sweep<'a> {
    requests: &'a [Request],
    allowed: &'a HashMap<ThreadId, CpuSet>,
    levels: LevelHistory,
    now_ns: u64,
    machine: Machine,
    active: BTreeMap<usize, Active>,
    open: BTreeMap<Key, Inversion>,
    open_holes: HashMap<(u32, HoleSource), CpuHole>,
    found: Analysis,
}

impl<'a> Sweep<'a> {
    fn new(requests: &'a [Request], allowed: &'a HashMap<ThreadId, CpuSet>, events: &[KernelEvent]) -> Self {
        Self {
            requests,
            allowed,
            levels: LevelHistory::of(events),
            now_ns: 0,
            machine: Machine::default(),
            active: BTreeMap::new(),
            open: BTreeMap::new(),
            open_holes: HashMap::new(),
            found: Analysis::default(),
        }
    }

    /// Classifies the time from the last step to this one, in which nothing changed.
    fn advance(&mut self, time_ns: u64) {
        let (from, length) = (self.now_ns, time_ns - self.now_ns);
        self.now_ns = time_ns;
        if length == 0 {
            return;
        }
        let of_threads = self
            .machine
            .ready
            .iter()
            .filter_map(|id| Some((Key::Thread(*id), self.classify_thread(*id)?)));
        let of_requests = self.active.iter().filter_map(|(place, active)| {
            Some((Key::Request(*place), self.classify_request(*place, active)?))
        });
        let verdicts: Vec<(Key, Verdict)> = of_threads.chain(of_requests).collect();
        for (key, verdict) in verdicts {
            match verdict {
                Verdict::Inverted { cpu, who } => self.extend(key, from, length, cpu, who),
                Verdict::Hole { cpu, source } => self.extend_hole(from, length, cpu, source),
            }
        }
    }

    fn classify_thread(&self, id: ThreadId) -> Option<Verdict> {
        let thread = &self.machine.threads[&id];
        let queued = thread.state == State::Ready { queued: true };
        let home = self.machine.cpus.get(&thread.cpu);
        if queued && let Some(source) = home.and_then(|cpu| cpu.held_back) {
            return Some(Verdict::Hole {
                cpu: thread.cpu,
                source,
            });
        }
        let verdict = self.less_important(id, thread.cpu, |_, runner| {
            (runner.level < thread.level).then_some(runner.level)
        })?;
        match verdict {
            Verdict::Inverted { cpu, .. }
                if queued && cpu == thread.cpu && home.is_some_and(|cpu| cpu.silent_until.is_some()) =>
            {
                let source = HoleSource::Unaccounted;
                Some(Verdict::Hole { cpu, source })
            }
            verdict => Some(verdict),
        }
    }

    fn classify_request(&self, place: usize, active: &Active) -> Option<Verdict> {
        let worker_id = self.worker(place, active.phase)?;
        // Before its first event it sleeps.
        let unseen = Thread::unknown();
        let worker = self.machine.threads.get(&worker_id).unwrap_or(&unseen);
        let waits = match (active.phase, worker.state) {
            // If it runs, it works on this request unless it still serves another one.
            (Phase::Queued, State::Running) => !worker.serving.is_empty(),
            (_, State::Running) | (Phase::InService, State::Blocked) => false,
            // Its thread sleeps in the servant of another request: whatever runs meanwhile is not to blame.
            (Phase::Queued, State::Blocked) if !worker.serving.is_empty() => false,
            // Then the thread itself waits, and is classified as such.
            (Phase::Queued, State::Ready { .. }) if worker.serving.is_empty() => worker.level < active.level,
            (Phase::InService | Phase::Reply, State::Ready { .. }) => worker.level < active.level,
            (Phase::Queued | Phase::Reply, _) => true,
        };
        if !waits {
            return None;
        }
        if worker.state == (State::Ready { queued: true })
            && let Some(source) = self.machine.cpus.get(&worker.cpu).and_then(|cpu| cpu.held_back)
        {
            let cpu = worker.cpu;
            return Some(Verdict::Hole { cpu, source });
        }
        let server = self.requests[place].service.as_ref()?.process;
        self.less_important(worker_id, worker.cpu, |id, runner| {
            let caller = |place: usize| self.active.get(&place).map(|active| active.level);
            let level = level_in_service(runner, server, self.requests, caller);
            // Its own caller is about to wait.
            (level < active.level && id != self.requests[place].client).then_some(level)
        })
    }

    /// Returns the CPU, of those that a thread may use, with the lowest running level to which `counts`
    /// assigns one; its own CPU first, and last those on which the kernel runs it in spite of their queue.
    fn less_important(
        &self,
        waiter: ThreadId,
        home: u32,
        counts: impl Fn(ThreadId, &Thread) -> Option<Level>,
    ) -> Option<Verdict> {
        let allowed = self.allowed.get(&waiter);
        let may_use = |cpu: u32| match allowed {
            Some(set) => set.contains(cpu as usize),
            None => cpu == home,
        };
        let usable = || self.machine.cpus.iter().filter(|(cpu, _)| may_use(**cpu));
        // If a CPU is idle, no lower level is in the way: the thread is about to move there.
        if usable().any(|(_, cpu)| cpu.running == Some(0)) {
            return None;
        }
        let candidates = usable().filter_map(|(cpu, state)| {
            let runner_id = state.running.filter(|runner| *runner != 0)?;
            let runner = self.machine.threads.get(&runner_id)?;
            let level = counts(runner_id, runner)?;
            let who = match state.interrupts.last() {
                Some(interrupt) => Who::Interrupt(*interrupt),
                None => Who::Thread {
                    thread: runner_id,
                    level: Some(runner.level),
                    request: runner.serving.last().copied(),
                },
            };
            let (cpu, held_back) = (*cpu, state.held_back);
            let verdict = match held_back {
                Some(source) => Verdict::Hole { cpu, source },
                None => Verdict::Inverted { cpu, who },
            };
            Some(((held_back.is_some(), cpu != home, level), verdict))
        });
        let (_, best) = candidates.min_by_key(|(order, _)| *order)?;
        Some(best)
    }

    /// Returns the thread that should proceed.
    fn worker(&self, place: usize, phase: Phase) -> Option<ThreadId> {
        let request = &self.requests[place];
        match phase {
            Phase::Queued | Phase::InService => request.service.as_ref().map(|service| service.thread),
            Phase::Reply => Some(request.client),
        }
    }

    fn extend(&mut self, key: Key, from: u64, length: u64, cpu: u32, who: Who) {
        if let Some(open) = self.open.get_mut(&key)
            && open.start_ns + open.length_ns == from
        {
            open.length_ns += length;
            charge(&mut open.culprits, who, length);
            return;
        }
        let inversion = Inversion {
            waiter: self.waiter(key),
            cpu,
            start_ns: from,
            length_ns: length,
            culprits: vec![Culprit { who, ran_ns: length }],
        };
        self.found.inversions.extend(self.open.insert(key, inversion));
    }

    fn extend_hole(&mut self, from: u64, length: u64, cpu: u32, source: HoleSource) {
        let hole = CpuHole {
            cpu,
            start_ns: from,
            length_ns: length,
            source,
        };
        let open = self.open_holes.entry((cpu, source)).or_insert(hole);
        let until = from + length;
        let end = open.start_ns + open.length_ns;
        // Several may wait at the same time.
        if end >= from {
            open.length_ns = open.length_ns.max(until - open.start_ns);
        } else {
            self.found.holes.push(std::mem::replace(open, hole));
        }
    }

    fn waiter(&self, key: Key) -> Waiter {
        match key {
            Key::Thread(thread) => Waiter {
                thread,
                level: Some(self.machine.threads[&thread].level),
                request: self.request_of(thread),
                state: Waiting::Ready,
            },
            Key::Request(place) => {
                let active = &self.active[&place];
                Waiter {
                    thread: self.worker(place, active.phase).unwrap_or_default(),
                    level: Some(active.level),
                    request: Some(place),
                    state: match active.phase {
                        Phase::Queued => Waiting::Queued,
                        Phase::InService => Waiting::Preempted,
                        Phase::Reply => Waiting::Reply,
                    },
                }
            }
        }
    }

    /// Returns the request for which a thread is ready: one that it serves, will serve, or has sent.
    fn request_of(&self, thread: ThreadId) -> Option<usize> {
        let serving = self
            .machine
            .threads
            .get(&thread)
            .and_then(|state| state.serving.last().copied());
        serving.or_else(|| {
            let mut active = self.active.iter();
            let found = active.find(|(place, active)| self.worker(**place, active.phase) == Some(thread));
            found.map(|(place, _)| *place)
        })
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Kernel(event) => self.machine.apply(event),
            Change::HoldsBack(cpu) => self.machine.hold_back(cpu),
            Change::SilenceBegins(cpu, until) => self.machine.cpu(cpu).silent_until = Some(until),
            Change::SilenceEnds(cpu) => self.machine.cpu(cpu).silent_until = None,
            Change::Sent(place) => self.enter_phase(place, Phase::Queued),
            Change::Served(place) => {
                if let Some(service) = &self.requests[place].service {
                    let thread = service.thread;
                    self.machine.begin_service(place, thread);
                    self.enter_phase(place, Phase::InService);
                }
            }
            Change::Done(place) => {
                let request = &self.requests[place];
                if let Some(service) = &request.service {
                    self.machine.end_service(place, service.thread);
                    if request.received_ns > service.done_ns {
                        self.enter_phase(place, Phase::Reply);
                    } else {
                        self.active.remove(&place);
                    }
                }
            }
            Change::Received(place) => {
                self.active.remove(&place);
            }
        }
    }

    fn enter_phase(&mut self, place: usize, phase: Phase) {
        if let Some(active) = self.active.get_mut(&place) {
            active.phase = phase;
            return;
        }
        let level = self.levels.of_request(&self.requests[place]);
        self.active.insert(place, Active { level, phase });
    }

    fn finish(mut self) -> Analysis {
        self.found.inversions.extend(self.open.into_values());
        for inversion in &mut self.found.inversions {
            inversion
                .culprits
                .sort_by_key(|culprit| std::cmp::Reverse(culprit.ran_ns));
        }
        self.found.inversions.sort_by_key(|inversion| inversion.start_ns);
        self.found.holes.extend(self.open_holes.into_values());
        self.found.holes.sort_by_key(|hole| hole.start_ns);
        self.found
    }
}

#[cfg(test)]
mod tests;
