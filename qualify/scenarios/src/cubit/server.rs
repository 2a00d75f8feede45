//! The server process: a lane of one thread, and the raw ping-pong.

use std::time::Duration;

use punctual::{LaneSpec, Orb, Priority, PriorityModel, SystemException};
use punctual_harness::{Child, ChildSpec, child::Control};
use punctual_os::{CpuSet, Scheduling, scheduling};
use serde::{Deserialize, Serialize};

use super::{
    SERVER_ROLE,
    raw::{self, RawAddress},
    servant::Servant,
    transport::{LaneWait, Transport},
};
use crate::{error::Error, idl::cubit::bench::CubitRef};

/// The priority of the lane and of the client: the middle of the range, native 50 under SCHED_FIFO.
pub(crate) const PRIORITY: i16 = 16_384;

/// The configuration of the server.
#[derive(Deserialize, Serialize)]
struct ServerSpec {
    transport: Transport,
    lane_wait: LaneWait,
}

/// What the driver receives when the server is ready.
#[derive(Deserialize, Serialize)]
pub(crate) struct Ready {
    pub(crate) ior: String,
    pub(crate) raw: Vec<RawAddress>,
}

/// Starts a server over TCP with a polled lane.
pub(crate) fn spawn_tcp(cpus: &CpuSet, within: Duration) -> Result<(Child, Ready), Error> {
    spawn(Transport::Tcp, LaneWait::Polled, cpus, &[], within)
}

pub(super) fn spawn(
    transport: Transport,
    lane_wait: LaneWait,
    cpus: &CpuSet,
    environment: &[(&str, String)],
    within: Duration,
) -> Result<(Child, Ready), Error> {
    let spec = ServerSpec { transport, lane_wait };
    let server = ChildSpec::new("server", SERVER_ROLE)
        .argument(serde_json::to_string(&spec)?)
        .environments(environment)
        .affinity(cpus.clone());
    Ok(server.spawn(within)?)
}

/// Runs the server process.
pub(crate) fn server(arguments: &[String]) -> Result<(), Error> {
    let spec: ServerSpec =
        serde_json::from_str(arguments.first().ok_or("the server needs a specification")?)?;
    let priority = Priority::new(PRIORITY)?;
    let orb = Orb::builder().listen(spec.transport.endpoint()).build()?;
    let wait = match spec.lane_wait {
        LaneWait::Polled => punctual::LaneWait::Polled,
        LaneWait::Blocking => punctual::LaneWait::Blocking,
    };
    let lane = LaneSpec::new(priority).wait(wait);
    let pool = orb.threadpool().lane_with(lane).build()?;
    let model = PriorityModel::ClientPropagated { default: priority };
    let poa = orb
        .root_poa()
        .child("cubit")
        .threadpool(&pool)
        .priority_model(model)
        .build()?;
    let cubit: CubitRef = poa.activate(Servant)?;
    let raw = raw::serve(spec.transport, scheduling_of_lane(&orb)?)?;
    let control = Control::ready(&Ready {
        ior: cubit.to_ior(),
        raw,
    })?;
    control.serve(|()| Ok::<(), String>(()))?;
    Ok(())
}

/// Returns the scheduling of the lane's thread according to the operating system, which may have refused the
/// real-time class.
fn scheduling_of_lane(orb: &Orb) -> Result<Scheduling, Error> {
    let priority = Priority::new(PRIORITY)?;
    let orb = orb.clone();
    let thread = std::thread::spawn(move || {
        orb.current().set_priority(priority)?;
        Ok::<_, SystemException>(scheduling::current())
    });
    Ok(thread
        .join()
        .map_err(|_| "the thread that probes the scheduling class panicked")??)
}
