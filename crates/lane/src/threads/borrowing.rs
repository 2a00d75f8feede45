//! Borrowing threads: while all threads of a lane are in upcalls, threads of lower lanes serve its requests,
//! at its priority. This file covers lanes that wait in their pollers; [`queues`] covers lanes that buffer
//! requests.

mod queues;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use punctual_os::{Interest, PiMutex, Scheduling, Trigger, scheduling};

use crate::{
    Lane, LaneError, ServingSlot,
    lane::{Above, Below, Borrowing, Registration},
    threads::{lane_events::FIRST_ABOVE, serving_thread, worker_buffers::WorkerBuffers},
    worker::Worker,
};

/// More would exceed the kernel's limit for nested pollers, EP_MAX_NESTS.
const MAX_LANES: usize = 5;

/// Lets each of these lanes, the lowest first, borrow from those before it. Called before their threads
/// start.
///
/// # How a lower lane is notified
///
/// The poller of each lane is registered in those of all lower lanes, one-shot: it reports once that
/// something is ready in it, and is silent until it is armed again. The thread that leaves no thread waiting
/// arms it (`Lane::call_for_help`): one system call for each lower lane that is not armed already. It is
/// not disarmed when a thread returns, because that would cost as much again; the price is that the next
/// request wakes a thread of the lower lane in vain, once.
///
/// # Why no wake-up is lost
///
/// A request must not stay in the poller of an exhausted lane while a lower lane has a thread that waits. Two
/// facts about the kernel: arming checks what is ready at that moment, and while armed every arrival is
/// reported. So a request can only be missed while the lane is exhausted and *not armed*; `armed` is the mark
/// for that, and it changes in two places:
///
/// - The exhausting thread counts itself busy, then swaps `armed` to true, and arms if it was false.
/// - The helper, whose wake-up has disarmed it, stores false, then checks whether the lane is exhausted, and
///   arms it if so.
///
/// All four steps are sequentially consistent. If the swap saw true, it preceded the store, so the count
/// preceded the check, and the helper arms. If it saw false, the exhausting thread arms. If a thread returns
/// and the next request exhausts the lane again, that is another swap. If several things were ready when the
/// helper took one: it checks for exhaustion *after* taking, and arming reports what is left. A helper's lane
/// without a waiting thread keeps the report until one waits.
///
/// # Priorities
///
/// The helper raises its priority first and then takes the request: until it runs at the higher lane's
/// priority the request stays where a thread of that lane would find it, so a helper that is preempted in
/// between holds nothing.
///
/// The cost is shared state: arming takes the kernel's mutex of the lower lane's epoll instance, and so does
/// a report in the other direction. In kernels without PREEMPT_RT it does not inherit priority. A pool that
/// borrows trades this bit of isolation for throughput; a pool that does not is not affected.
///
/// # Errors
/// [`LaneError::TooManyBorrowingLanes`] if the lanes do not buffer and there are more than 5;
/// [`LaneError::Os`].
pub fn allow_borrowing<H: ServingSlot>(lanes: &[Arc<Lane<H>>], handler: &Arc<H>) -> Result<(), LaneError> {
    let buffered = lanes.iter().any(|lane| lane.mode.is_buffered());
    if !buffered && lanes.len() > MAX_LANES {
        return Err(LaneError::TooManyBorrowingLanes {
            lanes: lanes.len(),
            limit: MAX_LANES,
        });
    }
    for (own, lane) in lanes.iter().enumerate() {
        let (lower, higher) = (&lanes[..own], &lanes[own + 1..]);
        let above = higher.iter().map(|lane| Above {
            lane: Arc::clone(lane),
            index: own,
        });
        let below = if buffered {
            Below::Queues(lower.iter().map(|lane| Arc::clone(&lane.queue)).collect())
        } else {
            Below::Pollers(register(lane, lower)?)
        };
        let helpers: usize = lower.iter().map(|lane| lane.threads.static_threads()).sum();
        let borrowing = Borrowing {
            above: above.collect(),
            below,
            buffers: PiMutex::new((0..helpers).map(|_| WorkerBuffers::new(handler)).collect()),
        };
        // Each lane is set once.
        let _ = lane.pool.borrowing.set(borrowing);
    }
    Ok(())
}

