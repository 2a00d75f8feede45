//! The immediate priority ceiling protocol: a thread runs at a resource's ceiling while it owns the resource.

use std::cell::{Cell, RefCell};
use std::io;
use std::marker::PhantomData;

use punctual_types::NativePriority;

use crate::scheduling_class::{self, Scheduling, SchedulingClass, priority_range};

/// Raises the calling thread to at least the priority `ceiling` until the result is dropped. Results may be
/// dropped in any order.
///
/// The ceiling of a resource is the highest priority of all threads that ever use it. On one CPU no thread
/// then waits for an owned resource, because no thread that could request it gets the CPU. A thread of the
/// ordinary class runs in SCHED_FIFO meanwhile; a thread in SCHED_RR stays there.
///
/// If the thread changes its own priority meanwhile ([`set_current`](crate::scheduling::set_current)), the
/// change takes effect at the end, or at once if the new priority is above the ceiling.
///
/// The first ceiling of a thread takes three system calls, each further one at most one, and the end of each
/// at most one. Nothing is allocated.
///
/// # Errors
/// [`RaiseError`].
///
/// ```
/// use punctual_os::{Scheduling, ceiling, scheduling};
/// use punctual_types::NativePriority;
///
/// let before = scheduling::current();
/// match ceiling::raise(NativePriority(50)) {
///     Ok(raised) => {
///         assert_eq!(scheduling::current(), Scheduling::fifo(NativePriority(50)));
///         drop(raised);
///     }
///     Err(ceiling::RaiseError::Os(denied)) => {
///         assert_eq!(denied.kind(), std::io::ErrorKind::PermissionDenied);
///     }
///     Err(above) => panic!("{above}"),
/// }
/// assert_eq!(scheduling::current(), before);
/// ```
pub fn raise(ceiling: NativePriority) -> Result<Raised, RaiseError> {
    if !priority_range(SchedulingClass::Fifo).contains(&ceiling.0) {
        return Err(RaiseError::Os(io::ErrorKind::InvalidInput.into()));
    }
    HELD.with_borrow_mut(|held| {
        if held.is_empty() {
            held.base = scheduling_class::get(0).expect("the calling thread exists");
        }
        // The priority of other ceilings is not the thread's own.
        if held.base.priority > ceiling {
            return Err(RaiseError::AboveCeiling {
                own: held.base.priority,
                ceiling,
            });
        }
        let before = held.effective();
        held.add(ceiling);
        if let Err(error) = change(before, held.effective()) {
            held.remove(ceiling);
            return Err(RaiseError::Os(error));
        }
        RAISED.set(true);
        Ok(Raised {
            ceiling,
            on_this_thread: PhantomData,
        })
    })
}

/// Result of [`raise`]: the thread runs at the ceiling until this is dropped.
#[derive(Debug)]
#[must_use = "the priority is raised until this is dropped"]
pub struct Raised {
    ceiling: NativePriority,
    /// Neither `Send` nor `Sync`: it belongs to the raised thread.
    on_this_thread: PhantomData<*const ()>,
}

impl Drop for Raised {
    fn drop(&mut self) {
        // While the thread ends the value no longer exists, and nothing must be lowered.
        let _ = HELD.try_with(|held| {
            let held = &mut *held.borrow_mut();
            let before = held.effective();
            held.remove(self.ceiling);
            RAISED.set(!held.is_empty());
            // Lowering needs no right.
            let _ = change(before, held.effective());
        });
    }
}

/// Error of [`raise`].
#[derive(thiserror::Error)]
pub enum RaiseError {
    /// The thread's own priority is higher: the ceiling is not the highest priority of all users.
    #[error(
        "the thread's priority {own} is above the ceiling {ceiling}; raise the ceiling to the highest priority of all users"
    )]
    AboveCeiling {
        /// The thread's own priority, without ceilings.
        own: NativePriority,
        /// The ceiling.
        ceiling: NativePriority,
    },
    /// The process has no right to the priority, or the priority does not exist.
    #[error("the operating system refused the priority of the ceiling: {0}")]
    Os(#[from] io::Error),
}

punctual_types::debug_as_display!(RaiseError);

/// Applies a change of the thread's own scheduling while it holds ceilings; returns `false` if it holds none.
pub(crate) fn set_base(base: Scheduling) -> io::Result<bool> {
    if !RAISED.get() {
        return Ok(false);
    }
    HELD.with_borrow_mut(|held| {
        let (before, own) = (held.effective(), held.base);
        held.base = base;
        change(before, held.effective()).inspect_err(|_| held.base = own)?;
        Ok(true)
    })
}

thread_local! {
    static RAISED: Cell<bool> = const { Cell::new(false) };
    static HELD: RefCell<Held> = const { RefCell::new(Held::NONE) };
}

/// Ceilings held by a thread.
struct Held {
    /// Scheduling of the thread without them.
    base: Scheduling,
    /// Number of held ceilings by priority.
    counts: [u16; PRIORITIES],
}

/// Number of priorities, 0 to 99.
const PRIORITIES: usize = 100;

