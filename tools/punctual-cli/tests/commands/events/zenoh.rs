//! The commands of docs/events.md that connect two channels over Zenoh, if its workspace has been built.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use punctual_fixtures::{Missing, eventually, free_port, skip};

const PAGE: &str = include_str!("../../../../../docs/events.md");
const BEFORE: &str = "<!-- run by tools/punctual-cli/tests/commands/events/zenoh.rs -->\n\n```sh\n";

const RUN: &str = "cargo run --manifest-path services/zenoh/Cargo.toml --example gateway -- ";

#[test]
fn the_documented_commands_connect_two_channels_over_zenoh() {
    let Some(gateway) = gateway() else {
        // As the test command, `.ci/run` does not build it.
        let build = "cargo build --manifest-path services/zenoh/Cargo.toml --example gateway";
        return skip(
            Missing::Machine,
            format!("the gateway over Zenoh is not built: {build}"),
        );
    };
    let (_, rest) = PAGE.split_once(BEFORE).expect("the commands of the page");
    let (commands, _) = rest.split_once("```").expect("their end");
    let mut commands = commands.to_owned();
    for port in ["2830", "2831", "7447"] {
        commands = commands.replace(port, &free_port().to_string());
    }
    let mut started = Vec::new();
    for command in commands.lines() {
        let (program, arguments) = match command.strip_prefix(RUN) {
            Some(arguments) => (gateway.clone(), arguments),
            None => (
                PathBuf::from(env!("CARGO_BIN_EXE_punctual")),
                command.strip_prefix("punctual ").expect("a known program"),
            ),
        };
        let mut command = Command::new(program);
        command.args(arguments.split(' '));
        if arguments.starts_with("events send") {
            let Some(Started(tail, _)) = started.last_mut() else {
                panic!("nothing was started before {arguments}");
            };
            // The gateways find each other meanwhile.
            eventually("the event arrives", || {
                assert!(command.status().unwrap().success());
                tail.try_wait().unwrap().is_some_and(|status| status.success())
            });
        } else {
            started.push(Started::new(command, arguments.starts_with("events tail")));
        }
    }
    let Some(Started(_, output)) = started.last_mut() else {
        panic!("no tail");
    };
    let shown: Vec<String> = output.lines().map_while(Result::ok).collect();
    assert!(shown.len() == 1 && shown[0].contains("hot"), "{shown:?}");
}

fn gateway() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../services/zenoh/target");
    let profiles = ["debug", "release"].map(|profile| folder.join(profile).join("examples/gateway"));
    profiles.into_iter().find(|program| program.exists())
}

/// A program that runs until the test ends, and what it prints.
struct Started(Child, BufReader<Box<dyn std::io::Read>>);

impl Started {
    /// Waits for the first line, which `tail` writes to its standard error.
    fn new(mut command: Command, is_tail: bool) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let mut output = BufReader::new(Box::new(output) as Box<dyn std::io::Read>);
        let mut first = String::new();
        let read = match is_tail {
            true => BufReader::new(errors).read_line(&mut first),
            false => output.read_line(&mut first),
        };
        assert!(read.unwrap() > 0, "{command:?} ended");
        Self(child, output)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
