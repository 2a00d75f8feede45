//! Reconstruction of switches away from an idle CPU that the kernel did not record.

use std::collections::HashMap;

use crate::event::{KernelEvent, Task, ThreadId, What};

/// Adds missing switches at the time of the thread's wake-up. Kernels of some virtual machines omit about
/// half of them.
///
/// A missing switch is evident from the next one of its CPU, whose previous thread was not the current one.
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
                // Other missing events cannot be reconstructed.
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
    // Stable: an added event follows the wake-up of its thread.
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
    fn a_missing_switch_is_placed_at_the_wake_up() {
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
    fn nothing_is_added_without_a_wake_up() {
        let mut events = vec![switch(1, 7, 0), switch(9, 7, 0)];
        let before = events.clone();
        add(&mut events);
        assert_eq!(events, before);
    }
}
