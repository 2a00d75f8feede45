//! The system calls of one call, as the kernel counts them.

use punctual::{
    Orb, PolicyOverrides, Priority, PriorityBand, PriorityModel, Protocol, ProtocolPolicy,
    ProtocolProperties, QueueLimits, SchedulingClass,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    real_time::{ordinary, ordinary_client},
    realtime_or_skip,
    server::{self, Server, Setup},
    skip_error,
};
use punctual_os::TaskId;
use punctual_system::perf::{Counter, PerfError};

const CALLS: u64 = 100;

/// System calls of `CALLS` calls on this thread and on the thread that serves them.
fn count(probe: &ProbeRef) -> Result<(u64, u64), PerfError> {
    let lane = TaskId::new(probe.thread().unwrap()).unwrap();
    let (client, lane) = (
        Counter::syscalls(TaskId::current_thread(), false)?,
        Counter::syscalls(lane, false)?,
    );
    (0..10).for_each(|_| assert_eq!(probe.twice(1).unwrap(), 2));
    lane.enable().unwrap();
    client.enable().unwrap();
    for _ in 0..CALLS {
        assert_eq!(probe.twice(21).unwrap(), 42);
    }
    client.disable().unwrap();
    lane.disable().unwrap();
    // Without the call that pauses the counter of this thread.
    Ok((client.read().unwrap() - 1, lane.read().unwrap()))
}

/// Exactly one write and one read here; there a wait, a read and a write.
fn assert_within_budget(name: &str, probe: &ProbeRef) {
    // A caller with a deadline that is preempted before it waits sets a shorter timeout, which is one more
    // system call.
    let is_exact =
        |counts: &Result<(u64, u64), PerfError>| !matches!(counts, Ok((client, _)) if *client > 2 * CALLS);
    let mut counts = count(probe);
    for _ in 0..5 {
        if !is_exact(&counts) {
            counts = count(probe);
        }
    }
    match counts {
        Ok((client, lane)) => {
            assert_eq!(client, 2 * CALLS, "{name}: the client");
            // The wait behind the last call of the warm-up may fall into the count.
            assert!(
                (2 * CALLS..=3 * CALLS + 1).contains(&lane),
                "{name}: the lane, {lane}"
            );
        }
        Err(error) => skip_error(&error),
    }
}

#[test]
fn a_call_costs_two_here_and_three_there() {
    let server = Server::start();
    assert_within_budget("plain", &server.reference_for(&server::client()));
}

#[test]
fn a_coarse_deadline_costs_nothing() {
    let (server, client) = (Server::start(), server::client());
    let probe = server.reference_for(&client);
    let probe = probe.with_timeout(std::time::Duration::from_secs(5));
    assert_within_budget("deadline", &probe.unchecked());
}

/// Bands, a private connection, and timeouts that the server is told: set at each of the three scopes.
#[test]
fn nor_do_policies() {
    let server =
        Server::with_propagated_priorities(Priority::MIN, |pool| pool.default_priority(Priority::MAX));
    let client = ordinary_client();
    client.current().set_priority(Priority::MIN).unwrap();
    let policies = PolicyOverrides::new()
        .priority_bands([PriorityBand::new(Priority::MIN, Priority::MAX)])
        .private_connection(true)
        .roundtrip_timeout(std::time::Duration::from_secs(5))
        .sends_deadlines(true);
    let probe = server.reference_for(&client);
    let own: ProbeRef = probe.with_policies(policies.clone()).unchecked();
    assert_within_budget("of the reference", &own);
    client.current().replace_policies(policies.clone());
    assert_within_budget("of the thread", &probe);
    client.current().replace_policies(PolicyOverrides::new());
    client.replace_policies(policies);
    assert_within_budget("of the ORB", &probe);
}

#[test]
fn nor_does_a_priority_that_selects_a_lane() {
    let server = Server::with_propagated_priorities(Priority::MIN, |pool| {
        pool.lane(Priority::MIN, 1).lane(Priority::MAX, 1)
    });
    let client = ordinary_client();
    client.current().set_priority(Priority::MAX).unwrap();
    assert_within_budget("lanes", &server.reference_for(&client));
    let [low, high] = [0, 1].map(|lane| server.pool.statistics()[lane].1.requests);
    assert!(low == 0 && high > 0, "{low} {high}");
}

/// Each request leaves no thread waiting in its lane of one thread: that arms the lane below, unless it is
/// armed still.
#[test]
fn a_lane_that_may_borrow_pays_one_for_each_lane_below() {
    let server = Server::with_propagated_priorities(Priority::MIN, |pool| {
        pool.lane(Priority::MIN, 1)
            .lane(Priority::MAX, 1)
            .allow_borrowing(true)
    });
    let client = ordinary_client();
    client.current().set_priority(Priority::MAX).unwrap();
    let probe = server.reference_for(&client);
    match count(&probe) {
        Ok((client, lane)) => {
            assert_eq!(client, 2 * CALLS, "the client");
            assert!((2 * CALLS..=4 * CALLS + 1).contains(&lane), "the lane, {lane}");
        }
        Err(error) => skip_error(&error),
    }
}

