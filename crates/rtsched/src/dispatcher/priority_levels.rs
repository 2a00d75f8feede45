//! Native priorities in the order of eligibilities.

use std::ops::RangeInclusive;

use punctual_types::NativePriority;

/// Native priorities for eligibilities: [`Mechanism::OsPriorities`](super::Mechanism::OsPriorities).
///
/// A new eligibility gets the middle of the gap between its neighbours, so that the others keep their
/// priorities. Without a gap, all are spread anew. With more eligibilities than priorities, a new one shares
/// the level of the next lower one until it changes. A decision takes O(log n) comparisons in at most 99
/// levels, and no allocation.
pub(super) struct PriorityLevels {
    range: RangeInclusive<i16>,
    /// Sorted by eligibility; priorities rise strictly.
    levels: Vec<Level>,
}

#[derive(Clone, Copy)]
struct Level {
    eligibility: i64,
    native: i16,
    threads: u32,
}

/// Level of a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Placement {
    /// Key of the level, for [`PriorityLevels::leave`].
    pub(super) level: i64,
    pub(super) native: NativePriority,
    /// Whether the priorities of other levels have changed.
    pub(super) respread: bool,
}

impl PriorityLevels {
    pub(super) fn new(range: RangeInclusive<i16>) -> Self {
        let room = range.clone().count();
        Self {
            range,
            levels: Vec::with_capacity(room),
        }
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
    }

    /// Adds a thread of this eligibility.
    pub(super) fn enter(&mut self, eligibility: i64) -> Placement {
        let at = match self.find(eligibility) {
            Ok(at) => {
                self.levels[at].threads += 1;
                return self.placement(at, false);
            }
            Err(at) => at,
        };
        if self.levels.len() == self.range.clone().count() {
            let shared = at.saturating_sub(1);
            self.levels[shared].threads += 1;
            return self.placement(shared, false);
        }
        let below = at
            .checked_sub(1)
            .map_or(self.range.start() - 1, |below| self.levels[below].native);
        let above = self
            .levels
            .get(at)
            .map_or(self.range.end() + 1, |above| above.native);
        let level = Level {
            eligibility,
            native: below + (above - below) / 2,
            threads: 1,
        };
        self.levels.insert(at, level);
        let respread = above - below < 2;
        if respread {
            self.spread();
        }
        self.placement(at, respread)
    }

    /// Removes a thread from this level.
    pub(super) fn leave(&mut self, level: i64) {
        let Ok(at) = self.find(level) else {
            return;
        };
        self.levels[at].threads -= 1;
        if self.levels[at].threads == 0 {
            self.levels.remove(at);
        }
    }

    /// Native priority of this level.
    pub(super) fn native(&self, level: i64) -> NativePriority {
        let at = self.find(level).unwrap_or_else(|at| at.saturating_sub(1));
        NativePriority(
            self.levels
                .get(at)
                .map_or(*self.range.start(), |level| level.native),
        )
    }

    fn find(&self, eligibility: i64) -> Result<usize, usize> {
        self.levels
            .binary_search_by_key(&eligibility, |level| level.eligibility)
    }

    fn placement(&self, at: usize, respread: bool) -> Placement {
        let Level {
            eligibility, native, ..
        } = self.levels[at];
        Placement {
            level: eligibility,
            native: NativePriority(native),
            respread,
        }
    }

    fn spread(&mut self) {
        let room = i32::from(self.range.end() - self.range.start()) + 1;
        let count = self.levels.len() as i32;
        for (number, level) in self.levels.iter_mut().enumerate() {
            let offset = (2 * number as i32 + 1) * room / (2 * count);
            level.native = self.range.start() + offset as i16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn natives(levels: &PriorityLevels, eligibilities: impl IntoIterator<Item = i64>) -> Vec<i16> {
        eligibilities
            .into_iter()
            .map(|eligibility| levels.native(eligibility).0)
            .collect()
    }

    #[test]
    fn priorities_are_in_the_order_of_eligibilities() {
        let mut levels = PriorityLevels::new(1..=99);
        let arrivals = [5, 900, -3, 7, i64::MAX, 6, i64::MIN, 0, 8, 901];
        for eligibility in arrivals {
            levels.enter(eligibility);
        }
        let mut sorted = arrivals;
        sorted.sort_unstable();
        assert!(natives(&levels, sorted).is_sorted_by(|lower, higher| lower < higher));
    }

    #[test]
    fn a_new_eligibility_seldom_moves_others() {
        // Rising eligibilities: each halves the gap at the top.
        let mut levels = PriorityLevels::new(1..=99);
        let respread = (0..16).filter(|number| levels.enter(*number).respread).count();
        assert!(respread < 8, "{respread}");
        let natives: Vec<i16> = (0..16).map(|number| levels.native(number).0).collect();
        assert!(
            natives.is_sorted_by(|lower, higher| lower < higher),
            "{natives:?}"
        );
    }

    #[test]
    fn order_holds_with_more_eligibilities_than_priorities() {
        let mut levels = PriorityLevels::new(10..=12);
        let mut placed: Vec<(i64, i64)> = [1, 3, 5, 4, 2, 0, 9]
            .map(|eligibility| (eligibility, levels.enter(eligibility).level))
            .into();
        placed.sort_unstable();
        let natives: Vec<i16> = placed.iter().map(|(_, level)| levels.native(*level).0).collect();
        assert!(natives.is_sorted(), "{natives:?}");
        assert!(natives.iter().all(|native| (10..=12).contains(native)));
        for (_, level) in placed {
            levels.leave(level);
        }
        assert!(levels.levels.is_empty());
    }

    #[test]
    fn empty_levels_are_reused() {
        let mut levels = PriorityLevels::new(1..=3);
        for round in 0..100 {
            let placed = levels.enter(round);
            assert_eq!((placed.native.0, placed.respread), (2, false));
            levels.leave(round);
        }
    }
}
