//! An ORB, an object and a two-way call.

use punctual::Orb;
use punctual_footprint::{Done, served};

fn main() -> Done {
    let orb = Orb::builder().listen("iiop://localhost:0").build()?;
    served(&orb, &orb.root_poa())?;
    Ok(())
}
