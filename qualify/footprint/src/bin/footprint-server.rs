//! A minimal server: an object behind two lanes. It prints the object's reference, and serves until its
//! standard input ends.

use punctual::prelude::*;
use punctual_footprint::{Done, Host, wait};

fn main() -> Done {
    let orb = Orb::builder().listen("iiop://localhost:0").build()?;
    let low = Priority::MIN;
    let pool = orb.threadpool().lane(low, 1).lane(Priority::MAX, 1).build()?;
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb.root_poa().child("lanes").threadpool(&pool);
    let object: punctual_footprint::EchoerRef = poa.priority_model(model).build()?.activate(Host)?;
    println!("{}", object.to_ior());
    wait()
}
