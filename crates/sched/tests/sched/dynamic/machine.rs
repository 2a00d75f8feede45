//! A minimal event-driven model of processors, independent of the simulator.

use std::time::Duration;

use punctual_sched::dynamic::*;

/// Work that becomes ready at a point in time.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub release: Time,
    pub work: Duration,
    pub deadline: Time,
    pub parameters: SchedulingParameters,
}

/// Result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// End of each job.
    pub ends: Vec<Time>,
    /// Chosen threads and the time of each change.
    pub choices: Vec<(Time, Vec<u32>)>,
}

impl Outcome {
    /// Returns the late jobs.
    pub fn misses(&self, jobs: &[Job]) -> Vec<usize> {
        let late = |job: &usize| self.ends[*job] > jobs[*job].deadline;
        (0..jobs.len()).filter(late).collect()
    }

    /// Returns the total utility of the jobs, given that of each.
    pub fn utility(&self, jobs: &[Job], utility: impl Fn(usize) -> Utility) -> u64 {
        let worth = |job| u64::from(utility(job).worth(self.ends[job].since(jobs[job].deadline)));
        (0..jobs.len()).map(worth).sum()
    }
}

/// Returns a duration in milliseconds.
pub fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Returns the time in milliseconds after the clock's beginning.
pub fn at(milliseconds: u64) -> Time {
    Time(0) + ms(milliseconds)
}

/// Returns all instances of periodic work up to `end`, in milliseconds; deadlines are the ends of the
/// periods.
pub fn periodic(
    end: u64,
    period: u64,
    work: u64,
    parameters: impl Fn(Time) -> SchedulingParameters,
) -> Vec<Job> {
    let instances = (0..end).step_by(period as usize);
    instances
        .map(|release| Job {
            release: at(release),
            work: ms(work),
            deadline: at(release + period),
            parameters: parameters(at(release + period)),
        })
        .collect()
}

/// Runs all jobs to completion.
pub fn run(scheduler: &mut dyn Scheduler, processors: usize, jobs: &[Job]) -> Outcome {
    let mut outcome = Outcome {
        ends: vec![Time::NEVER; jobs.len()],
        choices: Vec::new(),
    };
    let mut received = vec![Duration::ZERO; jobs.len()];
    let mut released = vec![false; jobs.len()];
    let mut now = Time(0);
    let mut chosen: Vec<Slot> = Vec::new();
    loop {
        for (number, job) in jobs.iter().enumerate() {
            let slot = Slot(number as u32);
            if !released[number] && job.release <= now {
                released[number] = true;
                scheduler.ready(slot, &job.parameters, Duration::ZERO, now);
            }
            if released[number] && outcome.ends[number] == Time::NEVER && received[number] == job.work {
                outcome.ends[number] = now;
                scheduler.remove(slot, now);
            }
        }
        chosen.clear();
        scheduler.choose(processors, now, &|slot| received[slot.0 as usize], &mut chosen);
        let names: Vec<u32> = chosen.iter().map(|slot| slot.0).collect();
        if outcome.choices.last().is_none_or(|(_, last)| *last != names) {
            outcome.choices.push((now, names));
        }
        let releases = (0..jobs.len()).filter(|job| !released[*job]);
        let ends = chosen.iter().map(|slot| {
            let job = slot.0 as usize;
            now + (jobs[job].work - received[job])
        });
        let reconsider = scheduler.reconsider_at(now).filter(|_| !chosen.is_empty());
        let next = releases
            .map(|job| jobs[job].release)
            .chain(ends)
            .chain(reconsider)
            .min();
        let Some(next) = next else {
            return outcome;
        };
        assert!(next > now, "the scheduler holds the time at {now:?}");
        for slot in &chosen {
            received[slot.0 as usize] += next.since(now);
        }
        now = next;
    }
}
