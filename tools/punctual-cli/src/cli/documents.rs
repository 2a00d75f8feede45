//! Tests: every command that documents and help texts name is one that this program accepts, with files that
//! exist; those that need no server and neither measure nor change anything are run, at the root of the
//! checkout. Other programs are known, and what they are given exists.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory, Parser};

use punctual_scenarios::{benchmarks, qualify};

use super::{Cli, Command, Idl};
use crate::{completions, explain, idl, plan, scheduler};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn commands_of_documents_and_help_texts_are_accepted_and_their_files_exist() {
    std::env::set_current_dir(ROOT).unwrap();
    let commands = commands();
    assert!(commands.len() > 40, "{commands:#?}");
    let mut run = 0;
    let mut skipped: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (place, words) in &commands {
        let shown = words.join(" ");
        let cli = Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{place}: `{shown}`: {error}"));
        for file in files_to_read(words) {
            // A file that another command is said to write.
            let is_written = commands.iter().any(|(_, words)| writes(words, file));
            assert!(
                is_written || Path::new(file).exists(),
                "{place}: `{shown}`: {file} does not exist"
            );
        }
        match execute(cli.command, words) {
            Ok(code) => {
                run += 1;
                assert_eq!(code, ExitCode::SUCCESS, "{place}: `{shown}`");
            }
            Err(reason) => skipped.entry(reason).or_default().push(shown),
        }
    }
    eprintln!("{run} of {} commands were run", commands.len());
    for (reason, commands) in &skipped {
        eprintln!(
            "{} were not: {reason}:\n  {}",
            commands.len(),
            commands.join("\n  ")
        );
    }
    assert!(run >= 20, "only {run} commands were run");
}

/// Runs a command, or returns why it cannot be run here.
fn execute(command: Command, words: &[String]) -> Result<ExitCode, &'static str> {
    let mut pairs = words.windows(2);
    if pairs.any(|pair| OUTPUTS.contains(&pair[0].as_str()) && !pair[1].ends_with(".idl")) {
        return Err("it writes files");
    }
    if words.iter().any(|word| word.starts_with("FILE.") || word == "-") {
        return Err("it reads a file of the user");
    }
    Ok(match command {
        Command::Bench { name, .. } if name == "list" => crate::list_benchmarks(),
        Command::Qualify(arguments) if words.contains(&"--claims".to_owned()) => {
            qualify::run(&benchmarks().collect::<Vec<_>>(), &arguments.into())
        }
        Command::Demo(_) | Command::Bench { .. } | Command::Qualify(_) | Command::Trace(_) => {
            return Err("it measures");
        }
        Command::Plan(options) => plan::run(&options),
        Command::Explain(options) => explain::run(&options),
        Command::Completions(options) => completions::complete(Cli::command(), &options),
        Command::Man(options) if options.out_dir.is_none() => completions::manual(Cli::command(), &options),
        Command::Idl(Idl::Compile(_)) | Command::Man(_) | Command::New(_) => return Err("it writes files"),
        Command::Idl(command) => idl::run(&command),
        Command::Scheduler(command @ scheduler::Scheduler::Show(_)) => scheduler::run(&command),
        Command::Doctor(_) => return Err("its exit code depends on the machine"),
        Command::Call(_)
        | Command::Events(_)
        | Command::Naming(_)
        | Command::Scheduler(_)
        | Command::Top(_) => return Err("it needs a server or is one"),
    })
}

