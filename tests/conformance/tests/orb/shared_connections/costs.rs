//! Cost of a call over a shared connection: system calls, as the kernel counts them. (Allocations:
//! `allocations.rs`.)

use punctual::{Limits, Priority};
use punctual_fixtures::{conformance::ProbeRef, priority, server::Server, skip_error};
use punctual_os::TaskId;
use punctual_system::perf::{Counter, PerfError};

use super::Client;

const CALLS: u64 = 200;

/// System calls of this thread and of the one that reads the replies.
fn count(client: &Client, probe: &ProbeRef) -> Result<(u64, u64), PerfError> {
    let reader = Counter::syscalls(reader(), false)?;
    let caller = Counter::syscalls(TaskId::current_thread(), false)?;
    (0..10).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    let before = client.seen(0).replies;
    reader.enable().unwrap();
    caller.enable().unwrap();
    (0..CALLS).for_each(|_| assert_eq!(probe.twice(21), Ok(42)));
    caller.disable().unwrap();
    reader.disable().unwrap();
    assert_eq!(client.seen(0).replies - before, CALLS);
    // Without the call that pauses the counter of this thread.
    Ok((caller.read().unwrap() - 1, reader.read().unwrap()))
}

/// A priority that no other pool of these tests has, so that the thread's name tells.
const OWN: i16 = 12_321;

/// The thread that reads.
fn reader() -> TaskId {
    let named = std::fs::read_dir("/proc/self/task").unwrap().find_map(|task| {
        let path = task.unwrap().path();
        let name = std::fs::read_to_string(path.join("comm")).ok()?;
        let own = name.trim_end().ends_with(&format!("-{OWN}.0"));
        own.then(|| path.file_name()?.to_str()?.parse().ok())?
    });
    TaskId::new(named.expect("it was started")).unwrap()
}

/// The caller writes and sleeps, the lane's thread waits, reads and wakes it. Fewer where the reply is there
/// first.
#[test]
fn two_of_the_caller_and_three_of_the_lane() {
    let server = Server::start();
    let client = Client::with(Limits::default(), |pool| pool.default_priority(priority(OWN)));
    let probe = server.reference_for(&client.orb);
    // Without one, each call asks the kernel for the thread's: one system call more.
    client.orb.current().set_priority(Priority::MIN).unwrap();
    match count(&client, &probe) {
        Ok((caller, reader)) => {
            eprintln!("{CALLS} calls: {caller} of the caller, {reader} of the lane's thread");
            // A few more where both want the table's lock at the same time.
            let slack = CALLS / 10;
            assert!((CALLS..=2 * CALLS + slack).contains(&caller), "{caller}");
            assert!((2 * CALLS..=3 * CALLS + slack).contains(&reader), "{reader}");
        }
        Err(error) => skip_error(&error),
    }
}
