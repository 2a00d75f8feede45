//! The command line: commands, their settings and their help texts.

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser},
};

use punctual_idl::Code;
use punctual_scenarios::{Benchmark, benchmarks};

use crate::{
    arguments::{code, external_path, macro_definition, warning},
    call,
    completions::{Completions, Manual},
    doctor, events, explain,
    measuring::{Bench, Demo, Qualify, Trace},
    naming, new, plan, scheduler, top,
};

/// Punctual, a Real-time CORBA ORB: watch it, measure it, compile IDL, plan deadlines.
#[derive(Debug, Parser)]
#[command(name = "punctual", version, arg_required_else_help = true, after_help = START)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a package with IDL, server, client and tests
    ///
    /// The package builds at once: an interface, a servant with a lane for each of two priorities at fixed
    /// ports, a server that shuts down cleanly on SIGINT and SIGTERM, a client, and tests.
    #[command(after_help = NEW)]
    New(new::Options),
    /// Show the effect of lanes under overload, in under a minute
    ///
    /// A server and three clients (75, 50 and 25 calls per second; high, medium and low priority) share one
    /// CPU, and the work per call grows until it exceeds the CPU: first with a pool without lanes,
    /// then with one lane per priority. Only with lanes does the high-priority client meet its deadlines.
    #[command(after_help = DEMO)]
    Demo(Demo),
    /// Measure the ORB on this machine
    #[command(after_help = BENCH)]
    Bench {
        /// Benchmark to run, or `list`
        #[arg(value_parser = benchmark_names())]
        name: String,
        #[command(flatten)]
        arguments: Bench,
    },
    /// Qualify this machine and the ORB on it: repeat the papers' measurements
    ///
    /// Runs the benchmarks of the operating system (os.), the ORB (orb.), Real-time CORBA (rt.) and dynamic
    /// scheduling (dyn.), reports for each claim whether it holds, and writes one page with the papers'
    /// figures, redrawn with this machine's data. docs/qualify.md explains the page.
    #[command(after_help = QUALIFY)]
    Qualify(Qualify),
    /// Trace priority inversions, and the causes of slow calls
    ///
    /// Runs a command, or watches the whole machine, while the kernel records every switch between threads
    /// and ORBs record the steps of each call. Then shows every interval in which a runnable thread or an
    /// arrived request waited while a CPU that it may use ran something less important: what, where, how
    /// long. Time that the kernel or the host withheld is listed separately. If the kernel may not be traced
    /// (not root), only the records of ORBs are used.
    #[command(after_help = TRACE)]
    Trace(Trace),
    /// Check IDL, or compile it to Rust
    #[command(subcommand)]
    Idl(Idl),
    /// Check whether all deadlines are met, and find priorities and lanes that meet them
    ///
    /// Reads the activities of a system: hosts, steps, execution times and periods. Bounds the response time
    /// of each activity, end to end over all hosts (response-time analysis; jitter is propagated along chains
    /// of calls), and shows the margin to its deadline.
    #[command(after_help = PLAN)]
    Plan(plan::Options),
    /// Show the decisions of the reconfigurable scheduler, or serve it
    #[command(subcommand)]
    Scheduler(scheduler::Scheduler),
    /// Check whether this machine is ready for real time, and print fixes
    ///
    /// Checks rights, limits, the kernel and its settings, CPUs, clock and memory. Prints for each check
    /// whether it passed (✓), failed (✗) or could not be performed (?), why it matters, and the command that
    /// fixes it. Changes nothing.
    #[command(after_help = DOCTOR)]
    Doctor(doctor::Options),
    /// Watch a running ORB: lanes, threads, queues, response times, refusals
    ///
    /// Shows for each lane its priority, the number of busy threads out of all, queue, calls per second,
    /// median, 99.9th percentile and maximum of the time from reading a request to writing its reply, missed
    /// deadlines and refusals. Inspection is off by default: `Orb::builder().inspection(..)` in the program
    /// or PUNCTUAL_INSPECTION=FOLDER in its environment turns it on.
    #[command(after_help = TOP)]
    Top(top::Options),
    /// Call an operation of any object, without generated code
    ///
    /// Finds the types of the operation in the IDL, sends the values, and prints the results as JSON. The
    /// object may be served by any ORB.
    #[command(after_help = call::HELP)]
    Call(call::Options),
    /// Serve an event channel, or receive, send and watch events
    #[command(subcommand)]
    Events(events::Events),
    /// Serve a naming service, or bind, resolve and list names in one
    #[command(subcommand)]
    Naming(naming::Naming),
    /// Explain a minor code of a system exception
    #[command(after_help = EXPLAIN)]
    Explain(explain::Options),
    /// Print a shell completion script
    #[command(after_help = COMPLETIONS)]
    Completions(Completions),
    /// Print or write the manual pages
    #[command(after_help = MAN)]
    Man(Manual),
}

