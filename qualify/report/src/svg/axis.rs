//! Range, scale and labels of an axis.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

/// Scale of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic. Values must be positive.
    Log,
    /// Shares in percent, below 100, with each further nine at the same distance, so that the slowest calls
    /// are visible.
    Tail,
    /// Names at 0, 1, 2, ….
    Names(Vec<String>),
}

#[derive(Clone, Debug)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Scale {
    /// Returns whether a value can be shown on it.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Linear | Self::Names(_) => true,
                Self::Log => value > 0.0,
                Self::Tail => (0.0..100.0).contains(&value),
            }
    }

    /// Returns the position of a value, in a unit of the scale.
    fn position(&self, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Names(_) => value,
            Self::Log => value.log10(),
            Self::Tail => -(1.0 - value / 100.0).log10(),
        }
    }
}

impl Axis {
    /// Creates a horizontal axis slightly wider than the values; `None` without values.
    pub(super) fn along(scale: &Scale, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = extremes(values)?;
        let (low, high) = match scale {
            Scale::Linear => {
                let span = high - low;
                let margin = if span > 0.0 {
                    span * 0.03
                } else {
                    (low.abs() * 0.1).max(1.0)
                };
                (low - margin, high + margin)
            }
            Scale::Log => wider_log(low, high),
            Scale::Tail => (0.0, 100.0 - (100.0 - high.max(90.0)) * 0.8),
            Scale::Names(names) => (-0.5, names.len().max(1) as f64 - 0.5),
        };
        Some(Self::new(scale, low, high))
    }

    /// Creates a vertical axis from 0, or from the smallest value if it is negative; `None` without values.
    pub(super) fn upwards(scale: &Scale, values: impl Iterator<Item = f64>) -> Option<Self> {
        if *scale != Scale::Linear {
            return Self::along(scale, values);
        }
        let (low, high) = extremes(values)?;
        let (low, high) = (low.min(0.0), high.max(0.0));
        let span = if high > low { high - low } else { 1.0 };
        let below = if low < 0.0 { low - span * 0.05 } else { 0.0 };
        Some(Self::new(scale, below, high + span * 0.05))
    }

    fn new(scale: &Scale, low: f64, high: f64) -> Self {
        Self {
            scale: scale.clone(),
            low,
            high,
        }
    }

    /// Returns the value at the base of bars.
    pub(super) fn floor(&self) -> f64 {
        match self.scale {
            Scale::Linear => 0.0,
            Scale::Log | Scale::Tail | Scale::Names(_) => self.low,
        }
    }

    /// Returns the label of a tick, with the necessary number of decimals.
    pub(super) fn label(&self, value: f64) -> String {
        match &self.scale {
            Scale::Names(names) => names
                .get(value.round().max(0.0) as usize)
                .cloned()
                .unwrap_or_default(),
            Scale::Log if (1e-3..1e6).contains(&value) => without_zeros(&format!("{value:.4}")),
            Scale::Log => format!("{value:.0e}"),
            Scale::Tail => without_zeros(&format!("{value:.8}")),
            Scale::Linear => self.linear_label(value),
        }
    }

    fn linear_label(&self, value: f64) -> String {
        let span = self.high - self.low;
        if !(1e-4..1e7).contains(&span) {
            return format!("{value:.1e}");
        }
        // The distance of ticks is at least a twentieth of the axis.
        let decimals = (-(span / 20.0).log10().floor()).clamp(0.0, 6.0) as usize;
        let text = without_zeros(&format!("{value:.decimals$}"));
        if text == "-0" { "0".to_owned() } else { text }
    }

