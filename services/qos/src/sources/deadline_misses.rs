//! Missed deadlines of a dispatcher.

use punctual_dispatch::LevelStatistics;

use crate::Condition;

/// Source of a condition that is the share of missed deadlines, 0 to 1: of the commands that ended since the
/// last sample, those that ended late, were cancelled as hopeless, or gave way to newer ones.
///
/// ```
/// use punctual_dispatch::{Command, Dispatcher, Level};
/// use punctual_qos::{Condition, DeadlineMisses};
///
/// let dispatcher: Dispatcher<Box<dyn Command>> = Dispatcher::builder().level(Level::new(0)).build()?;
/// let condition = Condition::new("missed_share");
/// let mut misses = DeadlineMisses::new(&condition);
/// // Also `ScheduledDispatcher::statistics`, which contains levels that were removed.
/// misses.sample(&dispatcher.statistics());
/// assert_eq!(condition.value(), None, "nothing has ended");
/// # Ok::<(), punctual_dispatch::DispatchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeadlineMisses {
    condition: Condition,
    /// Missed ones, and all that had ended at the last sample.
    before: (u64, u64),
}

impl DeadlineMisses {
    /// Counts from the start of the dispatcher.
    pub fn new(condition: &Condition) -> Self {
        Self {
            condition: condition.clone(),
            before: (0, 0),
        }
    }

    /// Sets the condition to the share since the last sample; if nothing has ended, it stays. The statistics
    /// are those of the levels that count, the same ones each time.
    pub fn sample(&mut self, levels: &[LevelStatistics]) {
        let not_executed =
            |level: &LevelStatistics| level.cancelled_before + level.cancelled_at_checkpoint + level.dropped;
        let missed: u64 = levels.iter().map(|level| level.late + not_executed(level)).sum();
        let ended = |level: &LevelStatistics| level.executed + level.panicked + not_executed(level);
        let ended: u64 = levels.iter().map(ended).sum();
        let (before_missed, before_ended) = std::mem::replace(&mut self.before, (missed, ended));
        if ended > before_ended {
            let missed = missed.saturating_sub(before_missed) as f64;
            self.condition.set(missed / (ended - before_ended) as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_share_of_what_ended_since_the_one_before() {
        let condition = Condition::new("missed_share");
        let mut misses = DeadlineMisses::new(&condition);
        let mut levels = [LevelStatistics::default(); 2];
        misses.sample(&levels);
        assert_eq!(condition.value(), None);
        levels[0].executed = 6;
        levels[0].late = 1;
        levels[1].cancelled_before = 1;
        levels[1].cancelled_at_checkpoint = 1;
        misses.sample(&levels);
        assert_eq!(condition.value(), Some(3.0 / 8.0));
        misses.sample(&levels);
        assert_eq!(condition.value(), Some(3.0 / 8.0), "nothing is known");
        levels[0].executed = 8;
        levels[1].panicked = 1;
        levels[1].dropped = 1;
        misses.sample(&levels);
        assert_eq!(condition.value(), Some(0.25));
        levels[0].executed = 9;
        misses.sample(&levels);
        assert_eq!(condition.value(), Some(0.0));
    }
}