#[derive(Debug, Subcommand)]
pub enum Idl {
    /// Check IDL for errors, without output files
    ///
    /// Accepts the complete grammar of OMG IDL 3.5, including the constructs of the CORBA Component
    /// Model, for which `compile` generates no code.
    #[command(after_help = CHECK)]
    Check(Sources),
    /// Compile IDL to Rust
    ///
    /// Writes NAME.rs for NAME.idl. In a Cargo package, one line in build.rs does the same:
    /// `punctual_build::compile("idl/NAME.idl")`.
    #[command(after_help = COMPILE)]
    Compile(Compile),
    /// Format IDL files in place
    ///
    /// Changes white space only: four spaces for each level, one declaration per line, lines above 100
    /// columns broken after commas and before `raises` (other lines, and comments, may remain longer).
    /// Comments, preprocessor directives and lines that are not IDL are left unchanged. Files with errors are
    /// formatted, too; `punctual idl check` finds them.
    #[command(after_help = FMT)]
    Fmt(Fmt),
    /// List the declarations in IDL, or print the resolved specification as JSON for other tools
    ///
    /// Each line has the kind, the scoped name, the repository id and the location of a definition.
    #[command(after_help = DUMP)]
    Dump(Dump),
    /// Explain codes of diagnostics, such as IDL0012; without a code, all of them
    Explain {
        /// Codes, or their numbers
        #[arg(value_name = "CODE")]
        codes: Vec<String>,
    },
}

/// Settings of `idl fmt`.
#[derive(Debug, Args)]
pub struct Fmt {
    /// IDL files; `-` reads standard input and writes standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
}

/// Format of diagnostics.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Format {
    /// Excerpts of the source, for people
    #[default]
    Full,
    /// FILE:LINE:COLUMN: SEVERITY[CODE]: MESSAGE, one line each, for editors
    Line,
    /// JSON object for each diagnostic, on a line of its own and without a summary, for tools
    Json,
}

/// IDL files and settings of the preprocessor.
#[derive(Debug, Args)]
pub struct Sources {
    /// IDL files, each a separate specification
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Search this folder for included files, in the given order; "quoted" ones are first searched beside the
    /// including file
    #[arg(short = 'I', long = "include-dir", value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Define a macro; the default value is 1
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = macro_definition)]
    pub defines: Vec<(String, String)>,
    /// Report this error, such as IDL0043, as a warning; for rules that other compilers do not enforce
    #[arg(long, value_name = "CODE", value_parser = warning)]
    pub warn: Vec<Code>,
    /// Do not report this warning, such as IDL0050
    #[arg(long, value_name = "CODE", value_parser = code)]
    pub allow: Vec<Code>,
    /// Format of errors and warnings
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Settings of `idl dump`.
#[derive(Debug, Args)]
pub struct Dump {
    #[command(flatten)]
    pub sources: Sources,
    /// Print the whole resolved specification as JSON, one object for each file on a line of its own
    #[arg(long)]
    pub json: bool,
}

