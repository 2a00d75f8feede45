//! A channel of the event service that other processes can use.

use punctual::prelude::*;
use punctual_events::EventChannel;
use punctual_footprint::{Done, served};

fn main() -> Done {
    let orb = Orb::builder().listen("iiop://localhost:0").build()?;
    served(&orb, &orb.root_poa())?;
    let channel = EventChannel::builder().lane(Priority::MIN, 1).build()?;
    channel.serve(&orb, &orb.root_poa())?;
    Ok(())
}
