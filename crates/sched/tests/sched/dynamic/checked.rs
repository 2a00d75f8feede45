//! Invalid decisions of schedulers are detected and replaced.

use std::time::Duration;

use punctual_sched::dynamic::*;

use crate::dynamic::machine::at;

/// A scheduler that chooses given slots.
#[derive(Default)]
struct Puppet {
    chooses: Vec<u32>,
    reconsiders: Option<Time>,
    calls: Vec<&'static str>,
}

impl Scheduler for Puppet {
    fn name(&self) -> &str {
        "puppet"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Importance
    }

    fn reserve(&mut self, _: usize) {}

    fn ready(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
        self.calls.push("ready");
    }

    fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
        self.calls.push("update");
    }

    fn remove(&mut self, _: Slot, _: Time) {
        self.calls.push("remove");
    }

    fn choose(&mut self, _: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
        chosen.extend(self.chooses.iter().copied().map(Slot));
    }

    fn reconsider_at(&self, _: Time) -> Option<Time> {
        self.reconsiders
    }
}

const PARAMETERS: SchedulingParameters = SchedulingParameters::Importance { importance: 1 };

fn ready(scheduler: &mut dyn Scheduler, slots: &[u32]) {
    for slot in slots {
        scheduler.ready(Slot(*slot), &PARAMETERS, Duration::ZERO, at(0));
    }
}

fn choose(scheduler: &mut dyn Scheduler, processors: usize) -> Vec<u32> {
    let mut chosen = Vec::new();
    scheduler.choose(processors, at(0), &|_| Duration::ZERO, &mut chosen);
    chosen.into_iter().map(|slot| slot.0).collect()
}

fn puppet(chooses: &[u32]) -> Checked<Puppet> {
    let mut scheduler = Checked::new(Puppet {
        chooses: chooses.to_vec(),
        ..Puppet::default()
    });
    ready(&mut scheduler, &[5, 2, 9]);
    scheduler
}

#[test]
fn invalid_decisions_are_replaced_by_the_order_of_arrival() {
    let faults: [(&[u32], Fault); 5] = [
        (&[2, 7], Fault::NotReady(Slot(7))),
        (&[u32::MAX], Fault::NotReady(Slot(u32::MAX))),
        (&[2, 2], Fault::Twice(Slot(2))),
        (
            &[2, 5, 9],
            Fault::TooMany {
                chosen: 3,
                processors: 2,
            },
        ),
        (&[], Fault::Idle),
    ];
    for (chooses, nonsense) in faults {
        let mut scheduler = puppet(chooses);
        assert_eq!(choose(&mut scheduler, 2), [5, 2], "{nonsense:?}");
        assert_eq!(choose(&mut scheduler, 2), [5, 2], "{nonsense:?}");
        assert_eq!(scheduler.faults(), 2);
        assert_eq!(scheduler.take_first_fault(), Some(nonsense));
        // Reported once.
        choose(&mut scheduler, 2);
        assert_eq!((scheduler.take_first_fault(), scheduler.faults()), (None, 3));
    }
}

#[test]
fn valid_decisions_are_unchanged() {
    let mut scheduler = puppet(&[9, 2]);
    assert_eq!(choose(&mut scheduler, 2), [9, 2]);
    assert_eq!(choose(&mut scheduler, 3), [9, 2]);
    let mut idle = Checked::new(Puppet::default());
    assert_eq!(choose(&mut idle, 2), []);
    ready(&mut idle, &[1]);
    assert_eq!(choose(&mut idle, 0), []);
    assert_eq!((scheduler.faults(), idle.faults()), (0, 0));
}

#[test]
fn removed_threads_leave_the_order_of_arrival() {
    let mut scheduler = puppet(&[]);
    scheduler.remove(Slot(5), at(0));
    assert_eq!(choose(&mut scheduler, 3), [2, 9]);
    ready(&mut scheduler, &[5]);
    assert_eq!(choose(&mut scheduler, 3), [2, 9, 5]);
    scheduler.remove(Slot(9), at(0));
    scheduler.remove(Slot(5), at(0));
    assert_eq!(choose(&mut scheduler, 3), [2]);
    scheduler.remove(Slot(2), at(0));
    assert_eq!(choose(&mut scheduler, 3), []);
    ready(&mut scheduler, &[0]);
    assert_eq!(choose(&mut scheduler, 3), [0]);
}

#[test]
fn mistakes_of_the_caller_do_not_reach_the_scheduler() {
    let mut scheduler = puppet(&[5]);
    ready(&mut scheduler, &[5]);
    scheduler.remove(Slot(9), at(0));
    scheduler.remove(Slot(9), at(0));
    scheduler.update(Slot(9), &PARAMETERS, Duration::ZERO, at(0));
    scheduler.remove(Slot(1_000), at(0));
    let calls = &scheduler.scheduler().calls;
    assert_eq!(calls[..], ["ready", "ready", "ready", "update", "remove"]);
}

#[test]
fn a_requested_decision_in_the_past_is_postponed() {
    let mut scheduler = puppet(&[5]);
    choose(&mut scheduler, 1);
    assert_eq!(scheduler.reconsider_at(at(0)), None);
    let mut stuck = Checked::new(Puppet {
        chooses: vec![5],
        reconsiders: Some(at(0)),
        ..Puppet::default()
    });
    ready(&mut stuck, &[5]);
    assert_eq!(choose(&mut stuck, 1), [5]);
    assert!(stuck.reconsider_at(at(0)) > Some(at(0)));
    assert_eq!(stuck.take_first_fault(), Some(Fault::Past(at(0))));
}

#[test]
fn a_disabled_scheduler_is_not_called() {
    let mut scheduler = puppet(&[9]);
    assert_eq!(choose(&mut scheduler, 1), [9]);
    scheduler.disable();
    scheduler.disable();
    ready(&mut scheduler, &[1]);
    scheduler.remove(Slot(5), at(0));
    assert_eq!(choose(&mut scheduler, 2), [2, 9]);
    assert_eq!(scheduler.scheduler().calls.len(), 3);
    assert_eq!(scheduler.take_first_fault(), Some(Fault::Disabled));
    assert_eq!(scheduler.faults(), 1);
}

/// The guard changes no decision of a standard scheduler.
#[test]
fn a_valid_scheduler_is_not_affected() {
    let mut scheduler = Checked::new(standard("MIF").unwrap());
    for slot in 0..50 {
        let importance = (slot * 7 % 50) as i32;
        let parameters = SchedulingParameters::Importance { importance };
        scheduler.ready(Slot(slot), &parameters, Duration::ZERO, at(0));
    }
    let chosen = choose(&mut scheduler, 3);
    assert_eq!(
        chosen.iter().map(|slot| slot * 7 % 50).collect::<Vec<_>>(),
        [49, 48, 47]
    );
    assert_eq!(scheduler.faults(), 0);
}