/// Settings of `idl compile`.
#[derive(Debug, Args)]
pub struct Compile {
    #[command(flatten)]
    pub sources: Sources,
    /// Write into this folder; it is created if necessary
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out_dir: PathBuf,
    /// Rust path of the runtime in generated code
    #[arg(long, value_name = "PATH", default_value = "::punctual::rt")]
    pub runtime_path: String,
    /// Compile all files into one file, NAME.rs, in which they share their types
    #[arg(long, value_name = "NAME")]
    pub together: Option<String>,
    /// Use the Rust module at PATH for declarations of included files in MODULE (`::` for all modules)
    #[arg(long, value_name = "MODULE=PATH", value_parser = external_path)]
    pub extern_path: Vec<(String, String)>,
    /// Values of this value type (or of those in this module; `::` for all) may be in circles
    #[arg(long, value_name = "NAME")]
    pub circular: Vec<String>,
    /// Generate only the client side of interfaces
    #[arg(long, conflicts_with = "server_only")]
    pub client_only: bool,
    /// Generate only the server side of interfaces
    #[arg(long)]
    pub server_only: bool,
}

fn benchmark_names() -> PossibleValuesParser {
    let list = PossibleValue::new("list").help("list all benchmarks");
    let described = |benchmark: &Benchmark| format!("{} ({})", benchmark.about, benchmark.durations());
    let benchmarks =
        benchmarks().map(|benchmark| PossibleValue::new(benchmark.name).help(described(benchmark)));
    PossibleValuesParser::new(std::iter::once(list).chain(benchmarks))
}

const START: &str = "\
Start with:
  punctual new valve                  a service of your own, ready to build
  punctual doctor                     is this machine ready for real time?
  punctual demo                       see lanes at work
  punctual bench cubit                what does one call cost here?
  punctual qualify --quick            what can this machine do?
  punctual trace -- COMMAND           what waits for what while COMMAND runs?
  punctual idl check FILE.idl         is this IDL correct?
  punctual plan FILE.toml             are all deadlines met?
  punctual scheduler show FILE.toml   which rates have room, and at which priorities?
  punctual top                        what is a running ORB doing?
  punctual call corbaloc::HOST/NAME OPERATION --idl FILE.idl
                                      what does this object answer?
  punctual events serve               a channel for events, filtered and delivered by priority
  punctual naming serve               objects by name, for clients of any ORB";

const NEW: &str = "\
Examples:
  punctual new valve
  punctual new ~/src/valve --checkout ~/src/punctual
  punctual new valve --published
  punctual new plant --example all-together     a copy of an example

Exit code: 0 created; 2 the folder exists or cannot be written, or the name is \
not valid.";

const EXPLAIN: &str = "\
Examples:
  punctual explain 17
  punctual explain 0x50554011
  punctual explain TRANSIENT          all codes of this exception
  punctual explain IDL0044            a diagnostic of IDL, with an example

Exit code: 0 explained; 2 no such code.";

const COMPLETIONS: &str = "\
Examples:
  punctual completions bash > ~/.local/share/bash-completion/completions/punctual
  punctual completions zsh > ~/.zfunc/_punctual     with fpath+=~/.zfunc
  punctual completions fish > ~/.config/fish/completions/punctual.fish

Exit code: 0 printed; 2 unknown shell.";

const MAN: &str = "\
Examples:
  punctual man | man -l -
  punctual man --out-dir ~/.local/share/man/man1     then: man punctual-bench

Exit code: 0 written; 2 the folder cannot be written.";

const DEMO: &str = "\
Examples:
  punctual demo                       about 40 seconds; writes punctual-demo.html
  punctual demo --quick               three loads instead of six: about 15 seconds
  punctual demo --json demo.json --html demo.html

Real-time scheduling requires a right. Without it, the demo runs all the same \
and is marked \"not real-time\". Run as root, or:
  sudo setcap cap_sys_nice,cap_ipc_lock+ep $(command -v punctual)

Exit code: 0 all claims about lanes hold; 1 a claim fails; 2 the demo could not \
run, or the machine is unfit for it; 3 it ran without real-time rights; 130 \
after Ctrl-C.";

const BENCH: &str = "\
Examples:
  punctual bench list
  punctual bench cubit --quick --json cubit.json           about 35 s; in full 5 minutes
  punctual bench orb.latency --html latency.html
  punctual bench orb.latency --quick --explain-over 200    why calls are slow
  punctual bench inversion --perfetto timeline.json

