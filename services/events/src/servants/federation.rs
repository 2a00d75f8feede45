//! Inboxes and outboxes of gateways as CORBA objects.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use punctual::{Completion, SystemException, SystemExceptionKind};
use punctual_os::PiMutex;

use super::Host;
use crate::{
    EventError, Filter, channel,
    error::{gone, limit_exceeded},
    gateway::{Counters, Imported},
    outbox::{ChannelOutbox, Fetched},
    rtec::punctual_events::{
        GatewayTotals, Inbox, InboxRef, Outbox, OutboxRef, Receipt, channel::OpenOutboxError,
    },
    rtec::rtec_event_channel_admin::{ConsumerQosView, TypeError},
    rtec::rtec_event_comm::{Event, EventView},
};

/// The objects of a channel's gateways, by name.
#[derive(Default)]
pub(super) struct Federation {
    inboxes: PiMutex<Vec<(Arc<State>, InboxRef)>>,
    outboxes: PiMutex<Vec<(Arc<ChannelOutbox>, OutboxRef)>>,
}

/// Maximum number of octets of the name of a gateway or consumer.
pub(super) const NAME: usize = 256;

impl Federation {
    pub(super) fn inbox(&self, host: &Arc<Host>, name: &str) -> Result<InboxRef, SystemException> {
        check(host, name)?;
        let limits = &host.channel.core.limits;
        let mut inboxes = self.inboxes.lock();
        inboxes.retain(|(state, _)| !state.is_closed());
        if let Some((state, inbox)) = inboxes.iter().find(|(state, _)| state.counters.name() == name) {
            *state.used.lock() = Some(Instant::now());
            return Ok(inbox.clone());
        }
        if inboxes.len() >= limits.gateways.number {
            let idle = |state: &State| {
                state
                    .used
                    .lock()
                    .is_some_and(|used| used.elapsed() > limits.gateways.kept_for)
            };
            let unused = inboxes.iter().position(|(state, _)| idle(state));
            let (state, _) = inboxes.swap_remove(unused.ok_or_else(|| host.refuse())?);
            state.close(host);
        }
        host.channel.core.remember_events();
        let state = Arc::new(State::new(name));
        host.channel.core.show_gateway(&state.counters);
        let servant = InboxServant {
            host: Arc::clone(host),
            state: Arc::clone(&state),
        };
        let inbox: InboxRef = host.poa.activate(servant).map_err(|_| limit_exceeded())?;
        *state.reference.lock() = Some(inbox.clone());
        inboxes.push((state, inbox.clone()));
        Ok(inbox)
    }

    pub(super) fn outbox(
        &self,
        host: &Arc<Host>,
        name: &str,
        qos: ConsumerQosView<'_>,
    ) -> Result<OutboxRef, OpenOutboxError> {
        check(host, name)?;
        let filter = Filter::from_dependencies(qos.dependencies).map_err(|_| {
            host.channel.core.counters.refusals.count_malformed();
            TypeError {}
        })?;
        let channel_outbox = host
            .channel
            .core
            .outbox(name, filter)
            .map_err(|error| match error {
                EventError::Filter(_) => TypeError {}.into(),
                EventError::Destroyed => OpenOutboxError::from(gone()),
                _ => limit_exceeded().into(),
            })?;
        // Without the thread, nothing is forgotten.
        let _ = host.channel.core.watch_consumers();
        let mut outboxes = self.outboxes.lock();
        outboxes.retain(|(channel_outbox, outbox)| {
            if !channel_outbox.is_open() {
                let _ = host.poa.deactivate(outbox);
            }
            channel_outbox.is_open()
        });
        if let Some((_, outbox)) = outboxes.iter().find(|(one, _)| Arc::ptr_eq(one, &channel_outbox)) {
            return Ok(outbox.clone());
        }
        let servant = OutboxServant {
            host: Arc::clone(host),
            channel_outbox: Arc::clone(&channel_outbox),
        };
        let outbox: OutboxRef = host.poa.activate(servant).map_err(|_| limit_exceeded())?;
        outboxes.push((channel_outbox, outbox.clone()));
        Ok(outbox)
    }
}

/// Refuses names of gateways and consumers that are empty or too long.
pub(super) fn check(host: &Host, name: &str) -> Result<(), SystemException> {
    if host.channel.is_destroyed() {
        return Err(gone());
    }
    if name.is_empty() || name.len() > NAME {
        let kind = SystemExceptionKind::BadParam;
        return Err(SystemException::new(kind, 0, Completion::No));
    }
    Ok(())
}

/// State of an inbox.
struct State {
    counters: Arc<Counters>,
    /// Number of the last batch that has been passed on.
    batch: AtomicU64,
    /// `None`: closed.
    used: PiMutex<Option<Instant>>,
    reference: PiMutex<Option<InboxRef>>,
}

impl State {
    fn new(name: &str) -> Self {
        Self {
            counters: Counters::new(name),
            batch: AtomicU64::new(0),
            used: PiMutex::new(Some(Instant::now())),
            reference: PiMutex::default(),
        }
    }

    fn is_closed(&self) -> bool {
        self.used.lock().is_none()
    }

    fn close(&self, host: &Host) {
        *self.used.lock() = None;
        if let Some(reference) = self.reference.lock().take() {
            // Inside an upcall this does not wait.
            let _ = host.poa.deactivate(&reference);
        }
    }
}

struct InboxServant {
    host: Arc<Host>,
    state: Arc<State>,
}

impl Inbox for InboxServant {
    fn pass(
        &self,
        events: &[EventView<'_>],
        batch: u64,
        totals: &GatewayTotals,
    ) -> Result<Receipt, SystemException> {
        let (core, state) = (&self.host.channel.core, &self.state);
        let counters = &state.counters;
        match &mut *state.used.lock() {
            Some(used) => *used = Instant::now(),
            None => return Err(gone()),
        }
        counters.take_totals(totals);
        let mut answer = Receipt::default();
        if batch != 0 && state.batch.load(Relaxed) == batch {
            events.iter().for_each(|_| counters.count(Imported::Repeated));
            answer.repeated = u32::try_from(events.len()).unwrap_or(u32::MAX);
            return Ok(answer);
        }
        for view in events {
            match core.push_imported(|event| channel::copy_view(event, view, view.header.ttl)) {
                Ok(imported) => {
                    counters.count(imported);
                    *match imported {
                        Imported::Passed => &mut answer.passed,
                        Imported::Repeated => &mut answer.repeated,
                        Imported::Returned => &mut answer.returned,
                    } += 1;
                }
                Err(EventError::Destroyed) => return Err(gone()),
                // Counted; the other events of the set do not suffer.
                Err(_) => answer.refused += 1,
            }
        }
        state.batch.store(batch, Relaxed);
        Ok(answer)
    }

    fn close(&self) -> Result<(), SystemException> {
        self.state.close(&self.host);
        Ok(())
    }
}

struct OutboxServant {
    host: Arc<Host>,
    channel_outbox: Arc<ChannelOutbox>,
}

impl Outbox for OutboxServant {
    fn fetch(&self, acknowledged: u64, most: u32) -> Result<(Vec<Event>, u64, u64), SystemException> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let Fetched { number, events, lost } =
            self.channel_outbox.fetch(acknowledged, most).ok_or_else(gone)?;
        Ok((events, number, lost))
    }

    fn close(&self) -> Result<(), SystemException> {
        self.host.channel.core.close_outbox(&self.channel_outbox);
        Ok(())
    }
}
