//! Replies that servants owe after their upcalls: asynchronous method handling (AMH).
//!
//! Each lane has a table of a limited number of slots, one for each response handler that exists. The first
//! party to take the request out of its slot ends it: the handler, a CancelRequest, its deadline, or the end
//! of the ORB. Slots and their buffers are reused, so that nothing is allocated after warm-up.

use std::{
    any::Any,
    sync::{Arc, Weak},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use punctual_giop::{INVOCATION_POLICIES, ResponseFlags, decode_invocation_policies};
use punctual_lane::ConnectionId;
use punctual_os::PiMutex;
use punctual_stub::PendingResponse;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use self::{
    pending_reply::{PendingReply, ReplyMemory},
    slot::Slot,
};
use super::serving::Serving;
use crate::{
    ExpiredRequests, config::configuration::Configuration, current, interception::AddedContexts,
    pools::lane_data::DeferredRequests,
};

mod pending_reply;
mod slot;

/// Requests of one lane whose servants answer later.
pub(crate) struct DeferredReplies {
    this: Weak<Self>,
    configuration: Arc<Configuration>,
    table: PiMutex<Table>,
}

#[derive(Default)]
struct Table {
    slots: Vec<Arc<Slot>>,
    /// Parts of the request in each slot that are readable without its lock; `None`: no handler exists.
    keys: Vec<Option<Key>>,
    /// Indices of the slots without handler.
    free: Vec<usize>,
    /// Number of requests so far.
    uses: u64,
    closed: bool,
}

#[derive(Clone, Copy)]
struct Key {
    connection: ConnectionId,
    request_id: u32,
    deadline: Option<Instant>,
    /// Number of this use of the slot.
    of: u64,
}

impl DeferredReplies {
    pub(crate) fn new(configuration: &Arc<Configuration>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            configuration: Arc::clone(configuration),
            table: PiMutex::default(),
        })
    }

    /// Returns the first request, in the order of arrival, that `wanted` holds for, with its use of the slot.
    fn find(&self, wanted: impl Fn(&Key) -> bool) -> Option<(Arc<Slot>, u64)> {
        self.find_and(wanted, |_| ())
    }

    fn find_and(
        &self,
        wanted: impl Fn(&Key) -> bool,
        then: impl FnOnce(&mut Key),
    ) -> Option<(Arc<Slot>, u64)> {
        let mut table = self.table.lock();
        let Table { keys, slots, .. } = &mut *table;
        let used = keys
            .iter_mut()
            .zip(slots)
            .filter_map(|(key, slot)| Some((key.as_mut()?, slot)));
        let (key, slot) = used
            .filter(|(key, _)| wanted(key))
            .min_by_key(|(key, _)| key.of)?;
        then(key);
        Some((Arc::clone(slot), key.of))
    }

    /// Puts a request into a free slot. Fails with TRANSIENT if there is none.
    fn admit(
        &self,
        mut key: Key,
        pending: impl FnOnce(&mut ReplyMemory) -> PendingReply,
    ) -> Result<Arc<Slot>, SystemException> {
        let mut table = self.table.lock();
        if table.closed {
            return Err(shut_down().with_completion(Completion::No));
        }
        let index = match table.free.pop() {
            Some(index) => index,
            None if table.slots.len() < self.configuration.limits.max_deferred_replies => {
                let index = table.slots.len();
                table
                    .slots
                    .push(Arc::new(Slot::new(Weak::clone(&self.this), index)));
                table.keys.push(None);
                index
            }
            None => return Err(full()),
        };
        table.uses += 1;
        key.of = table.uses;
        let slot = Arc::clone(&table.slots[index]);
        slot.fill(key.of, key.deadline, pending);
        table.keys[index] = Some(key);
        Ok(slot)
    }

    /// Frees the slot of a handler that no longer exists.
    fn release(&self, index: usize) {
        let mut table = self.table.lock();
        table.keys[index] = None;
        table.free.push(index);
    }
}

impl DeferredRequests for DeferredReplies {
    fn cancel(&self, connection: ConnectionId, request_id: u32) -> bool {
        let found = self.find(|key| key.connection == connection && key.request_id == request_id);
        found.is_some_and(|(slot, of)| slot.take(of).is_some())
    }

    fn expire(&self, now: Instant) -> Option<Instant> {
        let (kind, minor) = (SystemExceptionKind::Timeout, Minor::REQUEST_EXPIRED);
        let expired = SystemException::new(kind, minor, Completion::Maybe);
        let is_due = |key: &Key| key.deadline.is_some_and(|deadline| deadline <= now);
        // Not under the lock: a reply is written.
        while let Some((slot, of)) = self.find_and(is_due, |key| key.deadline = None) {
            slot.end(of, &self.configuration, &expired);
        }
        let table = self.table.lock();
        table.keys.iter().flatten().filter_map(|key| key.deadline).min()
    }

    fn end(&self) {
        self.table.lock().closed = true;
        let ended = shut_down();
        let mut from = 0;
        while let Some((slot, of)) = self.find(|key| key.of >= from) {
            slot.end(of, &self.configuration, &ended);
            slot.await_answer();
            from = of + 1;
        }
    }
}

impl Serving<'_> {
    /// Keeps the request for a reply that its servant sends later, with these contexts of interceptors.
    #[cold]
    pub(super) fn defer_reply(
        &self,
        response_expected: bool,
        added: Option<&AddedContexts>,
    ) -> Result<Arc<dyn PendingResponse>, SystemException> {
        let (header, message) = (&self.incoming.header, self.message);
        let deadline = self.reply_deadline();
        let table: &dyn Any = &*self.lane.data.deferred;
        let (Some(table), Some(request)) = (table.downcast_ref::<DeferredReplies>(), message.defer()) else {
            return Err(full());
        };
        let key = Key {
            connection: request.connection(),
            request_id: header.request_id,
            deadline,
            of: 0,
        };
        let is_awaited = response_expected && header.response == ResponseFlags::WithTarget;
        let slot = table.admit(key, |memory| {
            memory.contexts.copy(added);
            memory.keep_echo(super::reply::echo(self.lane, header));
            PendingReply {
                request,
                request_id: header.request_id,
                version: message.header.version,
                code_sets: message.code_sets,
                is_awaited,
                priority: current::explicit_priority(),
            }
        })?;
        if let Some(deadline) = deadline {
            message.watch_deadline(deadline);
        }
        self.lane.count_deferred();
        Ok(slot)
    }

    /// Returns the point in time from which the client no longer wants the reply, if it states one. The clock
    /// of this host decides only if the pool trusts that of its clients.
    fn reply_deadline(&self) -> Option<Instant> {
        let data = self.incoming.header.contexts.find(INVOCATION_POLICIES)?;
        let policies = decode_invocation_policies(data).ok()?;
        let now = Instant::now();
        let relative = policies.relative_roundtrip.and_then(|timeout| {
            let read_at = self.message.read_at.unwrap_or(now);
            read_at.checked_add(timeout)
        });
        let by_clock = self.lane.data.expired_requests == ExpiredRequests::DropByClock;
        let absolute = policies.reply_end.filter(|_| by_clock).and_then(|end| {
            let left = end.saturating_sub(SystemTime::now().duration_since(UNIX_EPOCH).ok()?);
            now.checked_add(left)
        });
        relative.into_iter().chain(absolute).min()
    }
}

fn full() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::Transient, Minor::DEFERRED_REPLIES_FULL);
    SystemException::new(kind, minor, Completion::No)
}

fn shut_down() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::NoResponse, Minor::DEFERRED_REPLY_ENDED);
    SystemException::new(kind, minor, Completion::Maybe)
}
