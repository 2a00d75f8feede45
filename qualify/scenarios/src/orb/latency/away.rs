//! Why a client that calls rarely is slow: its call after a long pause finds an idle CPU and cold caches. The
//! same client alone, at two rates, beside an ordinary thread that only keeps the CPU awake, and beside one
//! that also fills the caches with its own data.

use punctual_harness::{Hole, Outcome, Row};

use super::{super::mt_cubit::keeps_awake, Configuration, HIGH_HZ, Point, columns, contrast};
use crate::load::{Phase, PhaseResult};

/// The client, and the ordinary thread beside it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Alone {
    hz: u32,
    beside: Beside,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Beside {
    Nothing,
    Spinning,
    Evicting,
}

impl Beside {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Spinning => "keeps the CPU awake",
            Self::Evicting => "keeps the CPU awake and fills the caches",
        }
    }
}

/// Seconds of a point, at most.
const LONGEST: f64 = 10.0;

pub(super) fn phases(seconds: f64) -> impl Iterator<Item = Phase<Point>> {
    let beside = [Beside::Nothing, Beside::Spinning, Beside::Evicting];
    let points = beside.map(|beside| (contrast::HZ, beside));
    let points = [(HIGH_HZ, Beside::Nothing)].into_iter().chain(points);
    points.map(move |(hz, beside)| {
        let alone = Alone { hz, beside };
        let mut clients = Configuration::Own.clients(hz, 0, 0);
        match beside {
            Beside::Nothing => {}
            Beside::Spinning => clients.push(keeps_awake(false)),
            Beside::Evicting => clients.push(keeps_awake(true)),
        }
        let title = format!("one client at {hz} Hz; an ordinary thread: {}", beside.name());
        Configuration::Own.phase(Point::Alone(alone), title, seconds.min(LONGEST), clients)
    })
}

pub(super) fn row(phase: &PhaseResult<Point>, holes: &[Hole], outcome: &mut Outcome) {
    let Point::Alone(Alone { hz, beside }) = phase.key else {
        return;
    };
    let row = Row::new()
        .with("kind", "alone")
        .with("asked_hz", f64::from(hz))
        .with("beside", beside.name());
    outcome.row(columns(row, &phase.clients[..1], holes));
}
