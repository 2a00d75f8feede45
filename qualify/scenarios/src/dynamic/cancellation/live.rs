//! The driver's side of live runs.

use std::time::Duration;

use punctual_harness::{Hole, Outcome, Span, withheld_cpu::lost_to_holes};

use super::{
    CASES, Case, KERNEL, Ran,
    counts::{Arrival, Fate, Sample},
    operations::{LEAD, LEAD_PER_SECOND, Operations, Response, Run},
    simulated::{is_critical, worth},
};
use crate::{
    error::Error,
    experiment::Trial,
    os::{Interrupts, Subject},
    simulated::FlightProgram,
    testbed::Testbed,
};

/// Time before the first and after the last second of a run, in which the cost of arrivals is measured, too.
pub(super) const START: Duration = Duration::from_millis(1_700 + 1_000 * super::TAIL_SECONDS);

/// The measured process, and its responses.
struct Live {
    subject: Subject<Operations>,
    seconds: u64,
    responses: Vec<(Case, Response)>,
}

impl Live {
    fn start(testbed: &Testbed, seconds: u64, cases: usize) -> Result<Self, Error> {
        let all = (Duration::from_secs(seconds) + START) * cases as u32;
        let subject = Subject::start(testbed, all * 3, Interrupts::Ignored)?;
        Ok(Self {
            subject,
            seconds,
            responses: Vec::new(),
        })
    }

    /// Runs `used` in the place of `case`.
    fn run(&mut self, case: Case, used: Case) -> Result<(), Error> {
        let run = Run {
            case: used,
            seconds: self.seconds,
        };
        // Queues drain after the last arrival.
        let seconds = self.seconds + super::TAIL_SECONDS;
        let overload = 2.0 * FlightProgram::load_of_the_paper();
        let lead = LEAD + LEAD_PER_SECOND * self.seconds as u32;
        let cost = (LEAD + LEAD_PER_SECOND) * 2 + Duration::from_secs(1).mul_f64(1.0 + overload);
        let work = Duration::from_secs(seconds).mul_f64(overload);
        let expected = cost + lead + work;
        let response = self.subject.perform(&run, expected)?;
        self.responses.push((case, response));
        Ok(())
    }

    fn finish(self, outcome: &mut Outcome) -> Result<Vec<Ran>, Error> {
        let recorded = self.subject.finish(outcome)?.holes;
        let ran = self.responses.into_iter();
        Ok(ran
            .map(|(case, response)| evaluate(case, self.seconds, &response, &recorded))
            .collect())
    }
}

/// Runs all cases, in one process except for that of the kernel.
pub(super) fn all(trial: &mut Trial<'_>, seconds: u64) -> Result<Vec<Ran>, Error> {
    let mut live = Live::start(trial.testbed, seconds, CASES.len())?;
    for case in CASES {
        let expected = Duration::from_secs(seconds) + START;
        trial.stage(format!("{}, live", case.name()), expected);
        live.run(case, case.under(trial.testbed))?;
    }
    let mut ran = live.finish(&mut trial.outcome)?;
    if trial.testbed.control.is_none() {
        ran.extend(by_kernel(trial, seconds)?);
    }
    Ok(ran)
}

/// Runs the operations under the kernel's SCHED_DEADLINE, in a separate process; skipped if it is not
/// available.
fn by_kernel(trial: &mut Trial<'_>, seconds: u64) -> Result<Option<Ran>, Error> {
    let name = format!("{}, live", KERNEL.name());
    let expected = Duration::from_secs(seconds) + START;
    trial.stage(name.as_str(), expected);
    let (testbed, outcome) = (&mut *trial.testbed, &mut trial.outcome);
    let mut live = Live::start(testbed, seconds, 1)?;
    if let Err(reason) = testbed.isolate(live.subject.process())? {
        outcome.skip(
            None,
            name,
            format!("SCHED_DEADLINE requires an exclusive cpuset for a pinned process: {reason}"),
        );
        return Ok(None);
    }
    let ran = live.run(KERNEL, KERNEL).and_then(|()| {
        let refused = live.responses[0].1.refused.clone();
        // The disturbances in the outcome are those of the other runs.
        let ran = live.finish(&mut testbed.outcome(outcome.benchmark()))?;
        Ok((refused, ran))
    });
    // The process has ended even if it failed.
    testbed.share()?;
    let (refused, mut ran) = ran?;
    if let Some(reason) = refused {
        outcome.skip(None, name, reason);
        return Ok(None);
    }
    Ok(ran.pop())
}

fn evaluate(case: Case, seconds: u64, response: &Response, recorded: &[Hole]) -> Ran {
    let model = case.model();
    let samples = Sample::all(&response.arrivals, seconds, |task| is_critical(&model, task));
    let missed: Vec<Span> = response
        .arrivals
        .iter()
        .filter(|arrival| arrival.fate != Fate::Made && is_critical(&model, arrival.task))
        .map(|arrival| blamed(arrival, period_ns(&model, arrival.task), response.origin_ns))
        .collect();
    // Only holes in the kernel's accounting excuse a miss. The gaps that the work itself records may be the
    // dispatcher's: tens of arrivals at once take it more than a millisecond.
    let excused = lost_to_holes(&missed, recorded);
    let unexcused = excused.iter().filter(|excused| !**excused);
    let (utility, offered) = worth(&model, &response.arrivals, seconds);
    Ran {
        case,
        live: true,
        samples,
        critical_unexcused: unexcused.count() as u32,
        utility,
        offered,
        holes: response.holes.len(),
        not_admitted: response.not_admitted,
        cost_us: response.cost_ns as f64 / 1e3,
        holes_ms: response.holes.iter().map(|hole| hole.1).sum::<u64>() as f64 / 1e6,
    }
}

/// Returns the span in which a hole explains a missed deadline: from the arrival, or from the previous
/// arrival if the operation was dropped.
fn blamed(arrival: &Arrival, period_ns: u64, origin_ns: u64) -> Span {
    let dropped = arrival.fate == Fate::Dropped;
    let begin = arrival
        .release
        .saturating_sub(if dropped { period_ns } else { 0 });
    Span {
        start_ns: origin_ns + begin,
        end_ns: origin_ns + arrival.release + period_ns,
    }
}

fn period_ns(model: &punctual_sched::simulator::Model, task: u32) -> u64 {
    let parameters = model.tasks.get(task as usize).and_then(|task| task.parameters);
    parameters.map_or(0, |parameters| parameters.period.as_nanos() as u64)
}
