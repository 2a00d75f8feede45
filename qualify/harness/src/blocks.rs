//! Measurement in alternating blocks, so that changes of the machine affect all kinds alike.

use crate::MedianEstimate;

/// Minimum number of rounds for a ratio.
pub const ROUNDS: usize = 30;

/// Runs one block of each kind in turn, A/B/A/B…, for a number of rounds. `run` receives the kind and the
/// round (from 0) and returns its measurement. The result has one list per kind, with one entry per round.
///
/// ```
/// use punctual_harness::blocks::{ROUNDS, interleave, median_ratio};
/// #[derive(Clone, Copy, PartialEq)]
/// enum Kind { Raw, Ours }
/// let p50 = |kind, round| Ok::<f64, String>(if kind == Kind::Raw { 10.0 } else { 11.0 } + round as f64);
/// let blocks = interleave(&[Kind::Raw, Kind::Ours], ROUNDS, p50)?;
/// let ratio = median_ratio(&blocks[1], &blocks[0]).unwrap();
/// assert!(ratio.low > 1.0 && ratio.high < 1.1);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The first error of `run`, after which nothing else runs.
pub fn interleave<K: Copy, T, E>(
    kinds: &[K],
    rounds: usize,
    mut run: impl FnMut(K, usize) -> Result<T, E>,
) -> Result<Vec<Vec<T>>, E> {
    let mut blocks: Vec<Vec<T>> = kinds.iter().map(|_| Vec::with_capacity(rounds)).collect();
    for round in 0..rounds {
        for (&kind, results) in kinds.iter().zip(&mut blocks) {
            results.push(run(kind, round)?);
        }
    }
    Ok(blocks)
}

/// Returns the median of the ratios of blocks of the same round. `None` with fewer than
/// [`MedianEstimate::FEWEST`] rounds, or if a ratio is not a number.
///
/// # Panics
/// If the numbers of blocks differ.
pub fn median_ratio(subject: &[f64], reference: &[f64]) -> Option<MedianEstimate> {
    assert_eq!(subject.len(), reference.len(), "ratios need pairs of blocks");
    let pairs = subject.iter().zip(reference);
    MedianEstimate::of(
        &pairs
            .map(|(subject, reference)| subject / reference)
            .collect::<Vec<_>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_alternate() {
        let mut order = String::new();
        let blocks = interleave(&['a', 'b'], 3, |kind, round| {
            order.push(kind);
            Ok::<_, ()>(round)
        });
        assert_eq!(order, "ababab");
        assert_eq!(blocks.unwrap(), [[0, 1, 2], [0, 1, 2]]);
    }

    #[test]
    fn the_first_error_ends_the_run() {
        let mut runs = 0;
        let result = interleave(&['a', 'b'], 9, |kind, round| {
            runs += 1;
            if (kind, round) == ('b', 1) {
                Err("stop")
            } else {
                Ok(())
            }
        });
        assert_eq!((result, runs), (Err("stop"), 4));
    }

    #[test]
    fn a_drift_of_the_machine_leaves_the_ratio_alone() {
        let drift = |round: usize| 1.0 + round as f64 / 10.0;
        let run = |factor: f64, round: usize| Ok::<_, ()>(factor * drift(round));
        let blocks = interleave(&[1.0, 1.08], ROUNDS, run).unwrap();
        let ratio = median_ratio(&blocks[1], &blocks[0]).unwrap();
        assert!((ratio.median - 1.08).abs() < 1e-9 && ratio.high - ratio.low < 1e-9);
    }

    #[test]
    fn a_reference_of_zero_gives_no_ratio() {
        assert_eq!(median_ratio(&[0.0; 30], &[0.0; 30]), None);
    }
}
