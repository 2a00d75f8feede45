//! Cost of the operating-system primitives of the request path in system calls, as counted by the kernel.

use std::time::Duration;

use punctual_os::{
    Doorbell, Events, Interest, PiCondvar, PiMutex, Poller, Scheduling, TaskId, Trigger, scheduling,
};
use punctual_system::perf::Counter;

pub fn primitives_of_the_request_path_keep_their_budgets() {
    let counter = match Counter::syscalls(TaskId::current_thread(), false) {
        Ok(counter) => counter,
        Err(error) => return punctual_fixtures::skip_error(&error),
    };
    let count = |run: &mut dyn FnMut()| {
        counter.reset().unwrap();
        counter.enable().unwrap();
        run();
        counter.disable().unwrap();
        // Excludes the call that pauses the counter.
        counter.read().unwrap() - 1
    };
    let (mutex, condvar) = (PiMutex::new(0), PiCondvar::new());
    // The first use in a thread asks the kernel for the thread's id, once.
    *mutex.lock() += 1;
    assert_eq!(count(&mut || *mutex.lock() += 1), 0, "an uncontended mutex");
    assert_eq!(
        count(&mut || condvar.notify_all()),
        0,
        "a condition without waiters"
    );

    let (poller, doorbell) = (Poller::new().unwrap(), Doorbell::new().unwrap());
    let mut events = Events::with_capacity(4);
    poller.add(&doorbell, 1, Interest::READ, Trigger::Edge).unwrap();
    assert_eq!(count(&mut || doorbell.ring().unwrap()), 1, "ringing");
    let mut wait = |timeout| poller.wait(&mut events, timeout).unwrap();
    assert_eq!(
        count(&mut || assert_eq!(wait(None), 1)),
        1,
        "waiting without a deadline"
    );
    assert_eq!(
        count(&mut || assert_eq!(wait(Some(Duration::from_micros(50))), 0)),
        1,
        "waiting with one"
    );
    assert_eq!(
        count(&mut || scheduling::set_current(Scheduling::OTHER).unwrap()),
        1,
        "changing priority"
    );
}
