//! Share of processor time that a lane may spend on work that no served request pays for.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// Account of the processor time that a lane has spent on one kind of work: a deferrable server in the terms
/// of scheduling analysis. In any interval t, the work takes at most the burst + t * percent / 100, and the
/// one step that exceeds it.
///
/// Work that has exhausted it waits until a quantum of the burst has been earned: if it continued with every
/// microsecond earned, a thread would wake for each step, and wake-ups cost more than the steps.
pub(crate) struct TimeBudget {
    percent: u32,
    /// Time that may be spent at once after a pause.
    burst: Duration,
    /// Time spent and not yet earned again.
    spent: Duration,
    updated: Instant,
    /// More than the burst was spent, and no quantum has been earned since.
    exhausted: bool,
}

/// Quanta in a burst.
const QUANTA: u32 = 20;

impl TimeBudget {
    /// Budget with this percentage of one processor, from 1 to 100, after a burst.
    pub(crate) fn new(percent: u32, burst: Duration) -> Self {
        Self {
            percent: percent.clamp(1, 100),
            burst,
            spent: Duration::ZERO,
            updated: Instant::now(),
            exhausted: false,
        }
    }

    /// Time until the next step may begin; zero: it may begin now.
    pub(crate) fn wait(&mut self, now: Instant) -> Duration {
        let earned = now.saturating_duration_since(self.updated) * self.percent / 100;
        self.updated = now;
        self.spent = self.spent.saturating_sub(earned);
        self.exhausted |= self.spent > self.burst;
        let quantum = if self.exhausted {
            self.burst / QUANTA
        } else {
            Duration::ZERO
        };
        let excess = (self.spent + quantum).saturating_sub(self.burst);
        self.exhausted &= !excess.is_zero();
        excess * 100 / self.percent
    }

    /// Deducts the cost of a step.
    pub(crate) fn charge(&mut self, cost: Duration) {
        self.spent += cost;
    }

    /// Gives back what was deducted for steps that a served request pays for after all.
    pub(crate) fn refund(&mut self, cost: Duration) {
        self.spent = self.spent.saturating_sub(cost);
    }
}

/// Time that was deducted for a connection since its last served request, in nanoseconds.
#[derive(Default)]
pub(crate) struct UnaccountedTime(AtomicU64);

impl UnaccountedTime {
    pub(crate) fn add(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: Duration = Duration::from_millis(2);
    const STEP: Duration = Duration::from_micros(20);

    /// Numbers of steps and of waits of a peer which never pauses, within this time.
    fn steps_within(budget: &mut TimeBudget, time: Duration) -> (u32, u32) {
        let mut now = budget.updated;
        let end = now + time;
        let (mut steps, mut waits) = (0, 0);
        while now < end {
            match budget.wait(now) {
                Duration::ZERO => {
                    budget.charge(STEP);
                    now += STEP;
                    steps += 1;
                }
                wait => {
                    now += wait;
                    waits += 1;
                }
            }
        }
        (steps, waits)
    }

    #[test]
    fn a_storm_gets_its_percentage_after_a_burst() {
        let mut budget = TimeBudget::new(5, BURST);
        let second = Duration::from_secs(1);
        let (first, _) = steps_within(&mut budget, second);
        let (later, waits) = steps_within(&mut budget, second);
        let burst = (BURST.as_micros() / STEP.as_micros()) as u32;
        assert!((2480..=2520).contains(&later), "5 % in steps of 20 us: {later}");
        assert!((later + burst).abs_diff(first) <= 10, "{first}, {later}");
        // A quantum is five steps long, and the sixth one exceeds it.
        assert!(
            (later / 6..=later / 5 + 1).contains(&waits),
            "{waits} for {later}"
        );
    }

    #[test]
    fn a_pause_restores_the_burst_and_no_more() {
        let mut budget = TimeBudget::new(50, BURST);
        steps_within(&mut budget, Duration::from_millis(100));
        let later = budget.updated + Duration::from_secs(3600);
        assert_eq!(budget.wait(later), Duration::ZERO);
        budget.charge(2 * BURST);
        let quantum = BURST / QUANTA;
        assert_eq!(
            budget.wait(later),
            2 * (BURST + quantum),
            "the cost less the burst, and a quantum, at 50 %"
        );
        budget.refund(BURST + quantum);
        assert_eq!(budget.wait(later), Duration::ZERO);
        budget.refund(2 * BURST);
        budget.charge(BURST);
        assert_eq!(
            budget.wait(later),
            Duration::ZERO,
            "no refund makes the burst longer"
        );
        budget.charge(STEP);
        assert!(!budget.wait(later).is_zero());
    }
}
