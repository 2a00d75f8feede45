use core::cmp::Ordering;

use crate::dynamic::Claim;

use super::{
    EventKind, Observer, Protocol, Simulation,
    thread::{Held, Inherited, State},
};

/// Resource managers: locks that inherit, by scheduling parameters.
impl Simulation<'_> {
    pub(super) fn lock(&mut self, thread: usize, resource: usize, observer: &mut dyn Observer) {
        let host = self.threads[thread].host;
        let lock = self.hosts[host].locks.entry(resource).or_default();
        match lock.owner {
            None => self.take(thread, resource, observer),
            Some(owner) if owner == thread => {
                let mut held = self.threads[thread].held.iter_mut();
                if let Some(held) = held.find(|held| held.resource == resource && held.host == host) {
                    held.count += 1;
                }
            }
            Some(owner) => {
                lock.waiters.push(thread);
                self.say(
                    thread,
                    EventKind::Waiting {
                        resource: resource as u32,
                    },
                    observer,
                );
                self.leave(thread, State::Waiting(resource));
                self.lend(owner, observer);
            }
        }
    }

    fn take(&mut self, thread: usize, resource: usize, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let held = Held {
            host: state.host,
            resource,
            count: 1,
            since: self.now,
            frames: state.frames.len(),
        };
        state.held.push(held);
        self.hosts[held.host].locks.entry(resource).or_default().owner = Some(thread);
        self.say(
            thread,
            EventKind::Locked {
                resource: resource as u32,
            },
            observer,
        );
        self.lend(thread, observer);
    }

    pub(super) fn unlock(&mut self, thread: usize, resource: usize, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let host = state.host;
        let place = state
            .held
            .iter()
            .rposition(|held| held.resource == resource && held.host == host);
        let Some(place) = place else { return };
        state.held[place].count -= 1;
        if state.held[place].count > 0 {
            return;
        }
        state.held.remove(place);
        self.say(
            thread,
            EventKind::Unlocked {
                resource: resource as u32,
            },
            observer,
        );
        let next = self.next_owner(host, resource);
        if let Some(lock) = self.hosts[host].locks.get_mut(&resource) {
            lock.owner = None;
            lock.waiters.retain(|waiter| Some(*waiter) != next);
        }
        if let Some(next) = next {
            self.take(next, resource, observer);
            self.ready(next);
        }
        self.lend(thread, observer);
    }

    /// Gives back what the innermost frame still holds, the last first.
    pub(super) fn give_back(&mut self, thread: usize, observer: &mut dyn Observer) {
        loop {
            let state = &mut self.threads[thread];
            let depth = state.frames.len();
            let Some(held) = state.held.last_mut().filter(|held| held.frames == depth) else {
                return;
            };
            held.count = 1;
            let resource = held.resource;
            self.unlock(thread, resource, observer);
        }
    }

    /// A waiting thread does not want it any more.
    pub(super) fn stop_waiting(&mut self, thread: usize, resource: usize, observer: &mut dyn Observer) {
        let host = self.threads[thread].host;
        let Some(lock) = self.hosts[host].locks.get_mut(&resource) else {
            return;
        };
        lock.waiters.retain(|waiter| *waiter != thread);
        if let Some(owner) = lock.owner {
            self.lend(owner, observer);
        }
    }

    /// The most eligible waiter; of equals the first.
    fn next_owner(&self, host: usize, resource: usize) -> Option<usize> {
        let state = &self.hosts[host];
        let kind = state.scheduler.kind();
        let waiters = state.locks.get(&resource)?.waiters.iter().copied();
        waiters.reduce(|first, other| {
            let [one, two] = [first, other].map(|thread| self.threads[thread].claim(kind, self.now));
            match state.scheduler.compare(&two, &one, self.now) {
                Ordering::Greater => other,
                _ => first,
            }
        })
    }

    /// Gives a holder what it inherits now from waiters and ceilings; and who it waits for itself.
    pub(super) fn lend(&mut self, thread: usize, observer: &mut dyn Observer) {
        let mut holder = thread;
        // Each is told once: what waits in a circle waits for ever anyway.
        for _ in 0..=self.hosts[self.threads[thread].host].locks.len() {
            if !self.lend_one(holder, observer) {
                return;
            }
            let State::Waiting(resource) = self.threads[holder].state else {
                return;
            };
            let locks = &self.hosts[self.threads[holder].host].locks;
            match locks.get(&resource).and_then(|lock| lock.owner) {
                Some(owner) => holder = owner,
                None => return,
            }
        }
    }

    /// Whether that changed anything.
    fn lend_one(&mut self, thread: usize, observer: &mut dyn Observer) -> bool {
        let host = match self.threads[thread].held.last() {
            Some(held) => held.host,
            None => self.threads[thread].host,
        };
        let best = self.best_claim(thread, host);
        let inherited = best.map(|claim| Inherited { host, claim });
        let state = &mut self.threads[thread];
        if state.inherited == inherited {
            return false;
        }
        state.inherited = inherited;
        if inherited.is_some() {
            self.say(thread, EventKind::Inherited, observer);
        }
        if self.threads[thread].host == host {
            self.update(thread);
        }
        true
    }

    /// What of waiters and ceilings is more eligible than the thread itself.
    fn best_claim(&self, thread: usize, host: usize) -> Option<Claim> {
        let state = &self.hosts[host];
        let kind = state.scheduler.kind();
        let holder = &self.threads[thread];
        let mut best = holder.segment_at(host).claim(kind, self.now);
        let mut found = false;
        let mut offer = |claim: Claim| {
            if state.scheduler.compare(&claim, &best, self.now) == Ordering::Greater {
                (best, found) = (claim, true);
            }
        };
        for held in holder.held.iter().filter(|held| held.host == host) {
            let waiters = state
                .locks
                .get(&held.resource)
                .map_or(&[][..], |lock| &lock.waiters);
            match self.model.resources[held.resource].protocol {
                Protocol::None => {}
                Protocol::Inheritance => {
                    for waiter in waiters {
                        let claim = self.threads[*waiter].claim(kind, self.now);
                        offer(Claim::new(claim.lent(), claim.received));
                    }
                }
                Protocol::Ceiling(ceiling) => {
                    offer(Claim::new(
                        ceiling.at(kind, held.since),
                        core::time::Duration::ZERO,
                    ));
                }
            }
        }
        found.then_some(best)
    }
}