/// The thread of this process with this name.
fn thread_named(wanted: &str) -> TaskId {
    let named = std::fs::read_dir("/proc/self/task").unwrap().find_map(|task| {
        let path = task.unwrap().path();
        let name = std::fs::read_to_string(path.join("comm")).ok()?;
        (name.trim_end() == wanted).then(|| path.file_name()?.to_str()?.parse().ok())?
    });
    TaskId::new(named.expect("it was started")).unwrap()
}

#[test]
fn with_buffering_two_threads_share_the_work() {
    let server = Server::with_pool(|pool| pool.request_buffering(QueueLimits::default()));
    assert_two_share_the_work(&server);
}

/// No lower lane is called while the lane's own thread is free.
#[test]
fn borrowing_adds_nothing_to_that_while_it_is_not_needed() {
    let server = Server::with_propagated_priorities(Priority::MIN, |pool| {
        pool.lane(Priority::MIN, 1)
            .lane(Priority::MAX, 1)
            .allow_borrowing(true)
            .request_buffering(QueueLimits::default())
    });
    assert_two_share_the_work(&server);
    let [low, high] = [0, 1].map(|lane| server.seen(lane));
    assert_eq!((low.requests, low.threads.lent, high.threads.borrowed), (0, 0, 0));
}

/// The reading thread waits, reads and wakes; the serving one sleeps and writes.
fn assert_two_share_the_work(server: &Server) {
    let client = ordinary_client();
    client.current().set_priority(Priority::MAX).unwrap();
    let probe = server.reference_for(&client);
    let serving = probe.thread().unwrap();
    let name = std::fs::read_to_string(format!("/proc/self/task/{serving}/comm")).unwrap();
    let reading = thread_named(name.trim_end().replace(".0", ".io").as_str());
    let [serving, reading] =
        [TaskId::new(serving).unwrap(), reading].map(|thread| Counter::syscalls(thread, false));
    let (serving, reading) = match (serving, reading) {
        (Ok(serving), Ok(reading)) => (serving, reading),
        (Err(error), _) | (_, Err(error)) => return skip_error(&error),
    };
    (0..10).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    serving.enable().unwrap();
    reading.enable().unwrap();
    (0..CALLS).for_each(|_| assert_eq!(probe.twice(21), Ok(42)));
    serving.disable().unwrap();
    reading.disable().unwrap();
    // As many as told or fewer, where data is there before a thread sleeps, and a few where both want the
    // queue's lock.
    let (serving, reading) = (serving.read().unwrap(), reading.read().unwrap());
    assert!((CALLS..=2 * CALLS + 10).contains(&serving), "serving: {serving}");
    assert!((CALLS..=3 * CALLS + 10).contains(&reading), "reading: {reading}");
}

/// Without lanes the thread takes on the request's priority and goes back: two more.
#[test]
fn a_priority_without_lanes_costs_two_more_there() {
    if !realtime_or_skip() {
        return;
    }
    let setup = Setup {
        model: Some(PriorityModel::ServerDeclared(Priority::MIN)),
        pool: |pool| pool.default_priority(Priority::MAX),
        class: SchedulingClass::Fifo,
        ..Setup::default()
    };
    let server = setup.start();
    match count(&server.reference_for(&server::client())) {
        Ok((client, thread)) => {
            assert_eq!(client, 2 * CALLS);
            assert!((4 * CALLS..=5 * CALLS + 1).contains(&thread), "{thread}");
        }
        Err(error) => skip_error(&error),
    }
}

#[test]
fn calls_inside_one_orb_cost_none() {
    let server = Server::start();
    let probe = &server.probe;
    let counter = match Counter::syscalls(TaskId::current_thread(), false) {
        Ok(counter) => counter,
        Err(error) => return skip_error(&error),
    };
    (0..10).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    counter.enable().unwrap();
    (0..CALLS).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    counter.disable().unwrap();
    assert_eq!(counter.read().unwrap() - 1, 0);
}

/// A server that listens at `endpoint`, with an ordinary thread.
fn server_at(endpoint: &str, protocols: ProtocolPolicy) -> Server {
    let orb = ordinary()
        .listen(endpoint)
        .server_protocols(protocols)
        .build()
        .unwrap();
    let low = Priority::MIN;
    let pool = orb
        .threadpool()
        .lane(low, 1)
        .lane(Priority::MAX, 1)
        .build()
        .unwrap();
    let model = client_propagated(low);
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    Server::with_poa(orb, pool, poa)
}

fn client_with(protocols: ProtocolPolicy) -> Orb {
    let client = ordinary().client_protocols(protocols).build().unwrap();
    client.current().set_priority(Priority::MAX).unwrap();
    client
}

#[test]
fn unix_sockets_cost_as_many() {
    let unix = ProtocolPolicy::new([Protocol::UIOP]);
    let server = server_at("uiop://", unix.clone());
    let client = client_with(unix);
    assert_within_budget("unix", &server.reference_for(&client));
}

#[test]
fn nor_does_a_network_priority_that_stays_the_same() {
    let mut properties = ProtocolProperties::default();
    properties.enable_network_priority = true;
    let marked = ProtocolPolicy::new([Protocol::IIOP.with(properties)]);
    let server = server_at("iiop://127.0.0.1:0", marked.clone());
    let client = client_with(marked);
    assert_within_budget("network priority", &server.reference_for(&client));
}
