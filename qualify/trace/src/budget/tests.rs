//! Budgets of made-up calls.

use std::collections::HashMap;

use punctual_flight::Link;

use super::*;
use crate::event::{Task, What};
use crate::inversion::{INTERRUPT_SILENCE_NS, SILENCE_NS};
use crate::request::{Model, Service};
use crate::test_events::{blocks, event, idle, preempts, task, waking, woken};

// Threads, named by their role in the tests.
const CLIENT: ThreadId = 50;
const SERVER: ThreadId = 51;
const HOG: ThreadId = 80;
const LOW: ThreadId = 10;
const OTHER_CLIENT: ThreadId = 20;

fn client() -> Task {
    task(CLIENT, 50)
}

fn server() -> Task {
    task(SERVER, 50)
}

fn hog() -> Task {
    task(HOG, 80)
}

fn low() -> Task {
    task(LOW, 10)
}

/// Returns a call with records at intervals of 100: begin 1000, encoded 1100, sent 1200, taken 1300, read
/// 1400, served 1500, upcall 1600 to 1700, reply sent 1800, received 1900, end 2000.
fn call() -> Request {
    Request {
        id: 1,
        link: Link::of_ports(40_000, 2809),
        operation: 7,
        priority: Some(5),
        client: CLIENT,
        client_process: 5,
        begin_ns: 1000,
        encoded_ns: 1100,
        sent_ns: 1200,
        received_ns: Some(1900),
        end_ns: 2000,
        failed: false,
        service: Some(Service {
            thread: SERVER,
            process: 6,
            taken_ns: 1300,
            read_ns: Some(1400),
            served_ns: 1500,
            upcall_begin_ns: Some(1600),
            upcall_end_ns: Some(1700),
            done_ns: Some(1800),
            priority: Some(5),
            model: Model::ClientPropagated,
        }),
    }
}

/// Returns another call, served by the same thread.
fn other(served: u64, done: u64) -> Request {
    let call = call();
    let service = call.service.clone().map(|service| Service {
        taken_ns: served,
        read_ns: Some(served),
        served_ns: served,
        upcall_begin_ns: Some(served),
        upcall_end_ns: Some(done),
        done_ns: Some(done),
        ..service
    });
    Request {
        id: 2,
        client: OTHER_CLIENT,
        begin_ns: served - 10,
        encoded_ns: served - 9,
        sent_ns: served - 8,
        received_ns: Some(done + 1),
        end_ns: done + 2,
        priority: Some(1),
        service,
        ..call
    }
}

/// Returns the undisturbed call on one CPU: the caller blocks after sending, the server after its reply.
fn undisturbed() -> Vec<KernelEvent> {
    vec![
        blocks(900, 0, idle(), client()),
        waking(1150, 0, server(), 0),
        woken(1155, 0, server(), 0),
        blocks(1250, 0, client(), server()),
        waking(1750, 0, client(), 0),
        woken(1755, 0, client(), 0),
        blocks(1850, 0, server(), client()),
        blocks(2100, 0, client(), idle()),
    ]
}

/// Returns the only budget after checking the invariants of budgets.
fn explained(events: &[KernelEvent], requests: &[Request]) -> Budget {
    let explanation = explain(events, requests, 0, 1, |request| request.client == CLIENT);
    let budget = explanation.budgets.into_iter().next().unwrap();
    let mut at = budget.start_ns;
    for span in &budget.spans {
        assert_eq!(
            span.start_ns, at,
            "{:?} begins where the one before ends",
            span.stage
        );
        at += span.length_ns;
        let parts: u64 = span.parts.iter().map(|part| part.length_ns).sum();
        assert_eq!(parts, span.length_ns, "{span:?}");
    }
    assert_eq!(at - budget.start_ns, budget.length_ns, "spans sum to the latency");
    budget
}

fn lengths(budget: &Budget) -> Vec<(Stage, u64)> {
    budget
        .spans
        .iter()
        .map(|span| (span.stage, span.length_ns))
        .collect()
}

fn parts(budget: &Budget, stage: Stage) -> Vec<(Cause, u64)> {
    let span = budget.spans.iter().find(|span| span.stage == stage);
    let parts = span.map_or(&[][..], |span| &span.parts);
    parts.iter().map(|part| (part.cause, part.length_ns)).collect()
}

fn held(runner: Task, inverted: bool) -> Cause {
    Cause::Held {
        thread: runner.thread,
        level: runner.level,
        inverted,
        request: None,
    }
}

