//! The cost of a policy for work that can no longer meet its deadline: what the examination of work that
//! meets it adds to a segment, and to a scheduling point in it.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row, blocks::median_ratio, child::Task, statistics::median};
use punctual_rtsched::{Mechanism, RtScheduling, SchedulingError};
use punctual_sched::{
    dynamic::{SchedulingParameters, SheddingPolicy, Time},
    simulator::Parameters,
};
use serde::{Deserialize, Serialize};

use super::{super::disciplines::Named, Dispatcher, SOURCE};
use crate::{
    error::Error,
    os::{Measured, fifo, now_ns, run, timed},
};

/// Where work is examined.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Examined {
    Nowhere,
    BeforeDispatch,
    AtCheckpoints,
}

/// Timed action.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Work {
    /// A segment begins and ends.
    Segment,
    /// A scheduling point of a segment.
    Checkpoint,
}

/// A request for one batch.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Shed {
    pub(super) work: Work,
    pub(super) examined: Examined,
    /// Repetitions.
    pub(super) batch: usize,
    /// A pause in each repetition with a policy.
    pub(super) stall: Duration,
}

/// The kinds of work and policies, the ones without a policy first.
pub(super) const KINDS: [(Work, Examined); 6] = [
    (Work::Segment, Examined::Nowhere),
    (Work::Segment, Examined::BeforeDispatch),
    (Work::Segment, Examined::AtCheckpoints),
    (Work::Checkpoint, Examined::Nowhere),
    (Work::Checkpoint, Examined::BeforeDispatch),
    (Work::Checkpoint, Examined::AtCheckpoints),
];

/// The largest acceptable ratio to the time without a policy.
const LIMIT: f64 = 1.5;
const PRIORITY: i16 = 60;

impl Examined {
    fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "never",
            Self::BeforeDispatch => "before dispatch",
            Self::AtCheckpoints => "at checkpoints",
        }
    }

    fn policy(self) -> SheddingPolicy {
        match self {
            Self::Nowhere => SheddingPolicy::never(),
            Self::BeforeDispatch => SheddingPolicy::before_dispatch(),
            Self::AtCheckpoints => SheddingPolicy::at_checkpoints(),
        }
    }
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Segment => "a segment",
            Self::Checkpoint => "a scheduling point",
        }
    }
}

/// Parameters of work that meets its deadline by far.
fn parameters() -> SchedulingParameters {
    let parameters = Parameters {
        deadline: Some(Duration::from_secs(3_600)),
        execution_time: Duration::from_millis(1),
        ..Parameters::default()
    };
    parameters.at(Named::Edf.kind(), Time(now_ns()))
}

impl Shed {
    /// Returns the time of each repetition in nanoseconds.
    fn measure(self, scheduling: &RtScheduling) -> Result<f64, Error> {
        let manager = scheduling.manager();
        manager.install(Named::Edf.scheduler(), Mechanism::ReadyQueue)?;
        manager.set_shedding(self.examined.policy());
        let before = manager.shed();
        let (this, own) = (self, scheduling.clone());
        let ns = run(fifo("examined", PRIORITY), move || this.batch(&own))??;
        manager.set_shedding(SheddingPolicy::never());
        match manager.shed() - before {
            0 => Ok(ns),
            shed => Err(format!("{shed} segments were cancelled that had an hour").into()),
        }
    }

    fn batch(self, scheduling: &RtScheduling) -> Result<f64, Error> {
        let current = scheduling.current();
        let segment = || {
            current.segment("examined", parameters(), |_| {
                self.pause();
                Ok::<_, SchedulingError>(())
            })
        };
        let point = || -> Result<(), SchedulingError> {
            self.pause();
            Ok(current.scheduling_point()?)
        };
        let once = || match self.work {
            Work::Segment => segment(),
            Work::Checkpoint => point(),
        };
        // Nested, so that no thread begins or ends.
        current.segment("around", parameters(), |_| {
            // Caches and buffers.
            once()?;
            let began = now_ns();
            (0..self.batch).try_for_each(|_| once())?;
            Ok((now_ns() - began) as f64 / self.batch as f64)
        })
    }

    fn pause(self) {
        if self.examined != Examined::Nowhere && !self.stall.is_zero() {
            let until = now_ns() + self.stall.as_nanos() as u64;
            while now_ns() < until {}
        }
    }
}

impl Task<Dispatcher> for Shed {
    const NAME: &'static str = "shed";
    type Reply = Measured<f64>;

    fn perform(self, dispatcher: &mut Dispatcher) -> Result<Self::Reply, Error> {
        timed(|| self.measure(&dispatcher.scheduling))
    }
}

/// Adds the rows and claims; `times` in the order of [`KINDS`], in nanoseconds.
pub(super) fn evaluate(times: &[Vec<f64>], outcome: &mut Outcome) {
    let mut largest = [f64::NEG_INFINITY; 2];
    for ((work, examined), own) in KINDS.into_iter().zip(times) {
        let without = KINDS
            .into_iter()
            .position(|kind| kind == (work, Examined::Nowhere));
        let without = without.map_or(&own[..], |without| &times[without]);
        let ratio = median_ratio(own, without);
        let row = Row::new()
            .with("kind", "shedding")
            .with("work", work.name())
            .with("examined", examined.name())
            .with("p50_ns", median(own))
            .with("ratio", ratio.map(|ratio| ratio.median))
            .with("ratio_low", ratio.map(|ratio| ratio.low))
            .with("ratio_high", ratio.map(|ratio| ratio.high));
        outcome.row(row);
        if examined != Examined::Nowhere {
            let largest = &mut largest[usize::from(work == Work::Checkpoint)];
            let ratio = ratio.map_or(f64::NAN, |ratio| ratio.median);
            // Unlike `max`, this propagates NaN.
            if ratio > *largest || ratio.is_nan() {
                *largest = ratio;
            }
        }
    }
    for (id, work, ratio) in [
        ("shedding.segment", Work::Segment, largest[0]),
        ("shedding.checkpoint", Work::Checkpoint, largest[1]),
    ] {
        let text = format!(
            "time of {} whose work is examined and meets its deadline over that without a policy, larger of \
             both policies, median of alternating blocks",
            work.name()
        );
        outcome.claim(Claim::at_most(id, text, SOURCE, ratio, LIMIT));
    }
}
