//! Calls whose results are futures, on executors as small as can be, and without one.

mod callbacks;
mod costs;
mod ends;
mod following;
mod interceptors;
mod origins;
mod results;
mod timeouts;
mod upcalls;
mod wakers;

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use punctual::{
    AsyncCall, Completion, LaneStatistics, Limits, Minor, Orb, PolicyOverrides, SystemException,
    SystemExceptionKind as Kind, ThreadPool,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{Listener, Peer},
    real_time::ordinary,
    recorder::resolve,
    server::reference,
    wire::Message,
};

/// An ORB and the one thread that reads its replies. Its policies are those of any ORB, but that no test
/// waits forever.
struct Client {
    orb: Orb,
    pool: ThreadPool,
}

impl Client {
    fn start() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let orb = ordinary().limits(limits).build().unwrap();
        let pool = orb.threadpool().build().unwrap();
        orb.set_reply_threadpool(&pool).unwrap();
        orb.add_policies(PolicyOverrides::new().roundtrip_timeout(Duration::from_secs(60)));
        Self { orb, pool }
    }

    fn seen(&self) -> LaneStatistics {
        self.pool.statistics()[0].1
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

/// Less than the timeout of calls: a caller that was woken by that only is noticed.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An executor of one future, which sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, start) = (pin!(future), Instant::now());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park_timeout(TIMEOUT);
        assert!(start.elapsed() < TIMEOUT, "the task was not woken");
    }
}

/// Counts who wakes it.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        (Arc::clone(&count), Waker::from(count))
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Twice = AsyncCall<i32, SystemException>;

fn poll_with(call: &mut Twice, waker: &Waker) -> Poll<Result<i32, SystemException>> {
    pin!(call).poll(&mut Context::from_waker(waker))
}

/// Receives so many requests.
fn requests(peer: &mut Peer, count: usize) -> Vec<Message> {
    (0..count).map(|_| peer.receive().expect("a request")).collect()
}

/// The honest answer to `twice`.
fn answer(request: &Message) -> Vec<u8> {
    let value = request.request().body.i32();
    let id = request.request().id;
    request.dialect.reply(id, 0, |body| body.i32(2 * value))
}

fn comm_failure(minor: Minor) -> SystemException {
    SystemException::new(Kind::CommFailure, minor, Completion::Maybe)
}

fn lost() -> SystemException {
    comm_failure(Minor::CONNECTION_LOST)
}

fn late() -> SystemException {
    SystemException::new(Kind::Timeout, Minor::REPLY_TIMED_OUT, Completion::Maybe)
}
