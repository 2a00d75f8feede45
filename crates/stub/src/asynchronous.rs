//! Asynchronous calls.

use std::{
    borrow::Cow,
    cell::RefCell,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use punctual_cdr::{CdrError, Decode, Decoder, Encoder};
use punctual_types::{Priority, SystemException};

use crate::{Call, ObjectRef, OperationError, PendingCall, Phase, Response, WaitMode};

/// An asynchronous call, the result of `op_async` of a reference: its request has been sent, and its result
/// is a future.
///
/// Await it with any executor, wait for it with [`Self::wait`], or poll it with [`Self::is_ready`], in any
/// order and on any thread. Dropping it abandons the call: the server executes it, and its reply is
/// discarded.
///
/// `op_async` itself sends the request, with the priority and the policies of the calling thread, so that
/// several calls started one after another run concurrently. Like any call it may have to connect;
/// [`ObjectRef::validate_connection`] under `ConnectionMode::Shared` does so beforehand. If the request
/// cannot be sent, the call has the error as its result. Calls to objects of the same ORB are executed inside
/// `op_async`, by the calling thread.
///
/// Timeouts count from the start and need no timer thread: [`Self::wait`] enforces them itself, and for tasks
/// the threads that read the reply do, as soon as one of them is not in an upcall.
///
/// Such a call allocates itself, its arguments (which may have to be sent again), and its results like `op`.
/// Its waker is called on the thread that has read the reply, at that thread's priority: it should only
/// enqueue a task, as executors do. A waker that panics is ignored. A servant should use [`Self::wait`]: an
/// executor that sleeps on the only thread of a lane keeps it from reading the reply.
///
/// ```
/// # use punctual_types as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::SystemException;
///
/// async fn sum(one: &DoublerRef, other: &DoublerRef) -> Result<i32, SystemException> {
///     // Both requests are sent before the first wait.
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
pub struct AsyncCall<T, E, D = Results<T>> {
    operation: Cow<'static, str>,
    reply: D,
    state: State,
    /// The result once it is done, decoded in place: a large one is copied as seldom as possible.
    result: Option<Result<T, E>>,
}

/// How a reply is decoded.
pub trait DecodeReply<T, E> {
    /// Decodes the results: return value, then `inout` and `out` parameters.
    fn results(&self, decoder: &mut Decoder<'_>) -> Result<T, CdrError>;

    /// Decodes the user exception with this repository id, if the operation declares it.
    fn exception(&self, repository_id: &str, decoder: &mut Decoder<'_>) -> Result<Option<E>, CdrError>;
}

/// Decodes the results of a call: its return value, then its `inout` and `out` parameters.
pub type Results<T> = fn(&mut Decoder<'_>) -> Result<T, CdrError>;

impl<T, E: OperationError> DecodeReply<T, E> for Results<T> {
    fn results(&self, decoder: &mut Decoder<'_>) -> Result<T, CdrError> {
        self(decoder)
    }

    fn exception(&self, repository_id: &str, decoder: &mut Decoder<'_>) -> Result<Option<E>, CdrError> {
        E::decode(repository_id, decoder)
    }
}

/// Returns the [`Results`] of a call that returns one value.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{AsyncCall, Interface, SystemException, rt::{Encode, one_result}};
///
/// # let doubler: DoublerRef = local::activate(Doubler);
/// // `twice_async(21)` in generated code.
/// let call: AsyncCall<i32, SystemException> =
///     doubler.as_object().call_async("twice", &mut |encoder| 21_i32.encode(encoder), one_result);
/// assert_eq!(call.wait()?, 42);
/// # Ok::<(), SystemException>(())
/// ```
pub fn one_result<T: for<'a> Decode<'a>>(decoder: &mut Decoder<'_>) -> Result<T, CdrError> {
    T::decode(decoder)
}

enum State {
    Outstanding(Box<dyn PendingCall>),
    Done,
    Taken,
}

/// No part of a call is ever pinned.
impl<T, E, D> Unpin for AsyncCall<T, E, D> {}

impl<T, E: From<SystemException>, D: DecodeReply<T, E>> AsyncCall<T, E, D> {
    /// Sends the request and continues when the reply arrives; `arguments` encodes the arguments.
    pub(crate) fn start(
        object: &ObjectRef,
        operation: Cow<'static, str>,
        arguments: &mut dyn FnMut(&mut Encoder<'_>) -> Result<(), CdrError>,
        reply: D,
    ) -> Self {
        let mut started = Self {
            operation,
            reply,
            state: State::Done,
            result: None,
        };
        let target = Arc::clone(object.target());
        let mut values = ReplyValues::new(&started.reply, &mut started.result);
        match values.run(&started.operation, arguments, |call| target.start(call)) {
            Ok(Some(pending)) => started.state = State::Outstanding(pending),
            Ok(None) => values.conclude(Ok(())),
            Err(error) => values.conclude(Err(error)),
        }
        started
    }

    /// Blocks until the call has ended and returns its result; TIMEOUT if a timeout of the call expires
    /// first. Without a timeout it blocks without limit.
    ///
    /// Fails with BAD_INV_ORDER on the last lane thread that could read the reply, which would wait for
    /// itself, unless its calls wait with `WaitStrategy::Serving`.
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
        while !self.advance(WaitMode::Until(None)) {}
        self.take()
    }

    /// Returns whether [`Self::wait`] would return immediately; never blocks for the reply.
    ///
    /// If the reply is a forward, it sends the request to the new location, which may connect. A lane thread
    /// whose calls wait with `WaitStrategy::Serving` first serves the requests that have arrived at its lane.
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

    /// Like [`Self::is_ready`], but blocks up to `timeout`: `Messaging::Poller::is_ready(timeout)`.
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
        if !matches!(self.state, State::Outstanding(_)) {
            return true;
        }
        // A deadline beyond the range of the clock is none.
        let deadline = Instant::now().checked_add(timeout);
        self.advance(WaitMode::Until(deadline))
    }

    /// Like [`Self::wait`], but blocks up to `timeout`: `Messaging::Poller`. Returns the call itself if it
    /// has not ended by then.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use std::time::Duration;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let mut call = doubler.twice_async(4);
    /// let result = loop {
    ///     match call.wait_within(Duration::from_millis(5)) {
    ///         Ok(result) => break result,
    ///         Err(outstanding) => call = outstanding,
    ///     }
    /// };
    /// assert_eq!(result?, 8);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn wait_within(mut self, timeout: Duration) -> Result<Result<T, E>, Self> {
        if self.is_ready_within(timeout) {
            Ok(self.take())
        } else {
            Err(self)
        }
    }

    /// Returns the CORBA priority of the thread that made the call, while it is outstanding.
    pub fn priority(&self) -> Option<Priority> {
        match &self.state {
            State::Outstanding(pending) => pending.priority(),
            State::Done | State::Taken => None,
        }
    }

    /// Continues the call. Returns whether it has ended.
    fn advance(&mut self, mode: WaitMode<'_>) -> bool {
        let State::Outstanding(pending) = &mut self.state else {
            return true;
        };
        let mut values = ReplyValues::new(&self.reply, &mut self.result);
        let step = values.run(&self.operation, &mut |_| Ok(()), |call| {
            pending.advance(call, mode)
        });
        match step {
            Poll::Pending => false,
            Poll::Ready(end) => {
                values.conclude(end);
                self.state = State::Done;
                true
            }
        }
    }

    fn take(&mut self) -> Result<T, E> {
        self.state = State::Taken;
        let result = self.result.take();
        result.expect("an `AsyncCall` was polled after it had returned its result")
    }
}

/// Panics when polled after it has returned [`Poll::Ready`].
impl<T, E: From<SystemException>, D: DecodeReply<T, E>> Future for AsyncCall<T, E, D> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let call = self.get_mut();
        if call.advance(WaitMode::Wake(context.waker())) {
            Poll::Ready(call.take())
        } else {
            Poll::Pending
        }
    }
}

