//! Connects an event channel of this host to others over Zenoh, in both directions: docs/events.md, "Zenoh".

use std::{env, error::Error, time::Duration};

use punctual::{Orb, Priority};
use punctual_events::{Filter, RemoteChannel};
use punctual_zenoh::{Link, Settings};
use zenoh::Config;

const USAGE: &str = "usage: gateway CHANNEL [--listen ENDPOINT] [--connect ENDPOINT]";

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = env::args().skip(1);
    let channel = arguments.next().ok_or(USAGE)?;
    let mut config = Config::default();
    // Nobody is looked for in the network.
    config.insert_json5("scouting/multicast/enabled", "false")?;
    while let Some(option) = arguments.next() {
        let endpoint = arguments.next().ok_or(USAGE)?;
        let key = match &*option {
            "--listen" => "listen/endpoints",
            "--connect" => "connect/endpoints",
            _ => return Err(USAGE.into()),
        };
        config.insert_json5(key, &format!("[{endpoint:?}]"))?;
    }

    let orb = Orb::builder()
        .listen("iiop://localhost")
        .call_timeout(Duration::from_secs(5))
        .build()?;
    // The thread that takes the events of the channel.
    let pool = orb.threadpool().threads(1).build()?;
    let poa = orb.root_poa().child("gateway").threadpool(&pool).build()?;
    let channel = RemoteChannel::new(orb.resolve(&channel)?);
    let link = Link::open(config, Settings::new("events"))?;
    let _receives = link.receive(channel.inlet("from Zenoh")?)?;
    // Of all seven of Zenoh.
    let middle = Priority::new(i16::MAX / 2)?;
    let _sends = channel.export(&poa, &Filter::every_event(), "to Zenoh", link.sender(middle)?)?;
    println!("Connected. Ctrl-C ends it.");
    orb.run();
    Ok(())
}
