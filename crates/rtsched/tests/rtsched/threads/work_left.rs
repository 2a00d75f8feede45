//! The execution time that a thread takes to another host, and what remains of it when the thread returns.

use std::{sync::Arc, time::Duration};

use punctual_orb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Interrupt, OrbInitInfo, OrbInitializer,
};
use punctual_os::{PiMutex, clock};
use punctual_rtsched::{Preemption, RtScheduling, SchedulingError};
use punctual_sched::dynamic::{
    MinimumLaxityFirst, ParameterKind, Scheduler, SchedulingParameters, Slot, Time,
};

use super::hosts::{Host, WorkerRef, trusting};

const WORK: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3600);

fn laxity(execution_time: Duration) -> SchedulingParameters {
    SchedulingParameters::Laxity {
        deadline: Time::NEVER,
        execution_time,
        importance: 0,
    }
}

/// Uses processor time.
fn work(time: Duration) {
    let end = clock::thread_cpu_time() + time;
    while clock::thread_cpu_time() < end {}
}

/// Execution time of the current thread, as the application sees it.
fn execution_time(scheduling: &RtScheduling) -> Duration {
    let parameters = scheduling.current().scheduling_parameter().unwrap();
    parameters.execution_time().unwrap()
}

/// MLF with a record of what threads had received when they last got ready.
struct Keeping {
    decides: MinimumLaxityFirst,
    received: Arc<PiMutex<Duration>>,
}

impl Scheduler for Keeping {
    fn name(&self) -> &str {
        "keeping"
    }

    fn kind(&self) -> ParameterKind {
        self.decides.kind()
    }

    fn reserve(&mut self, threads: usize) {
        self.decides.reserve(threads);
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        *self.received.lock() = received;
        self.decides.ready(thread, parameters, received, now);
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        self.decides.update(thread, parameters, received, now);
    }

    fn remove(&mut self, thread: Slot, now: Time) {
        self.decides.remove(thread, now);
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        self.decides.choose(processors, now, received, chosen);
    }
}

fn by_laxity() -> (RtScheduling, Arc<PiMutex<Duration>>) {
    let received = Arc::new(PiMutex::new(Duration::ZERO));
    let scheduler = Keeping {
        decides: MinimumLaxityFirst::new(),
        received: Arc::clone(&received),
    };
    let scheduling = trusting()
        .scheduler(scheduler)
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    (scheduling, received)
}

/// A host and an object that works, and records the execution time that it was given.
fn server() -> (Host, WorkerRef, Arc<PiMutex<Vec<Duration>>>) {
    let host = Host::with(by_laxity().0);
    let given = Arc::new(PiMutex::new(Vec::new()));
    let (note, at_server) = (Arc::clone(&given), host.scheduling.clone());
    let worker = host.serve(move |value| {
        note.lock().push(execution_time(&at_server));
        work(WORK);
        Ok(value)
    });
    (host, worker, given)
}

/// Uses processor time on the calling thread while the head is away.
#[derive(Clone)]
struct Works;

impl ClientRequestInterceptor for Works {
    fn name(&self) -> &str {
        "works"
    }

    fn send_request(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        work(10 * WORK);
        Ok(())
    }
}

impl OrbInitializer for Works {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

#[test]
fn the_remaining_work_travels_and_remains_on_return() {
    let (_server, worker, given) = server();
    let (scheduling, received) = by_laxity();
    let client = Host::intercepted(scheduling.clone(), &Works);
    let worker = client.resolve(&worker);
    let before = clock::thread_cpu_time();
    let called = scheduling.current().segment("track", laxity(LONG), |_| {
        work(WORK);
        let at_call = clock::thread_cpu_time();
        worker.work(1)?;
        let first = given.lock()[0];
        assert!(first <= LONG - WORK, "{first:?}");
        assert!(
            first + WORK > LONG - (at_call - before),
            "the work before the call, and not much more: {first:?}"
        );
        // Neither the work of the servant nor that of this OS thread meanwhile.
        let had = *received.lock();
        assert!(had >= LONG - first && had < LONG - first + WORK, "{had:?}");
        assert_eq!(execution_time(&scheduling), LONG, "as set by the application");
        worker.work(2)?;
        let second = given.lock()[1];
        assert!(second <= first && second > first - WORK, "{first:?} {second:?}");
        Ok::<_, SchedulingError>(())
    });
    called.unwrap();
}

#[test]
fn each_host_subtracts_its_work() {
    let (_last, last_worker, given) = server();
    let middle = Host::with(by_laxity().0);
    let (last_worker, at_middle) = (middle.resolve(&last_worker), middle.scheduling.clone());
    let worker = middle.serve(move |_| {
        let given = execution_time(&at_middle);
        work(WORK);
        last_worker.work(1)?;
        Ok(given.as_micros() as i32)
    });
    let (client, _) = by_laxity();
    let client = Host::with(client);
    let worker = client.resolve(&worker);
    let execution_time = Duration::from_secs(1);
    let called = client
        .scheduling
        .current()
        .segment("track", laxity(execution_time), |_| {
            work(WORK);
            Ok::<_, SchedulingError>(worker.work(1)?)
        });
    let at_middle = Duration::from_micros(called.unwrap() as u64);
    assert!(at_middle <= execution_time - WORK);
    assert!(given.lock()[0] <= at_middle + Duration::from_micros(1) - WORK);
}

#[test]
fn an_overrun_leaves_zero_work() {
    let (_server, worker, given) = server();
    let client = Host::with(by_laxity().0);
    let worker = client.resolve(&worker);
    let called = client
        .scheduling
        .current()
        .segment("track", laxity(WORK / 2), |_| {
            work(WORK);
            Ok::<_, SchedulingError>(worker.work(1)?)
        });
    called.unwrap();
    assert_eq!(*given.lock(), [Duration::ZERO]);
}

#[test]
fn a_thread_spawned_by_a_oneway_call_has_all_of_its_work_left() {
    let (server, worker, given) = server();
    let client = Host::with(by_laxity().0);
    let worker = client.resolve(&worker);
    let called = client.scheduling.current().segment("track", laxity(LONG), |_| {
        work(WORK);
        Ok::<_, SchedulingError>(worker.post(1)?)
    });
    called.unwrap();
    punctual_fixtures::eventually("it has ended", || {
        server.scheduling.threads() == 0 && !given.lock().is_empty()
    });
    assert_eq!(*given.lock(), [LONG]);
}
