//! Treatment of contexts that a client forges: the tables of `docs/scheduling-context.md`.

use std::{sync::Arc, thread, time::Duration};

use punctual_cdr::Endian;
use punctual_fixtures::eventually;
use punctual_giop::{Component, IiopProfile, PUNCTUAL_ORB_TYPE, TAG_ORB_TYPE, TAO_ORB_TYPE, ior_to_string};
use punctual_orb::{Orb, interceptors::*};
use punctual_os::{PiMutex, clock};
use punctual_rtsched::{
    Preemption, RtScheduling,
    remote::ThreadControlSpec,
    wire::{CarriedParameters, Clocks, PeerLayout, SchedulingContext, UnknownParameters, UtcTime},
};
use punctual_sched::dynamic::{EarliestDeadlineFirst, SchedulingParameters, Time};
use punctual_stub::Interface;
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    host::{Host, IMPORTANCE, kind_of, trusting},
    tracker::{RETURN, Tracker, TrackerRef, WORK},
};

const CONTEXT: u32 = 30;

/// Sends a given context 30, and keeps the contexts that others send.
#[derive(Clone, Default)]
struct Context(Arc<PiMutex<Option<Vec<u8>>>>);

impl ClientRequestInterceptor for Context {
    fn name(&self) -> &str {
        ""
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        if let Some(data) = &*self.0.lock() {
            info.add_request_service_context(CONTEXT, data)?;
        }
        Ok(())
    }
}

impl ServerRequestInterceptor for Context {
    fn name(&self) -> &str {
        ""
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        *self.0.lock() = info.get_request_service_context(CONTEXT).map(<[u8]>::to_vec);
        Ok(())
    }
}

impl OrbInitializer for Context {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

/// An ORB without distributable threads, which sends any context.
struct Forger {
    orb: Orb,
    context: Context,
}

impl Forger {
    fn new() -> Self {
        let context = Context::default();
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1")
            .initializer(&context)
            .build()
            .unwrap();
        Self { orb, context }
    }

