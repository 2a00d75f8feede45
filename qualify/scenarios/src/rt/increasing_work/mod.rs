//! `rt.4`, `rt.5` and `rt.6`: three clients with rates while the work per call grows; SCHED_FIFO, one CPU.

mod decreasing;
mod lanes;
mod single_priority;

pub(super) use self::{decreasing::DecreasingRates, lanes::Lanes, single_priority::WithoutLanes};

use punctual_harness::{Outcome, Row};

use super::{PAPER_WORKS, claims::largest_ratio, point_seconds};
use crate::{
    length::Length,
    load::{Counting, Importance, Phase, PhaseResult, PoolSpec, ServerSpec, Share},
};

/// The works to measure.
pub(super) struct Works {
    pub(super) quick: &'static [u32],
    /// A paper-length run measures [`PAPER_WORKS`].
    pub(super) full: &'static [u32],
    /// Selects the works that claims about a 25 Hz client depend on.
    pub(super) claimed: fn(u32) -> bool,
}

/// The deployment and pool of phases, by index.
pub(super) struct At {
    deployment: usize,
    pool: usize,
}

impl At {
    /// A pool of the only deployment.
    pub(super) fn pool(pool: usize) -> Self {
        Self { deployment: 0, pool }
    }

    /// The only pool of a deployment.
    pub(super) fn deployment(deployment: usize) -> Self {
        Self { deployment, pool: 0 }
    }
}

impl Works {
    /// Returns a phase for each work, with clients at these rates.
    pub(super) fn phases(
        &self,
        length: Length,
        title: &str,
        at: At,
        rate: fn(Importance) -> u32,
    ) -> Vec<Phase<u32>> {
        let works = length.pick(self.quick, self.full, &PAPER_WORKS);
        let phase = |&work: &u32| Phase {
            key: work,
            title: format!("{title}, work {work}"),
            deployment: at.deployment,
            pool: at.pool,
            seconds: point_seconds(length, (self.claimed)(work)),
            workers: Importance::ALL
                .into_iter()
                .map(|of| of.client(rate(of), work))
                .collect(),
        };
        works.iter().map(phase).collect()
    }
}

/// Keeps the phases with these works, and doubles the work of their calls.
fn double(phases: &mut Vec<Phase<u32>>, works: &[u32]) {
    phases.retain(|phase| works.contains(&phase.key));
    for phase in phases {
        let work = phase.key;
        phase.workers.iter_mut().for_each(|worker| worker.add_work(work));
    }
}

/// Returns a real-time server with these pools.
pub(super) fn realtime(pools: Vec<PoolSpec>) -> ServerSpec {
    ServerSpec::new(pools, true)
}

/// Adds the rows of phases, with the columns of `front` and the work.
pub(super) fn add_rows(outcome: &mut Outcome, results: &[PhaseResult<u32>], front: &Row) {
    for phase in results {
        let rows = phase.rows(&front.clone().with("work", phase.key));
        rows.into_iter().for_each(|row| outcome.row(row));
    }
}

/// Returns the share of deadlines that a client meets, as the paper counts them.
pub(super) fn share(phase: &PhaseResult<u32>, of: Importance) -> Share {
    phase.client(of.name()).deadlines_met(Counting::Start)
}

/// Returns the shares of all three clients, the most important first.
pub(super) fn shares(phase: &PhaseResult<u32>) -> [Share; 3] {
    Importance::ALL.map(|of| share(phase, of))
}

/// The largest ratio of calls per second of clients that are treated alike.
pub(super) const ALIKE: f64 = 1.25;

/// Returns the largest ratio of two clients' calls per second.
pub(super) fn rates_ratio(phase: &PhaseResult<u32>) -> f64 {
    let hz = Importance::ALL.map(|of| phase.client(of.name()).achieved_hz_corrected());
    largest_ratio(&hz)
}

/// Returns the phase with this work, if it was measured.
pub(super) fn at(results: &[PhaseResult<u32>], work: u32) -> Option<&PhaseResult<u32>> {
    results.iter().find(|phase| phase.key == work)
}
