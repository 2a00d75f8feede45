//! Errors of dispatchers.

use std::{fmt, io};

/// A dispatcher that cannot be built or reconfigured.
#[derive(thiserror::Error)]
pub enum DispatchError {
    /// No level was given.
    #[error("a dispatcher needs at least one level: add `.level(Level::new(0))`")]
    NoLevel,
    /// Two levels have the same preemption priority.
    #[error("two levels have preemption priority {0}; give each level its own, 0 being the highest")]
    DuplicateLevel(u32),
    /// A number must not be zero.
    #[error("level {level}: {what} is 0, and must be at least 1")]
    Zero {
        /// Preemption priority of the level.
        level: u32,
        /// Name of the setting.
        what: &'static str,
    },
    /// A thread could not be started.
    #[error("a thread of level {level} could not be started: {error}")]
    Thread {
        /// Preemption priority of the level.
        level: u32,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The dispatcher has been shut down.
    #[error("the dispatcher has been shut down")]
    ShutDown,
    /// Commands remained when the timeout expired.
    #[error("{0} commands had not been executed when the timeout expired; they have been cancelled")]
    Undispatched(usize),
}

/// A command that was not queued, and the reason.
pub struct Rejected<C> {
    /// The command.
    pub command: C,
    /// The reason.
    pub reason: Rejection,
}

/// Why a command was not queued.
#[derive(Clone, Copy, Eq, PartialEq, thiserror::Error)]
pub enum Rejection {
    /// The queue of its level is full.
    #[error(
        "the queue of level {level} is full: it holds {capacity} commands; raise its capacity or slow down"
    )]
    Full {
        /// Preemption priority of the level.
        level: u32,
        /// Capacity of its queue.
        capacity: usize,
    },
    /// The dispatcher has been shut down.
    #[error("the dispatcher has been shut down")]
    ShutDown,
}

punctual_types::debug_as_display!(DispatchError, Rejection);

impl<C> fmt::Debug for Rejected<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<C> fmt::Display for Rejected<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<C> std::error::Error for Rejected<C> {}
