//! Delivery on threads: which thread serves a consumer, and for how long.

use std::sync::{Arc, Weak};

use punctual::{LinearMapping, Priority, PriorityMapping};
use punctual_dispatch::{Cancellation, Command, Dispatcher, Execution, Hopeless, Level, Qos};
use punctual_os::Scheduling;

use crate::{Dispatching, EventError, Lane, channel::Core, consumer::Consumer};

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
    ThreadPerConsumer,
}

/// The command that delivers what a consumer's queue holds. A consumer has at most one.
pub(crate) struct Delivery {
    pub(crate) channel: Weak<Core>,
    pub(crate) consumer: Arc<Consumer>,
}

impl Command for Delivery {
    fn execute(&mut self, _: &Execution) -> Result<(), Hopeless> {
        if let Some(core) = self.channel.upgrade() {
            core.serve(&self.consumer, TURN);
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
            Dispatching::ThreadPerConsumer => return Ok(Self::ThreadPerConsumer),
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

    /// The level of a consumer of this priority, and a thread of its own if it gets one.
    pub(crate) fn place(
        &self,
        name: &str,
        priority: Priority,
    ) -> Result<(u32, Option<Dispatcher<Delivery>>), EventError> {
        match self {
            Self::Reactive => Ok((0, None)),
            Self::Lanes { lanes, .. } => {
                let fitting = lanes.iter().position(|lane| lane.priority <= priority);
                let level = fitting.unwrap_or(lanes.len() - 1);
                Ok((u32::try_from(level).unwrap_or(u32::MAX), None))
            }
            Self::ThreadPerConsumer => {
                let level = Level::new(0).scheduling(scheduling(priority)).capacity(2);
                Ok((0, Some(Dispatcher::builder().name(name).level(level).build()?)))
            }
        }
    }

    /// Has a thread deliver; under reactive dispatching, returns the command to the supplier's thread.
    pub(crate) fn schedule(&self, delivery: Delivery) -> Option<Delivery> {
        let consumer = Arc::clone(&delivery.consumer);
        let qos = Qos::new(consumer.level).importance(i32::from(consumer.qos.priority.value()));
        let dispatcher = match (self, &consumer.thread) {
            (Self::Lanes { dispatcher, .. }, _) | (_, Some(dispatcher)) => dispatcher,
            _ => return Some(delivery),
        };
        // Refused only by a channel that ends: each consumer has room for its one command.
        let _ = dispatcher.dispatch(delivery, qos);
        None
    }

    pub(crate) fn shutdown(&self) {
        if let Self::Lanes { dispatcher, .. } = self {
            // Events that are still queued are lost with the channel.
            let _ = dispatcher.shutdown(std::time::Duration::ZERO);
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
