//! Distributable threads whose head is at another host: location and cancellation.
//!
//! An endsystem that accepts such queries has a control: an object in a separate lane, so that it responds
//! while all other lanes are busy. Its reference is in every reference that the ORB creates (component
//! `PUNC`+2), and under `corbaloc:…/RTScheduling`.
//!
//! A search follows the calls of the thread: an endsystem where the thread waits in a two-way call queries
//! the control of the called endsystem, and so on up to the head. A cancellation marks the thread at each
//! host on the way; it is reported to the head at its next scheduling point or in its present wait, and
//! THREAD_CANCELLED returns along the calls.
//!
//! A search is bounded by a number of hosts, which also ends a search in a cycle, and by a timeout, which
//! each query carries as the remaining time. Each control has its own maximum as well.
//!
//! Processes of the same host may cancel, and hosts whose calls have brought the thread; others get
//! NO_PERMISSION.

mod cancellation_policy;
mod control;
mod control_reference;
mod local;
mod search;
#[cfg(test)]
mod tests;
mod thread_control;

pub use cancellation_policy::CancellationPolicy;
pub use control::{ThreadControl, ThreadControlSpec};
pub use search::RemoteThread;
pub(crate) use search::search;
pub use thread_control::{Place, ThreadControlRef, Whereabouts};

use punctual_cdr::Ior;
use punctual_stub::{Interface, ObjectRef};
use punctual_transport::Peer;
use punctual_types::DistributableThreadId;

/// The distributable threads of an endsystem.
pub(crate) trait LocalThreads: Send + Sync {
    /// Returns the thread with this id, if it is known.
    fn find(&self, id: DistributableThreadId) -> Option<Local>;

    /// Returns whether a call of this peer brought the thread here, and is in progress.
    fn was_called_by(&self, id: DistributableThreadId, peer: Peer) -> bool;

    /// Marks the thread as cancelled, if it is known.
    fn cancel(&self, id: DistributableThreadId) -> Option<Local>;
}

/// A distributable thread as one endsystem sees it.
pub(crate) struct Local {
    pub(crate) cancelled: bool,
    /// Object that it has called; `None`: its head is here.
    pub(crate) calls: Option<ObjectRef>,
}

/// Returns whether a request is for a control: it carries no thread, waits for no scheduler, and is no
/// scheduling point of its caller.
pub(crate) fn is_control(target: &Ior) -> bool {
    target.type_id == ThreadControlRef::REPOSITORY_ID
}
