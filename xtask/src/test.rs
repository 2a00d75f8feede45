//! `cargo xtask test`: everything that has to hold, the cheap steps first, up to the first that fails.

use std::time::{Duration, Instant};

use crate::{
    command::{self, cargo},
    metadata::Metadata,
    peers, rules, workspace_tests,
};

/// Runs the steps of these names, or all.
pub fn run(names: &[&str]) -> Result<(), String> {
    if let Some(unknown) = names
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != **name))
    {
        return Err(format!(
            "there is no step `{unknown}`; `cargo xtask help` lists them"
        ));
    }
    let chosen: Vec<&Step> = STEPS
        .iter()
        .filter(|step| names.is_empty() || names.contains(&step.name))
        .collect();
    let mut times = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        println!(
            "\n==== {}/{} {}: {}",
            index + 1,
            chosen.len(),
            step.name,
            step.what
        );
        let start = Instant::now();
        let report = (step.run)().map_err(|text| format!("step `{}` failed: {text}", step.name))?;
        times.push((step.name, start.elapsed()));
        println!("---- {} took {}", step.name, seconds(start.elapsed()));
        if index + 1 == chosen.len() {
            close(&times, report);
        }
    }
    Ok(())
}

/// One part of the test command.
pub struct Step {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    run: fn() -> Result<Report, String>,
}

/// What a step has to say at the very end.
type Report = Option<String>;

/// In the order in which they run.
pub const STEPS: &[Step] = &[
    Step {
        name: "peers",
        what: "the other ORBs that interoperability is tested with",
        run: || peers::provide().map(nothing),
    },
    Step {
        name: "fmt",
        what: "formatting",
        run: || cargo(&["fmt", "--all", "--check"]).run().map(nothing),
    },
    Step {
        name: "rules",
        what: "house rules: layers, import cycles, unsafe code, licences, dependencies, style of text",
        run: || rules::check(&Metadata::read()?).map(nothing),
    },
    Step {
        name: "clippy",
        what: "lints",
        run: || {
            cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
                .run()
                .map(nothing)
        },
    },
    Step {
        name: "docs",
        what: "documentation without warnings",
        run: || {
            cargo(&["doc", "--workspace", "--no-deps"])
                .env("RUSTDOCFLAGS", "-D warnings")
                .run()
                .map(nothing)
        },
    },
    Step {
        name: "wasm",
        what: "the crates without input and output build where there is none",
        run: || wasm().map(nothing),
    },
    Step {
        name: "loom",
        what: "the object table and the rings of shared memory in the interleavings that loom explores",
        run: || loom().map(nothing),
    },
    Step {
        name: "tests",
        what: "unit, property, layer and interoperability tests, examples in the documentation",
        run: || workspace_tests::run().map(Some),
    },
];

fn nothing((): ()) -> Report {
    None
}

/// A target without sockets, clocks and threads.
fn wasm() -> Result<(), String> {
    const TARGET: &str = "wasm32-unknown-unknown";
    let library = command::output("rustc", &["--print", "target-libdir", "--target", TARGET])?;
    if !std::path::Path::new(library.trim()).exists() {
        command::new("rustup", &["target", "add", TARGET])
            .run()
            .map_err(|text| {
                format!(
                    "{text}\nThe standard library for {TARGET} is needed, from rustup or your distribution."
                )
            })?;
    }
    let packages = crate::layers::PURE.iter().flat_map(|package| ["-p", *package]);
    let arguments: Vec<&str> = ["build", "--target", TARGET]
        .into_iter()
        .chain(packages)
        .collect();
    cargo(&arguments).run()
}

/// In a folder of its own: other flags would make everything else be built again.
fn loom() -> Result<(), String> {
    cargo(&[
        "test",
        "-p",
        "punctual-poa",
        "-p",
        "punctual-os",
        "--lib",
        "--target-dir",
        "target/loom",
        "loom",
    ])
    .env("RUSTFLAGS", "--cfg loom")
    .run()
}

fn close(times: &[(&str, Duration)], report: Report) {
    let list: Vec<String> = times
        .iter()
        .map(|(name, time)| format!("{name} {}", seconds(*time)))
        .collect();
    println!("\nAll steps hold: {}", list.join(", "));
    if let Some(report) = report {
        println!("{report}");
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
