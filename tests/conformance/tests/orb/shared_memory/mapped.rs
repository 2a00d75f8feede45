//! Writing to memory that this process has mapped, where neither side of the connection permits it: sealed
//! memory cannot be written to through its descriptor.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::{FileExt, MetadataExt},
};

/// One mapping of a memory file in this process.
pub struct Mapped {
    process: File,
    start: u64,
}

/// Addresses at which this process has mapped a memory file.
pub fn addresses(memory: &File) -> Vec<u64> {
    let inode = memory.metadata().unwrap().ino().to_string();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let start = |line: &str| {
        let mut fields = line.split_whitespace();
        let range = fields.next()?;
        let is_own = fields.nth(3)? == inode && line.contains("memfd:punctual");
        is_own.then(|| u64::from_str_radix(range.split('-').next().unwrap(), 16).unwrap())
    };
    maps.lines().filter_map(start).collect()
}

impl Mapped {
    /// The only mapping of the memory beside `others`.
    pub fn find(memory: &File, others: &[u64]) -> Self {
        let mut own = addresses(memory);
        own.retain(|start| !others.contains(start));
        let [start] = own[..] else {
            panic!("one new mapping: {own:?}")
        };
        let process = OpenOptions::new().read(true).write(true).open("/proc/self/mem");
        Self {
            process: process.unwrap(),
            start,
        }
    }

    pub fn write_all_at(&self, octets: &[u8], at: u64) {
        self.process.write_all_at(octets, self.start + at).unwrap();
    }
}
