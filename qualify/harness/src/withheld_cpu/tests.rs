//! Recordings from made-up samples, and of a sleeping process.

use punctual_os::{CpuSet, TaskId, clock};

use super::recorder::{CpuAccount, Watch};
use super::*;
use crate::MachineFacts;

const MS: u64 = 1_000_000;

fn span(start_ms: u64, end_ms: u64) -> Span {
    Span {
        start_ns: start_ms * MS,
        end_ns: end_ms * MS,
    }
}

/// Returns a recording of samples every 5 ms, each given as the CPU time in milliseconds and the ticks of
/// idle time and of other work accounted by the kernel.
fn recorded(advances: &[(u64, u64, u64)]) -> Recording {
    let mut watch = Watch::new(0, Duration::ZERO, false);
    let (mut cpu, mut account) = (Duration::ZERO, CpuAccount::default());
    for (sample, &(advance, idle, busy)) in (1..).zip(advances) {
        cpu += Duration::from_millis(advance);
        account.idle += idle;
        account.busy += busy;
        watch.sample(sample * 5 * MS, cpu, || Some(account));
    }
    watch.end()
}

#[test]
fn a_stall_is_a_hole_if_a_call_was_outstanding() {
    let stall = [(0, 1, 0); 6];
    let samples: Vec<_> = [(5, 0, 0); 2]
        .into_iter()
        .chain(stall)
        .chain([(5, 0, 0)])
        .collect();
    let recording = recorded(&samples);
    let holes = |outstanding: &[Span]| recording.holes(outstanding);
    let whole = Hole {
        start_ns: 10 * MS,
        length_ns: 30 * MS,
        source: HoleSource::Idle,
    };
    assert_eq!(holes(&[span(0, 100)]), [whole]);
    assert_eq!(holes(&[]), [], "no call was outstanding");
    assert_eq!(holes(&[span(0, 29)]), [], "19 ms with a call outstanding");
    let part = Hole {
        length_ns: 20 * MS,
        ..whole
    };
    assert_eq!(holes(&[span(0, 30)]), [part]);
    assert_eq!(
        holes(&[span(20, 30), span(0, 20)]),
        [part],
        "one call after the other"
    );
    assert_eq!(holes(&[span(0, 24), span(25, 40)]), [], "with a pause between");
    assert_eq!(
        (recording.samples(), recording.longest_gap()),
        (9, Duration::from_millis(5))
    );
    assert_eq!(recording.watched(), span(0, 45));
}

#[test]
fn short_and_interrupted_stalls_do_not_count() {
    let recording = recorded(&[
        (5, 0, 0),
        (0, 1, 0),
        (0, 1, 0),
        (0, 1, 0),
        (1, 0, 0),
        (0, 1, 0),
        (0, 1, 0),
    ]);
    assert_eq!(recording.holes(&[span(0, 100)]), []);
}

#[test]
fn a_stall_at_the_end_of_the_recording_counts() {
    let recording = recorded(&[(5, 0, 0), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]);
    let hole = Hole {
        start_ns: 5 * MS,
        length_ns: 20 * MS,
        source: HoleSource::OtherTasks,
    };
    assert_eq!(recording.holes(&[span(0, 100)]), [hole]);
}

#[test]
fn unaccounted_time_is_attributed_to_the_host() {
    let recording = recorded(&[(5, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)]);
    assert_eq!(
        recording.holes(&[span(0, 100)])[0].source,
        HoleSource::Unaccounted
    );
}

#[test]
fn only_the_pinned_cpus_are_accounted() {
    let stat =
        "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 100 1 1 100 1 1 1 9 0 0\ncpu1 10 20 30 40 50 60 70 80 0 0\nintr 5\n";
    let account = CpuAccount::parse(stat, &CpuSet::single(1));
    assert_eq!(account, CpuAccount { idle: 90, busy: 190 });
}

#[test]
fn deadlines_are_lost_to_the_holes_that_overlap_them() {
    let hole = Hole {
        start_ns: 100 * MS,
        length_ns: 50 * MS,
        source: HoleSource::Unaccounted,
    };
    let missed = [
        span(80, 100),
        span(90, 101),
        span(120, 130),
        span(149, 160),
        span(150, 170),
    ];
    assert_eq!(lost_to_holes(&missed, &[hole]), [false, true, true, true, false]);
    let idle = Hole {
        source: HoleSource::Idle,
        ..hole
    };
    assert_eq!(lost_to_holes(&missed, &[idle]), [false; 5], "as a lost wake-up");
}

