//! Observations of an attack: alone and meanwhile.

use std::{rc::Rc, time::Duration};

use punctual_harness::{Latencies, Outcome, Row, statistics::median};

use super::{
    CALLS_PER_SECOND, LANES,
    attack::{Attack, NewConnections},
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

    /// Returns the 99th percentile of a lane's latencies under attack over that alone, the median of the
    /// blocks each time: one hiccup of the machine decides nothing. NaN if a block had no calls.
    pub(super) fn p99_ratio(&self, lane: usize) -> f64 {
        let p99 = |of: &Observed| median(&of.lanes[lane].p99_us).unwrap_or(f64::NAN);
        p99(&self.attacked) / p99(&self.alone)
    }

    /// Adds a row for each lane, alone and attacked, and one for the server.
    pub(super) fn rows(&self, outcome: &mut Outcome) {
        let attack = self.attack;
        let front = |kind: &str| {
            Row::new()
                .with("kind", kind)
                .with("attack", attack.name)
                .with("attacked_lane", LANES[attack.lane].name)
        };
        for (number, lane) in LANES.iter().enumerate() {
            for (phase, observed) in [("alone", &*self.alone), ("attacked", &self.attacked)] {
                let client = &observed.lanes[number];
                let row = front("lane").with("lane", lane.name).with("phase", phase);
                let row = row
                    .with("calls_per_second", client.made() * f64::from(CALLS_PER_SECOND))
                    .with("failed", client.failed)
                    .with_fields(&client.latencies.summary())
                    .with("newcomers", client.new_connections.arrived)
                    .with(
                        "newcomers_served_percent",
                        100.0 * client.new_connections_served(),
                    );
                outcome.row(match phase {
                    "alone" => row,
                    _ => row.with("kept_percent", 100.0 * self.kept(number)),
                });
            }
        }
        let Observed {
            operations,
            attacked_s,
            memory,
            recovery,
            lost,
            ..
        } = &self.attacked;
        let row = front("server")
            .with("operations_per_second", *operations as f64 / attacked_s)
            .with("resident_before_kib", memory.before)
            .with("resident_highest_kib", memory.highest)
            .with("resident_after_kib", memory.after)
            .with("recovery_ms", recovery.as_secs_f64() * 1e3)
            .with("lost", lost.as_deref().unwrap_or(""));
        outcome.row(row);
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
    /// The 99th percentile of each block in µs; NaN without calls.
    pub(super) p99_us: Vec<f64>,
    pub(super) new_connections: NewConnections,
}

impl Client {
    /// Returns the share of its calls that it could make, from 0 to 1; NaN if nothing was measured.
    pub(super) fn made(&self) -> f64 {
        self.calls as f64 / self.periods as f64
    }

    /// Returns the share of newcomers that were served, from 0 to 1.
    pub(super) fn new_connections_served(&self) -> f64 {
        self.new_connections.served as f64 / self.new_connections.arrived as f64
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
                let mut latencies = Latencies::default();
                for call in &report.calls {
                    let interval = 1_000_000_000 / u64::from(CALLS_PER_SECOND);
                    latencies.record_paced(call.end_ns - call.start_ns, interval);
                }
                client.latencies.merge(&latencies);
                client
                    .p99_us
                    .push(latencies.quantile_us(0.99).unwrap_or(f64::NAN));
            } else {
                client.p99_us.push(f64::NAN);
            }
            if let Some(new_connections) = block.new_connections.get(lane) {
                client.new_connections.arrived += new_connections.arrived;
                client.new_connections.served += new_connections.served;
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
            new_connections: vec![
                NewConnections {
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
    fn one_block_does_not_decide_about_percentiles() {
        let (alone, slow) = (block([2000; 3], 40), block([2000; 3], 400));
        let mut comparison = comparison(&alone, &slow);
        assert!((comparison.p99_ratio(1) - 10.0).abs() < 0.1);
        comparison.attacked.add(&alone);
        comparison.attacked.add(&alone);
        assert!(
            (comparison.p99_ratio(1) - 1.0).abs() < 0.01,
            "the median of three"
        );
        comparison.attacked.add(&slow);
        comparison.attacked.add(&slow);
        assert!(
            (comparison.p99_ratio(1) - 10.0).abs() < 0.1,
            "three of five are slow"
        );
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
