//! Borrowing threads: while all threads of a lane are in upcalls, threads of lower lanes serve its requests, at its priority.
//! What follows is about lanes that wait in their waiting places; [`queued`] says how it is where requests are buffered.
//!
//! # How a lower lane hears of it
//!
//! The waiting place of each lane is registered in those of all lower lanes, one-shot: it speaks up once, when something is ready
//! in it, and is silent until it is armed again. The thread that leaves nobody waiting arms it ([`Borrowing::call_for_help`]): one
//! system call for each lower lane that is not armed already. It is not disarmed when a thread comes back, because that would cost
//! as much again; the price is that the next request wakes a thread of the lower lane in vain, once.
//!
//! # Why no wake-up is lost
//!
//! A request must not lie in the waiting place of an exhausted lane while a lower lane has a thread that waits. Two facts of the
//! kernel: arming looks at what is ready at that moment, and while armed every arrival is reported. So a request can only be
//! missed while the lane is exhausted and *not armed*; `armed` is the mark for that, and there are two places where it changes:
//!
//! - The exhausting thread counts itself busy, then swaps `armed` to true, and arms if it was false.
//! - The helper, whose wake-up has disarmed it, stores false, then looks whether the lane is exhausted, and arms it if so.
//!
//! All four are sequentially consistent. If the swap saw true, it came before the store, so the count came before the look, and the
//! helper arms. If it saw false, the exhausting thread arms. If a thread comes back and the next request exhausts the lane again,
//! that is another swap. What was ready when the helper took one thing and left others: it looks at exhaustion *after* taking, and
//! arming reports what is left. A helper's lane that has no thread waiting keeps the report until one waits.
//!
//! # Priorities
//!
//! The helper raises its priority first and takes the request then: until it runs at the higher lane's priority the request stays
//! where a thread of that lane would find it, so a helper that is preempted in between holds nothing.
//!
//! What lanes share by this: arming takes the kernel's mutex of the lower lane's epoll instance, and so does a report in the
//! other direction. In kernels without PREEMPT_RT it does not inherit priority. A pool that borrows trades this bit of isolation
//! for throughput; a pool that does not is not touched by it.

mod queued;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use punctual_os::{Interest, PiMutex, Poller, Scheduling, Trigger, scheduling};

pub(super) use self::queued::{after_push, help_with_queue, is_asked};
use super::{
    FIRST_ABOVE, Lane,
    request_queue::RequestQueue,
    serving,
    worker::{Desk, Worker},
};
use crate::{OrbError, client, orb_core::OrbCore};

/// What a lane lends and borrows.
pub(super) struct Borrowing {
    /// The lanes above, as far as their threads are lent to; the lowest first.
    above: Vec<Above>,
    /// Where those are found who lend to this lane; the lowest lane first.
    below: Below,
    /// What helpers work with: buffers stay with the lane whose requests they are for.
    desks: PiMutex<Vec<Desk>>,
}

/// A lane that threads are lent to.
struct Above {
    lane: Arc<Lane>,
    /// Which of its [`Borrowing::below`] is ours.
    place: usize,
}

/// Where threads of lower lanes wait.
enum Below {
    /// In these, where this lane's waiting place is registered.
    Places(Vec<Place>),
    /// For these: the lanes buffer.
    Queues(Vec<Arc<RequestQueue>>),
}

/// A lower lane's waiting place.
struct Place {
    poller: Arc<Poller>,
    token: u64,
    armed: AtomicBool,
}

/// More would exceed what the kernel lets nest: EP_MAX_NESTS.
const MAX_LANES: usize = 5;

/// Lets the lanes, the lowest first, borrow from those before them. Before their threads start.
pub(crate) fn let_borrow(lanes: &[Arc<Lane>], core: &Arc<OrbCore>) -> Result<(), OrbError> {
    let buffering = lanes.iter().any(|lane| lane.buffering.is_some());
    if !buffering && lanes.len() > MAX_LANES {
        return Err(OrbError::ThreadPool(format!(
            "`allow_borrowing`: it works with {MAX_LANES} lanes at most, because the kernel does not let more wait for each \
             other, and this pool has {}; merge lanes, do without it, or add `request_buffering`, with which there is no such \
             limit",
            lanes.len()
        )));
    }
    for (own, lane) in lanes.iter().enumerate() {
        let (lower, higher) = (&lanes[..own], &lanes[own + 1..]);
        let above = higher.iter().map(|lane| Above {
            lane: Arc::clone(lane),
            place: own,
        });
        let below = if buffering {
            Below::Queues(lower.iter().map(|lane| Arc::clone(&lane.queue)).collect())
        } else {
            Below::Places(register(lane, lower)?)
        };
        let helpers: usize = lower.iter().map(|lane| lane.crew.planned()).sum();
        let borrowing = Borrowing {
            above: above.collect(),
            below,
            desks: PiMutex::new((0..helpers).map(|_| Desk::new(core)).collect()),
        };
        // Each lane gets one, once.
        let _ = lane.borrowing.set(borrowing);
    }
    Ok(())
}

/// Registers a lane's waiting place in those of the lanes below it, armed.
fn register(lane: &Lane, lower: &[Arc<Lane>]) -> Result<Vec<Place>, OrbError> {
    let own = lower.len();
    let places = lower.iter().enumerate().map(|(number, below)| {
        let place = Place {
            poller: Arc::clone(&below.poller),
            token: FIRST_ABOVE - (own - number - 1) as u64,
            armed: AtomicBool::new(true),
        };
        let (interest, trigger) = (Interest::READ, Trigger::OneShot);
        place.poller.add(&*lane.poller, place.token, interest, trigger)?;
        Ok(place)
    });
    places.collect()
}

