//! A scheduler with parameters of its own: at its own hosts, and at hosts that do not know them.

use std::{cmp::Reverse, sync::Arc, time::Duration};

use punctual_cdr::Endian;
use punctual_os::PiMutex;
use punctual_rtsched::{Preemption, RtScheduling, SchedulingError, UnknownPolicy, wire::UnknownParameters};
use punctual_sched::dynamic::{
    Claim, Discipline, MostImportantFirst, ParameterKind, Ranked, Scheduler, SchedulingParameters, Time,
    UserKind, UserParameters,
};
use punctual_types::{Completion, Minor, SystemExceptionKind};

use super::hosts::{Host, WorkerRef, importance, system, trusting};

const ENERGY: UserKind = UserKind::new(0x8001).unwrap();
/// Energy that the scheduler subtracts for each call.
const OF_A_CALL: u8 = 3;

/// The thread that needs the least energy runs first. The first octet is the energy, below 100.
#[derive(Default)]
struct LeastEnergy;

fn energy(energy: u8) -> SchedulingParameters {
    let octets = [energy, 0xab, 0xcd];
    SchedulingParameters::User(
        UserParameters::new(ENERGY, &octets)
            .unwrap()
            .with_deadline(Time(u64::MAX / 2)),
    )
}

impl Discipline for LeastEnergy {
    type Rank = Reverse<u8>;

    fn name(&self) -> &str {
        "least energy"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::User(ENERGY)
    }

    fn rank(&self, claim: &Claim) -> Self::Rank {
        let first = claim.parameters.user().and_then(|user| user.octets().first());
        Reverse(first.copied().unwrap_or(u8::MAX))
    }

    fn marshal(&self, parameters: &UserParameters, _: Duration) -> UserParameters {
        let mut octets = parameters.octets().to_vec();
        octets[0] -= OF_A_CALL;
        let left = UserParameters::new(ENERGY, &octets).unwrap();
        left.with_deadline(parameters.deadline().unwrap_or(Time::NEVER))
    }

    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        let first = parameters.octets().first()?;
        (*first < 100).then_some(*parameters)
    }

    fn adopt(&self, parameters: &SchedulingParameters, _: Time) -> Option<UserParameters> {
        let octet = u8::try_from(parameters.importance()?).ok()?;
        UserParameters::new(ENERGY, &[octet])
    }
}

fn host(scheduler: impl Scheduler + 'static, unknown: UnknownPolicy) -> Host {
    let scheduling = trusting()
        .scheduler(scheduler)
        .preemption(Preemption::Cooperative)
        .unknown_parameters(unknown)
        .build();
    Host::with(scheduling.unwrap())
}

fn of_energy() -> Host {
    host(Ranked::of(LeastEnergy), UnknownPolicy::Carry)
}

type Seen = Arc<PiMutex<Vec<SchedulingParameters>>>;

/// Serves an object that notes the parameters of its caller, and calls the next one, if any.
fn noting(host: &Host, next: Option<WorkerRef>) -> (WorkerRef, Seen) {
    let seen = Seen::default();
    let (noted, scheduling) = (Arc::clone(&seen), host.scheduling.clone());
    let worker = host.serve(move |value| {
        noted.lock().push(scheduling.current().scheduling_parameter()?);
        next.as_ref().map_or(Ok(value), |next| next.work(value))
    });
    (worker, seen)
}

fn call(
    scheduling: &RtScheduling,
    worker: &WorkerRef,
    with: SchedulingParameters,
) -> Result<i32, SchedulingError> {
    scheduling
        .current()
        .segment("energy", with, |_| Ok::<_, SchedulingError>(worker.work(5)?))
}

fn octets(parameters: &SchedulingParameters) -> &[u8] {
    parameters.user().unwrap().octets()
}

#[test]
fn its_scheduler_marshals_and_unmarshals_them() {
    let (client, server) = (of_energy(), of_energy());
    let (worker, seen) = noting(&server, None);
    let worker = client.resolve(&worker);
    assert_eq!(call(&client.scheduling, &worker, energy(9)).unwrap(), 5);
    let seen = seen.lock();
    assert_eq!(octets(&seen[0]), [9 - OF_A_CALL, 0xab, 0xcd]);
    assert!(
        seen[0].deadline().is_some(),
        "the deadline travels beside the octets"
    );
}

#[test]
fn other_kinds_are_refused_and_adopted() {
    let host = of_energy();
    let current = host.scheduling.current();
    let wrong = current.begin_scheduling_segment("track", importance(1), None);
    assert!(matches!(
        wrong,
        Err(SchedulingError::UnsupportedSchedulingDiscipline {
            wanted: ParameterKind::User(ENERGY),
            ..
        })
    ));
    // A thread of another host arrives with importance, and goes before one that needs more.
    let client = Host::new();
    let (worker, seen) = noting(&host, None);
    let worker = client.resolve(&worker);
    assert_eq!(call(&client.scheduling, &worker, importance(4)).unwrap(), 5);
    assert_eq!(*seen.lock(), [importance(4)], "its own parameters are kept");
}

