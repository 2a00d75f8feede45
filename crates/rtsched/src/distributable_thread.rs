//! `RTScheduling::DistributableThread`.

use std::{fmt, sync::Arc, time::Duration};

use punctual_types::{DistributableThreadId, SystemException};

use crate::{
    endsystem::Endsystem,
    error::unknown_thread,
    remote::{Whereabouts, search},
};

/// `RTScheduling::DistributableThread`: a thread that is known at this endsystem, or was.
///
/// ```
/// # mod punctual {
/// #     pub use punctual_types::*;
/// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
/// # }
/// use punctual::{SystemExceptionKind, rtscheduling::{RtScheduling, SchedulingParameters}};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let current = scheduling.current();
/// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
/// let thread = current.distributable_thread()?;
/// current.end_scheduling_segment("track")?;
/// assert_eq!(thread.cancel().unwrap_err().kind, SystemExceptionKind::ObjectNotExist);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DistributableThread {
    endsystem: Arc<Endsystem>,
    id: DistributableThreadId,
}

/// `DistributableThread::DT_State`: state of a distributable thread.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::DistributableThreadState;
/// assert_ne!(DistributableThreadState::Active, DistributableThreadState::Cancelled);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DistributableThreadState {
    /// Neither ended nor cancelled.
    Active,
    /// Cancelled; its end has not been reached yet.
    Cancelled,
}

impl DistributableThread {
    pub(crate) fn new(endsystem: &Arc<Endsystem>, id: DistributableThreadId) -> Self {
        Self {
            endsystem: Arc::clone(endsystem),
            id,
        }
    }

    /// Returns the id of the thread, the same on every host.
    pub fn id(&self) -> DistributableThreadId {
        self.id
    }

    /// Cancels the thread: THREAD_CANCELLED is reported at its next scheduling point, and immediately where
    /// it waits for its turn, sleeps, or waits for a resource. It is no longer scheduled. Its segments end,
    /// its resources are released and its storage is cleared, in reverse order. Cancelling twice has no
    /// further effect.
    ///
    /// A thread that is in a two-way call continues at the other host, which is not notified. When the call
    /// ends, by a reply, an exception or a timeout, it fails with THREAD_CANCELLED; without a timeout that
    /// may take forever. The same holds for a thread that waits for an asynchronous reply.
    /// [`Self::cancel_everywhere`] cancels the thread at its head instead, so that the reply arrives sooner.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST with DISTRIBUTABLE_THREAD_UNKNOWN: it has ended, or has left this endsystem for good
    /// (the IDL's OBJECT_NOT_FOUND).
    pub fn cancel(&self) -> Result<(), SystemException> {
        self.endsystem.dispatcher.cancel(self.id)
    }

    /// Cancels the thread here, as [`Self::cancel`], and at each host that its calls have reached, up to its
    /// head, which need not return first. Queries those hosts, and returns after `timeout` at the latest; the
    /// calling thread waits meanwhile.
    ///
    /// If the result is not [`Place::AtHead`](crate::remote::Place::AtHead), the head has not been reached:
    /// the cancellation is reported when it arrives at one of the hosts that have been. See
    /// [`remote`](crate::remote).
    ///
    /// # Errors
    /// Like [`Self::cancel`].
    ///
    /// ```
    /// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
    /// use std::time::Duration;
    ///
    /// use punctual::rtscheduling::{RtScheduling, SchedulingParameters, remote::Place};
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
    /// let found = current.distributable_thread()?.cancel_everywhere(Duration::from_secs(1))?;
    /// assert_eq!((found.place, found.hosts, found.cancelled), (Place::AtHead, 0, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_everywhere(&self, timeout: Duration) -> Result<Whereabouts, SystemException> {
        search(&*self.endsystem, self.id, true, timeout)
    }

    /// Locates its head, at any number of hosts. Returns after `timeout` at the latest.
    ///
    /// # Errors
    /// Like [`Self::cancel`].
    pub fn whereabouts(&self, timeout: Duration) -> Result<Whereabouts, SystemException> {
        search(&*self.endsystem, self.id, false, timeout)
    }

    /// `state`: state of the thread.
    ///
    /// # Errors
    /// Like [`Self::cancel`].
    pub fn state(&self) -> Result<DistributableThreadState, SystemException> {
        match self.endsystem.dispatcher.is_cancelled(self.id) {
            Some(false) => Ok(DistributableThreadState::Active),
            Some(true) => Ok(DistributableThreadState::Cancelled),
            None => Err(unknown_thread()),
        }
    }
}

impl fmt::Debug for DistributableThread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("DistributableThread")
            .field(&self.id)
            .finish()
    }
}