#[test]
fn an_undisturbed_call_consists_of_its_own_work() {
    let budget = explained(&undisturbed(), &[call()]);
    let expected = [
        (Stage::Encode, 100),
        // It left when the server's thread was woken, during the system call.
        (Stage::Send, 50),
        (Stage::WakeUp, 150),
        (Stage::Read, 100),
        (Stage::Decode, 200),
        (Stage::Upcall, 100),
        (Stage::Reply, 50),
        (Stage::ReplyWakeUp, 150),
        (Stage::Result, 100),
    ];
    assert_eq!(lengths(&budget), expected);
    assert_eq!((budget.level, budget.length_ns), (Some(Level(50)), 1000));
    for span in &budget.spans {
        let expected: &[(Cause, u64)] = match span.stage {
            Stage::WakeUp => &[(Cause::OtherSide, 100), (Cause::Ran, 50)],
            Stage::ReplyWakeUp => &[(Cause::OtherSide, 100), (Cause::Ran, 50)],
            _ => &[(Cause::Ran, span.length_ns)],
        };
        assert_eq!(parts(&budget, span.stage), expected, "{:?}", span.stage);
        assert!(span.parts.iter().all(|part| part.cause.kind() == Kind::Work));
    }
}

#[test]
fn the_thread_with_the_cpu_is_named_with_its_level() {
    for (runner, inverted) in [(hog(), false), (low(), true), (task(LOW, 50), false)] {
        let events = [
            blocks(900, 0, idle(), client()),
            waking(1150, 0, server(), 0),
            woken(1155, 0, server(), 0),
            blocks(1200, 0, client(), runner),
            preempts(1280, 0, runner, server()),
            waking(1750, 0, client(), 0),
            woken(1755, 0, client(), 0),
            blocks(1800, 0, server(), client()),
        ];
        let budget = explained(&events, &[call()]);
        let expected = [
            (held(runner, inverted), 80),
            (Cause::OtherSide, 50),
            (Cause::Ran, 20),
        ];
        assert_eq!(parts(&budget, Stage::WakeUp), expected);
        let kind = if inverted {
            Kind::Inversion
        } else {
            Kind::Important
        };
        assert_eq!(expected[0].0.kind(), kind);
    }
}

#[test]
fn without_a_priority_model_a_lane_has_the_level_of_the_served_caller() {
    // The pool's threads have level 5; one serves a caller of level 10, while the call of level 50 waits for
    // another.
    let pooled = |mut request: Request, thread: ThreadId| {
        let service = request.service.as_mut().unwrap();
        (service.model, service.thread) = (Model::None, thread);
        request
    };
    let (worker, busy) = (task(SERVER, 5), task(60, 5));
    let less_important = Request {
        client: LOW,
        ..other(800, 1280)
    };
    let requests = [pooled(less_important, 60), pooled(call(), SERVER)];
    let events = [
        blocks(700, 0, low(), busy),
        preempts(900, 0, busy, client()),
        waking(1150, 0, worker, 0),
        woken(1155, 0, worker, 0),
        blocks(1200, 0, client(), busy),
        blocks(1285, 0, busy, worker),
        waking(1750, 0, client(), 0),
        preempts(1790, 0, worker, client()),
        blocks(2100, 0, client(), worker),
    ];
    let budget = explained(&events, &requests);
    let by = |request| Cause::Held {
        thread: 60,
        level: Level(5),
        inverted: true,
        request,
    };
    let expected = [
        (by(Some(0)), 80),
        (Cause::OtherSide, 50),
        (Cause::Ran, 15),
        (by(None), 5),
    ];
    assert_eq!(parts(&budget, Stage::WakeUp), expected);
}

#[test]
fn interrupts_take_time_from_running_and_waiting_threads() {
    let packets = Interrupt::Soft(3);
    let mut events = undisturbed();
    events.extend([
        event(1040, 0, What::InterruptBegin(Interrupt::Timer)),
        event(1060, 0, What::InterruptEnd(Interrupt::Timer)),
        event(1210, 0, What::InterruptBegin(packets)),
        event(1240, 0, What::InterruptEnd(packets)),
    ]);
    events.sort_by_key(|event| event.time_ns);
    let budget = explained(&events, &[call()]);
    let timer = Cause::Interrupt(Interrupt::Timer);
    assert_eq!(parts(&budget, Stage::Encode), [(Cause::Ran, 80), (timer, 20)]);
    let expected = [
        (Cause::OtherSide, 70),
        (Cause::Ran, 50),
        (Cause::Interrupt(packets), 30),
    ];
    assert_eq!(parts(&budget, Stage::WakeUp), expected);
}

