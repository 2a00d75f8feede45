//! The report as one HTML page.

mod first;

use punctual_harness::{Claim, Outcome, Row, State, Statement};
use punctual_report::{Chapter, Page, Table, table::shown};
use serde_json::{Map, Value, json};

use crate::{
    compare::Comparison,
    error::Error,
    length::Length,
    report::{page, with_machine},
    run::{Measured, Run},
    settings::Settings,
    statements::tables,
};

/// Returns the page of a whole run.
pub(crate) fn of_all(
    run: &Run<'_>,
    outcome: &Outcome,
    comparison: &Comparison,
    settings: &Settings,
) -> Result<Page, Error> {
    let page = first::page_of(run, outcome)?;
    let mut page = with_machine(page, outcome)?
        .contents()
        .section("Claims")
        .paragraph(HOW_TO_READ)
        .table(&Table::of(&run.measured.iter().map(row_of).collect::<Vec<_>>()).columns(SUMMARY))
        .table(&claims(outcome.claims().iter(), "All claims"));
    for mistake in &comparison.mistakes {
        page = page.paragraph(format!("✗ {mistake}"));
    }
    for chapter in &comparison.chapters {
        page = page.chapter(chapter)?;
    }
    let unknown = "Statements that cannot be evaluated here, and their requirements";
    if let Some(table) = tables::with_reasons(outcome, unknown, &[State::CannotTell]) {
        page = page.table(&table);
    }
    if !outcome.skipped().is_empty() {
        page = page.section("Not measured").table(&skipped(outcome));
    }
    if settings.length() == Length::Quick {
        page = page
            .section("Shortened by --quick")
            .paragraph(
                "Fewer points, fewer samples and wider confidence intervals. Durations of the full run for \
                 comparison:",
            )
            .table(&shortened(run));
    }
    for measured in &run.measured {
        page = chapter(page, measured, outcome.statements(), settings)?;
    }
    Ok(page)
}

/// Returns the page of a single benchmark.
pub(crate) fn of_one(title: &str, measured: &Measured<'_>, settings: &Settings) -> Result<Page, Error> {
    let page = page(title, &measured.outcome);
    let statements = measured.outcome.statements();
    let page = chapter(page, measured, statements, settings)?;
    with_machine(page, &measured.outcome)
}

/// Returns the page of the controls.
pub(crate) fn of_controls(outcome: &Outcome, table: &Table) -> Result<Page, Error> {
    let mut page = page("Punctual: claims under their controls", outcome)
        .paragraph(
            "A control changes one thing that claims depend on. A claim that holds even then says nothing, \
             and so does a claim without a control.",
        )
        .table(table)
        .table(&claims(
            outcome.claims().iter().filter(|claim| !claim.holds()),
            "To be corrected",
        ));
    if !outcome.skipped().is_empty() {
        page = page.section("Not measured").table(&skipped(outcome));
    }
    with_machine(page, outcome)
}

const HOW_TO_READ: &str = "\
Each claim compares a measured value with a limit from a paper or of Punctual's own. Compare figures within \
this run \
only: another run has different noise. Maxima are shown with their causes; no claim is made about them.";

fn chapter(
    page: Page,
    measured: &Measured<'_>,
    statements: &[Statement],
    settings: &Settings,
) -> Result<Page, Error> {
    let name = measured.part.benchmark.name;
    let outcome = &measured.outcome;
    let mut chapter = match &measured.chapter {
        Some(chapter) => chapter.clone().named(name),
        None => Chapter::new(name).paragraph(outcome.verdict().to_string()),
    };
    if let Some(table) = tables::of_benchmark(statements, name) {
        chapter = chapter.led_by(table);
    }
    if !outcome.claims().is_empty() {
        chapter = chapter.table(claims(outcome.claims().iter(), "Claims"));
    }
    if !outcome.skipped().is_empty() {
        chapter = chapter.table(skipped(outcome).title("Not measured"));
    }
    let command = format!("punctual bench {name}{}", settings.arguments());
    let chapter = chapter
        .note(format!("Measured with {}.", settings_of(outcome)))
        .command(command);
    Ok(page.chapter(&chapter)?)
}

/// Formats the parameters that are single values.
fn settings_of(outcome: &Outcome) -> String {
    let single = outcome
        .parameters()
        .iter()
        .filter(|(_, value)| !value.is_object() && !value.is_array());
    let texts = single.map(|(name, value)| format!("{} {}", name.replace('_', " "), shown(value)));
    texts.collect::<Vec<_>>().join("; ")
}

