//! Gateways between event channels and Zenoh: a channel that spans many hosts, over the routers and links of
//! an existing engine. It has threads without real-time priorities; keep it out of processes that have lanes.
//!
//! ```no_run
//! use punctual::Priority;
//! use punctual_events::{EventChannel, EventType, Filter};
//! use punctual_zenoh::{Link, Settings};
//!
//! let mut config = zenoh::Config::default();
//! config.insert_json5("connect/endpoints", r#"["tcp/192.0.2.1:7447"]"#)?;
//! let link = Link::open(config, Settings::new("plant/tracks"))?;
//! let channel = EventChannel::builder().build()?;
//! let (alarm, urgent) = (Filter::event(EventType(17)), link.sender(Priority::MAX)?);
//! let alarms = channel.export(&alarm, "alarms to Zenoh", urgent)?;
//! let others = channel.export(&alarm.negated(), "others to Zenoh", link.sender(Priority::new(10_000)?)?)?;
//! let receives = link.receive(channel.inlet("from Zenoh"))?;
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod frame;
mod priority;
mod queue;
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
use zenoh::{Config, Session, Wait, qos::CongestionControl, sample::Locality, sample::Sample};

pub use priority::to_zenoh;
use queue::Queue;
use receiving::Receiver;
pub use receiving::Receiving;

/// An operation of Zenoh, or of the operating system, that failed.
#[derive(thiserror::Error)]
pub enum LinkError {
    /// Zenoh rejects a configuration or key, or does not reach an endpoint that the configuration requires.
    #[error("Zenoh: {0}")]
    Zenoh(#[from] zenoh::Error),
    /// The thread that receives could not be started.
    #[error("the thread of the gateway could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

punctual_types::debug_as_display!(LinkError);

/// Settings of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Key expression without wildcards under which events are published, and received from others.
    pub key: String,
    /// Number of received events that may wait for the channel; default 256. Beyond, those of the lowest
    /// priority are lost, the oldest first.
    pub queue: usize,
    /// Maximum number of octets of these events; default 16 MiB. Beyond, events are lost as for `queue`.
    pub octets: usize,
    /// Maximum number of octets of a message; default 1 MiB. Longer ones are neither sent nor kept when they
    /// arrive; Zenoh drops those that are longer by more than 64 KiB while it joins their fragments.
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
            queue: 256,
            octets: 16 << 20,
            message: 1 << 20,
            remembered: 4_096,
            senders: 64,
            gap: 65_536,
        }
    }
}

/// Upper bound of what Zenoh adds to a message: its headers and the key.
const ADDED: usize = 64 << 10;

/// A session of Zenoh for the events of a key. Zenoh connects it again when a router or peer comes back.
pub struct Link {
    session: Session,
    settings: Settings,
    seen: Arc<Seen>,
}

impl Link {
    /// Opens a session. Its limit on messages (`transport/link/rx/max_message_size`, 1 GiB in Zenoh) follows
    /// from [`Settings::message`].
    ///
    /// # Errors
    /// Zenoh rejects the configuration, or does not reach an endpoint that it requires.
    pub fn open(mut config: Config, settings: Settings) -> Result<Self, LinkError> {
        let longest = settings.message.saturating_add(ADDED).to_string();
        config.insert_json5("transport/link/rx/max_message_size", &longest)?;
        Ok(Self {
            session: zenoh::open(config).wait()?,
            seen: Arc::new(Seen::new(settings.remembered)),
            settings,
        })
    }

    /// Function that `export` of a channel calls for each event, which is sent with the priority of Zenoh
    /// that [`to_zenoh`] gives for this one. Events have no priority: export those of each with a filter and
    /// a sender of their own, under the same key. An event that no gateway would receive at
    /// present, because there is none or the connection to it is interrupted, is lost; so is one that is too
    /// long. These have no number: receivers count only the events that Zenoh drops later. It does not wait
    /// for the network.
    ///
    /// # Errors
    /// Zenoh refuses the key.
    pub fn sender(
        &self,
        priority: Priority,
    ) -> Result<impl Fn(&Event) -> Sent + Send + Sync + 'static, LinkError> {
        let publisher = self
            .session
            .declare_publisher(self.settings.key.clone())
            .priority(to_zenoh(priority))
            .congestion_control(CongestionControl::Drop)
            .allowed_destination(Locality::Remote)
            .wait()?;
        let (seen, limit) = (Arc::clone(&self.seen), self.settings.message);
        let (sender, next) = (RandomState::new().hash_one(0), AtomicU64::new(1));
        Ok(move |event: &Event| {
            if seen.is_known(event) {
                return Sent::Returned;
            }
            let message = frame::encode(sender, event).filter(|message| message.len() <= limit);
            let is_heard = || {
                publisher
                    .matching_status()
                    .wait()
                    .is_ok_and(|status| status.matching())
            };
            let Some(mut message) = message.filter(|_| is_heard()) else {
                return Sent::Lost;
            };
            // Receivers count a missing number as a loss, so only what Zenoh takes has one.
            frame::set_number(&mut message, next.fetch_add(1, Relaxed));
            match publisher.put(message).wait() {
                Ok(()) => Sent::Forwarded,
                Err(_) => Sent::Lost,
            }
        })
    }

    /// Passes events that arrive on to a channel, on a thread named `zenoh-events`: those that wait by their
    /// priority of Zenoh, and those of one priority in their order. Ten times in a second,
    /// the thread examines whether a router or peer is connected, and shows the counters in the statistics of
    /// the channel.
    ///
    /// # Errors
    /// Zenoh refuses the key, or the thread cannot be started.
    pub fn receive(&self, inlet: OwnInlet) -> Result<Receiving, LinkError> {
        let (inlet, limit) = (Arc::new(inlet), self.settings.message);
        let queue = Arc::new(Queue::new(self.settings.queue, self.settings.octets));
        // On a thread of Zenoh. A copy keeps none of Zenoh's buffers, which are larger than most messages.
        let arrives = {
            let (inlet, queue) = (Arc::clone(&inlet), Arc::clone(&queue));
            move |sample: Sample| match sample.payload().len() <= limit {
                true => queue.push(sample.priority(), sample.payload().to_bytes().into_owned()),
                false => inlet.count_malformed(),
            }
        };
        let subscriber = self
            .session
            .declare_subscriber(self.settings.key.clone())
            .allowed_origin(Locality::Remote)
            .callback(arrives)
            .wait()?;
        let receiver = Receiver {
            inlet,
            seen: Arc::clone(&self.seen),
            numbering: Numbering::new(self.settings.senders, self.settings.gap),
        };
        Receiving::start(subscriber, queue, self.session.clone(), receiver)
    }
}
