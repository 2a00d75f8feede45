//! One asynchronous call with its handler: a task whose executor is a queue.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use punctual_os::PiMutex;
use punctual_stub::{AsyncCall, OperationError};
use punctual_types::Priority;

use super::{location::Location, ready::Continue};

/// A call that is under way, and what happens with its result.
pub(super) struct Delivery<T, E, F> {
    location: Location,
    priority: Priority,
    phase: AtomicU8,
    work: PiMutex<Option<Work<T, E, F>>>,
}

enum Work<T, E, F> {
    UnderWay(AsyncCall<T, E>, F),
    Ended(Result<T, E>, F),
}

/// It waits to be woken.
const WAITING: u8 = 0;
/// It is in its queue.
const QUEUED: u8 = 1;
/// A thread polls it.
const POLLED: u8 = 2;
/// A thread polls it, and it has been woken meanwhile.
const WOKEN: u8 = 3;

impl<T, E, F> Delivery<T, E, F>
where
    T: Send + 'static,
    E: OperationError + Send + 'static,
    F: FnOnce(Result<T, E>) + Send + 'static,
{
    /// Begins to wait for the end of the call, which has been admitted.
    pub(super) fn start(location: Location, priority: Priority, call: AsyncCall<T, E>, handler: F) {
        let delivery = Arc::new(Self {
            location,
            priority,
            phase: AtomicU8::new(POLLED),
            work: PiMutex::new(None),
        });
        delivery.poll(call, handler);
    }

    /// Takes the result if it is there; otherwise the end of the call wakes this. The phase is [`POLLED`].
    fn poll(self: Arc<Self>, mut call: AsyncCall<T, E>, handler: F) {
        let waker = Waker::from(Arc::clone(&self));
        let polled = Pin::new(&mut call).poll(&mut Context::from_waker(&waker));
        let (work, has_ended) = match polled {
            Poll::Ready(result) => (Work::Ended(result, handler), true),
            Poll::Pending => (Work::UnderWay(call, handler), false),
        };
        *self.work.lock() = Some(work);
        let (before, after) = (POLLED, if has_ended { QUEUED } else { WAITING });
        let changed = self
            .phase
            .compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst);
        if changed.is_err() {
            self.phase.store(QUEUED, Ordering::SeqCst);
        }
        if has_ended || changed.is_err() {
            self.enqueue();
        }
    }

    fn enqueue(self: Arc<Self>) {
        let (location, priority) = (self.location.clone(), self.priority);
        location.push(priority, self);
    }
}

impl<T, E, F> Wake for Delivery<T, E, F>
where
    T: Send + 'static,
    E: OperationError + Send + 'static,
    F: FnOnce(Result<T, E>) + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        let woken = self
            .phase
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |phase| match phase {
                WAITING => Some(QUEUED),
                POLLED => Some(WOKEN),
                _ => None,
            });
        if woken == Ok(WAITING) {
            self.enqueue();
        }
    }
}

impl<T, E, F> Continue for Delivery<T, E, F>
where
    T: Send + 'static,
    E: OperationError + Send + 'static,
    F: FnOnce(Result<T, E>) + Send + 'static,
{
    fn run(self: Arc<Self>) {
        self.phase.store(POLLED, Ordering::SeqCst);
        let work = self.work.lock().take();
        match work {
            Some(Work::UnderWay(mut call, handler)) => {
                // Mostly its end is what has woken it: the result is delivered in the same turn.
                let waker = Waker::from(Arc::clone(&self));
                match Pin::new(&mut call).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(result) => self.deliver(result, handler),
                    Poll::Pending => self.poll(call, handler),
                }
            }
            Some(Work::Ended(result, handler)) => self.deliver(result, handler),
            None => {}
        }
    }
}

impl<T, E, F: FnOnce(Result<T, E>)> Delivery<T, E, F> {
    fn deliver(&self, result: Result<T, E>, handler: F) {
        self.location.release();
        // The handler is responsible for the state that it shares; the panic hook has reported the panic.
        let _ = catch_unwind(AssertUnwindSafe(|| handler(result)));
    }
}

impl<T, E, F> Drop for Delivery<T, E, F> {
    fn drop(&mut self) {
        // A call whose handler never runs.
        if self.work.lock().take().is_some() {
            self.location.release();
        }
    }
}
