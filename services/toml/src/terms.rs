//! Messages about wrong types, in the terms of TOML: serde writes `expected u32` or `a sequence`.

use std::ops::Range;

/// Returns a message of the parser in the terms of TOML.
pub(crate) fn in_terms_of_toml(message: &str) -> String {
    let kinds = ["invalid type: ", "invalid value: "];
    let wrong = kinds.into_iter().find_map(|kind| message.strip_prefix(kind));
    let Some((found, expected)) = wrong.and_then(|wrong| wrong.split_once(", expected ")) else {
        return unknown_key(message).unwrap_or_else(|| message.replacen("missing field", "missing key", 1));
    };
    let found = match found
        .split_once(' ')
        .map_or((found, ""), |(kind, value)| (kind, value))
    {
        ("sequence", _) => "an array".to_owned(),
        ("map", _) => "a table".to_owned(),
        ("integer", value) => format!("the integer {value}"),
        ("floating", value) => format!("the number {}", value.trim_start_matches("point ")),
        (kind, value) => format!("the {kind} {value}"),
    };
    let wanted = wanted(expected);
    let advice = match (&wanted[..], &found[..]) {
        ("an array", "a table") => "; double the brackets of its heading: `[[…]]`",
        ("an array", found) if !found.starts_with("an ") => "; write it in brackets: `[…]`",
        _ => "",
    };
    format!("expected {wanted}, found {found}{advice}")
}

/// Returns the message about a key that a table has twice, or about the heading of a table that exists.
pub(crate) fn duplicate(text: &str, key: &Range<usize>) -> String {
    let before = text.get(..key.start).unwrap_or_default();
    let key = text.get(key.clone()).unwrap_or_default();
    let is_heading = before
        .rsplit('\n')
        .next()
        .is_some_and(|line| line.trim_start().starts_with('['));
    match is_heading {
        true => format!(
            "there is a table `{key}` above; if there may be several, double the brackets of their headings: \
             `[[…]]`"
        ),
        false => format!("`{key}` has a value above; remove one of them"),
    }
}

/// The message about an unknown key, with the most similar one instead of a list.
fn unknown_key(message: &str) -> Option<String> {
    let (unknown, others) = message
        .strip_prefix("unknown field `")?
        .split_once("`, expected ")?;
    let known = others.split('`').skip(1).step_by(2);
    let similarity = |other: &str| strsim::jaro_winkler(unknown, other);
    let best = known.max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    Some(match similarity(best) > SIMILAR {
        true => format!("unknown key `{unknown}`; did you mean `{best}`?"),
        false => format!("unknown key `{unknown}`, expected {others}"),
    })
}

/// Similarity of names, from 0 to 1, above which one was probably meant by the other.
const SIMILAR: f64 = 0.75;

