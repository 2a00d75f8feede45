//! Servants that answer later, through response handlers (AMH).

mod answers;
mod costs;
mod ends;
mod interceptors;
mod limits;
mod priorities;

use std::sync::{Arc, Mutex, PoisonError};

use punctual::{
    AsyncCall, Interface as _, LaneStatistics, Limits, Minor, Orb, PolicyOverrides, ResponseHandler,
    SystemException, SystemExceptionKind as Kind, ThreadPool, ThreadPoolBuilder,
};
use punctual_fixtures::{
    LONG, eventually,
    later::{Desk, DeskRef, NightDesk, NightDeskRef, desk::ExchangeError},
    real_time::ordinary,
};

type Twice = (i32, ResponseHandler<i32, SystemException>);
type Exchange = (Vec<String>, Vec<String>, ExchangeHandler);
type ExchangeHandler = ResponseHandler<(String, Vec<String>, i16), ExchangeError>;

/// Requests that the servant has not answered yet.
#[derive(Default)]
struct Pile {
    twice: Mutex<Vec<Twice>>,
    exchange: Mutex<Vec<Exchange>>,
    queued: Mutex<Vec<ResponseHandler<i32, SystemException>>>,
    stored: Mutex<Vec<(i32, ResponseHandler<(), SystemException>)>>,
}

impl Pile {
    /// The requests for `twice`, as soon as there are so many, in the order of their arrival.
    fn twice(&self, count: usize) -> Vec<Twice> {
        eventually("the requests have arrived", || lock(&self.twice).len() >= count);
        std::mem::take(&mut *lock(&self.twice))
    }

    fn one(&self) -> Twice {
        let mut all = self.twice(1);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A servant that piles everything up.
struct Clerk(Arc<Pile>);

/// Argument that makes the servant panic while it has its handler.
const PANIC: i32 = 666;

impl Desk for Clerk {
    fn twice(&self, value: i32, response: ResponseHandler<i32, SystemException>) {
        assert_ne!(value, PANIC, "as the client wishes");
        lock(&self.0.twice).push((value, response));
    }

    fn exchange(&self, names: &[&str], pile: Vec<String>, response: ExchangeHandler) {
        let names = names.iter().map(|name| String::from(*name)).collect();
        lock(&self.0.exchange).push((names, pile, response));
    }

    fn queued(&self, response: ResponseHandler<i32, SystemException>) {
        lock(&self.0.queued).push(response);
    }

    fn set_queued(&self, value: i32, response: ResponseHandler<(), SystemException>) {
        lock(&self.0.stored).push((value, response));
    }

    fn now(&self, value: i32) -> Result<i32, SystemException> {
        Ok(value)
    }

    fn nudge(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl NightDesk for Clerk {
    fn rest(&self, value: i32) -> Result<i32, SystemException> {
        Ok(-value)
    }
}

/// A server with one thread, and a client whose replies another thread reads.
struct Office {
    orb: Orb,
    pool: ThreadPool,
    pile: Arc<Pile>,
    /// The client's reference.
    desk: NightDeskRef,
    /// The server's own.
    own: NightDeskRef,
    client: Orb,
}

impl Office {
    fn open() -> Self {
        Self::with(Limits::default(), |pool| pool)
    }

    fn with(limits: Limits, pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder) -> Self {
        let orb = ordinary()
            .limits(limits)
            .listen("iiop://127.0.0.1:0")
            .build()
            .unwrap();
        Self::of(orb, pool)
    }

    fn of(orb: Orb, pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder) -> Self {
        let pool = pool(orb.threadpool()).build().unwrap();
        let poa = orb.root_poa().child("desks").threadpool(&pool).build().unwrap();
        let pile = Arc::new(Pile::default());
        let own: NightDeskRef = poa.activate(Clerk(Arc::clone(&pile))).unwrap();
        let client = ordinary()
            .limits(Limits::default().max_shared_calls(10_000))
            .build()
            .unwrap();
        let replies = client.threadpool().build().unwrap();
        client.set_reply_threadpool(&replies).unwrap();
        client.add_policies(PolicyOverrides::new().roundtrip_timeout(LONG));
        let desk = client.resolve(&own.as_object().to_ior()).unwrap();
        Self {
            orb,
            pool,
            pile,
            desk,
            own,
            client,
        }
    }

    fn seen(&self) -> LaneStatistics {
        self.pool.statistics()[0].1
    }
}

impl Drop for Office {
    fn drop(&mut self) {
        self.client.shutdown_and_wait().unwrap();
        self.orb.shutdown_and_wait().unwrap();
    }
}

fn refused(result: Result<i32, SystemException>) -> (Kind, Minor) {
    let exception = result.unwrap_err();
    (exception.kind, exception.minor)
}

/// Calls that have been sent, with their arguments.
fn calls(desk: &DeskRef, values: std::ops::Range<i32>) -> Vec<AsyncCall<i32, SystemException>> {
    values.map(|value| desk.twice_async(value)).collect()
}