/// A terminal wraps paragraphs at its width: with breaks of their own, they would be wrapped twice.
#[test]
fn paragraphs_of_help_texts_are_single_lines() {
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
        for (line, next) in help.lines().zip(help.lines().skip(1)) {
            let name = command.get_name();
            assert!(!is_prose(line) || !is_prose(next), "{name}: `{line}` / `{next}`");
        }
        commands.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn other_commands_of_documents_are_known_and_their_files_exist() {
    let root = Path::new(ROOT);
    let tasks = fs::read_to_string(root.join("xtask/src/main.rs")).unwrap();
    let mut lines = 0;
    for file in documents_below(root) {
        let page = fs::read_to_string(&file).unwrap();
        let is_ours = |line: &&str| command_in(line).is_some();
        // A line after a backslash belongs to the line before.
        let is_rest = |line: &&str| line.starts_with("    ") || line.starts_with('#') || line.is_empty();
        for line in shell_lines(&page).filter(|line| !is_ours(line) && !is_rest(line)) {
            let words: Vec<&str> = line.trim_start_matches("sudo ").split_whitespace().collect();
            let is_known = match words[..] {
                ["cargo", "xtask", task, ..] => tasks.contains(&format!("[\"{task}\"")),
                ["cargo", "install", "--locked", "--path", folder] => {
                    root.join(folder).join("Cargo.toml").exists()
                }
                // A rule checks that its list of crates is complete and in order.
                ["cargo", "publish", ref options @ ..] => options
                    .windows(2)
                    .filter(|pair| pair[0] == "--manifest-path")
                    .all(|pair| root.join(pair[1]).exists()),
                ["cargo", "build", "--release"] | ["kill", "-HUP", "PID", ..] => true,
                // Tests of `punctual-tls` execute these.
                ["openssl" | "printf" | "echo", ..] => file.ends_with("docs/tls.md"),
                [
                    "cargo",
                    "run",
                    "--manifest-path",
                    manifest,
                    "--example",
                    example,
                    ..,
                ] => {
                    let program = Path::new("examples").join(example).with_extension("rs");
                    root.join(manifest).with_file_name(program).exists()
                }
                ["setcap", _, program] | ["setpriv", .., program] => {
                    program == "target/release/punctual" || program == "\\"
                }
                _ => false,
            };
            assert!(is_known, "{}: nothing checks `{line}`", file.display());
            lines += 1;
        }
    }
    assert!(lines > 4, "{lines}");
}

/// Options whose value is a file that the command writes.
const OUTPUTS: [&str; 7] = [
    "--export",
    "--json",
    "--html",
    "--lanes",
    "--perfetto",
    "--trace",
    "--junit",
];

fn writes(words: &[String], file: &str) -> bool {
    let mut pairs = words.windows(2);
    pairs.any(|pair| OUTPUTS.contains(&pair[0].as_str()) && pair[1] == file)
}

/// Arguments that are files of this checkout: the user's own are written in capitals, or are results of
/// earlier runs.
fn files_to_read(words: &[String]) -> impl Iterator<Item = &str> {
    let pairs = words.windows(2);
    pairs
        // TLS settings, as those of bounds, are files of the user.
        .filter(|pair| !OUTPUTS.contains(&pair[0].as_str()) && !["--bounds", "--tls"].contains(&&*pair[0]))
        .map(|pair| pair[1].as_str())
        .filter(|word| word.ends_with(".toml") || word.ends_with(".idl"))
        .filter(|word| !word.starts_with("FILE.") && !word.starts_with("OTHER."))
}

/// Every command line, without repetitions, and where it stands.
fn commands() -> BTreeSet<(String, Vec<String>)> {
    let mut all = BTreeSet::new();
    for file in documents_below(Path::new("")) {
        let text = fs::read_to_string(&file).unwrap();
        for line in shell_lines(&text) {
            all.extend(command_in(line).map(|words| (file.display().to_string(), words)));
        }
    }
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        let text = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        for line in text.lines().filter(|line| line.starts_with("  ")) {
            all.extend(command_in(line).map(|words| (format!("help of {}", command.get_name()), words)));
        }
        commands.extend(command.get_subcommands().cloned());
    }
    all
}

fn documents_below(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md"]
        .map(|page| root.join(page))
        .into();
    for folder in ["docs", "docs/guide"] {
        let entries = fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let pages = entries.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
        // The examples of the planning guide are run by a test of their own, with the files that they write.
        found.extend(pages.filter(|path| !path.ends_with("planning.md")));
    }
    found
}

/// Lines of the shell blocks of a page.
fn shell_lines(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("```sh\n").skip(1);
    blocks.flat_map(|rest| rest.split("```").next().unwrap_or_default().lines())
}

/// The words of a call of this program, without what the shell does with its output. `None`: another command.
fn command_in(line: &str) -> Option<Vec<String>> {
    let line = line.trim_start().trim_start_matches("sudo ");
    let line = line.strip_prefix("target/release/").unwrap_or(line);
    let line = line
        .strip_prefix("cargo run --release -- ")
        .map_or_else(|| line.to_owned(), |arguments| format!("punctual {arguments}"));
    if !line.starts_with("punctual ") {
        return None;
    }
    // A remark follows two spaces or `#`.
    let code = ["  ", " #", " | ", " > "]
        .iter()
        .fold(&line[..], |code, end| code.split(end).next().unwrap_or(code));
    let mut quoted = code.split('"').enumerate();
    let words = quoted.by_ref().flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    Some(words.collect())
}
