//! The head of a distributable thread at this endsystem: its state, and the OS thread that it is on.

use std::{sync::Arc, time::Duration};

use punctual_os::{Gate, clock};
use punctual_sched::dynamic::{SchedulingParameters, resource::ResourceId};

use super::{
    lane_limit::{LaneLevel, LaneLimit},
    os_thread::OsThread,
};

/// State of the head of a distributable thread.
///
/// ```text
///           arrive          admit              choose
///   Away ──────────► Idle ─────────► Ready ───────────────► Running
///     ▲              │  ▲            │  ▲                    │  │
///     └──── leave ───┘  │       park │  └───── preempt ──────┘  │
///                       │            ▼                          │
///                       │          Parked ──── choose ──► Running
///                       └──────────── suspend (any ready state) ┘
/// ```
///
/// `Ready`, `Parked` and `Running` are states of [`Mechanism::ReadyQueue`](super::Mechanism::ReadyQueue).
/// With the other mechanisms the kernel chooses, and a head that is ready is `Native`.
pub(crate) enum Head {
    /// The head is at another host, or nowhere: the thread has not begun, or has ended.
    Away,
    /// The head is here, and unknown to the scheduler: it sleeps, waits for a resource or a reply, or begins.
    Idle(Locus),
    /// Ready and not chosen; its OS thread has not stopped: it runs until its next scheduling point.
    Ready(Locus),
    /// Ready and not chosen; its OS thread waits at its gate. With the processor time that the segment had
    /// received by then.
    Parked(Locus, Duration),
    /// Ready and chosen.
    Running(Locus),
    /// Ready, and scheduled by the kernel; with its priority level, which only
    /// [`Mechanism::OsPriorities`](super::Mechanism::OsPriorities) has.
    Native(Locus, Option<i64>),
}

/// Locus of execution: the OS thread that a head is on, and the parameters by which it is scheduled there.
pub(crate) struct Locus {
    /// Number of the activation that has the head.
    pub(crate) activation: u64,
    pub(crate) os_thread: OsThread,
    /// Limit of its claims; that of the OS thread is higher while a thread of a higher lane waits for it.
    pub(crate) limit: LaneLimit,
    /// Parameters of the innermost segment.
    pub(crate) own: SchedulingParameters,
    /// Parameters that result from resources that the thread owns or waits for.
    pub(crate) inherited: Option<SchedulingParameters>,
    /// Processor time of the OS thread at the beginning of the segment, where its parameters depend on it.
    pub(crate) began_at: Option<Duration>,
    /// Resource that the thread waited for and has received, until it resumes.
    pub(crate) handed: Option<ResourceId>,
}

impl Head {
    pub(crate) fn locus(&self) -> Option<&Locus> {
        match self {
            Self::Away => None,
            Self::Idle(locus)
            | Self::Ready(locus)
            | Self::Parked(locus, _)
            | Self::Running(locus)
            | Self::Native(locus, _) => Some(locus),
        }
    }

    pub(crate) fn locus_mut(&mut self) -> Option<&mut Locus> {
        match self {
            Self::Away => None,
            Self::Idle(locus)
            | Self::Ready(locus)
            | Self::Parked(locus, _)
            | Self::Running(locus)
            | Self::Native(locus, _) => Some(locus),
        }
    }

    /// Returns the lane that limits the head at present.
    pub(crate) fn level(&self) -> LaneLevel {
        self.locus()
            .map_or(LaneLevel::HIGHEST, |locus| locus.os_thread.limit.level)
    }

    /// Returns the locus of a head that the scheduler knows.
    pub(crate) fn ready_locus(&mut self) -> Option<&mut Locus> {
        match self {
            Self::Away | Self::Idle(_) => None,
            _ => self.locus_mut(),
        }
    }

    /// Returns whether the scheduler knows the head.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self, Self::Away | Self::Idle(_))
    }

    /// Returns whether the head is ready, and others go first.
    pub(crate) fn is_passed(&self) -> bool {
        matches!(self, Self::Ready(_) | Self::Parked(..))
    }

    /// Processor time that the present segment has received. One system call where the segment counts it and
    /// is not parked.
    pub(crate) fn received(&self) -> Duration {
        match self {
            Self::Away => Duration::ZERO,
            Self::Parked(_, received) => *received,
            Self::Idle(locus) | Self::Ready(locus) | Self::Running(locus) | Self::Native(locus, _) => {
                locus.received()
            }
        }
    }

    /// Takes the head away from this host.
    pub(crate) fn take(&mut self) -> Option<Locus> {
        match std::mem::replace(self, Self::Away) {
            Self::Away => None,
            Self::Idle(locus)
            | Self::Ready(locus)
            | Self::Parked(locus, _)
            | Self::Running(locus)
            | Self::Native(locus, _) => Some(locus),
        }
    }

    /// Moves a head that is here to another state.
    pub(crate) fn set(&mut self, state: impl FnOnce(Locus) -> Self) {
        if let Some(locus) = self.take() {
            *self = state(locus);
        }
    }

    /// Parks a head that others pass; returns the gate where its OS thread waits.
    pub(crate) fn park(&mut self) -> Option<Arc<Gate>> {
        if matches!(self, Self::Ready(_)) {
            let received = self.received();
            self.set(|locus| Self::Parked(locus, received));
        }
        match self {
            Self::Parked(locus, _) => Some(Arc::clone(&locus.os_thread.gate)),
            _ => None,
        }
    }
}

impl Locus {
    pub(crate) fn new(
        activation: u64,
        os_thread: OsThread,
        parameters: SchedulingParameters,
        began_at: Option<Duration>,
    ) -> Self {
        Self {
            activation,
            limit: os_thread.limit,
            os_thread,
            own: parameters,
            inherited: None,
            began_at,
            handed: None,
        }
    }

    /// Parameters that the head is scheduled by, before translation.
    pub(crate) fn parameters(&self) -> &SchedulingParameters {
        self.inherited.as_ref().unwrap_or(&self.own)
    }

    fn received(&self) -> Duration {
        let Some(began_at) = self.began_at else {
            return Duration::ZERO;
        };
        clock::thread_cpu_time_of(self.os_thread.tid)
            .map_or(Duration::ZERO, |now| now.saturating_sub(began_at))
    }
}