/// Returns the call with everything from `taken_ns` on delayed.
fn stretched(by: u64) -> Request {
    let mut request = call();
    let service = request.service.as_mut().unwrap();
    let later = [&mut service.taken_ns, &mut service.served_ns, &mut request.end_ns];
    later.into_iter().for_each(|time| *time += by);
    let optional = [
        &mut service.read_ns,
        &mut service.upcall_begin_ns,
        &mut service.upcall_end_ns,
        &mut service.done_ns,
        &mut request.received_ns,
    ];
    optional.into_iter().flatten().for_each(|time| *time += by);
    request
}

#[test]
fn holes_are_attributed_to_kernel_or_host() {
    for (instead, source) in [
        (idle(), HoleSource::Throttling),
        (task(90, 0), HoleSource::OtherTasks),
    ] {
        // Throttling or the fair server: the server's thread is ready, and an ordinary one is chosen.
        let events = [
            blocks(900, 0, idle(), client()),
            waking(1150, 0, server(), 0),
            woken(1155, 0, server(), 0),
            blocks(1200, 0, client(), instead),
            preempts(1200 + 5000, 0, instead, server()),
            waking(1750 + 5000, 0, client(), 0),
            blocks(1850 + 5000, 0, server(), client()),
        ];
        let budget = explained(&events, &[stretched(5000)]);
        let expected = [
            (Cause::Hole(source), 5000),
            (Cause::Ran, 100),
            (Cause::OtherSide, 50),
        ];
        assert_eq!(parts(&budget, Stage::WakeUp), expected);
    }
    // Nothing was recorded while low ran and the server's thread waited: the host.
    let events = [
        blocks(900, 0, idle(), client()),
        waking(1150, 0, server(), 0),
        woken(1155, 0, server(), 0),
        blocks(1200, 0, client(), low()),
        preempts(1200 + SILENCE_NS, 0, low(), server()),
        blocks(1850 + SILENCE_NS, 0, server(), client()),
    ];
    let budget = explained(&events, &[stretched(SILENCE_NS)]);
    let hole = Cause::Hole(HoleSource::Unaccounted);
    assert_eq!(parts(&budget, Stage::WakeUp)[0], (hole, SILENCE_NS));
}

#[test]
fn silence_of_a_running_thread_may_be_its_own_work() {
    let mut request = stretched(SILENCE_NS);
    request.service.as_mut().unwrap().taken_ns = 1300;
    request.service.as_mut().unwrap().read_ns = Some(1400 + SILENCE_NS);
    let mut events = undisturbed();
    for event in events.iter_mut().filter(|event| event.time_ns > 1300) {
        event.time_ns += SILENCE_NS;
    }
    let budget = explained(&events, &[request]);
    assert_eq!(
        parts(&budget, Stage::Read),
        [(Cause::RanSilently, SILENCE_NS + 100)]
    );
}

#[test]
fn silence_within_an_interrupt_is_a_hole() {
    let mut events = undisturbed();
    for event in events.iter_mut().filter(|event| event.time_ns > 1050) {
        event.time_ns += INTERRUPT_SILENCE_NS;
    }
    events.extend([
        event(1040, 0, What::InterruptBegin(Interrupt::Timer)),
        event(
            1040 + INTERRUPT_SILENCE_NS,
            0,
            What::InterruptEnd(Interrupt::Timer),
        ),
    ]);
    events.sort_by_key(|event| event.time_ns);
    let mut request = stretched(INTERRUPT_SILENCE_NS);
    request.encoded_ns += INTERRUPT_SILENCE_NS;
    request.sent_ns += INTERRUPT_SILENCE_NS;
    let budget = explained(&events, &[request]);
    assert_eq!(
        parts(&budget, Stage::Encode),
        [
            (Cause::Hole(HoleSource::Unaccounted), INTERRUPT_SILENCE_NS),
            (Cause::Ran, 100)
        ]
    );
}

