//! Reference schedulers: a list of threads, all of which are examined for each decision.

use std::{cmp::Reverse, time::Duration};

use punctual_sched::dynamic::*;

/// Keys are compared from the left; the greatest runs first.
pub type Key = Vec<i128>;

/// A scheduler: the key of a thread, given its parameters, received time and the present time.
#[derive(Clone, Copy)]
pub struct Rule {
    pub name: &'static str,
    pub kind: ParameterKind,
    pub key: fn(&SchedulingParameters, Duration, Time) -> Key,
    /// Whether received processor time changes the key.
    pub moves: bool,
}

fn nanoseconds(duration: Duration) -> i128 {
    duration.as_nanos() as i128
}

fn laxity(deadline: Time, execution_time: Duration, received: Duration) -> i128 {
    match deadline {
        Time::NEVER => i128::MAX,
        Time(deadline) => i128::from(deadline) - nanoseconds(execution_time.saturating_sub(received)),
    }
}

pub const RULES: [Rule; 8] = [
    Rule {
        name: "FP",
        kind: ParameterKind::FixedPriority,
        key: |parameters, _, _| match *parameters {
            SchedulingParameters::FixedPriority { priority } => vec![priority.value().into()],
            _ => panic!("{parameters:?}"),
        },
        moves: false,
    },
    Rule {
        name: "TP",
        kind: ParameterKind::Importance,
        key: importance,
        moves: false,
    },
    Rule {
        name: "MIF",
        kind: ParameterKind::Importance,
        key: importance,
        moves: false,
    },
    Rule {
        name: "RMS",
        kind: ParameterKind::Rate,
        key: |parameters, _, _| match *parameters {
            SchedulingParameters::Rate { period, importance } => {
                vec![-nanoseconds(period), importance.into()]
            }
            _ => panic!("{parameters:?}"),
        },
        moves: false,
    },
    Rule {
        name: "EDF",
        kind: ParameterKind::Deadline,
        key: |parameters, _, _| match *parameters {
            SchedulingParameters::Deadline {
                deadline, importance, ..
            } => vec![-i128::from(deadline.0), importance.into()],
            _ => panic!("{parameters:?}"),
        },
        moves: false,
    },
    Rule {
        name: "MLF",
        kind: ParameterKind::Laxity,
        key: |parameters, received, _| match *parameters {
            SchedulingParameters::Laxity {
                deadline,
                execution_time,
                importance,
            } => vec![-laxity(deadline, execution_time, received), importance.into()],
            _ => panic!("{parameters:?}"),
        },
        moves: true,
    },
    Rule {
        name: "MUF",
        kind: ParameterKind::Urgency,
        key: |parameters, received, now| match *parameters {
            SchedulingParameters::Urgency {
                criticality,
                deadline,
                execution_time,
                importance,
            } => {
                let laxity = laxity(deadline, execution_time, received);
                let in_time = laxity >= i128::from(now.0);
                vec![criticality.into(), in_time.into(), -laxity, importance.into()]
            }
            _ => panic!("{parameters:?}"),
        },
        moves: true,
    },
    Rule {
        name: "RMS+MLF",
        kind: ParameterKind::RateOrLaxity,
        key: |parameters, received, _| match *parameters {
            SchedulingParameters::RateOrLaxity {
                criticality,
                period,
                deadline,
                execution_time,
                importance,
            } => match criticality >= SchedulingParameters::CRITICAL {
                true => vec![1, -nanoseconds(period), importance.into()],
                false => vec![0, -laxity(deadline, execution_time, received), importance.into()],
            },
            _ => panic!("{parameters:?}"),
        },
        moves: true,
    },
];

fn importance(parameters: &SchedulingParameters, _: Duration, _: Time) -> Key {
    match *parameters {
        SchedulingParameters::Importance { importance } => vec![importance.into()],
        _ => panic!("{parameters:?}"),
    }
}

#[derive(Clone, Debug)]
struct Thread {
    slot: Slot,
    parameters: SchedulingParameters,
    /// Received time by which it is ranked.
    counted: (Duration, Time),
    arrival: usize,
    /// Received time when it was chosen.
    chosen: Option<Duration>,
}

/// Returns the expected choice.
#[derive(Clone)]
pub struct Oracle {
    rule: Rule,
    quantum: Duration,
    threads: Vec<Thread>,
    arrivals: usize,
}

impl Oracle {
    pub fn new(rule: Rule, quantum: Duration) -> Self {
        Self {
            rule,
            quantum,
            threads: Vec::new(),
            arrivals: 0,
        }
    }

    pub fn knows(&self, slot: Slot) -> bool {
        self.threads.iter().any(|thread| thread.slot == slot)
    }

    pub fn ready(&mut self, slot: Slot, parameters: SchedulingParameters, received: Duration, now: Time) {
        assert!(!self.knows(slot));
        assert_eq!(parameters.kind(), self.rule.kind);
        self.arrivals += 1;
        self.threads.push(Thread {
            slot,
            parameters,
            counted: (received, now),
            arrival: self.arrivals,
            chosen: None,
        });
    }

    pub fn update(&mut self, slot: Slot, parameters: SchedulingParameters, received: Duration, now: Time) {
        for thread in self.threads.iter_mut().filter(|thread| thread.slot == slot) {
            thread.parameters = parameters;
            thread.counted = (received, now);
        }
    }

    pub fn remove(&mut self, slot: Slot) {
        self.threads.retain(|thread| thread.slot != slot);
    }

    pub fn choose(&mut self, processors: usize, now: Time, received: impl Fn(Slot) -> Duration) -> Vec<Slot> {
        for thread in &mut self.threads {
            let received = received(thread.slot);
            if thread.chosen.is_none_or(|since| received >= since + self.quantum) {
                thread.counted = (received, now);
            }
        }
        let rule = self.rule;
        let key =
            |thread: &Thread| Reverse((rule.key)(&thread.parameters, thread.counted.0, thread.counted.1));
        self.threads
            .sort_by_key(|thread| (key(thread), thread.chosen.is_none(), thread.arrival));
        let chosen = processors.min(self.threads.len());
        for thread in &mut self.threads[..chosen] {
            thread.chosen.get_or_insert(received(thread.slot));
        }
        for thread in &mut self.threads[chosen..] {
            if thread.chosen.take().is_some() {
                thread.counted = (received(thread.slot), now);
            }
        }
        self.threads[..chosen].sort_by_key(|thread| (key(thread), thread.arrival));
        self.threads[..chosen].iter().map(|thread| thread.slot).collect()
    }
}
