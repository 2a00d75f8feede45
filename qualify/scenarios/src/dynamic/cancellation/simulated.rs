//! Runs in virtual time.

use std::collections::BTreeMap;

use punctual_sched::{
    dynamic::Time,
    simulator::{Event, EventKind, Model, Observer, Simulation, ThreadId},
};

use super::{
    Case, Ran,
    counts::{Arrival, Fate, Sample},
};
use crate::error::Error;

/// The seed, so that all schedulers have the same execution times.
const SEED: u64 = 1;

pub(super) fn run(case: Case, seconds: u64) -> Result<Ran, Error> {
    let model = case.model();
    let mut simulation = Simulation::new(&model, SEED, |_| case.scheduler.scheduler())?;
    let mut watch = Watch::default();
    let until = Time((seconds + super::TAIL_SECONDS) * Sample::LENGTH_NS);
    simulation.run_until(until, &mut watch)?;
    let arrivals = watch.arrivals();
    let samples = Sample::all(&arrivals, seconds, |task| is_critical(&model, task));
    let total = Sample::total(&samples);
    let (utility, offered) = worth(&model, &arrivals, seconds);
    Ok(Ran {
        case,
        live: false,
        samples,
        critical_unexcused: total.critical.all_missed() + total.critical.cancelled,
        utility,
        offered,
        holes: 0,
        holes_ms: 0.0,
        cost_us: 0.0,
        not_admitted: 0,
    })
}

/// An observer of the results of each simulated thread.
#[derive(Default)]
struct Watch {
    threads: BTreeMap<ThreadId, Seen>,
}

#[derive(Clone, Copy)]
struct Seen {
    release: u64,
    started: bool,
    fate: Option<Fate>,
}

impl Observer for Watch {
    fn event(&mut self, event: Event) {
        let Event {
            time, thread, kind, ..
        } = event;
        let seen = self.threads.entry(thread).or_insert(Seen {
            release: time.0,
            started: false,
            fate: None,
        });
        match kind {
            EventKind::Started { .. } => seen.started = true,
            EventKind::Skipped => seen.fate = Some(Fate::Dropped),
            EventKind::DeadlineMet => seen.fate = Some(Fate::Made),
            EventKind::DeadlineMissed => {
                let missed = if seen.started { Fate::Missed } else { Fate::Dropped };
                seen.fate = seen.fate.or(Some(missed));
            }
            EventKind::OperationCancelled if !seen.started => seen.fate = Some(Fate::Cancelled),
            EventKind::OperationCancelled => seen.fate = Some(Fate::Missed),
            _ => {}
        }
    }
}

impl Watch {
    fn arrivals(&self) -> Vec<Arrival> {
        let arrivals = self.threads.iter().map(|(thread, seen)| Arrival {
            task: thread.task,
            release: seen.release,
            // Not completed long after its deadline.
            fate: seen
                .fate
                .unwrap_or(if seen.started { Fate::Missed } else { Fate::Dropped }),
        });
        arrivals.collect()
    }
}

pub(super) fn is_critical(model: &Model, task: u32) -> bool {
    let task = model.tasks.get(task as usize);
    task.and_then(|task| task.parameters)
        .is_some_and(|parameters| parameters.is_critical())
}

/// Returns the utility of the operations in time, and that of all.
pub(super) fn worth(model: &Model, arrivals: &[Arrival], seconds: u64) -> (u64, u64) {
    let value = |task: u32| {
        let parameters = model.tasks.get(task as usize).and_then(|task| task.parameters);
        parameters.map_or(0, |parameters| u64::from(parameters.utility.value))
    };
    let counted = arrivals
        .iter()
        .filter(|arrival| arrival.release < seconds * Sample::LENGTH_NS);
    counted.fold((0, 0), |(made, offered), arrival| {
        let value = value(arrival.task);
        (
            made + if arrival.fate == Fate::Made { value } else { 0 },
            offered + value,
        )
    })
}
