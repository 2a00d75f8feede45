//! What TAO 2.2.2 made of its deadlines in its own test of thread pools, on a virtual machine with two CPUs as ours.
//! Source: issue 4. The load was not calibrated as ours: it is given as a multiple of the capacity.

use punctual_harness::Row;
use punctual_report::{Figure, Table};

use crate::load::{Counting, Importance, Played};

/// Its pools at a multiple of the capacity.
pub(super) struct Figures {
    pool: &'static str,
    /// Of the capacity.
    load: f64,
    best_effort: usize,
    /// Shares of deadlines at the high, medium and low priority, in percent.
    made: [f64; 3],
}

pub(super) const NO_LANES: Figures = Figures {
    pool: "no lanes",
    load: 1.48,
    best_effort: 0,
    made: [46.0, 69.0, 99.0],
};
pub(super) const LANES: Figures = Figures {
    pool: "lanes",
    load: 1.48,
    best_effort: 0,
    made: [96.0, 29.0, 1.0],
};
pub(super) const DECREASING: Figures = Figures {
    pool: "lanes, decreasing rates",
    load: 1.48,
    best_effort: 0,
    made: [99.0, 95.0, 21.0],
};
pub(super) const NO_LANES_BEST_EFFORT: Figures = Figures {
    pool: "no lanes",
    load: 0.8,
    best_effort: 5,
    made: [78.0, 97.0, 40.0],
};
pub(super) const LANES_BEST_EFFORT: Figures = Figures {
    pool: "lanes",
    load: 0.8,
    best_effort: 5,
    made: [97.0, 96.0, 95.0],
};

/// Where its load and number of threads are on our axes.
pub(super) const BEST_EFFORT_WORK: u32 = 24;
pub(super) const BEST_EFFORT_THREADS: usize = 5;
/// The work of ours that comes nearest to 1.48 × the capacity.
pub(super) const OVERLOAD_WORK: u32 = 45;

impl Figures {
    /// Its shares beside those of one of our phases, whose load is the nearest that was measured.
    pub(super) fn beside<K>(&self, ours: Option<&Played<K>>, work: u32) -> Table {
        let rows = Importance::ALL.iter().zip(self.made).map(|(importance, made)| {
            let client = ours.map(|phase| phase.client(importance.name()));
            let share = client.map(|client| client.made(Counting::Start).raw);
            Row::new()
                .with("priority", importance.name())
                .with("ours", share)
                .with("tao", made)
        });
        let rows: Vec<Row> = rows.collect();
        let best_effort = match self.best_effort {
            0 => String::new(),
            threads => format!(", {threads} best-effort threads"),
        };
        let ours = format!("here, {:.2} × capacity (%)", f64::from(work) / 30.0);
        let theirs = format!("TAO 2.2.2, {}, {:.2} × capacity (%)", self.pool, self.load);
        Table::of(rows.iter().map(Row::as_map))
            .columns(&[("priority", "priority"), ("ours", &ours), ("tao", &theirs)])
            .title(format!("Deadlines made beside those of TAO 2.2.2{best_effort}"))
    }

    /// Its throughput as points of a figure over work.
    pub(super) fn points(&self, rate: impl Fn(Importance) -> u32) -> [(String, (f64, f64)); 3] {
        let [high, medium, low] = self.made;
        [
            (Importance::High, high),
            (Importance::Medium, medium),
            (Importance::Low, low),
        ]
        .map(|(importance, made)| {
            let rate = rate(importance);
            let point = (self.load * 30.0, f64::from(rate) * made / 100.0);
            (format!("TAO 2.2.2, {rate} Hz"), point)
        })
    }

    /// A figure over work with these points in it.
    pub(super) fn beside_ours(&self, figure: Figure, rate: impl Fn(Importance) -> u32) -> Figure {
        let points = self.points(rate).into_iter();
        points.fold(figure, |figure, (name, point)| figure.published(name, [point]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_where_the_axes_have_them() {
        let points = LANES.points(Importance::rate);
        let (name, (x, y)) = &points[0];
        assert_eq!(name, "TAO 2.2.2, 75 Hz");
        assert!((x - 44.4).abs() < 1e-9 && (y - 72.0).abs() < 1e-9);
    }

    #[test]
    fn without_ours_there_is_theirs() {
        let table = NO_LANES.beside::<()>(None, 45).to_text();
        assert!(table.contains("46") && table.contains("1.48"), "{table}");
    }
}
