//! One endsystem of these experiments: the runtime with a scheduler and an ORB, and its threads.

use punctual::{Orb, Peers, Priority};
use punctual_os::Thread;
use punctual_rtsched::{AcceptedClaims, BuildError, Current, Mechanism, RtScheduling, SchedulingError};
use punctual_sched::{
    dynamic::{SheddingPolicy, Time, TimedWork},
    simulator::Parameters,
};

use super::disciplines::Named;
use crate::{
    error::Error,
    idl::dynamic::dynamic::{Host, HostRef},
    load::priority,
    os::{self, fifo},
};

/// Above the priorities that the runtime assigns, so that a thread begins its segment as soon as it wakes up.
pub(super) const OUTSIDE: i16 = 92;

/// Most distributable threads of a host: arrivals in the queue of an overloaded processor.
const MAX_THREADS: usize = 8_192;

/// One host.
pub(super) struct Endsystem {
    scheduling: RtScheduling,
    orb: Orb,
    /// Number of threads for upcalls.
    threads: usize,
}

impl Endsystem {
    /// Starts an endsystem with a scheduler. It serves calls in this number of threads if an address is
    /// given.
    pub(super) fn start(named: Named, threads: usize, address: Option<&str>) -> Result<Self, Error> {
        let scheduling = RtScheduling::builder()
            .scheduler(named.scheduler())
            .mechanism(mechanism(named))
            .processors(1)
            .max_threads(MAX_THREADS)
            .accept_claims(Peers::Everyone, AcceptedClaims::all().above_lane(true))
            .build()?;
        let orb = Orb::builder().initializer(&scheduling);
        let orb = match address {
            Some(address) => orb.listen(format!("iiop://{address}:0")),
            None => orb,
        };
        Ok(Self {
            orb: orb.build()?,
            scheduling,
            threads,
        })
    }

    /// Installs dispatching by the kernel's SCHED_DEADLINE.
    pub(super) fn install_deadline_class(&self) -> Result<(), BuildError> {
        let scheduler = Named::Edf.scheduler();
        self.scheduling
            .manager()
            .install(scheduler, Mechanism::KernelDeadline)
    }

    pub(super) fn orb(&self) -> &Orb {
        &self.orb
    }

    /// Installs another scheduler.
    pub(super) fn install(&self, named: Named) -> Result<(), Error> {
        Ok(self
            .scheduling
            .manager()
            .install(named.scheduler(), mechanism(named))?)
    }

    /// Activates a servant and returns its reference.
    pub(super) fn activate(&self, host: impl Host) -> Result<String, Error> {
        let pool = self.orb.threadpool().threads(self.threads);
        let pool = pool.default_priority(Priority::new(priority::HIGH)?).build()?;
        let poa = self.orb.root_poa().child("hosts").threadpool(&pool).build()?;
        let reference: HostRef = poa.activate(host)?;
        Ok(reference.to_ior())
    }

    /// Runs `work` as a distributable thread with these parameters, and with its own deadline and policy;
    /// other deadlines count from `from`.
    pub(super) fn timed_segment<R, E: From<SchedulingError>>(
        &self,
        named: Named,
        name: &str,
        (parameters, from): (&Parameters, Time),
        (timed, policy): Timed,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let parameters = parameters.at(named.kind(), from);
        let current = self.scheduling.current();
        current.timed_segment(name, parameters, timed, policy, |_| work())
    }

    /// Runs `work` as a distributable thread with these parameters; its deadline counts from `from`.
    pub(super) fn segment<R, E: From<SchedulingError>>(
        &self,
        named: Named,
        name: &str,
        parameters: &Parameters,
        from: Time,
        work: impl FnOnce(&Current<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let parameters = parameters.at(named.kind(), from);
        let current = self.scheduling.current();
        current.segment(name, parameters, |_| work(&current))
    }
}

/// Work of a segment that is shed by a policy.
pub(super) type Timed = (TimedWork, SheddingPolicy);

/// Returns how a scheduler dispatches: by native priorities as in the paper, or through the ready queue.
fn mechanism(named: Named) -> Mechanism {
    match named {
        Named::Tp | Named::Rms | Named::Fp => Mechanism::OsPriorities,
        _ => Mechanism::ReadyQueue,
    }
}

/// Starts a thread that begins segments.
pub(super) fn spawn<T: Send + 'static>(
    name: String,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> std::io::Result<Thread<Result<T, String>>> {
    fifo(name, OUTSIDE).spawn(work)
}

/// Waits for a thread and returns its result.
pub(super) fn joined<T>(thread: Thread<Result<T, String>>) -> Result<T, Error> {
    Ok(os::joined(thread)??)
}
