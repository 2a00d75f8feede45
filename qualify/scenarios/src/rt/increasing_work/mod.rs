//! `rt.4`, `rt.5` and `rt.6`: the three clients with rates while the work of each call grows. SCHED_FIFO, one CPU.

mod classic;
mod decreasing;
mod lanes;

pub(super) use self::{
    classic::BENCHMARK as CLASSIC, decreasing::BENCHMARK as DECREASING, lanes::BENCHMARK as LANES,
};

use punctual_harness::{Outcome, Row};

use super::point_seconds;
use crate::{
    length::Length,
    load::{Counting, Importance, Phase, Played, PoolSpec, ServerSpec, Share},
};

/// Which works are measured.
pub(super) struct Works {
    pub(super) quick: &'static [u32],
    pub(super) full: &'static [u32],
    /// Those that a claim about a 25 Hz client stands on.
    pub(super) claimed: fn(u32) -> bool,
}

impl Works {
    /// A phase for each of them on one stage, for one of its server's pools and clients with these rates.
    pub(super) fn phases(
        &self,
        length: Length,
        title: &str,
        (stage, pool): (usize, usize),
        rate: fn(Importance) -> u32,
    ) -> Vec<Phase<u32>> {
        let works = length.pick(self.quick, self.full, self.full);
        let phase = |&work: &u32| Phase {
            key: work,
            title: format!("{title}, work {work}"),
            stage,
            pool,
            seconds: point_seconds(length, (self.claimed)(work)),
            workers: Importance::ALL
                .into_iter()
                .map(|of| of.client(rate(of), work))
                .collect(),
        };
        works.iter().map(phase).collect()
    }
}

/// A real-time server with these pools.
pub(super) fn realtime(pools: Vec<PoolSpec>) -> ServerSpec {
    ServerSpec {
        pools,
        realtime: true,
    }
}

/// The rows of phases, each with its work, after columns of the caller's.
pub(super) fn add_rows(outcome: &mut Outcome, played: &[Played<u32>], front: &Row) {
    for phase in played {
        let rows = phase.rows(&front.clone().with("work", phase.key));
        rows.into_iter().for_each(|row| outcome.row(row));
    }
}

/// What share of its deadlines a client makes, by the paper's count.
pub(super) fn share(phase: &Played<u32>, of: Importance) -> Share {
    phase.client(of.name()).made(Counting::Start)
}

/// Those of all three, the most important first.
pub(super) fn shares(phase: &Played<u32>) -> [Share; 3] {
    Importance::ALL.map(|of| share(phase, of))
}

/// The phase of that work, if it was measured.
fn at(played: &[Played<u32>], work: u32) -> Option<&Played<u32>> {
    played.iter().find(|phase| phase.key == work)
}
