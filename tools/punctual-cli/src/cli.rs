//! What can be asked on the command line, and the texts that explain it.

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};

use punctual_scenarios::benchmarks;

use crate::{
    doctor,
    measuring::{Bench, Demo, Qualify, Trace},
    plan, top,
};

/// Punctual, a Real-time CORBA ORB: see what it does, measure it, compile IDL, plan deadlines.
#[derive(Debug, Parser)]
#[command(name = "punctual", version, arg_required_else_help = true, after_help = START)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what priority lanes do for calls under overload, in under a minute
    ///
    /// A server and three clients (75, 50 and 25 calls per second; high, medium and low priority) share one CPU, and the work of each
    /// call grows until the CPU cannot do it all. Once with a classic pool of threads, once with a lane per priority: only with
    /// lanes does the high-priority client keep its deadlines.
    #[command(verbatim_doc_comment, after_help = DEMO)]
    Demo(Demo),
    /// Measure the ORB on this machine
    #[command(after_help = BENCH)]
    Bench {
        /// What to measure, or `list`
        #[arg(value_parser = benchmark_names())]
        name: String,
        #[command(flatten)]
        arguments: Bench,
    },
    /// Measure all that the papers did, and judge this machine and the ORB on it
    ///
    /// Runs every benchmark of the operating system (os.), the ORB (orb.) and real-time CORBA (rt.) one after the other on
    /// one CPU; says of each claim whether it holds here; and writes the papers' figures, redrawn with today's data, as one
    /// page. docs/qualify.md says how to read it.
    #[command(verbatim_doc_comment, after_help = QUALIFY)]
    Qualify(Qualify),
    /// Show who ran while something more important waited
    ///
    /// Runs a command, or watches the machine, while the kernel records every switch between threads and ORBs record what
    /// becomes of each call; then shows every interval in which a thread that could run, or a request that had arrived, waited
    /// while a CPU it could use ran something less important: who, where, how long. What the kernel or the host kept from
    /// running stands apart. Where the kernel may not be traced (not root), the ORBs' records alone are used.
    #[command(verbatim_doc_comment, after_help = TRACE)]
    Trace(Trace),
    /// Check IDL, or compile it to Rust
    #[command(subcommand)]
    Idl(Idl),
    /// Find out whether all deadlines are met, and which priorities and lanes would do
    ///
    /// Reads what activities do on which hosts, how long and how often; bounds the response time of each, end to end over all
    /// hosts (response-time analysis, with jitter handed on along chains of calls); and shows the margin to its deadline.
    #[command(verbatim_doc_comment, after_help = PLAN)]
    Plan(plan::Options),
    /// Find out what this machine lacks for real time, and how to mend it
    ///
    /// Looks at rights, limits, the kernel and its settings, CPUs, clock and memory; says of each whether it is fine (✓), lacks (✗)
    /// or could not be looked at (?), why it matters, and the command that mends it. Changes nothing.
    #[command(verbatim_doc_comment, after_help = DOCTOR)]
    Doctor(doctor::Options),
    /// Watch a running ORB: its lanes, threads, queues, times and refusals
    ///
    /// Shows for each lane its priority, threads busy and in all, its queue, calls per second, the median, 99.9 % and longest time
    /// from reading a request to writing its reply, missed deadlines and refusals. The ORB has to let itself be looked into:
    /// `Orb::builder().inspection(..)` in the program, or PUNCTUAL_INSPECTION=FOLDER in its environment.
    #[command(verbatim_doc_comment, after_help = TOP)]
    Top(top::Options),
}

#[derive(Debug, Subcommand)]
pub enum Idl {
    /// Find what is wrong with IDL; writes nothing
    ///
    /// Accepts the whole grammar of OMG IDL 3.5, also what `compile` does not generate yet.
    #[command(verbatim_doc_comment, after_help = CHECK)]
    Check(Sources),
    /// Compile IDL to Rust
    ///
    /// Writes NAME.rs for NAME.idl. In a Cargo package this is done by one line in build.rs instead:
    /// `punctual_build::compile("idl/NAME.idl")`.
    #[command(verbatim_doc_comment, after_help = COMPILE)]
    Compile(Compile),
}

/// IDL files and how to read them.
#[derive(Debug, Args)]
pub struct Sources {
    /// IDL files, each a specification of its own
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Search this folder for included files, in the order given; "quoted" ones first beside the including file
    #[arg(short = 'I', long = "include-dir", value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Define a macro; its value is 1 unless given
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = macro_definition)]
    pub defines: Vec<(String, String)>,
}

