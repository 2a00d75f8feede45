//! The omniORB programs: built once, started with a deadline on everything, killed when dropped.

use std::{
    fs,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use punctual_fixtures::{Missing, skip, waiting::holds_within};

/// Where the programs are.
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Builds the programs in a folder of `scratch` unless that has been done; records a skip without
    /// omniORB.
    ///
    /// # Panics
    /// If the build fails.
    pub fn build(scratch: &str) -> Option<&'static Self> {
        static PROGRAMS: OnceLock<Result<Programs, String>> = OnceLock::new();
        match PROGRAMS.get_or_init(|| make(&Path::new(scratch).join("omniorb"))) {
            Ok(programs) => Some(programs),
            Err(reason) => {
                skip(Missing::Peer, reason);
                None
            }
        }
    }

    /// Starts `interop-server` with these options.
    pub fn server(&self, options: &[&str]) -> Server {
        let file = self.new_file("server.ior");
        let mut arguments = vec!["--ior", file.to_str().expect("a path of text")];
        arguments.extend(options);
        let mut program = self.start("interop-server", &arguments);
        holds_within(START, || file.exists() || program.has_ended());
        let reference = fs::read_to_string(&file).unwrap_or_else(|error| {
            panic!("no reference from interop-server: {error}\n{}", program.output())
        });
        Server {
            program,
            reference: reference.trim().to_owned(),
        }
    }

    /// Runs `interop-client` to its end; its checks must pass, and those that it skips by itself must be
    /// `skipped`.
    pub fn check(&self, reference: &str, options: &[&str], skipped: &[&str]) {
        let mut arguments = vec![reference];
        arguments.extend(options);
        let mut client = self.start("interop-client", &arguments);
        let status = client.end_within(RUN);
        let output = client.output();
        println!("{output}");
        let status = status.unwrap_or_else(|| panic!("interop-client does not end\n{output}"));
        assert!(
            status.success(),
            "interop-client: {status}\n{}",
            only_failures(&output)
        );
        let lines = |start: &str| -> Vec<String> {
            let found = output.lines().filter_map(|line| line.strip_prefix(start));
            found
                .map(|rest| rest.split(':').next().unwrap_or(rest).to_owned())
                .collect()
        };
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let expected = sorted(skipped.iter().copied().map(str::to_owned).collect());
        assert_eq!(
            sorted(lines("skipped ")),
            expected,
            "the checks that the client skips by itself"
        );
        let left_out = options.iter().filter(|option| **option == "--skip").count() + skipped.len();
        assert_eq!(
            lines("ok ").len() + left_out,
            CHECKS,
            "the checks that passed\n{output}"
        );
    }

    fn start(&self, program: &str, arguments: &[&str]) -> Program {
        let output = self.new_file(&format!("{program}.log"));
        let log = File::create(&output).expect("a file in the scratch folder");
        let child = Command::new(self.folder.join(program))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle of a file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {program}: {error}"));
        Program { child, output }
    }

    fn new_file(&self, name: &str) -> PathBuf {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.join(format!("{number}-{name}"));
        let _ = fs::remove_file(&file);
        file
    }
}

/// How many checks `interop-client` has.
const CHECKS: usize = 123;

const BUILD: Duration = Duration::from_secs(600);
const START: Duration = Duration::from_secs(20);
const RUN: Duration = Duration::from_secs(180);
const END: Duration = Duration::from_secs(10);

/// A running `interop-server`.
pub struct Server {
    program: Program,
    /// The reference to its main object, `IOR:...`.
    pub reference: String,
}

impl Server {
    /// Expects it to end by itself, with success.
    pub fn ends(mut self) {
        let status = self.program.end_within(END);
        let status =
            status.unwrap_or_else(|| panic!("interop-server does not end\n{}", self.program.output()));
        assert!(
            status.success(),
            "interop-server: {status}\n{}",
            self.program.output()
        );
    }
}

/// A running program.
struct Program {
    child: Child,
    output: PathBuf,
}

impl Program {
    fn has_ended(&mut self) -> bool {
        self.status().is_some()
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of this process")
    }

    fn end_within(&mut self, time: Duration) -> Option<ExitStatus> {
        holds_within(time, || self.has_ended());
        self.status()
    }

    fn output(&self) -> String {
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

fn only_failures(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.starts_with("ok "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Fails where omniORB is not installed; panics where it is and the programs cannot be built.
fn make(folder: &Path) -> Result<Programs, String> {
    let has = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    };
    let header = ["-E", "-x", "c++", "-include", "omniORB4/CORBA.h", "/dev/null"];
    if !(has("omniidl", &["-V"]) && has("make", &["--version"]) && has("g++", &header)) {
        let packages = "libomniorb4-dev omniidl g++ make";
        return Err(format!(
            "omniORB or a tool is not installed: sudo apt-get install {packages}"
        ));
    }
    fs::create_dir_all(folder).expect("a folder in the scratch folder");
    let log = folder.join("make.log");
    let output = File::create(&log).expect("a file in the scratch folder");
    let child = Command::new("make")
        .arg("-C")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/omniorb"))
        .arg(format!("BUILD={}", folder.display()))
        .arg("-j2")
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a second handle of a file"))
        .stderr(output)
        .spawn()
        .expect("make starts");
    let mut program = Program { child, output: log };
    let built = program.end_within(BUILD).is_some_and(|status| status.success());
    assert!(built, "cannot build the omniORB programs:\n{}", program.output());
    Ok(Programs {
        folder: folder.to_owned(),
    })
}
