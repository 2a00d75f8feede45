use punctual::{LaneSpec, Orb, Priority, PriorityModel, SystemException};
use punctual_harness::child::Control;
use punctual_os::{Scheduling, alloc_counter, scheduling};
use serde::{Deserialize, Serialize};

use super::{
    placement::LaneWait,
    raw::{self, RawAddress},
    transport::Transport,
};
use crate::{
    Error,
    idl::cubit::bench::{Cubit, CubitRef, Many},
};

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

struct Servant;

/// As in TAO's Cubit, modulo the size of the type.
macro_rules! cube {
    ($value:expr) => {
        $value.wrapping_mul($value).wrapping_mul($value)
    };
}

impl Cubit for Servant {
    fn cube_void(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn cube_octet(&self, o: u8) -> Result<u8, SystemException> {
        Ok(cube!(o))
    }

    fn cube_short(&self, s: i16) -> Result<i16, SystemException> {
        Ok(cube!(s))
    }

    fn cube_long(&self, l: i32) -> Result<i32, SystemException> {
        Ok(cube!(l))
    }

    fn cube_struct(&self, values: &Many) -> Result<Many, SystemException> {
        Ok(cube_of(values))
    }

    fn cube_string(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    fn cube_string_into(&self, text: &str, result: &mut String) -> Result<(), SystemException> {
        result.push_str(text);
        Ok(())
    }

    fn cube_octet_sequence(&self, values: &[u8]) -> Result<Vec<u8>, SystemException> {
        Ok(values.iter().map(|&o| cube!(o)).collect())
    }

    fn cube_octet_sequence_into(&self, values: &[u8], result: &mut Vec<u8>) -> Result<(), SystemException> {
        result.extend(values.iter().map(|&o| cube!(o)));
        Ok(())
    }

    fn cube_long_sequence(&self, values: &[i32]) -> Result<Vec<i32>, SystemException> {
        Ok(values.iter().map(|&l| cube!(l)).collect())
    }

    fn cube_long_sequence_into(&self, values: &[i32], result: &mut Vec<i32>) -> Result<(), SystemException> {
        result.extend(values.iter().map(|&l| cube!(l)));
        Ok(())
    }

    fn cube_many_sequence(&self, values: &[Many]) -> Result<Vec<Many>, SystemException> {
        Ok(values.iter().map(cube_of).collect())
    }

    fn cube_many_sequence_into(
        &self,
        values: &[Many],
        result: &mut Vec<Many>,
    ) -> Result<(), SystemException> {
        result.extend(values.iter().map(cube_of));
        Ok(())
    }

    fn cube_oneway(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn allocations(&self) -> Result<u64, SystemException> {
        Ok(alloc_counter::allocations_of_this_thread())
    }
}

fn cube_of(values: &Many) -> Many {
    Many {
        o: cube!(values.o),
        l: cube!(values.l),
        s: cube!(values.s),
    }
}
