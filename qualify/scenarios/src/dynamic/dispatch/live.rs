//! The live run of the model in two processes.

use std::time::Duration;

use punctual_harness::{ChildSpec, Watchdog, child};
use punctual_os::{CpuSet, clock};

use super::{
    super::schedule::Schedule,
    host::{Connect, Finish, Plug, Process, Spec, Start},
    model::How,
    paper,
};
use crate::{
    error::{Error, refusal},
    testbed::Places,
};

const START: Duration = Duration::from_secs(20);
/// Time between the command and the start, enough for both hosts to start their threads.
const LEAD: Duration = Duration::from_millis(150);

/// The result of a live run.
pub(super) struct LiveRun {
    pub(super) schedule: Schedule,
    /// Holes, in which the kernel or the host let no thread run: start and length, in nanoseconds.
    pub(super) holes: Vec<(u64, u64)>,
    /// Description of the network between the hosts.
    pub(super) network: String,
}

/// Runs the model. It uses the two CPUs completely, above the default class.
pub(super) fn run(places: &Places, how: How) -> Result<LiveRun, Error> {
    let unit = how.unit;
    let mut hosts = match start(places, how, true) {
        Ok(hosts) => hosts,
        Err(error) => match refusal(&error) {
            Some(reason) => Hosts {
                network: format!("loopback: {reason}"),
                ..start(places, how, false)?
            },
            None => return Err(error),
        },
    };
    let length = unit * paper::UNITS as u32;
    let killers = vec![hosts.first.killer()?, hosts.second.killer()?];
    let _watchdog = Watchdog::start(LEAD + length * 2 + START, killers, &places.driver)?;
    let origin_ns = (clock::monotonic() + LEAD).as_nanos() as u64;
    let timeout = LEAD + length * 2 + START;
    let start = |other: &str| Start {
        origin_ns,
        other: other.to_owned(),
    };
    hosts.second.perform(&start(""), START)?;
    hosts.first.perform(&start(&hosts.reference), START)?;
    let mut runs = Vec::new();
    let mut holes = Vec::new();
    for host in [&mut hosts.first, &mut hosts.second] {
        let record = host.perform(&Finish, timeout)?;
        runs.extend(record.runs);
        holes.extend(record.holes);
    }
    hosts.first.stop(START)?;
    hosts.second.stop(START)?;
    Ok(LiveRun {
        schedule: Schedule::of(runs),
        holes,
        network: hosts.network,
    })
}

struct Hosts {
    first: child::Process<Process>,
    second: child::Process<Process>,
    /// The reference of the second host, which the first one calls.
    reference: String,
    network: String,
}

fn start(places: &Places, how: How, linked: bool) -> Result<Hosts, Error> {
    let child = |host: usize, cpus: &CpuSet| {
        let spec = Spec { host, linked, how };
        let child = ChildSpec::of::<Process>(format!("host {}", host + 1)).affinity(cpus.clone());
        child.start::<Process>(&spec, START)
    };
    let (mut second, reference) = child(1, &places.driver)?;
    let (mut first, _) = child(0, &places.pinned)?;
    if linked {
        let other = u32::try_from(first.id().get())?;
        second.perform(&Plug(other), START)?;
        first.perform(&Connect, START)?;
    }
    let network = match linked {
        true => "two network namespaces with a cable",
        false => "loopback",
    };
    Ok(Hosts {
        first,
        second,
        reference,
        network: network.to_owned(),
    })
}
