//! Construction of dispatchers.

use std::sync::Arc;

use punctual_os::{PiCondvar, PiMutex};

use crate::{
    Command, DispatchError, Dispatcher, Level, level,
    state::{Shared, State},
};

/// Builder of a [`Dispatcher`].
#[derive(Clone, Debug)]
pub struct DispatcherBuilder {
    levels: Vec<Level>,
    name: String,
    is_held: bool,
}

impl Dispatcher {
    /// Begins to build a dispatcher.
    pub fn builder() -> DispatcherBuilder {
        DispatcherBuilder {
            levels: Vec::new(),
            name: "dispatch".to_owned(),
            is_held: false,
        }
    }
}

impl DispatcherBuilder {
    /// Adds a level. At least one is needed; each has a preemption priority of its own.
    pub fn level(mut self, level: Level) -> Self {
        self.levels.push(level);
        self
    }

    /// Adds levels.
    pub fn levels(mut self, levels: impl IntoIterator<Item = Level>) -> Self {
        self.levels.extend(levels);
        self
    }

    /// Sets the beginning of the names of the threads. Default: `dispatch`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Queues commands without executing them until [`Dispatcher::activate`].
    pub fn held(mut self) -> Self {
        self.is_held = true;
        self
    }

    /// Reserves the queues and starts the threads. Where real-time scheduling is denied, the threads run in
    /// the ordinary class, this is reported once on standard error, and [`Dispatcher::is_real_time`] is
    /// `false`.
    ///
    /// # Errors
    /// No level, two levels with the same preemption priority, a level without capacity or threads, or a
    /// thread that cannot be started.
    pub fn build<C: Command>(self) -> Result<Dispatcher<C>, DispatchError> {
        let levels = level::check(self.levels)?;
        let shared = Arc::new(Shared {
            state: PiMutex::new(State::new(levels, self.is_held)),
            idle: PiCondvar::new(),
        });
        let dispatcher = Dispatcher::new(shared, self.name);
        dispatcher.start_threads()?;
        Ok(dispatcher)
    }
}
