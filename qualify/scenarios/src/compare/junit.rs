//! Claims as test cases in JUnit XML, for continuous integration.

use std::fmt::Write;

use punctual_harness::{Outcome, State};

/// Returns a test suite for each benchmark and paper: claims and statements pass or fail; what was not
/// measured is skipped. An incomplete run, or one on an unfit machine, has errors in a separate suite.
pub(super) fn xml(outcome: &Outcome, benchmarks: &[&str]) -> String {
    let mut suites: Vec<(String, Vec<Case>)> = Vec::new();
    let mut add = |suite: &str, case: Case| match suites.iter_mut().find(|(name, _)| name == suite) {
        Some((_, cases)) => cases.push(case),
        None => suites.push((suite.to_owned(), vec![case])),
    };
    for doubt in outcome.doubts() {
        let case = Case::new("verdict", Some(("error", doubt)));
        add(outcome.benchmark(), case);
    }
    for claim in outcome.claims() {
        let (suite, name) = split(&claim.id, benchmarks);
        let text = || {
            format!(
                "{}: {}: measured {}, limit {} ({})",
                claim.state, claim.text, claim.measured, claim.limit, claim.source
            )
        };
        add(suite, Case::new(name, trouble(claim.state, text)));
    }
    for statement in outcome.statements() {
        let (suite, name) = statement
            .id
            .split_once('.')
            .unwrap_or((&statement.paper, &statement.id));
        let text = || format!("{}: {}: {}", statement.state, statement.says, statement.why);
        add(suite, Case::new(name, trouble(statement.state, text)));
    }
    for skipped in outcome.skipped() {
        if let Some(id) = &skipped.id {
            let (suite, name) = split(id, benchmarks);
            add(suite, Case::new(name, Some(("skipped", skipped.reason.clone()))));
        }
    }
    format_suites(outcome.benchmark(), &suites)
}

/// Returns the element and the message for a state other than holding.
fn trouble(state: State, text: impl Fn() -> String) -> Option<(&'static str, String)> {
    match state {
        State::Holds => None,
        State::DoesNotHold | State::Explained => Some(("failure", text())),
        State::CannotTell => Some(("skipped", text())),
    }
}

struct Case {
    name: String,
    /// The element for a result other than success, and its message.
    trouble: Option<(&'static str, String)>,
}

impl Case {
    fn new(name: &str, trouble: Option<(&'static str, String)>) -> Self {
        let name = name.to_owned();
        Self { name, trouble }
    }
}

fn format_suites(name: &str, suites: &[(String, Vec<Case>)]) -> String {
    let counts = |cases: &[&Case]| {
        let of = |kind| {
            cases
                .iter()
                .filter(|case| case.trouble.as_ref().is_some_and(|(other, _)| *other == kind))
                .count()
        };
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
            cases.len(),
            of("failure"),
            of("error"),
            of("skipped")
        )
    };
    let all: Vec<&Case> = suites.iter().flat_map(|(_, cases)| cases).collect();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"punctual {}\" {}>\n",
        escaped(name),
        counts(&all)
    );
    for (suite, cases) in suites {
        let (suite, of_suite) = (escaped(suite), counts(&cases.iter().collect::<Vec<_>>()));
        let _ = writeln!(xml, "  <testsuite name=\"{suite}\" {of_suite}>");
        for Case { name, trouble } in cases {
            let name = escaped(name);
            let _ = match trouble {
                None => writeln!(xml, "    <testcase classname=\"{suite}\" name=\"{name}\"/>"),
                Some((kind, message)) => writeln!(
                    xml,
                    "    <testcase classname=\"{suite}\" name=\"{name}\"><{kind} message=\"{}\"/></testcase>",
                    escaped(message)
                ),
            };
        }
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
}

/// Splits a claim's id into its benchmark and the rest. Limits are a suite, too.
fn split<'t>(id: &'t str, benchmarks: &[&str]) -> (&'t str, &'t str) {
    let of = benchmarks.iter().copied().chain(["bounds"]);
    let rest = |name: &str| id.strip_prefix(name)?.strip_prefix('.');
    let longest = of
        .filter(|name| rest(name).is_some())
        .max_by_key(|name| name.len());
    match longest {
        Some(name) => (&id[..name.len()], &id[name.len() + 1..]),
        None => id.split_once('.').unwrap_or((id, id)),
    }
}

/// Escapes text for XML attributes: markup becomes entities, and control characters, which XML forbids,
/// spaces.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(' ')
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use punctual_harness::{Claim, MachineFacts};
    use punctual_os::CpuSet;

    use super::*;

    #[test]
    fn every_claim_is_a_case_of_its_benchmark() {
        let mut outcome = Outcome::new("qualify", MachineFacts::read(&CpuSet::single(0)));
        outcome.claim(Claim::at_most("rt.9.high", "", "", 1.0, 2.0));
        outcome.claim(Claim::at_most(
            "rt.9-large-request.high",
            "a < \"b\" &\u{1}",
            "a paper",
            3.0,
            2.0,
        ));
        outcome.claim(Claim::at_most("bounds.rt.9.high.at-most", "", "", 1.0, 2.0));
        outcome.skip(Some("rt.9.remote"), "remote", "no\nnamespace");
        outcome.skip(None, "rows", "too short");
        outcome.unfit("holes");
        let xml = xml(&outcome, &["rt.9", "rt.9-large-request"]);
        let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"punctual qualify\" tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\">
  <testsuite name=\"qualify\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">
    <testcase classname=\"qualify\" name=\"verdict\"><error message=\"machine unfit: holes\"/></testcase>
  </testsuite>
  <testsuite name=\"rt.9\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\">
    <testcase classname=\"rt.9\" name=\"high\"/>
    <testcase classname=\"rt.9\" name=\"remote\"><skipped message=\"no&#10;namespace\"/></testcase>
  </testsuite>
  <testsuite name=\"rt.9-large-request\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">
    <testcase classname=\"rt.9-large-request\" name=\"high\"><failure \
message=\"does not hold: a &lt; &quot;b&quot; &amp; : measured 3.0, limit 2.0 (a paper)\"/></testcase>
  </testsuite>
  <testsuite name=\"bounds\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">
    <testcase classname=\"bounds\" name=\"rt.9.high.at-most\"/>
  </testsuite>
</testsuites>
";
        assert_eq!(xml, expected);
    }
}
