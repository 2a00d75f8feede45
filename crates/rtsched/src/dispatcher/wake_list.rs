//! Threads to wake after the dispatcher's lock has been released.

use std::sync::Arc;

use punctual_os::Gate;

/// Gates to open after the lock has been released.
#[derive(Default)]
pub(super) struct WakeList {
    gates: [Option<Arc<Gate>>; 4],
}

impl WakeList {
    pub(super) fn push(&mut self, gate: &Arc<Gate>) {
        match self.gates.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(Arc::clone(gate)),
            // The list is full. A thread woken now waits for the lock once more.
            None => gate.open(),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for gate in other.gates.iter().flatten() {
            self.push(gate);
        }
    }

    pub(super) fn wake(self) {
        for gate in self.gates.into_iter().flatten() {
            gate.open();
        }
    }
}
