//! Fewer points than anybody can tell apart, without losing those that matter.

/// At most about `most` of the points, in their order. Of each stretch the smallest and the largest remain; the first and
/// the last point too.
pub(super) fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most.max(4) {
        return points.to_vec();
    }
    let stretch = (points.len() * 2).div_ceil(most.max(4));
    let mut kept = Vec::with_capacity(most + 2);
    let ends = [0, points.len() - 1];
    for (number, part) in points.chunks(stretch).enumerate() {
        let by_height = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let lowest = (0..part.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..part.len()).max_by(by_height).unwrap_or(0);
        let first = number * stretch;
        kept.extend((0..part.len()).filter_map(|place| {
            let wanted = place == lowest || place == highest || ends.contains(&(first + place));
            wanted.then(|| part[place])
        }));
    }
    kept
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
    fn few_points_stay_as_they_are() {
        let points = [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)];
        assert_eq!(thinned(&points, 3000), points);
    }
}
