//! `orb.peers`: latency of a call of omniORB, beside ours and a ping-pong of the same octets.
//!
//! Client and server of each ORB are processes of their own, with default settings, over TCP, on the same
//! CPUs and at the same native priority; blocks of calls alternate. Source: [Schmidt 2002] 3.2, which
//! compares ORBs with MT_Cubit.

use std::time::Duration;

use punctual_harness::{
    Claim, Latencies, Outcome, Row, Watchdog,
    blocks::{interleave, median_ratio},
    child::Process,
};
use punctual_os::CpuSet;

use crate::{
    control::Control,
    cubit::{
        client::{self, Block, Caller, Kind},
        operation::Operation,
        server::{self, Fault, Server},
        transport::{LaneWait, Transport},
    },
    error::{Error, Missing},
    experiment::{Experiment, Trial},
    length::Length,
    load::OtherProgram,
    omniorb,
};

pub(crate) struct Peers;

/// Kinds of calls that alternate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Called {
    /// Ours, with a lane that waits like this.
    Ours(LaneWait),
    OmniOrb,
    PingPong,
}

/// Lanes of ours: the default, and one whose threads read from one client each, as those of omniORB do.
const LANES: [LaneWait; 2] = [LaneWait::Polled, LaneWait::Blocking];

impl Called {
    const ALL: [Self; 4] = [
        Self::PingPong,
        Self::OmniOrb,
        Self::Ours(LANES[0]),
        Self::Ours(LANES[1]),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Ours(LaneWait::Polled) => "Punctual",
            Self::Ours(LaneWait::Blocking) => "Punctual, blocking lane",
            Self::OmniOrb => "omniORB",
            Self::PingPong => "raw ping-pong",
        }
    }
}

#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    calls: u32,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: length.pick(30, 50, 50),
            calls: length.pick(150, 500, 500),
        }
    }

    /// Returns the expected duration of one placement: 400 ms for the start of processes, 20 µs for a call.
    fn of_placement(self) -> Duration {
        let calls = self.rounds as u64 * u64::from(self.calls) * Called::ALL.len() as u64;
        Duration::from_micros(20 * calls) + Duration::from_millis(400)
    }
}

/// Native priority of clients and servers; that of [`server::PRIORITY`].
const NATIVE: i32 = 50;
/// Largest acceptable ratio for a lane whose thread serves several clients: before each request it asks the
/// kernel which of them have sent one, a third system call.
const POLLED: f64 = 1.1;
/// Timeout of starting and stopping a process, and of a block.
const TIMEOUT: Duration = Duration::from_secs(20);

impl Experiment for Peers {
    const NAME: &'static str = "orb.peers";
    const ABOUT: &'static str = "latency of a call of another ORB (omniORB), beside ours; needs omniORB";
    const PAGE: &'static str = include_str!("peers.toml");
    const CONTROLS: &'static [Control] = &[TWICE, WRONG];

    fn expected(length: Length) -> Duration {
        Extent::of(length).of_placement() * 2
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        trial.outcome.parameter("rounds", extent.rounds);
        trial.outcome.parameter("calls_per_block", extent.calls);
        trial.shortened("30 blocks of 150 calls instead of 50 of 500");
        let program = match Missing::of(omniorb::provide())? {
            Ok(program) => program,
            Err(missing) => {
                trial.outcome.skip(None, "calls of omniORB", missing);
                return Ok(());
            }
        };
        let places = &trial.testbed.places;
        let mut clients = vec![("same-cpu", places.pinned.clone())];
        if places.has_driver() {
            clients.push(("split-cpu", places.driver.clone()));
        } else {
            let reason = "only one CPU is available to this process";
            trial
                .outcome
                .skip(None, "every row of placement split-cpu", reason);
        }
        let faults = [(TWICE, Fault::Twice), (WRONG, Fault::Wrong)];
        let fault = faults.iter().find(|(control, _)| trial.testbed.is_under(control));
        let mut errors = 0;
        for (placement, cpus) in clients {
            trial.stage(placement, extent.of_placement());
            let realtime = trial.outcome.machine().is_realtime();
            let native = if realtime { NATIVE } else { 0 };
            let served = &trial.testbed.places.pinned;
            let fault = fault.map(|(_, fault)| *fault);
            let mut processes = Processes {
                ours: [
                    Pair::start(LANES[0], fault, served, &cpus)?,
                    Pair::start(LANES[1], fault, served, &cpus)?,
                ],
                omniorb: OmniOrb::start(&program, [served, &cpus], native)?,
            };
            let mut killers = Vec::new();
            for Pair { client, server } in &processes.ours {
                killers.extend([client.killer()?, server.killer()?]);
            }
            let _watchdog = Watchdog::start(extent.of_placement() * 10 + TIMEOUT, killers, &cpus)?;
            errors += processes.measure(placement, extent, &mut trial.outcome)?;
            for Pair { client, server } in processes.ours {
                client.stop(TIMEOUT)?;
                server.stop(TIMEOUT)?;
            }
        }
        trial.claim_no_errors("Punctual's limit", errors);
        Ok(())
    }
}

const TWICE: Control = Control {
    id: "twice",
    about: "two calls of ours in the place of each one",
    breaks: &["*-over-omniorb.*"],
};
const WRONG: Control = Control {
    id: "wrong-results",
    about: "a servant of ours that adds 1 to each result",
    breaks: &["errors"],
};

