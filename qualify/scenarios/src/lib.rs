//! The measurements that `punctual bench` and `punctual demo` run.
//!
//! Each is a module with `Options` for the command line and `run`. Measured work happens in processes of its own, which
//! are this program again: [`main_if_asked`] takes the call there.

pub mod cubit;
pub mod demo;
pub mod inversion;
mod report;
pub mod trace;

/// The Rust of the interfaces.
#[allow(missing_docs)]
mod idl {
    pub(crate) mod cubit {
        punctual::include_idl!("cubit");
    }
    pub(crate) mod load {
        punctual::include_idl!("load");
    }
}

/// The benchmarks that `punctual bench` knows: name and one sentence.
pub const BENCHMARKS: &[(&str, &str)] = &[
    (
        "cubit",
        "latency of calls with different arguments, beside a raw TCP ping-pong of the same octets",
    ),
    (
        "inversion",
        "whether requests wait while something less important runs, under a flood of best-effort calls",
    ),
];

/// Becomes a child process of a measurement, if the command line says so; to be called first in `main`.
///
/// Returns where this is no child process. A child ends with its parent.
pub fn main_if_asked() {
    let mut arguments = std::env::args().skip(1);
    let role = arguments.next();
    let arguments: Vec<String> = arguments.collect();
    let result = match role.as_deref() {
        Some(cubit::SERVER_ROLE) => cubit::server(&arguments),
        Some(cubit::CLIENT_ROLE) => cubit::client(&arguments),
        Some(demo::SERVER_ROLE) => demo::server(&arguments),
        Some(demo::CLIENT_ROLE) => demo::client(&arguments),
        _ => return,
    };
    if let Err(error) = result {
        let _ = punctual_harness::child::Control::refuse(error.to_string());
        std::process::exit(2);
    }
    std::process::exit(0);
}

/// Whatever can go wrong in a measurement; ends it with exit code 2.
type Error = Box<dyn std::error::Error + Send + Sync>;
