//! Distributable threads whose head is at another host: looking them up, and cancelling them.
//!
//! Each endsystem that wants to be asked has a control: an object in a lane of its own, so that it answers while all other lanes are
//! busy. Its reference is in every reference that the ORB makes (component `PUNC`+2), and under `corbaloc:…/RTScheduling`.
//!
//! A search follows the calls of the thread: an endsystem where it waits in a two-way call asks the control of the endsystem it has
//! called, and so on to the head. Each host on the way marks the thread as cancelled, where it is to be; the head sees that at its
//! next scheduling point or in the wait that it is in, and THREAD_CANCELLED travels back.
//!
//! Bounded: by a number of hosts, which also ends a search that goes round, and by a deadline, which travels along as the time that
//! is left. A control answers no longer than it is configured to.

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

/// What an endsystem knows of its distributable threads.
pub(crate) trait LocalThreads: Send + Sync {
    /// `None`: there is none of this id.
    fn look(&self, id: DistributableThreadId) -> Option<Local>;

    /// Whether a call of this peer's has brought the thread here, and is under way.
    fn was_called_by(&self, id: DistributableThreadId, peer: Peer) -> bool;

    /// Marks the thread as cancelled, if it is here.
    fn cancel(&self, id: DistributableThreadId) -> Option<Local>;
}

/// A distributable thread as one endsystem sees it.
pub(crate) struct Local {
    pub(crate) cancelled: bool,
    /// The object that it waits for in a two-way call; `None`: its head is here.
    pub(crate) calls: Option<ObjectRef>,
}

/// Whether a request goes to a control: it carries no thread, waits for no scheduler, and is no scheduling point of its caller.
pub(crate) fn is_control(target: &Ior) -> bool {
    target.type_id == ThreadControlRef::REPOSITORY_ID
}
