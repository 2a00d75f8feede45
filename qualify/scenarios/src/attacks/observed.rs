//! What was observed of an attack, alone and meanwhile.

use std::{rc::Rc, time::Duration};

use punctual_harness::Latencies;

use super::{
    CALLS_PER_SECOND, LANES,
    attack::{Attack, Newcomers},
    block::{Block, Memory},
};

/// An attack, with its blocks and all blocks alone of the run.
pub(super) struct Comparison {
    pub(super) attack: &'static Attack,
    pub(super) alone: Rc<Observed>,
    pub(super) attacked: Observed,
}

impl Comparison {
    /// Returns the calls of a lane under attack, as a share of those alone.
    pub(super) fn kept(&self, lane: usize) -> f64 {
        self.attacked.lanes[lane].made() / self.alone.lanes[lane].made()
    }

    /// Returns the 99th percentile of a lane's latencies under attack over that alone; NaN without calls.
    pub(super) fn p99_ratio(&self, lane: usize) -> f64 {
        let p99 = |of: &Observed| of.lanes[lane].latencies.quantile_us(0.99);
        let ratio = p99(&self.attacked).zip(p99(&self.alone));
        ratio.map_or(f64::NAN, |(attacked, alone)| attacked / alone)
    }
}

/// The sum of several blocks.
#[derive(Default)]
pub(super) struct Observed {
    /// In the order of [`LANES`].
    pub(super) lanes: [Client; LANES.len()],
    /// Operations of the attackers, and the time they had.
    pub(super) operations: u64,
    pub(super) attacked_s: f64,
    pub(super) memory: Memory,
    /// Longest time from the end of an attack until every lane served newcomers again.
    pub(super) recovery: Duration,
    /// Why the server was lost, if it was.
    pub(super) lost: Option<String>,
}

/// The client of a lane.
#[derive(Default)]
pub(super) struct Client {
    pub(super) periods: u64,
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// Includes the calls that could not be made because the previous one still ran.
    pub(super) latencies: Latencies,
    pub(super) newcomers: Newcomers,
}

impl Client {
    /// Returns the share of its calls that it could make, from 0 to 1; NaN if nothing was measured.
    pub(super) fn made(&self) -> f64 {
        self.calls as f64 / self.periods as f64
    }

    /// Returns the share of newcomers that were served, from 0 to 1.
    pub(super) fn newcomers_served(&self) -> f64 {
        self.newcomers.served as f64 / self.newcomers.arrived as f64
    }
}

impl Observed {
    /// Adds a block.
    pub(super) fn add(&mut self, block: &Block) {
        self.operations += block.operations;
        self.attacked_s += block.seconds;
        self.recovery = self.recovery.max(block.recovery);
        self.lost = self.lost.take().or_else(|| block.lost.clone());
        let (growth, kept) = (
            block.memory.growth().max(self.memory.growth()),
            block.memory.kept().max(self.memory.kept()),
        );
        let before = block.memory.before.max(self.memory.before);
        self.memory = Memory {
            before,
            highest: before + growth,
            after: before + kept,
        };
        for (lane, client) in self.lanes.iter_mut().enumerate() {
            client.periods += (block.seconds * f64::from(CALLS_PER_SECOND)) as u64;
            if let Some(report) = block.reports.get(lane) {
                client.calls += report.calls.len() as u64;
                client.failed += u64::from(report.failed);
                for call in &report.calls {
                    let interval = 1_000_000_000 / u64::from(CALLS_PER_SECOND);
                    let latency = call.end_ns - call.start_ns;
                    client.latencies.record_paced(latency, interval);
                }
            }
            if let Some(newcomers) = block.newcomers.get(lane) {
                client.newcomers.arrived += newcomers.arrived;
                client.newcomers.served += newcomers.served;
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use punctual_harness::Span;

    use super::*;
    use crate::{attacks::attack::ATTACKS, load::Report};

    impl Observed {
        pub(in crate::attacks) fn of(block: &Block) -> Self {
            let mut observed = Self::default();
            observed.add(block);
            observed
        }
    }

    /// A block of a second in which each lane made this many calls, each with this latency.
    pub(in crate::attacks) fn block(calls: [usize; LANES.len()], latency_us: u64) -> Block {
        let report = |calls| Report {
            calls: vec![
                Span {
                    start_ns: 0,
                    end_ns: latency_us * 1000
                };
                calls
            ],
            ..Report::default()
        };
        Block {
            seconds: 1.0,
            reports: calls.into_iter().map(report).collect(),
            newcomers: vec![
                Newcomers {
                    arrived: 40,
                    served: 40
                };
                LANES.len()
            ],
            ..Block::default()
        }
    }

    fn comparison(alone: &Block, attacked: &Block) -> Comparison {
        Comparison {
            attack: &ATTACKS[0],
            alone: Rc::new(Observed::of(alone)),
            attacked: Observed::of(attacked),
        }
    }

    #[test]
    fn a_lane_keeps_the_share_of_its_calls_alone() {
        let comparison = comparison(&block([2000, 2000, 1000], 40), &block([500, 2000, 1000], 44));
        assert_eq!([0, 1, 2].map(|lane| comparison.kept(lane)), [0.25, 1.0, 1.0]);
        assert!((comparison.p99_ratio(2) - 1.1).abs() < 0.01);
    }

    #[test]
    fn a_lost_server_has_kept_nothing() {
        let lost = Block {
            seconds: 1.0,
            ..Block::lost("it has ended".to_owned())
        };
        let comparison = comparison(&block([2000; 3], 40), &lost);
        assert_eq!(comparison.kept(2), 0.0);
        assert!(comparison.p99_ratio(2).is_nan());
        assert!(comparison.attacked.lost.is_some());
    }
}
