//! The omniORB programs: built once.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use punctual_fixtures::{Missing, skip};

use crate::process::{Program, Server, make, works};

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
        match PROGRAMS.get_or_init(|| build(&Path::new(scratch).join("omniorb"))) {
            Ok(programs) => Some(programs),
            Err(reason) => {
                skip(Missing::Peer, reason);
                None
            }
        }
    }

    /// Starts `interop-server` with these options.
    pub fn server(&self, options: &[&str]) -> Server {
        Server::start(
            &self.folder,
            "interop-server",
            self.command("interop-server", options),
        )
    }

    /// Starts a server of an `Exchange` with these options; with a target it passes all calls on.
    pub fn exchange(&self, options: &[&str], target: Option<&str>) -> Server {
        let proxy = target.map(|target| ["--proxy", target]);
        let arguments = [proxy.as_slice().as_flattened(), options].concat();
        let command = self.command("dynamics-server", &arguments);
        Server::start(&self.folder, "dynamics-server", command)
    }

    /// Runs `interop-client` to its end; its checks must pass, and those that it skips by itself must be
    /// `skipped`. Returns how many passed.
    pub fn check(&self, reference: &str, options: &[&str], skipped: &[&str]) -> usize {
        let mut arguments = vec![reference];
        arguments.extend(options);
        let command = self.command("interop-client", &arguments);
        let mut client = Program::start(&self.folder, "interop-client", command);
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
        let passed = lines("ok ").len();
        assert_eq!(passed + left_out, CHECKS, "the checks that passed\n{output}");
        passed
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.join(program));
        command.args(arguments);
        command
    }
}

/// How many checks `interop-client` has.
const CHECKS: usize = 123;

const RUN: Duration = Duration::from_secs(180);

fn only_failures(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.starts_with("ok "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Fails where omniORB is not installed; panics where it is and the programs cannot be built.
fn build(folder: &Path) -> Result<Programs, String> {
    let header = ["-E", "-x", "c++", "-include", "omniORB4/CORBA.h", "/dev/null"];
    if !(works("omniidl", &["-V"]) && works("make", &["--version"]) && works("g++", &header)) {
        let packages = "libomniorb4-dev omniidl g++ make";
        return Err(format!(
            "omniORB or a tool is not installed: sudo apt-get install {packages}"
        ));
    }
    make("omniorb", folder, &[]);
    Ok(Programs {
        folder: folder.to_owned(),
    })
}
