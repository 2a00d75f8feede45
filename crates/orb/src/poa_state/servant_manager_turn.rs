//! Turns: one thread at a time calls the servant manager of an adapter, and one its adapter activator.
//!
//! Threads wait for their turn where the wait can end. It cannot if the thread is inside the same call
//! already, or if the thread whose turn it is waits for this one.

use std::{
    cell::{Cell, RefCell},
    ptr,
    sync::atomic::{AtomicBool, Ordering, fence},
};

use punctual_os::InheritingLock;

/// The turn of one servant manager or adapter activator.
#[derive(Default)]
pub(crate) struct Turn {
    lock: InheritingLock,
    /// Whether something waits for the end of the turn that is no thread: held requests, objects to be ended.
    awaited: AtomicBool,
}

/// Why a thread does not get a turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoTurn {
    /// The thread is inside the same call, which has led to this one.
    Recursion,
    /// The thread would have to return from something else first: it serves this request while a call of the
    /// manager waits, or the thread whose turn it is waits for this one.
    Later,
}

/// A turn that the thread has.
struct Running {
    turn: usize,
    /// Name of the adapter that an activator makes; empty for servant managers.
    subject: Box<[u8]>,
}

thread_local! {
    /// The turns of this thread, the innermost last.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
    /// How many of them belong to upcalls that wait while this thread serves other requests.
    static APART: Cell<usize> = const { Cell::new(0) };
}

/// Separates what the thread serves from now on from its turns, until the result is dropped: it has nothing
/// to do with the calls that wait.
pub(crate) fn set_apart() -> impl Drop {
    let before = APART.replace(RUNNING.with_borrow(Vec::len));
    scopeguard::guard((), move |()| APART.set(before))
}

impl Turn {
    /// Notes that something waits for the end of the turn. `false`: it is nobody's turn now, so that nothing
    /// has to wait.
    pub(crate) fn await_end(&self) -> bool {
        self.awaited.store(true, Ordering::Relaxed);
        // Its partner is in `leave`: one of the two threads sees what the other has stored.
        fence(Ordering::SeqCst);
        self.lock.is_locked()
    }

    fn number(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Waits for the turn; [`Self::leave`] follows, with the result. `Ok(false)`: the thread has it already,
    /// for another subject.
    pub(crate) fn enter(&self, subject: &[u8]) -> Result<bool, NoTurn> {
        let own = RUNNING.with_borrow(|running| {
            let of_this = |running: &&Running| running.turn == self.number();
            let (apart, connected) = running.split_at(APART.get().min(running.len()));
            if connected
                .iter()
                .filter(of_this)
                .any(|own| *own.subject == *subject)
            {
                return Err(NoTurn::Recursion);
            }
            if connected.iter().any(|own| of_this(&own)) {
                return Ok(true);
            }
            if apart.iter().any(|own| of_this(&own)) {
                return Err(NoTurn::Later);
            }
            Ok(false)
        })?;
        if !own {
            self.lock.lock().map_err(|_| NoTurn::Later)?;
        }
        RUNNING.with_borrow_mut(|running| {
            running.push(Running {
                turn: self.number(),
                subject: subject.into(),
            });
        });
        Ok(!own)
    }

    /// Returns to the turn outside of this one; `locked`: the next thread may enter. Returns whether
    /// something waits for that.
    pub(crate) fn leave(&self, locked: bool) -> bool {
        RUNNING.with_borrow_mut(Vec::pop);
        if !locked {
            return false;
        }
        let unlocked = self.lock.unlock();
        debug_assert!(unlocked.is_ok(), "it stays on the thread that locked it");
        fence(Ordering::SeqCst);
        self.awaited.swap(false, Ordering::Relaxed)
    }
}
