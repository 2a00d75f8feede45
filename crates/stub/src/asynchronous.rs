use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use punctual_cdr::{CdrError, Decode, Decoder, Encoder};
use punctual_types::SystemException;

use crate::{Call, ObjectRef, OperationError, Phase, Response};

/// A call whose request has been sent, and whose result is a future: what `op_async` of a reference returns.
///
/// It can be awaited by any executor, waited for with [`Self::wait`], or looked at from time to time with [`Self::is_ready`],
/// in any order and on any thread. Dropping it abandons the call: the server goes on with it, and its reply is dropped.
///
/// The request leaves inside `op_async`, not at the first poll, with the priority and the policies of the calling thread, so
/// whoever starts several calls has them all under way. Starting one may connect, as any call may;
/// [`ObjectRef::validate_connection`] under `ConnectionMode::Shared` does so beforehand. What keeps it from being sent is its
/// result. A call to an object of the same ORB is carried out inside `op_async`, by the calling thread.
///
/// Time-outs count from the start and hold without a timer thread: [`Self::wait`] ends at them by itself, and a task that is
/// not running is woken for them by the threads that read the reply, as soon as one of these is in no upcall.
///
/// Such a call allocates: itself, its arguments where there are any (they may have to be sent again), and its results as those of
/// `op` do. Its waker is called on the thread that has read the reply, at that thread's priority, which serves or reads for
/// others: it should do no more than put a task into a queue, as executors do. A waker that panics is
/// passed over. A servant comes for its reply with [`Self::wait`]: an executor that sleeps on the only thread of the lane would
/// keep that from reading what it sleeps for.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_types::SystemException;
///
/// async fn sum(one: &DoublerRef, other: &DoublerRef) -> Result<i32, SystemException> {
///     // Both are under way before either is waited for.
///     let (one, other) = (one.twice_async(20), other.twice_async(1));
///     Ok(one.await? + other.await?)
/// }
///
/// let doubler: DoublerRef = local::activate(Doubler);
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # let sum = std::pin::pin!(sum(&doubler, &doubler));
/// # assert_eq!(Future::poll(sum, &mut context), std::task::Poll::Ready(Ok(42)));
/// // Without an executor:
/// let call = doubler.twice_async(21);
/// assert_eq!(call.wait()?, 42);
/// # Ok::<(), SystemException>(())
/// ```
#[must_use = "dropping it abandons the call: await it, or call `wait`"]
pub struct AsyncCall<T, E> {
    operation: &'static str,
    results: Results<T>,
    state: State<T, E>,
}

/// Reads what a call returns: its return value, then its `inout` and `out` parameters.
pub type Results<T> = fn(&mut Decoder<'_>) -> Result<T, CdrError>;

/// The [`Results`] of a call that returns one value.
pub fn one_result<T: for<'a> Decode<'a>>(decoder: &mut Decoder<'_>) -> Result<T, CdrError> {
    T::decode(decoder)
}

/// A call that is under way: the runtime's side of an [`AsyncCall`]. Dropping it abandons the call.
pub trait PendingCall: Send + Sync {
    /// Goes on with the call: takes the reply if it is there, and follows where it forwards to.
    ///
    /// `call.perform` is asked for [`Phase::Results`] only: the runtime has kept the arguments. Not to be called again after it
    /// has returned [`Poll::Ready`].
    fn advance(&mut self, call: &mut Call<'_>, patience: Patience<'_>) -> Poll<Result<(), SystemException>>;
}

/// What to do as long as there is no reply.
#[derive(Clone, Copy)]
pub enum Patience<'p> {
    /// Return, and wake this when going on makes sense.
    Wake(&'p Waker),
    /// Block until then at most; for ever, if there is no time.
    Until(Option<Instant>),
}

enum State<T, E> {
    UnderWay(Box<dyn PendingCall>),
    Over(Result<T, E>),
    Taken,
}

/// Nothing in it is ever pinned.
impl<T, E> Unpin for AsyncCall<T, E> {}

impl<T, E: OperationError> AsyncCall<T, E> {
    /// Blocks until the call is over, and returns what it came to; TIMEOUT when a time-out of the call passes first. Without one it
    /// waits for ever.
    ///
    /// A thread of a lane that is the only one left to read the reply would wait for itself: it gets BAD_INV_ORDER, unless its
    /// calls wait with `WaitStrategy::Serving`.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let calls: Vec<_> = (0..3).map(|value| doubler.twice_async(value)).collect();
    /// for (value, call) in (0..).zip(calls) {
    ///     assert_eq!(call.wait()?, 2 * value);
    /// }
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn wait(mut self) -> Result<T, E> {
        while !self.advance(Patience::Until(None)) {}
        self.take()
    }

    /// Whether [`Self::wait`] would return at once; never blocks for the reply.
    ///
    /// Where the reply says that the object is elsewhere, it sends the request there, which may connect. A thread of a lane whose
    /// calls wait with `WaitStrategy::Serving` serves what has come to its lane first.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let mut call = doubler.twice_async(4);
    /// while !call.is_ready() {
    ///     // The work of one cycle.
    /// }
    /// assert_eq!(call.wait()?, 8);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn is_ready(&mut self) -> bool {
        self.is_ready_within(Duration::ZERO)
    }

    /// As [`Self::is_ready`], but blocks for so long at most: `Messaging::Poller::is_ready(timeout)`.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use std::time::Duration;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let mut call = doubler.twice_async(4);
    /// if call.is_ready_within(Duration::from_millis(5)) {
    ///     assert_eq!(call.wait()?, 8);
    /// }
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn is_ready_within(&mut self, timeout: Duration) -> bool {
        if !matches!(self.state, State::UnderWay(_)) {
            return true;
        }
        // What no clock can say is for ever.
        let until = Instant::now().checked_add(timeout);
        self.advance(Patience::Until(until))
    }

    /// `true`: it is over.
    fn advance(&mut self, patience: Patience<'_>) -> bool {
        let State::UnderWay(pending) = &mut self.state else {
            return true;
        };
        let mut arrival = Arrival::new(self.results);
        let step = arrival.run(self.operation, &mut |_| Ok(()), |call| {
            pending.advance(call, patience)
        });
        match step {
            Poll::Pending => false,
            Poll::Ready(end) => {
                self.state = State::Over(arrival.result(end));
                true
            }
        }
    }

    fn take(&mut self) -> Result<T, E> {
        match mem::replace(&mut self.state, State::Taken) {
            State::Over(result) => result,
            State::UnderWay(_) | State::Taken => {
                panic!("an `AsyncCall` was polled after it had returned its result")
            }
        }
    }
}