#[test]
fn higher_levels_may_run_for_long_without_an_event() {
    let mut events = undisturbed();
    let mut request = call();
    let later = [
        blocks(1800, 0, server(), hog()),
        blocks(1880 + SILENCE_NS, 0, hog(), client()),
    ];
    events.truncate(6);
    events.extend(later);
    request.received_ns = Some(1900 + SILENCE_NS);
    request.end_ns = 2000 + SILENCE_NS;
    let budget = explained(&events, &[request]);
    assert_eq!(
        parts(&budget, Stage::ReplyWakeUp)[0],
        (held(hog(), false), 80 + SILENCE_NS)
    );
}

#[test]
fn a_thread_that_records_runs_although_its_switch_is_missing() {
    // The server's CPU was idle; the switch to its thread is not recorded.
    let events = [
        blocks(800, 1, server(), idle()),
        blocks(900, 0, idle(), client()),
        waking(1150, 0, server(), 1),
        woken(1155, 1, server(), 1),
        blocks(1250, 0, client(), idle()),
        waking(1750, 1, client(), 0),
        blocks(1790, 0, idle(), client()),
        blocks(1850, 1, server(), idle()),
    ];
    let budget = explained(&events, &[call()]);
    assert_eq!(parts(&budget, Stage::WakeUp), [(Cause::Starting, 150)]);
    assert_eq!(parts(&budget, Stage::Read), [(Cause::Ran, 100)]);
    assert_eq!(parts(&budget, Stage::Upcall), [(Cause::Ran, 100)]);
}

#[test]
fn a_thread_that_records_runs_whatever_the_last_event_was() {
    // The switch from the hog to the caller is not recorded.
    let events = [
        blocks(800, 0, client(), hog()),
        waking(900, 0, client(), 0),
        woken(905, 0, client(), 0),
        blocks(1250, 0, client(), server()),
        blocks(1850, 0, server(), client()),
    ];
    let budget = explained(&events, &[call()]);
    assert_eq!(parts(&budget, Stage::Encode), [(Cause::Ran, 100)]);
    assert_eq!(
        parts(&budget, Stage::Result),
        [(Cause::Unknown, 100)],
        "after the last event"
    );
}

#[test]
fn a_flight_record_interrupts_silence() {
    // The caller gets its CPU after a silence in which low was the last that ran, and the next event is 100
    // later.
    let mut request = call();
    request.received_ns = Some(1900 + SILENCE_NS);
    request.end_ns = 2000 + SILENCE_NS;
    let mut events = undisturbed();
    events.truncate(6);
    events.extend([
        blocks(1850, 0, server(), low()),
        blocks(2010 + SILENCE_NS, 0, client(), idle()),
    ]);
    let budget = explained(&events, &[request]);
    let waited = parts(&budget, Stage::ReplyWakeUp);
    assert_eq!(waited[0], (Cause::Hole(HoleSource::Unaccounted), 50 + SILENCE_NS));
    assert_eq!(parts(&budget, Stage::Result), [(Cause::Ran, 100)]);
}

#[test]
fn a_request_waits_in_its_lane_behind_another_one() {
    // The server is on another CPU and busy; it finds the request at its next poll.
    let events = [
        blocks(800, 1, idle(), server()),
        blocks(800, 0, idle(), task(OTHER_CLIENT, 10)),
        blocks(900, 0, task(OTHER_CLIENT, 10), client()),
        blocks(1220, 0, client(), idle()),
        waking(1750, 1, client(), 0),
        blocks(1790, 0, idle(), client()),
        blocks(1850, 1, server(), idle()),
    ];
    let requests = [other(850, 1280), call()];
    let budget = explained(&events, &requests);
    let behind = Cause::Behind {
        request: 0,
        inverted: true,
    };
    assert_eq!(parts(&budget, Stage::Lane), [(behind, 80), (Cause::Ran, 20)]);
    assert_eq!(parts(&budget, Stage::WakeUp), []);
    assert_eq!(
        parts(&budget, Stage::ReplyWakeUp),
        [(Cause::Ran, 110), (Cause::Starting, 40)]
    );
    // A request of equal priority is not an inversion.
    let equal = Request {
        client: CLIENT + 100,
        ..other(850, 1280)
    };
    let mut events = events;
    events[1] = blocks(800, 0, idle(), task(CLIENT + 100, 50));
    events[2] = blocks(900, 0, task(CLIENT + 100, 50), client());
    let budget = explained(&events, &[equal, call()]);
    let behind = Cause::Behind {
        request: 0,
        inverted: false,
    };
    assert_eq!(parts(&budget, Stage::Lane)[0], (behind, 80));
}

