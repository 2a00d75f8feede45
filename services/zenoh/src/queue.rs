//! Received messages that wait for the channel, bounded by number and octets.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::OccupiedEntry},
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, clock::later};
use zenoh::qos::Priority;

/// Messages between the threads of Zenoh and that of the gateway. Beyond a limit, the oldest of the lowest
/// priority are dropped; their numbers are missing then.
pub(crate) struct Queue {
    /// Maximum number of messages, and of their octets.
    limits: (usize, usize),
    waiting: PiMutex<Waiting>,
    arrived: PiCondvar,
}

#[derive(Default)]
struct Waiting {
    /// From the highest priority, which has the lowest number. None is empty.
    messages: BTreeMap<u8, VecDeque<Vec<u8>>>,
    number: usize,
    octets: usize,
}

impl Queue {
    pub(crate) fn new(messages: usize, octets: usize) -> Self {
        Self {
            limits: (messages, octets),
            waiting: PiMutex::default(),
            arrived: PiCondvar::new(),
        }
    }

    pub(crate) fn push(&self, priority: Priority, message: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        waiting.number += 1;
        waiting.octets += message.len();
        let messages = waiting.messages.entry(priority as u8).or_default();
        messages.push_back(message);
        let (messages, octets) = self.limits;
        while waiting.number > messages || waiting.octets > octets {
            waiting.pop(BTreeMap::last_entry);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Takes the oldest message of the highest priority; waits this long at most until there is one.
    pub(crate) fn pop(&self, timeout: Duration) -> Option<Vec<u8>> {
        let mut waiting = self.waiting.lock();
        let deadline = later(Instant::now(), timeout);
        let is_empty = |waiting: &mut Waiting| waiting.messages.is_empty();
        // Empty at the end of it: there is nothing to take.
        let _ = self.arrived.wait_while_until(&mut waiting, deadline, is_empty);
        waiting.pop(BTreeMap::first_entry)
    }
}

/// Messages of one priority, chosen among all.
type Chosen<'w> = OccupiedEntry<'w, u8, VecDeque<Vec<u8>>>;

impl Waiting {
    fn pop(
        &mut self,
        choose: impl FnOnce(&mut BTreeMap<u8, VecDeque<Vec<u8>>>) -> Option<Chosen<'_>>,
    ) -> Option<Vec<u8>> {
        let mut chosen = choose(&mut self.messages)?;
        let oldest = chosen.get_mut().pop_front()?;
        if chosen.get().is_empty() {
            chosen.remove();
        }
        self.number -= 1;
        self.octets -= oldest.len();
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes what waits; returns the first octet and the length of each message.
    fn taken(queue: &Queue) -> Vec<(u8, usize)> {
        let messages = std::iter::from_fn(|| queue.pop(Duration::ZERO));
        messages.map(|message| (message[0], message.len())).collect()
    }

    #[test]
    fn the_oldest_are_dropped_beyond_the_number_and_beyond_the_octets() {
        let queue = Queue::new(3, 100);
        for number in 1..=5 {
            queue.push(Priority::Data, vec![number; 10]);
        }
        assert_eq!(taken(&queue), [(3, 10), (4, 10), (5, 10)]);
        for (number, length) in [(1, 30), (2, 40), (3, 31)] {
            queue.push(Priority::Data, vec![number; length]);
        }
        assert_eq!(taken(&queue), [(2, 40), (3, 31)], "101 octets");
        queue.push(Priority::Data, vec![1; 10]);
        queue.push(Priority::Data, vec![2; 101]);
        assert_eq!(taken(&queue), []);
        queue.push(Priority::Data, vec![3; 100]);
        assert_eq!(
            taken(&queue),
            [(3, 100)],
            "the octets of the others are free again"
        );
    }

    #[test]
    fn urgent_messages_come_first_and_the_others_give_way_to_them() {
        use Priority::{Background, Data, RealTime};
        let queue = Queue::new(4, 100);
        for (number, priority) in (1..).zip([Data, Background, RealTime, Background, Data, RealTime]) {
            queue.push(priority, vec![number; 10]);
        }
        assert_eq!(taken(&queue), [(3, 10), (6, 10), (1, 10), (5, 10)]);
        queue.push(RealTime, vec![1; 100]);
        queue.push(Background, vec![2; 1]);
        assert_eq!(taken(&queue), [(1, 100)], "the new one has the lowest priority");
    }
}
