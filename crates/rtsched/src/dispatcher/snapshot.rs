//! Distributable threads for inspection.

use punctual_types::DistributableThreadId;

use super::{entry::Entry, head::Head};

/// A distributable thread at the time of [`RtScheduling::snapshot`](crate::RtScheduling::snapshot).
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{RtScheduling, ThreadSnapshot};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let threads: Vec<ThreadSnapshot> = scheduling.snapshot();
/// assert!(threads.is_empty());
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ThreadSnapshot {
    /// Id of the thread.
    pub id: DistributableThreadId,
    /// Name of its outermost segment here, up to 31 octets.
    pub name: String,
    /// Status at this endsystem.
    pub status: ThreadStatus,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

/// Status of a distributable thread at an endsystem.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::ThreadStatus;
/// assert_ne!(ThreadStatus::Running, ThreadStatus::Ready);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ThreadStatus {
    /// Chosen to run.
    Running,
    /// Ready to run; others go first.
    Ready,
    /// Sleeping, or waiting for a resource.
    Waiting,
    /// The thread is in a call to another host, not begun yet, or ending.
    Away,
}

impl ThreadSnapshot {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            id: entry.id,
            name: entry.name.as_str().to_owned(),
            status: match &entry.head {
                Head::Running(_) | Head::Native(..) => ThreadStatus::Running,
                Head::Ready(_) | Head::Parked(..) => ThreadStatus::Ready,
                Head::Idle(_) => ThreadStatus::Waiting,
                Head::Away => ThreadStatus::Away,
            },
            cancelled: entry.cancelled,
        }
    }
}
