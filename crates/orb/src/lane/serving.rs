//! What a lane's thread does while it waits for the reply to a call of its own: nothing, or the lane's work.
//!
//! Serving, it waits for both in one system call: a waiting place of its own, in which the connection is that the reply comes
//! over, and the lane's, which the kernel lets wait for as one descriptor. So no other thread of the lane ever gets its
//! reply. A place of its own because streams promise edges only, and beside the lane's instead of around it because of the kernel's limit
//! on places inside places, which borrowing lanes use up.
//!
//! A call over a shared connection has its reply read by any thread of the lane, the waiting one included: it waits for the lane's
//! place and a bell of its own, which whoever takes the reply rings.
//!
//! System calls: six, where blocking has none before its `read` (coming and going, two looks, the wait, and fetching its event).
//! A request that is served meanwhile costs this wait in addition to what it costs anyway.
//!
//! What it serves runs inside the upcall that waits, on the same stack: the reply, once it is there, is taken when that has
//! ended. How deep this goes is limited by the calls that a thread may make inside each other.

use std::{
    cell::RefCell,
    io,
    os::fd::{AsFd as _, BorrowedFd},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_os::{Doorbell, Interest, Poller, Scheduling, Trigger, scheduling, wait};
use punctual_transport::Stream;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    Acceptor, Lane, Wake, borrowing,
    connection::Connection,
    replies::{Replies, Ticket},
    worker::{Desk, Worker},
};
use crate::{WaitStrategy, client::Endpoint, orb_core::OrbCore};

/// The lane that a thread serves.
struct Served {
    lane: Arc<Lane>,
    /// The one it belongs to: another one while it is lent.
    home: Arc<Lane>,
    core: Arc<OrbCore>,
    /// For upcalls inside upcalls.
    desks: Vec<Desk>,
    /// What has been read off the connection that is being served, and not been served.
    unserved: Option<(Arc<Connection>, Wake)>,
}

thread_local! {
    static SERVED: RefCell<Option<Served>> = const { RefCell::new(None) };
}

/// Marks the calling thread, which belongs to `home`, as one that serves `lane`, until the result is dropped.
pub(super) fn enter(lane: &Arc<Lane>, home: &Arc<Lane>, core: &Arc<OrbCore>) -> impl Drop + use<> {
    struct Restore(Option<Served>);
    impl Drop for Restore {
        fn drop(&mut self) {
            let outer = self.0.take();
            drop(SERVED.replace(outer));
        }
    }
    Restore(SERVED.replace(Some(Served {
        lane: Arc::clone(lane),
        home: Arc::clone(home),
        core: Arc::clone(core),
        desks: Vec::new(),
        unserved: None,
    })))
}

/// Remembers that the connection has more than the message whose upcall comes next, until the result is dropped.
pub(super) fn set_aside(connection: &Arc<Connection>, wake: Wake) -> impl Drop + use<> {
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            set_unserved(None);
        }
    }
    set_unserved(Some((Arc::clone(connection), wake)));
    Forget
}

fn set_unserved(unserved: Option<(Arc<Connection>, Wake)>) {
    let before = SERVED.with_borrow_mut(|served| {
        let served = served.as_mut()?;
        std::mem::replace(&mut served.unserved, unserved)
    });
    drop(before);
}

/// Waits until there is something to read, and serves the lane of the calling thread meanwhile. `false`: the deadline passed.
///
/// `None` where the thread serves no lane: it has to wait in another way.
pub(crate) fn await_readable(stream: &dyn Stream, deadline: Option<Instant>) -> Option<io::Result<bool>> {
    serve_meanwhile(|worker| worker.serve_until_readable(stream, deadline))
}

/// As [`await_readable`], until a call over a shared connection is over.
pub(crate) fn await_over(
    replies: &Replies,
    ticket: &Ticket,
    deadline: Option<Instant>,
) -> Option<io::Result<bool>> {
    serve_meanwhile(|worker| worker.serve_until_over(replies, ticket, deadline))
}

