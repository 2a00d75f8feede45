//! Threads of lanes that wait for calls of their servants.

use alloc::vec::Vec;

use super::{Given, Interference, Source};
use crate::analysis::{Hold, Time, threads};

/// Delays that waiting threads of a step's lane add to its response.
///
/// A request can wait for a thread only while all threads of its lane serve others. Where priorities order
/// threads, one that computes, or is ready to, is work of the lane's priority, which the analysis counts
/// anyway. A thread that waits for a nested call is not: if so many requests with nested calls can be served
/// at a time that no thread is left, their whole waiting time counts.
///
/// Where deadlines order threads, one that computes can have a later deadline than the request, and wait for
/// everything in between. Such responses are bounded only if no request waits for a thread.
pub(super) enum Occupations {
    /// A thread is always left, or the step needs none of its own.
    Free,
    /// All threads can wait; for these times.
    Bounded(Vec<Interference>),
    /// A wait has no bound, or the step's own task occupies every thread, or deadlines order the threads and
    /// some request may wait for one.
    Unbounded,
}

/// Returns the occupations of the lane whose thread a step needs.
pub(super) fn occupations(given: &Given<'_>, task: usize, index: usize) -> Occupations {
    let Some(hold) = first_hold(given, task, index) else {
        return Occupations::Free;
    };
    if given.tasks[task].steps[index].by_deadline {
        return if finds_a_thread(given, hold) {
            Occupations::Free
        } else {
            Occupations::Unbounded
        };
    }
    let around = |other: &Hold| {
        other.lane == hold.lane && other.first < index && other.last >= index && !other.borrows
    };
    let by_itself = given.tasks[task]
        .holds
        .iter()
        .filter(|other| around(other))
        .count();
    let threads = hold.threads.saturating_sub(by_itself);
    if threads == 0 {
        return Occupations::Unbounded;
    }
    let others: Vec<_> = waiting(given, hold, task).collect();
    if others.len() < threads && others.iter().all(|(other, _)| !given.overlapping[*other]) {
        return Occupations::Free;
    }
    let times = others.into_iter().map(|(other, of)| {
        Some(Interference {
            source: Source::Thread { task: other },
            period: given.tasks[other].period,
            // A request of before the busy period counts until its thread is free.
            jitter: given.bounds[other][of.last].end?,
            wcet: waiting_time(given, other, of)?,
            once: false,
        })
    });
    times
        .collect::<Option<_>>()
        .map_or(Occupations::Unbounded, Occupations::Bounded)
}

/// Returns the longest time from an arrival of a task to the moment when a step of it is ready to compute: if
/// it may wait for a thread, up to its end.
pub(super) fn latest_start(given: &Given<'_>, task: usize, index: usize) -> Option<Time> {
    let by_deadline = given.tasks[task].steps[index].by_deadline;
    let may_wait = |hold: &Hold| {
        if by_deadline {
            !finds_a_thread(given, hold)
        } else {
            waiting(given, hold, task).next().is_some()
        }
    };
    if first_hold(given, task, index).is_some_and(may_wait) {
        given.bounds[task][index].end
    } else {
        given.jitters[task][index]
    }
}

fn first_hold<'a>(given: &Given<'a>, task: usize, index: usize) -> Option<&'a Hold> {
    let holds = given.tasks[task].holds.iter();
    holds
        .into_iter()
        .find(|hold| hold.first == index && !hold.borrows)
}

/// Returns whether requests of this hold never wait for a thread.
fn finds_a_thread(given: &Given<'_>, hold: &Hold) -> bool {
    let response = |task: usize| given.bounds[task].last().and_then(|bound| bound.end);
    threads::suffice(given.tasks, hold, response)
}

/// Returns the requests to a lane whose servants make calls and that a request of `task` can meet there.
fn waiting<'a>(given: &'a Given<'_>, hold: &'a Hold, task: usize) -> impl Iterator<Item = (usize, &'a Hold)> {
    let tasks = given.tasks.iter().enumerate();
    let holds = tasks.flat_map(|(other, its)| its.holds.iter().map(move |of| (other, of)));
    holds.filter(move |(other, of)| {
        // Requests of the same task are served one after the other unless its instances overlap.
        let may_meet = *other != task || given.overlapping[task];
        of.lane == hold.lane && of.last > of.first && may_meet
    })
}

/// Returns for how long a thread waits for the calls of its servant.
fn waiting_time(given: &Given<'_>, task: usize, hold: &Hold) -> Option<Time> {
    let steps = hold.first + 1..=hold.last;
    let of_step = |index: usize| {
        let window = given.bounds[task][index].window?;
        Some(window.saturating_add(given.tasks[task].steps[index].delay))
    };
    let sum = steps
        .map(of_step)
        .try_fold(0, |sum: Time, time| Some(sum.saturating_add(time?)))?;
    // It began after the arrival.
    Some(sum.min(given.bounds[task][hold.last].end?))
}
