//! Destination of a gateway's events: a channel of this or another process.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual::{Interface, SystemException, SystemExceptionKind};
use punctual_os::PiMutex;

use super::{Counters, MakersPriority};
use crate::{
    EventError, RemoteChannel, RemoteSupplier,
    channel::{self, Core},
    error::gone,
    remote::nil,
    rtec::punctual_events::{ChannelRef, InboxRef},
    rtec::rtec_event_comm::Event,
};

/// Shortest time between two attempts to reach a channel.
const RETRY: Duration = Duration::from_secs(1);

/// A channel; one of another process is connected again after a failure.
pub(super) struct Inlet {
    channel: Option<RemoteChannel>,
    counters: Arc<Counters>,
    pub(super) priority: MakersPriority,
    /// Whether the other side remembers the gateway when it has ended.
    is_kept: bool,
    state: PiMutex<State>,
}

struct State {
    target: Option<Arc<Target>>,
    tried: Instant,
}

enum Target {
    /// One of this process.
    Local(Weak<Core>),
    /// A Punctual channel, which answers.
    Inbox(InboxRef),
    /// One of another vendor.
    Supplier(RemoteSupplier),
}

impl Inlet {
    /// Creates a channel of this process.
    pub(super) fn local(channel: &Arc<Core>, counters: &Arc<Counters>) -> Self {
        channel.remember_events();
        Self::new(None, Target::Local(Arc::downgrade(channel)), counters)
    }

    /// Connects to a channel.
    pub(super) fn connect(channel: &RemoteChannel, counters: &Arc<Counters>) -> Result<Self, EventError> {
        let target = Target::connect(channel, counters.name())?;
        Ok(Self::new(Some(channel.clone()), target, counters))
    }

    fn new(channel: Option<RemoteChannel>, target: Target, counters: &Arc<Counters>) -> Self {
        let state = State {
            target: Some(Arc::new(target)),
            tried: Instant::now(),
        };
        Self {
            channel,
            counters: Arc::clone(counters),
            priority: MakersPriority::of_this_thread(),
            is_kept: false,
            state: PiMutex::new(state),
        }
    }

    /// Lets the channel remember the gateway when it has ended.
    pub(super) fn kept(mut self) -> Self {
        self.is_kept = true;
        self
    }

    /// Returns whether the channel reports the outcomes of events.
    pub(super) fn answers(&self) -> bool {
        let state = self.state.lock();
        !matches!(state.target.as_deref(), Some(Target::Supplier(_)))
    }

    /// Passes events on, whose `ttl` has been decremented, and counts the outcomes that the channel reports.
    /// `batch`: their number in an outbox, or 0.
    pub(super) fn pass(&self, events: &[Event], batch: u64) -> Result<(), EventError> {
        self.priority.call(|| self.try_pass(events, batch))
    }

    fn try_pass(&self, events: &[Event], batch: u64) -> Result<(), EventError> {
        let target = self.target()?;
        let passed = match &*target {
            Target::Local(channel) => self.import(&channel.upgrade().ok_or_else(gone)?, events),
            Target::Inbox(inbox) => inbox
                .pass(events, batch, &self.counters.totals())
                .map(|answer| self.counters.count_answer(&answer)),
            Target::Supplier(_) if events.is_empty() => Ok(()),
            Target::Supplier(supplier) => supplier
                .push(events)
                .map(|()| self.counters.count_forwarded(events.len() as u64)),
        };
        passed.map_err(|error| {
            if self.state.lock().target.take().is_some() {
                self.counters.count_interrupted();
            }
            error.into()
        })
    }

    fn import(&self, channel: &Arc<Core>, events: &[Event]) -> Result<(), SystemException> {
        for event in events {
            match channel.push_imported(|copy| channel::copy(copy, event, event.header.ttl)) {
                Ok(imported) => self.counters.count(imported),
                Err(EventError::Destroyed) => return Err(gone()),
                Err(_) => self.counters.count_lost(1),
            }
        }
        Ok(())
    }

    fn target(&self) -> Result<Arc<Target>, EventError> {
        let mut state = self.state.lock();
        if let Some(target) = &state.target {
            return Ok(Arc::clone(target));
        }
        if state.tried.elapsed() < RETRY {
            return Err(EventError::Refused("it cannot be reached at present".to_owned()));
        }
        state.tried = Instant::now();
        drop(state);
        let channel = self.channel.as_ref().ok_or_else(gone)?;
        let target = Arc::new(Target::connect(channel, self.counters.name())?);
        self.state.lock().target = Some(Arc::clone(&target));
        self.counters.count_reconnected();
        Ok(target)
    }
}

impl Target {
    fn connect(channel: &RemoteChannel, name: &str) -> Result<Self, EventError> {
        let ours = ChannelRef::from_object(channel.reference.as_object().clone());
        match ours.open_inbox(name) {
            Ok(inbox) => Ok(Self::Inbox(inbox.ok_or_else(nil)?)),
            Err(error) if error.kind == SystemExceptionKind::BadOperation => {
                channel.connect_supplier(&[], true).map(Self::Supplier)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        let target = self.state.lock().target.take();
        if let Some(Target::Inbox(inbox)) = target.as_deref()
            && !self.is_kept
        {
            // The channel may have ended.
            let _ = self.priority.call(|| inbox.close());
        }
    }
}
