use std::{
    sync::{Arc, atomic::AtomicI16},
    time::Duration,
};

use punctual_os::{Gate, Scheduling, TaskId, clock};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_stub::ObjectRef;
use punctual_transport::Peer;
use punctual_types::{DistributableThreadId, NativePriority};

use super::decisions::ThreadName;
use crate::storage::ThreadStorage;

/// What an endsystem knows of one distributable thread. Under the dispatcher's lock.
pub(crate) struct Entry {
    pub(crate) id: DistributableThreadId,
    pub(crate) name: ThreadName,
    /// How many visits it has here; at zero the entry is free.
    pub(crate) visits: u32,
    /// `DT_State` CANCELLED: every visit sees it at its next scheduling point.
    pub(crate) cancelled: bool,
    /// Where its head is.
    pub(crate) place: Place,
    /// Whether it began here.
    pub(crate) is_native: bool,
    /// Whether it came with a request that nobody waits for: it ends with that.
    pub(crate) is_spawned: bool,
    pub(crate) storage: ThreadStorage,
    /// The calls that its visits here are in, the last one last.
    pub(crate) calls: Vec<(u64, ObjectRef)>,
    /// Who has brought it here by a request that is under way.
    pub(crate) peers: Vec<Option<Peer>>,
}

/// Where the head of a distributable thread is, as this endsystem knows it.
pub(crate) enum Place {
    /// At another host, or at nobody's: a visit here calls out, or none is there any more.
    Elsewhere,
    /// Here, and not ready: it sleeps, waits for a lock, or is being begun.
    Idle(Head),
    /// Here, and known to the scheduler.
    Ready(Head),
}

/// A head and the OS thread it is on.
pub(crate) struct Head {
    /// Which visit has it.
    pub(crate) visit: u64,
    pub(crate) tid: TaskId,
    /// What that OS thread waits at.
    pub(crate) gate: Arc<Gate>,
    /// What the application or the caller gave.
    pub(crate) own: SchedulingParameters,
    /// What a resource that it has makes of it.
    pub(crate) inherited: Option<SchedulingParameters>,
    /// The OS thread's processor time at the beginning of the present segment; `None`: nobody asks.
    pub(crate) began_at: Option<Duration>,
    /// What the segment had received when the thread began to wait for its turn.
    pub(crate) received_parked: Duration,
    /// Whether it has been let run.
    pub(crate) runs: bool,
    /// Whether its OS thread waits at the gate for its turn.
    pub(crate) parked: bool,
    /// What the dispatcher has made of the OS thread natively, where that differs from `before`.
    pub(crate) native: Native,
    /// The last SCHED_FIFO priority that was decided for the OS thread.
    pub(crate) wanted: Arc<AtomicI16>,
    /// Its level, where the mechanism is OsPriorities.
    pub(crate) level: Option<i64>,
    /// What the OS thread ran at before the dispatcher changed that; looked at then.
    pub(crate) before: Scheduling,
}

/// An OS thread, as the dispatcher reaches it.
#[derive(Clone)]
pub(crate) struct Carrier {
    pub(crate) tid: TaskId,
    pub(crate) gate: Arc<Gate>,
    pub(crate) wanted: Arc<AtomicI16>,
}

impl Carrier {
    pub(crate) fn of_this_thread() -> Self {
        Self {
            tid: TaskId::current_thread(),
            gate: Arc::new(Gate::new()),
            wanted: Arc::default(),
        }
    }
}

/// What the dispatcher has made of an OS thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Native {
    /// Nothing: it runs as its owner configured it.
    Own,
    /// SCHED_FIFO at this priority.
    At(NativePriority),
    /// SCHED_DEADLINE.
    Deadline,
}

/// A free one.
impl Default for Entry {
    fn default() -> Self {
        Self {
            id: DistributableThreadId(0),
            name: ThreadName::new(""),
            visits: 0,
            cancelled: false,
            place: Place::Elsewhere,
            is_native: true,
            is_spawned: false,
            storage: ThreadStorage::new(),
            calls: Vec::new(),
            peers: Vec::new(),
        }
    }
}

impl Entry {
    pub(crate) fn head(&self) -> Option<&Head> {
        match &self.place {
            Place::Elsewhere => None,
            Place::Idle(head) | Place::Ready(head) => Some(head),
        }
    }

    pub(crate) fn head_mut(&mut self) -> Option<&mut Head> {
        match &mut self.place {
            Place::Elsewhere => None,
            Place::Idle(head) | Place::Ready(head) => Some(head),
        }
    }

    /// The head, where this visit has it.
    pub(crate) fn head_of(&mut self, visit: u64) -> Option<&mut Head> {
        self.head_mut().filter(|head| head.visit == visit)
    }

    /// The object that the head has gone to; `None`: it is here.
    pub(crate) fn called_object(&self) -> Option<&ObjectRef> {
        match &self.place {
            Place::Elsewhere => self.calls.last().map(|(_, object)| object),
            Place::Idle(_) | Place::Ready(_) => None,
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.place, Place::Ready(_))
    }
}

impl Head {
    /// One that is ready nowhere yet.
    pub(crate) fn new(
        visit: u64,
        carrier: &Carrier,
        parameters: SchedulingParameters,
        began_at: Option<Duration>,
    ) -> Self {
        Self {
            visit,
            tid: carrier.tid,
            gate: Arc::clone(&carrier.gate),
            wanted: Arc::clone(&carrier.wanted),
            own: parameters,
            inherited: None,
            began_at,
            received_parked: Duration::ZERO,
            runs: false,
            parked: false,
            native: Native::Own,
            level: None,
            before: Scheduling::OTHER,
        }
    }

    /// What it is scheduled by, before translation.
    pub(crate) fn parameters(&self) -> &SchedulingParameters {
        self.inherited.as_ref().unwrap_or(&self.own)
    }

    /// The processor time that the present segment has had. A system call for a thread that runs.
    pub(crate) fn received(&self) -> Duration {
        let Some(began_at) = self.began_at else {
            return Duration::ZERO;
        };
        if self.parked {
            return self.received_parked;
        }
        clock::thread_cpu_time_of(self.tid).map_or(Duration::ZERO, |now| now.saturating_sub(began_at))
    }
}

/// The clock of this host.
pub(crate) fn now() -> Time {
    Time(u64::try_from(clock::monotonic().as_nanos()).unwrap_or(u64::MAX))
}
