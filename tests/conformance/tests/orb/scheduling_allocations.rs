//! Decisions of the dynamic schedulers, and who gets a resource, without a heap allocation within what was
//! reserved.

use std::time::Duration;

use punctual_os::alloc_counter;
use punctual_sched::dynamic::{
    Checked, STANDARD, Scheduler, SchedulingParameters, Slot, Time, TranslationDefaults,
    resource::{Criteria, Protocol, ResourceId, Resources},
    standard,
};

const THREADS: u32 = 500;
const ROUNDS: u32 = 2_000;

/// Parameters that differ from round to round and from thread to thread.
fn parameters(scheduler: &dyn Scheduler, number: u32, now: Time) -> SchedulingParameters {
    let mixed = number.wrapping_mul(2_654_435_761) >> 16;
    let milliseconds = |below: u32| Duration::from_millis(u64::from(mixed % below));
    let defaults = TranslationDefaults {
        now,
        ..TranslationDefaults::default()
    };
    SchedulingParameters::RateOrLaxity {
        criticality: (mixed % 5) as i32,
        period: milliseconds(97),
        deadline: now + milliseconds(89),
        execution_time: milliseconds(13),
        importance: (mixed % 31) as i32,
    }
    .translated(scheduler.kind(), &defaults)
}

fn decide(scheduler: &mut dyn Scheduler, chosen: &mut Vec<Slot>) {
    let mut now = Time(1_000_000_000);
    for thread in 0..THREADS {
        let parameters = parameters(scheduler, thread, now);
        scheduler.ready(Slot(thread), &parameters, Duration::ZERO, now);
    }
    for round in 0..ROUNDS {
        now = now + Duration::from_micros(500);
        let thread = Slot(round.wrapping_mul(7_919) % THREADS);
        let parameters = parameters(scheduler, round, now);
        match round % 3 {
            0 => scheduler.update(thread, &parameters, Duration::from_micros(300), now),
            1 => scheduler.remove(thread, now),
            _ => {
                scheduler.remove(thread, now);
                scheduler.ready(thread, &parameters, Duration::ZERO, now);
            }
        }
        chosen.clear();
        let processors = (round % 4) as usize;
        scheduler.choose(processors, now, &|_| Duration::from_micros(400), chosen);
        assert_eq!(chosen.len(), processors);
        scheduler.reconsider_at(now);
    }
}

#[test]
fn decisions_allocate_nothing() {
    assert!(alloc_counter::installed());
    for name in STANDARD {
        let mut scheduler = Checked::new(standard(name).unwrap());
        scheduler.reserve(THREADS as usize);
        let mut chosen = Vec::with_capacity(4);
        let ((), allocations) = alloc_counter::count_allocations(|| decide(&mut scheduler, &mut chosen));
        assert_eq!(allocations, 0, "{name}");
        assert_eq!(scheduler.faults(), 0, "{name}");
    }
}

#[test]
fn resources_allocate_nothing() {
    assert!(alloc_counter::installed());
    let scheduler = standard("MLF").unwrap();
    let mut resources = Resources::new();
    resources.reserve(THREADS as usize, 8);
    let ids: [ResourceId; 8] = [(); 8].map(|()| resources.create(Protocol::Inheritance));
    let mut changed = Vec::with_capacity(2 * THREADS as usize);
    let by = Criteria {
        scheduler: &*scheduler,
        received: &|_| Duration::from_micros(100),
        now: Time(1_000_000_000),
    };
    let (waits, allocations) = alloc_counter::count_allocations(|| {
        for thread in 0..THREADS {
            let parameters = parameters(by.scheduler, thread, by.now);
            resources.set_base(Slot(thread), &parameters, &by, &mut changed);
        }
        let mut waits = 0;
        for thread in 0..THREADS {
            changed.clear();
            let id = ids[thread as usize % ids.len()];
            if resources.acquire(id, Slot(thread), &by, &mut changed).is_ok() {
                waits += usize::from(resources.waits_for(Slot(thread)).is_some());
            }
        }
        for id in ids {
            while let Some(owner) = resources.owner(id) {
                changed.clear();
                assert!(resources.release(id, owner, &by, &mut changed).is_ok());
            }
        }
        waits
    });
    assert_eq!((waits, allocations), (THREADS as usize - ids.len(), 0));
}