    fn sends(&self, context: Option<Vec<u8>>, to: &Host) -> Result<i32, SystemException> {
        let tracker: TrackerRef = self.orb.resolve(&to.ior()).unwrap();
        *self.context.0.lock() = context;
        tracker.track(RETURN)
    }
}

fn octets(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

fn of(id: u128) -> SchedulingContext {
    SchedulingContext {
        id: DistributableThreadId(id),
        parameters: Some(IMPORTANCE.into()),
        implicit: None,
        begins: false,
    }
}

fn clocks() -> Clocks {
    Clocks {
        local: Time(clock::monotonic().as_nanos() as u64),
        utc: UtcTime::from_unix(
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap(),
        ),
    }
}

fn written(context: &SchedulingContext) -> Vec<u8> {
    context.encode(&clocks(), Endian::Big).to_vec()
}

/// Result of a request outside of all threads: the current thread does not exist.
const OUTSIDE: Result<i32, SystemExceptionKind> = Err(SystemExceptionKind::BadInvOrder);
const INSIDE: Result<i32, SystemExceptionKind> = Ok(RETURN);
const REFUSED: Result<i32, SystemExceptionKind> = Err(SystemExceptionKind::Marshal);

#[test]
fn contexts_of_unnamed_peers_are_not_read() {
    let unnamed = RtScheduling::builder().preemption(Preemption::Cooperative);
    let (host, forger) = (Host::with(unnamed.build().unwrap()), Forger::new());
    let whole = written(&of(7));
    let truncated = whole[..20].to_vec();
    for context in [whole, truncated] {
        let result = forger.sends(Some(context), &host);
        assert_eq!(result.map_err(|error| error.kind), OUTSIDE);
    }
}

#[test]
fn contexts_are_read_ignored_or_refused() {
    let (host, forger) = (Host::new(), Forger::new());
    let whole = written(&of(7));
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut context = whole.clone();
        change(&mut context);
        Some(context)
    };
    let table = [
        ("none", None, OUTSIDE),
        ("ours", Some(whole.clone()), INSIDE),
        ("TAO's", Some(octets("0400000000000000")), OUTSIDE),
        ("empty", Some(vec![]), OUTSIDE),
        (
            "a newer major version",
            changed(&|context| context[4] = 2),
            OUTSIDE,
        ),
        (
            "a newer minor version",
            changed(&|context| {
                context[5] = 3;
                context.extend([1, 2, 3]);
            }),
            INSIDE,
        ),
        ("truncated", changed(&|context| context.truncate(20)), REFUSED),
        (
            "truncated in a block",
            changed(&|context| context.truncate(30)),
            REFUSED,
        ),
        (
            "a forged size",
            changed(&|context| context[28..32].copy_from_slice(&u32::MAX.to_be_bytes())),
            REFUSED,
        ),
        ("no id", changed(&|context| context[8..24].fill(0)), REFUSED),
        ("kind 0", changed(&|context| context[27] = 0), REFUSED),
    ];
    for (what, context, expected) in table {
        let calls = host.tracker.0.results.lock().len();
        let result = forger.sends(context, &host);
        assert_eq!(result.map_err(|exception| exception.kind), expected, "{what}");
        let called = host.tracker.0.results.lock().len() - calls;
        assert_eq!(called == 0, expected == REFUSED, "{what}");
        if expected == REFUSED {
            assert_eq!(result.unwrap_err().completed, Completion::No, "{what}");
        }
        eventually("nothing is left", || host.scheduling.threads() == 0);
    }
}

#[test]
fn parameters_of_unknown_disciplines_travel_on_unchanged() {
    let (first, forger, last) = (Host::new(), Forger::new(), Forger::new());
    let seen = Tracker::new(&RtScheduling::builder().build().unwrap());
    let pool = last.orb.threadpool().build().unwrap();
    let adapter = last
        .orb
        .root_poa()
        .child("last")
        .threadpool(&pool)
        .build()
        .unwrap();
    let end: TrackerRef = adapter.activate(seen).unwrap();
    first.leads_to(&end.as_object().to_ior());

    let deadline = clocks().local + Duration::from_secs(5);
    let fields = octets("0000002a 00000000 1122334455667788");
    let energy = UnknownParameters::new(0x8001, Some(deadline), Endian::Little, &fields).unwrap();
    let plan = UnknownParameters::new(77, None, Endian::Big, &fields[..8]).unwrap();
    let context = SchedulingContext {
        id: DistributableThreadId(7),
        parameters: Some(CarriedParameters::Unknown(energy)),
        implicit: Some(CarriedParameters::Unknown(plan)),
        begins: false,
    };
    let sent = written(&context);
    // The last one has no distributable threads.
    assert_eq!(
        forger.sends(Some(sent.clone()), &first).unwrap_err().kind,
        SystemExceptionKind::BadInvOrder
    );
    let received = last.context.0.lock().clone().unwrap();
    // The id; kind, byte order and fields of both; not the deadline, which is encoded anew.
    assert_eq!(received.len(), sent.len());
    assert_eq!(received[6..32], sent[6..32]);
    assert_eq!(received[48..], sent[48..]);
    assert_ne!(received[40..48], sent[40..48], "less time is left");
}

#[test]
fn an_id_that_is_active_here_is_refused_and_its_thread_continues() {
    let (host, forger) = (Host::new(), Forger::new());
    let caller = Host::new();
    let by: TrackerRef = caller.orb.resolve(&host.ior()).unwrap();
    thread::scope(|scope| {
        let sent = scope.spawn(|| kind_of(caller.sends_by(&by, WORK)));
        eventually("it has arrived", || host.received_thread().is_some());
        let id = host.received_thread().unwrap();
        let forged = forger.sends(Some(written(&of(id.0))), &host).unwrap_err();
        assert_eq!(
            (forged.kind, forged.minor, forged.completed),
            (
                SystemExceptionKind::BadInvOrder,
                Minor::DISTRIBUTABLE_THREAD_ACTIVE,
                Completion::No
            )
        );
        // While it waits in a call, it may return; but no request can spawn it anew.
        let back = forger.sends(Some(written(&of(id.0))), &caller);
        assert_eq!(back, Ok(RETURN));
        let tracker: TrackerRef = forger.orb.resolve(&caller.ior()).unwrap();
        tracker.wake().unwrap();
        // On the same connection: earlier requests have been read before.
        assert_eq!(
            forger.sends(None, &caller).unwrap_err().kind,
            SystemExceptionKind::BadInvOrder
        );
        host.tracker
            .0
            .released
            .store(1, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(sent.join().unwrap(), Ok(WORK));
    });
    for host in [&host, &caller] {
        eventually("nothing is left", || host.scheduling.threads() == 0);
    }
    assert_eq!(
        *caller.tracker.0.woken.lock(),
        0,
        "the oneway request was dropped"
    );
}

#[test]
fn a_wrong_calendar_costs_at_most_the_skew() {
    let scheduling = trusting()
        .scheduler(EarliestDeadlineFirst::new())
        .preemption(Preemption::Cooperative)
        .max_clock_skew(Duration::from_millis(50))
        .build()
        .unwrap();
    let (host, forger) = (Host::with(scheduling), Forger::new());
    for calendar in [-3600_i64, 0, 3600] {
        let now = clocks();
        let deadline = now.local + Duration::from_secs(10);
        let context = SchedulingContext {
            parameters: Some(
                SchedulingParameters::Deadline {
                    deadline,
                    period: Duration::ZERO,
                    execution_time: Duration::ZERO,
                    importance: 0,
                }
                .into(),
            ),
            ..of(7)
        };
        let wrong = Clocks {
            utc: UtcTime(now.utc.0.checked_add_signed(calendar * 10_000_000).unwrap()),
            ..now
        };
        let data = context.encode(&wrong, Endian::Little).to_vec();
        assert_eq!(forger.sends(Some(data), &host), Ok(RETURN));
        let late = clocks().local.since(now.local);
        let Some(SchedulingParameters::Deadline { deadline: seen, .. }) = *host.tracker.0.scheduled_by.lock()
        else {
            panic!("deadline parameters expected");
        };
        // Both hosts are one machine. The transmission took `late` at most.
        assert!(seen.0 + 50_000_100 >= deadline.0, "{calendar}");
        assert!(seen <= deadline + late + Duration::from_millis(1), "{calendar}");
    }
    // The deadline of an unknown discipline is understood as well.
    let deadline = clocks().local + Duration::from_secs(1_000);
    let energy = UnknownParameters::new(0x8001, Some(deadline), Endian::Little, &[]).unwrap();
    for (parameters, is_due) in [(Some(CarriedParameters::Unknown(energy)), true), (None, false)] {
        let context = SchedulingContext { parameters, ..of(7) };
        assert_eq!(forger.sends(Some(written(&context)), &host), Ok(RETURN));
        let seen = host.tracker.0.scheduled_by.lock().unwrap().deadline().unwrap();
        let is_near = deadline.since(seen).max(seen.since(deadline)) < Duration::from_secs(100);
        assert_eq!(is_near, is_due, "{seen:?} {deadline:?}");
    }
}

#[test]
fn contexts_of_tao_are_read_if_configured() {
    let scheduling = trusting()
        .preemption(Preemption::Cooperative)
        .peer_layout(PeerLayout::MostImportantFirst)
        .build()
        .unwrap();
    let (host, forger) = (Host::with(scheduling), Forger::new());
    let mut data = octets("0400000000000000");
    data.extend(9_i32.to_ne_bytes());
    assert_eq!(forger.sends(Some(data), &host), Ok(RETURN));
    assert_eq!(
        *host.tracker.0.scheduled_by.lock(),
        Some(SchedulingParameters::Importance { importance: 9 })
    );
    // Our format is still read.
    assert_eq!(forger.sends(Some(written(&of(7))), &host), Ok(RETURN));
    assert_eq!(*host.tracker.0.scheduled_by.lock(), Some(IMPORTANCE));
}

/// The reference as a server of this type of ORB would write it.
fn of_type(orb_type: Option<u32>, host: &Host) -> String {
    let mut ior = host.reference.as_object().ior().clone();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
    profile
        .components
        .retain(|component| component.tag != TAG_ORB_TYPE);
    if let Some(orb_type) = orb_type {
        profile
            .components
            .push(Component::OrbType(orb_type).encode().unwrap());
    }
    ior.profiles = vec![profile.encode().unwrap()];
    ior_to_string(&ior)
}

/// A server that keeps what it is sent, called by a host that has this layout for its peers.
#[test]
fn servers_of_tao_are_sent_what_they_can_read() {
    let received = Context::default();
    let builder = Orb::builder().initializer(&received);
    let tao = Host::of(builder, Host::scheduling(), ThreadControlSpec::default());
    let layouts = [
        (PeerLayout::OwnOnly, None),
        (PeerLayout::FixedPriority, Some(8)),
        (PeerLayout::MostImportantFirst, Some(12)),
        (PeerLayout::KokyuMostImportantFirst, None),
    ];
    for (layout, of_tao) in layouts {
        let scheduling = trusting().preemption(Preemption::Cooperative).peer_layout(layout);
        let host = Host::with(scheduling.build().unwrap());
        let ours = Some(24 + 16);
        for (orb_type, length) in [
            (Some(TAO_ORB_TYPE), of_tao),
            (Some(PUNCTUAL_ORB_TYPE), ours),
            (Some(0x4a41_4300), ours),
            (None, ours),
        ] {
            host.leads_to(&of_type(orb_type, &tao));
            received.0.lock().take();
            // Outside of all threads there is no current thread.
            let outcome = kind_of(host.sends(RETURN));
            let data = received.0.lock().clone();
            assert_eq!(data.as_ref().map(Vec::len), length, "{layout:?} {orb_type:?}");
            if length == ours {
                assert_eq!(outcome, INSIDE, "{layout:?} {orb_type:?}");
            }
            if let (PeerLayout::MostImportantFirst, Some(data), Some(12)) = (layout, &data, length) {
                assert_eq!(data[8..], 5_i32.to_ne_bytes(), "the importance");
            }
        }
    }
}
