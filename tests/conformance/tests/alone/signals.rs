//! Termination signals, which affect the whole process.

use std::time::Duration;

use punctual_os::{Events, Interest, Poller, Trigger};
use punctual_system::signals::{Termination, TerminationSignal};

pub fn a_signal_sets_the_flag_and_wakes_the_poller() {
    let termination = Termination::watch().unwrap();
    let again = Termination::watch().unwrap();
    let (poller, mut events) = (Poller::new().unwrap(), Events::with_capacity(1));
    poller
        .add(termination, 1, Interest::READ, Trigger::Level)
        .unwrap();
    assert_eq!(poller.wait(&mut events, Some(Duration::ZERO)).unwrap(), 0);
    assert_eq!(termination.requested(), None);

    send("TERM");
    assert_eq!(
        poller.wait(&mut events, Some(Duration::from_secs(10))).unwrap(),
        1
    );
    assert_eq!(termination.requested(), Some(TerminationSignal::Terminate));

    send("INT");
    send("HUP");
    assert_eq!(
        again.requested(),
        Some(TerminationSignal::Terminate),
        "the first signal counts"
    );
    assert_eq!(
        poller.wait(&mut events, Some(Duration::ZERO)).unwrap(),
        1,
        "the descriptor stays readable"
    );
}

fn send(signal: &str) {
    let process = std::process::id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-s", signal, &process])
            .status()
            .unwrap()
            .success()
    );
}
