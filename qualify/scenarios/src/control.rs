//! Controls: runs of a benchmark in which the verdict on its claims must change.

/// A run of a benchmark with one thing changed, under which claims about that thing must not hold: lanes
/// replaced by a pool without lanes, inheritance by none, the load removed. A claim that holds even then
/// says nothing.
///
/// A benchmark lists its controls in [`Benchmark::controls`](crate::Benchmark::controls), and its `run` asks
/// [`Testbed::is_under`](crate::Testbed::is_under) which arrangement to measure.
#[derive(Debug, Eq, PartialEq)]
pub struct Control {
    /// Name, unique within the benchmark.
    pub id: &'static str,
    /// Description of the change, as a phrase without a full stop.
    pub about: &'static str,
    /// Ids of the claims that must not hold; `*` stands for any characters.
    pub breaks: &'static [&'static str],
}

/// Claims that do not hold here, for a reason that the table of statements explains, and that must hold under
/// a control, which takes the reason away. Otherwise the reason would only be asserted.
#[derive(Debug)]
pub struct Restored {
    /// One of the benchmark's controls.
    pub control: &'static Control,
    /// Ids of the claims that must hold; `*` stands for any characters.
    pub claims: &'static [&'static str],
}

impl Control {
    /// Returns whether a claim, or one of those of a pattern, must not hold under this control.
    pub(crate) fn breaks(&self, claim: &str) -> bool {
        self.breaks.iter().any(|pattern| meet(pattern, claim))
    }
}

/// Returns whether some id is that of both patterns, in which `*` stands for any characters.
pub(crate) fn meet(one: &str, other: &str) -> bool {
    fn octets_meet(one: &[u8], other: &[u8]) -> bool {
        match (one, other) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => {
                octets_meet(rest, other) || matches!(other, [_, after @ ..] if octets_meet(one, after))
            }
            (_, [b'*', ..]) => octets_meet(other, one),
            ([a, one @ ..], [b, other @ ..]) => a == b && octets_meet(one, other),
            _ => false,
        }
    }
    octets_meet(one.as_bytes(), other.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, id, expected) in [
            ("high", "high", true),
            ("high", "high.30", false),
            ("high.*", "high.30", true),
            ("*.live", "mif.live", true),
            ("a*a", "a", false),
            ("p*-tcp", "p50-tcp", true),
            ("p*-tcp", "p50-unix", false),
            ("high.*", "*.30", true),
            ("high.*", "low.*", false),
        ] {
            assert_eq!(meet(pattern, id), expected, "{pattern} {id}");
            assert_eq!(meet(id, pattern), expected, "{id} {pattern}");
        }
    }
}
