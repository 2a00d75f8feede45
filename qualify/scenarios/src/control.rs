//! Controls: runs of a benchmark in which its claims must not hold.

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
    /// What is changed, as a phrase without a full stop.
    pub about: &'static str,
    /// Ids of the claims that must not hold; `*` stands for any characters, once in an id.
    pub breaks: &'static [&'static str],
}

impl Control {
    /// Returns whether a claim must not hold under this control.
    pub(crate) fn breaks(&self, claim: &str) -> bool {
        self.breaks.iter().any(|pattern| matches(pattern, claim))
    }
}

/// Returns whether an id is that of a pattern, in which `*` stands for any characters.
pub(crate) fn matches(pattern: &str, id: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == id,
        Some((before, after)) => id.strip_prefix(before).is_some_and(|rest| rest.ends_with(after)),
    }
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
        ] {
            assert_eq!(matches(pattern, id), expected, "{pattern} {id}");
        }
    }
}
