//! The measurement of one placement of client and server: a row for each operation, with the claims about it.

use std::time::Duration;

use punctual_harness::{
    OtherLoad, Outcome, Progress, Watchdog,
    blocks::{interleave, median_ratio},
    child::Process,
};
use punctual_os::{CpuSet, TaskId};

use super::{
    Extent,
    client::{self, BLOCK_TIMEOUT, Block, Caller, Kind, Length},
    count::{Counted, count, user_cpu},
    operation::Operation,
    placement::Placement,
    rows::{Ratios, Side, Target},
    server::{self, Server},
    transport::{LaneWait, Transport},
};
use crate::error::Error;

/// Timeout of starting and stopping a process.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(20);

impl Placement {
    /// Adds a row for each operation and one for the raw exchange, and the claims about them. Returns the
    /// share of the CPUs that other programs used meanwhile, from 0 to 1.
    pub(super) fn measure(
        &self,
        extent: Extent,
        progress: &Progress,
        outcome: &mut Outcome,
    ) -> Result<f64, Error> {
        let place = self.place();
        progress.stage(format!("{place}: starting client and server"), Extent::START);
        let on = |cpu| CpuSet::single(cpu);
        let (server, ready) = server::spawn(
            self.transport,
            self.lane_wait,
            self.fault,
            &on(self.server),
            &[],
            START_TIMEOUT,
        )?;
        let client = client::spawn(&ready, &on(self.client), &[], START_TIMEOUT)?;
        let limit = Duration::from_secs(180 + 8 * extent.cpu_seconds);
        let _watchdog = Watchdog::start(limit, vec![server.killer()?, client.killer()?], &on(self.client))?;

        let watch = self.watch(vec![server.id(), client.id()])?;
        let mut processes = Processes { client, server };
        for &operation in self.lane_wait.operations() {
            let stage = format!("{place}: {}", operation.name());
            progress.stage(stage, extent.of_operation());
            self.measure_operation(operation, &mut processes, extent, progress, outcome)?;
        }
        let reason = "measured only for cube_long and the TCP ping-pong, because it takes 30 s for each";
        outcome.skip(
            None,
            format!("user_cpu_us_per_call of the other operations, {place}"),
            reason,
        );
        let others = watch.share()?;
        processes.client.stop(START_TIMEOUT)?;
        processes.server.stop(START_TIMEOUT)?;
        Ok(others)
    }

    /// Starts to watch how much of the CPUs programs other than these processes use.
    fn watch(&self, mut processes: Vec<TaskId>) -> Result<OtherLoad, Error> {
        let mut cpus = CpuSet::single(self.server);
        if self.client != self.server {
            cpus.insert(self.client);
            // The driver has the client's CPU.
            processes.push(TaskId::current_process());
        }
        Ok(OtherLoad::start(processes, cpus)?)
    }

    /// Adds the rows and claims of one operation.
    fn measure_operation(
        &self,
        operation: Operation,
        processes: &mut Processes,
        extent: Extent,
        progress: &Progress,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let Sides { ours, raw, beside } = self.blocks(&mut processes.client, operation, extent)?;
        let Processes { client, server } = processes;
        let mut counted = count(client, server, operation, Kind::Ours, extent)?;
        let over = |raw: &Option<Side>| median_ratio(&ours.medians, &raw.as_ref()?.medians);
        let (ratio, over_beside) = (over(&raw), over(&beside));
        let raw_tcp = match self.beside(operation) {
            Some((_, Kind::Raw(Transport::Tcp))) => over_beside,
            _ if self.transport == Transport::Tcp => ratio,
            _ => None,
        };
        let ratios = Ratios { raw: ratio, raw_tcp };
        if let (Operation::Long, Some(raw)) = (operation, &raw) {
            let kind = Kind::Raw(self.transport);
            let mut raw_counted = count(client, server, operation, kind, extent)?;
            if self.claims_cpu() && counted.user_cpu_us.is_none() && extent.cpu_seconds > 0 {
                let stage = format!("{}: processor time", self.place());
                progress.stage(stage, extent.of_processor_time());
                let kinds = [Kind::Ours, kind];
                [counted.user_cpu_us, raw_counted.user_cpu_us] =
                    user_cpu(client, server, operation, kinds, extent)?;
            }
            if self.claims_cpu() {
                let (own, raw) = (counted.user_cpu_us, raw_counted.user_cpu_us);
                self.claim_cpu(own, raw, extent.cpu_seconds > 0, outcome);
            }
            self.add_row(
                Target::Raw,
                operation,
                raw,
                &raw_counted,
                Ratios::default(),
                outcome,
            );
        }
        self.add_row(Target::Call, operation, &ours, &counted, ratios, outcome);
        self.claim(operation, &ours, &counted, ratio, outcome);
        if let Some(over_beside) = over_beside {
            self.claim_beside(operation, &over_beside, outcome);
        }
        Ok(())
    }

    fn add_row(
        &self,
        target: Target,
        operation: Operation,
        side: &Side,
        counted: &Counted,
        ratios: Ratios,
        outcome: &mut Outcome,
    ) {
        // Determined once, at the start: the class is the same for all rows of a run.
        let realtime = outcome.machine().is_realtime();
        outcome.row(self.row(target, operation, side, counted, ratios, realtime));
    }

    /// Returns a third kind of calls, with which the operation is compared: what shared memory saves compared
    /// with TCP, and what an `any` costs compared with its content.
    fn beside(&self, operation: Operation) -> Option<(Operation, Kind)> {
        match (self.transport, operation) {
            (Transport::Shm, Operation::Long) => Some((operation, Kind::Raw(Transport::Tcp))),
            (_, Operation::AnyStruct) => Some((Operation::Struct, Kind::Ours)),
            _ => None,
        }
    }

    fn claims_cpu(&self) -> bool {
        (self.transport, self.lane_wait) == (Transport::Tcp, LaneWait::Polled)
    }

    fn blocks(
        &self,
        client: &mut Process<Caller>,
        operation: Operation,
        extent: Extent,
    ) -> Result<Sides, Error> {
        let mut ask = |(operation, kind), calls| {
            client.perform(
                &Block {
                    operation,
                    kind,
                    length: Length::Calls(calls),
                    with_latencies: true,
                },
                BLOCK_TIMEOUT,
            )
        };
        let mut kinds = vec![(operation, Kind::Ours)];
        let has_raw = operation != Operation::Oneway || self.transport.has_raw_oneway();
        if has_raw {
            kinds.push((operation, Kind::Raw(self.transport)));
        }
        let beside = self.beside(operation);
        kinds.extend(beside);
        for &kind in &kinds {
            ask(kind, 2 * extent.calls_per_block)?;
        }
        let blocks = interleave(&kinds, extent.rounds, |kind, _| ask(kind, extent.calls_per_block))?;
        let mut sides = blocks.into_iter().map(Side::of);
        Ok(Sides {
            ours: sides.next().ok_or("no blocks")?,
            raw: has_raw.then(|| sides.next()).flatten(),
            beside: beside.and_then(|_| sides.next()),
        })
    }
}

/// The processes of a placement.
struct Processes {
    client: Process<Caller>,
    server: Process<Server>,
}

/// Calls that alternated: ours and the baselines.
struct Sides {
    ours: Side,
    raw: Option<Side>,
    /// [`Placement::beside`].
    beside: Option<Side>,
}
