use std::{fmt, sync::Arc, time::Duration};

use punctual_types::{DistributableThreadId, SystemException};

use crate::{
    endsystem::Endsystem,
    error::unknown_thread,
    remote::{Whereabouts, search},
};

/// `RTScheduling::DistributableThread`: a thread that is, or was, at this endsystem.
///
/// ```
/// use punctual_rtsched::RtScheduling;
/// use punctual_sched::dynamic::SchedulingParameters;
/// use punctual_types::SystemExceptionKind;
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

/// `DistributableThread::DT_State`.
///
/// ```
/// use punctual_rtsched::DistributableThreadState;
/// assert_ne!(DistributableThreadState::Active, DistributableThreadState::Cancelled);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DistributableThreadState {
    /// It has not ended, and nobody has cancelled it.
    Active,
    /// It was cancelled, and has not seen the end of that yet.
    Cancelled,
}

impl DistributableThread {
    pub(crate) fn new(endsystem: &Arc<Endsystem>, id: DistributableThreadId) -> Self {
        Self {
            endsystem: Arc::clone(endsystem),
            id,
        }
    }

    /// Its id, the same on every host.
    pub fn id(&self) -> DistributableThreadId {
        self.id
    }

    /// Cancels it: at its next scheduling point, and at once where it waits for its turn, sleeps, or waits for a lock of ours, it is
    /// told THREAD_CANCELLED and scheduled no more. Its segments end, its locks are released and its storage is cleared, in the
    /// reverse order. Cancelling twice is cancelling once.
    ///
    /// A thread that is calling out sees it when the call returns; [`Self::cancel_everywhere`] goes after it.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST with DISTRIBUTABLE_THREAD_UNKNOWN: it has ended, or has left this endsystem for good (the IDL's
    /// OBJECT_NOT_FOUND).
    pub fn cancel(&self) -> Result<(), SystemException> {
        self.endsystem.dispatcher.cancel(self.id)
    }

    /// Cancels it here, as [`Self::cancel`], and at each host that its calls have taken it to, up to its head, which need not come
    /// back first. Asks those hosts, and returns after `within`, at the latest; the calling thread waits meanwhile.
    ///
    /// Where the result is not [`Place::AtHead`](crate::remote::Place::AtHead), the head has not been reached: it sees the
    /// cancellation when it comes to one of the hosts that were. See [`remote`](crate::remote).
    ///
    /// # Errors
    /// As [`Self::cancel`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use punctual_rtsched::{RtScheduling, remote::Place};
    /// use punctual_sched::dynamic::SchedulingParameters;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// let current = scheduling.current();
    /// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
    /// let found = current.distributable_thread()?.cancel_everywhere(Duration::from_secs(1))?;
    /// assert_eq!((found.place, found.hosts, found.cancelled), (Place::AtHead, 0, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_everywhere(&self, within: Duration) -> Result<Whereabouts, SystemException> {
        search(&*self.endsystem, self.id, true, within)
    }

    /// Where its head is, however many hosts away. Returns after `within`, at the latest.
    ///
    /// # Errors
    /// As [`Self::cancel`].
    pub fn whereabouts(&self, within: Duration) -> Result<Whereabouts, SystemException> {
        search(&*self.endsystem, self.id, false, within)
    }

    /// `state`.
    ///
    /// # Errors
    /// As [`Self::cancel`].
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
