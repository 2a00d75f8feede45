//! The files of a recorder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{Record, operations};

/// "PUNFLT", version 2.
pub const MAGIC: u64 = 0x5055_4e46_4c54_0002;
/// Size of the header in words.
pub const HEADER_WORDS: usize = 8;
/// Size in words of what precedes the records.
pub(crate) const FRONT_WORDS: usize = HEADER_WORDS + operations::PLACES * operations::WORDS;
/// Extension of the names of such files.
pub const EXTENSION: &str = "flight";

/// Size of a name in words.
const NAME_WORDS: usize = 2;

/// Layout of a file.
///
/// A file consists of 64-bit words in native byte order. It starts with a header of 8 words:
///
/// | word | content |
/// |---|---|
/// | 0 | [`MAGIC`]: identifies format, byte order and version |
/// | 1 | process (upper half) and thread (lower half) |
/// | 2 | capacity in records |
/// | 3 | number of records written since the start |
/// | 4, 5 | name of the thread, 16 octets, padded with zeros |
/// | 6, 7 | name of the process (of its first thread) |
///
/// The [names of operations](crate::operations) follow, then the records of 4 words. Record `n` is at `n`
/// modulo the capacity:
///
/// | word | content |
/// |---|---|
/// | 0 | nanoseconds of CLOCK_MONOTONIC |
/// | 1 | bits 0-7 event ([`Event`](crate::Event)), 16-31 CORBA priority (-1: none), 32-63 request id |
/// | 2 | bits 0-15 own port, 16-31 peer's port, 32-63 hash of both addresses, or number of the connection |
/// | 3 | detail |
///
/// A record [with a text](Record::of_text) has octets 0 to 7 of it in word 2, 8 to 15 in word 3, and 16 to 19
/// in bits 32-63 of word 1, the lowest bits first.
pub(crate) mod word {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const TASK: usize = 1;
    pub(crate) const CAPACITY: usize = 2;
    pub(crate) const WRITTEN: usize = 3;
    pub(crate) const NAME: usize = 4;
    pub(crate) const PROCESS_NAME: usize = 6;
}

/// The records of one thread.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ThreadRecords {
    /// Id of its process.
    pub process: i32,
    /// Name of the process, truncated to 15 octets by the kernel.
    pub process_name: String,
    /// Id of the thread.
    pub thread: i32,
    /// Name of the thread at its first record.
    pub name: String,
    /// Records, oldest first.
    pub records: Vec<Record>,
    /// Number of older records that have been overwritten.
    pub overwritten: u64,
    /// Hashes and names of operations.
    pub operations: Vec<(u64, String)>,
}

/// Reads all files of a folder, except those without records. The threads may be recording meanwhile.
///
/// # Errors
/// If the folder or a file cannot be read, or a file with the extension has another format.
pub fn read_folder(folder: &Path) -> io::Result<Vec<ThreadRecords>> {
    let mut threads = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(EXTENSION)) {
            let thread = read(&path)?;
            if !thread.records.is_empty() {
                threads.push(thread);
            }
        }
    }
    threads.sort_by_key(|thread| (thread.process, thread.thread));
    Ok(threads)
}

