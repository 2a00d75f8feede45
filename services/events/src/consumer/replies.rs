//! Answers of a consumer of another process to queries of its existence.

use std::time::Instant;

use punctual::{
    SystemException,
    SystemExceptionKind::{ObjectNotExist, Timeout},
};

use crate::ConsumerTolerance;

/// The answers so far.
pub(super) struct Replies {
    last: Instant,
    /// Number of consecutive queries that could not be sent, or were refused.
    refused: u32,
    /// Failure of the last query.
    pub(super) error: Option<SystemException>,
}

impl Replies {
    /// It has answered just now.
    pub(super) fn new() -> Self {
        Self {
            last: Instant::now(),
            refused: 0,
            error: None,
        }
    }

    /// Takes an answer; returns whether the consumer is dead.
    pub(super) fn show_death(
        &mut self,
        reply: Result<bool, SystemException>,
        tolerance: &ConsumerTolerance,
    ) -> bool {
        self.error = reply.as_ref().err().copied();
        match reply {
            Ok(true) => *self = Self::new(),
            Ok(false) => return true,
            Err(error) if error.kind == ObjectNotExist => return true,
            // It may be busy.
            Err(error) if error.kind == Timeout => {
                self.refused = 0;
                return self.last.elapsed() > tolerance.silence;
            }
            Err(_) => self.refused += 1,
        }
        self.refused >= tolerance.failures
    }
}
