//! Levels of threads over time, for requests whose level is that of a thread.

use std::collections::HashMap;

use super::Thread;
use crate::event::{KernelEvent, Level, ThreadId, What};
use crate::request::{Model, Request, Service};

/// Levels of threads over time: each with the last time at which it was seen before another one.
pub(crate) struct LevelHistory(HashMap<ThreadId, Vec<(u64, Level)>>);

impl LevelHistory {
    pub(crate) fn of(events: &[KernelEvent]) -> Self {
        let mut history: HashMap<ThreadId, Vec<(u64, Level)>> = HashMap::new();
        for event in events {
            if let What::Switch { previous, next, .. } = event.what {
                for (task, ran) in [(previous, true), (next, false)] {
                    let levels = history.entry(task.thread).or_default();
                    match levels.last_mut() {
                        Some((seen, level)) if *level == task.level && ran => *seen = event.time_ns,
                        Some((_, level)) if *level == task.level => {}
                        _ => levels.push((event.time_ns, task.level)),
                    }
                }
            }
        }
        Self(history)
    }

    /// Returns the level of a thread that was running then. It is that with which the thread left the CPU
    /// next: a change of a running thread is recorded no earlier.
    fn at(&self, thread: ThreadId, time_ns: u64) -> Level {
        let levels = self.0.get(&thread).map_or(&[][..], Vec::as_slice);
        let next = levels.partition_point(|(seen, _)| *seen < time_ns);
        let seen = levels.get(next).or(levels.last());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Task;

    fn switch(time_ns: u64, previous: (ThreadId, u8), next: (ThreadId, u8)) -> KernelEvent {
        let task = |(thread, level)| Task {
            thread,
            level: Level(level),
        };
        let what = What::Switch {
            previous: task(previous),
            still_runnable: false,
            next: task(next),
        };
        KernelEvent {
            time_ns,
            cpu: 0,
            what,
        }
    }

    #[test]
    fn the_level_of_a_running_thread_is_that_with_which_it_leaves_the_cpu() {
        let history = LevelHistory::of(&[
            switch(10, (1, 0), (7, 0)),
            switch(20, (7, 0), (1, 0)),
            // It raises its own priority while it runs, and calls at 35.
            switch(30, (1, 0), (7, 0)),
            switch(40, (7, 60), (1, 0)),
            // Another thread lowers it while it sleeps; it is never seen to leave.
            switch(50, (1, 0), (7, 5)),
        ]);
        let levels = [15, 35, 55].map(|time| history.at(7, time));
        assert_eq!(levels, [Level(0), Level(60), Level(5)]);
        assert_eq!(history.at(8, 15), Level::ORDINARY);
    }
}
