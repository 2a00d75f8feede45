//! Calls of several threads over one connection, whose replies a lane's threads read:
//! `ConnectionMode::Shared`.

mod bidirectional;
mod costs;
mod ends;
mod fragments;
mod hostile_servers;
mod lanes;
mod limits;
mod own_lanes;
mod sharing;

use std::{
    thread::{Scope, ScopedJoinHandle},
    time::Duration,
};

use punctual::{
    Completion, ConnectionMode, LaneStatistics, Limits, Minor, Orb, PolicyOverrides, SchedulingClass,
    SystemException, SystemExceptionKind as Kind, ThreadPool, ThreadPoolBuilder,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{Listener, Peer},
    real_time::orb_of_class,
    recorder::resolve,
    server::{Server, reference},
    wire::{Dialect, Message},
};

/// Function that gives a pool this shape.
type Shape = fn(ThreadPoolBuilder) -> ThreadPoolBuilder;

/// An ORB all of whose calls share connections, and the pool that reads the replies.
struct Client {
    orb: Orb,
    pool: ThreadPool,
}

impl Client {
    /// Starts it with one thread that reads.
    fn start() -> Self {
        Self::with(Limits::default(), |pool| pool)
    }

    fn with(limits: Limits, shape: Shape) -> Self {
        Self::of_class(SchedulingClass::Other, limits, shape)
    }

    fn of_class(class: SchedulingClass, limits: Limits, shape: Shape) -> Self {
        let orb = orb_of_class(class).limits(limits).build().unwrap();
        let pool = shape(orb.threadpool()).build().unwrap();
        orb.set_reply_threadpool(&pool).unwrap();
        // Longer than any test: one that fails should not wait forever as well.
        orb.add_policies(shared().roundtrip_timeout(Duration::from_secs(60)));
        Self { orb, pool }
    }

    fn seen(&self, lane: usize) -> LaneStatistics {
        self.pool.statistics()[lane].1
    }

    /// A server that the test plays, and this client's reference to it.
    fn playing(&self) -> (Listener, ProbeRef) {
        let listener = Listener::open();
        let probe = resolve(&self.orb, &reference([1, 2], listener.port, b"played", &[]));
        (listener, probe)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.orb.shutdown_and_wait().unwrap();
    }
}

fn shared() -> PolicyOverrides {
    PolicyOverrides::new().connection_mode(ConnectionMode::Shared)
}

/// A server with so many threads.
fn server_with(shape: Shape) -> Server {
    Server::with_pool(shape)
}

type Twice<'s> = ScopedJoinHandle<'s, Result<i32, SystemException>>;

/// Calls `twice` on threads of their own, one for each value.
fn call_all<'s>(
    scope: &'s Scope<'s, '_>,
    probe: &'s ProbeRef,
    values: impl IntoIterator<Item = i32>,
) -> Vec<(i32, Twice<'s>)> {
    let call = |value| (value, scope.spawn(move || probe.twice(value)));
    values.into_iter().map(call).collect()
}

/// Each call has its result.
fn all_answered(calls: Vec<(i32, Twice<'_>)>) {
    for (value, call) in calls {
        assert_eq!(call.join().unwrap(), Ok(2 * value));
    }
}

/// Each call ends with this exception.
fn all_failed(calls: Vec<(i32, Twice<'_>)>, expected: SystemException) {
    for (_, call) in calls {
        assert_eq!(call.join().unwrap(), Err(expected));
    }
}

/// Receives so many requests.
fn requests(peer: &mut Peer, count: usize) -> Vec<Message> {
    (0..count).map(|_| peer.receive().expect("a request")).collect()
}

/// The honest answer to `twice`.
fn answer(request: &Message) -> Vec<u8> {
    let value = request.request().body.i32();
    doubled(request.dialect, request.request().id, value)
}

fn doubled(dialect: Dialect, id: u32, value: i32) -> Vec<u8> {
    dialect.reply(id, 0, |body| body.i32(2 * value))
}

fn lost() -> SystemException {
    SystemException::new(Kind::CommFailure, Minor::CONNECTION_LOST, Completion::Maybe)
}