Exit code: 0 every claim holds; 1 a claim fails; 2 the benchmark could not run, \
or the machine is unfit for it; 3 it ran without real-time rights; 130 after \
Ctrl-C.";

const QUALIFY: &str = "\
Examples:
  punctual qualify --quick --html report.html              about 8 minutes
  punctual qualify --json now.json --html report.html      about 37 minutes
  punctual qualify --only os,rt.5 --json now.json          a group and a benchmark
  punctual qualify --baseline before.json --json now.json  what has changed
  punctual qualify --bounds bounds.toml --junit junit.xml  on a build server

--bounds reads limits, each for the measured value of a claim or for a column \
of a benchmark's rows (all rows, or those with the values in `where`; the worst \
row decides). They become claims named bounds.…:
  [[limit]]
  claim = \"os.semaphore.growth\"
  at_most = 1.2

  [[limit]]
  benchmark = \"os.thread-switch\"
  where = { threads = 128 }
  column = \"p99_us\"
  at_most = 20
  at_least = 0.5
A limit for a skipped measurement is reported as not measured; an unknown name \
is an error.

Ctrl-C ends the run: results so far are written and marked as interrupted, and \
the machine is restored.

Exit code: 0 every claim and limit holds; 1 one fails; 2 it could not run, or \
the machine is unfit for it; 3 it ran without real-time rights; 130 after \
Ctrl-C.";

const TRACE: &str = "\
Examples:
  punctual trace -- PROGRAM
  punctual trace --cpu 1 --perfetto timeline.json -- punctual demo --quick
  punctual trace --seconds 5 --over 50     the whole machine, waits above 50 µs
  punctual trace --explain-over 500 -- PROGRAM     slow calls
  punctual trace -- sh -c 'SERVER & sleep 1; CLIENT'   both sides: records of other processes are not seen

ORBs that the command starts write their records to a folder in main memory, \
which is passed to them in PUNCTUAL_FLIGHT_RECORDER and removed at the end. \
Levels: 1 to 99 are real-time priorities, 0 is every ordinary thread.

--explain-over adds a time budget for each of the 20 slowest calls: its spans \
(encode, send, wait in lane, wake-up, read, decode, upcall, reply), what \
happened in each, and the main causes over all of them. See docs/tracing.md.

Exit code: 0 nothing waited longer than --over; 1 something did; 2 it could not \
run, or events were lost; 3 it ran without real-time rights.";

const FMT: &str = "\
Examples:
  punctual idl fmt --check examples/01-hello/idl/hello.idl
  punctual idl fmt - < FILE.idl

Exit code: 0 all files are formatted; 1 with --check, some are not; 2 a file could not be read or \
written, or a comment or literal is not closed.";

const CHECK: &str = "\
Examples:
  punctual idl check examples/01-hello/idl/hello.idl
  punctual idl check --format line examples/01-hello/idl/hello.idl
  punctual idl check -I FOLDER -D VERSION=2 FILE.idl OTHER.idl

Exit code: 0 no errors; 1 errors in the IDL; 2 a file could not be read, or the \
command line is wrong.";

const COMPILE: &str = "\
Examples:
  punctual idl compile examples/01-hello/idl/hello.idl --out-dir FOLDER
  punctual idl compile -I FOLDER FILE.idl --runtime-path ::my_runtime::rt
  punctual idl compile FILE.idl OTHER.idl --together system
  punctual idl compile FILE.idl --extern-path Lab=::lab_types::lab --client-only

Exit code: 0 no errors; 1 errors in the IDL; 2 a file could not be read or \
written, or the command line is wrong.";

const DUMP: &str = "\
Examples:
  punctual idl dump examples/01-hello/idl/hello.idl
  punctual idl dump --json examples/01-hello/idl/hello.idl

The JSON has the fields of `Specification` in the documentation of the crate \
punctual-idl (`cargo doc --open`): `files`, `definitions` and `roots`. \
Definitions refer to each other by their index.

