//! `punctual scheduler`: shows the decisions of the reconfigurable scheduler for a file, or serves it.

mod serve;
mod show;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use punctual_report::terminal::complain;
use punctual_scheduling::reconfigurable::Strategy;

use crate::tls::TlsFile;

/// Commands of `punctual scheduler`.
#[derive(Debug, Subcommand)]
pub enum Scheduler {
    /// Show rates, priorities and anomalies of the operations in a file
    ///
    /// Computes the schedule as a program with these operations would, and shows for each operation the rate
    /// that is admitted, its level and its order in that level; the levels of dispatch; and all errors and
    /// operations without room.
    #[command(after_help = SHOW)]
    Show(Show),
    /// Serve a scheduler, with the interface of TAO's RtecScheduler
    ///
    /// Clients create operations with rates and dependencies, and query the schedule. Prints the URL of the
    /// object; clients of any ORB understand `corbaloc:...`. Ends with SIGINT (Ctrl-C) or SIGTERM.
    #[command(after_help = SERVE)]
    Serve(Serve),
}

/// Settings of `scheduler show`.
#[derive(Args, Debug)]
pub struct Show {
    /// File with operations (`punctual top` shows a served scheduler)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Order of admission and dispatch, instead of the one in the file
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<Strategy>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Settings of `scheduler serve`.
#[derive(Args, Debug)]
pub struct Serve {
    /// Endpoint at which the scheduler listens
    #[arg(long, value_name = "URL", default_value = "iiop://localhost:2811")]
    pub listen: String,
    /// Order of admission and dispatch
    #[arg(long, value_name = "NAME", default_value = "MUF_FAIR")]
    pub strategy: Strategy,
    /// Use of the processor, 0 to 1, up to which critical work is admitted
    #[arg(long, value_name = "USE", default_value = "1", value_parser = share)]
    pub critical_threshold: f64,
    /// Use of the processor, 0 to 1, up to which other work is admitted
    #[arg(long, value_name = "USE", default_value = "1", value_parser = share)]
    pub threshold: f64,
    /// Let `punctual top` watch the scheduler and its lanes, at this socket
    #[arg(long, value_name = "SOCKET")]
    pub inspection: Option<PathBuf>,
    #[command(flatten)]
    pub tls: TlsFile,
}

const SHOW: &str = "\
A file, in short (the documentation of ReconfigurableScheduler::read lists every key):
  strategy = \"MUF_FAIR\"
  threshold = 0.8

  [[operation]]
  name = \"sensor\"
  criticality = \"very-high\"
  rates = [{ period = \"100 ms\", wcet = \"5 ms\" }, { period = \"20 ms\", wcet = \"5 ms\" }]

  [[operation]]
  name = \"filter\"
  wcet = \"2 ms\"
  follows = [{ operation = \"sensor\" }]

Examples:
  punctual scheduler show services/scheduling/flight.toml
  punctual scheduler show services/scheduling/flight.toml --strategy RMS --json

Exit code: 0 all operations run; 1 some do not; 2 the file could not be read.";

const SERVE: &str = "\
Examples:
  punctual scheduler serve
  punctual scheduler serve --listen iiop://10.0.0.7:2811 --strategy MUF --threshold 0.8
  punctual scheduler serve --inspection /run/user/1000/scheduler.inspect

With --inspection, `punctual top` shows computations, and how many were refused or found cycles, operations \
that nothing runs (no rate), contradictory rate tuples (contrary), operations without room (no room) and \
those with room at lower rates only (lowered).

Exit code: 0 ended by a signal; 2 it could not serve.";

/// Runs the command.
pub fn run(command: &Scheduler) -> ExitCode {
    let done = match command {
        Scheduler::Show(options) => show::run(options),
        Scheduler::Serve(options) => serve::run(options),
    };
    done.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(2)
    })
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected 0 to 1, such as 0.8".to_owned())
}
