use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// Shared memory at an address of the kernel's choice, aligned to a page; unmapped when dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

pub(super) const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

impl Mapping {
    /// New memory, all zeros, with a sealed size and resident from the start; and its descriptor.
    pub(super) fn create(length: usize) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = rustix::fs::memfd_create(c"punctual", flags | MemfdFlags::NOEXEC_SEAL)
            // The last flag is known from Linux 6.3 on.
            .or_else(|_| rustix::fs::memfd_create(c"punctual", flags))?;
        // Memory that is not there is an error now, and not a signal at the first access.
        rustix::fs::fallocate(&memory, FallocateFlags::empty(), 0, length as u64)?;
        rustix::fs::fcntl_add_seals(&memory, SEALS)?;
        Ok((Self::new(&memory, length)?, memory))
    }

    pub(super) fn new(memory: impl AsFd, length: usize) -> io::Result<Self> {
        // SAFETY: at an address of the kernel's choice, so nothing that exists is touched.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                memory,
                0,
            )?
        };
        Ok(Self {
            start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?,
            length,
        })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and only whoever owns it has pointers into it.
        // It fails for addresses only that were never mapped.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// The size of memory that a peer has handed over and cannot take away any more.
pub(super) fn sealed_length(memory: BorrowedFd<'_>) -> Result<i64, SegmentError> {
    // In this order: asking a descriptor of another kind for its size may already block.
    let seals = rustix::fs::fcntl_get_seals(memory).map_err(|_| SegmentError::NotSealed)?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return Err(SegmentError::NotSealed);
    }
    // Huge pages can run out after the size is sealed, and then an access ends the process.
    if rustix::fs::fstatfs(memory)?.f_type != TMPFS_MAGIC {
        return Err(SegmentError::NotSealed);
    }
    Ok(rustix::fs::fstat(memory)?.st_size)
}

const TMPFS_MAGIC: rustix::fs::FsWord = 0x0102_1994;

/// Memory that is not what [`super::Segment::create`] makes.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The peer could take the memory away.
    #[error("the peer's memory is no memfd sealed against shrinking and growing: it is not used")]
    NotSealed,
    /// Not the size of two rings.
    #[error("the peer's memory of {0} octets is not of the size of a segment: it is not used")]
    Size(i64),
    /// It cannot be looked at or mapped.
    #[error("the peer's memory cannot be mapped: {0}")]
    Map(#[from] io::Error),
}

impl From<rustix::io::Errno> for SegmentError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Map(error.into())
    }
}
