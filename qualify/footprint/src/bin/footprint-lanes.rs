//! A thread pool with a lane for each of two priorities.

use punctual::prelude::*;
use punctual_footprint::{Done, served};

fn main() -> Done {
    let orb = Orb::builder().listen("iiop://localhost:0").build()?;
    let low = Priority::MIN;
    let pool = orb.threadpool().lane(low, 1).lane(Priority::MAX, 1).build()?;
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb.root_poa().child("lanes").threadpool(&pool);
    served(&orb, &poa.priority_model(model).build()?)?;
    Ok(())
}
