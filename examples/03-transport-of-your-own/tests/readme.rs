//! Runs the commands of the README and compares their output with the README's.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

const README: &str = include_str!("../README.md");

#[test]
fn commands_of_the_readme_print_its_output() {
    let commands = blocks("sh");
    let [server, client] = &commands[..] else {
        panic!("expected two commands in the README: {commands:?}");
    };
    let shown = blocks("text");
    let [counting_at, counts] = &shown[..] else {
        panic!("expected two outputs in the README: {shown:?}");
    };

    // No server is running yet.
    let failure = command(client).output().unwrap();
    let said = String::from_utf8_lossy(&failure.stderr);
    assert_eq!(failure.status.code(), Some(1), "{said}");
    assert!(said.contains("check that the server is running"), "{said}");

    let mut server = Server(command(server).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    // Printed once connections are accepted.
    assert_eq!(line.trim_end(), counting_at);

    let answer = command(client).output().unwrap();
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim_end(), counts);
}

/// Contents of the README's code blocks of one language.
fn blocks(kind: &str) -> Vec<String> {
    blocks_of(README, kind)
}

fn blocks_of(page: &str, kind: &str) -> Vec<String> {
    let start = format!("```{kind}\n");
    page.split(&start)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or(rest).trim().to_owned())
        .collect()
}

/// A line of the README as a command at the root of the workspace.
fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let program = words.next().expect("a command has a first word");
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

/// A server that is killed when dropped. Cargo has been replaced by the program (exec), so the child is the
/// server.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
