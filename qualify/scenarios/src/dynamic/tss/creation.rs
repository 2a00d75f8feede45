//! Creation of keys: [Gill 2004] table 3.

use punctual_harness::{
    Claim, Outcome, Row,
    statistics::{LinearFit, median},
};
use punctual_rtsched::storage::StorageKey;
use punctual_system::PosixKey;
use serde::{Deserialize, Serialize};

use super::{KEYS, POSIX_KEYS, PRIORITY, SOURCE, table::Table};
use crate::{
    error::Error,
    os::{Job, fifo, now_ns, run},
};

/// The kind of keys.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Maker {
    /// Punctual's keys, for the first time in the process: memory is allocated occasionally.
    First,
    /// Punctual's keys, after others have been deleted.
    Again,
    /// `pthread_key_create`.
    Posix,
    /// Keys of a [`Table`], in the place of ours under a control.
    Searched,
}

impl Maker {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "Punctual, the first time",
            Self::Again => "Punctual, again",
            Self::Posix => "POSIX",
            Self::Searched => "a table that is searched",
        }
    }

    pub(super) fn keys(self) -> usize {
        match self {
            Self::First | Self::Again | Self::Searched => KEYS,
            Self::Posix => POSIX_KEYS,
        }
    }
}

/// [Gill 2004] table 3: nanoseconds per existing key, and for the first key.
const PAPER: [(&str, f64, f64); 2] = [
    ("[Gill 2004]: emulated", 2.53, 2_438.0),
    ("[Gill 2004]: native", 1.61, 815.0),
];

/// A pass: keys are created one after the other, each timed, and deleted.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Create {
    pub(super) maker: Maker,
    pub(super) keys: usize,
}

impl Job for Create {
    const NAME: &'static str = "create";
    /// The time of each creation, in nanoseconds, including readings of the clock.
    type Reply = Vec<u64>;

    fn run(self) -> Result<Vec<u64>, Error> {
        create(self.maker, self.keys)
    }
}

fn create(maker: Maker, keys: usize) -> Result<Vec<u64>, Error> {
    run(fifo("makes-keys", PRIORITY), move || match maker {
        Maker::First | Maker::Again => {
            let (keys, ns) = timed(keys, || StorageKey::new().map_err(Error::from))?;
            // In reverse order, so that the next pass gets the same slots in the same order.
            for key in keys.into_iter().rev() {
                key.delete()?;
            }
            Ok(ns)
        }
        Maker::Searched => {
            let table = Table::with_room_for(keys);
            timed(keys, || Ok(table.create())).map(|(_, ns)| ns)
        }
        Maker::Posix => timed(keys, || PosixKey::new().map_err(Error::from)).map(|(_, ns)| ns),
    })?
}

fn timed<K>(keys: usize, mut make: impl FnMut() -> Result<K, Error>) -> Result<(Vec<K>, Vec<u64>), Error> {
    let mut made = Vec::with_capacity(keys);
    let mut ns = vec![0; keys];
    for place in &mut ns {
        let began = now_ns();
        let key = make();
        *place = now_ns() - began;
        made.push(key?);
    }
    Ok((made, ns))
}

/// The times of creation, by pass.
pub(super) struct Creation {
    pub(super) maker: Maker,
    /// Time of each key in nanoseconds, by pass.
    pub(super) passes: Vec<Vec<f64>>,
}

/// Number of keys per point of the figure and of the fitted line.
const GROUP: usize = 50;

impl Creation {
    /// Returns the median of each [`GROUP`] keys over all passes, at the number of existing keys.
    pub(super) fn curve(&self) -> Vec<(f64, f64)> {
        let starts = (0..self.maker.keys()).step_by(GROUP);
        let point = |start: usize| {
            let cost = self.median_of(start..start + GROUP)?;
            Some(((start + GROUP / 2) as f64, cost))
        };
        starts.filter_map(point).collect()
    }

    fn median_of(&self, keys: std::ops::Range<usize>) -> Option<f64> {
        let passes = self.passes.iter();
        let of_keys = passes.filter_map(|pass| pass.get(keys.clone())).flatten();
        median(&of_keys.copied().collect::<Vec<_>>())
    }

    fn max(&self) -> f64 {
        self.passes.iter().flatten().copied().fold(f64::NAN, f64::max)
    }
}

/// Adds the rows and the claim about the creation of keys.
pub(super) fn evaluate(creations: &[Creation], outcome: &mut Outcome) {
    for creation in creations {
        let fit = LinearFit::of(&creation.curve());
        let row = row(creation.maker.name(), fit.map(|fit| (fit.slope, fit.intercept)))
            .with("keys", creation.maker.keys())
            .with("p50_ns", creation.median_of(0..creation.maker.keys()))
            .with("max_ns", creation.max());
        outcome.row(row);
    }
    for (name, slope, intercept) in PAPER {
        outcome.row(row(name, Some((slope, intercept))).with("keys", 500));
    }
    let [first, ..] = creations else { return };
    let ends = [0..THOUSAND, KEYS - THOUSAND..KEYS].map(|keys| first.median_of(keys));
    let [Some(begin), Some(end)] = ends else { return };
    outcome.claim(Claim::at_most(
        "creation",
        "time to create one of the last thousand of 10,000 keys over one of the first thousand (medians, \
         first creation)",
        SOURCE,
        end / begin,
        FLAT,
    ));
}

const THOUSAND: usize = 1_000;
/// The largest acceptable ratio, with a margin for noise.
const FLAT: f64 = 1.25;

fn row(name: &str, line: Option<(f64, f64)>) -> Row {
    Row::new()
        .with("table", "creation")
        .with("what", name)
        .with("slope_ns_per_key", line.map(|(slope, _)| slope))
        .with("intercept_ns", line.map(|(_, intercept)| intercept))
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    fn outcome_of(first: impl Fn(usize) -> f64) -> Outcome {
        let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::single(0)));
        let pass = (0..KEYS).map(first).collect();
        let creation = Creation {
            maker: Maker::First,
            passes: vec![pass],
        };
        evaluate(&[creation], &mut outcome);
        outcome
    }

    #[test]
    fn a_growing_cost_breaks_the_claim() {
        let outcome = outcome_of(|key| 100.0 + key as f64 / 100.0);
        let row = &outcome.rows()[0];
        assert!(
            (row.number("slope_ns_per_key").unwrap() - 0.01).abs() < 1e-4,
            "{row:?}"
        );
        assert!(
            (row.number("intercept_ns").unwrap() - 100.0).abs() < 1.0,
            "{row:?}"
        );
        assert!(!outcome.claims()[0].holds());
    }

    #[test]
    fn occasional_allocations_do_not_affect_the_line() {
        let outcome = outcome_of(|key| if key % 64 == 0 { 5_000.0 } else { 100.0 });
        let row = &outcome.rows()[0];
        assert_eq!(row.number("slope_ns_per_key"), Some(0.0));
        assert_eq!(row.number("max_ns"), Some(5_000.0));
        assert!(outcome.claims()[0].holds());
    }

    #[test]
    fn keys_are_created_and_deleted() {
        for maker in [Maker::First, Maker::Again, Maker::Posix, Maker::Searched] {
            assert_eq!(create(maker, 200).unwrap().len(), 200);
        }
    }
}
