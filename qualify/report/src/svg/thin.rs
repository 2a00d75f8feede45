//! Reduction of points that preserves density and extremes.

use std::collections::BTreeSet;

/// Returns about `most` of the points, in order: every n-th, so that dense regions look dense, and the
/// minimum and maximum of each section. The first and the last point are always kept.
pub(super) fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let most = most.max(16);
    if points.len() <= most {
        return points.to_vec();
    }
    // Three quarters are every n-th point, one quarter is extremes.
    let every = (points.len() * 4).div_ceil(most * 3);
    let stretch = (points.len() * 8).div_ceil(most);
    // Not exactly every n-th: otherwise periodic values would appear always, or never.
    let scattered = |first: usize| first + (first.wrapping_mul(0x9E37_79B9) >> 7) % every;
    let mut wanted: BTreeSet<usize> = (0..points.len()).step_by(every).map(scattered).collect();
    wanted.retain(|place| *place < points.len());
    wanted.extend([0, points.len() - 1]);
    for (number, part) in points.chunks(stretch).enumerate() {
        let by_height = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let ends = [
            (0..part.len()).min_by(by_height),
            (0..part.len()).max_by(by_height),
        ];
        wanted.extend(ends.iter().flatten().map(|place| number * stretch + place));
    }
    wanted.into_iter().map(|place| points[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_ends_survive() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|x| (f64::from(x), f64::from(x % 7))).collect();
        points[54_321].1 = 1000.0;
        points[12_345].1 = -5.0;
        let thin = thinned(&points, 3000);
        assert!(thin.len() <= 3002, "{}", thin.len());
        for kept in [54_321, 12_345, 0, 99_999] {
            assert!(thin.contains(&points[kept]), "{kept}");
        }
        assert!(
            thin.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "in their order"
        );
    }

    #[test]
    fn density_is_preserved() {
        // Nine of ten in the middle, the others above and below.
        let height = |x: u32| {
            if x.is_multiple_of(10) {
                f64::from(x / 10 % 2)
            } else {
                0.5
            }
        };
        let points: Vec<(f64, f64)> = (0..99_991).map(|x| (f64::from(x), height(x * 7))).collect();
        let thin = thinned(&points, 3000);
        let middle = thin.iter().filter(|point| point.1 == 0.5).count();
        assert!(middle * 10 > thin.len() * 6, "{middle} of {}", thin.len());
    }

    #[test]
    fn few_points_are_unchanged() {
        let points = [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)];
        assert_eq!(thinned(&points, 3000), points);
    }
}
