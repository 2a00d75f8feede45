//! Regions of operation.

use std::ops::RangeInclusive;

use crate::Condition;

/// A part of the values that conditions may have, in which a system operates in one way.
///
/// ```
/// use punctual_qos::{Condition, Region};
///
/// let bandwidth = Condition::new("bandwidth_kbit_s");
/// let narrow = Region::new("narrow").within(&bandwidth, 0.0..=64.0);
/// assert!(!narrow.contains_present(), "nothing was measured yet");
/// bandwidth.set(28.8);
/// assert!(narrow.contains_present());
/// ```
#[derive(Clone, Debug)]
pub struct Region {
    pub(crate) name: String,
    bounds: Vec<(Condition, RangeInclusive<f64>)>,
}

impl Region {
    /// Creates a region that contains all values.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            bounds: Vec::new(),
        }
    }

    /// Bounds it by a condition: the value lies in the range. A condition that has not been measured does
    /// not.
    pub fn within(mut self, condition: &Condition, range: RangeInclusive<f64>) -> Self {
        self.bounds.push((condition.clone(), range));
        self
    }

    /// Bounds it by a condition: the value is at most this.
    pub fn at_most(self, condition: &Condition, limit: f64) -> Self {
        self.within(condition, f64::NEG_INFINITY..=limit)
    }

    /// Bounds it by a condition: the value is at least this.
    pub fn at_least(self, condition: &Condition, limit: f64) -> Self {
        self.within(condition, limit..=f64::INFINITY)
    }

    /// Returns whether the present values of all conditions lie in it.
    pub fn contains_present(&self) -> bool {
        let mut bounds = self.bounds.iter();
        bounds.all(|(condition, range)| condition.value().is_some_and(|value| range.contains(&value)))
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.bounds.iter().map(|(condition, _)| condition)
    }

    pub(crate) fn is_bounded(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// Returns the condition of a bound that no value meets.
    pub(crate) fn impossible(&self) -> Option<&Condition> {
        let mut bounds = self.bounds.iter();
        // Also if an end is not a number.
        let found = bounds.find(|(_, range)| range.is_empty());
        found.map(|(condition, _)| condition)
    }
}