/// Registers a lane's poller in those of the lanes below it, armed.
fn register<H: ServingSlot>(lane: &Lane<H>, lower: &[Arc<Lane<H>>]) -> Result<Vec<Registration>, LaneError> {
    let own = lower.len();
    let registrations = lower.iter().enumerate().map(|(number, below)| {
        let registration = Registration {
            poller: Arc::clone(&below.events.poller),
            token: FIRST_ABOVE - (own - number - 1) as u64,
            armed: AtomicBool::new(true),
        };
        let (interest, trigger) = (Interest::READ, Trigger::OneShot);
        registration
            .poller
            .add(&*lane.events.poller, registration.token, interest, trigger)?;
        Ok(registration)
    });
    registrations.collect()
}

impl<H: ServingSlot> Lane<H> {
    /// Notifies the lower lanes of what is, or will be, ready for this lane, if it borrows; called when it is
    /// exhausted.
    pub(crate) fn call_for_help(&self) {
        match self.pool.borrowing.get().map(|borrowing| &borrowing.below) {
            None => {}
            Some(Below::Pollers(pollers)) => pollers.iter().for_each(|below| below.arm(&self.events.poller)),
            Some(Below::Queues(queues)) => self.call_for_help_with_queue(queues),
        }
    }

    /// Serves one request of a lane above, if that lane still has no thread for it.
    ///
    /// `home` is the lane that the thread belongs to. `self` is that lane, or one that the thread is already
    /// helping: then a still higher lane asks for help.
    pub(crate) fn help_above(&self, home: &Arc<Self>, token: u64, handler: &Arc<H>) {
        let index = (FIRST_ABOVE - token) as usize;
        let Some(above) = self.pool.borrowing.get().and_then(|own| own.above.get(index)) else {
            return;
        };
        let lane = &above.lane;
        let Some(theirs) = lane.pool.borrowing.get() else {
            return;
        };
        theirs.set_disarmed(above.index);
        if lane.threads.occupancy.is_exhausted() {
            let find =
                |_: &mut WorkerBuffers<H>| lane.events.poller.wait_one(Some(Duration::ZERO)).ok().flatten();
            self.lend(home, lane, handler, find, |worker, event| {
                worker.handle_event(event)
            });
        }
    }

    /// Makes a thread of `home` that is serving `self` serve what `find` finds for `lane`, which is above
    /// both. `false`: there was nothing to serve.
    fn lend<W>(
        &self,
        home: &Arc<Self>,
        lane: &Arc<Self>,
        handler: &Arc<H>,
        find: impl FnOnce(&mut WorkerBuffers<H>) -> Option<W>,
        serve: impl FnOnce(&mut Worker<'_, H>, W),
    ) -> bool {
        let Some(theirs) = lane.pool.borrowing.get() else {
            return false;
        };
        // As one of its threads: the last one closes the lane, which must not happen while this one serves.
        let _joined = join(lane);
        if lane.is_stopping() {
            return false;
        }
        let _raised = raise(self.scheduling(), lane.scheduling());
        let mut buffers = theirs.take_buffers(handler);
        let found = find(&mut buffers);
        if lane.threads.occupancy.is_exhausted() {
            lane.call_for_help();
        }
        let is_found = found.is_some();
        if let Some(found) = found {
            let _serving = serving_thread::enter(lane, home, handler);
            let _entered = H::enter_lane(&lane.data);
            let mut worker = Worker::new(lane, home, handler, buffers);
            serve(&mut worker, found);
            buffers = worker.into_buffers();
        }
        theirs.buffers.lock().push(buffers);
        is_found
    }
}

/// Makes the calling thread one of the lane's until the result is dropped.
fn join<H: ServingSlot>(lane: &Lane<H>) -> impl Drop + use<'_, H> {
    lane.threads.occupancy.join_busy();
    scopeguard::guard(lane, |lane| {
        if lane.threads.occupancy.leave_busy() {
            lane.close_all();
            H::lane_ended(&lane.data);
        }
    })
}

/// Lets the thread run as the other lane's threads do until the result is dropped. Two system calls if that
/// differs.
fn raise(own: Option<Scheduling>, other: Option<Scheduling>) -> impl Drop + use<> {
    // Without the right to change it, the request runs at the thread's own priority.
    let differs = other.filter(|other| other.is_realtime() && Some(*other) != own);
    let raised = differs.is_some_and(|other| scheduling::set_current(other).is_ok());
    scopeguard::guard(own.filter(|_| raised), |own| {
        if let Some(own) = own {
            let _ = scheduling::set_current(own);
        }
    })
}
