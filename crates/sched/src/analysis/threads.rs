//! Whether lanes have a thread for each request, so that none waits for one.
//!
//! A thread that computes has the priority of its lane, so where priorities order threads, its work delays
//! the waiting request anyway. Where deadlines do, that work may have a later deadline than the request, and
//! everything with a deadline in between delays it.

use super::{Hold, Task, Time};

impl Hold {
    /// Returns the most threads of a lane that an instance of a task with these occupations has at a time:
    /// more than one if servants call their own lane. Threads that it may borrow do not count.
    ///
    /// ```
    /// use punctual_sched::analysis::Hold;
    ///
    /// let hold = |first, last| Hold { lane: 7, threads: 2, first, last, borrows: false };
    /// assert_eq!(Hold::at_a_time(&[hold(0, 0), hold(1, 1)], 7), 1);
    /// assert_eq!(Hold::at_a_time(&[hold(0, 2), hold(1, 1)], 7), 2);
    /// ```
    pub fn at_a_time(holds: &[Self], lane: usize) -> usize {
        let own = || holds.iter().filter(|hold| hold.lane == lane && !hold.borrows);
        let at = |step: usize| {
            own()
                .filter(|hold| (hold.first..=hold.last).contains(&step))
                .count()
        };
        own().map(|hold| at(hold.first)).max().unwrap_or(0)
    }
}

/// Returns whether each request to the lane of a hold finds a free thread. `response` returns the longest
/// response of a task, for which its instances occupy threads; `None`: unbounded.
///
/// A lane that has too few threads for its own requests may borrow those of others.
pub(super) fn suffice(tasks: &[Task], hold: &Hold, response: impl Fn(usize) -> Option<Time>) -> bool {
    let has_enough = |lane: usize, threads: usize| {
        let mut needed: Time = 0;
        for (number, task) in tasks.iter().enumerate() {
            let of_one = Hold::at_a_time(&task.holds, lane) as Time;
            if of_one > 0 {
                let Some(response) = response(number) else {
                    return false;
                };
                let instances = response.div_ceil(task.period).max(1);
                needed = needed.saturating_add(instances.saturating_mul(of_one));
            }
        }
        needed <= threads as Time
    };
    let lends_nothing = |task: &Task| {
        let borrowed = task.holds.iter().filter(|of| of.borrows && of.lane == hold.lane);
        borrowed.into_iter().all(|borrowed| {
            let is_same =
                |own: &&Hold| !own.borrows && own.first == borrowed.first && own.last == borrowed.last;
            let own = task.holds.iter().find(is_same);
            own.is_some_and(|own| has_enough(own.lane, own.threads))
        })
    };
    has_enough(hold.lane, hold.threads) && tasks.iter().all(lends_nothing)
}