    fn ticks(&self, most: usize) -> Vec<f64> {
        let within = |value: &f64| (self.low..=self.high).contains(value);
        match &self.scale {
            Scale::Linear => RangedCoordf64::from(self.low..self.high).key_points(most),
            Scale::Log => log_ticks(self.low, self.high)
                .into_iter()
                .filter(within)
                .collect(),
            Scale::Tail => {
                let nines = (1..=9).map(|nines| 100.0 - 100.0 / 10f64.powi(nines));
                [0.0, 50.0].into_iter().chain(nines).filter(within).collect()
            }
            Scale::Names(names) => (0..names.len()).map(|place| place as f64).collect(),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let [low, high, at] = [self.low, self.high, *value].map(|value| self.scale.position(value));
        let share = ((at - low) / (high - low)).clamp(-1.0, 2.0);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.ticks(hint.max_num_points())
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

/// Widens a range to at least one decade plus a tenth of a decade on both sides.
fn wider_log(low: f64, high: f64) -> (f64, f64) {
    let (from, to) = (low.log10(), high.log10());
    let missing = (1.0 - (to - from)).max(0.0) / 2.0;
    (10f64.powf(from - missing - 0.1), 10f64.powf(to + missing + 0.1))
}

/// Returns powers of ten, with 2 and 5 between them on a short axis, and not all of them on a long one.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let between: &[f64] = if to - from <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = usize::try_from((to - from) / 8).unwrap_or(0) + 1;
    (from..=to)
        .step_by(step)
        .flat_map(|power| between.iter().map(move |digit| digit * 10f64.powi(power)))
        .collect()
}

fn without_zeros(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |extremes, value| {
        let (low, high) = extremes.unwrap_or((value, value));
        Some((f64::min(low, value), f64::max(high, value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_necessary_decimals() {
        let labels = |values: [f64; 2], tick: f64| {
            let axis = Axis::along(&Scale::Linear, values.into_iter()).unwrap();
            axis.label(tick)
        };
        assert_eq!(labels([30.0, 80.0], 40.0), "40");
        assert_eq!(labels([0.0, 2.0], 0.5), "0.5");
        assert_eq!(labels([1.0, 1.02], 1.005), "1.005");
        assert_eq!(labels([-1.0, 1.0], -0.000_01), "0");
    }

    #[test]
    fn decades_and_nines_are_evenly_spaced() {
        let axis = Axis::along(&Scale::Log, [1.0, 10_000.0].into_iter()).unwrap();
        let at = |value: f64| axis.map(&value, (0, 10_000));
        assert!((at(100.0) - at(10.0) - (at(1000.0) - at(100.0))).abs() <= 1);
        assert_eq!(axis.ticks(10), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);

        let axis = Axis::along(&Scale::Tail, [50.0, 99.99].into_iter()).unwrap();
        let at = |value: f64| axis.map(&value, (0, 10_000));
        assert!((at(99.0) - at(90.0) - (at(99.9) - at(99.0))).abs() <= 1);
        let labels: Vec<_> = axis.ticks(10).into_iter().map(|tick| axis.label(tick)).collect();
        assert_eq!(labels, ["0", "50", "90", "99", "99.9", "99.99"]);
    }

    #[test]
    fn a_short_axis_of_decades_has_ticks_between() {
        let axis = Axis::along(&Scale::Log, [3.0, 4.0].into_iter()).unwrap();
        assert!(axis.ticks(10).len() >= 3, "{:?}", axis.ticks(10));
        assert_eq!(axis.label(0.05), "0.05");
        assert_eq!(axis.label(2000.0), "2000");
    }

    #[test]
    fn names_are_at_whole_numbers() {
        let scale = Scale::Names(vec!["none".into(), "inherit".into()]);
        let axis = Axis::along(&scale, [0.0].into_iter()).unwrap();
        assert_eq!(axis.range(), -0.5..1.5);
        assert_eq!(axis.label(1.0), "inherit");
    }

    #[test]
    fn values_outside_a_scale_are_not_shown() {
        assert!(!Scale::Log.shows(0.0) && Scale::Linear.shows(0.0));
        assert!(!Scale::Tail.shows(100.0) && Scale::Tail.shows(99.999));
        assert!(!Scale::Linear.shows(f64::NAN));
    }
}
