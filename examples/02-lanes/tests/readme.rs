//! Runs the commands of the README in two terminals' stead, and compares what they print with what it shows.

#[path = "../../01-hello/tests/terminal/mod.rs"]
mod terminal;

use std::process::Output;

use terminal::{Server, blocks_of, command};

const README: &str = include_str!("../README.md");

#[test]
fn readme_does_what_it_says() {
    let commands = blocks_of(README, "sh");
    let [server, client, server_from_file, plan] = commands[..] else {
        panic!("the README should show four commands, and shows {commands:?}");
    };
    let shown = blocks_of(README, "text");
    let [working_at, answers, feasible] = shown[..] else {
        panic!("the README should show three outputs, and shows {shown:?}");
    };

    // Nobody serves yet.
    let failure = command(client).output().unwrap();
    assert_eq!(failure.status.code(), Some(1));
    assert!(
        complaints(&failure).contains("is the server running?"),
        "{failure:?}"
    );

    // One after the other: both listen at the same port.
    for line in [server, server_from_file] {
        let server = Server::start(line);
        assert_eq!(server.first_line, working_at, "{line}");
        // The second time nothing is left of the first.
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
