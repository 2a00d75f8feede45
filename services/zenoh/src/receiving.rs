//! Events that arrive over Zenoh, passed on to a channel.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use punctual_events::{GatewayStatistics, Numbering, OwnInlet, Seen};
use punctual_os::{Thread, ThreadSpec};
use zenoh::{Session, Wait, pubsub::Subscriber};

use crate::{LinkError, frame, queue::Queue};

/// Longest delay until the end of a gateway, or of its connection, is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// A gateway from Zenoh to a channel; dropping it ends it.
#[must_use = "the gateway ends when this is dropped"]
pub struct Receiving {
    ends: Arc<AtomicBool>,
    inlet: Arc<OwnInlet>,
    thread: Option<Thread<()>>,
}

impl Receiving {
    pub(crate) fn start(
        subscriber: Subscriber<()>,
        queue: Arc<Queue>,
        session: Session,
        mut receiver: Receiver,
    ) -> Result<Self, LinkError> {
        let (ends, inlet) = (Arc::new(AtomicBool::new(false)), Arc::clone(&receiver.inlet));
        let is_over = Arc::clone(&ends);
        let mut was_connected = is_connected(&session);
        let thread = ThreadSpec::new("zenoh-events").spawn(move || {
            // Messages arrive as long as it exists.
            let _subscriber = subscriber;
            let mut examined = Instant::now();
            while !is_over.load(Relaxed) {
                if let Some(message) = queue.pop(SLICE) {
                    receiver.take(&message);
                }
                if examined.elapsed() >= SLICE {
                    was_connected = receiver.examine(was_connected, is_connected(&session));
                    examined = Instant::now();
                }
            }
        })?;
        let thread = Some(thread);
        Ok(Self { ends, inlet, thread })
    }

    /// Returns the outcomes of the events. `lost` are those that their senders numbered and that did not
    /// arrive between two that did.
    pub fn statistics(&self) -> GatewayStatistics {
        self.inlet.statistics()
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.ends.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether a router or peer is connected.
fn is_connected(session: &Session) -> bool {
    let info = session.info();
    info.routers_zid().wait().next().is_some() || info.peers_zid().wait().next().is_some()
}

pub(crate) struct Receiver {
    pub(crate) inlet: Arc<OwnInlet>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) numbering: Numbering,
}

impl Receiver {
    /// Counts that the last router or peer has gone, or that there is one again, and shows all counters;
    /// returns whether there is one.
    fn examine(&self, was_connected: bool, is_connected: bool) -> bool {
        match (was_connected, is_connected) {
            (true, false) => self.inlet.count_interrupted(),
            (false, true) if self.inlet.statistics().interrupted > 0 => self.inlet.count_reconnected(),
            _ => {}
        }
        self.inlet.report();
        is_connected
    }

    fn take(&mut self, message: &[u8]) {
        let Some(frame) = frame::decode(message) else {
            return self.inlet.count_malformed();
        };
        match self.numbering.missing(frame.sender, frame.number, Instant::now()) {
            Some(missing) => self.inlet.count_lost(missing),
            None => self.inlet.count_implausible(),
        }
        let mut events = frame.events;
        events.retain(|event| {
            if event.header.ttl < 0 {
                self.inlet.count_expired();
                return false;
            }
            let is_known = self.seen.is_known(event);
            if is_known {
                self.inlet.count_repeated();
            }
            !is_known
        });
        self.inlet.pass(&events);
    }
}