/// What to compile, and where to.
#[derive(Debug, Args)]
pub struct Compile {
    #[command(flatten)]
    pub sources: Sources,
    /// Write into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out_dir: PathBuf,
    /// Where generated code finds the runtime
    #[arg(long, value_name = "PATH", default_value = "::punctual::rt")]
    pub runtime_path: String,
}

fn benchmark_names() -> PossibleValuesParser {
    let list = PossibleValue::new("list").help("show what there is");
    let benchmarks = benchmarks().map(|benchmark| PossibleValue::new(benchmark.name).help(benchmark.about));
    PossibleValuesParser::new(std::iter::once(list).chain(benchmarks))
}

fn macro_definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_name {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!(
            "`{name}` is no name for a macro; write NAME or NAME=VALUE"
        ))
    }
}

const START: &str = "\
Start with:
  punctual doctor                     what does this machine lack?
  punctual demo                       see lanes at work
  punctual bench cubit                what one call costs here
  punctual qualify --quick            what this machine can do, beside what the papers measured
  punctual trace -- COMMAND           who waits for whom while it runs
  punctual idl check idl/track.idl    is this IDL right?
  punctual plan radar.toml            are all deadlines met?
  punctual top                        what is a running ORB doing?";

const DEMO: &str = "\
Examples:
  punctual demo                       about 40 seconds; draws punctual-demo.html
  punctual demo --quick               three loads instead of six
  punctual demo --json demo.json --html demo.html

Real-time scheduling needs a right. Without it the same run is made and marked \"not real-time\". As root, or:
  sudo setcap cap_sys_nice,cap_ipc_lock+ep target/release/punctual

Exit code: 0 the lanes kept their promise; 1 they did not; 2 it could not run, or the machine was unfit for it;
3 it ran without real-time rights.";

const BENCH: &str = "\
Examples:
  punctual bench list
  punctual bench cubit --quick --json cubit.json
  punctual bench orb.latency --html latency.html
  punctual bench orb.latency --quick --explain-over 200    where the time of calls over 200 microseconds went
  punctual bench inversion --perfetto timeline.json

Exit code: 0 every claim holds; 1 one does not; 2 it could not run, or the machine was unfit for it; 3 it ran without
real-time rights.";

const QUALIFY: &str = "\
Examples:
  punctual qualify --quick --html report.html              a first impression, in about 6 minutes
  punctual qualify --json now.json --html report.html      all of it, in about 45 minutes
  punctual qualify --only os,rt.5 --json now.json          a group of benchmarks, and one
  punctual qualify --baseline before.json --json now.json  and what changed since
  punctual qualify --bounds bounds.toml --junit junit.xml  for continuous integration

--bounds reads limits. Each is of a claim's measured value, or of a column of a benchmark's rows (all of them, or those
with the values in `where`; the worst row decides). They become claims themselves, named bounds.…:
  [[limit]]
  claim = \"os.semaphore.growth\"
  at_most = 1.2

  [[limit]]
  benchmark = \"os.thread-switch\"
  where = { threads = 128 }
  column = \"p99_us\"
  at_most = 20
  at_least = 0.5
What was skipped is not held against its limit, which is said; a name that nothing has is an error.

Ctrl-C ends it: what was measured by then is written and marked as interrupted, and the machine is as it was before.

Exit code: 0 every claim and limit holds; 1 one does not; 2 it could not run, was interrupted, or the machine was unfit for
it; 3 it ran without real-time rights.";

const TRACE: &str = "\
Examples:
  punctual trace -- target/release/my-system
  punctual trace --seconds 10 --cpu 1 --json waits.json --perfetto timeline.json -- punctual demo --quick
  punctual trace --seconds 5 --over 50     the whole machine, waits of more than 50 microseconds
  punctual trace --explain-over 500 -- target/release/my-system     why calls took more than 500 microseconds

ORBs that are started by the command leave their records in a folder in main memory, which PUNCTUAL_FLIGHT_RECORDER names in
their environment; it is removed in the end. Levels: 1 to 99 are real-time priorities, 0 is everything ordinary.

--explain-over adds a budget for each of the 20 slowest calls: its spans (encode, send, wait in lane, wake-up, read, decode,
upcall, reply) with what happened in each, and what is to blame in all of them. docs/tracing.md says how to read it.

Exit code: 0 nothing waited longer than --over; 1 something did; 2 it could not run, or events were lost; 3 it ran without
real-time rights.";

