//! Dynamic threads that the system refuses. A test of its own, because it limits the process.

use std::{fs, process::Command, sync::Barrier, thread, time::Duration};

use punctual_fixtures::{
    Missing,
    server::{Server, client},
    skip_part,
};

const STACK: usize = 64 << 20;

/// Limits the address space to what there is, and a little more. `false`: that cannot be done here.
pub fn limit_memory(more: u64) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kibibytes: u64 = size
        .and_then(|size| size.trim().trim_end_matches(" kB").parse().ok())
        .expect("a size in kB");
    let limit = kibibytes * 1024 + more;
    let prlimit = Command::new("prlimit")
        .args([
            "--pid",
            &std::process::id().to_string(),
            &format!("--as={limit}:"),
        ])
        .status();
    prlimit.is_ok_and(|status| status.success())
}

pub fn a_refused_thread_is_counted_and_its_requests_are_served_later() {
    let server = Server::with_pool(|pool| pool.threads(1).dynamic_threads(2).stack_bytes(STACK));
    let client = client();
    let probe = server.reference_for(&client);
    let seen = || server.pool.statistics()[0].1;
    let late: punctual_fixtures::conformance::ProbeRef =
        probe.with_timeout(Duration::from_secs(15)).unchecked();
    let limited = Barrier::new(3);
    thread::scope(|scope| {
        // The callers' own threads, and the heaps that the C library reserves for them, are there before
        // memory is short.
        let calls = [1, 2].map(|value| {
            let (late, limited) = (&late, &limited);
            scope.spawn(move || {
                std::hint::black_box(vec![1_u8; 64]);
                limited.wait();
                limited.wait();
                assert_eq!(late.wait_at_gate(value), Ok(value));
            })
        });
        limited.wait();
        let is_limited = limit_memory(32 << 20);
        limited.wait();
        server.hooks.await_at_gate(1);
        if is_limited {
            let now = seen();
            assert_eq!(
                (now.threads.present, now.threads.dynamic, now.threads.failures),
                (1, 0, 1)
            );
            // The other call waits for the only thread there is.
            thread::sleep(Duration::from_millis(50));
            assert_eq!(server.hooks.arrived_at_gate(), 1);
            assert!(!calls.iter().any(|call| call.is_finished()));
        } else {
            skip_part(Missing::Peer, "no `prlimit`");
        }
        server.hooks.open_gate();
    });
    assert_eq!(server.hooks.arrived_at_gate(), 2, "both are served");
}