#[test]
fn the_machine_is_unfit_above_two_percent() {
    let hole = Hole {
        start_ns: 0,
        length_ns: 50 * MS,
        source: HoleSource::OtherTasks,
    };
    let second = Duration::from_secs(1);
    let doubts = |holes: &[Hole], measured| {
        let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::empty()));
        evaluate(holes, measured, &mut outcome);
        assert_eq!(outcome.is_unfit(), outcome.doubts().count() > 0);
        outcome.doubts().collect::<Vec<_>>()
    };
    assert_eq!(doubts(&[hole], 5 * second / 2), [""; 0]);
    let [reason] = &doubts(&[hole; 3], 5 * second)[..] else {
        panic!("one")
    };
    assert!(
        reason.starts_with("machine unfit: in 3.0 % of the measured time"),
        "{reason}"
    );
    let idle = Hole {
        source: HoleSource::Idle,
        ..hole
    };
    assert_eq!(doubts(&[idle; 50], second), [""; 0], "the results say so");
    assert_eq!(doubts(&[], Duration::ZERO), [""; 0]);
    assert_eq!(doubts(&[hole], Duration::ZERO).len(), 1);
}

/// A lost wake-up looks the same: one such hole is enough, and no repetition helps.
#[test]
fn throttling_makes_the_machine_unfit() {
    let hole = |is_throttling| {
        let mut watch = Watch::new(0, Duration::ZERO, is_throttling);
        let cpu = Duration::from_millis(5);
        for sample in 1..8 {
            let account = CpuAccount {
                idle: sample,
                busy: 0,
            };
            watch.sample(sample * 5 * MS, cpu, || Some(account));
        }
        watch.end().holes(&[span(0, 100)])[0]
    };
    assert_eq!(
        (hole(false).source, hole(true).source),
        (HoleSource::Idle, HoleSource::Throttling)
    );
    assert!(!hole(true).excuses(span(0, 100)), "a wake-up may have been lost");
    let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::empty()));
    evaluate(&[hole(false)], Duration::from_secs(100), &mut outcome);
    assert!(!outcome.is_unfit());
    evaluate(&[hole(true)], Duration::from_secs(100), &mut outcome);
    assert!(outcome.is_unfit() && !outcome.is_worth_repeating());
    let reason: String = outcome.doubts().collect();
    assert!(reason.contains("(holes: 1, 30 ms in all)"), "{reason}");
}

#[test]
fn a_sleeping_process_causes_a_hole() {
    let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
    let begin = clock::monotonic();
    // Its start takes CPU time first.
    std::thread::sleep(Duration::from_millis(30));
    let recorder =
        HoleRecorder::start(vec![TaskId::of_child(&child)], CpuSet::all(), &CpuSet::empty()).unwrap();
    std::thread::sleep(Duration::from_millis(80));
    let recording = recorder.stop();
    child.kill().unwrap();
    child.wait().unwrap();
    let whole = Span::between(begin, clock::monotonic());
    let holes = recording.holes(&[whole]);
    assert_eq!(holes.len(), 1, "{recording:?}");
    assert!(holes[0].length_ns >= 60 * MS, "{holes:?}");
}

#[test]
fn an_ended_process_cannot_be_watched() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let id = TaskId::of_child(&child);
    child.wait().unwrap();
    assert!(HoleRecorder::start(vec![id], CpuSet::all(), &CpuSet::empty()).is_err());
}

#[test]
fn the_cause_of_a_maximum_is_the_hole_with_the_largest_overlap() {
    let hole = |start_ms, length_ms, source| Hole {
        start_ns: start_ms * MS,
        length_ns: length_ms * MS,
        source,
    };
    let holes = [
        hole(0, 30, HoleSource::Idle),
        hole(40, 50, HoleSource::OtherTasks),
        hole(200, 90, HoleSource::Unaccounted),
    ];
    assert_eq!(
        cause_of(span(25, 100), &holes),
        "a hole of 50 ms: the CPU ran other tasks"
    );
    assert_eq!(cause_of(span(100, 150), &holes), "no recorded hole");
}

#[test]
fn a_dropped_recorder_ends_its_thread() {
    let me = punctual_os::TaskId::current_process();
    let recorder = HoleRecorder::start(vec![me], CpuSet::all(), &CpuSet::empty()).unwrap();
    // By id, because recorders of other tests have the same name.
    let thread = recorder.thread_id().unwrap();
    let path = format!("/proc/self/task/{thread}");
    assert!(std::path::Path::new(&path).exists());
    drop(recorder);
    punctual_fixtures::eventually("the thread ends", || !std::path::Path::new(&path).exists());
}
