//! Gateways between event channels and Zenoh: a channel that spans many hosts, over the routers and links of
//! an existing engine. It has threads without real-time priorities; keep it out of processes that have lanes.
//!
//! ```no_run
//! use punctual_events::{EventChannel, Filter};
//! use punctual_zenoh::{Link, Settings};
//!
//! let mut config = zenoh::Config::default();
//! config.insert_json5("connect/endpoints", r#"["tcp/192.0.2.1:7447"]"#)?;
//! let link = Link::open(config, Settings::new("plant/tracks"))?;
//! let channel = EventChannel::builder().build()?;
//! let sends = channel.export(&Filter::every_event(), "to Zenoh", link.sender()?)?;
//! let receives = link.receive(channel.inlet("from Zenoh"))?;
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod frame;
mod priority;
mod receiving;

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use punctual::Priority;
use punctual_events::{Numbering, OwnInlet, Seen, Sent, rtec::rtec_event_comm::Event};
use zenoh::{Config, Session, Wait, handlers::RingChannel, qos::CongestionControl, sample::Locality};

pub use priority::{from_zenoh, to_zenoh};
use receiving::Receiver;
pub use receiving::Receiving;

/// An operation of Zenoh, or of the operating system, that failed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Zenoh rejects a configuration or key, or does not reach an endpoint that the configuration requires.
    #[error("Zenoh: {0}")]
    Zenoh(#[from] zenoh::Error),
    /// The thread that receives could not be started.
    #[error("the thread of the gateway could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Settings of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Key expression without wildcards under which events are published, and received from others.
    pub key: String,
    /// Priority of the events, which [`to_zenoh`] maps to one of Zenoh's; default the middle. Events of
    /// several priorities need a link each, with a key of its own.
    pub priority: Priority,
    /// Number of received events that may wait for the channel; default 256. Beyond, the oldest are lost.
    pub queue: usize,
    /// Maximum number of octets of a message; default 1 MiB.
    pub message: usize,
    /// Number of events by which the link recognises those that it has sent or received; default 4,096.
    pub remembered: usize,
    /// Number of senders whose missing messages are counted; default 64. One more displaces a sender that
    /// has been silent for ten seconds; otherwise its messages count as implausible.
    pub senders: usize,
    /// Number of messages of a sender in a row whose loss is plausible; default 65,536. A message that states
    /// more counts as implausible, and nothing as lost.
    pub gap: u64,
}

impl Settings {
    /// Returns the default settings with this key.
    pub fn new(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            priority: from_zenoh(zenoh::qos::Priority::Data),
            queue: 256,
            message: 1 << 20,
            remembered: 4_096,
            senders: 64,
            gap: 65_536,
        }
    }
}

/// A session of Zenoh for the events of a key. Zenoh connects it again when a router or peer comes back.
pub struct Link {
    session: Session,
    settings: Settings,
    seen: Arc<Seen>,
}

impl Link {
    /// Opens a session.
    ///
    /// # Errors
    /// Zenoh rejects the configuration, or does not reach an endpoint that it requires.
    pub fn open(config: Config, settings: Settings) -> Result<Self, LinkError> {
        Ok(Self {
            session: zenoh::open(config).wait()?,
            seen: Arc::new(Seen::new(settings.remembered)),
            settings,
        })
    }

    /// Function that `export` of a channel calls for each event. An event that no gateway would receive at
    /// present, because there is none or the connection to it is interrupted, is lost; so is one that is too
    /// long. Receivers count the events that Zenoh drops later. It does not wait for the network.
    ///
    /// # Errors
    /// Zenoh refuses the key.
    pub fn sender(&self) -> Result<impl Fn(&Event) -> Sent + Send + Sync + 'static, LinkError> {
        let publisher = self
            .session
            .declare_publisher(self.settings.key.clone())
            .priority(to_zenoh(self.settings.priority))
            .congestion_control(CongestionControl::Drop)
            .allowed_destination(Locality::Remote)
            .wait()?;
        let (seen, limit) = (Arc::clone(&self.seen), self.settings.message);
        let (sender, next) = (RandomState::new().hash_one(0), AtomicU64::new(1));
        Ok(move |event: &Event| {
            if seen.is_known(event) {
                return Sent::Returned;
            }
            let number = next.fetch_add(1, Relaxed);
            let message = frame::encode(sender, number, event).filter(|message| message.len() <= limit);
            let is_heard = || {
                publisher
                    .matching_status()
                    .wait()
                    .is_ok_and(|status| status.matching())
            };
            let sent = message
                .filter(|_| is_heard())
                .is_some_and(|message| publisher.put(message).wait().is_ok());
            if sent { Sent::Forwarded } else { Sent::Lost }
        })
    }

    /// Passes events that arrive on to a channel, on a thread named `zenoh-events`. Ten times in a second,
    /// the thread examines whether a router or peer is connected, and shows the counters in the statistics of
    /// the channel.
    ///
    /// # Errors
    /// Zenoh refuses the key, or the thread cannot be started.
    pub fn receive(&self, inlet: OwnInlet) -> Result<Receiving, LinkError> {
        let subscriber = self
            .session
            .declare_subscriber(self.settings.key.clone())
            .allowed_origin(Locality::Remote)
            .with(RingChannel::new(self.settings.queue))
            .wait()?;
        let receiver = Receiver {
            inlet: Arc::new(inlet),
            seen: Arc::clone(&self.seen),
            limit: self.settings.message,
            numbering: Numbering::new(self.settings.senders, self.settings.gap),
        };
        Receiving::start(subscriber, self.session.clone(), receiver)
    }
}