/// All that is measured in one placement.
struct Processes {
    /// In the order of [`LANES`].
    ours: [Pair; 2],
    omniorb: OmniOrb,
}

/// Client and server of ours.
struct Pair {
    client: Process<Caller>,
    server: Process<Server>,
}

impl Pair {
    fn start(wait: LaneWait, fault: Option<Fault>, served: &CpuSet, cpus: &CpuSet) -> Result<Self, Error> {
        let (server, ready) = server::spawn(Transport::Tcp, wait, fault, served, &[], TIMEOUT)?;
        let client = client::spawn(&ready, cpus, &[], TIMEOUT)?;
        Ok(Self { client, server })
    }
}

impl Processes {
    /// Adds the rows and the claim. Returns the number of wrong results.
    fn measure(&mut self, placement: &str, extent: Extent, outcome: &mut Outcome) -> Result<u64, Error> {
        for called in Called::ALL {
            self.block(called, 2 * extent.calls)?;
        }
        let blocks = interleave(&Called::ALL, extent.rounds, |called, _| {
            self.block(called, extent.calls)
        })?;
        let medians: Vec<Vec<f64>> = blocks
            .iter()
            .map(|of| {
                of.iter()
                    .filter_map(|(latencies, _)| latencies.quantile_us(0.5))
                    .collect()
            })
            .collect();
        let [raw, omniorb] = [&medians[0], &medians[1]];
        for ((called, of), medians) in Called::ALL.iter().zip(&blocks).zip(&medians) {
            let mut all = Latencies::new();
            of.iter().for_each(|(latencies, _)| all.merge(latencies));
            let ratio = median_ratio(medians, raw);
            let row = Row::new()
                .with("placement", placement)
                .with("called", called.name())
                .with_fields(&all.summary())
                .with("p50_over_raw", ratio.as_ref().map(|ratio| ratio.median))
                .with("p50_over_raw_low", ratio.as_ref().map(|ratio| ratio.low))
                .with("p50_over_raw_high", ratio.as_ref().map(|ratio| ratio.high));
            outcome.row(row);
            if let Called::Ours(wait) = called {
                let ratio = median_ratio(medians, omniorb).ok_or("no blocks")?;
                let (lane, limit) = match wait {
                    LaneWait::Polled => ("polled", POLLED),
                    LaneWait::Blocking => ("blocking", 1.0),
                };
                outcome.claim(Claim::at_most(
                    format!("{lane}-over-omniorb.{placement}"),
                    format!("p50 of a two-way call with an octet over that of omniORB, {lane} lane"),
                    "Punctual's limit",
                    ratio.median,
                    limit,
                ));
            }
        }
        Ok(blocks.iter().flatten().map(|(_, errors)| errors).sum())
    }

    /// Returns the latencies of a block, and the number of wrong results.
    fn block(&mut self, called: Called, calls: u32) -> Result<(Latencies, u64), Error> {
        let (pair, kind) = match called {
            Called::Ours(LaneWait::Polled) => (0, Kind::Ours),
            Called::Ours(LaneWait::Blocking) => (1, Kind::Ours),
            Called::PingPong => (0, Kind::Raw(Transport::Tcp)),
            Called::OmniOrb => return self.omniorb.block(calls),
        };
        let block = Block {
            operation: Operation::Octet,
            kind,
            length: client::Length::Calls(calls),
            with_latencies: true,
        };
        let measured = self.ours[pair].client.perform(&block, TIMEOUT)?;
        Ok((measured.latencies.ok_or("no latencies")?, measured.errors))
    }
}

/// Client and server on omniORB.
struct OmniOrb {
    client: OtherProgram,
    /// Ends when it is dropped.
    _server: OtherProgram,
}

impl OmniOrb {
    fn start(program: &std::path::Path, cpus: [&CpuSet; 2], native: i32) -> Result<Self, Error> {
        let cpu = |set: &CpuSet| set.iter().next().map(|cpu| cpu.to_string());
        let [server, client] = cpus.map(cpu);
        let (server, client) = server.zip(client).ok_or("no CPU to run on")?;
        let native = native.to_string();
        let endpoint = ["-ORBendPoint", "giop:tcp:127.0.0.1:"];
        let server = OtherProgram::start(program, &[&["server", &server, &native][..], &endpoint].concat())?;
        let reference = server.read(TIMEOUT)?;
        let client = OtherProgram::start(program, &["client", &client, &native, &reference])?;
        let served_at = client.read(TIMEOUT)?;
        if served_at != native {
            return Err(format!("omniORB serves at the native priority {served_at}, not {native}").into());
        }
        Ok(Self {
            client,
            _server: server,
        })
    }

    fn block(&mut self, calls: u32) -> Result<(Latencies, u64), Error> {
        self.client.write(calls)?;
        let line = self.client.read(TIMEOUT)?;
        let numbers: Result<Vec<u64>, _> = line.split(' ').map(str::parse).collect();
        let numbers = numbers?;
        let (errors, times) = numbers
            .split_first()
            .ok_or("an empty line from omniORB's client")?;
        if times.len() != calls as usize {
            let found = times.len();
            return Err(format!("{found} times of {calls} calls from omniORB's client").into());
        }
        let mut latencies = Latencies::new();
        times.iter().for_each(|time| latencies.record(*time));
        Ok((latencies, *errors))
    }
}
