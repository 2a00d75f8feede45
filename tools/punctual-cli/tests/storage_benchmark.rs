//! `dyn.tss` from end to end, as far as what it shows does not depend on how fast the machine is.

use std::{
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Two measurements would disturb each other, so that the second one refuses; it is tried again for a while.
const PATIENCE: Duration = Duration::from_secs(180);

#[test]
fn the_tables_of_the_paper_are_filled() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (json, html) = (folder.join("dyn.tss.json"), folder.join("dyn.tss.html"));
    let start = Instant::now();
    let said = loop {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["bench", "dyn.tss", "--quick", "--leave-system-alone"]);
        let output = command
            .arg("--json")
            .arg(&json)
            .arg("--html")
            .arg(&html)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        if !error.contains("another measurement") || start.elapsed() > PATIENCE {
            break format!("{}{error}", String::from_utf8_lossy(&output.stdout));
        }
        thread::sleep(Duration::from_secs(2));
    };
    let outcome: Value = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
    let rows = outcome["rows"].as_array().unwrap();
    let of_table = |table: &'static str| rows.iter().filter(move |row| row["table"] == table);
    // Three of ours and POSIX's measured, two of the paper's.
    assert_eq!(of_table("creation").count(), 5, "{said}");
    // Five storages and two of the paper's, read and written.
    assert_eq!(of_table("access").count(), 14, "{said}");
    assert_eq!(of_table("keys").count(), 10, "{said}");
    for row in of_table("access") {
        assert!(row["mean_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{row}");
        assert!(row["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{row}");
    }
    let claims = outcome["claims"].as_array().unwrap();
    let ids: Vec<_> = claims.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
    let wanted = [
        "creation",
        "read-word",
        "read-typed",
        "write-word",
        "write-typed",
        "read-keys",
        "write-keys",
    ];
    assert_eq!(ids, wanted, "{said}");
    let page = fs::read_to_string(&html).expect(&said);
    assert_eq!(page.matches("<svg").count(), 3, "a figure is missing on the page");
}
