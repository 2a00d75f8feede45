use punctual::{LaneSpec, Orb, Priority, PriorityModel, SystemException};
use punctual_harness::child::Control;
use punctual_os::{Scheduling, scheduling};
use serde::{Deserialize, Serialize};

use super::{
    placement::LaneWait,
    raw::{self, RawAddress},
    servant::Servant,
    transport::Transport,
};
use crate::{Error, idl::cubit::bench::CubitRef};

/// The priority of the lane and of the client: in the middle, native 50 under SCHED_FIFO.
pub(super) const PRIORITY: i16 = 16_384;

/// What the driver tells the server.
#[derive(Deserialize, Serialize)]
pub(super) struct ServerSpec {
    pub(super) transport: Transport,
    pub(super) lane_wait: LaneWait,
}

/// What the server tells the driver.
#[derive(Deserialize, Serialize)]
pub(super) struct Ready {
    pub(super) ior: String,
    pub(super) raw: Vec<RawAddress>,
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
