//! Panics, and the end of a dispatcher.

use std::{
    sync::{Arc, OnceLock, mpsc},
    time::Duration,
};

use punctual_dispatch::*;

use crate::{Journal, LONG, Noted, held, outcome};

#[test]
fn a_panic_costs_one_command() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0));
    let panics = Noted {
        // Without a message.
        attempt: |_| std::panic::resume_unwind(Box::new("of a test")),
        ..journal.command("panics")
    };
    dispatcher.dispatch(panics, Qos::new(0)).unwrap();
    dispatcher
        .dispatch(journal.command("goes on"), Qos::new(0))
        .unwrap();
    assert_eq!(outcome(&dispatcher, &journal), ["panics", "goes on"]);
    let level = dispatcher.statistics()[0];
    assert_eq!((level.panicked, level.executed), (1, 1));
}

#[test]
fn a_shutdown_waits_for_what_is_queued_and_cancels_what_remains() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0));
    dispatcher.activate();
    for number in 0..50 {
        dispatcher
            .dispatch(journal.command(number.to_string()), Qos::new(0))
            .unwrap();
    }
    dispatcher.shutdown(LONG).unwrap();
    assert_eq!(journal.take().len(), 50);
    let rejected = dispatcher
        .dispatch(journal.command("late"), Qos::new(0))
        .unwrap_err();
    assert_eq!(rejected.reason, Rejection::ShutDown);
    assert!(matches!(
        dispatcher.reconfigure([Level::new(0)]),
        Err(DispatchError::ShutDown)
    ));

    let dispatcher = held(Level::new(0));
    for name in ["a", "b"] {
        dispatcher.dispatch(journal.command(name), Qos::new(0)).unwrap();
    }
    let error = dispatcher.shutdown(Duration::ZERO).unwrap_err();
    assert!(matches!(error, DispatchError::Undispatched(2)), "{error}");
    let mut told = journal.take();
    told.sort();
    assert_eq!(told, ["a ShutDown", "b ShutDown"]);
    assert_eq!(dispatcher.statistics()[0].discarded, 2);
}

#[test]
fn a_command_may_end_its_own_dispatcher() {
    let (done, ended) = mpsc::channel();
    let dispatcher: Arc<Dispatcher> = Arc::new(Dispatcher::builder().level(Level::new(0)).build().unwrap());
    let own: Arc<OnceLock<Arc<Dispatcher>>> = Arc::default();
    own.set(Arc::clone(&dispatcher)).ok().unwrap();
    let command = move |_: &Execution| {
        done.send(own.get().unwrap().shutdown(Duration::ZERO).is_ok())
            .unwrap();
        Ok(())
    };
    dispatcher.dispatch(Box::new(command), Qos::new(0)).unwrap();
    assert_eq!(ended.recv_timeout(LONG), Ok(true));
}

#[test]
fn an_end_does_not_wait_for_a_command_that_does_not_return() {
    let (begins, begun) = mpsc::channel();
    let (release, blocked) = mpsc::channel::<()>();
    let (told, end) = mpsc::channel();
    let dispatcher: Dispatcher = Dispatcher::builder().level(Level::new(0)).build().unwrap();
    let command = move |_: &Execution| {
        begins.send(()).unwrap();
        let _ = blocked.recv();
        told.send(()).unwrap();
        Ok(())
    };
    dispatcher.dispatch(Box::new(command), Qos::new(0)).unwrap();
    begun.recv_timeout(LONG).unwrap();
    assert!(!dispatcher.end(Duration::from_millis(1)) && !dispatcher.has_ended());
    drop(release);
    assert!(dispatcher.end(LONG) && dispatcher.has_ended());
    assert_eq!(end.try_recv(), Ok(()));
}

#[test]
fn a_dispatcher_that_was_ended_is_dropped_without_waiting() {
    let (begins, begun) = mpsc::channel();
    let (release, blocked) = mpsc::channel::<()>();
    let dispatcher: Dispatcher = Dispatcher::builder().level(Level::new(0)).build().unwrap();
    let command = move |_: &Execution| {
        begins.send(()).unwrap();
        // Else the test would not end.
        let _ = blocked.recv_timeout(LONG);
        begins.send(()).unwrap();
        Ok(())
    };
    dispatcher.dispatch(Box::new(command), Qos::new(0)).unwrap();
    begun.recv_timeout(LONG).unwrap();
    assert!(!dispatcher.end(Duration::ZERO));
    drop(dispatcher);
    assert!(begun.try_recv().is_err(), "the command is executed yet");
    drop(release);
    begun.recv_timeout(LONG).unwrap();
}
