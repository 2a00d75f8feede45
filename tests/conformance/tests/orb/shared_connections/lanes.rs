//! Choice of the lane that reads the replies of threads that serve none.

use std::{
    io,
    sync::{Arc, Mutex},
    thread,
};

use punctual::{
    Completion, LaneWait, Limits, Minor, OrbError, Priority, PriorityModel, SchedulingClass, SystemException,
    SystemExceptionKind as Kind,
    transport::{Layer, Layered, Side, Stream, Tcp, WrappedStream},
};
use punctual_fixtures::{
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE, native, own_native_priority},
    priority,
    real_time::orb_of_class,
    realtime_or_skip,
    server::{Server, Setup},
};

use super::{Client, all_answered, answer, call_all, server_with, shared};

fn policy(minor: Minor) -> SystemException {
    SystemException::new(Kind::InvPolicy, minor, Completion::No)
}

#[test]
fn without_a_pool_there_is_nobody_to_read() {
    let (server, orb) = (Server::start(), punctual_fixtures::server::client());
    orb.add_policies(shared());
    let probe = server.reference_for(&orb);
    let error = probe.twice(1).unwrap_err();
    assert_eq!(error, policy(Minor::NO_REPLY_THREADPOOL));
    assert!(error.to_string().contains("set_reply_threadpool"), "{error}");
    assert_eq!(probe.validate_connection(), Err(error));
    assert_eq!(server.seen(0).requests, 0);
}

#[test]
fn pools_that_cannot_read_are_refused() {
    let (client, other) = (Client::start(), Client::start());
    let foreign = client.orb.set_reply_threadpool(&other.pool);
    assert!(matches!(foreign, Err(OrbError::InvalidThreadPool)));
    let gone = client.orb.threadpool().build().unwrap();
    gone.destroy().unwrap();
    assert!(matches!(
        client.orb.set_reply_threadpool(&gone),
        Err(OrbError::InvalidThreadPool)
    ));
    let blocking = client.orb.threadpool().wait(LaneWait::Blocking).build().unwrap();
    let Err(OrbError::ThreadPool(rule)) = client.orb.set_reply_threadpool(&blocking) else {
        panic!("no thread reads there");
    };
    assert!(rule.contains("`Polled`"), "{rule}");
}

fn lanes() -> Client {
    Client::with(Limits::default(), |pool| {
        pool.lane(priority(LOW), 1).lane(priority(MIDDLE), 1)
    })
}

/// The lowest lane that is not below the caller; another lane is another connection.
#[test]
fn the_callers_priority_chooses_the_lane() {
    let setup = Setup {
        model: Some(PriorityModel::ServerDeclared(Priority::MIN)),
        ..Setup::default()
    };
    let (server, client) = (setup.start(), lanes());
    let probe = server.reference_for(&client.orb);
    for (caller, replies) in [
        (0, [1, 0]),
        (LOW, [2, 0]),
        (LOW + 1, [2, 1]),
        (MIDDLE, [2, 2]),
        (1, [3, 2]),
    ] {
        client.orb.current().set_priority(priority(caller)).unwrap();
        assert_eq!(probe.twice(1), Ok(2));
        assert_eq!([0, 1].map(|lane| client.seen(lane).replies), replies, "{caller}");
    }
    assert_eq!([0, 1].map(|lane| client.seen(lane).connections.shared), [1, 1]);
    assert_eq!(server.seen(0).connections.open, 2);
    client.orb.current().set_priority(priority(MIDDLE + 1)).unwrap();
    let error = probe.twice(1).unwrap_err();
    assert_eq!(error, policy(Minor::NO_LANE_FOR_REPLY));
    assert!(error.to_string().contains("give it a lane"), "{error}");
}

/// Faults of lower callers' connections: one reply not complete, nothing read, too many calls.
#[test]
fn a_high_caller_is_not_behind_low_ones() {
    let client = lanes();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let low = call_all(scope, &probe, [1]);
        let mut slow = listener.accept();
        let due = slow.receive().unwrap();
        // Its lane waits for the rest, and then another low caller's request fills the socket.
        slow.send(&answer(&due)[..10]);
        let large = scope.spawn(|| probe.reverse(&vec![7; 1 << 20]));
        let high = scope.spawn(|| {
            client.orb.current().set_priority(priority(MIDDLE)).unwrap();
            (0..10).for_each(|value| assert_eq!(probe.twice(value), Ok(2 * value)));
        });
        let mut fast = listener.accept();
        for _ in 0..10 {
            let due = fast.receive().unwrap();
            fast.send(&answer(&due));
        }
        high.join().unwrap();
        assert_eq!((client.seen(0).replies, client.seen(1).replies), (0, 10));
        slow.send(&answer(&due)[10..]);
        all_answered(low);
        let due = slow.receive().unwrap();
        slow.send(&due.dialect.reply(due.request().id, 0, |body| body.u32(0)));
        assert_eq!(large.join().unwrap(), Ok(vec![]));
    });
}

/// Notes at which native priority clients read.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<i16>>>);

struct Witnessed {
    stream: Box<dyn Stream>,
    witness: Witness,
}

impl Layer for Witness {
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>> {
        if side == Side::Server {
            return Ok(stream);
        }
        let witness = self.clone();
        Ok(Box::new(Witnessed { stream, witness }))
    }
}

impl WrappedStream for Witnessed {
    fn inner(&self) -> &dyn Stream {
        &*self.stream
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.witness.0.lock().unwrap().push(own_native_priority());
        self.inner().read(buffer)
    }
}

#[test]
fn no_reply_is_read_at_a_lower_priority_than_its_callers() {
    if !realtime_or_skip() {
        return;
    }
    let witness = Witness::default();
    let orb = orb_of_class(SchedulingClass::Fifo)
        .transport(Layered::new(Tcp, witness.clone()))
        .build()
        .unwrap();
    let pool = orb
        .threadpool()
        .lane(priority(LOW), 2)
        .lane(priority(HIGH), 2)
        .build()
        .unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    orb.add_policies(shared());
    let server = server_with(|pool| pool.threads(4));
    let probe: &ProbeRef = &server.reference_for(&orb);
    for (caller, reader) in [(LOW, LOW), (LOW - 100, LOW), (LOW + 1, HIGH), (MIDDLE, HIGH)] {
        witness.0.lock().unwrap().clear();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    orb.current().set_priority(priority(caller)).unwrap();
                    (0..50).for_each(|value| assert_eq!(probe.twice(value), Ok(2 * value)));
                });
            }
        });
        let seen = witness.0.lock().unwrap().clone();
        assert!(!seen.is_empty());
        assert!(
            seen.iter().all(|seen| *seen == native(reader)),
            "{caller}: {seen:?}"
        );
    }
    orb.shutdown_and_wait().unwrap();
}