fn serve_meanwhile<R>(wait: impl FnOnce(&mut Worker<'_>) -> R) -> Option<R> {
    let (lane, home, core, desk, unserved) = SERVED.with_borrow_mut(|served| {
        let served = served.as_mut()?;
        let (lane, home) = (Arc::clone(&served.lane), Arc::clone(&served.home));
        let core = Arc::clone(&served.core);
        Some((lane, home, core, served.desks.pop(), served.unserved.take()))
    })?;
    if let Some((connection, wake)) = unserved {
        lane.hand_over(&connection, wake);
    }
    let desk = desk.unwrap_or_else(|| Desk::new(&core));
    let mut worker = Worker::new(&lane, &home, &core, desk);
    let result = {
        let _priority = WaitingPriority::enter(&lane);
        let _available = Available::enter(&lane, &home, &core);
        wait(&mut worker)
    };
    let desk = worker.into_desk();
    SERVED.with_borrow_mut(|served| {
        if let Some(served) = served {
            served.desks.push(desk);
        }
    });
    Some(result)
}

/// What a thread waits for beside its lane's work.
enum Awaited<'w> {
    /// Something to read, in a place of its own.
    Stream(&'w dyn Stream, &'w Poller),
    /// The end of a call whose reply any thread of the lane may read, this one included; whoever does rings.
    Call(&'w Replies, &'w Ticket, &'w Doorbell),
}

impl Awaited<'_> {
    fn is_there(&self) -> io::Result<bool> {
        match self {
            // Tells a peer that shares memory with us to ring from now on, too.
            Self::Stream(stream, _) => stream.wait_readable(Duration::ZERO),
            Self::Call(replies, ticket, _) => Ok(replies.is_over(ticket)),
        }
    }

    fn place(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stream(_, place) => place.as_fd(),
            Self::Call(.., bell) => bell.as_fd(),
        }
    }

    /// Fetches what the place has reported.
    fn fetch(&self) -> io::Result<()> {
        match self {
            Self::Stream(_, place) => place.wait_one(Some(Duration::ZERO)).map(drop),
            Self::Call(.., bell) => bell.drain().map(drop),
        }
    }

    /// Where the lane is stopping, and nothing further is served.
    fn wait_alone(&self, left: Option<Duration>) -> io::Result<bool> {
        match (self, left) {
            (Self::Stream(stream, _), Some(left)) => stream.wait_readable(left),
            // The read that follows waits.
            (Self::Stream(..), None) => Ok(true),
            // Its calls have been ended.
            (Self::Call(replies, ticket, _), _) => Ok(replies.is_over(ticket)),
        }
    }
}

impl Worker<'_> {
    fn serve_until_readable(&mut self, stream: &dyn Stream, deadline: Option<Instant>) -> io::Result<bool> {
        let replies = match self.desk.replies.take() {
            Some(replies) => replies,
            None => Poller::new()?,
        };
        replies.add(stream, 0, Interest::READ, Trigger::Edge)?;
        let readable = self.serve_beside(&Awaited::Stream(stream, &replies), deadline);
        replies.remove(stream)?;
        self.desk.replies = Some(replies);
        readable
    }

    fn serve_until_over(
        &mut self,
        replies: &Replies,
        ticket: &Ticket,
        deadline: Option<Instant>,
    ) -> io::Result<bool> {
        let bell = match self.desk.bell.take() {
            Some(bell) => bell,
            None => Arc::new(Doorbell::new()?),
        };
        let over = if replies.ring_when_over(ticket, &bell) {
            Ok(true)
        } else {
            self.serve_beside(&Awaited::Call(replies, ticket, &bell), deadline)
        };
        self.desk.bell = Some(bell);
        over
    }

    fn serve_beside(&mut self, awaited: &Awaited<'_>, deadline: Option<Instant>) -> io::Result<bool> {
        let lane = self.lane;
        let _nested = lane.buffering.map(|_| Nested::enter(lane));
        let mut look = true;
        loop {
            if look && awaited.is_there()? {
                return Ok(true);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if lane.is_stopping() {
                // Its bell does not stop ringing.
                return awaited.wait_alone(left);
            }
            let timeout = left.into_iter().chain(lane.patience()).min();
            let place = match lane.buffering {
                Some(_) => lane.queue.rung(),
                None => lane.poller.as_fd(),
            };
            let (reply, work) = wait::for_either(awaited.place(), place, timeout)?;
            // This thread may read its own reply among the lane's work.
            look = reply || matches!(awaited, Awaited::Call(..));
            if reply {
                awaited.fetch()?;
            } else if work && lane.buffering.is_some() {
                self.serve_one_queued();
            } else if work {
                // Another thread may have been faster.
                self.step(Some(Duration::ZERO))?;
            } else if left.is_some_and(|left| Some(left) == timeout) {
                return Ok(false);
            } else {
                self.look_after();
            }
        }
    }

    fn serve_one_queued(&mut self) {
        let queue = &self.lane.queue;
        // In this order: who comes from now on rings again.
        queue.silence();
        if borrowing::help_with_queue(self.home, self.lane, self.core) {
            // For those of its own that came meanwhile.
            if queue.has_requests() {
                queue.wake_nested();
            }
            return;
        }
        let (request, more) = queue.try_take(&mut self.desk);
        if more {
            queue.wake_nested();
        }
        if let Some(request) = request {
            self.serve_queued(request);
        }
    }
}

