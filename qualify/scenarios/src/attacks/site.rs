//! All processes of the measurement, and one block of it.

use std::{
    thread,
    time::{Duration, Instant},
};

use punctual::NativePriority;
use punctual_harness::{Child, ChildSpec, Hole, HoleRecorder, Span};
use punctual_os::{CpuSet, Scheduling, TaskId, ThreadSpec};
use rustix::process::{Pid, Signal, kill_process};

use super::{
    CALLS_PER_SECOND, LANES,
    attack::{Attack, NewConnections, TIMEOUT},
    block::{Block, Memory},
    peer::{Command, ROLE, Response},
    target::Target,
};
use crate::{
    error::Error,
    load::{Deployment, Exposure, Pace, Placement, PoolSpec, Request, ServerSpec, Setup, Tolerance, Worker},
    orb,
    os::{run, spin_for},
    testbed::Places,
};

/// Time of a block beyond its length: connecting, and what follows an attack.
pub(super) const OVERHEAD: Duration = Duration::from_millis(250);
/// Time between connecting and the first counted call; the attack begins in its middle.
const LEAD: Duration = Duration::from_millis(160);
const START: Duration = Duration::from_secs(20);
/// Timeout of one call of a client.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
/// Time within which a server must serve newcomers again after an attack.
const RECOVERY: Duration = Duration::from_secs(10);
/// How long newcomers try whether the server serves again.
const TRY: Duration = Duration::from_millis(30);
const ABOVE_ALL: NativePriority = NativePriority(97);
const SAMPLE: Duration = Duration::from_millis(20);

/// Fault in a block under a control: during an attack, except [`Fault::Stopped`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// Another program keeps the CPU for [`HELD`] of the time.
    Held,
    /// The server is killed.
    Killed,
    /// Another program keeps the CPU for [`SLOWED`] of each millisecond.
    Slowed,
    /// The server keeps [`HOARDED`] octets until the next block.
    Hoarding,
    /// The server is stopped for [`STOPPED`] in blocks alone, whose holes are reported.
    Stopped,
}

impl Fault {
    fn is_during_attacks(self) -> bool {
        self != Self::Stopped
    }
}

const HELD: f64 = 0.85;
const SLOWED: f64 = 0.3;
/// Longer than the shortest hole by two sampling periods: certainly recorded.
const STOPPED: Duration = Duration::from_millis(30);
/// More than an attack may take.
const HOARDED: usize = 160 << 20;

/// One server with its clients, attackers and newcomers.
pub(super) struct Site {
    deployment: Deployment,
    attackers: Child,
    new_connections: Child,
    targets: Vec<Target>,
    recorder: HoleRecorder,
    /// The measured CPU.
    pinned: CpuSet,
    /// Long calls of blocks alone, in which a hole of the kernel would be one.
    long: Vec<Span>,
}

impl Site {
    /// Starts all processes; they are killed after a multiple of the expected time.
    pub(super) fn start(places: &Places, exposure: Exposure, expected: Duration) -> Result<Self, Error> {
        let lanes = LANES.iter().map(|lane| lane.priority).collect();
        let server = ServerSpec {
            exposure: Some(exposure),
            ..ServerSpec::new(vec![PoolSpec::Lanes(lanes)], true)
        };
        let timeout = expected * 2 + RECOVERY * 30;
        let deployment = Deployment::start(places, &Setup::new(server, Placement::OneCpu), 1, timeout)?;
        let reference = deployment
            .references
            .iter()
            .flatten()
            .next()
            .ok_or("the server has no reference")?;
        let cpu = places.pinned.iter().next().unwrap_or_default();
        let targets = Target::of_reference(reference, LANES.iter().map(|lane| lane.priority), cpu)?;
        let peer = |name: &str| {
            let spec = ChildSpec::new(name, ROLE).affinity(places.driver.clone());
            spec.spawn::<()>(START).map(|(child, ())| child)
        };
        Ok(Self {
            recorder: HoleRecorder::start(deployment.processes(), places.pinned.clone(), &places.reader())?,
            attackers: peer("attackers")?,
            new_connections: peer("newcomers")?,
            deployment,
            targets,
            pinned: places.pinned.clone(),
            long: Vec::new(),
        })
    }

    /// Measures one block: all clients for this time, with an attack or alone.
    ///
    /// # Errors
    /// The server, or another process, has ended or does not answer.
    pub(super) fn block(
        &mut self,
        attack: Option<&Attack>,
        fault: Option<Fault>,
        seconds: f64,
    ) -> Result<Block, Error> {
        let server = self.server();
        if fault == Some(Fault::Hoarding) {
            self.deployment.hoard(0)?;
        }
        let before = resident(server)?;
        self.deployment.begin(0, seconds, &workers(), Some(TOLERANCE))?;
        thread::sleep(LEAD / 2);
        let length = LEAD / 2 + Duration::from_secs_f64(seconds);
        if let Some(attack) = attack {
            self.attackers.send_request(&Command::Attack {
                kind: attack.kind,
                target: self.targets[attack.lane].clone(),
                attackers: attack.attackers,
                length,
            })?;
        }
        self.new_connections.send_request(&self.arrive(length))?;
        if let Some(fault) = fault.filter(|fault| fault.is_during_attacks() == attack.is_some()) {
            self.disturb(fault, length)?;
        }
        let highest = highest_resident(server, length)?;
        let operations = match attack {
            Some(_) => attacked(self.attackers.receive_reply(START + length)?)?,
            None => 0,
        };
        let new_connections = arrived(self.new_connections.receive_reply(START + length)?)?;
        let result = self.deployment.end(seconds)?;
        let (recovery, lost) = match attack {
            Some(_) => self.recover()?,
            None => (Duration::ZERO, None),
        };
        if attack.is_none() {
            let calls = result.reports.iter().flat_map(|report| &report.calls);
            self.long
                .extend(calls.filter(|call| call.length() >= Hole::SHORTEST));
        }
        Ok(Block {
            seconds,
            reports: result.reports,
            new_connections,
            operations,
            memory: Memory {
                before,
                highest: highest.max(before),
                after: resident(server)?,
            },
            recovery,
            lost,
        })
    }

