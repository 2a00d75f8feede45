//! Messages in memory of fixed size.

/// Messages in fixed blocks that are taken and released in any order, without allocation.
#[derive(Default)]
pub(crate) struct MessageStore {
    octets: Vec<u8>,
    /// Successor of each block, in its message or in the list of free blocks.
    next: Vec<u32>,
    free: u32,
}

/// Message in the store. Must be released with [`MessageStore::take`] or [`MessageStore::discard`].
pub(crate) struct StoredMessage {
    first: u32,
    length: usize,
    /// Number of fragment offsets that are stored behind it.
    starts: usize,
}

const BLOCK: usize = 256;
const NONE: u32 = u32::MAX;
const START: usize = size_of::<u32>();

impl StoredMessage {
    /// Size in octets, fragment offsets included.
    pub(crate) fn size(&self) -> usize {
        size(self.length, self.starts)
    }
}

/// Size in octets of a message with this many fragment offsets.
pub(crate) fn size(length: usize, starts: usize) -> usize {
    length + starts * START
}

impl MessageStore {
    /// Provides room for any `messages` messages of `octets` octets in total; stored messages stay.
    pub(crate) fn provide(&mut self, messages: usize, octets: usize) {
        if self.next.is_empty() {
            self.free = NONE;
        }
        // The last block of each message may hold one octet only.
        let blocks = (octets / BLOCK + messages).min(NONE as usize);
        // Touched here, so that no page of it is fetched later.
        self.octets.resize(self.octets.len().max(blocks * BLOCK), 1);
        for block in self.next.len()..blocks {
            self.next.push(self.free);
            self.free = block as u32;
        }
    }

    /// Copies a message and the offsets at which its fragments begin. `None`: there is no room.
    pub(crate) fn put(&mut self, message: &[u8], starts: &[usize]) -> Option<StoredMessage> {
        let mut stored = StoredMessage {
            first: NONE,
            length: 0,
            starts: 0,
        };
        let mut last = NONE;
        let places = starts.iter().map(|start| (*start as u32).to_ne_bytes());
        if !self.append(message, &mut stored, &mut last) {
            return None;
        }
        for place in places {
            if !self.append(&place, &mut stored, &mut last) {
                return None;
            }
        }
        stored.length -= starts.len() * START;
        stored.starts = starts.len();
        Some(stored)
    }

    /// Appends octets to a message; releases the whole message if there is no room.
    fn append(&mut self, mut octets: &[u8], stored: &mut StoredMessage, last: &mut u32) -> bool {
        while !octets.is_empty() {
            let filled = stored.length % BLOCK;
            if filled == 0 {
                let Some(next) = self.next.get(self.free as usize).copied() else {
                    self.release(stored.first);
                    return false;
                };
                let block = std::mem::replace(&mut self.free, next);
                self.next[block as usize] = NONE;
                if *last == NONE {
                    stored.first = block;
                } else {
                    self.next[*last as usize] = block;
                }
                *last = block;
            }
            let (now, later) = octets.split_at(octets.len().min(BLOCK - filled));
            let at = *last as usize * BLOCK + filled;
            self.octets[at..at + now.len()].copy_from_slice(now);
            stored.length += now.len();
            octets = later;
        }
        true
    }

    /// Moves a message out; overwrites `message` and `starts`.
    pub(crate) fn take(&mut self, stored: StoredMessage, message: &mut Vec<u8>, starts: &mut Vec<usize>) {
        message.clear();
        starts.clear();
        let mut left = stored.size();
        let mut block = stored.first;
        message.reserve(left);
        while left > 0 {
            let at = block as usize * BLOCK;
            let count = left.min(BLOCK);
            message.extend_from_slice(&self.octets[at..at + count]);
            left -= count;
            block = self.next[block as usize];
        }
        let (places, _) = message[stored.length..].as_chunks::<START>();
        starts.extend(places.iter().map(|place| u32::from_ne_bytes(*place) as usize));
        message.truncate(stored.length);
        self.release(stored.first);
    }

    /// Drops a message.
    pub(crate) fn discard(&mut self, stored: &StoredMessage) {
        self.release(stored.first);
    }

    fn release(&mut self, mut block: u32) {
        while let Some(next) = self.next.get(block as usize).copied() {
            self.next[block as usize] = self.free;
            self.free = block;
            block = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_blocks(store: &MessageStore) -> usize {
        let mut block = store.free;
        std::iter::from_fn(|| {
            let next = store.next.get(block as usize)?;
            block = *next;
            Some(())
        })
        .count()
    }

    #[test]
    fn messages_come_out_as_they_went_in_whatever_the_order() {
        let mut store = MessageStore::default();
        store.provide(4, 2000);
        let blocks = free_blocks(&store);
        let message = |seed: u8, length: usize| -> Vec<u8> { (0..length).map(|i| seed ^ i as u8).collect() };
        let contents = [
            (1, 1, 0),
            (2, 255, 2),
            (3, 256, 0),
            (4, 700, 3),
            (5, 257, 1),
            (6, 0, 0),
        ];
        // Orders in which they leave: the store has no room for all six, so they come in as others leave.
        for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]] {
            let mut stored = Vec::new();
            for (seed, length, starts) in contents {
                let starts: Vec<_> = (0..starts).map(|i| i * 13).collect();
                let put = store.put(&message(seed, length), &starts).expect("2000 octets");
                assert_eq!(put.size(), length + starts.len() * 4);
                stored.push(Some((put, message(seed, length), starts)));
            }
            let (mut found, mut found_starts) = (vec![9; 3], vec![9]);
            for index in order {
                let (put, message, starts) = stored[index].take().expect("once");
                store.take(put, &mut found, &mut found_starts);
                assert_eq!((&found, &found_starts), (&message, &starts));
            }
            assert_eq!(free_blocks(&store), blocks, "all of it is given back");
        }
    }

    #[test]
    fn what_was_provided_for_fits_and_no_more() {
        let mut store = MessageStore::default();
        assert!(store.put(&[1], &[]).is_none(), "nothing was provided");
        store.provide(3, 600);
        // The worst shape: one octet in each last block.
        let kept: Vec<_> = [257, 257, 86]
            .map(|length| store.put(&vec![7; length], &[]))
            .into();
        assert!(kept.iter().all(Option::is_some));
        assert!(store.put(&[7; 257], &[]).is_none());
        let free = free_blocks(&store);
        assert!(
            store.put(&[7; 10_000], &[]).is_none(),
            "not even where it begins to fit"
        );
        assert!(store.put(&[7; 10], &[0; 1000]).is_none());
        assert_eq!(free_blocks(&store), free);
        for stored in kept.iter().flatten() {
            store.discard(stored);
        }
        store.provide(3, 100);
        assert_eq!(free_blocks(&store), 600 / BLOCK + 3, "it never shrinks");
        store.provide(3, 6000);
        assert_eq!(free_blocks(&store), 6000 / BLOCK + 3);
    }
}
