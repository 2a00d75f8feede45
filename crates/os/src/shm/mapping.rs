//! Sealed memory files and their mappings.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// Shared memory at a page-aligned address chosen by the kernel; unmapped when dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

pub(super) const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

impl Mapping {
    /// Creates memory, all zeros, with a sealed size and resident from the start; returns it with its
    /// descriptor.
    pub(super) fn create(length: usize) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = rustix::fs::memfd_create(c"punctual", flags | MemfdFlags::NOEXEC_SEAL)
            // The last flag exists from Linux 6.3.
            .or_else(|_| rustix::fs::memfd_create(c"punctual", flags))?;
        // A lack of memory is an error here instead of a signal at the first access.
        rustix::fs::fallocate(&memory, FallocateFlags::empty(), 0, length as u64)?;
        rustix::fs::fcntl_add_seals(&memory, SEALS)?;
        Ok((Self::new(&memory, length)?, memory))
    }

    pub(super) fn new(memory: impl AsFd, length: usize) -> io::Result<Self> {
        // SAFETY: the kernel chooses the address, so no existing mapping is affected.
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
        // SAFETY: it was mapped with this length, and only the owner of `self` has pointers into it.
        // It can only fail for addresses that were never mapped.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Returns the size of memory received from a peer, if the peer can no longer change the size.
pub(super) fn sealed_length(memory: BorrowedFd<'_>) -> Result<i64, SegmentError> {
    // In this order: a request for the size may already block for another kind of file.
    let seals = rustix::fs::fcntl_get_seals(memory).map_err(|_| SegmentError::NotSealed)?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return Err(SegmentError::NotSealed);
    }
    // Huge pages can run out after the size has been sealed; an access would then end the process.
    if rustix::fs::fstatfs(memory)?.f_type != TMPFS_MAGIC {
        return Err(SegmentError::NotSealed);
    }
    Ok(rustix::fs::fstat(memory)?.st_size)
}

const TMPFS_MAGIC: rustix::fs::FsWord = 0x0102_1994;

/// Error for memory that [`super::Segment::create`] has not made.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The peer could shrink the memory.
    #[error("the peer's memory is not a memfd sealed against shrinking and growing; it has been rejected")]
    NotSealed,
    /// The size is not that of a segment.
    #[error("the peer's memory has {0} octets, which is not the size of a segment; it has been rejected")]
    Size(i64),
    /// It cannot be inspected or mapped.
    #[error("the peer's memory cannot be mapped: {0}")]
    Map(#[from] io::Error),
}

impl From<rustix::io::Errno> for SegmentError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Map(error.into())
    }
}
