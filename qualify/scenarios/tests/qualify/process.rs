//! Runs this binary again, as `punctual qualify`.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStderr, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use punctual_scenarios::qualify;
use serde_json::Value;

use crate::benchmarks;

pub const RUN: &str = "__qualify";

/// Runs what `punctual qualify` runs, with the benchmarks of this test.
pub fn main() -> ExitCode {
    let all: Vec<_> = benchmarks::ALL.iter().collect();
    qualify::run(&all, &options(std::env::args().skip(2)))
}

/// Parses the arguments of `punctual qualify` that the tests use.
fn options(mut arguments: impl Iterator<Item = String>) -> qualify::Options {
    let mut options = qualify::Options::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("the argument has a value");
        match argument.as_str() {
            "--quick" => options.settings.quick = true,
            "--leave-system-alone" => options.settings.leave_system_alone = true,
            "--controls" => options.controls = true,
            "--only" => options.only = value().split(',').map(str::to_owned).collect(),
            "--json" => options.files.json = Some(value().into()),
            "--html" => options.files.html = Some(value().into()),
            "--baseline" => options.against.baseline = Some(value().into()),
            "--bounds" => options.against.bounds = Some(value().into()),
            "--junit" => options.against.junit = Some(value().into()),
            other => panic!("unknown argument {other}"),
        }
    }
    options
}

/// The result of a run.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Returns the exit code and the whole output.
    pub fn output(&self) -> String {
        format!("exit code {}\n{}\n{}", self.code, self.stdout, self.stderr)
    }
}

pub fn qualify(arguments: &[&str]) -> Ended {
    qualify_by(own(), arguments)
}

/// Returns a command that starts this binary, which SIGINT ends.
pub fn own() -> Command {
    punctual_fixtures::programs::interruptible(own_path())
}

/// Returns the path of this binary.
pub fn own_path() -> PathBuf {
    std::env::current_exe().expect("the path of this binary")
}

/// Runs `punctual qualify`. A measurement refuses to start while another one runs; it is retried for a while.
pub fn qualify_by(mut program: Command, arguments: &[&str]) -> Ended {
    program.arg(RUN).args(arguments);
    let start = Instant::now();
    loop {
        let output = program.output().expect("it starts");
        let ended = Ended {
            code: output.status.code().expect("an exit code"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        };
        if !ended.stderr.contains("another measurement") || start.elapsed() > RETRY_TIMEOUT {
            return ended;
        }
        thread::sleep(Duration::from_secs(1));
    }
}

const RETRY_TIMEOUT: Duration = Duration::from_secs(180);

/// A run in progress, in its own process group, as a shell starts it.
pub struct Running {
    pub process: Child,
    stderr: BufReader<ChildStderr>,
    output: String,
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
                output: String::new(),
            };
            let refused = running.wait_for("[").is_none() && running.output.contains("another measurement");
            if !refused || start.elapsed() > RETRY_TIMEOUT {
                return running;
            }
            let _ = running.process.wait();
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// Waits for a line with this text and returns the rest of it; `None` at the end of the output.
    pub fn wait_for(&mut self, text: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.stderr.read_line(&mut line).ok()? == 0 {
                return None;
            }
            self.output += &line;
            if let Some((_, rest)) = line.split_once(text) {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// Waits for its end. Returns the exit code (`None` after a signal) and the whole output.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = self.process.wait().expect("it was not waited for yet");
        let _ = self.stderr.read_to_string(&mut self.output);
        (status.code(), self.output)
    }
}

/// Returns the path of a file for a test, after removing a file of an earlier run.
pub fn file(name: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("qualify-{name}"));
    let _ = fs::remove_file(&file);
    file
}

/// Reads the JSON in a file; a failure shows the output of the run.
pub fn json(file: &std::path::Path, output: &str) -> Value {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}\n{output}", file.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the ids of the claims.
pub fn claims(json: &Value) -> Vec<&str> {
    let claims = json["claims"].as_array().expect("claims");
    claims
        .iter()
        .map(|claim| claim["id"].as_str().expect("an id"))
        .collect()
}

/// Returns why something was not measured.
pub fn reason<'j>(json: &'j Value, what: &str) -> &'j str {
    let skipped = json["skipped"].as_array().expect("a list");
    let found = skipped.iter().find(|skipped| skipped["what"] == what);
    let found = found.unwrap_or_else(|| panic!("{what} is not in {skipped:?}"));
    found["reason"].as_str().expect("a reason")
}
