//! Arguments of the commands that measure: `demo`, `bench`, `qualify` and `trace`.

use std::path::PathBuf;

use clap::Args;
use punctual_os::TaskId;
use punctual_scenarios::{Against, Files, Settings, bench, demo, qualify, trace};

/// Files to write results to.
#[derive(Args, Clone, Debug)]
struct FileArguments {
    /// Write all results as JSON to this file, too; `-`: standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a self-contained HTML page to this file, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write each figure of the page as an SVG file and each picture as a PNG file into this folder, too
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
}

/// Settings of a run.
#[derive(Args, Clone, Debug)]
struct SettingArguments {
    /// Shorten the run: fewer points and wider confidence intervals
    #[arg(long)]
    quick: bool,
    /// Use the papers' durations, where they state them
    #[arg(long, conflicts_with = "quick")]
    paper_lengths: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are
    #[arg(long)]
    leave_system_alone: bool,
    /// Explain calls slower than this, in a separate, traced pass (`cubit` and `orb.latency` only)
    #[arg(long, value_name = "MICROSECONDS", value_parser = microseconds)]
    explain_over: Option<f64>,
    /// Write the timeline to this file, for ui.perfetto.dev (`inversion` only)
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Run only these attacks, such as `locates` (`attacks` only)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    attacks: Vec<String>,
}

/// Arguments of `demo`.
#[derive(Args, Clone, Debug)]
pub struct Demo {
    #[command(flatten)]
    files: FileArguments,
    /// Total measuring time, spread evenly over pools and works; calibration takes four seconds more
    /// [default: 36, with --quick 12]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(3..=3600))]
    seconds: Option<u32>,
    /// Measure only works 30, 50 and 55
    #[arg(long)]
    quick: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are
    #[arg(long)]
    leave_system_alone: bool,
}

/// Arguments of `bench`, after the benchmark's name.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct Bench {
    #[command(flatten)]
    files: FileArguments,
    #[command(flatten)]
    settings: SettingArguments,
    /// Check that its claims can fail: run it under its controls, under which they must not hold;
    /// `--controls` alone runs all (`punctual qualify --claims` lists them)
    #[arg(long, value_name = "ID", num_args = 0.., require_equals = true, value_delimiter = ',')]
    #[arg(conflicts_with_all = ["explain_over", "perfetto"])]
    controls: Option<Vec<String>>,
}

/// Arguments of `qualify`.
#[derive(Args, Clone, Debug)]
pub struct Qualify {
    #[command(flatten)]
    files: FileArguments,
    #[command(flatten)]
    settings: SettingArguments,
    /// Compare with the earlier run in this JSON file
    #[arg(long, value_name = "OLD.json")]
    baseline: Option<PathBuf>,
    /// Check the results against the limits in this file
    #[arg(long, value_name = "BOUNDS.toml")]
    bounds: Option<PathBuf>,
    /// Write every claim and limit as a test case, in JUnit XML, to this file, too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Run only these benchmarks or groups (`os`, `orb`, `rt`, `dyn`), including ones that are not run by
    /// default
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Check that claims can fail: run the benchmarks under their controls, under which claims must not hold
    /// (with --quick, one control for each)
    #[arg(long, conflicts_with_all = ["baseline", "bounds", "explain_over", "perfetto"])]
    controls: bool,
    /// List the papers' statements and their evaluation, with controls; as JSON with `--json FILE` (`-`:
    /// standard output)
    #[arg(long, conflicts_with_all = ["controls", "html", "figures", "junit", "only", "baseline", "bounds"])]
    claims: bool,
}

/// Arguments of `trace`.
#[derive(Args, Clone, Debug)]
pub struct Trace {
    /// End after this time, and end the command with all processes that it has started; required without a
    /// command
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: Option<u32>,
    /// Show only waits for this CPU
    #[arg(long, value_name = "CPU")]
    cpu: Option<usize>,
    /// Show only waits of threads of these processes [default: the command and those it starts]
    #[arg(long, value_name = "PID")]
    pid: Vec<TaskId>,
    /// Include all threads of the machine, even with a command
    #[arg(long, conflicts_with = "pid")]
    machine: bool,
    /// Longest acceptable wait, in microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value_t = trace::Options::default().over_us)]
    over: f64,
    /// Explain calls slower than this: for each span of a call, which thread had the CPU, and why
    #[arg(long, value_name = "MICROSECONDS", value_parser = microseconds)]
    explain_over: Option<f64>,
    /// Size of the kernel's buffer for each CPU, in KiB
    #[arg(long, value_name = "KIB", default_value_t = trace::Options::default().buffer_kib)]
    buffer: usize,
    /// Number of flight records kept per thread, of 32 octets each; a call leaves 5 on one side and 7 on the
    /// other
    #[arg(long, value_name = "RECORDS", default_value_t = trace::Options::default().records_per_thread)]
    records: usize,
    /// Write all findings as JSON to this file, too; `-`: standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the timeline to this file (JSON trace format), for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Command to run; without it, the whole machine is traced
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl From<FileArguments> for Files {
    fn from(FileArguments { json, html, figures }: FileArguments) -> Self {
        Self { json, html, figures }
    }
}

impl From<SettingArguments> for Settings {
    fn from(arguments: SettingArguments) -> Self {
        Self {
            quick: arguments.quick,
            paper_lengths: arguments.paper_lengths,
            leave_system_alone: arguments.leave_system_alone,
            explain_over: arguments.explain_over,
            perfetto: arguments.perfetto,
            seconds: None,
            attacks: arguments.attacks,
        }
    }
}

impl From<Demo> for demo::Options {
    fn from(arguments: Demo) -> Self {
        Self {
            files: arguments.files.into(),
            seconds: arguments.seconds,
            quick: arguments.quick,
            leave_system_alone: arguments.leave_system_alone,
        }
    }
}

impl From<Bench> for bench::Options {
    fn from(arguments: Bench) -> Self {
        Self {
            files: arguments.files.into(),
            settings: arguments.settings.into(),
            controls: arguments.controls,
        }
    }
}

impl From<Qualify> for qualify::Options {
    fn from(arguments: Qualify) -> Self {
        Self {
            files: arguments.files.into(),
            settings: arguments.settings.into(),
            against: Against {
                baseline: arguments.baseline,
                bounds: arguments.bounds,
                junit: arguments.junit,
            },
            only: arguments.only,
            controls: arguments.controls,
            claims: arguments.claims,
        }
    }
}

impl From<Trace> for trace::Options {
    fn from(arguments: Trace) -> Self {
        Self {
            seconds: arguments.seconds,
            cpu: arguments.cpu,
            processes: arguments.pid,
            machine: arguments.machine,
            over_us: arguments.over,
            explain_over: arguments.explain_over,
            buffer_kib: arguments.buffer,
            records_per_thread: arguments.records,
            json: arguments.json,
            perfetto: arguments.perfetto,
            command: arguments.command,
        }
    }
}

/// Parses the value of `--explain-over`.
fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(microseconds) if microseconds.is_finite() && microseconds >= 0.0 => Ok(microseconds),
        _ => Err("expected a number of microseconds, 0 (every call) or more, such as 200".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explain_over_takes_a_finite_duration() {
        assert_eq!(microseconds("0"), Ok(0.0));
        assert_eq!(microseconds("12.5"), Ok(12.5));
        for wrong in ["-1", "", "10us", "inf", "NaN"] {
            assert!(microseconds(wrong).is_err(), "{wrong}");
        }
    }
}
