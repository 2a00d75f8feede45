use punctual::{Orb, PriorityModel, SystemException};
use punctual_harness::child::Control;
use serde::{Deserialize, Serialize};

use super::Importance;
use crate::{
    Error,
    idl::load::bench::{Load, LoadRef},
};

/// The same servant behind both pools.
#[derive(Deserialize, Serialize)]
pub(super) struct Ready {
    pub(super) classic: String,
    pub(super) lanes: String,
}

/// The server process.
pub(crate) fn server(_: &[String]) -> Result<(), Error> {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build()?;
    let low = Importance::Low.priority();

    let pool = orb
        .threadpool()
        .threads(Importance::ALL.len())
        .default_priority(low)
        .build()?;
    let poa = orb.root_poa().child("classic").threadpool(&pool).build()?;
    let classic: LoadRef = poa.activate(Servant)?;

    let pool = Importance::ALL
        .iter()
        .fold(orb.threadpool(), |pool, client| pool.lane(client.priority(), 1));
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