const CHECK: &str = "\
Examples:
  punctual idl check idl/track.idl
  punctual idl check -I idl/common -D VERSION=2 idl/*.idl

Exit code: 0 no errors; 1 errors in the IDL; 2 a file could not be read, or the command line was wrong.";

const COMPILE: &str = "\
Examples:
  punctual idl compile idl/track.idl --out-dir src/generated
  punctual idl compile -I idl/common idl/track.idl --runtime-path ::my_runtime::rt

Exit code: 0 no errors; 1 errors in the IDL; 2 a file could not be read or written, or the command line was wrong.";

const PLAN: &str = "\
A file, in short (the documentation of the crate punctual-scheduling has every key):
  hosts = [\"console\", \"radar\"]

  [[pool]]
  name = \"tracks\"
  host = \"radar\"
  lanes = [{ priority = 10922, threads = 1 }, { priority = 32767, threads = 1 }]

  [[activity]]
  name = \"track\"
  priority = 32767
  period = \"10 ms\"
  deadline = \"8 ms\"
  step = [
    { host = \"console\", wcet = \"500 us\" },
    { pool = \"tracks\", wcet = \"1.5 ms\", delay = \"200 us\", blocking = \"50 us\" },
  ]

A lane may also say what its threads are like (dynamic_threads, wait, stack_bytes, cpus, class), and a pool whether it has
allow_borrowing or request_buffering.

Spans of time are a number and a unit: ns, us, ms, s, min. Each host has one CPU for this work, under SCHED_FIFO.
wcet is the worst-case execution time on an idle CPU, delay the longest that the message to the step takes, blocking how
long lower priorities can hold what it needs. Steps are done one after the other; a servant that calls on keeps its lane's
thread meanwhile, so give such a lane a thread for each activity, or count the wait of the others as blocking.

The rate-monotonic and the hyperbolic bound are shown for hosts where they apply: every activity has one step, without
blocking, jitter and delay, its deadline is its period, and shorter periods have higher priorities.

A scenario for --simulate, in short (docs/simulation.md has every key):
  scheduler = \"MUF\"
  until = \"10 s\"
  network = { latency = \"100 us\" }

  [[host]]
  name = \"radar\"

  [[host]]
  name = \"console\"
  hand_over = \"5 us\"

  [[task]]
  name = \"track\"
  host = \"console\"
  period = \"10 ms\"
  parameters = { criticality = 3, deadline = \"8 ms\" }
  steps = [{ compute = \"500 us\" }, { call = \"radar\", steps = [{ compute = \"1.5 ms\" }] }]

Examples:
  punctual plan radar.toml
  punctual plan radar.toml --lanes radar-lanes.toml --json plan.json
  punctual plan --simulate docs/simulation/figure-6.toml --html figure-6.html
  punctual plan --simulate fleet.toml --scheduler EDF --seed 7 --until \"60 s\" --trace events.jsonl

--lanes writes the same kind of file, with what makes an infeasible one feasible; the ORB reads it (ServerScheduler).

Exit code: 0 every deadline is met; 1 one is not, or a call would not be served; 2 the file could not be read.";

const DOCTOR: &str = "\
Examples:
  punctual doctor
  punctual doctor --json > endsystem.json
  punctual doctor --fix > fix.sh      read it, then: sudo sh fix.sh

It may be run by every user, and in containers; root sees more. What it says of rights is true for whoever runs it.

Exit code: 0 all is fine; 1 something lacks; 2 nothing is known to lack, but something could not be looked at.";

const TOP: &str = "\
Examples:
  punctual top                        the one ORB that is found
  punctual top --pid 4711 --interval 0.5
  punctual top /run/radar.inspect --once
  punctual top --json > radar.json

Keys: q, Esc or Ctrl-C ends, + and - change the interval. Times are in microseconds and up to a sixteenth too long. `fifo 40!`
means that SCHED_FIFO was asked for and refused. Prometheus reads the same from `GET /metrics` on the socket, or over TCP where
the program says `Inspection::metrics_at`.

Exit code: 0 it was shown; 1 the ORB went away meanwhile; 2 there is no ORB to look into, or several, or it cannot be asked.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn macro_without_value_is_1() {
        assert_eq!(macro_definition("DEBUG"), Ok(("DEBUG".into(), "1".into())));
        assert_eq!(macro_definition("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert_eq!(macro_definition("EMPTY="), Ok(("EMPTY".into(), "".into())));
    }

    #[test]
    fn macro_needs_a_name() {
        for wrong in ["", "=1", "1A", "A B", "A-B=2"] {
            assert!(
                macro_definition(wrong).is_err_and(|text| text.contains("NAME=VALUE")),
                "{wrong:?}"
            );
        }
    }
}
