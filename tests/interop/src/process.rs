//! Programs of other ORBs: started with a deadline on everything, killed when dropped.

use std::{
    fs,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use punctual_fixtures::waiting::holds_within;

const BUILD: Duration = Duration::from_secs(600);
const START: Duration = Duration::from_secs(30);
const END: Duration = Duration::from_secs(10);

/// A running program, whose output goes to a file.
pub(crate) struct Program {
    child: Child,
    output: PathBuf,
}

impl Program {
    /// Starts it; `name` is that of its output in the folder.
    pub(crate) fn start(folder: &Path, name: &str, mut command: Command) -> Self {
        let output = new_file(folder, &format!("{name}.log"));
        let log = File::create(&output).expect("a file in the scratch folder");
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle of a file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        Self { child, output }
    }

    /// Runs it to its end, which must be a success. Returns its output.
    pub(crate) fn run(folder: &Path, name: &str, command: Command) -> String {
        let mut program = Self::start(folder, name, command);
        let succeeds = program.end_within(BUILD).is_some_and(|status| status.success());
        assert!(succeeds, "{name} fails:\n{}", program.output());
        program.output()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.status().is_some()
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of this process")
    }

    pub(crate) fn end_within(&mut self, time: Duration) -> Option<ExitStatus> {
        holds_within(time, || self.has_ended());
        self.status()
    }

    pub(crate) fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_else(|error| error.to_string())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It fails where the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running server of `Peer`.
pub struct Server {
    program: Program,
    /// The reference to its main object, `IOR:...`.
    pub reference: String,
}

impl Server {
    /// Starts a program that writes its reference to the file that it is given as `--ior FILE`.
    pub(crate) fn start(folder: &Path, name: &str, mut command: Command) -> Self {
        let file = new_file(folder, "server.ior");
        command.arg("--ior").arg(&file);
        let mut program = Program::start(folder, name, command);
        holds_within(START, || file.exists() || program.has_ended());
        let reference = fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("no reference from {name}: {error}\n{}", program.output()));
        Self {
            program,
            reference: reference.trim().to_owned(),
        }
    }

    /// Expects it to end by itself, with success.
    pub fn ends(mut self) {
        let status = self.program.end_within(END);
        let status = status.unwrap_or_else(|| panic!("the server does not end\n{}", self.program.output()));
        assert!(
            status.success(),
            "the server: {status}\n{}",
            self.program.output()
        );
    }
}

fn new_file(folder: &Path, name: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = folder.join(format!("{number}-{name}"));
    let _ = fs::remove_file(&file);
    file
}

/// Whether the program runs with these arguments, and succeeds.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}

/// Brings what the Makefile in this folder of the package makes up to date.
pub(crate) fn make(sources: &str, folder: &Path, variables: &[(&str, &Path)]) {
    fs::create_dir_all(folder).expect("a folder in the scratch folder");
    let mut command = Command::new("make");
    command
        .arg("-C")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(sources));
    command.arg(format!("BUILD={}", folder.display())).arg("-j2");
    for (name, value) in variables {
        command.arg(format!("{name}={}", value.display()));
    }
    Program::run(folder, "make", command);
}
