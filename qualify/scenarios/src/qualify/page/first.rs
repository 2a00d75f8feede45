//! The first page: which findings hold here, three pictures, and what does not hold and why.

use punctual_harness::{Outcome, Row};
use punctual_report::{Figure, Page};

use crate::{
    error::Error,
    load::{Importance, Pool},
    qualify::BROKEN,
    report::page,
    run::Run,
    statements::tables,
};

/// Benchmarks whose first figure is a picture of the first page.
const PICTURES: [&str; 2] = ["orb.latency", "dyn.dispatch"];

pub(super) fn page_of(run: &Run<'_>, outcome: &Outcome) -> Result<Page, Error> {
    let mut page = page("Punctual: qualification of this machine", outcome)
        .table(&tables::by_paper(outcome).title("Which papers' findings hold on this machine"));
    let of_chapter = |name: &str| {
        let measured = run
            .measured
            .iter()
            .find(|measured| measured.part.benchmark.name == name)?;
        measured.chapter.as_ref()?.figures().next().cloned()
    };
    let pictures = std::iter::once(lanes(outcome)).chain(PICTURES.map(of_chapter));
    for picture in pictures.flatten().filter(|picture| picture.to_svg().is_ok()) {
        page = page.figure(&picture)?;
    }
    if let Some(table) = tables::with_reasons(outcome, "What does not hold, and why", BROKEN) {
        page = page.table(&table);
    }
    Ok(page)
}

/// Returns the figure of the demo: the most important client with and without lanes, of `rt.5` and `rt.4`.
fn lanes(outcome: &Outcome) -> Option<Figure> {
    let of = |benchmark: &str, importance: Importance| -> Vec<(f64, f64)> {
        let has = |row: &&Row, column: &str, value: &str| row.get(column).is_some_and(|cell| cell == value);
        let rows = outcome.rows().iter().filter(|row| {
            has(row, "benchmark", benchmark)
                && has(row, "priority", importance.name())
                && row.get("place").is_none_or(|place| place == "local")
        });
        let point = |row: &Row| Some((row.number("work")?, row.number("achieved_hz")?));
        rows.filter_map(point).collect()
    };
    let clients = [Importance::High, Importance::Low];
    let curves = [("rt.5", Pool::Lanes), ("rt.4", Pool::WithoutLanes)];
    let figure = Figure::new("Who loses when the processor is overloaded")
        .caption(
            "With lanes, the 75 Hz client of high priority keeps its rate until it alone uses the whole \
             processor (work 60), and the low-priority one loses first; with a pool without lanes this is \
             reversed. [Pyarali 2002] figures 15 and 17.",
        )
        .x("work per call (30: the processor can do 150 calls/s)")
        .y("calls per second");
    let curves = clients
        .iter()
        .flat_map(|client| curves.map(|(name, pool)| (*client, name, pool)));
    let figure = curves.fold(figure, |figure, (client, name, pool)| {
        let name_of = format!(
            "{} priority, {} Hz, {}",
            client.name(),
            client.rate(),
            pool.title()
        );
        figure.line(name_of, of(name, client))
    });
    let drawn = !of("rt.4", Importance::High).is_empty() && !of("rt.5", Importance::High).is_empty();
    drawn.then_some(figure)
}