/// Panics when polled after it has returned [`Poll::Ready`].
impl<T, E: OperationError> Future for AsyncCall<T, E> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let call = self.get_mut();
        if call.advance(Patience::Wake(context.waker())) {
            Poll::Ready(call.take())
        } else {
            Poll::Pending
        }
    }
}

impl<T, E> fmt::Debug for AsyncCall<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncCall")
            .field("operation", &self.operation)
            .field("under_way", &matches!(self.state, State::UnderWay(_)))
            .finish_non_exhaustive()
    }
}

impl ObjectRef {
    /// A two-way call that is not waited for; `arguments` writes the arguments, perhaps more than once, before this returns.
    ///
    /// For generated code.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # use punctual_cdr::Encode;
    /// use punctual_stub::{AsyncCall, one_result};
    /// use punctual_types::SystemException;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let call: AsyncCall<i32, SystemException> = doubler.as_object().call_async(
    ///     "twice",
    ///     &mut |encoder| 21_i32.encode(encoder),
    ///     one_result,
    /// );
    /// assert_eq!(call.wait()?, 42);
    /// # Ok::<(), SystemException>(())
    /// ```
    pub fn call_async<T, E: OperationError>(
        &self,
        operation: &'static str,
        arguments: &mut dyn FnMut(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: Results<T>,
    ) -> AsyncCall<T, E> {
        let target = Arc::clone(self.target());
        let mut arrival = Arrival::new(results);
        let state = match arrival.run(operation, arguments, |call| target.start(call)) {
            Ok(Some(pending)) => State::UnderWay(pending),
            Ok(None) => State::Over(arrival.result(Ok(()))),
            Err(error) => State::Over(Err(error.into())),
        };
        AsyncCall {
            operation,
            results,
            state,
        }
    }
}

/// What a reply brings.
struct Arrival<T, E> {
    read: Results<T>,
    results: Option<T>,
    raised: Option<E>,
}

impl<T, E: OperationError> Arrival<T, E> {
    fn new(read: Results<T>) -> Self {
        Self {
            read,
            results: None,
            raised: None,
        }
    }

    /// Runs a step of a call that fills it.
    fn run<R>(
        &mut self,
        operation: &str,
        arguments: &mut dyn FnMut(&mut Encoder<'_>) -> Result<(), CdrError>,
        step: impl FnOnce(&mut Call<'_>) -> R,
    ) -> R {
        let Self {
            read,
            results,
            raised,
        } = self;
        step(&mut Call {
            operation,
            response: Response::WithTarget,
            perform: &mut |phase| match phase {
                Phase::Arguments(encoder) => arguments(encoder),
                Phase::Results(decoder) => {
                    *results = Some(read(decoder)?);
                    Ok(())
                }
            },
            raised: &mut |repository_id, decoder| {
                *raised = E::decode(repository_id, decoder)?;
                Ok(raised.is_some())
            },
        })
    }

    fn result(self, end: Result<(), SystemException>) -> Result<T, E> {
        end?;
        match (self.raised, self.results) {
            (Some(raised), _) => Err(raised),
            (None, Some(results)) => Ok(results),
            (None, None) => unreachable!("a runtime that says that a call is over has read its reply"),
        }
    }
}
