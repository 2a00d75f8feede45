//! Events reported to a scheduler at each of the scheduling points of \[Gill 2004\] figure 4, for calls of
//! each kind.

use std::{sync::Arc, time::Duration};

use punctual_fixtures::eventually;
use punctual_os::Gate;
use punctual_rtsched::{Preemption, RtScheduling, SchedulingError};
use punctual_sched::dynamic::{
    MostImportantFirst, ParameterKind, Scheduler, SchedulingParameters, Slot, Time,
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::hosts::{Host, Log, WorkerRef, importance, trusting};

/// MIF with a log of its calls, in which threads are named by their importance.
struct Noting {
    decides: MostImportantFirst,
    /// Known importance by slot.
    known: Vec<i32>,
    log: Log,
    /// Whether an event was reported since the last choice. A choice without an event is logged.
    has_news: bool,
}

impl Noting {
    fn note(&mut self, what: &str, thread: Slot, parameters: Option<&SchedulingParameters>) {
        let place = thread.0 as usize;
        self.known.resize(self.known.len().max(place + 1), 0);
        if let Some(importance) = parameters.and_then(SchedulingParameters::importance) {
            self.known[place] = importance;
        }
        self.log.add(format!("{what} {}", self.known[place]));
        self.has_news = true;
    }
}

impl Scheduler for Noting {
    fn name(&self) -> &str {
        "noting"
    }

    fn kind(&self) -> ParameterKind {
        self.decides.kind()
    }

    fn reserve(&mut self, threads: usize) {
        self.decides.reserve(threads);
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        self.note("ready", thread, Some(parameters));
        self.decides.ready(thread, parameters, received, now);
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        self.note("update", thread, Some(parameters));
        self.decides.update(thread, parameters, received, now);
    }

    fn remove(&mut self, thread: Slot, now: Time) {
        self.note("remove", thread, None);
        self.decides.remove(thread, now);
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        if !std::mem::take(&mut self.has_news) {
            self.log.add("choose");
        }
        self.decides.choose(processors, now, received, chosen);
    }
}

fn noting() -> (RtScheduling, Log) {
    let log = Log::default();
    let scheduler = Noting {
        decides: MostImportantFirst::new(),
        known: Vec::new(),
        log: log.clone(),
        has_news: false,
    };
    let scheduling = trusting()
        .scheduler(scheduler)
        .preemption(Preemption::Cooperative)
        .build()
        .unwrap();
    (scheduling, log)
}

#[test]
fn of_segments() {
    let (scheduling, log) = noting();
    let current = scheduling.current();
    current
        .begin_scheduling_segment("track", importance(5), None)
        .unwrap();
    assert_eq!(log.take(), ["ready 5"], "1: a thread begins");
    current
        .begin_scheduling_segment("nested", importance(6), None)
        .unwrap();
    assert_eq!(log.take(), ["update 6"], "1: a segment begins");
    current
        .update_scheduling_segment("nested", importance(7), None)
        .unwrap();
    assert_eq!(log.take(), ["update 7"], "2: it is updated");
    current.end_scheduling_segment("nested").unwrap();
    assert_eq!(log.take(), ["update 5"], "3: it ends");
    current.end_scheduling_segment("track").unwrap();
    assert_eq!(log.take(), ["remove 5"], "3: the thread ends");
}

/// One row: a call, and the events at the caller's and the servant's host.
struct Row<'r> {
    kind: &'static str,
    call: &'r dyn Fn(&WorkerRef),
    at_caller: &'static [&'static str],
    at_servant: &'static [&'static str],
}

