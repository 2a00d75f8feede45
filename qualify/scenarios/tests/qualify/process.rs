//! This binary again, as `punctual qualify`.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStderr, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use clap::Parser;
use punctual_scenarios::qualify;
use serde_json::Value;

use crate::benchmarks;

pub const RUN: &str = "__qualify";

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Arguments {
    #[command(flatten)]
    options: qualify::Options,
}

/// What the command line tool does.
pub fn main() -> ExitCode {
    let all: Vec<_> = benchmarks::ALL.iter().collect();
    qualify::run(&all, &Arguments::parse_from(std::env::args().skip(2)).options)
}

/// What came of a run.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Everything said.
    pub fn said(&self) -> String {
        format!("exit code {}\n{}\n{}", self.code, self.stdout, self.stderr)
    }
}

pub fn qualify(arguments: &[&str]) -> Ended {
    qualify_by(own(), arguments)
}

/// This binary, or what starts it.
pub fn own() -> Command {
    Command::new(std::env::current_exe().expect("a path of its own"))
}

/// Two measurements would disturb each other, so that the second one refuses; it is tried again for a while.
pub fn qualify_by(mut program: Command, arguments: &[&str]) -> Ended {
    program.arg(RUN).args(arguments);
    let start = Instant::now();
    loop {
        let output = program.output().expect("it starts");
        let ended = Ended {
            code: output.status.code().expect("it ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        };
        if !ended.stderr.contains("another measurement") || start.elapsed() > PATIENCE {
            return ended;
        }
        thread::sleep(Duration::from_secs(1));
    }
}

const PATIENCE: Duration = Duration::from_secs(180);

/// A run that goes on, in a process group of its own, as a terminal starts it.
pub struct Running {
    pub process: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        let start = Instant::now();
        loop {
            let mut command = own();
            command.arg(RUN).args(arguments).process_group(0);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            let mut process = command.spawn().expect("it starts");
            let stderr = BufReader::new(process.stderr.take().expect("it is piped"));
            let mut running = Self {
                process,
                stderr,
                said: String::new(),
            };
            let refused = running.wait_for("[").is_none() && running.said.contains("another measurement");
            if !refused || start.elapsed() > PATIENCE {
                return running;
            }
            let _ = running.process.wait();
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// The rest of the line with this text; `None` at the end.
    pub fn wait_for(&mut self, text: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.stderr.read_line(&mut line).ok()? == 0 {
                return None;
            }
            self.said += &line;
            if let Some((_, rest)) = line.split_once(text) {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// Waits for its end: exit code (none after a signal) and everything said.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = self.process.wait().expect("it was not waited for yet");
        let _ = self.stderr.read_to_string(&mut self.said);
        (status.code(), self.said)
    }
}

/// A file for a test, without what an earlier run left in it.
pub fn file(name: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("qualify-{name}"));
    let _ = fs::remove_file(&file);
    file
}

/// The JSON in a file; fails with what was said.
pub fn json(file: &std::path::Path, said: &str) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}\n{said}", file.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// The ids of its claims.
pub fn claims(json: &Value) -> Vec<&str> {
    let claims = json["claims"].as_array().expect("claims");
    claims
        .iter()
        .map(|claim| claim["id"].as_str().expect("an id"))
        .collect()
}

/// Why something was not measured.
pub fn reason<'j>(json: &'j Value, what: &str) -> &'j str {
    let skipped = json["skipped"].as_array().expect("a list");
    let found = skipped.iter().find(|skipped| skipped["what"] == what);
    let found = found.unwrap_or_else(|| panic!("{what} is not in {skipped:?}"));
    found["reason"].as_str().expect("a reason")
}
