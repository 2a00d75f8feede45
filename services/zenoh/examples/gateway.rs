//! Connects an event channel of this host to others over Zenoh, in both directions: docs/events.md, "Zenoh".

use std::{env, error::Error, time::Duration};

use punctual::{Orb, Priority};
use punctual_events::{Filter, RemoteChannel};
use punctual_zenoh::{Link, Settings};
use zenoh::Config;

const USAGE: &str = "usage: gateway CHANNEL [--listen ENDPOINT] [--connect ENDPOINT] [--priority N]
--priority: CORBA priority of the calls to the channel, if it has no lane for priority 0";

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = env::args().skip(1);
    let channel = arguments.next().ok_or(USAGE)?;
    let mut config = Config::default();
    // Nobody is looked for in the network.
    config.insert_json5("scouting/multicast/enabled", "false")?;
    let mut priority = None;
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        let mut endpoint = |key| config.insert_json5(key, &format!("[{value:?}]"));
        match &*option {
            "--listen" => endpoint("listen/endpoints")?,
            "--connect" => endpoint("connect/endpoints")?,
            "--priority" => priority = Some(Priority::new(value.parse()?)?),
            _ => return Err(USAGE.into()),
        }
    }

    let orb = Orb::builder()
        .listen("iiop://localhost")
        .call_timeout(Duration::from_secs(5))
        .build()?;
    if let Some(priority) = priority {
        orb.current().set_priority(priority)?;
    }
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