fn check(rows: &[Row<'_>], server: Option<(&Host, &Log)>, (client, seen): (&Host, &Log), worker: &WorkerRef) {
    let current = client.scheduling.current();
    for row in rows {
        current
            .begin_scheduling_segment("track", importance(5), Some(importance(2)))
            .unwrap();
        seen.take();
        (row.call)(worker);
        assert_eq!(seen.take(), row.at_caller, "{} at the caller", row.kind);
        current.end_scheduling_segment("track").unwrap();
        if let Some((server, seen)) = server {
            eventually("it has left", || {
                server.scheduling.threads() == 0 && !seen.lines().is_empty()
            });
            assert_eq!(seen.take(), row.at_servant, "{} at the servant", row.kind);
        }
    }
}

fn refused() -> SystemException {
    SystemException::new(SystemExceptionKind::NoPermission, Minor::NONE, Completion::No)
}

#[test]
fn of_calls_to_another_host() {
    let ((of_client, at_client), (of_server, at_server)) = (noting(), noting());
    let (client, server) = (Host::with_replies(of_client), Host::with(of_server));
    // Calls with argument 1 wait for the gate; the caller polls for the reply before the gate opens.
    let gate = Arc::new(Gate::new());
    let holds = Arc::clone(&gate);
    let worker = client.resolve(&server.serve(move |value| match value {
        1 => {
            holds.pass(None);
            Ok(value)
        }
        -1 => Err(refused()),
        _ => Ok(value),
    }));
    // Points 4 (send request) and 7 (receive reply) at the caller, 5 (receive request) and 6 (send reply)
    // at the servant.
    let rows = [
        Row {
            kind: "two-way",
            call: &|worker| assert_eq!(worker.work(3).unwrap(), 3),
            at_caller: &["remove 5", "ready 5"],
            at_servant: &["ready 5", "remove 5"],
        },
        Row {
            kind: "two-way with an exception",
            call: &|worker| assert_eq!(worker.work(-1).unwrap_err(), refused()),
            at_caller: &["remove 5", "ready 5"],
            at_servant: &["ready 5", "remove 5"],
        },
        Row {
            kind: "oneway",
            call: &|worker| worker.post(3).unwrap(),
            at_caller: &["choose"],
            at_servant: &["ready 2", "remove 2"],
        },
        Row {
            kind: "asynchronous",
            call: &|worker| {
                let mut call = worker.work_later(1);
                assert!(!call.is_ready());
                gate.open();
                assert_eq!(call.wait().unwrap(), 1);
            },
            // The request leaves; it has left; the caller polls; it waits.
            at_caller: &["choose", "choose", "remove 5", "ready 5", "remove 5", "ready 5"],
            at_servant: &["ready 2", "remove 2"],
        },
        Row {
            kind: "asynchronous with an exception",
            call: &|worker| assert_eq!(worker.work_later(-1).wait().unwrap_err(), refused()),
            at_caller: &["choose", "choose", "remove 5", "ready 5"],
            at_servant: &["ready 2", "remove 2"],
        },
        Row {
            kind: "asynchronous and given up",
            call: &|worker| drop(worker.work_later(3)),
            at_caller: &["choose", "choose"],
            at_servant: &["ready 2", "remove 2"],
        },
    ];
    check(&rows, Some((&server, &at_server)), (&client, &at_client), &worker);
}

#[test]
fn of_calls_within_an_orb() {
    let (scheduling, seen) = noting();
    let host = Host::with_replies(scheduling);
    let worker = host.serve(|value| if value == -1 { Err(refused()) } else { Ok(value) });
    let rows = [
        Row {
            kind: "two-way",
            call: &|worker| assert_eq!(worker.work(3).unwrap(), 3),
            at_caller: &["choose", "choose"],
            at_servant: &[],
        },
        Row {
            kind: "oneway",
            call: &|worker| worker.post(3).unwrap(),
            at_caller: &["choose", "remove 5", "ready 2", "remove 2", "ready 5"],
            at_servant: &[],
        },
        Row {
            kind: "asynchronous",
            call: &|worker| assert_eq!(worker.work_later(3).wait().unwrap(), 3),
            at_caller: &["choose", "remove 5", "ready 2", "remove 2", "ready 5", "choose"],
            at_servant: &[],
        },
    ];
    check(&rows, None, (&host, &seen), &worker);
    let called = host.scheduling.current().segment("track", importance(5), |_| {
        assert_eq!(worker.work(-1).unwrap_err(), refused());
        Ok::<_, SchedulingError>(())
    });
    called.unwrap();
}
