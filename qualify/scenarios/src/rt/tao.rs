//! Shares of deadlines that TAO 2.2.2 met in its own Thread_Pool test, on a virtual machine with two CPUs.
//! The load was not calibrated as ours is; it is given as a multiple of the capacity.

use punctual_harness::Row;
use punctual_report::{Figure, Table};

use crate::load::{Counting, Importance, PhaseResult};

/// TAO's results with one pool at one load.
pub(super) struct Figures {
    pool: &'static str,
    /// Multiple of the capacity.
    load: f64,
    best_effort: usize,
    /// Shares of deadlines met at high, medium and low priority, in percent.
    met: [f64; 3],
}

pub(super) const NO_LANES: Figures = Figures {
    pool: "without lanes",
    load: 1.48,
    best_effort: 0,
    met: [46.0, 69.0, 99.0],
};
pub(super) const LANES: Figures = Figures {
    pool: "lanes",
    load: 1.48,
    best_effort: 0,
    met: [96.0, 29.0, 1.0],
};
pub(super) const DECREASING: Figures = Figures {
    pool: "lanes, decreasing rates",
    load: 1.48,
    best_effort: 0,
    met: [99.0, 95.0, 21.0],
};
pub(super) const NO_LANES_BEST_EFFORT: Figures = Figures {
    pool: "without lanes",
    load: 0.8,
    best_effort: 5,
    met: [78.0, 97.0, 40.0],
};
pub(super) const LANES_BEST_EFFORT: Figures = Figures {
    pool: "lanes",
    load: 0.8,
    best_effort: 5,
    met: [97.0, 96.0, 95.0],
};

/// TAO's load and number of threads on our axes.
pub(super) const BEST_EFFORT_WORK: u32 = 24;
pub(super) const BEST_EFFORT_THREADS: usize = 5;
/// Our work that is nearest to 1.48 × the capacity.
pub(super) const OVERLOAD_WORK: u32 = 45;

impl Figures {
    /// Returns a table of TAO's shares and those of our phase with the nearest load.
    pub(super) fn compared<K>(&self, ours: Option<&PhaseResult<K>>, work: u32) -> Table {
        let rows = Importance::ALL.iter().zip(self.met).map(|(importance, met)| {
            let client = ours.map(|phase| phase.client(importance.name()));
            let share = client.map(|client| client.deadlines_met(Counting::Start).raw);
            Row::new()
                .with("priority", importance.name())
                .with("ours", share)
                .with("tao", met)
        });
        let rows: Vec<Row> = rows.collect();
        let best_effort = match self.best_effort {
            0 => String::new(),
            threads => format!(", {threads} best-effort threads"),
        };
        let ours = format!("here, {:.2} × capacity (%)", f64::from(work) / 30.0);
        let tao = format!("TAO 2.2.2, {}, {:.2} × capacity (%)", self.pool, self.load);
        Table::of(rows.iter().map(Row::as_map))
            .columns(&[("priority", "priority"), ("ours", &ours), ("tao", &tao)])
            .title(format!("Deadlines met, compared with TAO 2.2.2{best_effort}"))
    }

    /// Returns TAO's throughput as points of a figure over work.
    pub(super) fn points(&self, rate: impl Fn(Importance) -> u32) -> [(String, (f64, f64)); 3] {
        let [high, medium, low] = self.met;
        [
            (Importance::High, high),
            (Importance::Medium, medium),
            (Importance::Low, low),
        ]
        .map(|(importance, met)| {
            let rate = rate(importance);
            let point = (self.load * 30.0, f64::from(rate) * met / 100.0);
            (format!("TAO 2.2.2, {rate} Hz"), point)
        })
    }

    /// Adds these points to a figure over work.
    pub(super) fn add_to(&self, figure: Figure, rate: impl Fn(Importance) -> u32) -> Figure {
        let points = self.points(rate).into_iter();
        points.fold(figure, |figure, (name, point)| figure.published(name, [point]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_scaled_to_our_axes() {
        let points = LANES.points(Importance::rate);
        let (name, (x, y)) = &points[0];
        assert_eq!(name, "TAO 2.2.2, 75 Hz");
        assert!((x - 44.4).abs() < 1e-9 && (y - 72.0).abs() < 1e-9);
    }

    #[test]
    fn the_table_shows_tao_without_our_results() {
        let table = NO_LANES.compared::<()>(None, 45).to_text();
        assert!(table.contains("46") && table.contains("1.48"), "{table}");
    }
}
