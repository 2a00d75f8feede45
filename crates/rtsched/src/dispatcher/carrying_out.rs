//! Lets the scheduler choose, and carries out what it chose: who runs, and at which native priorities.

use punctual_flight::{Event, Record, record};
use punctual_sched::dynamic::{SchedulingParameters, Slot, Time};
use punctual_types::NativePriority;

use super::{
    Mechanism, Preemption,
    decisions::{Decision, Switch},
    entry::Native,
    native,
    state::State,
    wakes::Wakes,
};

impl State {
    /// Whether running threads are moved to lower native priorities.
    pub(super) fn preempts(&self) -> bool {
        self.mechanism == Mechanism::ReadyQueue
            && self.settings.preemption == Preemption::Native
            && !self.denied
    }

    /// Lets the scheduler choose, and carries that out.
    pub(super) fn reschedule(&mut self, caller: Option<Slot>, now: Time) -> Wakes {
        if self.mechanism != Mechanism::ReadyQueue && self.settings.decisions == 0 {
            return Wakes::default();
        }
        self.choice.choose(&self.entries, self.settings.processors, now);
        let mut wakes = Wakes::default();
        let mut at = 0;
        while let Some(&slot) = self.running.get(at) {
            let stays = self.choice.chosen.contains(&slot) || !self.takes_processor(slot, caller);
            if stays {
                at += 1;
            } else {
                self.running.swap_remove(at);
                self.note(slot, Switch::Suspended, now);
            }
        }
        for at in 0..self.choice.chosen.len() {
            let slot = self.choice.chosen[at];
            if self.running.len() < self.settings.processors && !self.running.contains(&slot) {
                self.running.push(slot);
                self.note(slot, Switch::Resumed, now);
                self.give_processor(slot, caller, &mut wakes);
            }
        }
        wakes
    }

    /// One that runs and is not chosen any more: says whether it has been kept from running, or will be at once.
    fn takes_processor(&mut self, slot: Slot, caller: Option<Slot>) -> bool {
        if self.mechanism == Mechanism::ReadyQueue {
            let taken = caller == Some(slot)
                || self.preempts() && self.make_native(slot, Native::At(self.settings.native.inactive));
            if !taken {
                return false;
            }
            self.entry_mut(slot).head_mut().expect("it runs here").runs = false;
        }
        true
    }

    fn give_processor(&mut self, slot: Slot, caller: Option<Slot>, wakes: &mut Wakes) {
        if self.mechanism != Mechanism::ReadyQueue {
            return;
        }
        if self.preempts() {
            self.set_level(slot, self.settings.native.active, caller);
        }
        let head = self
            .entry_mut(slot)
            .head_mut()
            .expect("it was chosen, so it is here");
        head.runs = true;
        if head.parked {
            wakes.push(&head.gate);
        }
    }

    /// With native priorities: the one for these parameters.
    pub(super) fn find_level(&mut self, slot: Slot, parameters: &SchedulingParameters, caller: Option<Slot>) {
        if self.mechanism != Mechanism::OsPriorities {
            return;
        }
        let eligibility = self.choice.fixed_eligibility(parameters).unwrap_or(0);
        let head = self.entries[slot.0 as usize].head_mut().expect("it is ready");
        if let Some(level) = head.level.take() {
            self.levels.leave(level);
        }
        let placed = self.levels.enter(eligibility);
        head.level = Some(placed.level);
        if placed.respread {
            for number in 0..self.entries.len() {
                let level = self.entries[number].head().and_then(|head| head.level);
                if let Some(level) = level {
                    self.set_level(Slot(number as u32), self.levels.native(level), caller);
                }
            }
        } else {
            self.set_level(slot, placed.native, caller);
        }
    }

    /// A caller that lowers itself does so when it has let go of the lock. Whoever goes first then would have to wait for that; and
    /// an owner that lowers itself loses what it has inherited from those who wait already (seen with Linux 6.18), so that they
    /// would wait for all threads between.
    fn set_level(&mut self, slot: Slot, native: NativePriority, caller: Option<Slot>) {
        let denied = self.denied;
        let head = self.entry_mut(slot).head_mut().expect("it is ready");
        if caller == Some(slot) && !denied && native::is_lower(head, native) {
            head.native = Native::At(native);
            self.lowers = Some(native::wish(head, native));
        } else {
            self.make_native(slot, Native::At(native));
        }
    }

    /// Says whether the OS thread is as it should be.
    pub(super) fn make_native(&mut self, slot: Slot, native: Native) -> bool {
        if self.denied {
            return false;
        }
        let head = self.entry_mut(slot).head_mut().expect("its head is here");
        let made = native::change(head, native).is_ok();
        if !made {
            self.denied = true;
            crate::notice::COOPERATIVE.send();
        }
        made
    }

    pub(super) fn note(&mut self, slot: Slot, switch: Switch, now: Time) {
        let entry = self.entry(slot);
        let decision = Decision {
            at: now,
            id: entry.id,
            switch,
            name: entry.name,
        };
        record(|| {
            let event = match switch {
                Switch::Resumed => Event::DistributableThreadResumed,
                Switch::Suspended => Event::DistributableThreadSuspended,
            };
            Record::new(event).detail(decision.id.0 as u64)
        });
        self.decisions.push(decision);
    }
}