    /// Waits until every lane serves newcomers; returns the time, and why the server is lost if it does not.
    fn recover(&mut self) -> Result<(Duration, Option<String>), Error> {
        let begin = Instant::now();
        loop {
            self.new_connections.send_request(&self.arrive(TRY))?;
            let found = arrived(self.new_connections.receive_reply(START)?)?;
            let recovery = begin.elapsed();
            if found.iter().all(|lane| lane.served == lane.arrived) {
                return Ok((recovery, None));
            }
            if recovery > RECOVERY {
                let reason = format!("it served no newcomers {} s after the attack", RECOVERY.as_secs());
                return Ok((recovery, Some(reason)));
            }
        }
    }

    /// Disturbs the server. A program that keeps the CPU has ended when this returns.
    fn disturb(&mut self, fault: Fault, length: Duration) -> Result<(), Error> {
        let server = Pid::from_raw(self.server().get()).ok_or("the server has no id")?;
        match fault {
            Fault::Killed => Ok(kill_process(server, Signal::KILL)?),
            Fault::Stopped => {
                // Counted calls have begun by then.
                thread::sleep(LEAD);
                kill_process(server, Signal::STOP)?;
                thread::sleep(STOPPED);
                Ok(kill_process(server, Signal::CONT)?)
            }
            Fault::Hoarding => self.deployment.hoard(HOARDED),
            Fault::Held => self.keep_cpu(length, HELD, 1),
            Fault::Slowed => self.keep_cpu(length, SLOWED, length.as_millis() as u32),
        }
    }

    /// Keeps the CPU for a share of this time, in so many parts.
    fn keep_cpu(&self, length: Duration, share: f64, parts: u32) -> Result<(), Error> {
        let part = length / parts.max(1);
        let kept = part.mul_f64(share);
        let holder = ThreadSpec::new("holds").affinity(self.pinned.clone());
        run(holder.scheduling(Scheduling::fifo(ABOVE_ALL)), move || {
            for _ in 0..parts {
                spin_for(kept.as_nanos() as u64);
                thread::sleep(if parts > 1 { part - kept } else { Duration::ZERO });
            }
        })
    }

    fn arrive(&self, length: Duration) -> Command {
        Command::Arrive {
            targets: self.targets.clone(),
            // The last one may take its timeout.
            length: length.saturating_sub(TIMEOUT / 50),
        }
    }

    fn server(&self) -> TaskId {
        self.deployment.processes()[0]
    }

    /// Ends all processes; returns the holes of the blocks alone.
    pub(super) fn stop(self) -> Result<Vec<Hole>, Error> {
        let recording = self.recorder.stop();
        self.attackers.stop(START)?;
        self.new_connections.stop(START)?;
        self.deployment.stop()?;
        Ok(recording.holes(&self.long))
    }
}

const TOLERANCE: Tolerance = Tolerance {
    delay: LEAD,
    timeout: CALL_TIMEOUT,
};

/// Returns the client of each lane.
fn workers() -> Vec<Worker> {
    let client = |lane: &super::Lane| Worker {
        name: lane.name.to_owned(),
        priority: Some(lane.priority),
        pace: Pace::Hertz(CALLS_PER_SECOND),
        request: Request::Work(0),
        ..Worker::default()
    };
    LANES.iter().map(client).collect()
}

fn attacked(response: Response) -> Result<u64, Error> {
    match response {
        Response::Attacked(operations) => Ok(operations),
        Response::Arrived(_) => Err("unexpected response of the attackers".into()),
    }
}

fn arrived(response: Response) -> Result<Vec<NewConnections>, Error> {
    match response {
        Response::Arrived(new_connections) => Ok(new_connections),
        Response::Attacked(_) => Err("unexpected response of the newcomers".into()),
    }
}

fn resident(process: TaskId) -> Result<u64, Error> {
    Ok(orb::Memory::of(process)?.resident_kib)
}

/// Returns the most memory that the process had within this time.
fn highest_resident(process: TaskId, length: Duration) -> Result<u64, Error> {
    let deadline = Instant::now() + length;
    let mut highest = 0;
    while Instant::now() < deadline {
        highest = highest.max(resident(process)?);
        thread::sleep(SAMPLE);
    }
    Ok(highest)
}