#[test]
fn wake_ups_in_the_previous_upcall_are_ignored() {
    let mut events = undisturbed();
    // Both while the thread serves another request, which sleeps.
    events.retain(|event| event.time_ns != 1150 && event.time_ns != 1155);
    events.extend([
        blocks(850, 1, idle(), server()),
        blocks(900, 1, server(), idle()),
        waking(1210, 1, server(), 0),
        woken(1211, 1, server(), 0),
    ]);
    events.sort_by_key(|event| event.time_ns);
    let budget = explained(&events, &[other(860, 1280), call()]);
    assert_eq!(parts(&budget, Stage::WakeUp), [], "{budget:?}");
    let lane: u64 = parts(&budget, Stage::Lane).iter().map(|(_, length)| length).sum();
    assert_eq!(lane, 100);
}

#[test]
fn a_caller_that_is_not_scheduled_after_its_reply() {
    let mut events = undisturbed();
    events.pop();
    events.pop();
    // The hog comes before the caller.
    events.extend([blocks(1800, 0, server(), hog()), blocks(1880, 0, hog(), client())]);
    let budget = explained(&events, &[call()]);
    let expected = [(held(hog(), false), 80), (Cause::OtherSide, 50), (Cause::Ran, 20)];
    assert_eq!(parts(&budget, Stage::ReplyWakeUp), expected);
}

#[test]
fn undelivered_messages_wait_for_the_sender_s_cpu() {
    // The sender's CPU switches to the hog before the kernel has delivered the request to the server's CPU.
    let events = [
        blocks(800, 1, server(), idle()),
        blocks(900, 0, idle(), client()),
        blocks(1210, 0, client(), hog()),
        waking(1280, 0, server(), 1),
        woken(1285, 0, server(), 1),
        blocks(1290, 1, idle(), server()),
        waking(1750, 1, client(), 0),
        blocks(1790, 0, hog(), client()),
        blocks(1850, 1, server(), idle()),
    ];
    let budget = explained(&events, &[call()]);
    let by = |runner: Task| Cause::Undelivered {
        by: Some((runner.thread, runner.level)),
    };
    assert_eq!(parts(&budget, Stage::Lane), [(by(hog()), 70), (by(client()), 10)]);
    assert_eq!(
        parts(&budget, Stage::WakeUp),
        [(Cause::Starting, 10), (Cause::Ran, 10)]
    );
}

#[test]
fn servants_sleep_or_wait_for_their_own_calls() {
    let mut events = undisturbed();
    events.extend([
        blocks(1610, 0, server(), idle()),
        woken(1680, 0, server(), 0),
        blocks(1690, 0, idle(), server()),
    ]);
    events.sort_by_key(|event| event.time_ns);
    let nested = Request {
        client: SERVER,
        begin_ns: 1605,
        encoded_ns: 1606,
        sent_ns: 1607,
        received_ns: Some(1640),
        end_ns: 1650,
        service: None,
        ..call()
    };
    let budget = explained(&events, &[call(), nested]);
    let expected = [
        (Cause::Called { request: 1 }, 40),
        (Cause::Slept, 30),
        (Cause::Ran, 20),
        (Cause::Starting, 10),
    ];
    assert_eq!(parts(&budget, Stage::Upcall), expected);
}

#[test]
fn the_wake_up_of_a_blocking_lane_is_taken_from_the_kernel() {
    let mut request = call();
    // It finished its previous request long ago.
    request.service.as_mut().unwrap().taken_ns = 500;
    let budget = explained(&undisturbed(), &[request.clone()]);
    assert_eq!(
        lengths(&budget)[1..4],
        [(Stage::Send, 50), (Stage::WakeUp, 100), (Stage::Read, 150)]
    );
    let budget = explained(&[], &[request]);
    assert_eq!(
        lengths(&budget)[1..4],
        [(Stage::Send, 100), (Stage::Lane, 200), (Stage::Decode, 200)]
    );
}

#[test]
fn without_kernel_events_parts_are_unknown() {
    let budget = explained(&[], &[other(850, 1280), call()]);
    assert_eq!(budget.level, None);
    let behind = Cause::Behind {
        request: 0,
        inverted: true,
    };
    for span in &budget.spans {
        let expected: &[(Cause, u64)] = match span.stage {
            Stage::Lane => &[(behind, 80), (Cause::Unknown, 20)],
            _ => &[(Cause::Unknown, span.length_ns)],
        };
        assert_eq!(parts(&budget, span.stage), expected, "{:?}", span.stage);
    }
    assert_eq!(lengths(&budget)[2], (Stage::Lane, 100));
}