impl Held {
    const NONE: Self = Self {
        base: Scheduling::OTHER,
        counts: [0; PRIORITIES],
    };

    fn is_empty(&self) -> bool {
        self.highest().is_none()
    }

    fn highest(&self) -> Option<NativePriority> {
        let index = self.counts.iter().rposition(|count| *count > 0)?;
        Some(NativePriority(i16::try_from(index).expect("below 100")))
    }

    /// Returns the scheduling in force.
    fn effective(&self) -> Scheduling {
        let class = match self.base.class {
            SchedulingClass::Other => SchedulingClass::Fifo,
            class => class,
        };
        match self.highest() {
            Some(priority) if priority > self.base.priority => Scheduling { class, priority },
            _ => self.base,
        }
    }

    fn add(&mut self, ceiling: NativePriority) {
        self.counts[index(ceiling)] += 1;
    }

    fn remove(&mut self, ceiling: NativePriority) {
        self.counts[index(ceiling)] -= 1;
    }
}

fn index(priority: NativePriority) -> usize {
    usize::try_from(priority.0).expect("`raise` has checked the range")
}

fn change(before: Scheduling, after: Scheduling) -> io::Result<()> {
    if before == after {
        return Ok(());
    }
    scheduling_class::set(0, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ThreadSpec, scheduling};
    use punctual_fixtures::realtime_or_skip;

    /// Runs `f` on a thread with this scheduling.
    fn at(base: Scheduling, f: impl FnOnce() + Send + 'static) {
        let spec = ThreadSpec::new("raised").scheduling(base);
        spec.spawn(f).unwrap().join().unwrap();
    }

    fn fifo(priority: i16) -> Scheduling {
        Scheduling::fifo(NativePriority(priority))
    }

    fn raise_to(priority: i16) -> Raised {
        raise(NativePriority(priority)).unwrap()
    }

    #[test]
    fn the_highest_ceiling_held_counts_in_any_order() {
        if !realtime_or_skip() {
            return;
        }
        for base in [fifo(10), Scheduling::OTHER] {
            at(base, move || {
                let low = raise_to(20);
                assert_eq!(scheduling::current(), fifo(20));
                let high = raise_to(40);
                let between = raise_to(30);
                let twice = raise_to(40);
                assert_eq!(scheduling::current(), fifo(40));
                drop(low);
                drop(high);
                assert_eq!(scheduling::current(), fifo(40));
                drop(twice);
                assert_eq!(scheduling::current(), fifo(30));
                drop(between);
                assert_eq!(scheduling::current(), base);
            });
        }
    }

    #[test]
    fn a_priority_above_the_ceiling_is_an_error_and_changes_nothing() {
        if !realtime_or_skip() {
            return;
        }
        at(fifo(20), || {
            let error = raise(NativePriority(19)).unwrap_err();
            assert!(
                error.to_string().contains("20 is above the ceiling 19"),
                "{error}"
            );
            assert_eq!(scheduling::current(), fifo(20));
            // The priority of another ceiling is not the thread's own.
            let high = raise_to(40);
            drop(raise_to(20));
            assert_eq!(scheduling::current(), fifo(40));
            drop(high);
            assert_eq!(scheduling::current(), fifo(20));
        });
    }

    #[test]
    fn a_change_of_the_own_priority_outlives_the_ceiling() {
        if !realtime_or_skip() {
            return;
        }
        at(fifo(10), || {
            let raised = raise_to(30);
            scheduling::set_current(fifo(15)).unwrap();
            assert_eq!(scheduling::current(), fifo(30));
            scheduling::set_current(fifo(50)).unwrap();
            assert_eq!(
                scheduling::current(),
                fifo(50),
                "above the ceiling it takes effect at once"
            );
            scheduling::set_current(fifo(12)).unwrap();
            assert_eq!(scheduling::current(), fifo(30));
            drop(raised);
            assert_eq!(scheduling::current(), fifo(12));
        });
    }

    #[test]
    fn round_robin_stays_round_robin() {
        if !realtime_or_skip() {
            return;
        }
        at(Scheduling::round_robin(NativePriority(5)), || {
            let raised = raise_to(6);
            assert_eq!(scheduling::current(), Scheduling::round_robin(NativePriority(6)));
            drop(raised);
        });
    }

    #[test]
    fn without_the_right_nothing_changes() {
        let run = || {
            crate::test_support::give_up_capabilities();
            if rustix::process::getrlimit(rustix::process::Resource::Rtprio).current != Some(0) {
                return;
            }
            assert!(matches!(raise(NativePriority(20)), Err(RaiseError::Os(_))));
            assert_eq!(scheduling::current(), Scheduling::OTHER);
            assert!(HELD.with_borrow(Held::is_empty));
        };
        at(Scheduling::OTHER, run);
    }

    #[test]
    fn a_priority_that_does_not_exist_is_an_error() {
        for wrong in [0, 100, -1] {
            assert!(matches!(raise(NativePriority(wrong)), Err(RaiseError::Os(_))));
        }
    }
}
