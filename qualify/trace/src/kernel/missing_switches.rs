//! Switches away from an idle CPU that the kernel did not record.

use std::collections::HashMap;

use crate::event::{KernelEvent, Task, ThreadId, What};

/// Adds them, at the time at which the thread was woken: some virtual machines' kernels leave out about half of them.
///
/// Such a switch shows in the next one of its CPU, which leads away from a thread that nothing had led to.
pub(super) fn add(events: &mut Vec<KernelEvent>) {
    let mut running: HashMap<u32, (Task, u64)> = HashMap::new();
    let mut woken: HashMap<ThreadId, u64> = HashMap::new();
    let mut missing = Vec::new();
    for event in &*events {
        match event.what {
            What::Woken { task, .. } => {
                woken.insert(task.thread, event.time_ns);
            }
            What::Switch { previous, next, .. } => {
                let known = running.insert(event.cpu, (next, event.time_ns));
                let Some((idle, since)) = known.filter(|(task, _)| task.thread != previous.thread) else {
                    continue;
                };
                // What else is missing, no rule can tell.
                if let Some(&woken) = woken.get(&previous.thread)
                    && idle.thread == 0
                    && woken >= since
                {
                    missing.push(KernelEvent {
                        time_ns: woken,
                        cpu: event.cpu,
                        what: What::Switch {
                            previous: idle,
                            still_runnable: true,
                            next: previous,
                        },
                    });
                }
            }
            _ => {}
        }
    }
    events.append(&mut missing);
    // Stable: what was added follows the event that woke the thread.
    events.sort_by_key(|event| event.time_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Level;

    fn task(thread: ThreadId) -> Task {
        Task {
            thread,
            level: Level(0),
        }
    }

    fn switch(time_ns: u64, previous: ThreadId, next: ThreadId) -> KernelEvent {
        let what = What::Switch {
            previous: task(previous),
            still_runnable: previous == 0,
            next: task(next),
        };
        KernelEvent {
            time_ns,
            cpu: 1,
            what,
        }
    }

    fn woken(time_ns: u64, thread: ThreadId) -> KernelEvent {
        let what = What::Woken {
            task: task(thread),
            cpu: 1,
        };
        KernelEvent {
            time_ns,
            cpu: 1,
            what,
        }
    }

    #[test]
    fn a_thread_that_leaves_an_idle_cpu_had_come_when_it_was_woken() {
        let mut events = vec![
            switch(1, 7, 0),
            woken(5, 7),
            switch(9, 7, 0),
            woken(12, 8),
            switch(13, 0, 8),
        ];
        let mut expected = events.clone();
        expected.insert(2, switch(5, 0, 7));
        add(&mut events);
        assert_eq!(events, expected);
    }

    #[test]
    fn nothing_is_made_up_where_nothing_woke_it() {
        let mut events = vec![switch(1, 7, 0), switch(9, 7, 0)];
        let before = events.clone();
        add(&mut events);
        assert_eq!(events, before);
    }
}
