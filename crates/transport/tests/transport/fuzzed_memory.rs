//! Any control words in shared memory, and any order of reading and writing: what the fuzz target
//! `shared_memory` checks.

use std::{fs::File, os::unix::fs::FileExt};

use punctual_os::shm::{Corrupted, MIN_RING_SIZE, Segment};

/// Places of the control words: of the ring that the server writes to, then of the one that it reads from
/// the position and the two flags of the writer, and the position and the flag of the reader.
const WORDS: [u64; 10] = [0, 8, 12, 128, 136, 256, 264, 268, 384, 392];

/// Octets of a word in the input: its number, and its value.
const WORD: usize = 9;

/// A peer writes the words of which the first octet has the number, and opens the memory; the other octets
/// are what both sides do then. A side that finds an impossible position stops. No side gets more octets than
/// the ring has, and those that the other one wrote.
pub fn check(input: &[u8]) {
    let [words, rest @ ..] = input else {
        return;
    };
    let (words, steps) = rest.split_at(rest.len().min(usize::from(words % 8) * WORD));
    let (server, memory) = Segment::create(MIN_RING_SIZE).expect("memory");
    let file = File::from(memory.try_clone().expect("a descriptor"));
    for word in words.chunks_exact(WORD) {
        let place = WORDS[usize::from(word[0]) % WORDS.len()];
        file.write_all_at(&word[1..], place)
            .expect("memory before it is sealed");
    }
    let client = Segment::open(&memory).expect("the right size");
    server.complete(&memory).expect("sealed");
    let mut sides = [Side::new(&server), Side::new(&client)];
    for step in steps {
        let [own, other] = match step & 1 {
            0 => [0, 1],
            _ => [1, 0],
        };
        let written = sides[other].written;
        if sides[own].take(*step) {
            return;
        }
        let read = sides[own].read;
        assert!(read <= MIN_RING_SIZE + written, "{read} octets of {written}");
    }
}

/// One side, with the octets that it has read and written.
struct Side<'s> {
    segment: &'s Segment,
    read: usize,
    written: usize,
}

impl<'s> Side<'s> {
    fn new(segment: &'s Segment) -> Self {
        Self {
            segment,
            read: 0,
            written: 0,
        }
    }

    /// Takes a step; returns whether the side closes the connection.
    fn take(&mut self, step: u8) -> bool {
        let mut octets = [step; 2 * MIN_RING_SIZE];
        let octets = &mut octets[..usize::from(step >> 4) * MIN_RING_SIZE / 8 + 1];
        self.step(step >> 1 & 7, octets).is_err()
    }

    fn step(&mut self, kind: u8, octets: &mut [u8]) -> Result<(), Corrupted> {
        match kind {
            0 | 1 => {
                let count = self.segment.write(octets)?.count;
                assert!(count <= octets.len().min(MIN_RING_SIZE));
                self.written += count;
            }
            2 | 3 => {
                let count = self.segment.read(octets, kind == 3)?.count;
                assert!(count <= octets.len());
                self.read += count;
            }
            4 => drop(self.segment.wait_for_room()?),
            5 => drop(self.segment.sleep()?),
            6 => {
                let last = octets.len().min(self.written);
                if self.segment.take_back(last) {
                    self.written -= last;
                }
            }
            _ => {
                let _ = self.segment.is_readable()?;
                self.segment.close();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/shared_memory.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(super::check);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(10_000, super::check);
    }
}
