//! The measurements that `punctual bench`, `punctual qualify` and `punctual demo` run.
//!
//! Each is a [`Benchmark`] of one list, run on one prepared machine. Measured work happens in processes of its own, which are
//! this program again: [`main_if_asked`] takes the call there.

pub mod bench;
mod benchmark;
mod cubit;
pub mod demo;
mod distribution;
mod dynamic;
mod explain;
mod inversion;
mod judge;
mod load;
mod orb;
mod os;
pub mod qualify;
mod report;
mod rt;
mod run;
mod testbed;
pub mod trace;

pub use benchmark::{Benchmark, Findings, Length, benchmarks};
pub use testbed::Testbed;

/// The Rust of the interfaces.
#[allow(missing_docs)]
mod idl {
    pub(crate) mod cubit {
        punctual::include_idl!("cubit");
    }
    pub(crate) mod dynamic {
        punctual::include_idl!("dynamic");
    }
    pub(crate) mod load {
        punctual::include_idl!("load");
    }
}

/// What a child process does, by the first word of its command line.
const ROLES: &[&[(&str, Role)]] = &[cubit::ROLES, dynamic::ROLES, load::ROLES, orb::ROLES, os::ROLES];

/// Gets the rest of the command line.
type Role = fn(&[String]) -> Result<(), Error>;

/// Becomes a child process of a measurement, if the command line says so; to be called first in `main`.
///
/// Returns where this is no child process. A child ends with its parent.
pub fn main_if_asked() {
    let mut arguments = std::env::args().skip(1);
    let Some(role) = arguments.next() else { return };
    let Some((_, run)) = ROLES.iter().copied().flatten().find(|(name, _)| *name == role) else {
        return;
    };
    if let Err(error) = run(&arguments.collect::<Vec<_>>()) {
        let _ = punctual_harness::child::Control::refuse(error.to_string());
        std::process::exit(2);
    }
    std::process::exit(0);
}

/// Whatever can go wrong in a measurement; ends it with exit code 2.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
