//! Inversions and holes in made-up events.

use punctual_flight::Link;

use super::*;
use crate::event::{Interrupt, Task, What};
use crate::inversion::{INTERRUPT_SILENCE_NS, SILENCE_NS};
use crate::request::{Model, Service};
use crate::test_events::{blocks, event, idle, preempts, switch, task, waking, woken};

// Threads, named by their role in the tests.
const LOW: ThreadId = 10;
const MEDIUM: ThreadId = 20;
const HIGH: ThreadId = 50;
const SERVER: ThreadId = 30;
const ORDINARY: ThreadId = 90;

fn low() -> Task {
    task(LOW, 10)
}

fn medium() -> Task {
    task(MEDIUM, 20)
}

fn high() -> Task {
    task(HIGH, 50)
}

fn ordinary() -> Task {
    task(ORDINARY, 0)
}

fn bound(to: &[(ThreadId, &str)]) -> HashMap<ThreadId, CpuSet> {
    let set = |(thread, cpus): &(ThreadId, &str)| (*thread, CpuSet::parse(cpus).unwrap());
    to.iter().map(set).collect()
}

/// Returns waiter, CPU, start, length and main culprit.
type Short = (ThreadId, u32, u64, u64, ThreadId);

fn short(analysis: &Analysis) -> Vec<Short> {
    let of = |inversion: &Inversion| {
        let culprit = match inversion.culprits[0].who {
            Who::Thread { thread, .. } => thread,
            Who::Interrupt(_) => -1,
        };
        let Inversion {
            waiter,
            cpu,
            start_ns,
            length_ns,
            ..
        } = inversion;
        (waiter.thread, *cpu, *start_ns, *length_ns, culprit)
    };
    analysis.inversions.iter().map(of).collect()
}

fn threads_only(events: &[KernelEvent], allowed: &[(ThreadId, &str)]) -> (Vec<Short>, Vec<CpuHole>) {
    let analysis = analyse(events, &[], &bound(allowed));
    (short(&analysis), analysis.holes)
}

#[test]
fn a_ready_thread_waits_for_lower_levels_only() {
    let table: [(&str, Task, Vec<Short>); 4] = [
        ("lower", low(), vec![(HIGH, 0, 100, 50, LOW)]),
        (
            "ordinary, like ksoftirqd",
            ordinary(),
            vec![(HIGH, 0, 100, 50, ORDINARY)],
        ),
        ("equal", task(MEDIUM, 50), vec![]),
        ("higher", task(MEDIUM, 60), vec![]),
    ];
    for (what, runner, expected) in table {
        let events = [
            blocks(10, 0, idle(), runner),
            waking(100, 0, high(), 0),
            woken(105, 0, high(), 0),
            switch(150, 0, runner, runner.level < high().level, high()),
            blocks(200, 0, high(), idle()),
        ];
        let (inversions, holes) = threads_only(&events, &[]);
        assert_eq!(inversions, expected, "{what}");
        assert_eq!(holes, [], "{what}: it was the runner's turn until the switch");
    }
}

#[test]
fn a_preempting_thread_belongs_to_the_same_wait() {
    let events = [
        blocks(10, 0, idle(), low()),
        waking(100, 0, high(), 0),
        // Not in the queue yet, so the kernel did not pass it over.
        preempts(120, 0, low(), medium()),
        woken(125, 0, high(), 0),
        preempts(170, 0, medium(), high()),
    ];
    let analysis = analyse(&events, &[], &bound(&[]));
    assert_eq!(
        short(&analysis),
        [
            (HIGH, 0, 100, 70, MEDIUM),
            // Medium did not delay a higher level; it preempted low.
        ]
    );
    let ran: Vec<u64> = analysis.inversions[0]
        .culprits
        .iter()
        .map(|culprit| culprit.ran_ns)
        .collect();
    assert_eq!(ran, [50, 20]);
}

#[test]
fn a_wake_up_from_another_cpu_counts_on_the_target_cpu() {
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(11, 1, idle(), low_on_1()),
        waking(100, 1, high(), 0),
        preempts(140, 0, low(), high()),
    ];
    assert_eq!(threads_only(&events, &[(HIGH, "0")]).0, [(HIGH, 0, 100, 40, LOW)]);
}

