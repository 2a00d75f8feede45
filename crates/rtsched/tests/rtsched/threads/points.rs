//! Calls of all kinds are scheduling points of their caller.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use punctual_fixtures::eventually;
use punctual_orb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Interrupt, OrbInitInfo, OrbInitializer,
};
use punctual_os::ThreadSpec;
use punctual_rtsched::{SchedulingError, ThreadStatus};
use punctual_types::{Completion, SystemExceptionKind};

use super::hosts::{Host, Log, WorkerRef, await_status, cooperative, importance};

const LONG: Duration = Duration::from_secs(20);

/// Makes another call within each call, as for credentials.
#[derive(Clone)]
struct Asks {
    other: WorkerRef,
    is_asking: Arc<AtomicBool>,
}

impl ClientRequestInterceptor for Asks {
    fn name(&self) -> &str {
        "asks"
    }

    fn send_request(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        if !self.is_asking.swap(true, Ordering::Relaxed) {
            self.other.work(1)?;
            self.is_asking.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl OrbInitializer for Asks {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

#[test]
fn calls_of_other_interceptors_do_not_return_the_head() {
    let (server, other) = (Host::new(), Host::new());
    let scheduling = cooperative();
    // It calls through the ORB whose calls it intercepts.
    let asking = Host::with(scheduling.clone());
    let asks = Asks {
        other: asking.resolve(&other.serve(Ok)),
        is_asking: Arc::default(),
    };
    let client = Host::intercepted(scheduling.clone(), &asks);
    let at_client = scheduling.clone();
    let worker = server.serve(move |value| {
        let threads = at_client.snapshot();
        assert_eq!(threads[0].status, ThreadStatus::Away, "the head is away");
        Ok(value)
    });
    let worker = client.resolve(&worker);
    let called = scheduling.current().segment("track", importance(5), |_| {
        Ok::<_, SchedulingError>(worker.work(3)?)
    });
    assert_eq!(called.unwrap(), 3);
    assert_eq!(scheduling.threads(), 0);
}

#[test]
fn others_run_during_a_wait_for_an_asynchronous_reply() {
    // One endsystem with one processor, and a less important thread that has to run before the reply can
    // arrive.
    let scheduling = cooperative();
    let (client, server) = (
        Host::with_replies(scheduling.clone()),
        Host::with(scheduling.clone()),
    );
    let worker = client.resolve(&server.serve(|value| Ok(value + 1))).within(LONG);
    let current = scheduling.current();
    current
        .segment_with_implicit("track", importance(9), importance(1), |segment| {
            assert_eq!(worker.work_later(3).wait()?, 4);
            let mut call = worker.work_later(4);
            eventually("the reply has arrived", || call.is_ready());
            assert_eq!(call.wait()?, 5);
            assert_eq!(scheduling.snapshot()[0].status, ThreadStatus::Running);
            segment.update(importance(8))
        })
        .unwrap();
}

#[test]
fn a_cancellation_in_a_collocated_call_is_reported_on_return() {
    let host = Host::new();
    let of_servant = host.scheduling.clone();
    let worker = host.serve(move |value| {
        of_servant.current().distributable_thread()?.cancel()?;
        Ok(value)
    });
    let called = host.scheduling.current().segment("track", importance(5), |_| {
        let told = worker.work(3).unwrap_err();
        assert_eq!(
            (told.kind, told.completed),
            (SystemExceptionKind::ThreadCancelled, Completion::Yes)
        );
        Ok::<_, SchedulingError>(())
    });
    assert!(called.unwrap_err().is_cancellation());
    assert_eq!(host.scheduling.threads(), 0);
}

#[test]
fn a_oneway_and_a_collocated_call_let_more_eligible_threads_go_first() {
    let (client, server) = (Host::new(), Host::new());
    let (remote, local) = (client.resolve(&server.serve(Ok)), client.serve(Ok));
    type Calls = fn(&WorkerRef) -> bool;
    let calls: [(&str, Calls, WorkerRef); 2] = [
        ("oneway", |remote| remote.post(1).is_ok(), remote),
        ("collocated", |local| local.work(1).is_ok(), local),
    ];
    for (kind, call, worker) in calls {
        let log = Log::default();
        let current = client.scheduling.current();
        current
            .begin_scheduling_segment("low", importance(1), None)
            .unwrap();
        let (scheduling, of_high) = (client.scheduling.clone(), log.clone());
        let high = ThreadSpec::new("high").spawn(move || {
            scheduling.current().segment("high", importance(9), |_| {
                of_high.add("high");
                Ok::<_, SchedulingError>(())
            })
        });
        let high = high.unwrap();
        await_status(&client.scheduling, "high", ThreadStatus::Ready);
        assert!(call(&worker));
        log.add("low");
        current.end_scheduling_segment("low").unwrap();
        high.join().unwrap().unwrap();
        assert_eq!(log.lines(), ["high", "low"], "{kind}");
    }
}