/// Announces to a queue that a thread waits for more than it.
struct Nested<'l>(&'l Lane);

impl<'l> Nested<'l> {
    fn enter(lane: &'l Lane) -> Self {
        lane.queue.enter_nested();
        // What a lane above asked before rang for nobody.
        if borrowing::is_asked(lane) {
            lane.queue.wake_nested();
        }
        Self(lane)
    }
}

impl Drop for Nested<'_> {
    fn drop(&mut self) {
        self.0.queue.leave_nested();
        if borrowing::is_asked(self.0) {
            self.0.queue.wake_nested();
        }
    }
}

/// A thread that waits and serves is one that its lane can count on.
struct Available<'l>(Option<(&'l Arc<Lane>, &'l Arc<OrbCore>)>);

impl<'l> Available<'l> {
    fn enter(lane: &Arc<Lane>, home: &'l Arc<Lane>, core: &'l Arc<OrbCore>) -> Self {
        // A lent one serves the lane that it is lent to, and is missing in its own.
        let own = Arc::ptr_eq(lane, home);
        if own {
            home.crew.occupancy.end();
        }
        Self(own.then_some((home, core)))
    }
}

impl Drop for Available<'_> {
    fn drop(&mut self) {
        if let Some((lane, core)) = self.0
            && lane.crew.occupancy.begin()
        {
            lane.reinforce(core);
        }
    }
}

/// Threads of a pool without lanes wait at the pool's priority, not at that of the request they are in.
struct WaitingPriority(Option<Scheduling>);