fn low_on_1() -> Task {
    task(LOW + 1, 10)
}

#[test]
fn a_thread_waits_on_the_cpus_that_it_may_use() {
    // High is in the queue of CPU 1 behind its equal; low runs on CPU 0.
    let equal = task(51, 50);
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(11, 1, idle(), equal),
        woken(100, 1, high(), 1),
        blocks(180, 1, equal, high()),
    ];
    let table: [(&str, Vec<Short>); 3] = [
        ("0-1", vec![(HIGH, 0, 100, 80, LOW)]),
        ("1", vec![]),
        ("0", vec![(HIGH, 0, 100, 80, LOW)]),
    ];
    for (cpus, expected) in table {
        assert_eq!(
            threads_only(&events, &[(HIGH, cpus)]).0,
            expected,
            "allowed on {cpus}"
        );
    }
    assert_eq!(
        threads_only(&events, &[]).0,
        [],
        "unknown: bound to the CPU of its queue"
    );
}

#[test]
fn an_idle_cpu_is_not_an_inversion() {
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(11, 1, low_on_1(), idle()),
        woken(100, 0, high(), 0),
        blocks(130, 1, idle(), high()),
    ];
    assert_eq!(threads_only(&events, &[(HIGH, "0-1")]).0, []);
}

#[test]
fn inherited_priorities_count() {
    let inherited = |time, from: u8, to: u8| {
        event(
            time,
            0,
            What::Inherited {
                thread: LOW,
                from: Level(from),
                to: Level(to),
            },
        )
    };
    let events = [
        blocks(10, 0, idle(), low()),
        woken(50, 0, medium(), 0),
        // From here on medium rightly waits: high waits for a lock that low owns.
        inherited(60, 10, 50),
        inherited(90, 50, 10),
        preempts(95, 0, low(), medium()),
    ];
    assert_eq!(
        threads_only(&events, &[]).0,
        [(MEDIUM, 0, 50, 10, LOW), (MEDIUM, 0, 90, 5, LOW)]
    );
}

#[test]
fn a_thread_woken_before_it_sleeps_does_not_wait() {
    let events = [
        blocks(10, 0, idle(), high()),
        waking(20, 1, high(), 0),
        woken(21, 1, high(), 0),
        blocks(30, 0, high(), low()),
        woken(40, 1, high(), 0),
        preempts(45, 0, low(), high()),
    ];
    assert_eq!(threads_only(&events, &[]).0, [(HIGH, 0, 40, 5, LOW)]);
}

#[test]
fn a_migrated_thread_waits_on_its_new_cpu() {
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(11, 1, idle(), task(60, 60)),
        woken(100, 0, high(), 0),
        event(120, 0, What::Migrated { thread: HIGH, cpu: 1 }),
        blocks(200, 1, task(60, 60), high()),
    ];
    assert_eq!(threads_only(&events, &[]).0, [(HIGH, 0, 100, 20, LOW)]);
}

#[test]
fn a_thread_passed_over_by_the_kernel_is_in_a_hole() {
    let millisecond = 1_000_000;
    for (instead, source) in [
        (idle(), HoleSource::Throttling),
        (ordinary(), HoleSource::OtherTasks),
    ] {
        let events = [
            blocks(10, 0, idle(), high()),
            // Throttling or the fair server: a real-time thread could run but does not.
            preempts(millisecond, 0, high(), instead),
            woken(2 * millisecond, 0, low(), 0),
            preempts(51 * millisecond, 0, instead, high()),
        ];
        let (inversions, holes) = threads_only(&events, &[]);
        assert_eq!(inversions, [], "{source:?}");
        assert_eq!(
            holes,
            [CpuHole {
                cpu: 0,
                start_ns: millisecond,
                length_ns: 50 * millisecond,
                source,
            }]
        );
    }
}

