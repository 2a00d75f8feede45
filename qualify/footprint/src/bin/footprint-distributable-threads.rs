//! A distributable thread with a scheduler of the endsystem.

use punctual::{Orb, rtscheduling::*};
use punctual_footprint::{Done, served};

fn main() -> Done {
    let scheduling = RtScheduling::builder()
        .scheduler(MostImportantFirst::new())
        .build()?;
    let orb = Orb::builder()
        .listen("iiop://localhost:0")
        .initializer(&scheduling)
        .build()?;
    let echo = served(&orb, &orb.root_poa())?;
    let important = SchedulingParameters::Importance { importance: 5 };
    let number = scheduling
        .current()
        .segment("echo", important, |_| Ok::<_, SchedulingError>(echo.repeat(4)?))?;
    assert_eq!(number, 4);
    Ok(())
}
