//! Many hosts and threads. `docs/simulation/fleet.toml` is the full-size model (1,000 hosts, 100,000
//! threads).

use punctual_sched::simulator::{Arrival, Call, Step};

use crate::simulator::support::*;

#[test]
fn a_thousand_hosts_and_ten_thousand_threads() {
    let count = 1_000;
    let next: Vec<usize> = (0..count).map(|host| (host + 1) % count).collect();
    let call = Call {
        hosts: next,
        steps: vec![compute(1)],
        request_bytes: 100,
        reply_bytes: 100,
        deadline: None,
        shedding: None,
    };
    let mut task = once(
        "t",
        0,
        1,
        vec![compute(1), Step::Call(call), Step::Sleep(MS * 100), compute(1)],
    );
    task.hosts = (0..count).collect::<Vec<_>>().repeat(10);
    task.arrival = Arrival::Once { at: at(0) };
    let mut model = hosts(count, vec![task]);
    model.network.latency = MS;
    let (_, statistics) = simulate(&model, "MUF", 1, MS * 500);
    assert_eq!(statistics.tasks[0].made, 10_000);
    assert_eq!(statistics.most_threads, 10_000);
    // Each host computes for its own ten threads and for its neighbour's.
    assert!(statistics.hosts.iter().all(|host| host.busy == MS * 30));
}
