//! A portable interceptor for the requests of this client.

use punctual::Orb;
use punctual_footprint::{Done, badge::Badge, served};

fn main() -> Done {
    let orb = Orb::builder()
        .listen("iiop://localhost:0")
        .initializer(&Badge)
        .build()?;
    served(&orb, &orb.root_poa())?;
    Ok(())
}
