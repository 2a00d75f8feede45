//! The measured process: operations as consumers of an event channel, arrivals as its events, and what
//! becomes of each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use punctual_events::{EventChannel, Filter, Overflow, Subscription, rtec::rtec_event_comm::Event};
use punctual_harness::child::{Role, TaskEntry};
use punctual_os::clock;
use punctual_sched::dynamic::SheddingPolicy;
use punctual_scheduling::reconfigurable::{OperationId, ReconfigurableScheduler};
use punctual_types::SplitMix64;
use serde::{Deserialize, Serialize};

use super::{
    super::channel::{self, RELEASES},
    operations::{self, Operation},
};
use crate::{
    error::Error,
    os::{Job, Ready, Timed, fifo as thread, get_ready, joined, now_ns},
};

/// A flight.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Fly {
    pub(super) strategy: String,
    pub(super) cancels: bool,
    pub(super) load: f64,
    /// Factor by which stated execution times are multiplied.
    pub(super) pessimism: f64,
    /// Additional time that the decision takes whether another operation is cancelled.
    pub(super) decision: Duration,
    pub(super) seconds: u64,
}

/// Fates of all arrivals.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Flown {
    /// The start, by the monotonic clock.
    pub(super) origin_ns: u64,
    pub(super) arrivals: Vec<Arrival>,
}

/// One arrival.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Arrival {
    pub(super) operation: u32,
    /// Time since the start.
    pub(super) release_ns: u64,
    pub(super) fate: Fate,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Fate {
    /// Never dispatched before the end.
    Waiting,
    /// Dispatched, and completed by its deadline.
    Made,
    /// Dispatched, and completed later.
    Missed,
    /// Cancelled instead of being dispatched.
    Cancelled,
}

const FATES: [Fate; 4] = [Fate::Waiting, Fate::Made, Fate::Missed, Fate::Cancelled];

/// Enough for all arrivals of an operation.
const CAPACITY: usize = 1 << 10;
/// Time between the command and the start.
const LEAD: Duration = Duration::from_millis(200);
/// Seconds after the samples in which operations still arrive.
const TAIL: u64 = 1;

/// The child process.
pub(crate) struct Aircraft;

impl Role for Aircraft {
    const NAME: &'static str = "__flight-program";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Timed<Fly>>()];

    fn start((): ()) -> Result<(Self, Ready), Error> {
        Ok((Self, get_ready()?))
    }
}

impl Job for Fly {
    const NAME: &'static str = "fly";
    type Reply = Flown;

    fn run(self) -> Result<Flown, Error> {
        let operations = operations::all();
        let mut scheduler = ReconfigurableScheduler::new(self.strategy.parse()?);
        // The overload is the subject.
        scheduler = scheduler.admitting_everything();
        let described = operations
            .iter()
            .map(|own| own.described(self.load, self.pessimism));
        let ids = described.map(|own| scheduler.add(own));
        let ids: Vec<OperationId> = ids.collect::<Result<_, _>>()?;
        let shedding = match self.cancels {
            true => SheddingPolicy::before_dispatch().sparing_critical(),
            false => SheddingPolicy::never(),
        };
        scheduler.compute();
        if let Some(anomaly) = scheduler.objection() {
            return Err(anomaly.to_string().into());
        }
        let origin_ns = now_ns() + LEAD.as_nanos() as u64;
        let releases: Arc<[Release]> = self.releases(&operations, &ids).into();
        let log = Log {
            origin_ns,
            fates: releases.iter().map(|_| AtomicU8::new(0)).collect(),
            releases: Arc::clone(&releases),
            decision: self.decision,
        };
        let channel = channel::channel().name("flight").build()?;
        let log = Arc::new(log);
        let components = ids.iter().zip(&operations);
        let components: Vec<Subscription> = components
            .map(|(id, own)| component(&channel, *id, own, &log))
            .collect::<Result<_, _>>()?;
        channel.follow(scheduler, channel::lanes(shedding))?;
        let releaser = thread("releases", RELEASES).spawn({
            let releases = Arc::clone(&releases);
            let end_ns = origin_ns + (self.seconds + TAIL) * 1_000_000_000;
            move || {
                for (place, release) in (0u32..).zip(&*releases) {
                    sleep_until(origin_ns + release.at_ns);
                    let event_type = channel::releases(release.operation);
                    channel.push_octets(event_type, &place.to_le_bytes())?;
                }
                sleep_until(end_ns);
                // Events that still wait are no longer delivered.
                channel.destroy();
                Ok::<_, Error>(())
            }
        })?;
        joined(releaser)??;
        drop(components);
        let arrivals = releases.iter().zip(&log.fates).map(|(release, fate)| Arrival {
            operation: release.operation.0,
            release_ns: release.at_ns,
            fate: FATES[usize::from(fate.load(Relaxed))],
        });
        Ok(Flown {
            origin_ns,
            arrivals: arrivals.collect(),
        })
    }
}

