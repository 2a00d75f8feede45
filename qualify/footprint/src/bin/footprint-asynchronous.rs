//! An asynchronous call.

use punctual::Orb;
use punctual_footprint::{Done, served};

fn main() -> Done {
    let orb = Orb::builder().listen("iiop://localhost:0").build()?;
    let echo = served(&orb, &orb.root_poa())?;
    assert_eq!(echo.repeat_async(4).wait()?, 4);
    Ok(())
}
