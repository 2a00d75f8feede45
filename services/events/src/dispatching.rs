//! Delivery on threads: which thread serves a consumer, and for how long.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use punctual::{LinearMapping, Priority, PriorityMapping};
use punctual_dispatch::{Cancellation, Command, Dispatcher, Execution, Hopeless, Level, Qos};
use punctual_os::{PiMutex, Scheduling};

use crate::{Dispatching, EventError, Lane, consumer::Consumer};

/// Number of sets or batches that a thread delivers to a consumer before others of its lane get a turn.
const TURN: usize = 16;

/// Executes the settings of [`Dispatching`].
pub(crate) enum Threads {
    Reactive,
    Lanes {
        /// From the highest priority to the lowest.
        lanes: Vec<Lane>,
        dispatcher: Dispatcher<Delivery>,
    },
    /// By the number of the consumer.
    ThreadPerConsumer(PiMutex<HashMap<u64, Dispatcher<Delivery>>>),
}

/// What delivers to a consumer: the channel.
pub(crate) trait Serve: Send + Sync {
    /// Delivers up to `turn` sets or batches.
    fn serve(self: Arc<Self>, consumer: &Arc<Consumer>, turn: usize);
}

/// The command that delivers what a consumer's queue holds. A consumer has at most one.
pub(crate) struct Delivery {
    pub(crate) channel: Weak<dyn Serve>,
    pub(crate) consumer: Arc<Consumer>,
}

impl Command for Delivery {
    fn execute(&mut self, _: &Execution) -> Result<(), Hopeless> {
        if let Some(channel) = self.channel.upgrade() {
            channel.serve(&self.consumer, TURN);
        }
        Ok(())
    }

    fn cancelled(&mut self, _: Cancellation) {}
}

impl Threads {
    /// Starts the threads of lanes; each queue has room for all consumers.
    pub(crate) fn start(name: &str, dispatching: Dispatching, consumers: usize) -> Result<Self, EventError> {
        let mut lanes = match dispatching {
            Dispatching::Reactive => return Ok(Self::Reactive),
            Dispatching::ThreadPerConsumer => return Ok(Self::ThreadPerConsumer(PiMutex::default())),
            Dispatching::Lanes(lanes) => lanes,
        };
        lanes.sort_by_key(|lane| std::cmp::Reverse(lane.priority));
        let levels = lanes.iter().zip(0..).map(|(lane, level)| {
            Level::new(level)
                .scheduling(scheduling(lane.priority))
                .threads(lane.threads)
                .capacity(consumers + lane.threads)
        });
        let dispatcher = Dispatcher::builder().name(name).levels(levels).build()?;
        Ok(Self::Lanes { lanes, dispatcher })
    }

    /// The level of a consumer of this priority.
    pub(crate) fn level(&self, priority: Priority) -> u32 {
        let Self::Lanes { lanes, .. } = self else {
            return 0;
        };
        let fitting = lanes.iter().position(|lane| lane.priority <= priority);
        u32::try_from(fitting.unwrap_or(lanes.len() - 1)).unwrap_or(u32::MAX)
    }

    /// Starts the thread of a consumer, if it gets one of its own.
    pub(crate) fn admit(&self, name: &str, consumer: &Consumer) -> Result<(), EventError> {
        if let Self::ThreadPerConsumer(threads) = self {
            let level = Level::new(0)
                .scheduling(scheduling(consumer.qos.priority))
                .capacity(2);
            let name = format!("{name}-{}", consumer.id);
            let dispatcher = Dispatcher::builder().name(name).level(level).build()?;
            threads.lock().insert(consumer.id, dispatcher);
        }
        Ok(())
    }

    /// Ends the thread of a consumer.
    pub(crate) fn release(&self, consumer: &Consumer) {
        if let Self::ThreadPerConsumer(threads) = self {
            let dispatcher = threads.lock().remove(&consumer.id);
            // Waits for the thread, without the lock.
            drop(dispatcher);
        }
    }

    /// Has a thread deliver; under reactive dispatching, returns the command to the supplier's thread.
    pub(crate) fn schedule(&self, delivery: Delivery) -> Option<Delivery> {
        // A command is refused only by what ends: each consumer has room for its one command.
        match self {
            Self::Reactive => return Some(delivery),
            Self::Lanes { dispatcher, .. } => {
                let importance = i32::from(delivery.consumer.qos.priority.value());
                let qos = Qos::new(delivery.consumer.level).importance(importance);
                let _ = dispatcher.dispatch(delivery, qos);
            }
            Self::ThreadPerConsumer(threads) => {
                if let Some(dispatcher) = threads.lock().get(&delivery.consumer.id) {
                    let _ = dispatcher.dispatch(delivery, Qos::new(0));
                }
            }
        }
        None
    }

    pub(crate) fn shutdown(&self) {
        match self {
            Self::Reactive => {}
            Self::Lanes { dispatcher, .. } => {
                // Events that are still queued are lost with the channel.
                let _ = dispatcher.shutdown(std::time::Duration::ZERO);
            }
            Self::ThreadPerConsumer(threads) => {
                let threads = std::mem::take(&mut *threads.lock());
                drop(threads);
            }
        }
    }
}

/// Native scheduling of a CORBA priority: SCHED_FIFO, linear from 1 to 99.
pub(crate) fn scheduling(priority: Priority) -> Scheduling {
    match LinearMapping::new(1..=99).to_native(priority) {
        Some(native) if priority > Priority::MIN => Scheduling::fifo(native),
        _ => Scheduling::OTHER,
    }
}
