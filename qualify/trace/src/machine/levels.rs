//! Levels of threads over time, for requests whose level is that of a thread.

use std::collections::HashMap;

use super::Thread;
use crate::event::{KernelEvent, Level, ThreadId, What};
use crate::request::{Model, Request, Service};

/// Levels of threads over time.
pub(crate) struct LevelHistory(HashMap<ThreadId, Vec<(u64, Level)>>);

impl LevelHistory {
    pub(crate) fn of(events: &[KernelEvent]) -> Self {
        let mut history: HashMap<ThreadId, Vec<(u64, Level)>> = HashMap::new();
        for event in events {
            if let What::Switch { previous, next, .. } = event.what {
                for task in [previous, next] {
                    let levels = history.entry(task.thread).or_default();
                    if levels.last().is_none_or(|(_, level)| *level != task.level) {
                        levels.push((event.time_ns, task.level));
                    }
                }
            }
        }
        Self(history)
    }

    /// Returns the last level until then, otherwise the first one afterwards.
    fn at(&self, thread: ThreadId, time_ns: u64) -> Level {
        let levels = self.0.get(&thread).map_or(&[][..], Vec::as_slice);
        let later = levels.partition_point(|(since, _)| *since <= time_ns);
        let seen = levels.get(later.saturating_sub(1));
        seen.map_or(Level::ORDINARY, |(_, level)| *level)
    }

    /// Returns the caller's level; if the server has declared a different priority, that of the serving
    /// thread.
    pub(crate) fn of_request(&self, request: &Request) -> Level {
        let declared = |service: &&Service| service.model == Model::ServerDeclared;
        match request.service.as_ref().filter(declared) {
            Some(service) => self.at(service.thread, service.served_ns),
            None => self.at(request.client, request.begin_ns),
        }
    }
}

/// Returns the level of a thread's work for requests of the same server: without a priority model, the level
/// of its caller, which `caller` returns for the index of a request.
pub(crate) fn level_in_service(
    thread: &Thread,
    server: i32,
    requests: &[Request],
    caller: impl Fn(usize) -> Option<Level>,
) -> Level {
    let served = thread.serving.last().filter(|_| thread.own_level.is_none());
    let caller = served.and_then(|place| {
        let service = requests[*place].service.as_ref()?;
        let by_caller = service.process == server && service.model == Model::None;
        by_caller.then(|| caller(*place))?
    });
    caller.map_or(thread.level, |caller| caller.min(thread.level))
}
