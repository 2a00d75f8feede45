//! The calling thread's turn to call a servant manager or adapter activator, and what follows its end.

use std::{
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    current,
    poa_state::{
        objects::Objects,
        servant_manager_turn::{NoTurn, Turn},
    },
};

/// The calling thread's turn, until this is dropped.
pub(crate) struct TurnGuard<'t> {
    objects: &'t Objects,
    turn: &'t Turn,
    locked: bool,
    on_this_thread: PhantomData<*const ()>,
}

impl Objects {
    /// Waits until it is the calling thread's turn. `subject`: name of the adapter to be made; empty for
    /// servant managers.
    pub(crate) fn enter_turn<'t>(&'t self, turn: &'t Turn, subject: &[u8]) -> Result<TurnGuard<'t>, NoTurn> {
        let locked = turn.enter(subject)?;
        Ok(TurnGuard {
            objects: self,
            turn,
            locked,
            on_this_thread: PhantomData,
        })
    }

    /// Serves and ends what has waited for the end of a turn.
    #[cold]
    fn turn_has_ended(&self) {
        self.endings.release_held();
        for slot in self.endings.slots() {
            if self.table.is_idle(slot) {
                self.endings.left(slot);
            }
        }
    }
}

impl TurnGuard<'_> {
    /// Calls the user's code; `None`: it has panicked.
    pub(crate) fn call<R>(&self, call: impl FnOnce() -> R) -> Option<R> {
        // As in a servant, it waits for no upcall.
        let _upcall = current::during_upcall(current::explicit_priority(), None);
        catch_unwind(AssertUnwindSafe(call)).ok()
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        if self.turn.leave(self.locked) {
            self.objects.turn_has_ended();
        }
    }
}
