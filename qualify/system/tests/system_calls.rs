//! What the request path costs in system calls, as the kernel counts them.
use std::time::Duration;

use punctual_os::{
    Doorbell, Events, Interest, PiCondvar, PiMutex, Poller, Scheduling, TaskId, Trigger, scheduling,
};
use punctual_system::perf::Counter;

#[test]
fn the_budgets_of_the_request_path() {
    let counter = match Counter::syscalls(TaskId::current_thread(), false) {
        Ok(counter) => counter,
        Err(error) => return punctual_fixtures::skip_error(&error),
    };
    let count = |run: &mut dyn FnMut()| {
        counter.reset().unwrap();
        counter.enable().unwrap();
        run();
        counter.disable().unwrap();
        // Without the call that pauses the counter.
        counter.read().unwrap() - 1
    };
    let (mutex, condvar) = (PiMutex::new(0), PiCondvar::new());
    // The first use in a thread asks the kernel for the thread's number, once.
    *mutex.lock() += 1;
    assert_eq!(
        count(&mut || *mutex.lock() += 1),
        0,
        "a mutex that nobody else wants"
    );
    assert_eq!(
        count(&mut || condvar.notify_all()),
        0,
        "a condition that nobody waits for"
    );

    let (poller, bell) = (Poller::new().unwrap(), Doorbell::new().unwrap());
    let mut events = Events::with_capacity(4);
    poller.add(&bell, 1, Interest::READ, Trigger::Edge).unwrap();
    assert_eq!(count(&mut || bell.ring().unwrap()), 1, "ringing");
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
