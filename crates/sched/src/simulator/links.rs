use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::dynamic::Time;

use super::{Link, Model, random::Random};

/// The network at work.
#[derive(Debug)]
pub(super) struct Links {
    others: BTreeMap<(usize, usize), Link>,
    ordinary: Link,
    /// Until when a direction is busy with messages, where that matters.
    busy: BTreeMap<(usize, usize), Time>,
}

impl Links {
    pub(super) fn of(model: &Model) -> Self {
        Self {
            others: model
                .links
                .iter()
                .map(|(from, to, link)| ((*from, *to), *link))
                .collect(),
            ordinary: model.network,
            busy: BTreeMap::new(),
        }
    }

    /// When a message that is sent now arrives.
    pub(super) fn arrival(
        &mut self,
        way: (usize, usize),
        bytes: u64,
        now: Time,
        random: &mut Random,
    ) -> Time {
        if way.0 == way.1 {
            return now;
        }
        let link = self.others.get(&way).unwrap_or(&self.ordinary);
        let mut sent = now;
        if let Some(rate) = link.bytes_per_second.filter(|rate| *rate > 0 && bytes > 0) {
            let busy = self.busy.entry(way).or_default();
            let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(rate);
            sent = now.max(*busy) + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
            *busy = sent;
        }
        let jitter = if link.jitter.is_zero() {
            0
        } else {
            random.between(0, super::host::nanoseconds(link.jitter))
        };
        sent + link.latency + Duration::from_nanos(jitter)
    }
}
