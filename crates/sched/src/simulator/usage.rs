//! A simulation's use of its limits.

use alloc::format;

use crate::dynamic::Time;

use super::{Limits, ModelError};

/// Consumption of a simulation, compared with its [`Limits`].
#[derive(Debug, Default)]
pub(super) struct Usage {
    arrivals: u64,
    events: u64,
    /// The first limit that was reached; nothing happens afterwards.
    pub(super) exceeded: Option<ModelError>,
}

impl Usage {
    /// Counts an occurrence, a decision or a step.
    pub(super) fn event(&mut self, limits: &Limits, now: Time) {
        self.events += 1;
        if self.events > limits.events {
            let advice = "simulate a shorter time or fewer tasks";
            self.exceed(self.events, "events", limits.events, now, advice);
        }
    }

    /// Counts an arrival, after which there are so many threads.
    pub(super) fn arrival(&mut self, limits: &Limits, threads: usize, now: Time) {
        self.arrivals += 1;
        if self.arrivals > limits.arrivals {
            let advice = "simulate a shorter time, or use longer periods";
            self.exceed(self.arrivals, "arrivals", limits.arrivals, now, advice);
        }
        if threads > limits.threads {
            let advice = "they arrive faster than the processors serve them; use longer periods or shorter \
                          steps, or skip overruns";
            let (number, limit) = (threads as u64, limits.threads as u64);
            self.exceed(number, "threads at one time", limit, now, advice);
        }
    }

    /// Notes the number of pending occurrences.
    pub(super) fn pending(&mut self, limits: &Limits, pending: usize, now: Time) {
        if pending > limits.pending {
            let advice = "use fewer messages or streams";
            let (number, limit) = (pending as u64, limits.pending as u64);
            self.exceed(number, "pending occurrences", limit, now, advice);
        }
    }

    #[cold]
    fn exceed(&mut self, number: u64, what: &str, limit: u64, now: Time, advice: &str) {
        self.exceeded.get_or_insert_with(|| {
            ModelError::of(format!(
                "the simulation stopped after {} ns of virtual time with {number} {what}, of at most {limit}; \
                 {advice}",
                now.0
            ))
        });
    }
}
