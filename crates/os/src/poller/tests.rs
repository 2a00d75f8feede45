//! Triggers, timeouts, several waiters and the cost of a wait.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::*;
use crate::{Doorbell, ThreadSpec};

const NOW: Option<Duration> = Some(Duration::ZERO);

fn pair() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (ours, theirs)
}

#[test]
fn an_edge_is_reported_once_until_more_arrives() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(4));
    let (mut ours, mut theirs) = pair();
    poller.add(&ours, 5, Interest::READ, Trigger::Edge).unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 0);
    theirs.write_all(b"one").unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    let event = events.get(0).unwrap();
    assert_eq!(event.token(), 5);
    assert!(event.is_readable() && !event.is_writable() && !event.is_peer_closed() && !event.is_error());
    assert_eq!(
        poller.wait(&mut events, NOW).unwrap(),
        0,
        "unread, but no new data"
    );
    assert!(events.is_empty());
    theirs.write_all(b"two").unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    let mut buffer = [0; 16];
    assert_eq!(ours.read(&mut buffer).unwrap(), 6);
}

#[test]
fn a_level_is_reported_until_it_is_read() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(4));
    let (mut ours, mut theirs) = pair();
    poller.add(&ours, 1, Interest::READ, Trigger::Level).unwrap();
    theirs.write_all(b"x").unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    ours.read_exact(&mut [0]).unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 0);
}

#[test]
fn one_shot_reports_again_after_rearming() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(4));
    let (ours, mut theirs) = pair();
    poller.add(&ours, 1, Interest::READ, Trigger::OneShot).unwrap();
    theirs.write_all(b"x").unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    theirs.write_all(b"y").unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 0);
    poller
        .modify(&ours, 2, Interest::READ_WRITE, Trigger::OneShot)
        .unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    let event = events.get(0).unwrap();
    assert!(event.token() == 2 && event.is_readable() && event.is_writable());
}

#[test]
fn a_close_of_the_peer_is_reported_with_its_last_data() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(4));
    let (ours, mut theirs) = pair();
    poller.add(&ours, 9, Interest::READ, Trigger::Edge).unwrap();
    theirs.write_all(b"bye").unwrap();
    drop(theirs);
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 1);
    assert!(events.get(0).unwrap().is_peer_closed() && events.get(0).unwrap().is_readable());
}

#[test]
fn a_removed_source_is_not_reported() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(4));
    let (ours, mut theirs) = pair();
    poller.add(&ours, 1, Interest::READ, Trigger::Level).unwrap();
    assert_eq!(
        poller
            .add(&ours, 1, Interest::READ, Trigger::Level)
            .unwrap_err()
            .kind(),
        io::ErrorKind::AlreadyExists
    );
    poller.remove(&ours).unwrap();
    theirs.write_all(b"x").unwrap();
    assert_eq!(poller.wait(&mut events, NOW).unwrap(), 0);
    let error = poller
        .modify(&ours, 1, Interest::READ, Trigger::Level)
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_timeout_is_never_early() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(1));
    for timeout in [
        Duration::from_nanos(1),
        Duration::from_micros(300),
        Duration::from_micros(2_500),
    ] {
        let began = Instant::now();
        assert_eq!(poller.wait(&mut events, Some(timeout)).unwrap(), 0);
        assert!(began.elapsed() >= timeout, "{:?} of {timeout:?}", began.elapsed());
    }
}

#[test]
fn excess_events_are_reported_by_the_next_wait() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(2));
    let doorbells: Vec<_> = (0..3).map(|_| Doorbell::new().unwrap()).collect();
    for (token, doorbell) in (0..).zip(&doorbells) {
        poller
            .add(doorbell, token, Interest::READ, Trigger::Edge)
            .unwrap();
        doorbell.ring().unwrap();
    }
    let mut seen = Vec::new();
    while poller.wait(&mut events, NOW).unwrap() > 0 {
        assert!(events.len() <= 2);
        seen.extend(events.iter().map(Event::token));
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
}

#[test]
fn a_bell_wakes_a_waiting_thread() {
    let poller = std::sync::Arc::new(Poller::new().unwrap());
    let doorbell = Doorbell::new().unwrap();
    poller.add(&doorbell, 3, Interest::READ, Trigger::Edge).unwrap();
    let place = std::sync::Arc::clone(&poller);
    let waiter = ThreadSpec::new("waiter").spawn(move || {
        let mut events = Events::with_capacity(1);
        place.wait(&mut events, Some(Duration::from_secs(10))).unwrap()
    });
    doorbell.ring().unwrap();
    assert_eq!(waiter.unwrap().join().unwrap(), 1);
}

#[test]
fn waiting_does_not_allocate() {
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(8));
    let doorbell = Doorbell::new().unwrap();
    poller.add(&doorbell, 3, Interest::READ, Trigger::Edge).unwrap();
    let (count, allocations) = crate::alloc_counter::count_allocations(|| {
        doorbell.ring().unwrap();
        poller.wait(&mut events, Some(Duration::from_secs(1))).unwrap()
    });
    assert_eq!((count, allocations), (1, 0));
}