fn claims<'c>(claims: impl Iterator<Item = &'c Claim>, title: &str) -> Table {
    let rows: Vec<Value> = claims
        .map(|claim| {
            json!({
                "sign": claim.state.sign(), "id": claim.id, "text": claim.text, "measured": claim.measured,
                "limit": claim.limit, "state": claim.state.to_string(), "control": claim.control,
                "source": claim.source,
            })
        })
        .collect();
    Table::of(rows.iter().filter_map(Value::as_object))
        .title(title)
        .columns(&[
            ("sign", ""),
            ("id", "claim"),
            ("text", "statement"),
            ("measured", "measured"),
            ("limit", "limit"),
            ("state", "state"),
            ("control", "control"),
            ("source", "source"),
        ])
}

fn skipped(outcome: &Outcome) -> Table {
    let rows: Vec<Value> = outcome
        .skipped()
        .iter()
        .map(|skipped| json!({"what": skipped.what, "claim": skipped.id, "reason": skipped.reason}))
        .collect();
    Table::of(rows.iter().filter_map(Value::as_object)).columns(&[
        ("what", "what"),
        ("claim", "claim"),
        ("reason", "reason"),
    ])
}

fn shortened(run: &Run<'_>) -> Table {
    let rows: Vec<Value> = run
        .measured
        .iter()
        .map(|measured| {
            let full = (measured.part.benchmark.expected)(Length::Full);
            json!({
                "benchmark": measured.part.benchmark.name,
                "quick": measured.elapsed.as_secs_f64().round(),
                "full": full.as_secs_f64().round(),
                "what": shortened_of(&measured.outcome),
            })
        })
        .collect();
    Table::of(rows.iter().filter_map(Value::as_object)).columns(&[
        ("benchmark", "benchmark"),
        ("quick", "took (s)"),
        ("full", "full run (s)"),
        ("what", "shortened"),
    ])
}

/// Returns the benchmark's statement of what is shorter, or else its settings.
fn shortened_of(outcome: &Outcome) -> String {
    match outcome.parameters().get("shortened").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("measured with {}", settings_of(outcome)),
    }
}

pub(super) const SUMMARY: &[(&str, &str)] = &[
    ("sign", ""),
    ("benchmark", "benchmark"),
    ("claims", "claims holding"),
    ("elapsed", "took (s)"),
    ("trouble", "broken claims or failures"),
];

/// Summarises a benchmark in one row. The sign is empty if no claim was checked.
pub(super) fn row_of(measured: &Measured<'_>) -> Map<String, Value> {
    let outcome = &measured.outcome;
    let broken = outcome.claims().iter().filter(|claim| !claim.holds());
    let broken: Vec<&str> = broken.map(|claim| claim.id.as_str()).collect();
    let state = State::of_all(outcome.claims().iter().map(|claim| claim.state));
    let doubts: Vec<String> = outcome.doubts().collect();
    let all = outcome.claims().len();
    let nothing = all == 0 && outcome.rows().is_empty();
    let (evaluated, trouble) = match (doubts.is_empty(), nothing, outcome.skipped()) {
        (false, ..) => (
            Some(if outcome.is_unfit() {
                State::CannotTell
            } else {
                State::DoesNotHold
            }),
            doubts.join("; "),
        ),
        (true, true, [first, ..]) => (None, format!("nothing was measured: {}", first.reason)),
        (true, true, []) => (None, "nothing was measured".to_owned()),
        (true, false, _) => ((all > 0).then_some(state), some_of(&broken)),
    };
    let claims = match all {
        0 => "no claim".to_owned(),
        _ => format!("{} of {all}", all - broken.len()),
    };
    let row = Row::new()
        .with("sign", evaluated.map(State::sign))
        .with("benchmark", measured.part.benchmark.name)
        .with("claims", claims)
        .with("elapsed", measured.elapsed.as_secs_f64().round())
        .with("trouble", trouble);
    row.as_map().clone()
}

/// Joins names; shortens a long list.
fn some_of(names: &[&str]) -> String {
    match names {
        [one, two, three, _, rest @ ..] => format!("{one}, {two}, {three} and {} more", rest.len() + 1),
        few => few.join(", "),
    }
}
