//! Interceptors that add contexts to every request and every reply cost no heap, and no system call.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use punctual::{ConnectionMode, Interface as _, PolicyOverrides, SystemException, interceptors::*};
use punctual_fixtures::{
    conformance::{Longs, ProbeRef},
    server::Server,
    skip_error,
};
use punctual_os::{TaskId, alloc_counter::count_allocations};
use punctual_system::perf::{Counter, PerfError};

use super::{client, server};

const THERE: u32 = 0x5a5a_0001;
const BACK: u32 = 0x5a5a_0002;

/// Sends a number with each message, of either direction, and counts what comes.
#[derive(Clone, Default)]
struct Busy {
    seen: Arc<[AtomicU64; 2]>,
    slot: Arc<std::sync::OnceLock<SlotId>>,
    value: Arc<u32>,
}

impl Busy {
    fn slot(&self) -> SlotId {
        *self.slot.get().expect("initialized")
    }

    fn value(&self) -> SlotValue {
        Some(Arc::clone(&self.value) as _)
    }

    fn count(&self, which: usize, data: Option<&[u8]>) {
        assert_eq!(data.map(<[u8]>::len), Some([40, 24][which]));
        self.seen[which].fetch_add(1, Ordering::Relaxed);
    }
}

impl ClientRequestInterceptor for Busy {
    fn name(&self) -> &str {
        "busy"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        assert!(info.target().is_equivalent(&info.target()));
        assert!(info.get_slot(self.slot()).is_ok());
        info.arguments()?;
        Ok(info.add_request_service_context(THERE, &[7; 40])?)
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.count(1, info.get_reply_service_context(BACK));
        Ok(())
    }
}

impl ServerRequestInterceptor for Busy {
    fn name(&self) -> &str {
        "busy"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.count(0, info.get_request_service_context(THERE));
        info.set_slot(self.slot(), self.value()).expect("our own");
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        assert!(info.get_slot(self.slot()).expect("our own").is_some());
        info.add_reply_service_context(BACK, &[8; 24])
    }
}

impl OrbInitializer for Busy {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        self.slot.set(info.allocate_slot_id()).expect("once");
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

const CALLS: u64 = 100;

fn assert_no_allocation(how: &str, probe: &ProbeRef, seen: [&Busy; 2]) {
    let numbers: Longs = (0..500).collect();
    let mut reversed = Longs::new();
    let mut calls = |count: u64| {
        for _ in 0..count {
            assert_eq!(probe.twice(21), Ok(42));
            probe.reverse_into(&numbers, &mut reversed).unwrap();
            probe.note(5).unwrap();
            assert_eq!(probe.noted(), Ok(5));
        }
    };
    calls(10);
    probe.allocations().unwrap();
    let before = probe.allocations().unwrap();
    let counts = || {
        [
            seen[0].seen[0].load(Ordering::Relaxed),
            seen[1].seen[1].load(Ordering::Relaxed),
        ]
    };
    let [there, back] = counts();
    let ((), here) = count_allocations(|| calls(CALLS));
    assert_eq!(
        counts(),
        [there + 4 * CALLS, back + 3 * CALLS],
        "{how}: contexts seen"
    );
    let elsewhere = probe.allocations().unwrap() - before;
    assert_eq!((here, elsewhere), (0, 0), "{how}: caller, server");
}

fn both_sides() -> (Busy, Server, Busy, punctual::Orb, ProbeRef) {
    let (ours, theirs) = (Busy::default(), Busy::default());
    let server = server(&theirs);
    let (orb, probe) = client(&ours, &server);
    (theirs, server, ours, orb, probe)
}

#[test]
fn no_allocation_over_a_connection() {
    let (theirs, _server, ours, _orb, probe) = both_sides();
    assert_no_allocation("over a connection", &probe, [&theirs, &ours]);
}

#[test]
fn no_allocation_over_a_shared_connection() {
    let (theirs, _server, ours, orb, probe) = both_sides();
    let pool = orb.threadpool().build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    let shared = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
    let probe: ProbeRef = probe.as_object().with_policies(shared).unchecked();
    assert_no_allocation("over a shared connection", &probe, [&theirs, &ours]);
    orb.shutdown_and_wait().unwrap();
}

#[test]
fn no_allocation_within_the_orb() {
    let both = Busy::default();
    let server = server(&both);
    assert_no_allocation("within the ORB", &server.probe, [&both, &both]);
}

/// System calls of `CALLS` calls on this thread and on the thread that serves them.
fn count(probe: &ProbeRef) -> Result<(u64, u64), PerfError> {
    let lane = TaskId::new(probe.thread().unwrap()).unwrap();
    let (client, lane) = (
        Counter::syscalls(TaskId::current_thread(), false)?,
        Counter::syscalls(lane, false)?,
    );
    (0..10).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    lane.enable().unwrap();
    client.enable().unwrap();
    (0..CALLS).for_each(|_| assert_eq!(probe.twice(21), Ok(42)));
    client.disable().unwrap();
    lane.disable().unwrap();
    // Without the call that pauses the counter of this thread.
    Ok((client.read().unwrap() - 1, lane.read().unwrap()))
}

#[test]
fn two_system_calls_here_and_three_there() {
    let (_theirs, _server, _ours, _orb, probe) = both_sides();
    match count(&probe) {
        Ok((client, lane)) => {
            assert_eq!(client, 2 * CALLS);
            // The wait behind the last call of the warm-up may fall into the count.
            assert!((2 * CALLS..=3 * CALLS + 1).contains(&lane), "{lane}");
        }
        Err(error) => skip_error(&error),
    }
}
