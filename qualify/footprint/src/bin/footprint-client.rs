//! A minimal client: it calls the object whose reference it is given, prints the result, and keeps its
//! connection until its standard input ends.

use punctual::Orb;
use punctual_footprint::{Done, EchoerRef, wait};

fn main() -> Done {
    let reference = std::env::args()
        .nth(1)
        .ok_or("usage: footprint-client REFERENCE")?;
    let orb = Orb::builder().build()?;
    let echo: EchoerRef = orb.resolve(&reference)?;
    println!("{}", echo.repeat(3)?);
    wait()
}
