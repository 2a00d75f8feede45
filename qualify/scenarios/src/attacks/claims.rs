//! Claims that must hold under attack.

use punctual_harness::{Claim, Outcome};

use super::{LANES, attack::Kind, observed::Comparison};

const SOURCE: &str = "Punctual's limit, docs/threats.md";
/// The least share of its calls that a lane above the attacked one keeps.
const ABOVE_KEEP: f64 = 0.95;
/// The largest ratio of 99th percentiles, under attack over alone, of a lane above the attacked one.
const ABOVE_P99: f64 = 1.2;
/// The least share of their calls that other peers of the attacked lane keep, and the lanes below it.
const OTHERS_KEEP: f64 = 0.5;
/// The least share of newcomers to lanes above the attacked one that are served.
const NEW_CONNECTIONS_SERVED: f64 = 0.95;
/// Memory that an attack may take, in MiB: a quarter of what the largest attack asks for.
const MEMORY_MIB: f64 = 128.0;
/// Memory that the server may keep after an attack, in MiB.
const KEPT_MIB: f64 = 32.0;

/// Adds the claims of one attack.
pub(super) fn claim(comparison: &Comparison, outcome: &mut Outcome) {
    let attack = comparison.attack;
    if attack.kind == Kind::Elsewhere {
        // What the kernel costs is not the server's to claim.
        return;
    }
    let (name, attacked) = (attack.name, &comparison.attacked);
    let mut add = |id: &str, text: String, measured: f64, limit: f64, at_least: bool| {
        let (id, text) = (format!("{name}.{id}"), format!("{}: {text}", attack.about));
        outcome.claim(if at_least {
            Claim::at_least(id, text, SOURCE, measured, limit)
        } else {
            Claim::at_most(id, text, SOURCE, measured, limit)
        });
    };
    let above = attack.lane + 1..LANES.len();
    if !above.is_empty() {
        let kept = least(above.clone().map(|lane| comparison.kept(lane)));
        let text = "the lanes above keep at least this share of their calls".to_owned();
        add("above.calls", text, kept, ABOVE_KEEP, true);
        let ratio = most(above.clone().map(|lane| comparison.p99_ratio(lane)));
        let text =
            "the 99th percentiles of the lanes above are at most this multiple of those alone".to_owned();
        add("above.p99", text, ratio, ABOVE_P99, false);
        let served = least(above.map(|lane| attacked.lanes[lane].new_connections_served()));
        let text = "new connections to the lanes above: at least this share is served".to_owned();
        add("above.newcomers", text, served, NEW_CONNECTIONS_SERVED, true);
    }
    let kept = comparison.kept(attack.lane);
    let text = format!(
        "the other client of the {} lane, which is attacked, keeps at least this share of its calls",
        LANES[attack.lane].name
    );
    add("lane.calls", text, kept, OTHERS_KEEP, true);
    if attack.lane > 0 {
        let kept = least((0..attack.lane).map(|lane| comparison.kept(lane)));
        let text = "the lanes below keep at least this share of their calls".to_owned();
        add("below.calls", text, kept, OTHERS_KEEP, true);
    }
    let mib = |kib: u64| kib as f64 / 1024.0;
    let text = "resident memory grows by at most (MiB)".to_owned();
    add("memory", text, mib(attacked.memory.growth()), MEMORY_MIB, false);
    let text = "resident memory that remains after the attack is at most (MiB)".to_owned();
    add("memory.kept", text, mib(attacked.memory.kept()), KEPT_MIB, false);
    let alive = attacked.lost.is_none();
    outcome.claim(Claim::new(
        format!("{name}.alive"),
        format!(
            "{}: the server survives, and serves all lanes afterwards",
            attack.about
        ),
        SOURCE,
        attacked.lost.clone().unwrap_or_else(|| "it does".to_owned()),
        "it does",
        alive,
    ));
}

/// Returns the smallest value; NaN if one is not a number.
fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, |least, value| {
        if value.is_nan() { value } else { least.min(value) }
    })
}

/// Returns the greatest value; NaN if one is not a number.
fn most(values: impl Iterator<Item = f64>) -> f64 {
    -least(values.map(|value| -value))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;
    use crate::attacks::{
        attack::ATTACKS,
        block::{Block, Memory},
        observed::{Observed, tests::block},
    };

    fn broken(under: Block) -> Vec<String> {
        let attack = ATTACKS.iter().find(|attack| attack.lane == 1).unwrap();
        let comparison = Comparison {
            attack,
            alone: Rc::new(Observed::of(&block([2000; 3], 40))),
            attacked: Observed::of(&under),
        };
        let mut outcome = Outcome::new("attacks", MachineFacts::read(&CpuSet::single(0)));
        claim(&comparison, &mut outcome);
        assert_eq!(outcome.claims().len(), 8);
        let broken = outcome.claims().iter().filter(|claim| !claim.holds());
        let id = |claim: &Claim| claim.id.trim_start_matches(attack.name).to_owned();
        broken.map(id).collect()
    }

    #[test]
    fn every_claim_can_fail() {
        assert_eq!(broken(block([1500, 1500, 1990], 44)), [""; 0]);
        assert_eq!(broken(block([900, 2000, 2000], 40)), [".below.calls"]);
        assert_eq!(broken(block([2000, 900, 2000], 40)), [".lane.calls"]);
        assert_eq!(broken(block([2000, 2000, 1800], 40)), [".above.calls"]);
        assert_eq!(broken(block([2000, 2000, 2000], 50)), [".above.p99"]);
        let mut locked_out = block([2000; 3], 40);
        locked_out.new_connections[2].served = 30;
        assert_eq!(broken(locked_out), [".above.newcomers"]);
        let memory = Memory {
            before: 5_000,
            highest: 900_000,
            after: 300_000,
        };
        let greedy = Block {
            memory,
            ..block([2000; 3], 40)
        };
        assert_eq!(broken(greedy), [".memory", ".memory.kept"]);
        let lost = Block {
            seconds: 1.0,
            ..Block::lost("it has ended".to_owned())
        };
        let all_but_memory = [
            ".above.calls",
            ".above.p99",
            ".above.newcomers",
            ".lane.calls",
            ".below.calls",
            ".alive",
        ];
        assert_eq!(broken(lost), all_but_memory);
    }
}
