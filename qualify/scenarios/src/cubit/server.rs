use std::time::Duration;

use punctual::{LaneSpec, Orb, Priority, PriorityModel, SystemException};
use punctual_harness::{Child, ChildSpec, child::Control};
use punctual_os::{CpuSet, Scheduling, scheduling};
use serde::{Deserialize, Serialize};

use super::{
    SERVER_ROLE,
    placement::LaneWait,
    raw::{self, RawAddress},
    servant::Servant,
    transport::Transport,
};
use crate::{error::Error, idl::cubit::bench::CubitRef};

/// The priority of the lane and of the client: in the middle, native 50 under SCHED_FIFO.
pub(crate) const PRIORITY: i16 = 16_384;

/// What the driver tells the server.
#[derive(Deserialize, Serialize)]
struct ServerSpec {
    transport: Transport,
    lane_wait: LaneWait,
}

/// What the server tells the driver.
#[derive(Deserialize, Serialize)]
pub(crate) struct Ready {
    pub(crate) ior: String,
    pub(crate) raw: Vec<RawAddress>,
}

/// Starts a server over TCP whose lane waits in its waiting place.
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

/// The server process: a lane of one thread, and the raw ping-pong beside it.
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
    let raw = raw::serve(spec.transport, as_the_lane(&orb)?)?;
    let control = Control::ready(&Ready {
        ior: cubit.to_ior(),
        raw,
    })?;
    control.serve(|()| Ok::<(), String>(()))?;
    Ok(())
}

/// What the lane's thread really runs as: asked of the operating system, which may have refused real-time scheduling.
fn as_the_lane(orb: &Orb) -> Result<Scheduling, Error> {
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
