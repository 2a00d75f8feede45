//! Activities as sequences of parts: steps, the calls of their servants, and what servants do after these.

use punctual::{Priority, PriorityModel};

use crate::{Activity, Adapter, Lock, Place, Pool, Schedule, Span, Step};

/// Work that runs in one place without waiting for a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part<'s> {
    /// The step, or the call of a servant.
    pub step: &'s Step,
    /// Whether it is the work after the calls of the step's servant.
    pub is_after_calls: bool,
    /// All priorities at which it may run, ascending.
    pub priorities: Vec<Priority>,
    /// Worst-case execution time.
    pub wcet: Span,
    /// Best-case execution time.
    pub bcet: Span,
    /// Maximum time for which lower priorities delay it, in addition to its critical sections.
    pub blocking: Span,
    /// Its critical sections.
    pub locks: &'s [Lock],
    /// Maximum delay of the message to it.
    pub delay: Span,
    /// Minimum delay of the message to it.
    pub least_delay: Span,
}

/// The parts of an activity, in order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Parts<'s> {
    /// The parts.
    pub parts: Vec<Part<'s>>,
    /// The pools whose threads they occupy, each from its first part to its last.
    pub(crate) holds: Vec<(&'s Pool, usize, usize)>,
}

impl Schedule {
    /// Returns the parts of an activity of this schedule.
    pub fn parts_of<'s>(&'s self, activity: &'s Activity) -> Parts<'s> {
        let mut parts = Parts::default();
        for step in &activity.steps {
            self.add_parts(step, &[activity.priority], &mut parts);
        }
        parts
    }

    /// Adds a step whose caller may have these priorities.
    pub(crate) fn add_parts<'s>(&'s self, step: &'s Step, callers: &[Priority], parts: &mut Parts<'s>) {
        let priorities = self.priorities_of(callers, step);
        let first = parts.parts.len();
        parts.parts.push(Part {
            step,
            is_after_calls: false,
            priorities: priorities.clone(),
            wcet: step.wcet,
            bcet: step.bcet,
            blocking: step.blocking,
            locks: &step.locks,
            delay: step.delay,
            least_delay: step.least_delay,
        });
        if !step.calls.is_empty() {
            for call in &step.calls {
                self.add_parts(call, &priorities, parts);
            }
            let after = step.after.unwrap_or_default();
            parts.parts.push(Part {
                step,
                is_after_calls: true,
                priorities,
                wcet: after.wcet,
                bcet: Span::default(),
                blocking: after.blocking,
                locks: &[],
                delay: after.delay,
                least_delay: Span::default(),
            });
        }
        if let Some(pool) = self.pool_of(step) {
            parts.holds.push((pool, first, parts.parts.len() - 1));
        }
    }

    /// Returns all priorities at which a step may run, ascending.
    fn priorities_of(&self, callers: &[Priority], step: &Step) -> Vec<Priority> {
        let Some(pool) = self.pool_of(step) else {
            return callers.to_vec();
        };
        let mut priorities = self.served_at(callers, step);
        if !pool.has_lanes() {
            priorities.push(pool.priority.unwrap_or(Priority::MIN));
        } else if priorities.is_empty() {
            priorities.extend(callers);
        }
        priorities.sort_unstable();
        priorities.dedup();
        priorities
    }

    /// Returns the priorities of the adapters that a call may go to, or of its object; none for a pool
    /// without adapters.
    fn served_at(&self, callers: &[Priority], step: &Step) -> Vec<Priority> {
        let of_model = |adapter: &Adapter| match adapter.model {
            PriorityModel::ClientPropagated { .. } => callers.to_vec(),
            PriorityModel::ServerDeclared(priority) => vec![priority],
        };
        match step.place() {
            Some(Place::Object(name)) => self
                .object(name)
                .map(|object| object.priority)
                .into_iter()
                .collect(),
            Some(Place::Adapter(name)) => self.adapter(name).map(of_model).unwrap_or_default(),
            Some(Place::Pool(name)) => {
                let adapters = self.adapters.iter().filter(|adapter| adapter.pool == name);
                adapters.flat_map(of_model).collect()
            }
            Some(Place::Host(_)) | None => Vec::new(),
        }
    }
}