impl WaitingPriority {
    fn enter(lane: &Lane) -> Self {
        let own = lane.scheduling.filter(|own| own.is_realtime());
        let Some(own) = own.filter(|_| lane.priority.is_none()) else {
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

/// Looks whether a call to this address, for whose reply the calling thread would block, would wait for the thread itself.
///
/// That is so where it serves the lane that listens there and all other threads of the lane wait like that already. Fails with
/// BAD_INV_ORDER then; the lane counts it, and standard error names the lane, once for each. Longer ways around, over other processes or
/// lanes, are not seen: there the call's deadline is what ends it.
pub(crate) fn enter_blocking(endpoint: &Endpoint) -> Result<Option<BlockedInOwnLane>, SystemException> {
    let lane = SERVED.with_borrow(|served| {
        let lane = &served.as_ref()?.lane;
        let is_own = |acceptor: &Acceptor| endpoint.leads_to(&*acceptor.transport, acceptor.address());
        lane.acceptors().iter().any(is_own).then(|| Arc::clone(lane))
    });
    let Some(lane) = lane else {
        return Ok(None);
    };
    let waiting = lane.waiting_for_itself.fetch_add(1, Ordering::SeqCst) + 1;
    let blocked = BlockedInOwnLane(lane);
    if !blocked.0.has_no_more_than(waiting) {
        return Ok(Some(blocked));
    }
    Err(blocked.0.refuse_deadlock())
}

impl Lane {
    fn refuse_deadlock(&self) -> SystemException {
        self.counters.deadlocks.add_one();
        self.deadlock.send();
        SystemException::new(
            SystemExceptionKind::BadInvOrder,
            Minor::DEADLOCK_DETECTED,
            Completion::No,
        )
    }
}

/// The lane that reads the reply of a call of the calling thread, if that serves one.
pub(crate) enum OwnLane {
    /// It serves none.
    None,
    /// Another thread of it reads, as long as the wait is announced.
    Reads(Arc<Lane>, Option<BlockedInOwnLane>),
    /// Nobody would, or at too low a priority.
    CannotRead,
}

/// Looks which lane reads a reply for the calling thread, which has this priority.
///
/// As with [`enter_blocking`], one thread of the lane has to be left that waits for none of the others, where those that wait sleep.
pub(crate) fn own_lane_for_reply(priority: Priority, strategy: WaitStrategy) -> OwnLane {
    let served = SERVED.with_borrow(|served| {
        let served = served.as_ref()?;
        // A lent thread is missing in its own lane, and the lane that it helps goes on without it.
        let own = Arc::ptr_eq(&served.lane, &served.home);
        Some((Arc::clone(&served.lane), own))
    });
    let Some((lane, own)) = served else {
        return OwnLane::None;
    };
    if !own || lane.waits_at < priority || !lane.reads_replies() {
        return OwnLane::CannotRead;
    }
    if lane.buffering.is_some() || strategy == WaitStrategy::Serving {
        // Its I/O thread is in no upcall, or the thread itself reads.
        return OwnLane::Reads(lane, None);
    }
    let waiting = lane.waiting_for_itself.fetch_add(1, Ordering::SeqCst) + 1;
    let blocked = BlockedInOwnLane(Arc::clone(&lane));
    if waiting >= lane.crew.occupancy.threads() {
        return OwnLane::CannotRead;
    }
    OwnLane::Reads(lane, Some(blocked))
}

/// The lane of the calling thread, if that serves one that reads replies at this priority: for a reply that the thread does not
/// wait for, or not inside this upcall.
pub(crate) fn own_lane(priority: Priority) -> Option<Arc<Lane>> {
    SERVED.with_borrow(|served| {
        let lane = &served.as_ref()?.home;
        (lane.waits_at >= priority && lane.reads_replies()).then(|| Arc::clone(lane))
    })
}

/// Before a wait, for ever or for long, for a reply that this lane reads.
///
/// Fails with BAD_INV_ORDER where the calling thread is one of the lane's, and all others of them wait like that already.
pub(crate) fn enter_wait_for(lane: &Arc<Lane>) -> Result<Option<BlockedInOwnLane>, SystemException> {
    let own = SERVED.with_borrow(|served| {
        served
            .as_ref()
            .is_some_and(|served| Arc::ptr_eq(&served.home, lane))
    });
    // The I/O thread of one that buffers is in no upcall.
    if !own || lane.buffering.is_some() {
        return Ok(None);
    }
    let waiting = lane.waiting_for_itself.fetch_add(1, Ordering::SeqCst) + 1;
    let blocked = BlockedInOwnLane(Arc::clone(lane));
    if waiting < lane.crew.occupancy.threads() {
        return Ok(Some(blocked));
    }
    Err(lane.refuse_deadlock())
}

/// A thread blocks in a call to the lane that it serves, or for a reply that another thread of it reads, until this is dropped.
pub(crate) struct BlockedInOwnLane(Arc<Lane>);

impl Drop for BlockedInOwnLane {
    fn drop(&mut self) {
        self.0.waiting_for_itself.fetch_sub(1, Ordering::SeqCst);
    }
}
