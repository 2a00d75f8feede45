//! The report: one page.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::{Chapter, Page, Table, table::shown};
use serde_json::{Map, Value, json};

use crate::{
    Error, Length,
    judge::Judgement,
    report::page,
    run::{Measured, Run},
    testbed::Settings,
};

/// Of all benchmarks of a run.
pub(crate) fn of_all(
    run: &Run<'_>,
    outcome: &Outcome,
    judgement: &Judgement,
    settings: &Settings,
) -> Result<String, Error> {
    let mut page = page("Punctual: qualification of this machine", outcome)?
        .contents()
        .section("What holds")
        .paragraph(HOW_TO_READ)
        .table(&Table::of(&run.measured.iter().map(row_of).collect::<Vec<_>>()).columns(SUMMARY))
        .table(&claims(outcome.claims().iter(), "All claims"));
    for mistake in &judgement.mistakes {
        page = page.paragraph(format!("✗ {mistake}"));
    }
    for chapter in &judgement.chapters {
        page = page.chapter(chapter)?;
    }
    if !outcome.skipped().is_empty() {
        page = page.section("What was not measured").table(&skipped(outcome));
    }
    if settings.length() == Length::Quick {
        page = page
            .section("What --quick shortened")
            .paragraph("Fewer points, fewer samples, wider confidence intervals. Without --quick it would have taken longer:")
            .table(&shortened(run));
    }
    for measured in &run.measured {
        page = chapter(page, measured, settings)?;
    }
    Ok(page.to_html())
}

/// Of a single benchmark.
pub(crate) fn of_one(title: &str, measured: &Measured<'_>, settings: &Settings) -> Result<String, Error> {
    let page = page(title, &measured.outcome)?;
    Ok(chapter(page, measured, settings)?.to_html())
}

const HOW_TO_READ: &str = "Each claim is a number that a paper or an issue set, beside what was measured here. Compare figures within this run: \
     another run on another day has other noise. Maxima are shown with their cause and nothing is claimed of them.";

fn chapter(page: Page, measured: &Measured<'_>, settings: &Settings) -> Result<Page, Error> {
    let name = measured.benchmark.name;
    let outcome = &measured.outcome;
    let mut chapter = match &measured.chapter {
        Some(chapter) => chapter.clone().named(name),
        None => Chapter::new(name).paragraph(outcome.verdict().to_string()),
    };
    if !outcome.claims().is_empty() {
        chapter = chapter.table(claims(outcome.claims().iter(), "Claims"));
    }
    if !outcome.skipped().is_empty() {
        chapter = chapter.table(skipped(outcome).title("Not measured"));
    }
    let command = format!("punctual bench {name}{}", settings.arguments());
    let chapter = chapter
        .note(format!("Measured with {}.", set_up(outcome)))
        .command(command);
    Ok(page.chapter(&chapter)?)
}

/// Parameters that are one value each.
fn set_up(outcome: &Outcome) -> String {
    let single = outcome
        .parameters()
        .iter()
        .filter(|(_, value)| !value.is_object() && !value.is_array());
    let told = single.map(|(name, value)| format!("{} {}", name.replace('_', " "), shown(value)));
    told.collect::<Vec<_>>().join("; ")
}

fn claims<'c>(claims: impl Iterator<Item = &'c Claim>, title: &str) -> Table {
    let rows: Vec<Value> = claims
        .map(|claim| {
            json!({
                "sign": sign(claim.holds), "id": claim.id, "text": claim.text, "measured": claim.measured,
                "limit": claim.limit, "source": claim.source,
            })
        })
        .collect();
    Table::of(rows.iter().filter_map(Value::as_object))
        .title(title)
        .columns(&[
            ("sign", ""),
            ("id", "claim"),
            ("text", "what it says"),
            ("measured", "measured"),
            ("limit", "limit"),
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
        ("reason", "why not"),
    ])
}

fn shortened(run: &Run<'_>) -> Table {
    let rows: Vec<Value> = run
        .measured
        .iter()
        .map(
            |Measured {
                 benchmark,
                 elapsed,
                 outcome,
                 ..
             }| {
                json!({
                    "benchmark": benchmark.name,
                    "quick": elapsed.as_secs_f64().round(),
                    "full": (benchmark.expected)(Length::Full).as_secs_f64().round(),
                    "what": shortened_of(outcome),
                })
            },
        )
        .collect();
    Table::of(rows.iter().filter_map(Value::as_object)).columns(&[
        ("benchmark", "benchmark"),
        ("quick", "took (s)"),
        ("full", "full run (s)"),
        ("what", "what is shorter"),
    ])
}

/// In its own words, or else how it was set up.
fn shortened_of(outcome: &Outcome) -> String {
    match outcome.parameters().get("shortened").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("measured with {}", set_up(outcome)),
    }
}

pub(super) const SUMMARY: &[(&str, &str)] = &[
    ("sign", ""),
    ("benchmark", "benchmark"),
    ("claims", "claims that hold"),
    ("elapsed", "took (s)"),
    ("trouble", "what does not hold, or what failed"),
];

/// What a benchmark says in one row. A sign stands only where something was judged.
pub(super) fn row_of(measured: &Measured<'_>) -> Map<String, Value> {
    let outcome = &measured.outcome;
    let broken = outcome.claims().iter().filter(|claim| !claim.holds);
    let broken: Vec<&str> = broken.map(|claim| claim.id.as_str()).collect();
    let doubts: Vec<String> = outcome.doubts().collect();
    let all = outcome.claims().len();
    let nothing = all == 0 && outcome.rows().is_empty();
    let (judged, trouble) = match (doubts.is_empty(), nothing, outcome.skipped()) {
        (false, ..) => (Some(false), doubts.join("; ")),
        (true, true, [first, ..]) => (None, format!("nothing was measured: {}", first.reason)),
        (true, true, []) => (None, "nothing was measured".to_owned()),
        (true, false, _) => ((all > 0).then_some(broken.is_empty()), some_of(&broken)),
    };
    let claims = match all {
        0 => "no claim".to_owned(),
        _ => format!("{} of {all}", all - broken.len()),
    };
    let row = Row::new()
        .with("sign", judged.map(sign))
        .with("benchmark", measured.benchmark.name)
        .with("claims", claims)
        .with("elapsed", measured.elapsed.as_secs_f64().round())
        .with("trouble", trouble);
    row.as_map().clone()
}

/// A line of names.
fn some_of(names: &[&str]) -> String {
    match names {
        [one, two, three, _, rest @ ..] => format!("{one}, {two}, {three} and {} more", rest.len() + 1),
        few => few.join(", "),
    }
}

fn sign(holds: bool) -> &'static str {
    if holds { "✓" } else { "✗" }
}
