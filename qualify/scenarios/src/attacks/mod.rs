//! `attacks`: losses of the clients of a server with three lanes while one of the lanes is attacked.
//!
//! Server and clients share the measured CPU, under SCHED_FIFO; attackers run on the driver's CPU, in the
//! ordinary class and from an address of their own, and speak GIOP by hand. Blocks alone and under attack
//! alternate, and each attack is compared with all blocks alone, by the medians of the blocks' 99th
//! percentiles: a single one depends on chance. `elsewhere` is no attack but a reference without claims: a
//! process that reads the same traffic. Nothing is random, and everything stays on the loopback
//! interface.
//!
//! | What | File |
//! |---|---|
//! | The attacks, each in a file | `attack/` |
//! | The process of attackers and newcomers | `peer.rs` |
//! | A lane as an attacker sees it, connections to it, messages for it | `target.rs`, `line.rs`, `messages.rs` |
//! | What most attacks do with them | `flood.rs` |
//! | All processes | `site.rs` |
//! | What one block has shown, and what all blocks of an attack have | `block.rs`, `observed.rs` |
//! | Claims; the chapter of the report | `claims.rs`, `attacks.toml` |

mod attack;
mod block;
mod claims;
mod flood;
mod line;
mod messages;
mod observed;
mod peer;
mod site;
mod target;

use std::{rc::Rc, time::Duration};

use self::{
    attack::{ATTACKS, Attack},
    block::Block,
    observed::{Comparison, Observed},
    site::{Fault, Site},
};
use crate::{
    benchmark::Benchmark,
    control::Control,
    error::Error,
    experiment::{Experiment, Trial, benchmark},
    length::Length,
    load::Exposure,
    role::Role,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = benchmark::<Attacks>();

struct Attacks;

const HELD: Control = Control {
    id: "held",
    about: "another program that keeps the CPU above all lanes during most of each attack",
    breaks: &["*.calls", "*.above.newcomers"],
};
const SLOWED: Control = Control {
    id: "slowed",
    about: "another program that keeps the CPU above all lanes for 0.3 of each millisecond of each attack",
    breaks: &["*.above.p99"],
};
const HOARDING: Control = Control {
    id: "hoarding",
    about: "a server that takes 160 MiB in each attack and keeps them",
    breaks: &["*.memory", "*.memory.kept"],
};
const UNLIMITED: Control = Control {
    id: "unlimited",
    about: "a server without limits of the memory and processor time that a lane's peers take",
    breaks: &["half-messages.memory", "unread.memory"],
};
const KILLED: Control = Control {
    id: "killed",
    about: "a server that ends during each attack",
    breaks: &["*.alive"],
};
const STOPPED: Control = Control {
    id: "stopped",
    about: "a server that is stopped for 30 ms in each block alone",
    breaks: &["no-idle-hole"],
};

/// The roles of the child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[(peer::ROLE, peer::peer)];

/// A lane of the server, and the clients that call over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    pub(crate) name: &'static str,
    pub(crate) priority: i16,
}

/// The lanes in ascending order of priority.
pub(crate) const LANES: [Lane; 3] = [
    Lane {
        name: "low",
        priority: 0,
    },
    Lane {
        name: "middle",
        priority: 10_000,
    },
    Lane {
        name: "high",
        priority: 16_000,
    },
];
/// Calls per second of the client of each lane: together they need less than a quarter of the CPU.
const CALLS_PER_SECOND: u32 = 2_000;

/// How much is measured.
struct Plan {
    rounds: u32,
    alone_s: f64,
    attacked_s: f64,
}

impl Plan {
    fn of(length: Length) -> Self {
        Self {
            rounds: length.pick(2, 9, 9),
            alone_s: length.pick(0.4, 1.0, 1.0),
            attacked_s: length.pick(0.65, 1.5, 1.5),
        }
    }

    /// Returns the expected time of one attack and the block alone before it.
    fn of_pair(&self) -> Duration {
        Duration::from_secs_f64(self.alone_s + self.attacked_s) + site::OVERHEAD * 3
    }
}

impl Experiment for Attacks {
    const NAME: &'static str = "attacks";
    const ABOUT: &'static str =
        "calls, latencies and memory of a server with three lanes while one of them is attacked";
    const PAGE: &'static str = include_str!("attacks.toml");
    const CONTROLS: &'static [Control] = &[HELD, KILLED, SLOWED, HOARDING, UNLIMITED, STOPPED];

