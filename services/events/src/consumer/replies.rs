//! Answers of a consumer of another process to queries of its existence.

use std::time::Instant;

use punctual::{
    Minor, SystemException,
    SystemExceptionKind::{ObjectNotExist, Timeout},
};

use super::Answer;
use crate::ConsumerTolerance;

/// The answers so far.
pub(super) struct Replies {
    /// When it last answered, or an answer of it was found that had come too late.
    last: Instant,
    /// Number of consecutive queries that could not be sent, or were refused.
    refused: u32,
    /// Failure of the last query.
    error: Option<SystemException>,
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
        reply: Result<Answer, SystemException>,
        tolerance: &ConsumerTolerance,
    ) -> bool {
        self.error = reply.as_ref().err().copied();
        match reply {
            Ok(Answer::Exists { .. }) => *self = Self::new(),
            Ok(Answer::Gone) => return true,
            Err(error) if error.kind == ObjectNotExist => return true,
            // It is busy, but alive: it has answered an earlier query since, or its queue is full.
            Err(error) if matches!(error.minor, Minor::REPLIES_LATE | Minor::REQUEST_QUEUE_FULL) => {
                self.last = Instant::now();
                self.refused = 0;
            }
            // It may be busy.
            Err(error) if error.kind == Timeout => {
                self.refused = 0;
                return self.last.elapsed() > tolerance.silence;
            }
            Err(_) => self.refused += 1,
        }
        self.refused >= tolerance.failures
    }

    /// Why the last query failed, in a few words if it is one of time.
    pub(super) fn failure(&self) -> Option<String> {
        let error = self.error?;
        Some(match (error.kind, error.minor) {
            (Timeout, Minor::REPLIES_LATE) => "answers late; let it state a queue, or add threads".to_owned(),
            (Timeout, _) => {
                let seconds = self.last.elapsed().as_secs();
                format!(
                    "no answer for {seconds} s: unserved or slow; let it state a queue, add threads, or raise \
                     `silence`"
                )
            }
            _ => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use punctual::{Completion, SystemExceptionKind};

    use super::*;

    fn failed(kind: SystemExceptionKind, minor: Minor) -> Result<Answer, SystemException> {
        Err(SystemException::new(kind, minor, Completion::Maybe))
    }

    #[test]
    fn a_consumer_that_answers_late_lives_and_one_that_is_silent_is_dead() {
        let tolerance = ConsumerTolerance {
            silence: Duration::ZERO,
            ..ConsumerTolerance::default()
        };
        let mut replies = Replies::new();
        for minor in [Minor::REPLIES_LATE; 100] {
            assert!(!replies.show_death(failed(Timeout, minor), &tolerance));
        }
        let slow = replies.failure().unwrap();
        assert!(slow.contains("answers late"), "{slow}");
        for _ in 0..100 {
            let full = failed(SystemExceptionKind::Transient, Minor::REQUEST_QUEUE_FULL);
            assert!(!replies.show_death(full, &tolerance));
        }
        replies.last = Instant::now() - Duration::from_millis(31_500);
        let silent = failed(Timeout, Minor::REPLY_TIMED_OUT);
        assert!(replies.show_death(silent, &tolerance));
        let silent = replies.failure().unwrap();
        assert!(
            silent.starts_with("no answer for 31 s: unserved or slow; "),
            "{silent}"
        );
        assert!(silent.len() <= 100, "{silent}");
        assert!(!replies.show_death(Ok(Answer::Exists { lost: 0 }), &tolerance));
        assert_eq!(replies.failure(), None);
    }
}
