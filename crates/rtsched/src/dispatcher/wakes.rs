use std::sync::Arc;

use punctual_os::Gate;

/// Whom to wake, once the lock is free.
#[derive(Default)]
pub(super) struct Wakes {
    gates: [Option<Arc<Gate>>; 4],
}

impl Wakes {
    pub(super) fn push(&mut self, gate: &Arc<Gate>) {
        match self.gates.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(Arc::clone(gate)),
            // Woken now, it waits for the lock once more.
            None => gate.open(),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for gate in other.gates.iter().flatten() {
            self.push(gate);
        }
    }

    pub(super) fn open(self) {
        for gate in self.gates.into_iter().flatten() {
            gate.open();
        }
    }
}