    fn expected(length: Length) -> Duration {
        expected(ATTACKS.len(), length)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let plan = Plan::of(trial.length());
        let attacks = selected(&trial.testbed.settings.attacks)?;
        let has_driver = trial.testbed.places.has_driver();
        let outcome = &mut trial.outcome;
        outcome.parameter("calls_per_second", CALLS_PER_SECOND);
        outcome.parameter("rounds", plan.rounds);
        outcome.parameter("seconds_alone", plan.alone_s);
        outcome.parameter("seconds_attacked", plan.attacked_s);
        outcome.parameter("attackers_have_a_cpu", has_driver);
        if attacks.len() < ATTACKS.len() {
            outcome.skip(None, "the other attacks", "`--attacks` selects some of them");
        }
        trial.shortened("2 blocks of 0.65 s for each attack, not 9 of 1.5 s");
        let mut watch = Watch::new(trial.testbed);
        let mut alone = Observed::default();
        let mut attacked: Vec<_> = attacks.iter().map(|_| Observed::default()).collect();
        for _ in 0..plan.rounds {
            for (attack, observed) in attacks.iter().zip(&mut attacked) {
                alone.add(&watch.block(None, plan.alone_s)?);
                observed.add(&watch.block(Some(attack), plan.attacked_s)?);
            }
        }
        let (holes, measured) = watch.end()?;
        trial.holes(&holes, measured)?;
        let alone = Rc::new(alone);
        for (attack, attacked) in attacks.into_iter().zip(attacked) {
            let alone = Rc::clone(&alone);
            let comparison = Comparison {
                attack,
                alone,
                attacked,
            };
            comparison.rows(&mut trial.outcome);
            claims::claim(&comparison, &mut trial.outcome);
        }
        Ok(())
    }
}

/// Returns the expected duration of this many attacks.
pub(crate) fn expected(attacks: usize, length: Length) -> Duration {
    let plan = Plan::of(length);
    plan.of_pair() * plan.rounds * attacks as u32 + Duration::from_secs(2)
}

/// Returns the attacks of these names; without names, all.
fn selected(names: &[String]) -> Result<Vec<&'static Attack>, Error> {
    let named = |name: &String| {
        let found = ATTACKS.iter().find(|attack| attack.name == name);
        found.ok_or_else(|| {
            let known: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
            format!(
                "there is no attack `{name}`; the attacks are {}",
                known.join(", ")
            )
            .into()
        })
    };
    match names {
        [] => Ok(ATTACKS.iter().collect()),
        names => names.iter().map(named).collect(),
    }
}

/// The site of the measurement; another one takes the place of a site whose server has been lost.
struct Watch<'t> {
    testbed: &'t Testbed,
    site: Option<Site>,
    holes: Vec<punctual_harness::Hole>,
    alone: Duration,
}

impl<'t> Watch<'t> {
    fn new(testbed: &'t Testbed) -> Self {
        Self {
            testbed,
            site: None,
            holes: Vec::new(),
            alone: Duration::ZERO,
        }
    }

    /// Measures one block. If the server is lost, the block says so, and the next one has another server.
    fn block(&mut self, attack: Option<&Attack>, seconds: f64) -> Result<Block, Error> {
        let title = attack.map_or_else(|| "alone".to_owned(), Attack::title);
        let length = Duration::from_secs_f64(seconds);
        self.testbed.progress.stage(title, length + site::OVERHEAD);
        let mut site = match self.site.take() {
            Some(site) => site,
            None => {
                let exposure = match self.testbed.is_under(&UNLIMITED) {
                    true => Exposure::Unlimited,
                    false => Exposure::Limited,
                };
                let expected = Attacks::expected(self.testbed.length);
                Site::start(&self.testbed.places, exposure, expected)?
            }
        };
        let fault = match self.testbed.control {
            Some(control) if *control == HELD => Some(Fault::Held),
            Some(control) if *control == KILLED => Some(Fault::Killed),
            Some(control) if *control == SLOWED => Some(Fault::Slowed),
            Some(control) if *control == HOARDING => Some(Fault::Hoarding),
            Some(control) if *control == STOPPED => Some(Fault::Stopped),
            _ => None,
        };
        let block = match site.block(attack, fault, seconds) {
            Ok(block) => block,
            Err(error) if self.testbed.interrupted().is_some() || attack.is_none() => return Err(error),
            Err(error) => Block::lost(error.to_string()),
        };
        if attack.is_none() {
            self.alone += length;
        }
        if block.lost.is_none() {
            self.site = Some(site);
        }
        Ok(block)
    }

    /// Ends the site; returns the holes in blocks alone, and their total length.
    fn end(mut self) -> Result<(Vec<punctual_harness::Hole>, Duration), Error> {
        if let Some(site) = self.site.take() {
            self.holes.extend(site.stop()?);
        }
        Ok((self.holes, self.alone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_durations_are_within_the_budget() {
        assert!(Attacks::expected(Length::Quick) <= Duration::from_secs(60));
        assert!(Attacks::expected(Length::Full) <= Duration::from_secs(480));
    }

    #[test]
    fn attacks_are_selected_by_name() {
        let names = |names: &[&str]| -> Vec<String> { names.iter().copied().map(str::to_owned).collect() };
        assert_eq!(selected(&[]).unwrap().len(), ATTACKS.len());
        let two = selected(&names(&["locates", "idle"])).unwrap();
        assert_eq!(
            two.iter().map(|attack| attack.name).collect::<Vec<_>>(),
            ["locates", "idle"]
        );
        let error = selected(&names(&["idles"])).unwrap_err().to_string();
        assert!(
            error.contains("`idles`") && error.contains("half-messages"),
            "{error}"
        );
    }

    #[test]
    fn lanes_ascend_and_attacks_have_names_of_their_own() {
        assert!(LANES.windows(2).all(|pair| pair[0].priority < pair[1].priority));
        let mut names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ATTACKS.len());
        assert!(ATTACKS.iter().all(|attack| attack.lane < LANES.len()));
    }
}
