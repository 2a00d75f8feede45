//! Received messages that wait for the channel, bounded by number and octets.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, clock::later};

/// Messages between the threads of Zenoh and that of the gateway. Beyond a limit, the oldest are dropped;
/// their numbers are missing then.
pub(crate) struct Queue {
    /// Maximum number of messages, and of their octets.
    limits: (usize, usize),
    waiting: PiMutex<Waiting>,
    arrived: PiCondvar,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Vec<u8>>,
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

    pub(crate) fn push(&self, message: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        waiting.octets += message.len();
        waiting.messages.push_back(message);
        let (messages, octets) = self.limits;
        while waiting.messages.len() > messages || waiting.octets > octets {
            waiting.pop();
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Takes the oldest message; waits this long at most until there is one.
    pub(crate) fn pop(&self, timeout: Duration) -> Option<Vec<u8>> {
        let mut waiting = self.waiting.lock();
        let deadline = later(Instant::now(), timeout);
        let is_empty = |waiting: &mut Waiting| waiting.messages.is_empty();
        // Empty at the end of it: there is nothing to take.
        let _ = self.arrived.wait_while_until(&mut waiting, deadline, is_empty);
        waiting.pop()
    }
}

impl Waiting {
    fn pop(&mut self) -> Option<Vec<u8>> {
        let oldest = self.messages.pop_front()?;
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
            queue.push(vec![number; 10]);
        }
        assert_eq!(taken(&queue), [(3, 10), (4, 10), (5, 10)]);
        for (number, length) in [(1, 30), (2, 40), (3, 31)] {
            queue.push(vec![number; length]);
        }
        assert_eq!(taken(&queue), [(2, 40), (3, 31)], "101 octets");
        queue.push(vec![1; 10]);
        queue.push(vec![2; 101]);
        assert_eq!(taken(&queue), []);
        queue.push(vec![3; 100]);
        assert_eq!(
            taken(&queue),
            [(3, 100)],
            "the octets of the others are free again"
        );
    }
}
