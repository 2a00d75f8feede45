use std::time::Duration;

/// How long a client pauses after a call, so that calls come once in each period: what MT_Cubit does.
///
/// The pause is the period less a running mean of the latencies, so one late call does not make the next ones
/// hurry.
pub(super) struct Pacing {
    period: Duration,
    /// 0.4 of the last latency and 0.6 of what it was before.
    delta: Duration,
}

impl Pacing {
    /// For this many calls per second, more than 0.
    pub(super) fn of_rate(hz: f64) -> Self {
        Self {
            period: Duration::from_secs_f64(1.0 / hz),
            delta: Duration::ZERO,
        }
    }

    /// The pause after a call of this latency.
    pub(super) fn pause(&mut self, latency: Duration) -> Duration {
        self.delta = latency.mul_f64(0.4) + self.delta.mul_f64(0.6);
        self.period.saturating_sub(self.delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_original_s_formula() {
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
            "it never waits for less than nothing"
        );
    }
}
