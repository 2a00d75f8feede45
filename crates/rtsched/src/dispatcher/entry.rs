//! An endsystem's knowledge of one distributable thread.

use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_stub::ObjectRef;
use punctual_transport::Peer;
use punctual_types::DistributableThreadId;

use super::{
    decisions::ThreadName,
    head::{Head, Locus},
    lane_limit::LaneLimit,
    scheduling_point::SchedulingPoint,
};
use crate::{error::Interrupted, storage::ThreadStorage};

/// Entry of a distributable thread in the thread table, from its first activation at this host to the end of
/// its last one.
pub(crate) struct Entry {
    pub(crate) id: DistributableThreadId,
    pub(crate) name: ThreadName,
    pub(crate) origin: Origin,
    /// Number of activations at this host; at zero the entry is free.
    pub(crate) activations: u32,
    /// `DT_State` CANCELLED: each activation fails at its next scheduling point.
    pub(crate) cancelled: bool,
    pub(crate) head: Head,
    /// Highest limit of the threads that wait for its resources.
    pub(crate) lent_limit: Option<LaneLimit>,
    pub(crate) storage: ThreadStorage,
    /// Two-way calls in progress, by activation; the innermost last.
    pub(crate) calls: Vec<(u64, ObjectRef)>,
    /// Peers whose requests in progress brought the thread here.
    pub(crate) peers: Vec<Option<Peer>>,
}

/// Origin of a distributable thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    /// The thread began at this host.
    Here,
    /// The thread began at another host, which waits for its return.
    Elsewhere,
    /// The thread began with a request that no caller waits for; it ends with that request.
    Request,
}

/// A free entry.
impl Default for Entry {
    fn default() -> Self {
        Self {
            id: DistributableThreadId(0),
            name: ThreadName::new(""),
            origin: Origin::Here,
            activations: 0,
            cancelled: false,
            head: Head::Away,
            lent_limit: None,
            storage: ThreadStorage::new(),
            calls: Vec::new(),
            peers: Vec::new(),
        }
    }
}

impl Entry {
    /// Returns the head, where that activation has it.
    pub(crate) fn locus_of(&mut self, activation: u64) -> Option<&mut Locus> {
        self.head
            .locus_mut()
            .filter(|locus| locus.activation == activation)
    }

    /// Returns the head at a scheduling point, or why the activation must not continue.
    pub(crate) fn locus_at(&mut self, point: SchedulingPoint, now: Time) -> Result<&mut Locus, Interrupted> {
        let cancelled = self.cancelled;
        match self.locus_of(point.activation) {
            Some(locus) if !cancelled => match point.deadline {
                Some(deadline) if deadline <= now => Err(Interrupted::DeadlinePassed),
                _ => Ok(locus),
            },
            _ => Err(Interrupted::Cancelled),
        }
    }

    /// Sets the parameters and the beginning of the segment, where that activation has the head; returns
    /// those before.
    pub(crate) fn replace_segment(&mut self, activation: u64, segment: Segment) -> Option<Segment> {
        let locus = self.locus_of(activation)?;
        let before = (locus.own, locus.began_at);
        (locus.own, locus.began_at) = segment;
        Some(before)
    }

    /// Ends the call that the activation is in.
    pub(crate) fn take_call(&mut self, activation: u64) -> Option<(u64, ObjectRef)> {
        let at = self.calls.iter().rposition(|(caller, _)| *caller == activation)?;
        Some(self.calls.remove(at))
    }

    /// Object that the head has gone to; `None`: the head is here.
    pub(crate) fn called_object(&self) -> Option<&ObjectRef> {
        match self.head {
            Head::Away => self.calls.last().map(|(_, object)| object),
            _ => None,
        }
    }
}

/// Parameters of a segment, and the processor time of its OS thread at its beginning.
type Segment = (SchedulingParameters, Option<std::time::Duration>);
