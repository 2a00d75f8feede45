use punctual_types::DistributableThreadId;

use super::{
    entry::{Entry, Place},
    state::State,
};

/// A distributable thread as it was when somebody looked; from [`RtScheduling::snapshot`](crate::RtScheduling::snapshot).
///
/// ```
/// use punctual_rtsched::{RtScheduling, ThreadSnapshot};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let threads: Vec<ThreadSnapshot> = scheduling.snapshot();
/// assert!(threads.is_empty());
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ThreadSnapshot {
    /// Its id.
    pub id: DistributableThreadId,
    /// The name of its outermost segment here, up to 31 octets of it.
    pub name: String,
    /// What it did.
    pub standing: Standing,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

/// What a distributable thread does at an endsystem.
///
/// ```
/// use punctual_rtsched::Standing;
/// assert_ne!(Standing::Running, Standing::Ready);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Standing {
    /// It was let run.
    Running,
    /// It wants to run, and others go first.
    Ready,
    /// It sleeps, or waits for a lock of ours.
    Waiting,
    /// It is in a call to another host, or has not begun yet, or ends.
    Elsewhere,
}

impl State {
    pub(crate) fn snapshot(&self) -> Vec<ThreadSnapshot> {
        let snapshot = |entry: &Entry| ThreadSnapshot {
            id: entry.id,
            name: entry.name.as_str().to_owned(),
            standing: match &entry.place {
                Place::Ready(head) if head.runs => Standing::Running,
                Place::Ready(_) => Standing::Ready,
                Place::Idle(_) => Standing::Waiting,
                Place::Elsewhere => Standing::Elsewhere,
            },
            cancelled: entry.cancelled,
        };
        self.known().map(snapshot).collect()
    }
}
