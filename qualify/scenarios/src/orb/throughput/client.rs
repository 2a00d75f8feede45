//! The client process: blocks of calls with one type of argument.

use std::time::{Duration, Instant};

use punctual_os::clock;
use serde::{Deserialize, Serialize};

use super::operation::{Call, Values};
use crate::{error::Error, idl::cubit::bench::CubitRef};

/// A block of calls, as the driver requests it from the client process of `cubit`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct TimedBlock {
    pub(super) call: Call,
    pub(super) length: Duration,
}

/// State that the client process keeps between blocks.
pub(crate) struct State {
    values: Values,
    number: u32,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            values: Values::new(),
            number: 0,
        }
    }
}

impl TimedBlock {
    /// Executes the block in the client process.
    pub(crate) fn measure(self, cubit: &CubitRef, state: &mut State) -> Result<Measured, Error> {
        let State { values, number } = state;
        measure(cubit, values, number, self)
    }
}

/// The result of a block.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Measured {
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

fn measure(
    cubit: &CubitRef,
    values: &mut Values,
    number: &mut u32,
    block: TimedBlock,
) -> Result<Measured, Error> {
    let TimedBlock { call, length } = block;
    let Call { operation, is_oneway } = call;
    let directions = if is_oneway { 1.0 } else { 2.0 };
    let mut measured = Measured {
        octets_per_call: directions * values.octets(operation)?,
        ..Measured::default()
    };
    // The first call after another operation finds cold caches and is not counted. Its result is compared
    // completely.
    if is_oneway {
        values.send(cubit, operation, *number)?;
    } else {
        let correct = values.call(cubit, operation, *number)? && values.is_whole(operation);
        measured.errors += u64::from(!correct);
    }
    // Waits until earlier oneway calls are served.
    cubit.cube_void()?;
    let (start, cpu) = (Instant::now(), clock::thread_cpu_time());
    while start.elapsed() < length {
        *number = number.wrapping_add(1);
        measured.calls += 1;
        if is_oneway {
            values.send(cubit, operation, *number)?;
        } else {
            measured.errors += u64::from(!values.call(cubit, operation, *number)?);
        }
    }
    measured.elapsed = start.elapsed();
    measured.cpu = clock::thread_cpu_time() - cpu;
    if is_oneway {
        // Requests of one connection are served in order.
        cubit.cube_void()?;
    }
    measured.until_served = start.elapsed();
    Ok(measured)
}
