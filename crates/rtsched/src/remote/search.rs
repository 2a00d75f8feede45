//! Searches along the calls of a distributable thread.

use std::time::{Duration, Instant};

use punctual_os::clock;
use punctual_types::{DistributableThreadId, Minor, SystemException};

use super::{LocalThreads, Place, ThreadControlRef, Whereabouts, thread_control::Query};
use crate::error::unknown_thread;

/// Maximum number of further hosts in a search.
pub(super) const MAX_HOSTS: u8 = 16;

/// Follows the calls of the thread from this endsystem once.
///
/// Fails only with OBJECT_NOT_EXIST, if the thread is unknown here.
pub(super) fn follow(threads: &dyn LocalThreads, query: &Query) -> Result<Whereabouts, SystemException> {
    let deadline = after(query.timeout);
    let here = if query.cancels {
        threads.cancel(query.id)
    } else {
        threads.find(query.id)
    };
    let here = here.ok_or_else(unknown_thread)?;
    let known = |place| Whereabouts {
        place,
        hosts: 0,
        cancelled: here.cancelled,
    };
    let Some(next) = here.calls else {
        return Ok(known(Place::AtHead));
    };
    let (Some(control), Some(hosts)) = (ThreadControlRef::of(&next), query.hosts.checked_sub(1)) else {
        return Ok(known(Place::OutOfReach));
    };
    let timeout = deadline.saturating_duration_since(Instant::now());
    if timeout.is_zero() {
        return Ok(known(Place::OutOfReach));
    }
    Ok(
        match control.query(&Query {
            hosts,
            timeout,
            ..*query
        }) {
            Ok(further) => Whereabouts {
                hosts: further.hosts.saturating_add(1),
                ..further
            },
            // The request has not arrived yet, or has returned meanwhile.
            Err(exception) if exception.minor == Minor::DISTRIBUTABLE_THREAD_UNKNOWN => known(Place::Moving),
            Err(_) => known(Place::OutOfReach),
        },
    )
}

/// Repeats `step` until the thread no longer moves, or the timeout has expired.
pub(super) fn repeat_while_moving(
    timeout: Duration,
    mut step: impl FnMut(Duration) -> Result<Whereabouts, SystemException>,
) -> Result<Whereabouts, SystemException> {
    const FIRST_PAUSE: Duration = Duration::from_millis(1);
    const LONGEST_PAUSE: Duration = Duration::from_millis(20);
    let deadline = after(timeout);
    let mut pause = FIRST_PAUSE;
    let mut moving = None;
    loop {
        let step = step(deadline.saturating_duration_since(Instant::now()));
        let is_conclusive = match &step {
            Ok(found) => found.place != Place::OutOfReach,
            Err(exception) => exception.minor == Minor::DISTRIBUTABLE_THREAD_UNKNOWN,
        };
        if let Some(before) = moving
            && !is_conclusive
            && Instant::now() >= deadline
        {
            // No time was left for a reply; the previous one still shows that the thread is within reach.
            return Ok(before);
        }
        let found = step?;
        if found.place != Place::Moving || Instant::now() + pause >= deadline {
            return Ok(found);
        }
        moving = Some(found);
        clock::sleep_until(Instant::now() + pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Locates a thread that is known here, or cancels it: repeats [`follow`] while the thread moves.
pub(crate) fn search(
    threads: &dyn LocalThreads,
    id: DistributableThreadId,
    cancels: bool,
    timeout: Duration,
) -> Result<Whereabouts, SystemException> {
    repeat_while_moving(timeout, |timeout| {
        let hosts = MAX_HOSTS;
        follow(
            threads,
            &Query {
                id,
                cancels,
                hosts,
                timeout,
            },
        )
    })
}

/// A distributable thread of any host, found through the control of a host where it is known.
///
/// ```
/// # mod punctual {
/// #     pub use {punctual_stub::*, punctual_types::*};
/// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_types::DistributableThreadId}; }
/// # }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::DoublerRef;
/// use std::time::Duration;
///
/// use punctual::{Interface, SystemException};
/// use punctual::rtscheduling::{DistributableThreadId, remote::{Place, RemoteThread, ThreadControlRef}};
///
/// /// Cancels a thread that is expected at the host of an object, or behind it.
/// fn stop(id: DistributableThreadId, somewhere: &DoublerRef) -> Result<bool, SystemException> {
///     let Some(control) = ThreadControlRef::of(somewhere.as_object()) else {
///         return Ok(false);
///     };
///     let timeout = Duration::from_millis(200);
///     let thread = RemoteThread::find(id, &[control], timeout)?;
///     Ok(thread.cancel(timeout)?.place == Place::AtHead)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RemoteThread {
    id: DistributableThreadId,
    control: ThreadControlRef,
}

impl RemoteThread {
    /// Queries these controls one after the other for a thread of this id, and keeps the first that knows it.
    /// `timeout` is for all.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if none of them knows the thread: it has ended, or never was there. If a query
    /// failed, its exception: NO_PERMISSION, TRANSIENT, TIMEOUT.
    pub fn find(
        id: DistributableThreadId,
        controls: &[ThreadControlRef],
        timeout: Duration,
    ) -> Result<Self, SystemException> {
        let deadline = after(timeout);
        let mut failure = unknown_thread();
        for control in controls {
            let thread = Self {
                id,
                control: control.clone(),
            };
            match thread.query(false, deadline.saturating_duration_since(Instant::now())) {
                Ok(_) => return Ok(thread),
                Err(exception) if exception.minor == Minor::DISTRIBUTABLE_THREAD_UNKNOWN => {}
                Err(exception) => failure = exception,
            }
        }
        Err(failure)
    }

    /// Returns the id of the thread.
    pub fn id(&self) -> DistributableThreadId {
        self.id
    }

    /// Locates the thread. Returns after `timeout` at the latest.
    ///
    /// # Errors
    /// Like [`Self::find`], for that control.
    pub fn whereabouts(&self, timeout: Duration) -> Result<Whereabouts, SystemException> {
        repeat_while_moving(timeout, |timeout| self.query(false, timeout))
    }

    /// Cancels the thread. Hosts that the search reaches mark it; if the result is not [`Place::AtHead`], the
    /// thread continues until it arrives at one of them. Returns after `timeout` at the latest.
    ///
    /// # Errors
    /// Like [`Self::find`], for that control.
    pub fn cancel(&self, timeout: Duration) -> Result<Whereabouts, SystemException> {
        repeat_while_moving(timeout, |timeout| self.query(true, timeout))
    }

    fn query(&self, cancels: bool, timeout: Duration) -> Result<Whereabouts, SystemException> {
        self.control.query(&Query {
            id: self.id,
            cancels,
            hosts: MAX_HOSTS,
            timeout,
        })
    }
}

/// Returns the point in time after a duration; at most a hundred years.
fn after(timeout: Duration) -> Instant {
    const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Instant::now() + timeout.min(FOR_EVER)
}
