//! Reads two channels of a rack, and asks for one that is not there.

use punctual::prelude::*;

punctual::include_idl!("rack");
use plant::{RackRef, rack::FindError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let rack: RackRef = orb.resolve("corbaloc::localhost:2911/Rack")?;
    let mut readings = 0;
    for number in [8, 4711] {
        let channel = rack.find(number)?.ok_or("a nil reference")?;
        let (value, sound) = channel.read(&mut readings)?;
        let state = if sound { "sound" } else { "faulty" };
        println!("channel {}: {value}, {state}", channel.number()?);
        rack.reset(Some(&channel))?;
    }
    println!("{readings} readings");
    match rack.find(10_000) {
        Err(FindError::NoChannel(none)) => {
            println!("no channel {}: there are {}", none.number, none.channels);
        }
        other => println!("unexpected: {other:?}"),
    }
    Ok(())
}
