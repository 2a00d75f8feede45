//! Command of the eighth example's README, with what it counts.

use super::{
    readme::{Readme, command, complaints, said},
    source,
};

#[test]
fn the_command_of_the_readme_flies_before_and_with_the_threat() {
    let readme = Readme::of("08-flight-program");
    let ([run], [shown]) = (&readme.blocks("sh")[..], &readme.blocks("text")[..]) else {
        panic!("expected one command and one output");
    };
    let output = command(run).output().unwrap();
    assert!(output.status.success(), "{}", complaints(&output));
    let text = said(&output);
    assert!(shown.lines().all(|line| text.contains(line)), "{text}");
    let rows = |name: &str| {
        let lines = text.lines().filter(|line| line.starts_with(name));
        lines.map(|line| numbers(line, name)).collect::<Vec<_>>()
    };
    // Every release ends in exactly one way; what follows runs as often as what it follows.
    for (name, expected) in [
        ("air data", [40, 40]),
        ("flight control", [40, 40]),
        ("navigation", [20, 20]),
    ] {
        let sums: Vec<u32> = rows(name).iter().map(|row| row.iter().sum()).collect();
        assert_eq!(sums, expected, "{name}: {text}");
    }
    let radar = rows("radar track");
    let (before, with): (u32, u32) = (radar[0].iter().sum(), radar[1].iter().sum());
    assert!((before, with) == (20, 40), "the threat doubles the rate: {text}");
    assert!(
        rows("air data").iter().all(|row| row[2] == 0),
        "critical work is not cancelled: {text}"
    );
}

/// In time, late, and cancelled.
fn numbers(line: &str, name: &str) -> Vec<u32> {
    let columns = line[name.len()..].split_whitespace().skip(2);
    columns.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn it_takes_200_lines() {
    let lines = source("08-flight-program", "src/main.rs").lines().count();
    assert!(lines <= 200, "{lines} lines");
}
