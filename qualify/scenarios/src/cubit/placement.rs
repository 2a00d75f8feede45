use std::time::Duration;

use punctual_harness::{
    Child, Outcome, Progress, Watchdog,
    blocks::{interleave, median_ratio},
};
use punctual_os::CpuSet;
use serde::{Deserialize, Serialize};

use super::{
    Extent,
    client::{self, Block, Kind, Length, Measured},
    count::{count, user_cpu},
    operation::{OPERATIONS, Operation},
    rows::Side,
    server,
    transport::Transport,
};
use crate::error::Error;

/// Which CPUs client and server run on, what is between them, and how the server waits.
pub(super) struct Placement {
    pub(super) name: &'static str,
    pub(super) client: usize,
    pub(super) server: usize,
    pub(super) transport: Transport,
    pub(super) lane_wait: LaneWait,
}

/// How the lane's thread waits for requests.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum LaneWait {
    /// In the lane's waiting place.
    Polled,
    /// In a read of its one connection.
    Blocking,
}

impl LaneWait {
    /// The name in the rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Polled => "polled",
            Self::Blocking => "blocking",
        }
    }
}

pub(super) const START: Duration = Duration::from_secs(20);
pub(super) const BLOCK: Duration = Duration::from_secs(60);

impl Placement {
    /// Adds a row for each operation and one for the raw exchange, and the claims about them.
    pub(super) fn measure(
        &self,
        extent: Extent,
        progress: &Progress,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let place = self.place();
        progress.stage(
            format!("{place}: starting client and server"),
            Duration::from_secs(1),
        );
        let on = |cpu| CpuSet::single(cpu);
        let (server, ready) = server::spawn(self.transport, self.lane_wait, &on(self.server), &[], START)?;
        let mut client = client::spawn(&ready, &on(self.client), &[], START)?;
        let limit = Duration::from_secs(180 + 8 * extent.cpu_seconds);
        let _watchdog = Watchdog::start(limit, vec![server.killer()?, client.killer()?], &on(self.client))?;

        let realtime = outcome.machine().is_realtime();
        for &operation in self.operations() {
            let calls = u64::from(extent.calls_per_block) * extent.rounds as u64;
            progress.stage(
                format!("{place}: {}", operation.name()),
                Duration::from_micros(calls * 80),
            );
            let Sides { ours, raw, raw_tcp } = self.blocks(&mut client, operation, extent)?;
            let mut counted = count(&mut client, &server, operation, Kind::Ours, extent)?;
            let over = |raw: &Option<Side>| median_ratio(&ours.medians, &raw.as_ref()?.medians);
            let ratio = over(&raw);
            if let (Operation::Long, Some(raw)) = (operation, &raw) {
                let kind = Kind::Raw(self.transport);
                let mut raw_counted = count(&mut client, &server, operation, kind, extent)?;
                if self.claims_cpu() && counted.user_cpu_us.is_none() && extent.cpu_seconds > 0 {
                    let expected = Duration::from_secs(2 * extent.cpu_seconds);
                    progress.stage(format!("{place}: processor time"), expected);
                    let kinds = [Kind::Ours, kind];
                    [counted.user_cpu_us, raw_counted.user_cpu_us] =
                        user_cpu(&mut client, &server, operation, kinds, extent)?;
                }
                if self.claims_cpu() {
                    self.claim_cpu(counted.user_cpu_us, raw_counted.user_cpu_us, outcome);
                }
                outcome.row(self.row("raw", operation, raw, &raw_counted, None, realtime));
            }
            outcome.row(self.row(operation.name(), operation, &ours, &counted, ratio, realtime));
            self.claim(operation, &ours, &counted, ratio, outcome);
            if let Some(over_tcp) = over(&raw_tcp) {
                self.claim_over_tcp(&over_tcp, outcome);
            }
        }
        let reason =
            "summed over 30 s for each, it is measured for cube_long and the ping-pong over TCP only";
        outcome.skip(
            None,
            format!("user_cpu_us_per_call of the other operations, {place}"),
            reason,
        );
        client.stop(START)?;
        server.stop(START)?;
        Ok(())
    }

    /// What the claims' identifiers end with: the placement, and what is not as in the first rows there were.
    pub(super) fn place(&self) -> String {
        let wait = match self.lane_wait {
            LaneWait::Polled => "",
            LaneWait::Blocking => "-blocking",
        };
        match self.transport {
            Transport::Tcp => format!("{}{wait}", self.name),
            other => format!("{}{wait}.{}", other.name(), self.name),
        }
    }

    /// Through another waiting place the operations differ as they do through the first.
    fn operations(&self) -> &'static [Operation] {
        match self.lane_wait {
            LaneWait::Polled => OPERATIONS,
            LaneWait::Blocking => &[Operation::Long],
        }
    }

    fn claims_cpu(&self) -> bool {
        (self.transport, self.lane_wait) == (Transport::Tcp, LaneWait::Polled)
    }

    fn blocks(&self, client: &mut Child, operation: Operation, extent: Extent) -> Result<Sides, Error> {
        let mut ask = |kind, calls| {
            client.ask::<_, Measured>(
                &Block {
                    operation,
                    kind,
                    length: Length::Calls(calls),
                    with_latencies: true,
                },
                BLOCK,
            )
        };
        let mut kinds = vec![Kind::Ours];
        let has_raw = operation != Operation::Oneway || self.transport.has_raw_oneway();
        if has_raw {
            kinds.push(Kind::Raw(self.transport));
        }
        // How much shared memory saves over what everybody has.
        let beside_tcp = (self.transport, operation) == (Transport::Shm, Operation::Long);
        if beside_tcp {
            kinds.push(Kind::Raw(Transport::Tcp));
        }
        for &kind in &kinds {
            ask(kind, 2 * extent.calls_per_block)?;
        }
        let blocks = interleave(&kinds, extent.rounds, |kind, _| ask(kind, extent.calls_per_block))?;
        let mut sides = blocks.into_iter().map(Side::of);
        Ok(Sides {
            ours: sides.next().ok_or("no blocks")?,
            raw: has_raw.then(|| sides.next()).flatten(),
            raw_tcp: beside_tcp.then(|| sides.next()).flatten(),
        })
    }
}

/// What alternated.
struct Sides {
    ours: Side,
    raw: Option<Side>,
    raw_tcp: Option<Side>,
}
