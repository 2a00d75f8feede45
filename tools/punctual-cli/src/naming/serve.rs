//! `punctual naming serve`.

use std::{
    io::{self, Write},
    path::PathBuf,
    thread,
    time::Duration,
};

use clap::Args;
use punctual::{Inspection, Orb, naming::NAME_SERVICE};
use punctual_naming::{NamingLimits, NamingService};
use punctual_system::signals::Termination;

use super::Failed;
use crate::{
    arguments::seconds,
    tls::{self, TlsFile},
};

pub const HELP: &str = "\
Examples:
  punctual naming serve
  punctual naming serve --store names.redb
  punctual naming serve --store names.redb --prune      drops contexts that no name leads to
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
    /// Drop the contexts of the store that no name leads to from the root, with their bindings
    #[arg(long, requires = "store")]
    prune: bool,
    /// Threads that serve; one of them does not wait for the disk or for other servers
    #[arg(long, value_name = "NUMBER", default_value = "8")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    #[command(flatten)]
    tls: TlsFile,
    #[command(flatten)]
    limits: Limits,
    /// Let `punctual top` watch the ORB at this socket
    #[arg(long, value_name = "SOCKET")]
    inspection: Option<PathBuf>,
}

/// Limits of the service.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
struct Limits {
    /// Maximum number of contexts
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().contexts)]
    contexts: usize,
    /// Maximum number of bindings in one context
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().bindings)]
    bindings: usize,
    /// Maximum number of octets of all names and references
    #[arg(long, value_name = "OCTETS", default_value_t = NamingLimits::default().octets)]
    octets: usize,
    /// Maximum number of components of a name
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().components)]
    components: usize,
    /// Maximum number of octets of id and kind of a component
    #[arg(long, value_name = "OCTETS", default_value_t = NamingLimits::default().component)]
    component: usize,
    /// Maximum number of octets of a reference
    #[arg(long, value_name = "OCTETS", default_value_t = NamingLimits::default().reference)]
    reference: usize,
    /// Maximum number of iterators; the one unused for the longest time gives way to a new one
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().iterators)]
    iterators: usize,
    /// Time after its last use at which an iterator ends
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "300")]
    iterator_idle: Duration,
    /// Maximum number of bindings in a reply
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().batch)]
    batch: usize,
    /// Maximum number of changes that wait for the disk at a time
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().changes)]
    changes: usize,
    /// Maximum number of requests that wait for contexts of other servers at a time
    #[arg(long, value_name = "NUMBER", default_value_t = NamingLimits::default().foreign_calls)]
    foreign_calls: usize,
    /// Longest wait for a context of another server
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "2")]
    foreign_timeout: Duration,
}

impl Limits {
    fn limits(&self) -> NamingLimits {
        NamingLimits {
            contexts: self.contexts,
            bindings: self.bindings,
            octets: self.octets,
            components: self.components,
            component: self.component,
            reference: self.reference,
            iterators: self.iterators,
            iterator_idle: self.iterator_idle,
            batch: self.batch,
            changes: self.changes,
            foreign_calls: self.foreign_calls,
            foreign_timeout: self.foreign_timeout,
        }
    }
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
    let orb = builder.build().map_err(|error| {
        let missing = tls::missing_to_listen(&options.listen, &error);
        missing.map_or_else(|| error.into(), Failed::NotBegun)
    })?;
    let threads = usize::from(options.threads);
    let mut builder = NamingService::builder()
        .limits(options.limits.limits())
        .serving_threads(threads);
    if options.prune {
        builder = builder.prune();
    }
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
    let unnamed = match found.unnamed {
        0 => String::new(),
        number => format!(" ({number} without a name)"),
    };
    println!(
        "Contexts {}{unnamed}, bindings {}, {place}. Ctrl-C or SIGTERM ends it.",
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
        // Its messages may go to the same full disk, which must not end the service: `eprintln!` panics.
        let _ = writeln!(
            io::stderr(),
            "warning: {} changes were refused because they could not be stored: {why}; is the disk full?",
            now - *before
        );
        *before = now;
    }
}
