//! State of the network.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::dynamic::{Time, nanoseconds};

use super::{Link, Model, random::Random};

/// State of the network.
#[derive(Debug)]
pub(super) struct Links {
    exceptions: BTreeMap<(usize, usize), Link>,
    network: Link,
    /// Time until which each direction with limited bandwidth is busy.
    busy: BTreeMap<(usize, usize), Time>,
}

impl Links {
    pub(super) fn of(model: &Model) -> Self {
        Self {
            exceptions: model
                .links
                .iter()
                .map(|(from, to, link)| ((*from, *to), *link))
                .collect(),
            network: model.network,
            busy: BTreeMap::new(),
        }
    }

    /// Returns the arrival time of a message sent now from one host to another.
    pub(super) fn arrival(
        &mut self,
        direction: (usize, usize),
        bytes: u64,
        now: Time,
        random: &mut Random,
    ) -> Time {
        if direction.0 == direction.1 {
            return now;
        }
        let link = self.exceptions.get(&direction).unwrap_or(&self.network);
        let mut sent = now;
        if let Some(rate) = link.bytes_per_second.filter(|rate| *rate > 0 && bytes > 0) {
            let busy = self.busy.entry(direction).or_default();
            let time = u128::from(bytes) * 1_000_000_000 / u128::from(rate);
            sent = now.max(*busy) + Duration::from_nanos(u64::try_from(time).unwrap_or(u64::MAX));
            *busy = sent;
        }
        let jitter = if link.jitter.is_zero() {
            0
        } else {
            random.between(0, nanoseconds(link.jitter))
        };
        sent + link.latency + Duration::from_nanos(jitter)
    }
}
