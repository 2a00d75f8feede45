//! Hosts, and objects that run closures of the test.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use punctual_fixtures::eventually;
use punctual_orb::{Orb, Peers, PriorityModel, interceptors::OrbInitializer};
use punctual_os::PiMutex;
use punctual_rtsched::{
    AcceptedClaims, Preemption, RtScheduling, RtSchedulingBuilder, SchedulingError, ThreadStatus,
};
use punctual_sched::dynamic::SchedulingParameters;
use punctual_stub::rt::{
    AsyncCall, Decode, Encode, Encoder, Interface, ObjectRef, Phase, Skeleton, SystemException, Upcall,
    one_result,
};
use punctual_types::Priority;

/// Starts a builder that accepts all claims of this host.
pub fn trusting() -> RtSchedulingBuilder {
    RtScheduling::builder().accept_claims(Peers::SameHost, AcceptedClaims::all().above_lane(true))
}

/// An endsystem with the default scheduler, without preemption.
pub fn cooperative() -> RtScheduling {
    trusting()
        .preemption(Preemption::Cooperative)
        .record_decisions(1000)
        .build()
        .unwrap()
}

pub fn importance(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

/// A host: an endsystem, and an ORB with a lane of two threads.
pub struct Host {
    pub scheduling: RtScheduling,
    pub orb: Orb,
}

impl Host {
    pub fn new() -> Self {
        Self::with(cooperative())
    }

    pub fn with(scheduling: RtScheduling) -> Self {
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1")
            .initializer(&scheduling)
            .build()
            .unwrap();
        Self { scheduling, orb }
    }

    /// Creates a host that only calls, with an additional interceptor.
    pub fn intercepted(
        scheduling: RtScheduling,
        interceptor: &(impl OrbInitializer + Clone + 'static),
    ) -> Self {
        let orb = Orb::builder()
            .initializer(&scheduling)
            .initializer(interceptor)
            .build()
            .unwrap();
        Self { scheduling, orb }
    }

    /// Creates a host that can make asynchronous calls.
    pub fn with_replies(scheduling: RtScheduling) -> Self {
        let host = Self::with(scheduling);
        let pool = host.orb.threadpool().lane(Priority::MIN, 1).build().unwrap();
        host.orb.set_reply_threadpool(&pool).unwrap();
        host
    }

    /// Activates an object of this host whose operation is `work`.
    pub fn serve(
        &self,
        work: impl Fn(i32) -> Result<i32, SystemException> + Send + Sync + 'static,
    ) -> WorkerRef {
        self.serve_with(2, work)
    }

    /// Like `serve`, on a lane of `threads` threads.
    pub fn serve_with(
        &self,
        threads: usize,
        work: impl Fn(i32) -> Result<i32, SystemException> + Send + Sync + 'static,
    ) -> WorkerRef {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let pool = self
            .orb
            .threadpool()
            .lane(Priority::MIN, threads)
            .build()
            .unwrap();
        let poa = self
            .orb
            .root_poa()
            .child(&format!("worker-{number}"))
            .threadpool(&pool)
            .priority_model(PriorityModel::ServerDeclared(Priority::MIN))
            .build()
            .unwrap();
        poa.activate(Worker(Box::new(work))).unwrap()
    }

    /// Returns the reference to the object at this host.
    pub fn resolve(&self, worker: &WorkerRef) -> WorkerRef {
        self.orb.resolve(&worker.as_object().to_ior()).unwrap()
    }
}

/// The servant.
pub struct Worker(Work);

type Work = Box<dyn Fn(i32) -> Result<i32, SystemException> + Send + Sync>;

/// A reference to a servant.
#[derive(Clone)]
pub struct WorkerRef(ObjectRef);

impl WorkerRef {
    /// Makes a two-way call.
    pub fn work(&self, value: i32) -> Result<i32, SystemException> {
        let mut result = 0;
        self.0.call::<SystemException>("work", |phase| match phase {
            Phase::Arguments(encoder) => value.encode(encoder),
            Phase::Results(decoder) => result.decode_into(decoder),
        })?;
        Ok(result)
    }

    /// Makes an asynchronous call.
    pub fn work_later(&self, value: i32) -> AsyncCall<i32, SystemException> {
        let arguments = &mut |encoder: &mut Encoder<'_>| value.encode(encoder);
        self.0.call_async("work", arguments, one_result)
    }

    /// Makes a oneway call.
    pub fn post(&self, value: i32) -> Result<(), SystemException> {
        self.0.oneway("post", |phase| match phase {
            Phase::Arguments(encoder) => value.encode(encoder),
            Phase::Results(_) => Ok(()),
        })
    }

    /// Returns the reference with a timeout.
    pub fn within(&self, time: Duration) -> Self {
        Self(self.0.with_timeout(time))
    }
}

impl Interface for WorkerRef {
    const REPOSITORY_ID: &'static str = "IDL:Worker:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Skeleton<Worker> for WorkerRef {
    fn dispatch(servant: &Worker, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let value: i32 = upcall.argument()?;
        let result = (servant.0)(value)?;
        match upcall.operation() {
            "work" => upcall.reply(|reply| result.encode(reply)),
            "post" => Ok(()),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

/// Log of events, in order.
#[derive(Clone, Default)]
pub struct Log(Arc<PiMutex<Vec<String>>>);

impl Log {
    pub fn add(&self, line: impl Into<String>) {
        self.0.lock().push(line.into());
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().clone()
    }

    /// Returns the events since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

/// Waits until a thread of that name has that status here.
pub fn await_status(scheduling: &RtScheduling, name: &str, status: ThreadStatus) {
    eventually(&format!("{name} is {status:?}"), || {
        let threads = scheduling.snapshot();
        threads
            .iter()
            .any(|thread| thread.name == name && thread.status == status)
    });
}

/// Decisions without their times.
pub fn decisions(scheduling: &RtScheduling) -> Vec<String> {
    let decisions = scheduling.decisions();
    decisions
        .iter()
        .map(|decision| format!("{} {}", decision.name(), decision.switch))
        .collect()
}

/// The system exception of a failed scheduling point.
pub fn system(error: SchedulingError) -> SystemException {
    match error {
        SchedulingError::System(exception) => exception,
        other => panic!("{other}"),
    }
}
