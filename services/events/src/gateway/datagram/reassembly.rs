//! Messages whose fragments arrive in any order, in memory proportional to the octets that have arrived.

use std::{collections::BTreeMap, net::SocketAddr, time::Instant};

use super::{DatagramLimits, header::Header};

/// Octets that a fragment counts in addition to its content.
const OVERHEAD: usize = 64;

/// Messages that are incomplete.
pub(super) struct Reassembly {
    limits: DatagramLimits,
    /// Messages from the oldest to the newest.
    messages: Vec<Message>,
    held: usize,
    lost: u64,
}

struct Message {
    sender: SocketAddr,
    header: Header,
    began: Instant,
    /// Fragments by their offset.
    fragments: BTreeMap<u32, Box<[u8]>>,
    received: u32,
}

/// Outcome of a fragment.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Joined {
    /// Its message is complete.
    Complete(Vec<u8>),
    Incomplete,
    /// It contradicts others of its message, or exceeds a limit.
    Refused,
}

impl Reassembly {
    pub(super) fn new(limits: DatagramLimits) -> Self {
        Self {
            limits,
            messages: Vec::new(),
            held: 0,
            lost: 0,
        }
    }

    /// Adds a fragment of a message.
    pub(super) fn join(
        &mut self,
        sender: SocketAddr,
        header: &Header,
        content: &[u8],
        now: Instant,
    ) -> Joined {
        self.expire(now);
        let is_same = |one: &Message| one.sender == sender && one.header.request == header.request;
        let mut place = self.messages.iter().position(is_same);
        if let Some(old) = place.filter(|place| !self.messages[*place].header.is_of_message(header)) {
            // The sender has restarted, or another host claims its identity.
            self.lose(old);
            place = None;
        }
        let place = place.unwrap_or_else(|| {
            self.messages.push(Message {
                sender,
                header: *header,
                began: now,
                fragments: BTreeMap::new(),
                received: 0,
            });
            self.messages.len() - 1
        });
        match self.messages[place].add(header, content) {
            Some(0) => {}
            Some(added) => self.held += added,
            None => {
                self.forget_if_empty(place);
                return Joined::Refused;
            }
        }
        if self.messages[place].received == header.message_size {
            return Joined::Complete(self.remove(place).whole());
        }
        while self.messages.len() > self.limits.incomplete || self.held > self.limits.memory {
            self.lose(self.most_of_one_sender());
        }
        Joined::Incomplete
    }

    /// Removes messages that have not been completed in time.
    pub(super) fn expire(&mut self, now: Instant) {
        let limit = self.limits.completion;
        let is_late = |one: &Message| now.saturating_duration_since(one.began) > limit;
        while self.messages.first().is_some_and(is_late) {
            self.lose(0);
        }
    }

    /// Returns the number of messages that were lost since the last call.
    pub(super) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Returns the number of incomplete messages, and of octets that they hold.
    #[cfg(test)]
    pub(super) fn load(&self) -> (usize, usize) {
        let held = self.messages.iter().map(Message::held).sum::<usize>();
        assert_eq!(held, self.held);
        (self.messages.len(), held)
    }

    /// Returns the oldest message of the sender that holds most.
    fn most_of_one_sender(&self) -> usize {
        let held = |sender: SocketAddr| -> usize {
            let own = self.messages.iter().filter(|one| one.sender == sender);
            own.map(Message::held).sum()
        };
        let oldest_first = (0..self.messages.len()).rev();
        oldest_first
            .max_by_key(|place| held(self.messages[*place].sender))
            .unwrap_or_default()
    }

    fn lose(&mut self, place: usize) {
        self.remove(place);
        self.lost += 1;
    }

    fn remove(&mut self, place: usize) -> Message {
        let message = self.messages.remove(place);
        self.held -= message.held();
        message
    }

    fn forget_if_empty(&mut self, place: usize) {
        if self.messages[place].fragments.is_empty() {
            self.messages.remove(place);
        }
    }
}

impl Header {
    /// Returns whether two fragments can belong to the same message.
    fn is_of_message(&self, other: &Self) -> bool {
        (self.is_little_endian, self.message_size, self.fragments)
            == (other.is_little_endian, other.message_size, other.fragments)
    }
}

impl Message {
    /// Adds a fragment; returns how much more the message holds, 0 for one that it has. `None`: it overlaps
    /// others.
    fn add(&mut self, header: &Header, content: &[u8]) -> Option<usize> {
        let end = header.offset + header.size;
        if let Some((offset, before)) = self.fragments.range(..end).next_back() {
            if *offset == header.offset && &**before == content {
                return Some(0);
            }
            if u64::from(*offset) + before.len() as u64 > header.offset.into() {
                return None;
            }
        }
        self.fragments.insert(header.offset, content.into());
        self.received += header.size;
        Some(content.len() + OVERHEAD)
    }

    fn held(&self) -> usize {
        self.received as usize + self.fragments.len() * OVERHEAD
    }

    fn whole(self) -> Vec<u8> {
        let fragments: Vec<_> = self.fragments.into_values().collect();
        fragments.concat()
    }
}
