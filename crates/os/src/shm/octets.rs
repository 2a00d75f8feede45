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
    /// `start` is aligned to eight octets and good for `capacity` of them, a power of two that eight divides, for as long as
    /// this is used. Within this process nothing but atomic operations touches them.
    pub(super) unsafe fn new(start: *mut u8, capacity: usize) -> Self {
        Self { start, capacity }
    }

    /// Copies what stands at `position`; at most the ring's capacity.
    pub(super) fn copy_to(self, position: u64, buffer: &mut [u8]) {
        let (first, second) = self.halves(position, buffer.len());
        let (low, high) = buffer.split_at_mut(first);
        // SAFETY: `halves` stays within the ring.
        unsafe {
            load(self.start.add(self.offset(position)), low);
            load(self.start, &mut high[..second]);
        }
    }

    /// Puts it at `position`; at most the ring's capacity.
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

    /// How many octets lie before the ring's end, and how many from its start on.
    fn halves(self, position: u64, length: usize) -> (usize, usize) {
        assert!(length <= self.capacity);
        let first = length.min(self.capacity - self.offset(position));
        (first, length - first)
    }
}

const WORD: usize = size_of::<u64>();

/// # Safety
/// `source` is good for the length of `buffer`, and only touched atomically.
unsafe fn load(source: *mut u8, buffer: &mut [u8]) {
    let (head, words) = split(source, buffer.len());
    let (first, rest) = buffer.split_at_mut(head);
    let (middle, last) = rest.split_at_mut(words);
    // SAFETY: each address lies within `source`'s length, and those of words are aligned, as `split` has counted. The process at
    // the other end may write at the same time: for that the accesses are atomic, and any value will do.
    unsafe {
        for (index, octet) in first.iter_mut().enumerate() {
            *octet = AtomicU8::from_ptr(source.add(index)).load(Ordering::Relaxed);
        }
        for (index, word) in middle.chunks_exact_mut(WORD).enumerate() {
            let at = source.add(head + index * WORD).cast();
            word.copy_from_slice(&AtomicU64::from_ptr(at).load(Ordering::Relaxed).to_ne_bytes());
        }
        for (index, octet) in last.iter_mut().enumerate() {
            *octet = AtomicU8::from_ptr(source.add(head + words + index)).load(Ordering::Relaxed);
        }
    }
}

/// # Safety
/// `target` is good for the length of `octets`, and only touched atomically.
unsafe fn store(target: *mut u8, octets: &[u8]) {
    let (head, words) = split(target, octets.len());
    let (first, rest) = octets.split_at(head);
    let (middle, last) = rest.split_at(words);
    // SAFETY: as in `load`.
    unsafe {
        for (index, octet) in first.iter().enumerate() {
            AtomicU8::from_ptr(target.add(index)).store(*octet, Ordering::Relaxed);
        }
        for (index, word) in middle.chunks_exact(WORD).enumerate() {
            let at = target.add(head + index * WORD).cast();
            let word = u64::from_ne_bytes(word.try_into().expect("eight octets"));
            AtomicU64::from_ptr(at).store(word, Ordering::Relaxed);
        }
        for (index, octet) in last.iter().enumerate() {
            AtomicU8::from_ptr(target.add(head + words + index)).store(*octet, Ordering::Relaxed);
        }
    }
}

/// How many octets lie before the first aligned word, and how many in whole words from there.
fn split(at: *mut u8, length: usize) -> (usize, usize) {
    let head = (at as usize).wrapping_neg() % WORD;
    let head = head.min(length);
    (head, (length - head) / WORD * WORD)
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
