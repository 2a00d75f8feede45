//! States of the statements by the claims of a run.

use std::collections::BTreeSet;

use punctual_harness::{Claim, Outcome, State, Statement};

use super::{Evaluation, Explanation, Paper, Stated, papers};
use crate::control::meet;

/// Marks explained claims as such, and adds what the claims of these benchmarks say about the statements. An
/// outcome of a single benchmark has claims without its name.
pub(crate) fn evaluate(outcome: &mut Outcome, benchmarks: &[&str]) {
    evaluate_by(papers(), outcome, benchmarks);
}

fn evaluate_by(papers: &[Paper], outcome: &mut Outcome, benchmarks: &[&str]) {
    let stated = || {
        let all = papers
            .iter()
            .flat_map(|paper| paper.statements.iter().map(move |one| (paper, one)));
        all.filter(|(_, one)| match &one.evaluation {
            Evaluation::Claims { benchmark, .. } => benchmarks.contains(&benchmark.as_str()),
            Evaluation::Needs(_) => true,
        })
    };
    let alone = benchmarks.contains(&outcome.benchmark());
    for claim in outcome
        .claims_mut()
        .filter(|claim| claim.state == State::DoesNotHold)
    {
        let explained = stated().any(|(_, stated)| {
            let Evaluation::Claims {
                benchmark, explained, ..
            } = &stated.evaluation
            else {
                return false;
            };
            let mut explained = explained.iter();
            explained
                .any(|(pattern, why)| meet(&whole(alone, benchmark, pattern), &claim.id) && why.covers(claim))
        });
        if explained {
            claim.state = State::Explained;
        }
    }
    let wrong: Vec<String> = stated()
        .flat_map(|(_, stated)| other_limits(stated, outcome, alone))
        .collect();
    wrong.into_iter().for_each(|text| outcome.failed(text));
    let all = stated().filter_map(|(paper, stated)| evaluated(paper, stated, outcome, alone));
    let all = all.collect();
    outcome.set_statements(all);
}

/// Describes claims that are judged by another limit than the table states.
fn other_limits(stated: &Stated, outcome: &Outcome, alone: bool) -> Vec<String> {
    let Evaluation::Claims {
        benchmark, limits, ..
    } = &stated.evaluation
    else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    for (pattern, limit) in limits {
        let claims = of(&whole(alone, benchmark, pattern), outcome);
        for claim in claims.filter(|claim| claim.limit.as_f64() != Some(*limit)) {
            let (id, by) = (&claim.id, &claim.limit);
            wrong.push(format!(
                "{}: {id} is judged by {by}, not by {limit} as stated",
                stated.id
            ));
        }
    }
    wrong
}

/// Returns a statement with its state; `None` if it belongs to no benchmark, and the run is one benchmark's.
fn evaluated(paper: &Paper, stated: &Stated, outcome: &Outcome, alone: bool) -> Option<Statement> {
    let statement = Statement {
        id: stated.id.clone(),
        paper: paper.key.clone(),
        source: stated.source.clone(),
        says: stated.statement.clone(),
        benchmark: None,
        claims: Vec::new(),
        state: State::CannotTell,
        why: String::new(),
    };
    match &stated.evaluation {
        Evaluation::Needs(_) if alone => None,
        Evaluation::Needs(needs) => Some(Statement {
            why: format!("needs {needs}"),
            ..statement
        }),
        Evaluation::Claims {
            benchmark,
            claims,
            explained,
            finding,
            ..
        } => {
            let patterns: Vec<String> = claims
                .iter()
                .map(|pattern| whole(alone, benchmark, pattern))
                .collect();
            let found: Vec<&Claim> = patterns.iter().flat_map(|pattern| of(pattern, outcome)).collect();
            let missing: Vec<&String> = patterns
                .iter()
                .filter(|pattern| of(pattern, outcome).next().is_none())
                .collect();
            let states = found.iter().map(|claim| claim.state);
            let state = State::of_all(states.chain(missing.iter().map(|_| State::CannotTell)));
            let why = match state {
                State::Holds => String::new(),
                State::Explained => {
                    let broken = found.iter().filter(|claim| claim.state == State::Explained);
                    let reasons = explained.iter().filter(|(pattern, _)| {
                        let pattern = whole(alone, benchmark, pattern);
                        broken.clone().any(|claim| meet(&pattern, &claim.id))
                    });
                    let reasons: BTreeSet<&str> = reasons.map(|(_, one)| one.why.trim()).collect();
                    let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
                    with_finding(reasons, finding.as_deref())
                }
                State::DoesNotHold => {
                    let ranges = explained
                        .iter()
                        .map(|(pattern, one)| (whole(alone, benchmark, pattern), one));
                    with_finding(measured(&found, &ranges.collect::<Vec<_>>()), finding.as_deref())
                }
                State::CannotTell => reasons(&missing, outcome, benchmark),
            };
            Some(Statement {
                benchmark: Some(benchmark.clone()),
                claims: found.iter().map(|claim| claim.id.clone()).collect(),
                state,
                why,
                ..statement
            })
        }
    }
}