/// The host in the middle schedules the thread by its defaults, and passes the octets on.
#[test]
fn a_host_that_does_not_know_them_carries_them() {
    let (first, last) = (of_energy(), of_energy());
    let middle = host(MostImportantFirst::new(), UnknownPolicy::Carry);
    let (at_last, seen_last) = noting(&last, None);
    let (at_middle, seen_middle) = noting(&middle, Some(middle.resolve(&at_last)));
    let at_middle = first.resolve(&at_middle);
    assert_eq!(call(&first.scheduling, &at_middle, energy(9)).unwrap(), 5);
    assert_eq!(*seen_middle.lock(), [importance(0)]);
    let seen = seen_last.lock();
    assert_eq!(
        octets(&seen[0]),
        [9 - OF_A_CALL, 0xab, 0xcd],
        "only their scheduler marshals"
    );
    assert!(seen[0].deadline().is_some());
}

#[test]
fn a_host_that_does_not_know_them_translates_them() {
    let (first, last) = (of_energy(), of_energy());
    let translate = UnknownPolicy::Translate(|unknown| {
        let first = *unknown.user()?.octets().first()?;
        Some(importance(-i32::from(first)))
    });
    let middle = host(MostImportantFirst::new(), translate);
    let (at_last, seen_last) = noting(&last, None);
    let (at_middle, seen_middle) = noting(&middle, Some(middle.resolve(&at_last)));
    let at_middle = first.resolve(&at_middle);
    assert_eq!(call(&first.scheduling, &at_middle, energy(9)).unwrap(), 5);
    assert_eq!(*seen_middle.lock(), [importance(-i32::from(9 - OF_A_CALL))]);
    assert_eq!(octets(&seen_last.lock()[0]), [9 - OF_A_CALL, 0xab, 0xcd]);
}

#[test]
fn a_host_that_does_not_know_them_refuses_them() {
    let client = of_energy();
    let server = host(MostImportantFirst::new(), UnknownPolicy::Refuse);
    let (worker, seen) = noting(&server, None);
    let worker = client.resolve(&worker);
    let refused = system(call(&client.scheduling, &worker, energy(9)).unwrap_err());
    assert_eq!(
        (refused.kind, refused.minor, refused.completed),
        (
            SystemExceptionKind::InvPolicy,
            Minor::SCHEDULING_DISCIPLINE_UNSUPPORTED,
            Completion::No
        )
    );
    assert!(seen.lock().is_empty());
    // Known kinds are served.
    let client = Host::new();
    let worker = client.resolve(&worker);
    assert_eq!(call(&client.scheduling, &worker, importance(1)).unwrap(), 5);
}

#[test]
fn octets_that_the_scheduler_does_not_accept_are_refused() {
    let (client, server) = (of_energy(), of_energy());
    let (worker, seen) = noting(&server, None);
    let worker = client.resolve(&worker);
    let refused = system(call(&client.scheduling, &worker, energy(200)).unwrap_err());
    assert_eq!(
        (refused.kind, refused.minor),
        (
            SystemExceptionKind::Marshal,
            Minor::SCHEDULING_PARAMETERS_MALFORMED
        )
    );
    assert!(seen.lock().is_empty());
    assert_eq!(server.scheduling.threads(), 0);
    assert_eq!(call(&client.scheduling, &worker, energy(9)).unwrap(), 5);
}

/// At most `UserParameters::MOST` octets of the block are taken, regardless of the length that a peer
/// announces.
#[test]
fn lengths_are_checked_against_the_block() {
    let block = |length: u32, size: usize| {
        let mut fields = vec![0x55; size];
        fields[..4].copy_from_slice(&length.to_be_bytes());
        let unknown = UnknownParameters::new(0x8001, None, Endian::Big, &fields).unwrap();
        unknown.user().map(|user| user.octets().len())
    };
    assert_eq!(block(0, 8), Some(0));
    assert_eq!(block(4, 8), Some(4));
    assert_eq!(block(5, 8), None, "beyond the block");
    assert_eq!(block(u32::MAX, 104), None);
    let most = UserParameters::MOST as u32;
    assert_eq!(block(most, 104), Some(UserParameters::MOST));
    assert_eq!(block(most + 1, 104), None);
    let other = UnknownParameters::new(9, None, Endian::Big, &[0; 8]).unwrap();
    assert!(other.user().is_none(), "a newer version's kind");
    let short = UnknownParameters::new(0x8001, None, Endian::Big, &[]).unwrap();
    assert!(short.user().is_none());
}
