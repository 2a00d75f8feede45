//! Commands that stand for several pieces of work, in virtual time: their work is executed in the order that
//! it has as commands of their own.

use std::{collections::VecDeque, sync::Arc};

use proptest::prelude::*;
use punctual_os::PiMutex;

use super::*;
use crate::{Execution, Hopeless};

/// Number of sources of work.
const SOURCES: usize = 4;

/// A source of work with the same timing each time, and what waits of it, as a consumer of events has it.
struct Source {
    number: usize,
    timing: Timing,
    waiting: PiMutex<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Timing {
    deadline: u64,
    execution_time: u64,
    importance: i32,
    is_critical: bool,
}

#[derive(Default)]
struct Waiting {
    released: VecDeque<Time>,
    is_late: bool,
}

/// A command for the work of a source that was released then.
struct Work {
    source: Arc<Source>,
    released: Time,
}

impl Source {
    fn qos(&self, released: Time) -> Qos {
        let Timing {
            deadline,
            execution_time,
            importance,
            is_critical,
        } = self.timing;
        Qos {
            is_critical,
            ..Qos::new(0)
                .deadline(released + Duration::from_nanos(deadline))
                .execution_time(Duration::from_nanos(execution_time))
                .importance(importance)
                .released(released)
        }
    }
}

impl Command for Work {
    fn execute(&mut self, _: &Execution) -> Result<(), Hopeless> {
        Ok(())
    }

    fn taken_up(&mut self, now: Time) -> Option<Qos> {
        let source = Arc::clone(&self.source);
        let mut waiting = source.waiting.lock();
        let mut all = waiting.released.iter().copied();
        let in_time = all.find(|released| !source.qos(*released).is_hopeless(now));
        waiting.is_late = in_time.is_none();
        self.released = in_time.or(waiting.released.front().copied())?;
        Some(source.qos(self.released))
    }
}

/// The queue of a level, with a command for each piece of work or for each source.
struct Model {
    queue: Queue<Work>,
    shedding: SheddingPolicy,
    sources: Vec<Arc<Source>>,
    stands: bool,
    sequence: u64,
    /// Source, release and fate of each piece of work, in their order.
    done: Vec<(usize, Time, bool)>,
}

impl Model {
    fn new(order: Order, shedding: SheddingPolicy, timings: &[Timing], stands: bool) -> Self {
        let source = |(number, timing): (usize, &Timing)| Source {
            number,
            timing: *timing,
            waiting: PiMutex::default(),
        };
        Self {
            queue: Queue::of(&Level::new(0).order(order).shedding(shedding)),
            shedding,
            sources: timings.iter().enumerate().map(source).map(Arc::new).collect(),
            stands,
            sequence: 0,
            done: Vec::new(),
        }
    }

    fn push(&mut self, source: &Arc<Source>, released: Time) {
        self.sequence += 1;
        self.queue.push(Queued {
            qos: source.qos(released),
            command: Work {
                source: Arc::clone(source),
                released,
            },
            sequence: self.sequence,
            arrival: released,
            retries: 0,
        });
    }

    fn release(&mut self, source: usize, now: Time) {
        let source = Arc::clone(&self.sources[source]);
        if !self.stands {
            return self.push(&source, now);
        }
        let (oldest, is_first, was_late) = {
            let mut waiting = source.waiting.lock();
            waiting.released.push_back(now);
            let was_late = std::mem::take(&mut waiting.is_late);
            (waiting.released[0], waiting.released.len() == 1, was_late)
        };
        if was_late {
            let found = self.queue.remove(|work| work.source.number == source.number);
            assert!(found.is_some());
        }
        if was_late || is_first {
            self.push(&source, oldest);
        }
    }

    /// Executes or cancels one piece of work, if there is one.
    fn step(&mut self, now: Time) {
        let (work, is_executed) = loop {
            match self.queue.next(now, self.shedding) {
                Next::Execute(queued) => break (queued.command, true),
                Next::Cancel(queued) => break (queued.command, false),
                Next::SetAside | Next::Deferred => {}
                Next::Wait(_) => return,
            }
        };
        self.done.push((work.source.number, work.released, is_executed));
        if self.stands {
            let oldest = {
                let mut waiting = work.source.waiting.lock();
                waiting.is_late = false;
                waiting.released.retain(|released| *released != work.released);
                waiting.released.front().copied()
            };
            if let Some(oldest) = oldest {
                self.push(&work.source, oldest);
            }
        }
    }
}

fn timing() -> impl Strategy<Value = Timing> {
    let range = (0..60u64, 0..20u64, 0..2i32, any::<bool>());
    range.prop_map(|(deadline, execution_time, importance, is_critical)| Timing {
        deadline,
        execution_time,
        importance,
        is_critical,
    })
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Release(usize),
    Step,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_command_for_all_work_of_a_source_is_like_one_for_each(
        timings in prop::collection::vec(timing(), SOURCES),
        actions in prop::collection::vec(
            (prop_oneof![(0..SOURCES).prop_map(Action::Release), Just(Action::Step)], 1..12u64),
            0..120,
        ),
    ) {
        let cancels = SheddingPolicy::before_dispatch();
        for order in [Order::Arrival, Order::Deadline, Order::Laxity] {
            for shedding in [SheddingPolicy::never(), cancels, cancels.sparing_critical()] {
                let mut models = [false, true].map(|stands| Model::new(order, shedding, &timings, stands));
                let mut now = Time(1);
                for (action, passes) in &actions {
                    now = now + Duration::from_nanos(*passes);
                    for model in &mut models {
                        match action {
                            Action::Release(source) => model.release(*source, now),
                            Action::Step => model.step(now),
                        }
                    }
                }
                for model in &mut models {
                    (0..actions.len()).for_each(|_| model.step(now));
                    prop_assert_eq!(model.queue.len(), 0);
                }
                let [each, all] = models;
                prop_assert_eq!(&all.done, &each.done, "{:?} {:?}", order, shedding);
            }
        }
    }
}

/// Late work of a source does not hold back work that can be in time.
#[test]
fn late_work_lets_all_other_work_pass() {
    let timing = |deadline| Timing {
        deadline,
        execution_time: 0,
        importance: 0,
        is_critical: false,
    };
    let timings = [timing(10), timing(1_000)];
    let mut model = Model::new(Order::Laxity, SheddingPolicy::never(), &timings, true);
    let at = |time| Time(time);
    model.release(0, at(1));
    model.release(0, at(95));
    model.release(1, at(96));
    // The first one of source 0 is late; its second one is the most urgent of all.
    model.step(at(100));
    model.step(at(100));
    // Now source 0 waits behind all others, until it has something urgent again.
    model.step(at(101));
    model.release(0, at(102));
    model.release(1, at(103));
    model.release(0, at(104));
    (0..3).for_each(|_| model.step(at(110)));
    let done: Vec<_> = model
        .done
        .iter()
        .map(|(source, released, _)| (*source, released.0))
        .collect();
    assert_eq!(done, [(0, 95), (1, 96), (0, 1), (0, 102), (0, 104), (1, 103)]);
}
