//! From where to where an axis goes.

use std::ops::Range;

pub(super) struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// A little wider than the values; `None` without any.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = extremes(values)?;
        let span = high - low;
        let margin = if span > 0.0 {
            span * 0.03
        } else {
            (low.abs() * 0.1).max(1.0)
        };
        Some(Self {
            low: low - margin,
            high: high + margin,
        })
    }

    /// From 0, or from the smallest value if it is negative.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = extremes(values)?;
        let (low, high) = (low.min(0.0), high.max(0.0));
        let span = if high > low { high - low } else { 1.0 };
        let below = if low < 0.0 { low - span * 0.05 } else { 0.0 };
        Some(Self {
            low: below,
            high: high + span * 0.05,
        })
    }

    pub(super) fn range(&self) -> Range<f64> {
        self.low..self.high
    }

    /// A value at a tick, with as many decimals as ticks differ in.
    pub(super) fn label(&self, value: f64) -> String {
        let span = self.high - self.low;
        if !(1e-4..1e7).contains(&span) {
            return format!("{value:.1e}");
        }
        // Ticks are at least a twentieth of the axis apart.
        let decimals = (-(span / 20.0).log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.decimals$}");
        let text = if decimals > 0 {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        if text == "-0" {
            "0".to_owned()
        } else {
            text.to_owned()
        }
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |extremes, value| {
        let (low, high) = extremes.unwrap_or((value, value));
        Some((f64::min(low, value), f64::max(high, value)))
    })
}
