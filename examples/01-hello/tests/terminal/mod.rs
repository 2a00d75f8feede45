//! Shared by the tests of all examples: runs the commands of a README.

use std::{
    cell::RefCell,
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
};

/// Contents of a page's code blocks of one language.
pub fn blocks_of<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let start = format!("```{kind}\n");
    page.split(&start)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or(rest).trim())
        .collect()
}

/// A line of a README as a command at the root of the workspace.
pub fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let program = words.next().expect("a command has a first word");
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

/// A server that is killed when dropped. Cargo has been replaced by the program (exec), so the child is the
/// server itself.
pub struct Server {
    child: Child,
    said: RefCell<BufReader<ChildStdout>>,
    /// First line of output, printed once connections are accepted.
    pub first_line: String,
}

impl Server {
    /// Runs a line of a README and waits for its first line of output.
    pub fn start(line: &str) -> Self {
        let mut child = command(line).stdout(Stdio::piped()).spawn().unwrap();
        let said = RefCell::new(BufReader::new(child.stdout.take().unwrap()));
        // From here on it is killed in any case.
        let mut server = Self {
            child,
            said,
            first_line: String::new(),
        };
        server.first_line = server.next_line();
        server
    }

    /// Waits for the next line of output.
    #[allow(dead_code, reason = "not all examples print more than one")]
    pub fn next_line(&self) -> String {
        let mut line = String::new();
        self.said.borrow_mut().read_line(&mut line).unwrap();
        line.truncate(line.trim_end().len());
        line
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the two commands of a README, a server's and a client's, and compares the server's first line and the
/// client's output with those that the README shows.
#[allow(dead_code, reason = "not all examples have just these two commands")]
pub fn serves_and_answers(readme: &str) {
    let [server, client] = blocks_of(readme, "sh")[..] else {
        panic!("expected two commands in the README");
    };
    let [working_at, answers] = blocks_of(readme, "text")[..] else {
        panic!("expected two outputs in the README");
    };
    let server = Server::start(server);
    assert_eq!(server.first_line, working_at);
    let answer = command(client).output().unwrap();
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim_end(), answers);
}
