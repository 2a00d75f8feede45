//! Writes a page with made-up results, to inspect its appearance: `cargo run -p punctual-report --example
//! page`.

use punctual_report::{Chapter, Figure, Page, Table, Tone};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let works = [30.0, 40.0, 50.0, 55.0, 65.0, 80.0];
    let clients = [
        ("high priority, 75 Hz", [75.0, 75.0, 74.9, 74.8, 69.2, 56.2]),
        ("medium priority, 50 Hz", [50.0, 37.5, 15.0, 6.8, 0.0, 0.0]),
        ("low priority, 25 Hz", [25.0, 0.4, 0.0, 0.0, 0.0, 0.0]),
    ];
    let lanes = Figure::new("Throughput per priority with lanes (made up)")
        .caption("As the work of each call grows, the low priority gives way first.")
        .x("work per call (30 = 150 calls/s)")
        .y("achieved rate (Hz)");
    let lanes = clients.into_iter().fold(lanes, |figure, (name, rates)| {
        figure.line(name, works.into_iter().zip(rates))
    });
    let rows: Vec<Value> = clients
        .into_iter()
        .flat_map(|(name, rates)| {
            let rates = works.into_iter().zip(rates);
            rates.map(move |(work, hz)| json!({"priority": name, "work": work, "achieved_hz": hz}))
        })
        .collect();
    let table = Table::of(rows.iter().filter_map(Value::as_object));
    println!("{}", table.to_text());
    let page = Page::new("Punctual demo (made up)")
        .verdict("demo: PASS: 4 of 4 claims hold", Tone::Good)
        .facts_of(&json!({"kernel": "6.1", "cpus": 2, "pinned_cpus": [1], "memory_lock": true}))
        .contents()
        .chapter(
            &Chapter::new("Throughput")
                .figure(lanes.clone())
                .table(table)
                .command("punctual bench rt.5"),
        )?
        .chapter(&kinds_of_figures())?
        .data("demo.json", &json!({"schema": 1, "rows": rows}));
    let directory = std::env::temp_dir();
    std::fs::write(directory.join("punctual-page.html"), page.to_html())?;
    std::fs::write(directory.join("punctual-figure.svg"), lanes.to_svg()?)?;
    println!(
        "wrote punctual-page.html and punctual-figure.svg to {}",
        directory.display()
    );
    Ok(())
}

fn kinds_of_figures() -> Chapter {
    let tail = |worst: f64| {
        let shares = [0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
        shares.map(|share: f64| (share, 18.0 + worst / (100.0 - share)))
    };
    let switches = (0..20_000).map(|n: u32| {
        let noise = f64::from(n.wrapping_mul(2_654_435_761) >> 20) / 4096.0;
        let spike = if n.is_multiple_of(997) { 25.0 } else { 0.0 };
        (f64::from(n) / 2000.0, 1.8 + noise + spike * noise)
    });
    Chapter::new("Kinds of figures")
        .figure(
            Figure::new("Duration of calls")
                .caption("Each nine takes the same space.")
                .tail()
                .y("latency (µs)")
                .y_log()
                .line("lanes", tail(2.0))
                .line("pool without lanes", tail(40.0))
                .limit("deadline", 1000.0),
        )
        .figure(
            Figure::new("Thread switches over time")
                .x("time (s)")
                .y("switch (µs)")
                .samples("here", switches),
        )
        .figure(
            Figure::new("Context switches")
                .x("threads")
                .x_log()
                .y("p50 (µs)")
                .line("here", [(2.0, 1.8), (10.0, 2.3), (128.0, 2.4), (1000.0, 2.6)])
                .published(
                    "Linux 2.1, [Schmidt 2002] table 1",
                    [(2.0, 4.0), (10.0, 4.6), (128.0, 9.0)],
                )
                .published(
                    "LynxOS, [Schmidt 2002] table 1",
                    [(2.0, 6.0), (10.0, 6.6), (128.0, 7.0)],
                ),
        )
        .figure(
            Figure::new("Wait of the high-priority thread")
                .names(["none", "inheritance", "ceiling"])
                .y("wait (ms)")
                .bars("mean", [21.1, 1.03, 0.13])
                .bars("maximum", [21.2, 1.06, 0.14])
                .published_bars("[Fayyad-Kazan 2013]", [20.0, 1.1, f64::NAN])
                .limit("held for 1 ms", 1.0),
        )
}
