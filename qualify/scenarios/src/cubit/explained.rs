//! A traced pass that explains the slowest calls.

use std::time::Duration;

use punctual_harness::{Outcome, Watchdog};
use punctual_os::CpuSet;
use punctual_trace::{SessionSettings, kernel::KernelSettings};

use super::{
    client::{self, BLOCK_TIMEOUT, Block, Kind, Length},
    measure::START_TIMEOUT,
    operation::Operation,
    server,
    transport::{LaneWait, Transport},
};
use crate::{error::Error, explain::Pass, testbed::Testbed};

const OPERATION: Operation = Operation::Long;
/// Each call leaves 7 records on the lane's thread.
const CALLS: u32 = 9000;
const RECORDS: usize = 65_536;
/// Enough for all events of one CPU.
const BUFFER_KIB: usize = 16_384;

/// Explains the slowest calls of a client on this CPU, over TCP, if `--explain-over` was given.
pub(super) fn measure(testbed: &Testbed, of_client: usize, outcome: &mut Outcome) -> Result<(), Error> {
    let places = &testbed.places;
    let of_client = CpuSet::single(of_client);
    let placement = if of_client == places.pinned {
        "same-cpu"
    } else {
        "split-cpu"
    };
    // The reader must not preempt the client.
    let alone = of_client == places.pinned && places.has_driver();
    let recording = SessionSettings {
        kernel: Some(KernelSettings {
            reader: if alone {
                places.driver.clone()
            } else {
                CpuSet::empty()
            },
            buffer_kib: BUFFER_KIB,
            ..KernelSettings::default()
        }),
        records_per_thread: RECORDS,
    };
    let Some(pass) = Pass::begin(&testbed.settings, placement, &recording)? else {
        return Ok(());
    };
    let text = format!("{placement}: calls to explain");
    testbed.progress.stage(text, Duration::from_secs(2));
    let environment = pass.environment();
    let (transport, lane_wait) = (Transport::Tcp, LaneWait::Polled);
    let (server, ready) = server::spawn(
        transport,
        lane_wait,
        None,
        &places.pinned,
        &environment,
        START_TIMEOUT,
    )?;
    let mut client = client::spawn(&ready, &of_client, &environment, START_TIMEOUT)?;
    let _watchdog = Watchdog::start(
        BLOCK_TIMEOUT,
        vec![server.killer()?, client.killer()?],
        &of_client,
    )?;
    let block = Block {
        operation: OPERATION,
        kind: Kind::Ours,
        length: Length::Calls(CALLS),
        with_latencies: false,
    };
    client.perform(&block, BLOCK_TIMEOUT)?;
    // Before the processes end, so that their threads can be named.
    pass.end(&[OPERATION.idl_name()], &[], outcome)?;
    client.stop(START_TIMEOUT)?;
    Ok(server.stop(START_TIMEOUT)?)
}