fn wanted(expected: &str) -> String {
    match expected {
        "u8" => "an integer from 0 to 255".to_owned(),
        "i16" => "an integer from -32768 to 32767".to_owned(),
        "u16" => "an integer from 0 to 65535".to_owned(),
        "u32" | "u64" | "usize" => "an integer from 0".to_owned(),
        "i32" | "i64" | "isize" => "an integer".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a map" => "a table".to_owned(),
        "a sequence" => "an array".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use crate::parse;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Lane {
        threads: u32,
        name: String,
        weight: f64,
        cpus: Vec<u16>,
        fixed: bool,
        inner: BTreeMap<String, u8>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Pools {
        pool: Vec<BTreeMap<String, u8>>,
        listen: Option<Vec<String>>,
    }

    #[test]
    fn frequent_mistakes_have_advice() {
        for (text, expected) in [
            (
                "[pool]\nthreads = 1\n",
                "pool: expected an array, found a table; double the brackets of its heading: `[[…]]`",
            ),
            (
                "pool = []\nlisten = \"a\"\n",
                "listen: expected an array, found the string \"a\"; write it in brackets: `[…]`",
            ),
            (
                "pool = []\nlissten = [\"a\"]\n",
                "lissten: unknown key `lissten`; did you mean `listen`?",
            ),
            (
                "pool = []\nwidth = 1\n",
                "width: unknown key `width`, expected `pool` or `listen`",
            ),
            (
                "[pool]\n\n[pool]\n",
                "bad:3:2: there is a table `pool` above; if there may be several, double the brackets of their \
                 headings: `[[…]]`",
            ),
            (
                "listen = []\nlisten = []\n",
                "bad:2:1: `listen` has a value above; remove one of them",
            ),
        ] {
            let error = parse::<Pools>("bad", text, |_| Ok(())).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{text}: {error}");
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct File {
        name: String,
        lane: Vec<Part>,
        inner: Option<Part>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Part {
        threads: u32,
        cpus: Option<Vec<u16>>,
    }

    #[test]
    fn independent_errors_are_reported_together_and_consequences_are_not() {
        let text = "\
nmae = 1
name = 2
[[lane]]
threads = \"1\"
[[lane]]
cpus = [1]
[[lane]]
threads = 1
cpus = [1, -1, 2, \"x\"]
[inner]
threads = 1
cpu = 7
";
        let error = parse::<File>("bad", text, |_| Ok(())).unwrap_err();
        let said = error.to_string();
        let expected = [
            "bad:1:1: nmae: unknown key `nmae`; did you mean `name`?",
            "bad:2:8: name: expected a string, found the integer `2`",
            "bad:4:11: lane[1].threads: expected an integer from 0, found the string \"1\"",
            "bad:5:1: lane[2]: missing key `threads`",
            "bad:9:12: lane[3].cpus[2]: expected an integer from 0 to 65535, found the integer `-1`",
            "bad:9:19: lane[3].cpus[4]: expected an integer from 0 to 65535, found the string \"x\"",
            "bad:12:1: inner.cpu: unknown key `cpu`; did you mean `cpus`?",
        ];
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
        let one = parse::<File>("bad", "lane = []", |_| Ok(())).unwrap_err();
        assert_eq!(one.to_string(), "bad:1:1: missing key `name`");
        let first = parse::<File>("bad", "name = \"a\"\n[[lane]]\ncpus = [1]\n", |_| Ok(())).unwrap_err();
        assert_eq!(first.to_string(), "bad:2:1: lane[1]: missing key `threads`");
    }

    #[test]
    fn wrong_types_are_named_as_in_toml() {
        let good = "threads = 1\nname = \"a\"\nweight = 1.5\ncpus = [1]\nfixed = true\ninner = {}\n";
        parse::<Lane>("good", good, |_| Ok(())).unwrap();
        for (line, replacement, expected) in [
            (
                "threads = 1",
                "threads = \"1\"",
                "expected an integer from 0, found the string \"1\"",
            ),
            (
                "threads = 1",
                "threads = -1",
                "expected an integer from 0, found the integer `-1`",
            ),
            (
                "name = \"a\"",
                "name = 7",
                "expected a string, found the integer `7`",
            ),
            ("name = \"a\"", "name = [7]", "expected a string, found an array"),
            (
                "weight = 1.5",
                "weight = \"x\"",
                "expected a number, found the string \"x\"",
            ),
            (
                "cpus = [1]",
                "cpus = 1.5",
                "expected an array, found the number `1.5`; write it in brackets: `[…]`",
            ),
            (
                "fixed = true",
                "fixed = 1",
                "expected true or false, found the integer `1`",
            ),
            ("inner = {}", "inner = []", "expected a table, found an array"),
            (
                "inner = {}",
                "inner = { a = 256 }",
                "expected an integer from 0 to 255, found the integer `256`",
            ),
        ] {
            let error = parse::<Lane>("bad", &good.replace(line, replacement), |_| Ok(())).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{replacement}: {error}");
        }
    }
}