impl Borrowing {
    /// Whether other lanes' threads may come to help.
    pub(super) fn has_helpers(&self) -> bool {
        match &self.below {
            Below::Places(places) => !places.is_empty(),
            Below::Queues(queues) => !queues.is_empty(),
        }
    }

    /// Has the lower lanes told of what is, or will be, there for `lane`, which is the own one.
    fn call_for_help(&self, lane: &Lane) {
        match &self.below {
            Below::Places(places) => places.iter().for_each(|place| place.arm(&lane.poller)),
            Below::Queues(queues) => queued::call_for_help(lane, queues),
        }
    }

    fn set_disarmed(&self, place: usize) {
        if let Below::Places(places) = &self.below {
            places[place].armed.store(false, Ordering::SeqCst);
        }
    }

    fn take_desk(&self, core: &Arc<OrbCore>) -> Desk {
        // None is left where dynamic threads of lower lanes help; it stays here afterwards.
        let desk = self.desks.lock().pop();
        desk.unwrap_or_else(|| Desk::new(core))
    }
}

impl Place {
    /// Has it report what is, or will be, ready in `poller`.
    fn arm(&self, poller: &Poller) {
        if !self.armed.swap(true, Ordering::SeqCst) {
            // It fails for want of kernel memory at most; then the next one to leave nobody waiting tries again.
            let again = self
                .poller
                .modify(poller, self.token, Interest::READ, Trigger::OneShot);
            if again.is_err() {
                self.armed.store(false, Ordering::SeqCst);
            }
        }
    }
}

/// Calls the lower lanes, if the lane borrows: for whoever finds it exhausted.
pub(super) fn call_for_help(lane: &Lane) {
    if let Some(borrowing) = lane.borrowing.get() {
        borrowing.call_for_help(lane);
    }
}

/// Serves one request of a lane above `via`, if it is still without a thread for it.
///
/// `home` is the lane that the thread belongs to. `via` is that one, or one that it is already helping: then what is ready there is
/// that a still higher lane asks for help.
pub(super) fn help(home: &Arc<Lane>, via: &Lane, token: u64, core: &Arc<OrbCore>) {
    let index = (FIRST_ABOVE - token) as usize;
    let Some(above) = via.borrowing.get().and_then(|own| own.above.get(index)) else {
        return;
    };
    let lane = &above.lane;
    let Some(theirs) = lane.borrowing.get() else {
        return;
    };
    theirs.set_disarmed(above.place);
    if lane.crew.occupancy.is_exhausted() {
        let find = |_: &mut Desk| lane.poller.wait_one(Some(Duration::ZERO)).ok().flatten();
        lend((home, via), lane, core, find, |worker, event| {
            worker.dispatch(event)
        });
    }
}

/// Makes a thread of `home` that is serving `via` serve what `find` finds for `lane`, which is above both. `false`: nothing.
fn lend<W>(
    (home, via): (&Arc<Lane>, &Lane),
    lane: &Arc<Lane>,
    core: &Arc<OrbCore>,
    find: impl FnOnce(&mut Desk) -> Option<W>,
    serve: impl FnOnce(&mut Worker<'_>, W),
) -> bool {
    let Some(theirs) = lane.borrowing.get() else {
        return false;
    };
    // As one of its threads: the last one closes the lane, and that must not be while this one serves.
    let _joined = join(lane);
    if lane.is_stopping() {
        return false;
    }
    let _raised = raise(via.scheduling, lane.scheduling);
    let mut desk = theirs.take_desk(core);
    let found = find(&mut desk);
    if lane.crew.occupancy.is_exhausted() {
        theirs.call_for_help(lane);
    }
    let is_found = found.is_some();
    if let Some(found) = found {
        let _serving = serving::enter(lane, home, core);
        let _calls = client::use_connections_of(&lane.calls);
        let mut worker = Worker::new(lane, home, core, desk);
        serve(&mut worker, found);
        desk = worker.into_desk();
    }
    theirs.desks.lock().push(desk);
    is_found
}

/// Makes the thread one of the lane's, until the result is dropped.
fn join(lane: &Lane) -> impl Drop + use<'_> {
    struct Leave<'l>(&'l Lane);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            if self.0.crew.occupancy.leave_busy() {
                self.0.close_all();
                self.0.calls.clear();
            }
        }
    }
    lane.crew.occupancy.join_busy();
    Leave(lane)
}

/// Lets the thread run as the other lane's threads do, until the result is dropped. Two system calls where that differs.
fn raise(own: Option<Scheduling>, other: Option<Scheduling>) -> impl Drop + use<> {
    struct Restore(Option<Scheduling>);
    impl Drop for Restore {
        fn drop(&mut self) {
            if let Some(own) = self.0 {
                let _ = scheduling::set_current(own);
            }
        }
    }
    // Without the right to it, the request runs at the thread's own priority.
    let differs = other.filter(|other| other.is_realtime() && Some(*other) != own);
    let raised = differs.is_some_and(|other| scheduling::set_current(other).is_ok());
    Restore(own.filter(|_| raised))
}