Exit code: 0 no errors; 1 errors in the IDL; 2 a file could not be read, or the \
command line is wrong.";

const PLAN: &str = "\
A schedule, in short (docs/planning.md explains it, the documentation of the \
crate punctual-scheduling lists every key):
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

A lane can also set properties of its threads (dynamic_threads, wait, \
stack_bytes, prefault_bytes, cpus, class) and of its sockets (sockets), and a \
pool allow_borrowing or request_buffering.

Durations are a number and a unit: ns, us, ms, s, min. wcet is the worst-case \
execution time on an idle CPU, bcet the best case; delay is the longest \
transmission time of the message to the step, least_delay the shortest. \
Critical sections are named, and blocking is derived from them:
  [[resource]]
  name = \"log\"
  protocol = \"ceiling\"                    or \"inheritance\", the default
with `locks = [{ resource = \"log\", length = \"100 us\" }]` in the steps that use \
it; blocking is any other delay by lower priorities. Steps run one after the \
other. A servant that calls another object (calls, after) occupies its lane's \
thread meanwhile.

Each host has one CPU for this work, under SCHED_FIFO, or several to which \
threads are bound one by one, or serves the earliest deadline first:
  hosts = [\"console\", { name = \"radar\", cpus = [2, 3] }, { name = \"edge\", order = \"deadline\" }]
with `cpu` in the steps on such a host, and `cpus` with one number in its \
lanes.

Late activities are explained: what interferes, what blocks, how late the step \
is released. The bar of an activity shows the same at a glance. Execution times \
that just meet all deadlines are given for all activities together and for each \
one alone.

The rate-monotonic and the hyperbolic bound are shown for hosts to which they \
apply: every activity has one step without blocking, jitter and delay, its \
deadline is its period, and shorter periods have higher priorities.

A scenario for --simulate, in short (docs/simulation.md lists every key):
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
  punctual plan services/scheduling/radar.toml
  punctual plan services/scheduling/radar.toml --lanes radar-lanes.toml
  punctual plan services/scheduling/radar.toml --json plan.json
  punctual plan services/scheduling/radar.toml --explain track
  punctual plan services/scheduling/radar.toml --export scenario.toml
  punctual plan --simulate docs/simulation/figure-6.toml --html figure-6.html
  punctual plan --simulate docs/simulation/fleet.toml --scheduler EDF --seed 7

--lanes writes the same file format, with the changes that make the schedule \
feasible; the ORB reads it (ServerScheduler).

Exit code: 0 every deadline is met; 1 a deadline is missed, or a call would not \
be served; 2 the file could not be read.";

const DOCTOR: &str = "\
Examples:
  punctual doctor
  punctual doctor --json > endsystem.json
  punctual doctor --fix > fix.sh      read it, then: sudo sh fix.sh

Every user can run it, also in containers; root sees more. It checks the rights \
of the user who runs it.

Exit code: 0 all checks passed; 1 a check failed; 2 no check failed, but some \
could not be performed.";

const TOP: &str = "\
Examples:
  punctual top                        the only inspected ORB of this user
  punctual top 4711 --interval 0.5    the ORB of a process
  punctual top /run/radar.inspect --once
  punctual top --json > radar.json

Keys: q, Esc or Ctrl-C quits, + and - change the interval. Times are in \
microseconds, rounded up by at most a sixteenth. `fifo 40!`: SCHED_FIFO was \
requested and denied. Prometheus reads the same data from `GET /metrics` on the \
socket, or over TCP if the program sets `Inspection::metrics_at`.

Exit code: 0 shown; 1 the ORB ended meanwhile; 2 no ORB or several ORBs were \
found, or the ORB did not answer.";

#[cfg(test)]
mod documents;

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_fits_80_columns() {
        let mut commands = vec![Cli::command().term_width(80)];
        while let Some(mut command) = commands.pop() {
            let subcommands = command.get_subcommands().cloned();
            commands.extend(subcommands.map(|command| command.term_width(80)));
            for help in [command.render_help(), command.render_long_help()] {
                for line in help.to_string().lines() {
                    assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
                }
            }
        }
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