impl<T, E, D> fmt::Debug for AsyncCall<T, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncCall")
            .field("operation", &self.operation)
            .field("outstanding", &matches!(self.state, State::Outstanding(_)))
            .finish_non_exhaustive()
    }
}

impl ObjectRef {
    /// Starts a two-way call; `arguments` encodes the arguments, possibly several times, before this returns.
    ///
    /// For generated code.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # use punctual_cdr::Encode;
    /// use punctual::{AsyncCall, SystemException, rt::one_result};
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
        AsyncCall::start(self, operation.into(), arguments, results)
    }
}

/// Results or user exception of a reply.
pub(crate) struct ReplyValues<'d, T, E, D> {
    reply: &'d D,
    /// `None` until the call has decoded its reply.
    decoded: &'d mut Option<Result<T, E>>,
}

impl<'d, T, E, D: DecodeReply<T, E>> ReplyValues<'d, T, E, D> {
    pub(crate) fn new(reply: &'d D, decoded: &'d mut Option<Result<T, E>>) -> Self {
        Self { reply, decoded }
    }

    /// Runs a step of a call that fills in the values.
    pub(crate) fn run<R>(
        &mut self,
        operation: &str,
        arguments: &mut dyn FnMut(&mut Encoder<'_>) -> Result<(), CdrError>,
        step: impl FnOnce(&mut Call<'_>) -> R,
    ) -> R {
        let Self { reply, decoded } = self;
        // Both closures set it.
        let decoded = RefCell::new(&mut **decoded);
        step(&mut Call {
            operation,
            response: Response::WithTarget,
            perform: &mut |phase| match phase {
                Phase::Arguments(encoder) => arguments(encoder),
                Phase::Results(decoder) => results(*reply, decoder, *decoded.borrow_mut()),
            },
            raised: &mut |repository_id, decoder| {
                exception(*reply, repository_id, decoder, *decoded.borrow_mut())
            },
        })
    }

    /// Puts the end of the call in its place, if it has failed.
    pub(crate) fn conclude(self, end: Result<(), SystemException>)
    where
        E: From<SystemException>,
    {
        if let Err(error) = end {
            *self.decoded = Some(Err(error.of_call().into()));
        }
        // A target that ends a call without an error has called a function in `run`: see `Target`.
        assert!(self.decoded.is_some(), "the reply has been decoded");
    }
}

/// Decodes the results. Apart from the functions around it, whose frames remain small.
#[inline(never)]
fn results<T, E, D: DecodeReply<T, E>>(
    reply: &D,
    decoder: &mut Decoder<'_>,
    decoded: &mut Option<Result<T, E>>,
) -> Result<(), CdrError> {
    *decoded = Some(Ok(reply.results(decoder)?));
    Ok(())
}

/// Decodes the exception with this repository id. `false`: the operation does not declare it.
#[inline(never)]
fn exception<T, E, D: DecodeReply<T, E>>(
    reply: &D,
    repository_id: &str,
    decoder: &mut Decoder<'_>,
    decoded: &mut Option<Result<T, E>>,
) -> Result<bool, CdrError> {
    *decoded = reply.exception(repository_id, decoder)?.map(Err);
    Ok(decoded.is_some())
}
