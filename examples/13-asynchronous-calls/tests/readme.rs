//! Runs the commands of the README and compares their output with the README's.

#[path = "../../01-hello/tests/terminal/mod.rs"]
mod terminal;

use terminal::{Server, blocks_of, command};

const README: &str = include_str!("../README.md");

#[test]
fn commands_of_the_readme_print_its_output() {
    let [server, client] = blocks_of(README, "sh")[..] else {
        panic!("expected two commands in the README");
    };
    let [working_at, answers] = blocks_of(README, "text")[..] else {
        panic!("expected two outputs in the README");
    };
    let server = Server::start(server);
    assert_eq!(server.first_line, working_at);
    let answer = command(client).output().unwrap();
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim_end(), answers);
}