/// The fair server prefers an ordinary thread without a switch if its time began before the wake-up.
#[test]
fn a_thread_that_does_not_displace_an_ordinary_one_is_in_a_hole() {
    let tick = |time| event(time, 0, What::InterruptBegin(Interrupt::Timer));
    let after = |time| event(time, 0, What::InterruptEnd(Interrupt::Timer));
    let held = |length: u64| {
        let events = [
            blocks(10, 0, idle(), ordinary()),
            woken(100, 1, high(), 0),
            tick(400_000),
            after(401_000),
            tick(800_000),
            after(801_000),
            preempts(100 + length, 0, ordinary(), high()),
        ];
        threads_only(&events, &[])
    };
    let hole = CpuHole {
        cpu: 0,
        start_ns: 100,
        length_ns: SILENCE_NS,
        source: HoleSource::OtherTasks,
    };
    assert_eq!(held(SILENCE_NS), (vec![], vec![hole]));
    let shorter = SILENCE_NS - 1;
    assert_eq!(held(shorter), (vec![(HIGH, 0, 100, shorter, ORDINARY)], vec![]));
}

/// The thread that could have helped is held back on the other CPU.
#[test]
fn a_cpu_in_a_hole_causes_no_inversion_of_others() {
    let millisecond = 1_000_000;
    let equal = task(51, 50);
    for (held_back, expected) in [
        (true, vec![]),
        (false, vec![(HIGH, 1, millisecond, 4_000_000, ORDINARY)]),
    ] {
        let other = if held_back { high_on_1() } else { idle() };
        let events = [
            blocks(10, 0, idle(), equal),
            blocks(10, 1, idle(), other),
            if held_back {
                preempts(20, 1, other, ordinary())
            } else {
                blocks(20, 1, other, ordinary())
            },
            woken(millisecond, 0, high(), 0),
            blocks(5 * millisecond, 0, equal, high()),
        ];
        let (inversions, holes) = threads_only(&events, &[(HIGH, "0-1")]);
        assert_eq!((inversions, holes.len()), (expected, usize::from(held_back)));
    }
}

fn high_on_1() -> Task {
    task(HIGH + 5, 50)
}

#[test]
fn a_wake_up_on_an_idle_cpu_is_not_a_hole() {
    // The CPU was idle without a reason to run; the wake-up takes a moment.
    let events = [
        blocks(10, 0, high(), idle()),
        woken(1000, 0, high(), 0),
        blocks(1030, 0, idle(), high()),
    ];
    assert_eq!(threads_only(&events, &[]), (vec![], vec![]));
}

#[test]
fn silence_of_a_cpu_is_attributed_to_the_host() {
    let events = |length: u64| {
        [
            blocks(10, 0, idle(), low()),
            woken(1000, 0, high(), 0),
            preempts(1000 + length, 0, low(), high()),
        ]
    };
    let (inversions, holes) = threads_only(&events(SILENCE_NS - 1), &[]);
    assert_eq!(
        (inversions.len(), holes.len()),
        (1, 0),
        "it may have been the kernel"
    );
    let (inversions, holes) = threads_only(&events(SILENCE_NS), &[]);
    assert_eq!(inversions, []);
    assert_eq!(
        (holes[0].length_ns, holes[0].source),
        (SILENCE_NS, HoleSource::Unaccounted)
    );
}

#[test]
fn silence_within_an_interrupt_is_a_hole_sooner() {
    let events = |interrupt: Interrupt, length: u64| {
        [
            blocks(10, 0, idle(), low()),
            event(900, 0, What::InterruptBegin(interrupt)),
            woken(1000, 0, high(), 0),
            event(1000 + length, 0, What::InterruptEnd(interrupt)),
            preempts(1001 + length, 0, low(), high()),
        ]
    };
    let found = |interrupt, length| {
        let (inversions, holes) = threads_only(&events(interrupt, length), &[]);
        (inversions.iter().map(|found| found.3).max(), holes.len())
    };
    let timer = Interrupt::Timer;
    let whole = Some(INTERRUPT_SILENCE_NS);
    assert_eq!(found(timer, INTERRUPT_SILENCE_NS - 1), (whole, 0));
    assert_eq!(found(timer, INTERRUPT_SILENCE_NS), (Some(1), 1));
    let (longest, holes) = found(Interrupt::Soft(3), INTERRUPT_SILENCE_NS);
    assert_eq!(holes, 0, "other packets may take long");
    assert!(longest >= whole);
}

