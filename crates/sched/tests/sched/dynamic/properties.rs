//! Each scheduler makes the same choices as its reference implementation.

use std::time::Duration;

use proptest::prelude::*;
use punctual_sched::dynamic::*;
use punctual_types::Priority;

use crate::dynamic::{
    attributes::Attributes,
    machine::{at, ms},
    oracle::{Oracle, RULES, Rule},
};

const THREADS: u32 = 12;
const QUANTUM: Duration = LaxityRank::QUANTUM;

#[derive(Clone, Debug)]
enum Step {
    Ready(u32, Numbers, u64),
    Update(u32, Numbers),
    Remove(u32),
    Choose(usize),
    /// Time step in microseconds.
    Pass(u64),
}

/// Few distinct values, so that many threads are equal.
#[derive(Clone, Debug)]
struct Numbers {
    importance: i32,
    criticality: i32,
    period: u64,
    /// Relative deadline, possibly in the past; `None` without one.
    deadline: Option<u64>,
    execution_time: u64,
}

impl Numbers {
    fn parameters(&self, kind: ParameterKind, now: Time) -> SchedulingParameters {
        let deadline = self.deadline.map(|deadline| now + ms(deadline) - ms(4));
        let attributes = Attributes {
            priority: Priority::new(self.criticality as i16).unwrap(),
            importance: self.importance,
            criticality: self.criticality,
            period: ms(self.period),
            deadline: deadline.unwrap_or(Time::NEVER),
            execution_time: ms(self.execution_time),
            utility: Utility {
                value: self.criticality.unsigned_abs(),
                decay: ms(self.period),
            },
        };
        attributes.parameters(kind)
    }
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let deadline = prop_oneof![5 => (0..=16u64).prop_map(Some), 1 => Just(None)];
    (-1..=2i32, 1..=4i32, 1..=3u64, deadline, 0..=8u64).prop_map(
        |(importance, criticality, period, deadline, execution_time)| Numbers {
            importance,
            criticality,
            period,
            deadline,
            execution_time,
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..THREADS, numbers(), 0..=2u64)
            .prop_map(|(slot, numbers, had)| Step::Ready(slot, numbers, had)),
        2 => (0..THREADS, numbers()).prop_map(|(slot, numbers)| Step::Update(slot, numbers)),
        2 => (0..THREADS).prop_map(Step::Remove),
        5 => (0..=4usize).prop_map(Step::Choose),
        4 => (0..=3_000u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..120)
}

/// A scheduler and its reference.
struct Pair {
    rule: Rule,
    scheduler: Box<dyn Scheduler>,
    oracle: Oracle,
    now: Time,
    received: Vec<Duration>,
    chosen: Vec<Slot>,
}

impl Pair {
    fn new(rule: Rule) -> Self {
        let scheduler = standard(rule.name).expect("one of the standard schedulers");
        assert_eq!((scheduler.name(), scheduler.kind()), (rule.name, rule.kind));
        Self {
            rule,
            scheduler,
            oracle: Oracle::new(rule, if rule.moves { QUANTUM } else { Duration::ZERO }),
            now: at(100),
            received: vec![Duration::ZERO; THREADS as usize],
            chosen: Vec::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Ready(slot, numbers, had) if !self.oracle.knows(Slot(*slot)) => {
                let slot = Slot(*slot);
                let had = ms(*had);
                let parameters = numbers.parameters(self.rule.kind, self.now);
                self.received[slot.0 as usize] = had;
                self.oracle.ready(slot, parameters, had, self.now);
                self.scheduler.ready(slot, &parameters, had, self.now);
            }
            Step::Ready(slot, numbers, _) | Step::Update(slot, numbers) => {
                let parameters = numbers.parameters(self.rule.kind, self.now);
                let received = self.received[*slot as usize];
                self.oracle.update(Slot(*slot), parameters, received, self.now);
                self.scheduler
                    .update(Slot(*slot), &parameters, received, self.now);
            }
            Step::Remove(slot) => {
                self.oracle.remove(Slot(*slot));
                self.scheduler.remove(Slot(*slot), self.now);
                self.chosen.retain(|chosen| chosen.0 != *slot);
            }
            Step::Pass(microseconds) => {
                let passed = Duration::from_micros(*microseconds);
                self.now = self.now + passed;
                for slot in &self.chosen {
                    self.received[slot.0 as usize] += passed;
                }
            }
            Step::Choose(processors) => self.choose(*processors),
        }
    }

    fn choose(&mut self, processors: usize) {
        let received = &self.received;
        self.chosen.clear();
        let had = |slot: Slot| received[slot.0 as usize];
        self.scheduler
            .choose(processors, self.now, &had, &mut self.chosen);
        assert_eq!(
            self.chosen,
            self.oracle.choose(processors, self.now, had),
            "{}",
            self.rule.name
        );
        let Some(reconsider) = self.scheduler.reconsider_at(self.now) else {
            self.chooses_the_same_at(processors, self.now + ms(100_000));
            return;
        };
        assert!(reconsider > self.now);
        self.chooses_the_same_at(processors, Time(reconsider.0 - 1));
        // Under MUF, the overtaking thread may be late itself at the end of the quantum, and then does not
        // overtake.
        if self.rule.name != "MUF" {
            assert_ne!(
                self.chosen,
                self.chosen_at(processors, reconsider),
                "{}",
                self.rule.name
            );
        }
    }

    fn chooses_the_same_at(&self, processors: usize, time: Time) {
        let chosen = self.chosen_at(processors, time);
        let mut sorted = [self.chosen.clone(), chosen];
        sorted.iter_mut().for_each(|chosen| chosen.sort());
        assert_eq!(sorted[0], sorted[1], "{} at {time:?}", self.rule.name);
    }

    /// Returns the expected choice at `time` if the chosen threads run until then.
    fn chosen_at(&self, processors: usize, time: Time) -> Vec<Slot> {
        let received = |slot: Slot| {
            let until_now = self.received[slot.0 as usize];
            match self.chosen.contains(&slot) {
                true => until_now + time.since(self.now),
                false => until_now,
            }
        };
        self.oracle.clone().choose(processors, time, received)
    }
}

proptest! {
    #[test]
    fn choices_equal_those_of_the_reference(steps in steps()) {
        for rule in RULES {
            let mut pair = Pair::new(rule);
            for step in &steps {
                pair.take(step);
            }
        }
    }

    #[test]
    fn fixed_eligibilities_and_comparisons_agree_with_the_ranks(one in numbers(), other in numbers()) {
        for rule in RULES {
            let scheduler = standard(rule.name).unwrap();
            let [one, other] = [&one, &other].map(|numbers| numbers.parameters(rule.kind, at(100)));
            let key = |parameters| (rule.key)(parameters, Duration::ZERO, at(100));
            let expected = key(&one).cmp(&key(&other));
            let [first, second] = [one, other].map(|parameters| Claim::new(parameters, Duration::ZERO));
            prop_assert_eq!(scheduler.compare(&first, &second, at(100)), expected);
            match scheduler.fixed_eligibility(&one) {
                None => prop_assert!(rule.moves || rule.name == "EDF"),
                Some(eligibility) => {
                    prop_assert!(!rule.moves);
                    prop_assert_eq!(eligibility.cmp(&scheduler.fixed_eligibility(&other).unwrap()), expected);
                }
            }
        }
    }
}
