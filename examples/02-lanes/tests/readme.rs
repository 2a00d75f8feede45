//! Runs the commands of the README and compares their output with the README's.

#[path = "../../01-hello/tests/terminal/mod.rs"]
mod terminal;

use std::process::Output;

use terminal::{Server, blocks_of, command};

const README: &str = include_str!("../README.md");

#[test]
fn commands_of_the_readme_print_its_output() {
    let commands = blocks_of(README, "sh");
    let [server, client, server_from_file, plan] = commands[..] else {
        panic!("expected four commands in the README: {commands:?}");
    };
    let shown = blocks_of(README, "text");
    let [working_at, answers, feasible] = shown[..] else {
        panic!("expected three outputs in the README: {shown:?}");
    };

    // No server is running yet.
    let failure = command(client).output().unwrap();
    assert_eq!(failure.status.code(), Some(1));
    assert!(
        complaints(&failure).contains("check that the server is running"),
        "{failure:?}"
    );

    // One after the other: both listen on the same port.
    for line in [server, server_from_file] {
        let server = Server::start(line);
        assert_eq!(server.first_line, working_at, "{line}");
        // The second run is independent of the first.
        for _ in 0..2 {
            let answer = command(client).output().unwrap();
            assert!(answer.status.success(), "{}", complaints(&answer));
            assert_eq!(said(&answer), answers, "{line}");
        }
    }

    let planned = command(plan).output().unwrap();
    assert!(planned.status.success(), "{}", complaints(&planned));
    assert!(said(&planned).ends_with(feasible), "{}", said(&planned));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn complaints(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
