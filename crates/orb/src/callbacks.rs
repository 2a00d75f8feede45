//! Handlers of asynchronous calls: the callback model of CORBA Messaging, built on the futures.
//!
//! The lane thread that reads a reply only queues the call; the handler runs on a thread that the user
//! chooses, at the priority of the call.

mod delivery;
mod location;
mod ready;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_stub::{AsyncCall, OperationError};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use self::{delivery::Delivery, location::Location, ready::ReadyCalls};
use crate::{Orb, OrbError, ThreadPool, config::configuration::Configuration, current, pools::lane::Lane};

/// Accepts asynchronous calls and runs their handlers with the results, like `sendc_op`. [`Orb::callbacks`]
/// delivers to threads of the user, [`ThreadPool::callbacks`] to lanes.
///
/// A handler, and the calls that it makes, have the CORBA priority of the thread that made the call. Among
/// several handlers, the one with the highest priority runs first; among those of equal priority, the one
/// whose call ended first. A panic in a handler affects nothing else.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::{sync::mpsc, time::Duration};
///
/// use punctual::Orb;
///
/// let orb = Orb::builder().build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// let (callbacks, queue) = orb.callbacks(16);
/// let (sender, results) = mpsc::channel();
/// callbacks.deliver(doubler.twice_async(21), move |result| sender.send(result).unwrap())?;
/// // On a thread that the user chooses:
/// assert!(queue.deliver_next(Duration::from_secs(1)));
/// assert_eq!(results.recv()??, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Callbacks {
    locations: Arc<[(Location, Priority)]>,
    configuration: Arc<Configuration>,
}

/// Queue of handlers for threads of the user. Dropping the queue closes it: handlers that have not begun are
/// dropped.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::time::Duration;
///
/// use punctual::Orb;
///
/// let orb = Orb::builder().build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// let (callbacks, queue) = orb.callbacks(16);
/// callbacks.deliver(doubler.twice_async(21), |result| assert_eq!(result.unwrap(), 42))?;
/// callbacks.deliver(doubler.twice_async(4), |result| assert_eq!(result.unwrap(), 8))?;
/// assert!(queue.deliver_next(Duration::from_secs(1)));
/// assert!(queue.deliver_next(Duration::from_secs(1)));
/// assert!(!queue.deliver_next(Duration::ZERO), "there were only two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CallbackQueue {
    ready: Arc<ReadyCalls>,
    configuration: Arc<Configuration>,
}

/// A call that [`Callbacks`] refused, with the reason. The call continues, and its reply can be awaited.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::Orb;
///
/// let orb = Orb::builder().build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// let (callbacks, _queue) = orb.callbacks(1);
/// callbacks.deliver(doubler.twice_async(1), |_| ())?;
/// let refused = callbacks.deliver(doubler.twice_async(21), |_| ()).unwrap_err();
/// assert!(refused.to_string().contains("TRANSIENT"));
/// assert_eq!(refused.call.wait()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NotAdmitted<T, E> {
    /// The refused call.
    pub call: AsyncCall<T, E>,
    /// TRANSIENT: the queue is full or closed. INV_POLICY: no lane has the priority of the call or a higher
    /// priority.
    pub exception: SystemException,
}

