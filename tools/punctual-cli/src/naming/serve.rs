//! `punctual naming serve`.

use std::{path::PathBuf, thread, time::Duration};

use clap::Args;
use punctual::{Inspection, Orb, naming::NAME_SERVICE};
use punctual_naming::{NamingLimits, NamingService};
use punctual_system::signals::Termination;

use super::Failed;
use crate::tls::TlsFile;

pub const HELP: &str = "\
Examples:
  punctual naming serve
  punctual naming serve --store names.redb
  punctual naming serve --listen iiop://192.0.2.1:2809 --store /var/lib/punctual/names.redb
  punctual naming serve --listen ssliop://radar.example:2810 --tls tls.toml

In another terminal:
  punctual naming create radar
  punctual naming bind radar/tracker corbaloc::radar:2810/Tracker
  punctual naming list --recursive
  punctual call corbaname::localhost#radar/tracker --idl FILE.idl

With --store, contexts and bindings are kept in a file: each change is on the disk before its \
caller gets the reply, and references to contexts stay valid after a restart at the same address. \
Without it, everything is lost when the process ends. docs/naming.md describes limits, and the settings of \
clients of other ORBs.

Exit code: 0 ended by Ctrl-C or SIGTERM (background processes of a script ignore SIGINT: use \
SIGTERM); 2 it could not be started, for example because the port or the file is in use.";

/// Longest delay until a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// Settings of `naming serve`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address to listen at; for clients on other hosts, an address of this host on the network
    #[arg(
        long,
        visible_alias = "endpoint",
        value_name = "ENDPOINT",
        default_value = "iiop://localhost:2809"
    )]
    listen: String,
    /// Keep contexts and bindings in this file; default: in memory
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Number of threads that serve
    #[arg(long, value_name = "NUMBER", default_value = "4")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Maximum number of contexts
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().contexts)]
    contexts: usize,
    /// Maximum number of bindings in one context
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().bindings)]
    bindings: usize,
    /// Maximum number of octets of all names and references
    #[arg(long, value_name = "OCTETS", default_value_t = NamingLimits::default().octets)]
    octets: usize,
    /// Let `punctual top` watch the ORB at this socket
    #[arg(long, value_name = "SOCKET")]
    inspection: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsFile,
}

pub fn run(options: &Options) -> Result<(), Failed> {
    let termination = Termination::watch()?;
    let builder = options.tls.applied_to(Orb::builder());
    let mut builder = builder
        .map_err(|error| Failed::NotBegun(error.to_string()))?
        .listen(&*options.listen);
    if let Some(socket) = &options.inspection {
        builder = builder.inspection(Inspection::at(socket));
    }
    let orb = builder.build()?;
    let threads = usize::from(options.threads);
    let limits = NamingLimits {
        contexts: options.contexts,
        bindings: options.bindings,
        octets: options.octets,
        // One thread is left for names of this service.
        foreign_calls: (threads - 1).min(NamingLimits::default().foreign_calls),
        ..NamingLimits::default()
    };
    let builder = NamingService::builder().limits(limits);
    let service = match &options.store {
        None => builder,
        Some(file) => builder.store(file),
    };
    let service = service.build(&orb)?;
    println!("{}", orb.publish(NAME_SERVICE, service.root())?);
    let found = service.statistics();
    let place = match &options.store {
        None => "in memory".to_owned(),
        Some(file) => format!("in `{}`", file.display()),
    };
    println!(
        "Contexts {}, bindings {}, {place}. Ctrl-C ends it.",
        found.contexts, found.bindings
    );
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| orb.run());
        }
        let mut not_stored = 0;
        while termination.requested().is_none() {
            thread::sleep(SLICE);
            report(&service, &mut not_stored);
        }
        orb.shutdown();
    });
    let all = service.statistics();
    println!(
        "Ended. Contexts {}, bindings {}; {} requests beyond a limit were refused.",
        all.contexts, all.bindings, all.refused
    );
    Ok(())
}

/// Reports changes that could not be stored since the last time.
fn report(service: &NamingService, before: &mut u64) {
    let now = service.statistics().not_stored;
    if now > *before {
        let why = service.store_failure().unwrap_or_default();
        eprintln!(
            "warning: {} changes were refused because they could not be stored: {why}; is the disk full?",
            now - *before
        );
        *before = now;
    }
}
