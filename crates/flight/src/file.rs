//! The files that a recorder leaves.
//!
//! 64-bit words in the byte order of the machine. First 8 words of head:
//!
//! | word | what |
//! |---|---|
//! | 0 | [`MAGIC`]: also says the byte order and the version |
//! | 1 | the process in the upper half, the thread in the lower one |
//! | 2 | how many records there is room for |
//! | 3 | how many have been written since the start |
//! | 4, 5 | the name of the thread, 16 octets, filled up with zeroes |
//! | 6, 7 | likewise that of the process: of its first thread |
//!
//! Then the records of 4 words. Record number `n` lies at `n` modulo the room:
//!
//! | word | what |
//! |---|---|
//! | 0 | nanoseconds of CLOCK_MONOTONIC |
//! | 1 | bits 0-7 the event ([`Event`](crate::Event)), 16-31 the CORBA priority (-1: none), 32-63 the request id |
//! | 2 | bits 0-15 the own port, 16-31 the peer's, 32-63 a number made of both addresses, or of the connection in its process |
//! | 3 | the detail |
//!
//! A record [of a text](Record::of_text) has octets 0 to 7 of it in word 2, 8 to 15 in word 3 and 16 to 19 in bits 32-63 of word 1,
//! the lowest bits first.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use crate::Record;

/// "PUNFLT", version 1.
pub const MAGIC: u64 = 0x5055_4e46_4c54_0001;
/// Words before the first record.
pub const HEAD_WORDS: usize = 8;
/// What names of such files end with.
pub const EXTENSION: &str = "flight";

/// Of a name in the head.
const NAME_WORDS: usize = 2;

pub(crate) mod word {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const TASK: usize = 1;
    pub(crate) const ROOM: usize = 2;
    pub(crate) const WRITTEN: usize = 3;
    pub(crate) const NAME: usize = 4;
    pub(crate) const PROCESS_NAME: usize = 6;
}

/// What one thread has recorded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ThreadRecords {
    /// The kernel's number of its process.
    pub process: i32,
    /// What the process is called, cut to 15 octets by the kernel.
    pub process_name: String,
    /// The kernel's number of the thread.
    pub thread: i32,
    /// The name it had when it recorded first.
    pub name: String,
    /// The oldest first.
    pub records: Vec<Record>,
    /// How many older ones have been overwritten.
    pub overwritten: u64,
}

/// Reads all files of a folder; threads that recorded nothing are left out. The threads may be recording meanwhile.
///
/// # Errors
/// The folder or a file cannot be read, or a file with the right name is none of ours.
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
/// It cannot be read, or is none of ours.
pub fn read(path: &Path) -> io::Result<ThreadRecords> {
    // In this order: the count of the second reading says which records of the first one may have been overwritten.
    let first = words(&std::fs::read(path)?);
    let second = words(&std::fs::read(path)?);
    let written = |words: &[u64]| words.get(word::WRITTEN).copied();
    let parsed = written(&second).and_then(|later| parse(&first, later));
    parsed.ok_or_else(|| {
        let text = format!(
            "{} is no file of a flight recorder of this version",
            path.display()
        );
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

fn words(octets: &[u8]) -> Vec<u64> {
    let words = octets.chunks_exact(size_of::<u64>());
    words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight octets")))
        .collect()
}

/// `written_later` is the count after the words were read.
fn parse(words: &[u64], written_later: u64) -> Option<ThreadRecords> {
    let (head, records) = words.split_at_checked(HEAD_WORDS)?;
    let room = head[word::ROOM];
    if head[word::MAGIC] != MAGIC || room == 0 || records.len() as u64 / Record::WORDS as u64 != room {
        return None;
    }
    let written = head[word::WRITTEN];
    // The record being written at that moment overwrites one that still counts as there.
    let oldest = written_later.saturating_sub(room - 1).min(written);
    let records = (oldest..written).filter_map(|number| {
        let at = (number % room) as usize * Record::WORDS;
        Record::from_words(records[at..at + Record::WORDS].try_into().expect("four words"))
    });
    Some(ThreadRecords {
        process: (head[word::TASK] >> 32) as i32,
        process_name: name(&head[word::PROCESS_NAME..][..NAME_WORDS]),
        thread: head[word::TASK] as u32 as i32,
        name: name(&head[word::NAME..][..NAME_WORDS]),
        records: records.collect(),
        overwritten: oldest,
    })
}

/// What [`name_words`] was made of.
fn name(words: &[u64]) -> String {
    let octets = words.iter().flat_map(|word| word.to_ne_bytes());
    let octets: Vec<u8> = octets.take_while(|octet| *octet != 0).collect();
    String::from_utf8_lossy(&octets).into_owned()
}

/// A name as it stands in the head: as many octets of it as there is room for.
pub(crate) fn name_words(name: &str) -> [u64; NAME_WORDS] {
    let mut octets = [0; NAME_WORDS * size_of::<u64>()];
    for (octet, of_name) in octets.iter_mut().zip(name.bytes()) {
        *octet = of_name;
    }
    let word = |place: usize| {
        let octets = &octets[place * size_of::<u64>()..][..size_of::<u64>()];
        u64::from_ne_bytes(octets.try_into().expect("eight octets"))
    };
    std::array::from_fn(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    /// A file after `written` records, whose details are their numbers.
    fn file(room: u64, written: u64) -> Vec<u64> {
        let mut words = vec![0; HEAD_WORDS + room as usize * Record::WORDS];
        words[word::MAGIC] = MAGIC;
        words[word::TASK] = 7 << 32 | 8;
        words[word::ROOM] = room;
        words[word::WRITTEN] = written;
        words[word::NAME..word::NAME + NAME_WORDS].copy_from_slice(&name_words("lane-high"));
        words[word::PROCESS_NAME..HEAD_WORDS].copy_from_slice(&name_words("sixteen or more octets"));
        for number in written.saturating_sub(room)..written {
            let at = HEAD_WORDS + (number % room) as usize * Record::WORDS;
            let record = Record::new(Event::Read).detail(number).to_words();
            words[at..at + Record::WORDS].copy_from_slice(&record);
        }
        words
    }

    fn details(thread: &ThreadRecords) -> Vec<u64> {
        thread.records.iter().map(|record| record.detail).collect()
    }

    #[test]
    fn all_records_come_back_in_order_until_the_ring_is_full() {
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
    fn what_was_overwritten_while_it_was_read_is_left_out() {
        assert_eq!(details(&parse(&file(4, 11), 12).unwrap()), [9, 10]);
        assert_eq!(details(&parse(&file(4, 11), 99).unwrap()), []);
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(parse(&[], 0), None);
        assert_eq!(parse(&[MAGIC; HEAD_WORDS], 0), None);
        let mut wrong = file(4, 1);
        wrong[word::MAGIC] = MAGIC.swap_bytes();
        assert_eq!(parse(&wrong, 1), None, "another byte order");
        let mut short = file(4, 1);
        short.truncate(HEAD_WORDS + 4);
        assert_eq!(parse(&short, 1), None, "cut off");
        let mut roomless = file(4, 1);
        roomless[word::ROOM] = 0;
        assert_eq!(parse(&roomless, 1), None);
    }
}
