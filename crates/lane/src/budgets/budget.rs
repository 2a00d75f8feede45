//! Budgets of a connection: messages that occupy a lane although no request is served.
//!
//! A message costs one; a served request restores one, and [`RESTORED_IN`] restores all. So a peer can make a
//! lane's threads work for nothing at a bounded rate only, and a client that calls never notices.

use std::time::{Duration, Instant};

use punctual_os::PiMutex;

use crate::LaneLimits;

/// Time in which an exhausted budget is restored.
const RESTORED_IN: Duration = Duration::from_secs(30);

/// Budgets of one connection. Used only for messages that cost something.
pub(crate) struct Budgets {
    refused: PiMutex<Budget>,
    unserved: PiMutex<Budget>,
}

impl Budgets {
    pub(crate) fn new(limits: &LaneLimits) -> Self {
        let now = Instant::now();
        Self {
            refused: PiMutex::new(Budget::new(limits.max_refused_requests, now)),
            unserved: PiMutex::new(Budget::new(limits.max_unserved_messages, now)),
        }
    }

    /// Pays for a message. `ended`: number of requests that have ended over the connection; `ends`: the
    /// message is one of those that will. `false`: the budget is exhausted.
    pub(crate) fn pay(&self, message: NotExecuted, ended: u32, ends: bool) -> bool {
        match message {
            NotExecuted::NotAdmitted => false,
            NotExecuted::Refused => self.refused.lock().pay(ended, ends, Instant::now),
            NotExecuted::Elsewhere => self.unserved.lock().pay(ended, ends, Instant::now),
        }
    }
}

/// Why a message occupied a lane although no request was served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NotExecuted {
    /// The request was refused: [`crate::LaneLimits::max_refused_requests`].
    Refused,
    /// The request was refused, and so would be each one of this peer: its connection is closed.
    NotAdmitted,
    /// The peer queried an object's location, or withdrew a request:
    /// [`crate::LaneLimits::max_unserved_messages`].
    Elsewhere,
}

struct Budget {
    limit: u32,
    left: u32,
    /// Number of ended requests that are taken into account.
    ended: u32,
    /// Time up to which the budget has been restored.
    restored: Instant,
}

impl Budget {
    fn new(limit: u32, now: Instant) -> Self {
        Self {
            limit,
            left: limit,
            ended: 0,
            restored: now,
        }
    }

    fn pay(&mut self, ended: u32, ends: bool, now: impl FnOnce() -> Instant) -> bool {
        // Negative while requests wait in a queue.
        let served = ended
            .wrapping_sub(self.ended)
            .cast_signed()
            .max(0)
            .cast_unsigned();
        // This message itself serves nothing.
        self.ended = self.ended.wrapping_add(served).wrapping_add(ends.into());
        self.left = self.left.saturating_add(served).min(self.limit);
        if self.left == 0 {
            self.restore(now());
        }
        let paid = self.left > 0;
        self.left = self.left.saturating_sub(1);
        paid
    }

    #[cold]
    fn restore(&mut self, now: Instant) {
        let each = RESTORED_IN / self.limit.max(1);
        let elapsed = now.saturating_duration_since(self.restored);
        let due = u32::try_from(elapsed.as_nanos() / each.as_nanos()).unwrap_or(u32::MAX);
        self.left = due.min(self.limit);
        self.restored = if due >= self.limit {
            now
        } else {
            self.restored + each * due
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_costs_one_and_each_served_request_restores_one() {
        let begin = Instant::now();
        let mut budget = Budget::new(2, begin);
        let mut pay = |ended, ends| budget.pay(ended, ends, || begin);
        assert!(pay(0, true), "a refused request");
        assert!(pay(1, true), "another one, which is not a served one");
        assert!(!pay(2, false));
        // Three requests served: not more than the limit is restored.
        assert!(pay(5, false) && pay(5, false));
        assert!(!pay(5, false));
    }

    #[test]
    fn time_restores_the_budget() {
        let begin = Instant::now();
        let mut budget = Budget::new(30, begin);
        let mut pay = |seconds| budget.pay(0, false, || begin + Duration::from_secs_f64(seconds));
        assert_eq!((0..100).filter(|_| pay(0.0)).count(), 30);
        assert!(!pay(0.9));
        assert!(
            pay(1.8) && !pay(1.9),
            "one each second, however often it is requested"
        );
        assert!(pay(2.1) && !pay(2.1));
        assert_eq!((0..100).filter(|_| pay(1000.0)).count(), 30);
    }

    #[test]
    fn the_count_of_requests_may_wrap_around() {
        let begin = Instant::now();
        let mut budget = Budget::new(1, begin);
        budget.ended = u32::MAX;
        assert!(budget.pay(u32::MAX, false, || begin));
        assert!(!budget.pay(u32::MAX, false, || begin));
        assert!(budget.pay(0, false, || begin), "one was served");
    }

    #[test]
    fn without_a_budget_nothing_is_paid() {
        let begin = Instant::now();
        assert!(!Budget::new(0, begin).pay(7, false, || begin + RESTORED_IN));
    }
}
