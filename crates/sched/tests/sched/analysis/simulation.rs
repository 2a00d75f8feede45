//! A minimal simulation of tasks, tick by tick, independent of the analysis.

use punctual_sched::analysis::{Step, Task};

/// Actual values of quantities of which the analysis knows bounds.
pub struct Actual<'a> {
    /// First arrival of each task.
    pub phases: &'a [u64],
    /// Draws a number from 0 to the given one.
    pub choose: &'a mut dyn FnMut(u64) -> u64,
}

impl Actual<'_> {
    /// Simultaneous arrivals and maximum times.
    pub fn worst<T>(run: impl FnOnce(Actual<'_>) -> T, tasks: usize) -> T {
        run(Actual {
            phases: &vec![0; tasks],
            choose: &mut |most| most,
        })
    }
}

/// Last release of each step of each task: no instance overtakes its predecessor.
struct Releases(Vec<Vec<u64>>);

impl Releases {
    fn in_order(&mut self, task: usize, step: usize, wanted: u64) -> u64 {
        let last = &mut self.0[task][step];
        *last = wanted.max(*last);
        *last
    }
}

struct Job {
    task: usize,
    arrival: u64,
    step: usize,
    ready: u64,
    remaining: u64,
    /// Whether its present step has had the processor, and therefore runs at its highest priority.
    started: bool,
    /// Lanes of which it occupies a thread.
    threads: Vec<usize>,
}

/// Returns the longest response of each task in this many ticks, excluding unfinished instances.
pub fn worst_responses(tasks: &[Task], ticks: u64, mut actual: Actual<'_>) -> Vec<u64> {
    let processors = processors(tasks);
    let mut worst = vec![0; tasks.len()];
    let mut jobs: Vec<Job> = Vec::new();
    let mut releases = Releases(tasks.iter().map(|task| vec![0; task.steps.len()]).collect());
    for now in 0..ticks {
        for (number, task) in tasks.iter().enumerate() {
            if now >= actual.phases[number] && (now - actual.phases[number]).is_multiple_of(task.period) {
                let jitter = (actual.choose)(task.jitter);
                let (delay, remaining) = times(&task.steps[0], &mut actual);
                let late = jitter + delay;
                jobs.push(Job {
                    task: number,
                    arrival: now,
                    step: 0,
                    ready: releases.in_order(number, 0, now + late),
                    remaining,
                    started: false,
                    threads: Vec::new(),
                });
            }
        }
        end_jobs_without_work(
            &mut jobs,
            tasks,
            (now, now),
            &mut worst,
            &mut releases,
            &mut actual,
        );
        for processor in 0..processors {
            assign_threads(&mut jobs, tasks, now);
            let Some(place) = first(&jobs, tasks, processor, now) else {
                continue;
            };
            jobs[place].remaining -= 1;
            jobs[place].started = true;
            if jobs[place].remaining == 0 {
                end(
                    &mut jobs,
                    place,
                    tasks,
                    now + 1,
                    &mut worst,
                    &mut releases,
                    &mut actual,
                );
            }
        }
        // What ends with a tick precedes what is released at its end.
        end_jobs_without_work(
            &mut jobs,
            tasks,
            (now, now + 1),
            &mut worst,
            &mut releases,
            &mut actual,
        );
    }
    worst
}

/// Ends jobs without work that have the processor, and further ones that then get it: of those ready at the
/// first time, at the second one.
fn end_jobs_without_work(
    jobs: &mut Vec<Job>,
    tasks: &[Task],
    (ready, now): (u64, u64),
    worst: &mut [u64],
    releases: &mut Releases,
    actual: &mut Actual<'_>,
) {
    let idle = |jobs: &mut Vec<Job>| {
        assign_threads(jobs, tasks, ready);
        let heads = (0..processors(tasks)).filter_map(|processor| first(jobs, tasks, processor, ready));
        heads.into_iter().find(|place| jobs[*place].remaining == 0)
    };
    while let Some(place) = idle(jobs) {
        end(jobs, place, tasks, now, worst, releases, actual);
    }
}

fn processors(tasks: &[Task]) -> usize {
    let steps = tasks.iter().flat_map(|task| &task.steps);
    steps.map(|step| step.processor + 1).max().unwrap_or(0)
}

/// Gives free threads of lanes to requests that have arrived, in the order of arrival.
fn assign_threads(jobs: &mut [Job], tasks: &[Task], now: u64) {
    let needed = |job: &Job| {
        let hold = tasks[job.task].holds.iter().find(|hold| hold.first == job.step);
        hold.filter(|hold| job.ready <= now && !job.threads.contains(&hold.lane))
            .copied()
    };
    let mut waiting: Vec<usize> = (0..jobs.len())
        .filter(|place| needed(&jobs[*place]).is_some())
        .collect();
    waiting.sort_by_key(|place| (jobs[*place].ready, jobs[*place].arrival));
    for place in waiting {
        let hold = needed(&jobs[place]).unwrap();
        let occupied = jobs.iter().filter(|job| job.threads.contains(&hold.lane)).count();
        if occupied < hold.threads {
            jobs[place].threads.push(hold.lane);
        }
    }
}

/// Returns the ready job of the highest priority, or of the earliest deadline; among equals the one that has
/// been ready longest.
fn first(jobs: &[Job], tasks: &[Task], processor: usize, now: u64) -> Option<usize> {
    let step = |job: &Job| -> &Step { &tasks[job.task].steps[job.step] };
    let has_thread = |job: &Job| {
        let hold = tasks[job.task].holds.iter().find(|hold| hold.first == job.step);
        hold.is_none_or(|hold| job.threads.contains(&hold.lane))
    };
    let priority = |job: &Job| {
        let own = step(job).fixed_priority.unwrap_or(tasks[job.task].priority);
        let peak = step(job).peak_priority.filter(|_| job.started);
        peak.map_or(own, |peak| peak.max(own))
    };
    let ready = jobs
        .iter()
        .enumerate()
        .filter(|(_, job)| step(job).processor == processor && job.ready <= now && has_thread(job));
    let rank = |job: &Job| {
        if step(job).by_deadline {
            -i128::from(job.arrival + tasks[job.task].deadline)
        } else {
            i128::from(priority(job))
        }
    };
    ready
        .min_by_key(|(_, job)| (core::cmp::Reverse(rank(job)), job.ready, job.arrival))
        .map(|(place, _)| place)
}

/// Draws the delay and the execution time of a step.
fn times(step: &Step, actual: &mut Actual<'_>) -> (u64, u64) {
    let delay = step.least_delay + (actual.choose)(step.delay - step.least_delay);
    (delay, step.bcet + (actual.choose)(step.wcet - step.bcet))
}

fn end(
    jobs: &mut Vec<Job>,
    place: usize,
    tasks: &[Task],
    now: u64,
    worst: &mut [u64],
    releases: &mut Releases,
    actual: &mut Actual<'_>,
) {
    let job = &mut jobs[place];
    let holds = &tasks[job.task].holds;
    let ended = |lane: &usize| {
        holds
            .iter()
            .any(|hold| hold.lane == *lane && hold.last == job.step)
    };
    job.threads.retain(|lane| !ended(lane));
    job.step += 1;
    match tasks[job.task].steps.get(job.step) {
        Some(step) => {
            let (delay, remaining) = times(step, actual);
            job.ready = releases.in_order(job.task, job.step, now + delay);
            job.remaining = remaining;
            job.started = false;
        }
        None => {
            worst[job.task] = worst[job.task].max(now - job.arrival);
            jobs.remove(place);
        }
    }
}