/// Adds where the finding is described.
fn with_finding(why: String, finding: Option<&str>) -> String {
    match finding {
        Some(page) => format!("{why} (docs/findings/{page}.md)"),
        None => why,
    }
}

/// Returns the pattern of a claim's id in the outcome.
fn whole(alone: bool, benchmark: &str, pattern: &str) -> String {
    if alone {
        pattern.to_owned()
    } else {
        format!("{benchmark}.{pattern}")
    }
}

fn of<'o>(pattern: &str, outcome: &'o Outcome) -> impl Iterator<Item = &'o Claim> + use<'o> {
    let pattern = pattern.to_owned();
    outcome
        .claims()
        .iter()
        .filter(move |claim| meet(&pattern, &claim.id))
}

/// Lists the claims that do not hold, with their values, and the values that an explanation covers, by
/// pattern.
fn measured(claims: &[&Claim], explained: &[(String, &Explanation)]) -> String {
    use punctual_report::table::shown;
    let broken = claims.iter().filter(|claim| claim.state == State::DoesNotHold);
    let texts = broken.map(|claim| {
        let covered = explained.iter().find(|(pattern, _)| meet(pattern, &claim.id));
        let covered = covered.map_or(String::new(), |(_, one)| {
            format!(" (explained from {} to {})", one.from, one.to)
        });
        format!(
            "{}: {}, limit {}{covered}",
            claim.id,
            shown(&claim.measured),
            shown(&claim.limit)
        )
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// States why claims are missing.
fn reasons(missing: &[&String], outcome: &Outcome, benchmark: &str) -> String {
    let verdict = format!("verdict of {benchmark}");
    let mut reasons: Vec<&str> = Vec::new();
    for skipped in outcome.skipped() {
        let concerns = |id: &String| missing.iter().any(|pattern| meet(pattern, id));
        let of_claim = skipped.id.as_ref().is_some_and(concerns);
        let of_benchmark = skipped.what == verdict || skipped.what == benchmark;
        if (of_claim || of_benchmark) && !reasons.contains(&skipped.reason.as_str()) {
            reasons.push(&skipped.reason);
        }
    }
    match reasons[..] {
        [] => format!("{benchmark} did not judge it in this run"),
        _ => reasons.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;
    use crate::statements::parse;

    const TABLE: &str = "
paper = \"A\"
[[statement]]
id = \"1\"
statement = \"a\"
source = \"s\"
benchmark = \"rt.5\"
evaluated_by = [\"high\", \"high.*\"]
method = \"m\"
[[statement]]
id = \"2\"
statement = \"b\"
source = \"s\"
benchmark = \"rt.5\"
evaluated_by = [\"order\", \"high\"]
method = \"m\"
explained = { order = { from = 1.5, to = 2, why = \"the cable is too long\" } }
finding = \"cables\"
[[statement]]
id = \"3\"
statement = \"c\"
source = \"s\"
needs = \"wings\"
";

    fn states(outcome: &mut Outcome, benchmarks: &[&str]) -> Vec<(String, State, String)> {
        evaluate_by(&[parse("a", TABLE).unwrap()], outcome, benchmarks);
        let all = outcome.statements().iter();
        all.map(|one| (one.id.clone(), one.state, one.why.clone()))
            .collect()
    }

    fn outcome(name: &str, claims: &[(&str, f64)]) -> Outcome {
        let mut outcome = Outcome::new(name, MachineFacts::read(&CpuSet::single(0)));
        for (id, measured) in claims {
            outcome.claim(Claim::at_most(*id, "", "", *measured, 1.0));
        }
        outcome
    }

    #[test]
    fn a_statement_holds_if_all_of_its_claims_do() {
        let claims = [
            ("rt.5.high", 1.0),
            ("rt.5.high.b", 1.0),
            ("rt.5.order", 1.0),
            ("rt.50.high", 9.0),
        ];
        let mut all = outcome("qualify", &claims);
        let needs = ("a.3".to_owned(), State::CannotTell, "needs wings".to_owned());
        let held = |id: &str| (id.to_owned(), State::Holds, String::new());
        assert_eq!(
            states(&mut all, &["rt.5"]),
            [held("a.1"), held("a.2"), needs.clone()]
        );
        assert_eq!(
            states(&mut all, &["rt.6"]),
            [needs],
            "rt.5 is not part of the run"
        );

        let mut alone = outcome("rt.5", &[("high", 1.0), ("high.b", 2.0), ("order", 1.0)]);
        let broken = (
            "a.1".to_owned(),
            State::DoesNotHold,
            "high.b: 2, limit 1".to_owned(),
        );
        assert_eq!(states(&mut alone, &["rt.5"]), [broken, held("a.2")]);
    }

    #[test]
    fn a_claim_that_is_evaluated_by_another_limit_is_an_error() {
        let limits = |limit: f64| {
            let table = format!(
                "{TABLE}\n[[statement]]\nid = \"4\"\nstatement = \"d\"\nsource = \"s\"\n\
                benchmark = \"rt.5\"\nevaluated_by = [\"high\"]\nmethod = \"m\"\n\
                limits = {{ \"high*\" = {limit:?} }}"
            );
            let mut all = outcome(
                "qualify",
                &[("rt.5.high", 0.5), ("rt.5.high.b", 0.5), ("rt.5.order", 0.5)],
            );
            evaluate_by(&[parse("a", &table).unwrap()], &mut all, &["rt.5"]);
            all.doubts().collect::<Vec<_>>()
        };
        assert_eq!(limits(1.0), [""; 0]);
        let said = "could not run: a.4: rt.5.high is judged by 1.0, not by 1.25 as stated";
        assert_eq!(limits(1.25)[0], said);
        assert_eq!(limits(1.25).len(), 2);
    }

    #[test]
    fn what_is_explained_does_not_hold() {
        let mut all = outcome(
            "qualify",
            &[("rt.5.high", 1.0), ("rt.5.high.b", 1.0), ("rt.5.order", 2.0)],
        );
        let why = "the cable is too long (docs/findings/cables.md)".to_owned();
        assert_eq!(
            states(&mut all, &["rt.5"])[1],
            ("a.2".to_owned(), State::Explained, why)
        );
        let order = &all.claims()[2];
        assert!(order.state == State::Explained && !order.holds());
    }

    #[test]
    fn an_explanation_covers_its_range_and_no_other_value() {
        let state_at = |order: f64| {
            let mut all = outcome(
                "qualify",
                &[("rt.5.high", 1.0), ("rt.5.high.b", 1.0), ("rt.5.order", order)],
            );
            let (_, state, why) = states(&mut all, &["rt.5"]).swap_remove(1);
            assert_eq!(all.claims()[2].state, state);
            (state, why)
        };
        for covered in [1.5, 1.7, 2.0] {
            assert_eq!(state_at(covered).0, State::Explained, "{covered}");
        }
        for (other, shown) in [(1.49, "1.49"), (2.01, "2.01"), (f64::INFINITY, "infinite")] {
            let (state, why) = state_at(other);
            let said = format!("rt.5.order: {shown}, limit 1 (explained from 1.5 to 2)");
            assert_eq!(
                (state, why),
                (State::DoesNotHold, said + " (docs/findings/cables.md)")
            );
        }
        let (state, _) = state_at(f64::NAN);
        assert_eq!(state, State::DoesNotHold, "without a value");
    }

    #[test]
    fn an_explanation_needs_its_range() {
        let range = "from = 1.5, to = 2, ";
        for (wrong, said) in [
            ("", "missing field `from`"),
            ("from = 2, to = 1.5, ", "`from` above `to`"),
        ] {
            let error = parse("a", &TABLE.replace(range, wrong)).err().unwrap();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn statements_about_other_benchmarks_say_nothing_of_a_run_alone() {
        let table = TABLE.replace("rt.5", "rt.6");
        let table = table.replace("method = \"m\"", "method = \"at most 3\"\nlimits = { \"*\" = 3 }");
        let mut alone = outcome("rt.5", &[("high", 1.0), ("order", 2.0)]);
        evaluate_by(&[parse("a", &table).unwrap()], &mut alone, &["rt.5"]);
        assert_eq!(alone.doubts().count(), 0);
        assert!(alone.statements().is_empty());
        assert_eq!(alone.claims()[1].state, State::DoesNotHold, "and explain nothing");
    }

    #[test]
    fn an_explanation_excuses_no_other_claim() {
        let claims = [("rt.5.high", 2.0), ("rt.5.high.b", 1.0), ("rt.5.order", 2.0)];
        let mut all = outcome("qualify", &claims);
        let why = "rt.5.high: 2, limit 1 (docs/findings/cables.md)".to_owned();
        assert_eq!(
            states(&mut all, &["rt.5"])[1],
            ("a.2".to_owned(), State::DoesNotHold, why)
        );
    }

    #[test]
    fn what_was_not_measured_cannot_be_told() {
        let mut all = outcome("qualify", &[("rt.5.high", 1.0)]);
        all.skip(Some("rt.5.high.b"), "the cable", "no second machine");
        let states = states(&mut all, &["rt.5"]);
        assert_eq!(
            states[0],
            (
                "a.1".to_owned(),
                State::CannotTell,
                "no second machine".to_owned()
            )
        );
        let why = "rt.5 did not judge it in this run".to_owned();
        assert_eq!(states[1], ("a.2".to_owned(), State::CannotTell, why));
    }
}
