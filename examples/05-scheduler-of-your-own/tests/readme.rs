//! Runs the commands of the README and compares their output with it.

#[path = "../../01-hello/tests/terminal/mod.rs"]
mod terminal;

use terminal::{Server, blocks_of, command};

const README: &str = include_str!("../README.md");

#[test]
fn the_readme_shows_the_actual_output() {
    let commands = blocks_of(README, "sh");
    let [server, client] = commands[..] else {
        panic!("expected two commands in the README: {commands:?}");
    };
    let shown = blocks_of(README, "text");
    let [working_at, orders] = shown[..] else {
        panic!("expected two outputs in the README: {shown:?}");
    };
    let sources = [
        include_str!("../src/order.rs"),
        include_str!("../src/taking_turns.rs"),
        include_str!("../src/least_energy.rs"),
    ];
    for line in blocks_of(README, "rust").into_iter().flat_map(str::lines) {
        let exists = sources.iter().any(|source| source.contains(line.trim()));
        assert!(exists, "line of the README that is not in the sources: {line}");
    }

    // No server is running yet.
    let failure = command(client).output().unwrap();
    assert_eq!(failure.status.code(), Some(1));
    let complaints = String::from_utf8_lossy(&failure.stderr);
    assert!(
        complaints.contains("check that the server is running"),
        "{complaints}"
    );

    let server = Server::start(server);
    assert_eq!(server.first_line, working_at);
    for _ in 0..2 {
        let answer = command(client).output().unwrap();
        let complaints = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{complaints}");
        assert_eq!(String::from_utf8_lossy(&answer.stdout).trim_end(), orders);
    }
}