#[test]
fn interrupts_are_distinguished_from_the_interrupted_thread() {
    let packets = Interrupt::Soft(3);
    let events = [
        blocks(10, 0, idle(), low()),
        event(100, 0, What::InterruptBegin(Interrupt::Timer)),
        waking(110, 0, high(), 0),
        event(120, 0, What::InterruptEnd(Interrupt::Timer)),
        event(120, 0, What::InterruptBegin(packets)),
        event(170, 0, What::InterruptEnd(packets)),
        preempts(175, 0, low(), high()),
    ];
    let analysis = analyse(&events, &[], &bound(&[]));
    assert_eq!(analysis.inversions.len(), 1);
    let culprits: Vec<_> = analysis.inversions[0]
        .culprits
        .iter()
        .map(|Culprit { who, ran_ns }| (matches!(who, Who::Interrupt(kind) if *kind == packets), *ran_ns))
        .collect();
    assert_eq!(culprits, [(true, 50), (false, 10), (false, 5)]);
}

/// Returns a request of `client`, sent at `sent_ns` and served by `SERVER` between these times, without a
/// priority model.
fn request(client: Task, sent_ns: u64, [served_ns, done_ns]: [u64; 2], received_ns: u64) -> Request {
    Request {
        id: 1,
        link: Link::NONE,
        operation: 0,
        priority: Some(client.level.0.into()),
        client: client.thread,
        client_process: 1,
        begin_ns: sent_ns,
        encoded_ns: sent_ns,
        sent_ns,
        received_ns: Some(received_ns),
        end_ns: received_ns,
        failed: false,
        service: Some(Service {
            thread: SERVER,
            process: 2,
            taken_ns: served_ns,
            read_ns: None,
            served_ns,
            upcall_begin_ns: Some(served_ns),
            upcall_end_ns: Some(done_ns),
            done_ns: Some(done_ns),
            priority: None,
            model: Model::None,
        }),
    }
}

fn server(level: u8) -> Task {
    task(SERVER, level)
}

#[test]
fn in_a_pool_without_lanes_the_high_request_waits_for_the_low_one() {
    let requests = [
        request(low(), 20, [30, 500], 520),
        request(high(), 100, [510, 900], 950),
    ];
    // The inversion is the same at a low, a middle and the highest priority of the pool.
    for level in [10, 20, 60] {
        let events = [
            blocks(10, 0, idle(), low()),
            blocks(25, 0, low(), server(level)),
            preempts(90, 0, server(level), high()),
            blocks(105, 0, high(), server(level)),
            preempts(940, 0, server(level), high()),
            blocks(1000, 0, high(), idle()),
        ];
        let analysis = analyse(&events, &requests, &bound(&[]));
        let queued: Vec<_> = analysis
            .inversions
            .iter()
            .filter(|inversion| inversion.waiter.state == Waiting::Queued)
            .map(|inversion| (inversion.waiter.request, inversion.start_ns, inversion.length_ns))
            .collect();
        // From 500 the server thread is about to serve it. From 100 to 105 its own caller runs.
        assert_eq!(queued, [(Some(1), 105, 395)], "pool at {level}");
        let mut inversions = analysis.inversions.iter();
        let queued = inversions
            .find(|inversion| inversion.waiter.request == Some(1))
            .unwrap();
        let culprit = queued.culprits[0].who;
        assert!(
            matches!(
                culprit,
                Who::Thread {
                    thread: SERVER,
                    request: Some(0),
                    ..
                }
            ),
            "{culprit:?}"
        );
    }
}

#[test]
fn with_lanes_the_high_request_is_served_at_once() {
    let lane = server(50);
    let low_server = task(31, 10);
    let mut requests = [
        request(low(), 20, [30, 900], 950),
        request(high(), 100, [130, 300], 320),
    ];
    requests[0].service.as_mut().unwrap().thread = low_server.thread;
    for request in &mut requests {
        request.service.as_mut().unwrap().model = Model::ClientPropagated;
    }
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(25, 0, low(), low_server),
        waking(85, 0, high(), 0),
        woken(86, 0, high(), 0),
        preempts(90, 0, low_server, high()),
        waking(98, 0, lane, 0),
        woken(99, 0, lane, 0),
        blocks(110, 0, high(), lane),
        woken(295, 0, high(), 0),
        blocks(310, 0, lane, high()),
        blocks(330, 0, high(), low_server),
    ];
    let analysis = analyse(&events, &requests, &bound(&[]));
    assert_eq!(
        short(&analysis),
        [(HIGH, 0, 85, 5, low_server.thread)],
        "the wake-up by the timer"
    );
}

