//! The phase of the kernel's clock ticks within their period.

use punctual_harness::statistics;

use super::samples::Sample;

/// The period and phase of clock ticks, which identify them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TickClock {
    period_ns: u64,
    phase_ns: u64,
}

impl TickClock {
    /// A tick may appear this much before its nominal time, which is a median.
    const EARLY_NS: i64 = 100_000;

    /// Determines the phase from the start times of known ticks, in nanoseconds of the monotonic clock.
    /// `None` without any.
    pub(super) fn of(begun: &[u64], tick_hz: u32) -> Option<Self> {
        let period_ns = 1_000_000_000 / u64::from(tick_hz.max(1));
        let mut clock = Self {
            period_ns,
            phase_ns: begun.first()? % period_ns,
        };
        // Twice, because half of the offsets wrap around if the first tick is far off.
        for _ in 0..2 {
            let offsets: Vec<f64> = begun
                .iter()
                .map(|begin| -clock.until_tick(*begin) as f64)
                .collect();
            let median = statistics::median(&offsets)?.round() as i64;
            clock.phase_ns = clock
                .phase_ns
                .checked_add_signed(median + period_ns.cast_signed())?
                % period_ns;
        }
        Some(clock)
    }

    /// Returns the clock of times half a period after the ticks.
    pub(super) fn shifted(self) -> Self {
        Self {
            phase_ns: (self.phase_ns + self.period_ns / 2) % self.period_ns,
            ..self
        }
    }

    /// Returns the time to the nearest tick, negative if that is past.
    fn until_tick(self, time_ns: u64) -> i64 {
        let ahead = (self.phase_ns + self.period_ns - time_ns % self.period_ns) % self.period_ns;
        if ahead > self.period_ns / 2 {
            ahead.cast_signed() - self.period_ns.cast_signed()
        } else {
            ahead.cast_signed()
        }
    }

    /// Returns whether a tick was due within the gap, or slightly before it.
    pub(super) fn falls_into(self, gap: Sample) -> bool {
        let until = self.until_tick(gap.0);
        gap.1 >= self.period_ns || (-Self::EARLY_NS..=gap.1.cast_signed()).contains(&until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_identified_by_their_phase() {
        const PERIOD: u64 = 4_000_000;
        // 1 µs before the period's end; sometimes late, once very late.
        let late = [
            (1, 0),
            (2, 700),
            (5, 0),
            (9, 1_500_000),
            (12, 300),
            (20, 0),
            (21, 0),
        ];
        let begun = late.map(|(number, late)| number * PERIOD - 1_000 + late);
        let clock = TickClock::of(&begun, 250).unwrap();
        assert_eq!(clock.period_ns, PERIOD);
        assert!(clock.until_tick(PERIOD - 1_000).abs() <= 300, "{clock:?}");
        for (gap, is_tick) in [
            (Sample(99 * PERIOD - 900, 9_000), true),
            (Sample(99 * PERIOD + 50_000, 2_000), true),
            (Sample(99 * PERIOD - 30_000, 60_000), true),
            (Sample(99 * PERIOD - 30_000, 9_000), false),
            (Sample(99 * PERIOD + 2_000_000, 9_000), false),
            (Sample(99 * PERIOD + 1_000_000, 5_000_000), true),
        ] {
            assert_eq!(clock.falls_into(gap), is_tick, "{gap:?}");
        }
        let between = Sample(99 * PERIOD + PERIOD / 2 - 2_000, 9_000);
        assert!(clock.shifted().falls_into(between) && !clock.falls_into(between));
    }

    #[test]
    fn without_ticks_there_is_no_clock() {
        assert_eq!(TickClock::of(&[], 250), None);
    }
}
