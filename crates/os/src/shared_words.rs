//! File of words that other processes can read while this one writes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use rustix::fs::{FallocateFlags, fallocate, fstatfs};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// New file in main memory, as words that are written without system calls and page faults.
///
/// The file remains when this is dropped and when the process is killed, so that others can read it
/// afterwards.
#[derive(Debug)]
pub struct SharedWords {
    words: *const AtomicU64,
    count: usize,
    _file: File,
}

// SAFETY: the pointer is to atomics, which any thread may use, and which stay mapped as long as this lives.
unsafe impl Send for SharedWords {}
// SAFETY: as above; all access goes through shared references to atomics.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Creates a file of `count` words, all 0, that only this user can open. All of its memory is allocated
    /// at once.
    ///
    /// The file must not be truncated while it is mapped: a write would end the process (SIGBUS).
    ///
    /// # Errors
    /// The file exists; it is not in a file system in main memory (tmpfs), so that writes could wait for a
    /// disk; or there is not enough memory.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn create(path: &Path, count: usize) -> io::Result<Self> {
        assert!(count > 0, "no words");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        Self::map(file, count).inspect_err(|_| {
            let _ = std::fs::remove_file(path);
        })
    }

    fn map(file: File, count: usize) -> io::Result<Self> {
        const TMPFS: u64 = 0x0102_1994;
        const RAMFS: u64 = 0x8584_58f6;
        // The type of the field differs between architectures.
        #[allow(clippy::unnecessary_cast)]
        let kind = fstatfs(&file)?.f_type as u64;
        if kind != TMPFS && kind != RAMFS {
            let text = "the folder is not in main memory (tmpfs); use one in /dev/shm or /run";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let bytes = count
            .checked_mul(size_of::<AtomicU64>())
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // Allocated now: a later lack of memory would end the process.
        fallocate(&file, FallocateFlags::empty(), 0, bytes as u64)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no existing mapping is affected.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                protection,
                MapFlags::SHARED | MapFlags::POPULATE,
                &file,
                0,
            )
        }?;
        Ok(Self {
            words: start.cast(),
            count,
            _file: file,
        })
    }

    /// Returns the words.
    pub fn as_slice(&self) -> &[AtomicU64] {
        // SAFETY: `count` words are mapped there, aligned to a page, until this is dropped. Other processes
        // may change them at any time, which atomics permit.
        unsafe { std::slice::from_raw_parts(self.words, self.count) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        let bytes = self.count * size_of::<AtomicU64>();
        // SAFETY: exactly this range was mapped, and no reference to it remains.
        let _ = unsafe { munmap(self.words.cast_mut().cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use punctual_fixtures::{Missing, skip, skip_error};

    fn path(name: &str) -> std::path::PathBuf {
        Path::new("/dev/shm").join(format!("punctual-words-{name}-{}", std::process::id()))
    }

    #[test]
    fn the_file_keeps_the_words_after_the_drop() {
        let path = path("kept");
        let words = match SharedWords::create(&path, 1000) {
            Ok(words) => words,
            Err(error) => return skip_error(&error),
        };
        assert!(
            words
                .as_slice()
                .iter()
                .all(|word| word.load(Ordering::Relaxed) == 0)
        );
        words.as_slice()[999].store(0x0102_0304_0506_0708, Ordering::Relaxed);
        let octets = std::fs::read(&path).unwrap();
        assert_eq!(octets.len(), 8000);
        assert_eq!(octets[7992..], 0x0102_0304_0506_0708_u64.to_ne_bytes());
        assert_eq!(
            SharedWords::create(&path, 1).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        drop(words);
        assert_eq!(std::fs::read(&path).unwrap(), octets);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_on_a_disk_is_refused_and_removed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("words-{}", std::process::id()));
        let result = SharedWords::create(&path, 1);
        let left = std::fs::remove_file(&path).is_ok();
        match result {
            Err(error) => {
                assert!(error.to_string().contains("/dev/shm"), "{error}");
                assert!(!left, "the refused file is removed");
            }
            Ok(_) => skip(Missing::Machine, "the sources are in main memory"),
        }
    }
}
