//! Configuration of threads, granted and refused.

use punctual_types::NativePriority;

use super::*;
use punctual_fixtures::{Missing, realtime_or_skip, skip};

use crate::test_support::give_up_capabilities;

#[test]
fn a_fifo_thread_has_its_class_before_its_function_runs() {
    if !realtime_or_skip() {
        return;
    }
    let wanted = Scheduling::fifo(NativePriority(17));
    let thread = ThreadSpec::new("fifo")
        .scheduling(wanted)
        .spawn(scheduling::current)
        .unwrap();
    assert_eq!(thread.granted(), Granted::RealTime);
    assert_eq!(thread.join().unwrap(), wanted);
}

#[test]
fn the_ordinary_class_is_not_inherited_from_a_real_time_starter() {
    if !realtime_or_skip() {
        return;
    }
    let starter = ThreadSpec::new("starter").scheduling(Scheduling::fifo(NativePriority(5)));
    let child = starter
        .spawn(|| {
            let child = ThreadSpec::new("child").spawn(scheduling::current).unwrap();
            assert_eq!(child.granted(), Granted::Ordinary);
            child.join().unwrap()
        })
        .unwrap();
    assert_eq!(child.join().unwrap(), Scheduling::OTHER);
}

#[test]
fn a_refused_class_leaves_the_thread_running_in_the_ordinary_one() {
    // In a separate thread: capabilities belong to threads, and started threads inherit them.
    let outcome = ThreadSpec::new("no-rights")
        .spawn(|| {
            give_up_capabilities();
            let spec = ThreadSpec::new("denied").scheduling(Scheduling::fifo(NativePriority(99)));
            let thread = spec.spawn(scheduling::current).unwrap();
            (thread.granted(), thread.join().unwrap())
        })
        .unwrap()
        .join()
        .unwrap();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Rtprio).current;
    if limit.is_none_or(|highest| highest >= 99) {
        return skip(Missing::Machine, "RLIMIT_RTPRIO allows 99 to everybody");
    }
    assert_eq!(
        outcome,
        (
            Granted::Denied(io::ErrorKind::PermissionDenied),
            Scheduling::OTHER
        )
    );
}

#[test]
fn affinity_is_set_before_the_function_runs() {
    let cpu = CpuSet::all().iter().last().unwrap();
    let spec = ThreadSpec::new("pinned").affinity(CpuSet::single(cpu));
    let (cpus, at) = spec
        .spawn(|| (affinity::current(), affinity::current_cpu()))
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(cpus, CpuSet::single(cpu));
    assert_eq!(at, cpu);
}

#[test]
fn a_cpu_that_does_not_exist_fails_the_spawn_and_f_does_not_run() {
    let ran = Arc::new(OnceLock::new());
    let witness = Arc::clone(&ran);
    let spec = ThreadSpec::new("nowhere").affinity(CpuSet::single(1023));
    let error = spec.spawn(move || witness.set(())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("`nowhere`"), "{error}");
    assert!(ran.get().is_none());
}

#[test]
fn names_are_cut_between_characters() {
    let name = |name: &str| {
        let thread = ThreadSpec::new(name)
            .spawn(|| rustix::thread::name().unwrap())
            .unwrap();
        thread.join().unwrap().into_string().unwrap()
    };
    assert_eq!(name("lane"), "lane");
    assert_eq!(name("a-long-name-of-a-thread"), "a-long-name-of-");
    assert_eq!(name("fourteen-bytesé"), "fourteen-bytes");
    assert!(ThreadSpec::new("a\0b").spawn(|| ()).is_err());
}

#[test]
fn tid_is_the_threads_own_id() {
    let thread = ThreadSpec::new("tid").spawn(TaskId::current_thread).unwrap();
    let seen = thread.tid();
    assert_eq!(thread.join().unwrap(), seen);
}

#[test]
fn join_returns_a_panic() {
    let thread = ThreadSpec::new("panics")
        .spawn(|| std::panic::resume_unwind(Box::new("why")))
        .unwrap();
    let reason: std::thread::Result<()> = thread.join();
    assert_eq!(*reason.unwrap_err().downcast::<&str>().unwrap(), "why");
}

#[test]
fn a_prefaulted_stack_takes_no_more_page_faults() {
    const STACK: usize = 1024 * 1024;
    let faults = |prefault| {
        let spec = ThreadSpec::new("stack")
            .stack_bytes(STACK)
            .prefault_bytes(prefault);
        spec.spawn(faults_of_using_half_a_mebibyte)
            .unwrap()
            .join()
            .unwrap()
    };
    let (without, with) = (faults(0), faults(STACK));
    // 512 KiB are 128 pages; the kernel may map several per fault, but not all.
    assert!(
        without >= 8,
        "the measurement is not conclusive: {without} faults without prefaulting"
    );
    assert_eq!(with, 0, "faults after prefaulting; without it {without}");
    // Beyond what is prefaulted, the rest is there when it is used.
    assert!(faults(64 * 1024) >= 8);
}

#[test]
fn the_high_water_mark_of_a_stack_is_what_was_used() {
    const PREFAULTED: usize = 256 * 1024;
    // Nothing, some of the prefaulted part, and more than that.
    for (deep, bytes) in [
        (None, 0),
        (Some(use_bytes::<100_000> as fn()), 100_000),
        (Some(use_bytes::<1_000_000> as fn()), 1_000_000),
    ] {
        let spec = ThreadSpec::new("stack").prefault_bytes(PREFAULTED);
        let (resume, wait) = std::sync::mpsc::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = spec
            .spawn(move || {
                deep.into_iter().for_each(|deep| deep());
                ready.send(()).unwrap();
                wait.recv().unwrap();
            })
            .unwrap();
        is_ready.recv().unwrap();
        let stack = thread.stack().unwrap().clone();
        let others = || {
            let used = stack.used_bytes().unwrap();
            assert!((bytes..bytes + 32 * 1024).contains(&used), "{used} of {bytes}");
        };
        others();
        resume.send(()).unwrap();
        thread.join().unwrap();
        others();
        assert!(stack.size_bytes() >= ThreadSpec::DEFAULT_STACK_BYTES);
    }
}

#[inline(never)]
fn use_bytes<const BYTES: usize>() {
    std::hint::black_box(&mut [1u8; BYTES]);
}

fn faults_of_using_half_a_mebibyte() -> i64 {
    // Called through a pointer, because its stack probes must not run before the first reading.
    let deep: fn() = std::hint::black_box(use_half_a_mebibyte);
    let before = minor_faults();
    deep();
    minor_faults() - before
}

#[inline(never)]
fn use_half_a_mebibyte() {
    std::hint::black_box(&mut [1u8; 512 * 1024]);
}

fn minor_faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a valid rusage that the call may write to; all zeroes is a valid rusage.
    unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), 0);
        usage.assume_init().ru_minflt
    }
}
