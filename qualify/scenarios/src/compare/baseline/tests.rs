//! Tests of the comparison with an earlier run.

use punctual_harness::Row;
use punctual_os::CpuSet;

use super::*;

fn facts() -> MachineFacts {
    MachineFacts::read(&CpuSet::single(0))
}

fn switches(points: &[(u32, f64, f64)]) -> Outcome {
    let mut outcome = Outcome::new("os.thread-switch", facts());
    for (threads, p50, p99) in points {
        let row = Row::new().with("class", "fifo").with("threads", *threads);
        // A count that differs each time.
        let count = 1000 + (p50 * 10.0) as u32;
        outcome.row(
            row.with("switches", count)
                .with("p50_us", *p50)
                .with("p99_us", *p99),
        );
    }
    outcome
}

fn compared(old: &Outcome, now: &Outcome) -> rows::Compared {
    rows::compare(old, now)
}

#[test]
fn a_run_compared_with_itself_shows_no_change() {
    let old = switches(&[(2, 1.8, 3.0), (128, 2.4, 4.0)]);
    let same = compared(&old, &old);
    assert_eq!((same.changed.len(), same.figures, same.unpaired), (0, 4, 0));
    let text = Baseline::parse("old.json", &old.to_json())
        .unwrap()
        .compare(&old)
        .to_text();
    assert!(
        text.contains("No claim changed.") && text.contains("No median"),
        "{text}"
    );
}

#[test]
fn changes_above_the_noise_are_reported() {
    let old = switches(&[(2, 1.8, 3.0), (128, 2.4, 4.0)]);
    let now = switches(&[(2, 1.9, 3.5), (128, 2.8, 5.5)]);
    let changed = compared(&old, &now).changed;
    let reported: Vec<_> = changed
        .iter()
        .map(|row| (row["row"].as_str().unwrap(), row["figure"].as_str().unwrap()))
        .collect();
    assert_eq!(
        reported,
        [("fifo, threads=128", "p50_us"), ("fifo, threads=128", "p99_us")]
    );
    let change = changed[0]["change (%)"].as_f64().unwrap();
    assert!((change - 16.67).abs() < 0.01, "{change}");
}

#[test]
fn confidence_intervals_decide_if_rows_have_them() {
    let with = |median: f64, width: f64| {
        let mut outcome = Outcome::new("x", facts());
        let row = Row::new()
            .with("p50_over_raw", median)
            .with("p50_over_raw_low", median - width);
        outcome.row(row.with("p50_over_raw_high", median + width));
        outcome
    };
    assert_eq!(compared(&with(1.00, 0.01), &with(1.03, 0.01)).changed.len(), 1);
    assert_eq!(compared(&with(1.00, 0.2), &with(1.3, 0.2)).changed.len(), 0);
}

#[test]
fn a_shorter_run_is_compared_at_its_points() {
    let full = switches(&[(2, 1.8, 3.0), (10, 2.0, 3.0), (128, 2.4, 4.0), (1000, 2.6, 5.0)]);
    let quick = switches(&[(2, 1.8, 3.0), (128, 4.8, 4.0)]);
    let compared = compared(&full, &quick);
    assert_eq!(
        (compared.figures, compared.unpaired, compared.changed.len()),
        (4, 2, 1)
    );
    assert_eq!(compared.changed[0]["row"], "fifo, threads=128");
}

#[test]
fn rows_with_different_results_are_paired() {
    let with = |count: u32, cause: &str, p99: f64| {
        let mut outcome = Outcome::new("x", facts());
        for (waiters, count, cause) in [(2, count, cause), (90, 7, "timer interrupt")] {
            let row = Row::new()
                .with("waiters", waiters)
                .with("errors", count)
                .with("max_cause", cause);
            outcome.row(row.with("p99_us", p99));
        }
        outcome
    };
    let compared = compared(
        &with(7, "timer interrupt", 2.0),
        &with(8, "no interrupt on record", 4.0),
    );
    assert_eq!((compared.unpaired, compared.changed.len()), (0, 2));
    assert_eq!(compared.changed[0]["row"], "waiters=90, errors=7");
}

#[test]
fn claims_with_a_different_result_are_reported() {
    let with = |late: f64, ids: &[&str]| {
        let mut outcome = Outcome::new("x", facts());
        for id in ids {
            outcome.claim(Claim::at_most(*id, "", "", late, 1.0));
        }
        outcome
    };
    let changed = claims(&with(0.5, &["a", "gone"]), &with(1.5, &["a", "new", "bounds.a"]));
    let reported: Vec<_> = changed
        .iter()
        .map(|row| ["claim", "before", "now"].map(|name| row[name].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(
        reported,
        [
            ["a", "✓ holds", "✗ does not hold"],
            ["new", "not tested", "✗ does not hold"],
            ["gone", "✓ holds", "not tested"]
        ]
    );
}

#[test]
fn a_different_machine_is_reported() {
    let mut old = serde_json::to_value(switches(&[(2, 1.0, 1.0)])).unwrap();
    old["machine"]["kernel"] = json!("2.1.126");
    // As in files of earlier versions.
    old["machine"].as_object_mut().unwrap().remove("clock_source");
    let baseline = Baseline::parse("old.json", &old.to_string()).unwrap();
    let text = baseline.compare(&switches(&[(2, 1.0, 1.0)])).to_text();
    assert!(
        text.contains("2.1.126") && text.contains("Differences of machine"),
        "{text}"
    );
}

#[test]
fn one_benchmark_is_compared_with_its_part_of_a_whole_run() {
    let old = switches(&[(2, 1.8, 3.0)]);
    let mut now = Outcome::new("qualify", facts());
    now.absorb(switches(&[(2, 2.8, 3.0)]));
    assert_eq!(compared(&as_part_of(&now, &old), &now).changed.len(), 1);
}

#[test]
fn files_without_results_are_refused() {
    let error = |text: &str| Baseline::parse("old.json", text).err().unwrap();
    assert!(error("{}").starts_with("old.json was not written by `punctual qualify --json`"));
    let mut later = serde_json::to_value(switches(&[])).unwrap();
    later["schema"] = json!(2);
    assert!(error(&later.to_string()).contains("version 2"));
}
