use punctual::{Orb, PriorityModel, SystemException};
use punctual_harness::child::Control;
use serde::{Deserialize, Serialize};

use super::{BEST_EFFORT, Importance};
use crate::{
    Error,
    idl::load::bench::{Load, LoadRef},
};

/// The same servant behind both pools.
#[derive(Deserialize, Serialize)]
pub(crate) struct Ready {
    pub(crate) classic: String,
    pub(crate) lanes: String,
}

/// With it, the server has a lane for best effort, and a thread more in the classic pool.
pub(crate) const WITH_BEST_EFFORT: &str = "best-effort";

/// The server process. Argument: [`WITH_BEST_EFFORT`] or none.
pub(crate) fn server(arguments: &[String]) -> Result<(), Error> {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build()?;
    let low = Importance::Low.priority();
    let best_effort = arguments.iter().any(|argument| argument == WITH_BEST_EFFORT);

    let pool = orb
        .threadpool()
        .threads(Importance::ALL.len() + usize::from(best_effort))
        .default_priority(low)
        .build()?;
    let poa = orb.root_poa().child("classic").threadpool(&pool).build()?;
    let classic: LoadRef = poa.activate(Servant)?;

    let lanes = Importance::ALL.map(Importance::priority).into_iter();
    let lanes = lanes.chain(best_effort.then_some(BEST_EFFORT));
    let pool = lanes.fold(orb.threadpool(), |pool, priority| pool.lane(priority, 1));
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb
        .root_poa()
        .child("lanes")
        .threadpool(&pool.build()?)
        .priority_model(model)
        .build()?;
    let lanes: LoadRef = poa.activate(Servant)?;

    let control = Control::ready(&Ready {
        classic: classic.to_ior(),
        lanes: lanes.to_ior(),
    })?;
    control.serve(|()| Ok::<(), String>(()))?;
    Ok(())
}

struct Servant;

impl Load for Servant {
    fn method(&self, work: u32, rounds: u32, prime_number: u32) -> Result<(), SystemException> {
        for _ in 0..u64::from(work) * u64::from(rounds) {
            assert!(
                is_prime(std::hint::black_box(prime_number)),
                "the load is to be a prime number"
            );
        }
        Ok(())
    }
}

/// By trial division up to half of it, so that the effort for a prime is always the same.
fn is_prime(number: u32) -> bool {
    (2..=number / 2).all(|divisor| !number.is_multiple_of(divisor))
}
