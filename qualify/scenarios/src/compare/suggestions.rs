//! Suggestions for misspelt names.

/// Returns "did you mean ...?" with up to three similar names, or lists the names if none is similar.
pub(crate) fn suggest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    names.dedup_by_key(|(_, name)| *name);
    let quoted = |names: &[(f64, &str)]| {
        let quoted: Vec<_> = names.iter().map(|(_, name)| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let near = names.partition_point(|(nearness, _)| *nearness > 0.75).min(3);
    match (near, names.len()) {
        (1.., _) => format!("did you mean {}?", quoted(&names[..near])),
        (0, 0) => "there are none".to_owned(),
        (0, 1..=12) => format!("available: {}", quoted(&names)),
        (0, _) => format!("available: {}, …", quoted(&names[..12])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let names = || ["p50_us", "p99_us", "threads"].into_iter();
        assert_eq!(suggest("p99_uz", names()), "did you mean `p99_us`?");
        assert_eq!(
            suggest("zzz", names()),
            "available: `p50_us`, `p99_us`, `threads`"
        );
        assert_eq!(suggest("zzz", [].into_iter()), "there are none");
    }
}
