//! Counts the requests inside one object, and admits none after it has been closed.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// One word: generation (31 bits), closed (1 bit), watched (1 bit), requests inside (31 bits). Closed gates
/// are watched.
///
/// Entering is one atomic addition, successful or not, so that no thread can make another one retry. Entering
/// compares one half of the word, and leaving the other.
#[derive(Debug)]
pub(crate) struct Gate(AtomicU64);

/// A caller has left a gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Left {
    /// Whether the gate is watched and has become empty.
    pub(crate) last: bool,
}

const CLOSED: u64 = 1 << 32;
const WATCHED: u64 = 1 << 31;
const COUNT: u64 = WATCHED - 1;
/// Shift of the generation.
const GENERATION: u32 = 33;
const MAX_GENERATION: u32 = u32::MAX >> 1;

impl Gate {
    /// Creates a closed gate of generation 0.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(CLOSED | WATCHED))
    }

    /// Counts the caller in if the gate is open and of this generation; then [`Self::leave`] must follow.
    pub(crate) fn enter(&self, generation: u32) -> Result<(), Left> {
        let before = self.0.fetch_add(1, Ordering::SeqCst);
        if before >> 32 == u64::from(generation) << 1 {
            Ok(())
        } else {
            // The last caller that was admitted may have left in between.
            Err(self.leave())
        }
    }

    /// Counts the caller out.
    pub(crate) fn leave(&self) -> Left {
        let before = self.0.fetch_sub(1, Ordering::Release);
        Left {
            last: before & (WATCHED | COUNT) == WATCHED | 1,
        }
    }

    /// Returns the generation that [`Self::open`] will begin.
    pub(crate) fn next_generation(&self) -> u32 {
        (self.current() + 1) & MAX_GENERATION
    }

    /// Opens the closed gate and returns its new generation. One thread at a time.
    pub(crate) fn open(&self) -> u32 {
        // An addition preserves the count of callers that are being refused concurrently. The bit that is
        // added to the closed one is carried into the generation.
        self.0.fetch_add(CLOSED - WATCHED, Ordering::Release);
        self.current()
    }

    /// Closes the gate. Returns `false` if it was closed or has another generation. One thread at a time.
    pub(crate) fn close(&self, generation: u32) -> bool {
        if self.generation() != Some(generation) {
            return false;
        }
        self.close_any();
        true
    }

    /// Closes the gate, regardless of its generation.
    pub(crate) fn close_any(&self) {
        self.0.fetch_or(CLOSED | WATCHED, Ordering::AcqRel);
    }

    /// Returns the generation of an open gate.
    pub(crate) fn generation(&self) -> Option<u32> {
        let word = self.0.load(Ordering::Acquire);
        (word & CLOSED == 0).then_some((word >> GENERATION) as u32)
    }

    /// Returns the generation of the gate, open or closed.
    pub(crate) fn current(&self) -> u32 {
        (self.0.load(Ordering::Acquire) >> GENERATION) as u32
    }

    /// Returns whether a request may be inside that this generation has admitted; if so, the last one to
    /// leave announces it from now on. One thread at a time.
    ///
    /// A thread that has changed what admitted requests read next misses none of those that have not seen the
    /// change: both this addition of a bit and that of [`Self::enter`] are sequentially consistent.
    pub(crate) fn watch(&self, generation: u32) -> bool {
        if self.current() != generation {
            return false;
        }
        let inside = self.0.fetch_or(WATCHED, Ordering::SeqCst) & COUNT != 0;
        if !inside {
            self.unwatch();
        }
        inside
    }

    /// Ends the effect of [`Self::watch`]. One thread at a time.
    pub(crate) fn unwatch(&self) {
        if self.generation().is_some() {
            self.0.fetch_and(!WATCHED, Ordering::Relaxed);
        }
    }

    /// Returns whether all admitted requests have left. Meaningful for a closed gate.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire) & COUNT == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_the_current_generation_enters() {
        let gate = Gate::new();
        assert!(gate.enter(0).is_err(), "new gates are closed");
        assert_eq!(gate.generation(), None);
        assert_eq!(gate.open(), 1);
        assert_eq!(gate.generation(), Some(1));
        assert!(gate.enter(1).is_ok());
        assert!(gate.enter(0).is_err());
        assert!(gate.close(1));
        assert!(!gate.close(1), "already closed");
        assert!(gate.enter(1).is_err());
        assert!(!gate.is_empty());
        assert_eq!(gate.leave(), Left { last: true });
        assert!(gate.is_empty());
        assert_eq!(gate.open(), 2);
        assert!(
            gate.enter(1).is_err(),
            "an old reference does not reach the new object"
        );
        assert!(gate.enter(2).is_ok());
    }

    #[test]
    fn generations_wrap() {
        let gate = Gate(AtomicU64::new(
            u64::from(MAX_GENERATION) << GENERATION | CLOSED | WATCHED,
        ));
        assert_eq!(gate.next_generation(), 0);
        assert_eq!(gate.open(), 0);
        assert!(gate.enter(0).is_ok());
        assert!(gate.enter(1 << 31).is_err(), "no generation");
    }

    #[test]
    fn the_last_to_leave_an_open_gate_announces_it_while_it_is_watched() {
        let gate = Gate::new();
        let generation = gate.open();
        assert!(!gate.watch(generation), "nobody is inside");
        assert!(gate.enter(generation).is_ok());
        assert_eq!(gate.leave(), Left { last: false }, "nobody watches");
        for _ in 0..2 {
            assert!(gate.enter(generation).is_ok());
        }
        assert!(gate.watch(generation) && !gate.watch(generation + 1));
        assert_eq!(gate.leave(), Left { last: false });
        assert_eq!(gate.leave(), Left { last: true });
        assert!(gate.enter(generation).is_ok(), "it is still open");
        gate.unwatch();
        assert_eq!(gate.leave(), Left { last: false });
        assert!(gate.close(generation));
        gate.unwatch();
        assert!(gate.enter(generation) == Err(Left { last: true }), "it is closed");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::{
        cell::UnsafeCell,
        sync::{Arc, atomic::AtomicBool},
        thread,
    };

    use super::*;

    /// Two requests, a deactivation and a reactivation: no request is inside after the closer has seen the
    /// gate empty, and none enters another generation.
    #[test]
    fn no_request_is_inside_a_closed_and_empty_gate() {
        // Three preemptions cover every interleaving of two atomic words that is known to matter; without a
        // bound the model takes minutes.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let gate = Arc::new(Gate::new());
            let generation = gate.open();
            let inside = Arc::new(UnsafeCell::new(0_u32));
            let entered = Arc::new(AtomicBool::new(false));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (gate, inside, entered) = (gate.clone(), inside.clone(), entered.clone());
                    thread::spawn(move || {
                        if gate.enter(generation).is_ok() {
                            // Loom fails the model if this read can overlap the write below.
                            inside.with(|value| assert_eq!(unsafe_free_read(value), 0));
                            entered.store(true, Ordering::Relaxed);
                            gate.leave();
                        }
                    })
                })
                .collect();
            assert!(gate.close(generation));
            if gate.is_empty() {
                inside.with_mut(|_| ());
                let next = gate.open();
                assert_ne!(next, generation);
                assert!(gate.enter(next).is_ok());
                gate.leave();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert!(gate.enter(generation).is_err() || !gate.is_empty());
        });
    }

    /// A thread that watches sees the request inside, or the request has left before; in the first case,
    /// the last one to leave announces it, also if the gate is closed meanwhile.
    #[test]
    fn no_departure_from_a_watched_gate_is_missed() {
        loom::model(|| {
            let gate = Arc::new(Gate::new());
            let generation = gate.open();
            assert!(gate.enter(generation).is_ok());
            let request = {
                let gate = gate.clone();
                thread::spawn(move || gate.leave().last)
            };
            let other = {
                let gate = gate.clone();
                thread::spawn(move || match gate.enter(generation) {
                    Ok(()) => gate.leave().last,
                    Err(left) => left.last,
                })
            };
            let inside = gate.watch(generation);
            let announced = [request, other].map(|thread| thread.join().unwrap());
            assert!(!inside || announced.contains(&true));
        });
    }

    /// The value is never read through the pointer: loom only tracks that the access happens.
    fn unsafe_free_read(_: *const u32) -> u32 {
        0
    }
}
