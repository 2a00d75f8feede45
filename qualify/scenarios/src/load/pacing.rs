//! The pauses between a client's calls.

use std::time::Duration;

/// The pause after each call, such that there is one call per period, as in MT_Cubit.
///
/// The pause is the period minus a running mean of the latencies, so a late call does not shorten the
/// following pauses much.
pub(super) struct Pacing {
    period: Duration,
    /// 0.4 × the last latency + 0.6 × the previous value.
    delta: Duration,
}

impl Pacing {
    /// Creates the pacing of this many calls per second, more than 0.
    pub(super) fn of_rate(hz: f64) -> Self {
        Self {
            period: Duration::from_secs_f64(1.0 / hz),
            delta: Duration::ZERO,
        }
    }

    /// Returns the pause after a call with this latency.
    pub(super) fn pause(&mut self, latency: Duration) -> Duration {
        self.delta = latency.mul_f64(0.4) + self.delta.mul_f64(0.6);
        self.period.saturating_sub(self.delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_that_of_mt_cubit() {
        let ms = Duration::from_millis;
        let mut pacing = Pacing::of_rate(20.0);
        assert_eq!(pacing.pause(ms(10)), ms(46));
        assert_eq!(
            pacing.pause(ms(20)),
            Duration::from_micros(50_000 - 8_000 - 2_400)
        );
        assert_eq!(
            pacing.pause(ms(1000)),
            Duration::ZERO,
            "a pause is never negative"
        );
    }
}