#[test]
fn octets_that_wait_for_ksoftirqd_wait_for_the_running_thread() {
    let ksoftirqd = task(15, 0);
    let requests = [request(high(), 100, [200, 300], 400)];
    let events = [
        blocks(10, 0, idle(), high()),
        // The kernel has deferred the packet; the caller waits for its reply.
        blocks(110, 0, high(), medium()),
        blocks(150, 0, medium(), ksoftirqd),
        woken(180, 0, server(50), 0),
        preempts(185, 0, ksoftirqd, server(50)),
        woken(290, 0, high(), 0),
        blocks(305, 0, server(50), high()),
    ];
    let analysis = analyse(&events, &requests, &bound(&[(SERVER, "0")]));
    let mut summary: Vec<_> = analysis
        .inversions
        .iter()
        .map(|found| (found.waiter.state, found.start_ns, found.length_ns))
        .collect();
    summary.sort();
    assert_eq!(summary, [(Waiting::Ready, 180, 5), (Waiting::Queued, 110, 70)]);
}

#[test]
fn a_request_in_service_waits_while_preempted_and_not_while_blocked() {
    // The pool runs at 10, so medium preempts it although it serves high.
    let pool = server(10);
    let requests = [request(high(), 100, [120, 600], 700)];
    let events = [
        blocks(10, 0, idle(), high()),
        blocks(110, 0, high(), pool),
        preempts(200, 0, pool, medium()),
        blocks(260, 0, medium(), pool),
        // The servant blocks.
        blocks(300, 0, pool, medium()),
        woken(400, 0, pool, 0),
        blocks(430, 0, medium(), pool),
        preempts(650, 0, pool, high()),
    ];
    let analysis = analyse(&events, &requests, &bound(&[]));
    let summary: Vec<_> = analysis
        .inversions
        .iter()
        .map(|found| (found.waiter.state, found.start_ns, found.length_ns))
        .collect();
    assert_eq!(
        summary,
        [
            (Waiting::Preempted, 200, 60),
            (Waiting::Preempted, 400, 30),
            // The reply was sent at 600, and the server's thread continued.
            (Waiting::Reply, 600, 50),
        ]
    );
}

#[test]
fn a_request_behind_a_servant_that_blocks_waits_for_no_running_thread() {
    let lane = server(50);
    let requests = [
        request(low(), 100, [120, 500], 700),
        request(high(), 250, [500, 600], 650),
    ];
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(110, 0, low(), lane),
        // The servant of the first request sleeps.
        blocks(200, 0, lane, medium()),
        woken(400, 0, lane, 0),
        preempts(410, 0, medium(), lane),
        blocks(610, 0, lane, high()),
    ];
    let analysis = analyse(&events, &requests, &bound(&[(SERVER, "0"), (HIGH, "0")]));
    let queued = analysis
        .inversions
        .iter()
        .filter(|found| found.waiter.state == Waiting::Queued && found.waiter.request == Some(1));
    let waits: Vec<_> = queued.map(|found| (found.start_ns, found.length_ns)).collect();
    // Once the lane's thread is ready, it waits for medium, and then works for the less important request.
    assert_eq!(waits, [(400, 100)]);
}

#[test]
fn a_declared_priority_is_that_of_the_request() {
    // A low caller invokes an object with a server-declared priority of 50.
    let mut urgent = request(low(), 100, [300, 400], 500);
    urgent.service.as_mut().unwrap().model = Model::ServerDeclared;
    let events = [
        blocks(10, 0, idle(), low()),
        blocks(110, 0, low(), medium()),
        woken(280, 0, server(50), 0),
        preempts(290, 0, medium(), server(50)),
        blocks(410, 0, server(50), low()),
    ];
    let analysis = analyse(&events, &[urgent], &bound(&[(SERVER, "0")]));
    let levels: Vec<_> = analysis
        .inversions
        .iter()
        .map(|found| found.waiter.level)
        .collect();
    assert_eq!(levels[0], Some(Level(50)));
    assert_eq!(
        (analysis.inversions[0].start_ns, analysis.inversions[0].length_ns),
        (110, 170)
    );
}
