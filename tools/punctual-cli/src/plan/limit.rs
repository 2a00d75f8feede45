//! `--limit NAME=NUMBER`: a limit of a simulation.

use punctual_sched::simulator::Limits;

/// A limit and its value.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    set: Set,
    value: usize,
}

type Set = fn(&mut Limits, usize);

/// The limits that apply while a simulation runs. Those of the model's size hold for every scenario.
const LIMITS: [(&str, Set); 4] = [
    ("threads", |limits, value| limits.threads = value),
    ("pending", |limits, value| limits.pending = value),
    ("arrivals", |limits, value| limits.arrivals = value as u64),
    ("events", |limits, value| limits.events = value as u64),
];

/// Parses the value of `--limit`.
pub(super) fn parse(text: &str) -> Result<Limit, String> {
    let (name, value) = text.split_once('=').unwrap_or_default();
    let known = LIMITS.into_iter().find(|(known, _)| *known == name);
    match (known, value.parse()) {
        (Some((_, set)), Ok(value)) if value > 0 => Ok(Limit { set, value }),
        _ => {
            let names = LIMITS.map(|(name, _)| name).join(", ");
            Err(format!(
                "expected one of {names}, then `=` and a number from 1, such as threads=1000"
            ))
        }
    }
}

impl Limit {
    /// Sets it.
    pub(super) fn apply(self, limits: &mut Limits) {
        (self.set)(limits, self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_can_be_set() {
        let mut limits = Limits::default();
        for (name, _) in LIMITS {
            parse(&format!("{name}=7")).unwrap().apply(&mut limits);
        }
        let expected = Limits {
            threads: 7,
            pending: 7,
            arrivals: 7,
            events: 7,
            ..Limits::default()
        };
        assert_eq!(limits, expected);
        for wrong in ["threads", "hosts=7", "threads=", "threads=0", "events=-1", "=7"] {
            assert!(parse(wrong).unwrap_err().contains("arrivals"), "{wrong}");
        }
    }
}