/// A release of an operation.
#[derive(Clone, Copy)]
struct Release {
    at_ns: u64,
    deadline_ns: u64,
    operation: OperationId,
    /// Its execution time.
    work: Duration,
}

impl Fly {
    /// Returns all releases in order; their execution times are the same in all flights.
    fn releases(&self, operations: &[Operation], ids: &[OperationId]) -> Vec<Release> {
        let mut releases = Vec::new();
        for (own, id) in operations.iter().zip(ids) {
            let mut random = SplitMix64::new(u64::from(id.0));
            let end = (self.seconds + TAIL) * 1_000_000_000;
            let decision = match self.cancels && !own.is_critical {
                true => self.decision,
                false => Duration::ZERO,
            };
            for at_ns in (own.offset_ns()..end).step_by(own.period_ns() as usize) {
                let share = (random.next() % 1_001) as f64 * 0.001;
                releases.push(Release {
                    at_ns,
                    deadline_ns: at_ns + own.period_ns(),
                    operation: *id,
                    work: own.execution(self.load, share) + decision,
                });
            }
        }
        releases.sort_by_key(|release| (release.at_ns, release.operation.0));
        releases
    }
}

/// Fates of all releases.
struct Log {
    origin_ns: u64,
    releases: Arc<[Release]>,
    fates: Vec<AtomicU8>,
    decision: Duration,
}

impl Log {
    /// Executes the operation that an event releases.
    fn execute(&self, event: &Event) {
        let place = place(event);
        let release = &self.releases[place];
        work(release.work);
        let in_time = now_ns() <= self.origin_ns + release.deadline_ns;
        self.note(place, if in_time { Fate::Made } else { Fate::Missed });
    }

    fn cancel(&self, event: &Event) {
        work(self.decision);
        self.note(place(event), Fate::Cancelled);
    }

    fn note(&self, place: usize, fate: Fate) {
        self.fates[place].store(fate as u8, Relaxed);
    }
}

/// The release that an event stands for.
fn place(event: &Event) -> usize {
    let octets = event.data.payload.first_chunk().copied();
    u32::from_le_bytes(octets.unwrap_or_default()) as usize
}

/// Uses so much processor time.
fn work(time: Duration) {
    let end = clock::thread_cpu_time() + time;
    while clock::thread_cpu_time() < end {
        std::hint::spin_loop();
    }
}

/// Connects an operation to the events that release it. The schedule states its deadline.
fn component(
    channel: &EventChannel,
    id: OperationId,
    operation: &Operation,
    log: &Arc<Log>,
) -> Result<Subscription, Error> {
    let (executes, cancels) = (Arc::clone(log), Arc::clone(log));
    let component = channel
        .subscribe_to(Filter::event(channel::releases(id)))
        .name(operation.name())
        .queue(CAPACITY, Overflow::DropNewest)
        .cancelled(move |event| cancels.cancel(event))
        .each(move |event| executes.execute(&event))?;
    Ok(component)
}

fn sleep_until(at_ns: u64) {
    let left = at_ns.saturating_sub(now_ns());
    clock::sleep_until(Instant::now() + Duration::from_nanos(left));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_costly_decision_prolongs_other_operations_with_cancellation() {
        let cost = Duration::from_micros(150);
        let releases = |cancels: bool, decision: Duration| {
            let fly = Fly {
                strategy: "MUF".to_owned(),
                cancels,
                load: 1.0,
                pessimism: 1.0,
                decision,
                seconds: 1,
            };
            let operations = operations::all();
            let ids: Vec<_> = (0..operations.len() as u32).map(OperationId).collect();
            fly.releases(&operations, &ids)
        };
        for (cancels, prolonged) in [(true, cost), (false, Duration::ZERO)] {
            let pairs = releases(cancels, cost)
                .into_iter()
                .zip(releases(cancels, Duration::ZERO));
            for (one, other) in pairs {
                let is_critical = operations::all()[one.operation.0 as usize].is_critical;
                let expected = if is_critical { Duration::ZERO } else { prolonged };
                assert_eq!(one.work - other.work, expected);
            }
        }
    }
}
