//! `cargo xtask test`: all checks in steps, the cheap ones first, and all tests.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::{
    command::{self, cargo},
    examples,
    metadata::Metadata,
    peers, rules,
    workspace_tests::{self, Sum},
};

/// Runs the steps of these names, or all.
///
/// The first check that fails ends the run. Tests are run to the end, and the last line counts their results.
pub fn run(names: &[&str]) -> ExitCode {
    if let Some(unknown) = names
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != **name))
    {
        eprintln!("error: there is no step `{unknown}`; `cargo xtask help` lists them");
        return ExitCode::FAILURE;
    }
    let chosen: Vec<&Step> = STEPS
        .iter()
        .filter(|step| names.is_empty() || names.contains(&step.name))
        .collect();
    let mut times = Vec::new();
    let mut sum: Option<Sum> = None;
    for (index, step) in chosen.iter().enumerate() {
        println!(
            "\n==== {}/{} {}: {}",
            index + 1,
            chosen.len(),
            step.name,
            step.what
        );
        let start = Instant::now();
        let done = match step.run {
            Run::Check(check) => check(),
            Run::Tests(tests) => tests().map(|results| *sum.get_or_insert_default() += results),
        };
        if let Err(text) = done {
            eprintln!("\nerror: step `{}` failed: {text}", step.name);
            return ExitCode::FAILURE;
        }
        println!("---- {} took {}", step.name, seconds(start.elapsed()));
        times.push(format!("{} {}", step.name, seconds(start.elapsed())));
    }
    println!("\nSteps: {}", times.join(", "));
    let Some(sum) = sum else {
        println!("All checks passed.");
        return ExitCode::SUCCESS;
    };
    let reasons = sum.reasons();
    if !reasons.is_empty() {
        println!("\nSkipped checks:\n{reasons}");
    }
    println!("\n{sum}");
    if sum.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One part of the test command.
pub struct Step {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its purpose in a few words.
    pub what: &'static str,
    run: Run,
}

/// How a step ends.
enum Run {
    /// A check that fails with its first failure.
    Check(fn() -> Result<(), String>),
    /// Tests with the sum of their results.
    Tests(fn() -> Result<Sum, String>),
}

/// A transport as users write them. It is no member of the workspace, which depends on it; its tests are run
/// from there, with what has been compiled already.
pub const LINK: &str = "punctual-link";

/// Packages that are no members of the workspace. But for the link, the test command does not compile them.
pub const SEPARATE_WORKSPACES: [&str; 5] = [
    "fuzz",
    "qualify/link",
    "qualify/pubsub",
    "services/zenoh",
    "tests/interop/rustorb",
];

/// All steps in the order of a run.
pub const STEPS: &[Step] = &[
    Step {
        name: "peers",
        what: "the other ORBs of the interoperability tests",
        run: Run::Check(peers::provide),
    },
    Step {
        name: "fmt",
        what: "formatting",
        run: Run::Check(|| {
            cargo(&["fmt", "--all", "--check"]).run()?;
            SEPARATE_WORKSPACES.iter().try_for_each(|folder| {
                let manifest = format!("{folder}/Cargo.toml");
                cargo(&["fmt", "--manifest-path", &manifest, "--check"]).run()
            })
        }),
    },
    Step {
        name: "rules",
        what: "house rules: layers, import cycles, unsafe code, licences, dependencies, style of text",
        run: Run::Check(|| rules::check(&Metadata::read()?)),
    },
    Step {
        name: "clippy",
        what: "lints",
        run: Run::Check(|| {
            // Clippy examines members only.
            let link = [
                "--manifest-path",
                "qualify/link/Cargo.toml",
                "--target-dir",
                "target/link",
            ];
            [&["--workspace"][..], &link]
                .into_iter()
                .try_for_each(|packages| {
                    let rest = ["--all-targets", "--", "-D", "warnings"];
                    cargo(&[&["clippy"], packages, &rest].concat()).run()
                })
        }),
    },
    Step {
        name: "docs",
        what: "documentation without warnings; examples on each page of the facade, with its paths",
        run: Run::Check(|| {
            [&["--workspace"][..], &["-p", LINK]]
                .into_iter()
                .try_for_each(|packages| {
                    let documentation = cargo(&[&["doc", "--no-deps"], packages].concat());
                    documentation.env("RUSTDOCFLAGS", "-D warnings").run()
                })?;
            examples::check(&Metadata::read()?)
        }),
    },
    Step {
        name: "wasm",
        what: "the crates without input and output build for wasm",
        run: Run::Check(wasm),
    },
    Step {
        name: "musl",
        what: "the ORB builds for static programs",
        run: Run::Check(musl),
    },
    Step {
        name: "loom",
        what: "object table and rings of shared memory in the interleavings that loom explores",
        run: Run::Tests(workspace_tests::loom),
    },
    Step {
        name: "tests",
        what: "unit, property, layer and interoperability tests, examples in the documentation",
        run: Run::Tests(workspace_tests::workspace),
    },
];

/// A target without sockets, clocks and threads.
fn wasm() -> Result<(), String> {
    const TARGET: &str = "wasm32-unknown-unknown";
    provide(TARGET)?;
    let packages = crate::layers::PURE.iter().flat_map(|package| ["-p", *package]);
    let arguments: Vec<&str> = ["check", "--target", TARGET]
        .into_iter()
        .chain(packages)
        .collect();
    cargo(&arguments).run()
}

fn musl() -> Result<(), String> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    provide(&target)?;
    cargo(&["check", "--target", &target, "-p", "punctual-footprint"]).run()
}

/// Installs the standard library for a target unless it is there.
fn provide(target: &str) -> Result<(), String> {
    let library = command::output("rustc", &["--print", "target-libdir", "--target", target])?;
    if std::path::Path::new(library.trim()).exists() {
        return Ok(());
    }
    let added = command::new("rustup", &["target", "add", target]).run();
    added.map_err(|text| {
        format!("{text}\nThe standard library for {target} is needed, from rustup or your distribution.")
    })
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
