//! The README of an example, and its commands.

use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Output, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use serde_json::Value;

/// The root of the workspace.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A page whose commands one test at a time runs: servers listen on fixed ports.
pub struct Readme {
    page: String,
    _alone: MutexGuard<'static, ()>,
}

impl Readme {
    /// Reads the README of an example when no other test runs its commands.
    pub fn of(example: &str) -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let page = fs::read_to_string(format!("{ROOT}/examples/{example}/README.md")).unwrap();
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self { page, _alone }
    }

    /// Contents of the code blocks of one language.
    pub fn blocks(&self, kind: &str) -> Vec<&str> {
        blocks_of(&self.page, kind)
    }

    /// Runs the only command and compares its output with the one that the page shows.
    pub fn answers(&self) {
        let ([run], [shown]) = (&self.blocks("sh")[..], &self.blocks("text")[..]) else {
            panic!("expected one command and one output");
        };
        assert_answers(run, shown);
    }

    /// Runs the two commands, a server's and a client's, and compares the first line of the server and the
    /// output of the client with those that the page shows.
    pub fn serves_and_answers(&self) {
        let ([server, client], [working_at, answers]) = (&self.blocks("sh")[..], &self.blocks("text")[..])
        else {
            panic!("expected two commands and two outputs");
        };
        let server = Server::start(server);
        assert_eq!(server.first_line, *working_at);
        assert_answers(client, answers);
    }
}

/// Contents of a page's code blocks of one language.
pub fn blocks_of<'p>(page: &'p str, kind: &str) -> Vec<&'p str> {
    let start = format!("```{kind}\n");
    page.split(&start)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or(rest).trim())
        .collect()
}

/// Runs a command that succeeds with this output.
pub fn assert_answers(line: &str, shown: &str) {
    let output = command(line).output().unwrap();
    assert!(output.status.success(), "{line}: {}", complaints(&output));
    assert_eq!(said(&output), shown, "{line}");
}

/// Runs a client that fails with advice, since no server is running.
pub fn assert_fails_without_server(client: &str) {
    let failure = command(client).output().unwrap();
    assert_eq!(failure.status.code(), Some(1), "{failure:?}");
    let advice = "check that the server is running";
    assert!(complaints(&failure).contains(advice), "{failure:?}");
}

/// Standard output without the last line's end.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Standard error.
pub fn complaints(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command `cargo run -p PACKAGE [--bin PROGRAM] [[--] ARGUMENT...]` at the root of the workspace.
pub fn command(line: &str) -> Command {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["cargo", "run", "-p", package, rest @ ..] = &words[..] else {
        panic!("`{line}` does not run a package");
    };
    let (program, arguments) = match rest {
        ["--bin", program, arguments @ ..] => (Some(*program), arguments),
        arguments => (None, arguments),
    };
    let mut command = Command::new(Programs::built().path(package, program));
    command.args(arguments.strip_prefix(&["--"]).unwrap_or(arguments));
    command.current_dir(ROOT);
    command
}

/// The programs of the workspace.
struct Programs {
    metadata: Value,
}

impl Programs {
    /// Builds all of them at once: with the features of one package, Cargo would compile the ORB again.
    fn built() -> &'static Self {
        static BUILT: OnceLock<Programs> = OnceLock::new();
        BUILT.get_or_init(|| {
            cargo(&["build", "--quiet", "--workspace", "--bins"]);
            let metadata = cargo(&["metadata", "--no-deps", "--format-version=1"]);
            let metadata = serde_json::from_slice(&metadata).expect("JSON");
            Self { metadata }
        })
    }

    /// The program that `cargo run` selects.
    fn path(&self, package: &str, program: Option<&str>) -> PathBuf {
        let packages = self.metadata["packages"].as_array().expect("packages");
        let found = packages.iter().find(|found| found["name"] == package);
        let found = found.unwrap_or_else(|| panic!("there is no package `{package}`"));
        let targets = found["targets"].as_array().expect("targets").iter();
        let programs = targets.filter(|target| target["kind"][0] == "bin");
        let names: Vec<&str> = programs.filter_map(|target| target["name"].as_str()).collect();
        let name = match (program, &names[..]) {
            (Some(name), names) if names.contains(&name) => name,
            (None, [name]) => name,
            _ => panic!("`{package}` has the programs {names:?}, not {program:?}"),
        };
        let target = self.metadata["target_directory"].as_str().expect("a folder");
        [target, "debug", name].iter().collect()
    }
}

/// Runs Cargo and returns its output.
fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(ROOT)
        .output();
    let output = output.expect("Cargo");
    assert!(
        output.status.success(),
        "cargo {arguments:?}: {}",
        complaints(&output)
    );
    output.stdout
}

/// A server that is killed when dropped.
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
