//! Serving a lane while one of its threads waits for the reply to its own call.
//! The depth is limited by the number of nested calls that a thread may make.

use std::{
    io,
    os::fd::{AsFd as _, BorrowedFd},
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_os::{Doorbell, Interest, Poller, Scheduling, Trigger, scheduling, wait};
use punctual_transport::Stream;

use crate::{
    Lane, ReplyTable, ServingSlot, ServingThread, Ticket, threads::worker_buffers::WorkerBuffers,
    worker::Worker,
};

/// Serves the lane of the calling thread until `stream` is readable. `false`: the deadline passed.
///
/// `None` if the thread serves no lane: it must wait in another way.
pub fn serve_until_readable<H: ServingSlot>(
    stream: &dyn Stream,
    deadline: Option<Instant>,
) -> Option<io::Result<bool>> {
    serve_meanwhile(|worker: &mut Worker<'_, H>| worker.serve_until_readable(stream, deadline))
}

/// Serves the lane of the calling thread until a call over a shared connection has ended. `false`: the
/// deadline passed.
///
/// `None` if the thread serves no lane: it must wait in another way.
pub fn serve_until_ended<H: ServingSlot>(
    replies: &ReplyTable,
    ticket: &Ticket,
    deadline: Option<Instant>,
) -> Option<io::Result<bool>> {
    serve_meanwhile(|worker: &mut Worker<'_, H>| worker.serve_until_ended(replies, ticket, deadline))
}

/// Serves the lane of the calling thread while it waits.
///
/// The thread waits for both in one system call: for its own poller, in which the connection of the reply is
/// registered, and for the lane's poller, which the kernel lets wait for as one descriptor. So no other
/// thread of the lane ever gets its reply. It is a separate poller because streams promise edges only, and it
/// is beside the lane's poller instead of around it because of the kernel's limit for nested pollers, which
/// borrowing lanes exhaust.
///
/// The reply to a call over a shared connection is read by any thread of the lane, including the waiting one:
/// it waits for the lane's poller and a doorbell, which the thread that takes the reply rings.
///
/// System calls: six, where blocking has none before its `read` (register and remove, two checks, the wait,
/// and fetching its event). A request that is served meanwhile costs this wait in addition to its usual cost.
/// The requests served run inside the waiting upcall, on the same stack: a reply that arrives meanwhile is
/// read only after they have returned.
fn serve_meanwhile<H: ServingSlot, R>(wait: impl FnOnce(&mut Worker<'_, H>) -> R) -> Option<R> {
    let (lane, home, handler, buffers, pending_input) = ServingThread::<H>::current(|serving| {
        let (lane, home) = (Arc::clone(&serving.lane), Arc::clone(&serving.home));
        let handler = Arc::clone(&serving.handler);
        (
            lane,
            home,
            handler,
            serving.buffers.pop(),
            serving.pending_input.take(),
        )
    })?;
    if let Some((connection, readiness)) = pending_input {
        lane.hand_over(&connection, readiness);
    }
    let buffers = buffers.unwrap_or_else(|| WorkerBuffers::new(&handler));
    let mut worker = Worker::new(&lane, &home, &handler, buffers);
    let result = {
        let _priority = WaitingPriority::enter(&lane);
        let _available = Available::enter(&lane, &home, &handler);
        let _apart = H::set_apart();
        wait(&mut worker)
    };
    let buffers = worker.into_buffers();
    ServingThread::current(|serving| serving.buffers.push(buffers));
    Some(result)
}

/// Event that a thread awaits in addition to its lane's work.
enum Awaited<'w> {
    /// Octets of a stream, which is registered in this poller.
    Stream(&'w dyn Stream, &'w Poller),
    /// End of a call whose reply any thread of the lane may read; that thread rings.
    Call(&'w ReplyTable, &'w Ticket, &'w Doorbell),
}

impl Awaited<'_> {
    fn is_ready(&self) -> io::Result<bool> {
        match self {
            // Also requests a peer that shares memory with this process to ring from now on.
            Self::Stream(stream, _) => stream.is_readable(),
            Self::Call(replies, ticket, _) => Ok(replies.has_ended(ticket)),
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stream(_, poller) => poller.as_fd(),
            Self::Call(.., doorbell) => doorbell.as_fd(),
        }
    }

    /// Fetches what the descriptor has reported.
    fn fetch(&self) -> io::Result<()> {
        match self {
            Self::Stream(_, poller) => poller.wait_one(Some(Duration::ZERO)).map(drop),
            Self::Call(.., doorbell) => doorbell.drain().map(drop),
        }
    }

    /// Waits while the lane is stopping and nothing further is served.
    fn wait_alone(&self, left: Option<Duration>) -> io::Result<bool> {
        match (self, left) {
            (Self::Stream(stream, _), Some(left)) => stream.wait_readable(left),
            // The read that follows waits.
            (Self::Stream(..), None) => Ok(true),
            // Its calls have been ended.
            (Self::Call(replies, ticket, _), _) => Ok(replies.has_ended(ticket)),
        }
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    fn serve_until_readable(&mut self, stream: &dyn Stream, deadline: Option<Instant>) -> io::Result<bool> {
        let poller = match self.buffers.reply_poller.take() {
            Some(poller) => poller,
            None => Poller::new()?,
        };
        poller.add(stream, 0, Interest::READ, Trigger::Edge)?;
        let readable = self.serve_beside(&Awaited::Stream(stream, &poller), deadline);
        poller.remove(stream)?;
        self.buffers.reply_poller = Some(poller);
        readable
    }

    fn serve_until_ended(
        &mut self,
        replies: &ReplyTable,
        ticket: &Ticket,
        deadline: Option<Instant>,
    ) -> io::Result<bool> {
        let doorbell = match self.buffers.reply_doorbell.take() {
            Some(doorbell) => doorbell,
            None => Arc::new(Doorbell::new()?),
        };
        let ended = if replies.ring_when_ended(ticket, &doorbell) {
            Ok(true)
        } else {
            self.serve_beside(&Awaited::Call(replies, ticket, &doorbell), deadline)
        };
        self.buffers.reply_doorbell = Some(doorbell);
        ended
    }

    fn serve_beside(&mut self, awaited: &Awaited<'_>, deadline: Option<Instant>) -> io::Result<bool> {
        let lane = self.lane;
        let _nested = lane.mode.is_buffered().then(|| NestedAtQueue::enter(lane));
        let mut check = true;
        loop {
            if check && awaited.is_ready()? {
                return Ok(true);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if lane.is_stopping() {
                // Its doorbell keeps ringing.
                return awaited.wait_alone(left);
            }
            let timeout = left.into_iter().chain(lane.next_check()).min();
            let work_descriptor = if lane.mode.is_buffered() {
                lane.queue.rung()
            } else {
                lane.events.poller.as_fd()
            };
            let (reply, work) = wait::for_either(awaited.descriptor(), work_descriptor, timeout)?;
            // This thread may read its own reply among the lane's work.
            check = reply || matches!(awaited, Awaited::Call(..));
            if reply {
                awaited.fetch()?;
            } else if work && lane.mode.is_buffered() {
                self.serve_one_queued();
            } else if work {
                // Another thread may have been faster.
                self.step(Some(Duration::ZERO))?;
            } else if left.is_some_and(|left| Some(left) == timeout) {
                return Ok(false);
            } else {
                self.do_housekeeping();
            }
        }
    }

    fn serve_one_queued(&mut self) {
        let queue = &self.lane.queue;
        // In this order: a request that arrives from now on rings again.
        queue.silence();
        if self.run_task() || self.lane.help_with_queue(self.home, self.handler) {
            // For requests of its own lane that arrived meanwhile.
            if queue.has_requests() {
                queue.wake_nested();
            }
            return;
        }
        let (request, more) = queue.try_take(&mut self.buffers);
        if more {
            queue.wake_nested();
        }
        if let Some(request) = request {
            self.serve_queued(request);
        }
    }
}

/// Announcement to a queue that a thread waits for more than the queue.
struct NestedAtQueue<'l, H: ServingSlot>(&'l Lane<H>);

impl<'l, H: ServingSlot> NestedAtQueue<'l, H> {
    fn enter(lane: &'l Lane<H>) -> Self {
        lane.queue.enter_nested();
        // An earlier request for help from a lane above woke no thread.
        if lane.is_asked() {
            lane.queue.wake_nested();
        }
        Self(lane)
    }
}

impl<H: ServingSlot> Drop for NestedAtQueue<'_, H> {
    fn drop(&mut self) {
        self.0.queue.leave_nested();
        if self.0.is_asked() {
            self.0.queue.wake_nested();
        }
    }
}

/// Availability of a thread that waits and serves: its lane can count on it.
struct Available<'l, H: ServingSlot>(Option<(&'l Arc<Lane<H>>, &'l Arc<H>)>);

impl<'l, H: ServingSlot> Available<'l, H> {
    fn enter(lane: &Arc<Lane<H>>, home: &'l Arc<Lane<H>>, handler: &'l Arc<H>) -> Self {
        // A lent thread serves the lane that it is lent to, and is missing in its own.
        let own = Arc::ptr_eq(lane, home);
        if own {
            home.threads.occupancy.end();
        }
        Self(own.then_some((home, handler)))
    }
}

impl<H: ServingSlot> Drop for Available<'_, H> {
    fn drop(&mut self) {
        if let Some((lane, handler)) = self.0
            && lane.threads.occupancy.begin()
        {
            lane.reinforce(handler);
        }
    }
}

/// Priority of a thread of a pool without lanes while it waits: the pool's, not that of the request that it
/// serves.
struct WaitingPriority(Option<Scheduling>);

impl WaitingPriority {
    fn enter<H: ServingSlot>(lane: &Lane<H>) -> Self {
        let own = lane.scheduling().filter(|own| own.is_realtime());
        let Some(own) = own.filter(|_| lane.priority().is_none()) else {
            return Self(None);
        };
        let during_upcall = scheduling::current();
        let lowered = during_upcall != own && scheduling::set_current(own).is_ok();
        Self(lowered.then_some(during_upcall))
    }
}

impl Drop for WaitingPriority {
    fn drop(&mut self) {
        if let Some(during_upcall) = self.0 {
            let _ = scheduling::set_current(during_upcall);
        }
    }
}
