//! The watchdog, fired and cancelled.

use std::time::{Duration, Instant};

use punctual_fixtures::in_time;
use punctual_harness::Watchdog;
use punctual_harness::child::{ChildSpec, Failure};
use punctual_os::{CpuSet, rights};

const TIMEOUT: Duration = punctual_fixtures::LONG;

pub fn kills_after_the_timeout() {
    let (mut child, _) = ChildSpec::new("echo", "__child").spawn::<u32>(TIMEOUT).unwrap();
    let began = Instant::now();
    let watchdog = Watchdog::start(
        Duration::from_millis(60),
        vec![child.killer().unwrap()],
        &CpuSet::single(0),
    )
    .unwrap();
    assert_eq!(
        watchdog.is_above_all(),
        rights::probe()
            .highest_realtime_priority
            .is_some_and(|p| p.0 == 99)
    );
    let error = child.request::<_, String>(&"sleep", TIMEOUT).unwrap_err();
    assert!(matches!(error.failure(), Failure::Gone(Some(_))), "{error}");
    assert!(error.to_string().contains("signal: 9"), "{error}");
    assert!(began.elapsed() >= Duration::from_millis(60) && began.elapsed() < TIMEOUT);
    assert!(watchdog.has_fired());
}

pub fn that_is_cancelled_kills_nothing() {
    in_time(Duration::from_millis(30), |timeout| {
        let (mut child, _) = ChildSpec::new("echo", "__child").spawn::<u32>(TIMEOUT).unwrap();
        let began = Instant::now();
        let watchdog = Watchdog::start(timeout, vec![child.killer().unwrap()], &CpuSet::empty()).unwrap();
        let has_fired = watchdog.has_fired();
        drop(watchdog);
        if began.elapsed() >= timeout {
            return false;
        }
        assert!(!has_fired);
        std::thread::sleep(2 * timeout);
        assert_eq!(child.request::<_, String>(&"here", TIMEOUT).unwrap(), "HERE");
        true
    });
}