impl Callbacks {
    /// Runs the handler once with the result of the call, but never inside this method on the calling thread.
    /// If the call could not be sent, that error is the result.
    ///
    /// Fails and returns the call if it cannot be admitted.
    pub fn deliver<T, E>(
        &self,
        call: AsyncCall<T, E>,
        handler: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Result<(), NotAdmitted<T, E>>
    where
        T: Send + 'static,
        E: OperationError + Send + 'static,
    {
        let priority = call
            .priority()
            .unwrap_or_else(|| current::thread_priority(&self.configuration));
        match self.admit(priority) {
            Ok(location) => {
                Delivery::start(location, priority, call, handler);
                Ok(())
            }
            Err(exception) => Err(NotAdmitted { call, exception }),
        }
    }

    /// Returns the number of calls whose handlers have not begun.
    pub fn outstanding(&self) -> usize {
        self.locations
            .iter()
            .map(|(location, _)| location.ready.admitted())
            .sum()
    }

    fn admit(&self, priority: Priority) -> Result<Location, SystemException> {
        let location = self.locations.iter().find(|(_, highest)| *highest >= priority);
        let (location, _) = location.ok_or_else(|| {
            let (kind, minor) = (SystemExceptionKind::InvPolicy, Minor::NO_LANE_FOR_CALLBACK);
            SystemException::new(kind, minor, Completion::Maybe)
        })?;
        location.ready.admit()?;
        Ok(location.clone())
    }
}

impl CallbackQueue {
    /// Runs the next handler on the calling thread, which meanwhile has the priority of the call. Waits for a
    /// handler until `timeout` has passed; returns `false` if there was none. A call that has to be sent
    /// again because its object has moved takes a turn without a handler.
    pub fn deliver_next(&self, timeout: Duration) -> bool {
        // A deadline beyond the range of the clock means no deadline.
        let ready = self.ready.wait(Instant::now().checked_add(timeout));
        ready
            .map(|ready| location::run(ready, &self.configuration, true))
            .is_some()
    }

    /// Runs handlers on the calling thread until another thread closes the queue. Waits without a deadline.
    pub fn run(&self) {
        while let Some(ready) = self.ready.wait(None) {
            location::run(ready, &self.configuration, true);
        }
    }

    /// Ends [`Self::run`] and refuses further calls. Handlers that have not begun are dropped, at the latest
    /// when their calls end.
    pub fn close(&self) {
        self.ready.close();
    }
}

impl Drop for CallbackQueue {
    fn drop(&mut self) {
        self.close();
    }
}

impl Orb {
    /// Returns callbacks for at most `capacity` calls at a time, and the queue from which threads of the user
    /// run the handlers.
    pub fn callbacks(&self, capacity: usize) -> (Callbacks, CallbackQueue) {
        let configuration = &self.core().configuration;
        let ready = Arc::new(ReadyCalls::new(capacity));
        let callbacks = Callbacks {
            locations: Arc::new([(Location::of_user(Arc::clone(&ready)), Priority::MAX)]),
            configuration: Arc::clone(configuration),
        };
        let configuration = Arc::clone(configuration);
        (callbacks, CallbackQueue { ready, configuration })
    }
}

impl ThreadPool {
    /// Returns callbacks whose handlers the threads of this pool run between requests: in the lowest lane
    /// whose priority is not below that of the call or, without lanes, at the priority of the call. Each lane
    /// accepts at most `capacity` calls at a time. Handlers that have not begun when the pool ends are
    /// dropped.
    ///
    /// # Errors
    /// [`OrbError::CallbacksNeedPolledLanes`] if the pool buffers requests or its threads block in `read`;
    /// [`OrbError::InvalidThreadPool`] if its ORB no longer exists.
    pub fn callbacks(&self, capacity: usize) -> Result<Callbacks, OrbError> {
        let orb = self.orb().ok_or(OrbError::InvalidThreadPool)?;
        let lanes = &self.core.lanes;
        if !lanes.iter().all(|lane| lane.is_polled()) {
            return Err(OrbError::CallbacksNeedPolledLanes);
        }
        let location = |lane: &Arc<Lane>| {
            lane.provide_tasks(capacity);
            let ready = Arc::new(ReadyCalls::new(capacity));
            let highest = lane.priority().unwrap_or(Priority::MAX);
            (Location::of_lane(lane, ready, &orb.configuration), highest)
        };
        Ok(Callbacks {
            locations: lanes.iter().map(location).collect(),
            configuration: Arc::clone(&orb.configuration),
        })
    }
}

impl<T, E> fmt::Debug for NotAdmitted<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T, E> fmt::Display for NotAdmitted<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.exception, f)
    }
}

impl<T, E> std::error::Error for NotAdmitted<T, E> {}