#[test]
fn time_outside_the_trace_is_unknown() {
    let events = undisturbed();
    let late = explained(&events[3..], &[call()]);
    assert_eq!(parts(&late, Stage::Encode), [(Cause::Unknown, 100)]);
    assert_eq!(parts(&late, Stage::Upcall), [(Cause::Ran, 100)]);
    let early = explained(&events[..4], &[call()]);
    assert_eq!(parts(&early, Stage::Encode), [(Cause::Ran, 100)]);
    // The flight records are its last events.
    assert_eq!(parts(&early, Stage::Result), [(Cause::Unknown, 100)]);
}

/// The caller of the second one has not waited, whether it was oneway or asynchronous.
#[test]
fn calls_without_a_wait_for_their_reply_are_not_considered() {
    let requests = [
        call(),
        Request {
            received_ns: None,
            ..call()
        },
    ];
    let explanation = explain(&undisturbed(), &requests, 0, 9, |_| true);
    assert_eq!((explanation.calls, explanation.slow), (1, 1));
    assert_eq!(explanation.budgets.len(), 1);
}

#[test]
fn unjoined_calls_and_missing_replies_are_reported() {
    let unjoined = Request {
        service: None,
        ..call()
    };
    let budget = explained(&undisturbed(), &[unjoined]);
    assert_eq!(
        lengths(&budget),
        [
            (Stage::Encode, 100),
            (Stage::Send, 100),
            (Stage::Unrecorded, 700),
            (Stage::Result, 100)
        ]
    );
    assert_eq!(parts(&budget, Stage::Unrecorded), [(Cause::Unknown, 700)]);
    // A timeout, while the servant runs and after it has returned.
    let mut late = Request {
        received_ns: None,
        end_ns: 1650,
        failed: true,
        ..call()
    };
    let upcall = &[(Stage::Decode, 200), (Stage::Upcall, 50)][..];
    for end_ns in [Some(1700), None] {
        late.service.as_mut().unwrap().upcall_end_ns = end_ns;
        let budget = explained(&undisturbed(), std::slice::from_ref(&late));
        assert_eq!(lengths(&budget)[4..], *upcall, "{end_ns:?}");
    }
    late.end_ns = 2000;
    late.service.as_mut().unwrap().upcall_end_ns = Some(1700);
    let budget = explained(&undisturbed(), &[late]);
    assert_eq!(
        lengths(&budget)[5..],
        [(Stage::Upcall, 100), (Stage::Reply, 100), (Stage::NoReply, 200)]
    );
    let mut refused = call();
    let service = refused.service.as_mut().unwrap();
    (service.upcall_begin_ns, service.upcall_end_ns) = (None, None);
    let budget = explained(&undisturbed(), &[refused]);
    assert_eq!(
        lengths(&budget)[3..6],
        [(Stage::Read, 100), (Stage::Decode, 100), (Stage::NoUpcall, 250)]
    );
}

#[test]
fn records_of_two_cpus_may_cross() {
    // Both threads continued before the system call of the other side had returned.
    let mut request = call();
    request.sent_ns = 1450;
    request.service.as_mut().unwrap().done_ns = Some(1950);
    let budget = explained(&[], &[request]);
    let table: HashMap<Stage, u64> = lengths(&budget).into_iter().collect();
    assert_eq!(table.get(&Stage::Send), Some(&200));
    assert_eq!(table.get(&Stage::Lane), None);
    assert_eq!(table.get(&Stage::Reply), Some(&200));
    assert_eq!(table.get(&Stage::ReplyWakeUp), None);
}

#[test]
fn the_slowest_calls_come_first_up_to_the_limit() {
    let slower = |by: u64, client: ThreadId| Request {
        client,
        end_ns: 2000 + by,
        ..call()
    };
    let requests = [
        slower(0, CLIENT),
        slower(20, CLIENT),
        slower(500, LOW),
        slower(30, CLIENT),
        slower(10, CLIENT),
    ];
    let explanation = explain(&[], &requests, 1000, 2, |request| request.client == CLIENT);
    assert_eq!((explanation.calls, explanation.slow), (4, 3));
    let places: Vec<_> = explanation.budgets.iter().map(|budget| budget.request).collect();
    assert_eq!(places, [3, 1]);
    assert_eq!(explain(&[], &[], 0, 9, |_| true), Explanation::default());
}