/// Reads one file.
///
/// # Errors
/// If it cannot be read or has another format.
pub fn read(path: &Path) -> io::Result<ThreadRecords> {
    // Records below the count before are complete; the count after determines which ones may
    // have been overwritten.
    let before = written(path)?;
    let mut words = words(&std::fs::read(path)?);
    let after = written(path)?;
    let parsed = before.zip(after).and_then(|(before, after)| {
        *words.get_mut(word::WRITTEN)? = before;
        parse(&words, after)
    });
    parsed.ok_or_else(|| {
        let text = format!("{} is not a flight recorder file of this version", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// Reads the number of records written so far; `None` if the file is too short.
fn written(path: &Path) -> io::Result<Option<u64>> {
    let mut header = Vec::new();
    let size = (HEADER_WORDS * size_of::<u64>()) as u64;
    File::open(path)?.take(size).read_to_end(&mut header)?;
    Ok(words(&header).get(word::WRITTEN).copied())
}

fn words(octets: &[u8]) -> Vec<u64> {
    let (words, _) = octets.as_chunks();
    words.iter().copied().map(u64::from_ne_bytes).collect()
}

/// Parses a file; `written_later` is the count after the words were read.
fn parse(words: &[u64], written_later: u64) -> Option<ThreadRecords> {
    let (front, records) = words.split_at_checked(FRONT_WORDS)?;
    let (header, names) = front.split_at(HEADER_WORDS);
    let (records, _) = records.as_chunks();
    let capacity = header[word::CAPACITY];
    if header[word::MAGIC] != MAGIC || capacity == 0 || records.len() as u64 != capacity {
        return None;
    }
    let written = header[word::WRITTEN];
    // The record being written concurrently overwrites one that is still counted.
    let oldest = written_later.saturating_sub(capacity - 1).min(written);
    let records =
        (oldest..written).filter_map(|number| Record::from_words(records[(number % capacity) as usize]));
    Some(ThreadRecords {
        process: (header[word::TASK] >> 32) as i32,
        process_name: name(&header[word::PROCESS_NAME..][..NAME_WORDS]),
        thread: header[word::TASK] as u32 as i32,
        name: name(&header[word::NAME..][..NAME_WORDS]),
        records: records.collect(),
        overwritten: oldest,
        operations: operations::parse(names),
    })
}

/// Decodes a name from [`name_words`].
fn name(words: &[u64]) -> String {
    let octets = words.iter().flat_map(|word| word.to_ne_bytes());
    let octets: Vec<u8> = octets.take_while(|octet| *octet != 0).collect();
    String::from_utf8_lossy(&octets).into_owned()
}

/// Encodes a name for the header, truncated if necessary.
pub(crate) fn name_words(name: &str) -> [u64; NAME_WORDS] {
    let mut octets = [0; NAME_WORDS * size_of::<u64>()];
    for (octet, source) in octets.iter_mut().zip(name.bytes()) {
        *octet = source;
    }
    let (words, _) = octets.as_chunks();
    std::array::from_fn(|place| u64::from_ne_bytes(words[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    /// Returns a file after `written` records, whose details are their numbers.
    fn file(capacity: u64, written: u64) -> Vec<u64> {
        let mut words = vec![0; FRONT_WORDS + capacity as usize * Record::WORDS];
        words[word::MAGIC] = MAGIC;
        words[word::TASK] = 7 << 32 | 8;
        words[word::CAPACITY] = capacity;
        words[word::WRITTEN] = written;
        words[word::NAME..word::NAME + NAME_WORDS].copy_from_slice(&name_words("lane-high"));
        words[word::PROCESS_NAME..HEADER_WORDS].copy_from_slice(&name_words("sixteen or more octets"));
        for number in written.saturating_sub(capacity)..written {
            let at = FRONT_WORDS + (number % capacity) as usize * Record::WORDS;
            let record = Record::new(Event::Read).detail(number).to_words();
            words[at..at + Record::WORDS].copy_from_slice(&record);
        }
        words
    }

    fn details(thread: &ThreadRecords) -> Vec<u64> {
        thread.records.iter().map(|record| record.detail).collect()
    }

    #[test]
    fn records_are_read_in_order() {
        for (written, expected) in [(0, 0..0), (3, 0..3), (4, 1..4), (11, 8..11)] {
            let thread = parse(&file(4, written), written).unwrap();
            assert_eq!(
                details(&thread),
                expected.clone().collect::<Vec<u64>>(),
                "{written} written"
            );
            assert_eq!(thread.overwritten, expected.start);
        }
        let thread = parse(&file(4, 2), 2).unwrap();
        assert_eq!(
            (thread.process, thread.thread, thread.name.as_str()),
            (7, 8, "lane-high")
        );
        assert_eq!(thread.process_name, "sixteen or more ");
    }

    #[test]
    fn records_overwritten_during_the_read_are_omitted() {
        assert_eq!(details(&parse(&file(4, 11), 12).unwrap()), [9, 10]);
        assert_eq!(details(&parse(&file(4, 11), 99).unwrap()), []);
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(parse(&[], 0), None);
        assert_eq!(parse(&[MAGIC; FRONT_WORDS], 0), None);
        let mut wrong = file(4, 1);
        wrong[word::MAGIC] = MAGIC.swap_bytes();
        assert_eq!(parse(&wrong, 1), None, "another byte order");
        let mut short = file(4, 1);
        short.truncate(FRONT_WORDS + 4);
        assert_eq!(parse(&short, 1), None, "truncated");
        let mut empty = file(4, 1);
        empty[word::CAPACITY] = 0;
        assert_eq!(parse(&empty, 1), None);
    }
}
