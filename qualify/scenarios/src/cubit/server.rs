//! The server process: a lane of one thread, and the raw ping-pong.

use std::time::Duration;

use punctual::{LaneSpec, Orb, Priority, PriorityModel, SystemException};
use punctual_harness::{
    ChildSpec,
    child::{Process, Role, TaskEntry},
};
use punctual_os::{CpuSet, Scheduling, scheduling};
use serde::{Deserialize, Serialize};

pub(crate) use super::servant::Fault;
use super::{
    raw::{self, RawAddress},
    servant::Servant,
    transport::{LaneWait, Transport},
};
use crate::{error::Error, idl::cubit::bench::CubitRef};

/// The priority of the lane and of the client: the middle of the range, native 50 under SCHED_FIFO.
pub(crate) const PRIORITY: i16 = 16_384;

/// The configuration of the server.
#[derive(Deserialize, Serialize)]
pub(crate) struct ServerSpec {
    transport: Transport,
    lane_wait: LaneWait,
    fault: Option<Fault>,
}

/// Report to the driver when the server is ready.
#[derive(Deserialize, Serialize)]
pub(crate) struct Ready {
    pub(crate) ior: String,
    pub(crate) raw: Vec<RawAddress>,
    pub(super) fault: Option<Fault>,
}

/// Starts a server over TCP with a polled lane.
pub(crate) fn spawn_tcp(cpus: &CpuSet, timeout: Duration) -> Result<(Process<Server>, Ready), Error> {
    spawn_faulty_tcp(None, cpus, timeout)
}

/// Starts a server like [`spawn_tcp`], with a fault.
pub(crate) fn spawn_faulty_tcp(
    fault: Option<Fault>,
    cpus: &CpuSet,
    timeout: Duration,
) -> Result<(Process<Server>, Ready), Error> {
    spawn(Transport::Tcp, LaneWait::Polled, fault, cpus, &[], timeout)
}

pub(crate) fn spawn(
    transport: Transport,
    lane_wait: LaneWait,
    fault: Option<Fault>,
    cpus: &CpuSet,
    environment: &[(&str, String)],
    timeout: Duration,
) -> Result<(Process<Server>, Ready), Error> {
    let spec = ServerSpec {
        transport,
        lane_wait,
        fault,
    };
    let server = ChildSpec::of::<Server>("server").environments(environment);
    Ok(server.affinity(cpus.clone()).start::<Server>(&spec, timeout)?)
}

/// The server process.
pub(crate) struct Server {
    /// Keeps its servant.
    _orb: Orb,
}

impl Role for Server {
    const NAME: &'static str = "__cubit-server";
    type Setup = ServerSpec;
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[];

    fn start(spec: ServerSpec) -> Result<(Self, Ready), Error> {
        let priority = Priority::new(PRIORITY)?;
        let orb = Orb::builder().listen(spec.transport.endpoint()).build()?;
        let wait = match spec.lane_wait {
            LaneWait::Polled => punctual::LaneWait::Polled,
            LaneWait::Blocking => punctual::LaneWait::Blocking,
        };
        let pool = orb
            .threadpool()
            .lane_with(LaneSpec::new(priority).wait(wait))
            .build()?;
        let model = PriorityModel::ClientPropagated { default: priority };
        let poa = orb
            .root_poa()
            .child("cubit")
            .threadpool(&pool)
            .priority_model(model)
            .build()?;
        let cubit: CubitRef = poa.activate(Servant::with(spec.fault))?;
        let raw = raw::serve(spec.transport, scheduling_of(&orb, PRIORITY)?)?;
        let ior = cubit.to_ior();
        let fault = spec.fault;
        Ok((Self { _orb: orb }, Ready { ior, raw, fault }))
    }
}

/// Returns the scheduling of a thread with this CORBA priority according to the operating system, which may
/// have refused the real-time class.
pub(crate) fn scheduling_of(orb: &Orb, priority: i16) -> Result<Scheduling, Error> {
    let priority = Priority::new(priority)?;
    let orb = orb.clone();
    let thread = std::thread::spawn(move || {
        orb.current().set_priority(priority)?;
        Ok::<_, SystemException>(scheduling::current())
    });
    Ok(thread
        .join()
        .map_err(|_| "the thread that probes the scheduling class panicked")??)
}
