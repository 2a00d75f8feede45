//! Copying octets from and to memory that another process may change meanwhile.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A ring of octets in memory that the peer may change at any time.
#[derive(Clone, Copy)]
pub(super) struct Octets {
    start: *mut u8,
    /// A power of two.
    capacity: usize,
}

impl Octets {
    /// # Safety
    /// `start` is aligned to eight octets and valid for `capacity` of them, a power of two divisible by
    /// eight, while the result is in use. Within this process they are accessed by atomic operations only.
    pub(super) unsafe fn new(start: *mut u8, capacity: usize) -> Self {
        Self { start, capacity }
    }

    /// Copies the octets at `position` to `buffer`; at most the ring's capacity.
    pub(super) fn copy_to(self, position: u64, buffer: &mut [u8]) {
        let (first, second) = self.halves(position, buffer.len());
        let (low, high) = buffer.split_at_mut(first);
        // SAFETY: `halves` stays within the ring.
        unsafe {
            load(self.start.add(self.offset(position)), low);
            load(self.start, &mut high[..second]);
        }
    }

    /// Copies `octets` to `position`; at most the ring's capacity.
    pub(super) fn copy_from(self, position: u64, octets: &[u8]) {
        let (first, second) = self.halves(position, octets.len());
        let (low, high) = octets.split_at(first);
        // SAFETY: as above.
        unsafe {
            store(self.start.add(self.offset(position)), low);
            store(self.start, &high[..second]);
        }
    }

    fn offset(self, position: u64) -> usize {
        position as usize & (self.capacity - 1)
    }

    /// Returns how many octets are before the ring's end, and how many continue at its start.
    fn halves(self, position: u64, length: usize) -> (usize, usize) {
        assert!(length <= self.capacity);
        let first = length.min(self.capacity - self.offset(position));
        (first, length - first)
    }
}

const WORD: usize = size_of::<u64>();

/// Copies in whole words, shifted if the alignment of source and buffer differs: the number of octets outside
/// whole words depends on earlier data, so a loop over these would be mispredicted each time.
///
/// # Safety
/// `source` is valid for the length of `buffer`, extended to whole words at both ends, and accessed
/// atomically only.
unsafe fn load(source: *mut u8, buffer: &mut [u8]) {
    let skipped = source as usize % WORD;
    let length = buffer.len();
    if length < WORD {
        for (index, octet) in buffer.iter_mut().enumerate() {
            // SAFETY: within the length of `source`. The other process may write at the same time: the
            // accesses are atomic, and any value is valid.
            *octet = unsafe { AtomicU8::from_ptr(source.add(index)).load(Ordering::Relaxed) };
        }
        return;
    }
    // SAFETY: back to the start of the word with the first octet.
    let words = unsafe { source.sub(skipped) };
    // SAFETY: as above; the words up to the one with the last octet are aligned.
    let word = |index: usize| unsafe {
        u64::from_le(AtomicU64::from_ptr(words.add(index * WORD).cast()).load(Ordering::Relaxed))
    };
    // Excess octets written here are overwritten below.
    put(&mut buffer[..WORD], word(0) >> (8 * skipped));
    let (middle, left) = split(skipped, length);
    let first = WORD - skipped;
    for (index, octets) in buffer[first..first + middle].chunks_exact_mut(WORD).enumerate() {
        put(octets, word(1 + index));
    }
    if left > 0 {
        let last = &mut buffer[length - WORD..];
        let kept = get(last) & low_octets(WORD - left);
        put(last, kept | word(1 + middle / WORD) << (8 * (WORD - left)));
    }
}

/// Like [`load`], in the other direction. The other octets of the first and the last word are stored
/// unchanged: they belong to this side.
///
/// # Safety
/// `target` is valid for the length of `octets`, extended to whole words at both ends, and accessed
/// atomically only; no other thread stores to it (a faulty peer may, which only corrupts data).
unsafe fn store(target: *mut u8, octets: &[u8]) {
    let skipped = target as usize % WORD;
    let length = octets.len();
    if length < WORD {
        for (index, octet) in octets.iter().enumerate() {
            // SAFETY: as in `load`.
            unsafe { AtomicU8::from_ptr(target.add(index)).store(*octet, Ordering::Relaxed) };
        }
        return;
    }
    // SAFETY: as in `load`.
    let words = unsafe { target.sub(skipped) };
    // SAFETY: as in `load`.
    let word = |index: usize| unsafe { AtomicU64::from_ptr(words.add(index * WORD).cast()) };
    let replace = |index: usize, kept: u64, new: u64| {
        let before = u64::from_le(word(index).load(Ordering::Relaxed));
        word(index).store((before & kept | new & !kept).to_le(), Ordering::Relaxed);
    };
    replace(0, low_octets(skipped), get(&octets[..WORD]) << (8 * skipped));
    let (middle, left) = split(skipped, length);
    let first = WORD - skipped;
    for (index, octets) in octets[first..first + middle].chunks_exact(WORD).enumerate() {
        word(1 + index).store(get(octets).to_le(), Ordering::Relaxed);
    }
    if left > 0 {
        let new = get(&octets[length - WORD..]) >> (8 * (WORD - left));
        replace(1 + middle / WORD, !low_octets(left), new);
    }
}

/// Returns how many octets after the first word are in whole words, and how many remain.
fn split(skipped: usize, length: usize) -> (usize, usize) {
    let behind = length - (WORD - skipped);
    (behind / WORD * WORD, behind % WORD)
}

fn get(octets: &[u8]) -> u64 {
    u64::from_le_bytes(octets.try_into().expect("a word"))
}

fn put(octets: &mut [u8], word: u64) {
    octets.copy_from_slice(&word.to_le_bytes());
}

/// Returns the mask of the first `count` octets of a word, at most seven.
fn low_octets(count: usize) -> u64 {
    (1 << (8 * count)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_and_length_arrives_whole() {
        const CAPACITY: usize = 64;
        let mut memory = [0_u64; CAPACITY / WORD];
        // SAFETY: the array outlives the ring and is touched through it only.
        let ring = unsafe { Octets::new(memory.as_mut_ptr().cast(), CAPACITY) };
        let sent: Vec<u8> = (1..=CAPACITY as u8).collect();
        for position in 0..2 * CAPACITY as u64 {
            for length in 0..=CAPACITY {
                ring.copy_from(position, &[0; CAPACITY]);
                ring.copy_from(position, &sent[..length]);
                let mut received = [0xEE; CAPACITY];
                ring.copy_to(position, &mut received);
                assert_eq!(received[..length], sent[..length], "at {position}");
                assert!(
                    received[length..].iter().all(|octet| *octet == 0),
                    "beyond {length} at {position}"
                );
            }
        }
    }
}
