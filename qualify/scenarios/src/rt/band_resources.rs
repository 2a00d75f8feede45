//! Resources that priority bands save: a client that calls at many priorities, with a lane for each of them,
//! and with a few lanes, each for a band. Source: [Pyarali 2002] 2.3.

use std::{fs, io, time::Duration};

use punctual_harness::{Claim, Outcome, Row};
use punctual_os::TaskId;

use crate::{
    control::Control,
    error::Error,
    load::{Deployment, Pace, Placement, PoolSpec, ServerSpec, Setup, Worker},
    orb::Memory,
    testbed::{Places, Testbed},
};

pub(super) const WITHOUT_BANDS: Control = Control {
    id: "without-bands",
    about: "a lane for each priority where there should be one for each band",
    breaks: &["bands.connections", "bands.resident"],
};

/// Number of priorities at which the client calls, and of bands.
const PRIORITIES: i16 = 50;
const BANDS: i16 = 2;
/// Distance between two priorities, each of which has a native one of its own.
const STEP: i16 = 600;
/// The largest acceptable ratios, with bands over without.
const CONNECTIONS: f64 = 0.1;
const RESIDENT: f64 = 0.9;
const SOURCE: &str = "[Pyarali 2002] 2.3";

struct Resources {
    connections: usize,
    client_kib: u64,
    server_kib: u64,
}

/// Measures both arrangements, and claims that bands need less.
pub(super) fn measure(testbed: &Testbed, outcome: &mut Outcome) -> Result<(), Error> {
    let all: Vec<i16> = (1..=PRIORITIES).map(|number| number * STEP).collect();
    let tops = (1..=BANDS).map(|band| band * PRIORITIES / BANDS * STEP).collect();
    let banded = match testbed.is_under(&WITHOUT_BANDS) {
        true => PoolSpec::Lanes(all.clone()),
        false => PoolSpec::Bands(tops),
    };
    let mut found = Vec::new();
    for (name, pool) in [
        ("a lane for each priority", PoolSpec::Lanes(all.clone())),
        ("a lane for each band", banded),
    ] {
        let resources = resources(&testbed.places, pool, &all)?;
        let row = Row::new()
            .with("kind", "bands")
            .with("arrangement", name)
            .with("priorities", all.len())
            .with("connections", resources.connections)
            .with("client_kib", resources.client_kib)
            .with("server_kib", resources.server_kib);
        outcome.row(row);
        found.push(resources);
    }
    let ratio = |of: fn(&Resources) -> f64| of(&found[1]) / of(&found[0]);
    let connections = ratio(|one| one.connections as f64);
    let resident = ratio(|one| (one.client_kib + one.server_kib) as f64);
    for (id, what, measured, limit) in [
        (
            "bands.connections",
            "connections of the client",
            connections,
            CONNECTIONS,
        ),
        (
            "bands.resident",
            "resident memory of client and server",
            resident,
            RESIDENT,
        ),
    ] {
        let text =
            format!("{what} that calls at {PRIORITIES} priorities: {BANDS} bands over a lane for each");
        outcome.claim(Claim::at_most(id, text, SOURCE, measured, limit));
    }
    Ok(())
}

/// Returns what client and server need after a call at each of the priorities.
fn resources(places: &Places, pool: PoolSpec, priorities: &[i16]) -> Result<Resources, Error> {
    let setup = Setup::new(ServerSpec::new(vec![pool], true), Placement::OneCpu);
    let mut deployment = Deployment::start(places, &setup, 1, Duration::from_secs(60))?;
    let [server, client] = deployment.processes()[..] else {
        unreachable!("a server and a client");
    };
    let before = sockets(client)?;
    let worker = Worker {
        name: "bands".to_owned(),
        priority: priorities.last().copied(),
        pace: Pace::Hertz(100),
        visits: priorities.to_vec(),
        ..Worker::default()
    };
    deployment.run(0, 0.05, &[worker])?;
    let resources = Resources {
        connections: sockets(client)? - before,
        client_kib: Memory::of(client)?.resident_kib,
        server_kib: Memory::of(server)?.resident_kib,
    };
    deployment.stop()?;
    Ok(resources)
}

/// Returns the number of sockets that a process has open.
fn sockets(process: TaskId) -> io::Result<usize> {
    let mut sockets = 0;
    for file in fs::read_dir(format!("/proc/{process}/fd"))? {
        let target = fs::read_link(file?.path());
        sockets += usize::from(target.is_ok_and(|target| target.to_string_lossy().starts_with("socket:")));
    }
    Ok(sockets)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn sockets_are_counted_and_other_files_are_not() {
        let process = TaskId::current_process();
        let _listeners: Vec<_> = (0..3)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        // Other tests of this process open and close some, too.
        assert!(sockets(process).unwrap() >= 3);
        let files = fs::read_dir("/proc/self/fd").unwrap().count();
        assert!(sockets(process).unwrap() < files);
    }
}
