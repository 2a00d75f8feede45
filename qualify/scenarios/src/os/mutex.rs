//! The compared mutexes: those of POSIX threads, and Punctual's.

use punctual::NativePriority;
use punctual_os::{PiMutex, PiMutexGuard, ceiling};
use punctual_system::posix_mutex::Protocol;
use punctual_system::{PosixMutex, posix_mutex};
use serde::{Deserialize, Serialize};

use super::samples::now_ns;
use crate::error::Error;

/// The kind of a mutex.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Kind {
    /// POSIX, PTHREAD_PRIO_NONE.
    Plain,
    /// POSIX, PTHREAD_PRIO_INHERIT.
    Inheriting,
    /// POSIX, PTHREAD_PRIO_PROTECT.
    Ceiling,
    /// [`PiMutex`].
    OwnInheriting,
    /// A plain mutex, held under [`ceiling::raise`].
    OwnCeiling,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "POSIX, no protocol",
            Self::Inheriting => "POSIX, inheritance",
            Self::Ceiling => "POSIX, ceiling",
            Self::OwnInheriting => "Punctual, inheritance",
            Self::OwnCeiling => "Punctual, ceiling",
        }
    }

    /// Id in claims.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Plain => "none",
            Self::Inheriting => "inheritance",
            Self::Ceiling => "ceiling",
            Self::OwnInheriting => "own-inheritance",
            Self::OwnCeiling => "own-ceiling",
        }
    }
}

/// A mutex of one of these kinds.
pub(super) enum Mutex {
    Posix(PosixMutex),
    Own(PiMutex<()>),
    Raising(PosixMutex, NativePriority),
}

/// A guard, which releases the mutex and then the ceiling when dropped.
#[expect(dead_code, reason = "held, not read")]
pub(super) enum Held<'m> {
    Posix(posix_mutex::Owned<'m>),
    Own(PiMutexGuard<'m, ()>),
    Raised(posix_mutex::Owned<'m>, ceiling::Raised),
}

impl Mutex {
    /// Creates a mutex; `highest` is the highest priority of the threads that use it.
    pub(super) fn new(kind: Kind, highest: i16) -> Result<Self, Error> {
        let highest = NativePriority(highest);
        Ok(match kind {
            Kind::Plain => Self::Posix(PosixMutex::new(Protocol::None)?),
            Kind::Inheriting => Self::Posix(PosixMutex::new(Protocol::Inherit)?),
            Kind::Ceiling => Self::Posix(PosixMutex::new(Protocol::Protect(highest))?),
            Kind::OwnInheriting => Self::Own(PiMutex::new(())),
            Kind::OwnCeiling => Self::Raising(PosixMutex::new(Protocol::None)?, highest),
        })
    }

    /// Locks the mutex, without a deadline.
    ///
    /// # Panics
    /// If the system refuses: its users must have a real-time class and priorities up to its ceiling.
    pub(super) fn lock(&self) -> Held<'_> {
        match self {
            Self::Posix(mutex) => Held::Posix(mutex.lock().expect("the thread may lock it")),
            Self::Own(mutex) => Held::Own(mutex.lock()),
            Self::Raising(mutex, highest) => {
                let raised = ceiling::raise(*highest).expect("the thread may have the ceiling");
                Held::Raised(mutex.lock().expect("the thread may lock it"), raised)
            }
        }
    }

    /// Measures the time of locking and unlocking without contention, in nanoseconds; in a batch, so without
    /// the cost of the clock.
    pub(super) fn uncontended_ns(&self, times: u32) -> f64 {
        let began = now_ns();
        for _ in 0..times {
            drop(self.lock());
        }
        (now_ns() - began) as f64 / f64::from(times)
    }
}
