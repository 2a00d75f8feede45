//! The client process: blocks of calls with one type of argument.

use std::time::{Duration, Instant};

use punctual::{Orb, Priority};
use punctual_harness::child::Control;
use punctual_os::clock;
use serde::{Deserialize, Serialize};

use super::operation::{Operation, Values};
use crate::{cubit::server::PRIORITY, error::Error, idl::cubit::bench::CubitRef};

pub(in crate::orb) const CLIENT_ROLE: &str = "__idl-cubit-client";

/// A block of calls, as the driver requests it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Block {
    pub(super) operation: Operation,
    pub(super) length: Duration,
}

/// The result of a block.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Measured {
    pub(super) calls: u64,
    /// Number of wrong results.
    pub(super) errors: u64,
    pub(super) elapsed: Duration,
    /// Time until the server had served all calls; for oneway calls longer than `elapsed`.
    pub(super) until_served: Duration,
    /// Processor time of the calling thread.
    pub(super) cpu: Duration,
    /// Octets of argument and result per call.
    pub(super) octets_per_call: f64,
}

/// Runs the client process. Argument: the reference.
pub(in crate::orb) fn client(arguments: &[String]) -> Result<(), Error> {
    let ior = arguments.first().ok_or("the client process needs a reference")?;
    let orb = Orb::builder().build()?;
    let cubit: CubitRef = orb.resolve(ior)?;
    orb.current().set_priority(Priority::new(PRIORITY)?)?;
    let mut values = Values::new();
    let mut number = 0;
    Control::ready(&())?.serve(|block: Block| {
        measure(&cubit, &mut values, &mut number, block).map_err(|error| error.to_string())
    })?;
    Ok(())
}

fn measure(cubit: &CubitRef, values: &mut Values, number: &mut u32, block: Block) -> Result<Measured, Error> {
    let Block { operation, length } = block;
    let directions = if operation.is_oneway() { 1.0 } else { 2.0 };
    let mut measured = Measured {
        octets_per_call: directions * values.octets(operation)?,
        ..Measured::default()
    };
    // The first call after another operation finds cold caches and is not counted. Its result is compared
    // completely.
    let correct = values.call(cubit, operation, *number)? && values.is_whole(operation);
    measured.errors += u64::from(!correct);
    // Waits until earlier oneway calls are served.
    cubit.cube_void()?;
    let (start, cpu) = (Instant::now(), clock::thread_cpu_time());
    while start.elapsed() < length {
        *number = number.wrapping_add(1);
        let correct = values.call(cubit, operation, *number)?;
        measured.calls += 1;
        measured.errors += u64::from(!correct);
    }
    measured.elapsed = start.elapsed();
    measured.cpu = clock::thread_cpu_time() - cpu;
    if operation.is_oneway() {
        // Requests of one connection are served in order.
        cubit.cube_void()?;
    }
    measured.until_served = start.elapsed();
    Ok(measured)
}
