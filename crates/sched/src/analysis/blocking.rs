//! Delays by work of lower priority that owns a resource.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{Section, Task, Time};

/// Delay by lower priorities.
pub(super) struct Blocking {
    pub(super) time: Time,
    /// Task and step of each critical section that counts.
    pub(super) by: Vec<(usize, usize)>,
}

/// Returns the longest time for which lower priorities delay a step: its stated blocking, and critical
/// sections.
///
/// Sections of resources delay it that a step of its priority or above uses, even if this one does not
/// (push-through blocking). Under the ceiling protocol it is the longest of them, once. Under inheritance
/// each lower step delays it with at most one section, and each resource does at most once. Source: \[Sha
/// 1990\]. Where deadlines order the steps, every other step may be the lower one.
pub(super) fn blocking(tasks: &[Task], task: usize, index: usize, overlapping: bool) -> Blocking {
    let (own, step) = (&tasks[task], &tasks[task].steps[index]);
    let priority = own.priority_of(step);
    let mut by_step: Time = 0;
    let mut delaying: Vec<(&Section, (usize, usize))> = Vec::new();
    let ceilings = Ceilings::of(tasks, step.processor);
    for (other, its) in tasks.iter().enumerate() {
        for (place, lower) in its.steps.iter().enumerate() {
            let is_lower = step.by_deadline || its.peak_priority_of(lower) < priority;
            let may_meet = if other == task {
                overlapping && place != index
            } else {
                true
            };
            if lower.processor != step.processor || !is_lower || !may_meet {
                continue;
            }
            let delays = |section: &&Section| {
                let shared = ceilings.users(section.resource) > 1;
                shared && (step.by_deadline || ceilings.of_resource(section.resource) >= priority)
            };
            let own = lower.sections.iter().filter(delays);
            let inherited = own.clone().filter(|section| !section.ceiling);
            let longest = inherited.map(|section| section.length).max();
            by_step = by_step.saturating_add(longest.unwrap_or(0));
            delaying.extend(own.map(|section| (section, (other, place))));
        }
    }
    let longest = longest_by_protocol(&delaying);
    let longest_under_ceilings = longest.get(&None).copied().unwrap_or(0);
    let inherited = longest.iter().filter(|(resource, _)| resource.is_some());
    let by_resources = inherited.fold(0, |sum: Time, (_, length)| sum.saturating_add(*length));
    let counts = |section: &Section| {
        let is_longest = longest.get(&alone_in(section)) == Some(&section.length);
        is_longest || (!section.ceiling && by_step < by_resources)
    };
    let counting = delaying.iter().filter(|(section, _)| counts(section));
    let mut by: Vec<_> = counting.map(|(_, place)| *place).collect();
    by.dedup();
    let sections = longest_under_ceilings.saturating_add(by_step.min(by_resources));
    Blocking {
        time: step.blocking.saturating_add(sections),
        by,
    }
}

/// Returns the resource of which only one section delays a step; `None`: only one of all those under the
/// ceiling protocol does.
fn alone_in(section: &Section) -> Option<usize> {
    (!section.ceiling).then_some(section.resource)
}

/// Returns the longest section of each resource, and of all those under the ceiling protocol.
fn longest_by_protocol(sections: &[(&Section, (usize, usize))]) -> BTreeMap<Option<usize>, Time> {
    let mut longest: BTreeMap<Option<usize>, Time> = BTreeMap::new();
    for (section, _) in sections {
        let length = longest.entry(alone_in(section)).or_default();
        *length = section.length.max(*length);
    }
    longest
}

/// Highest priority and number of the steps that use each resource of a processor.
struct Ceilings(BTreeMap<usize, (i32, usize)>);

impl Ceilings {
    fn of(tasks: &[Task], processor: usize) -> Self {
        let mut ceilings = BTreeMap::new();
        for task in tasks {
            for step in task.steps.iter().filter(|step| step.processor == processor) {
                let priority = task.peak_priority_of(step);
                let mut resources: Vec<_> = step.sections.iter().map(|section| section.resource).collect();
                resources.sort_unstable();
                resources.dedup();
                for resource in resources {
                    let (highest, users) = ceilings.entry(resource).or_insert((priority, 0));
                    *highest = priority.max(*highest);
                    *users += 1;
                }
            }
        }
        Self(ceilings)
    }

    fn of_resource(&self, resource: usize) -> i32 {
        self.0.get(&resource).map_or(i32::MIN, |(highest, _)| *highest)
    }

    fn users(&self, resource: usize) -> usize {
        self.0.get(&resource).map_or(0, |(_, users)| *users)
    }
}
