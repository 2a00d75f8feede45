//! Writes a page with made-up figures, to look at how pages look: `cargo run -p punctual-report --example page`.

use punctual_report::{LineFigure, Page, Series, Table, Tone};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let works = [30.0, 40.0, 50.0, 55.0, 65.0, 80.0];
    let curve = |name: &str, rates: [f64; 6]| Series {
        name: name.into(),
        points: works.into_iter().zip(rates).collect(),
    };
    let figure = LineFigure {
        title: "Throughput per priority with lanes (made up)".into(),
        caption: "As the work of each call grows, the low priority gives way first.".into(),
        x_label: "work per call (30 = 150 calls/s)".into(),
        y_label: "achieved rate (Hz)".into(),
        series: vec![
            curve("high priority, 75 Hz", [75.0, 75.0, 74.9, 74.8, 69.2, 56.2]),
            curve("medium priority, 50 Hz", [50.0, 37.5, 15.0, 6.8, 0.0, 0.0]),
            curve("low priority, 25 Hz", [25.0, 0.4, 0.0, 0.0, 0.0, 0.0]),
        ],
    };
    let rows: Vec<Value> = figure
        .series
        .iter()
        .flat_map(|series| {
            series
                .points
                .iter()
                .map(|(work, hz)| json!({"priority": series.name, "work": work, "achieved_hz": hz}))
        })
        .collect();
    let table = Table::of(rows.iter().filter_map(Value::as_object));
    println!("{}", table.to_text());
    let page = Page::new("Punctual demo (made up)")
        .verdict("demo: PASS: 4 of 4 claims hold", Tone::Good)
        .facts_of(&json!({"kernel": "6.1", "cpus": 2, "pinned_cpus": [1], "memory_lock": true}))
        .section("Throughput")
        .figure(&figure)?
        .table(&table)
        .data("demo.json", &json!({"schema": 1, "rows": rows}));
    let directory = std::env::temp_dir();
    std::fs::write(directory.join("punctual-page.html"), page.to_html())?;
    std::fs::write(directory.join("punctual-figure.svg"), figure.to_svg()?)?;
    println!(
        "wrote punctual-page.html and punctual-figure.svg to {}",
        directory.display()
    );
    Ok(())
}
