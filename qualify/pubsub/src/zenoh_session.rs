//! Zenoh over TCP on the loopback interface.

use std::{sync::Mutex, thread, time::Duration};

use zenoh::{
    Config, Wait,
    qos::{CongestionControl, Priority},
};

use crate::{Result, engine::Publish};

const KEY: &str = "punctual/pubsub";

/// A session that others connect to, at `address` (HOST:PORT).
pub fn listening(mode: &str, address: &str) -> Result<Config> {
    config(mode, "listen/endpoints", address)
}

/// A session that connects to another.
pub fn connecting(address: &str) -> Result<Config> {
    config("client", "connect/endpoints", address)
}

/// Discovers no other peers.
fn config(mode: &str, endpoints: &str, address: &str) -> Result<Config> {
    let mut config = Config::default();
    for (key, value) in [
        ("mode", format!("\"{mode}\"")),
        ("scouting/multicast/enabled", "false".to_owned()),
        ("scouting/gossip/enabled", "false".to_owned()),
        ("listen/endpoints", "[]".to_owned()),
        (endpoints, format!("[\"tcp/{address}\"]")),
    ] {
        config.insert_json5(key, &value)?;
    }
    Ok(config)
}

/// Passes messages on until the process ends.
pub fn route(address: &str) -> Result<()> {
    let _session = zenoh::open(listening("router", address)?).wait()?;
    loop {
        thread::park();
    }
}

/// `express`: without waiting for further messages to send with it.
pub fn publisher(address: &str) -> Result<Publish> {
    let session = zenoh::open(connecting(address)?).wait()?;
    let publisher = session
        .declare_publisher(KEY)
        .congestion_control(CongestionControl::Block)
        .priority(Priority::RealTime)
        .express(true)
        .wait()?;
    Ok(Box::new(move |octets| {
        // The session ends with its last user.
        let _ = &session;
        publisher.put(octets.as_slice()).wait()
    }))
}

pub fn subscribe(config: Config, receive: impl FnMut(&[u8]) + Send + Sync + 'static) -> Result<()> {
    let session = zenoh::open(config).wait()?;
    let receive = Mutex::new(receive);
    let _subscriber = session
        .declare_subscriber(KEY)
        .callback(move |sample| {
            let mut receive = receive.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            receive(&sample.payload().to_bytes());
        })
        .wait()?;
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}
