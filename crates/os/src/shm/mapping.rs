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

/// The size does not change.
pub(super) const FIXED_SIZE: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);
/// No part of the memory is released while it is mapped: a hole would be filled at the next access, which
/// takes long, and ends the process if there is no memory. The kernel permits no other mapping to write from
/// then on.
pub(super) const WITHOUT_HOLES: SealFlags = SealFlags::FUTURE_WRITE.union(SealFlags::SEAL);

impl Mapping {
    /// Creates memory, all zeros, with a sealed size and resident from the start; returns it with its
    /// descriptor.
    pub(super) fn create(length: usize) -> io::Result<(Self, OwnedFd)> {
        let memory = sealable()?;
        allocate(&memory, length)?;
        rustix::fs::fcntl_add_seals(&memory, FIXED_SIZE)?;
        Ok((Self::new(&memory, length)?, memory))
    }

    /// Creates memory, all zeros, with a sealed size, of which only the first octets are allocated; returns
    /// it with its descriptor.
    pub(super) fn reserve(length: usize, allocated: usize) -> io::Result<(Self, OwnedFd)> {
        let memory = sealable()?;
        allocate(&memory, allocated)?;
        rustix::fs::ftruncate(&memory, length as u64)?;
        rustix::fs::fcntl_add_seals(&memory, FIXED_SIZE)?;
        Ok((Self::map(&memory, length, MapFlags::SHARED)?, memory))
    }

    /// Makes all of the memory resident: no access from then on fails or waits, provided that no part of it
    /// can be released from now on.
    pub(super) fn make_resident(&self, memory: impl AsFd) -> io::Result<()> {
        // A lack of memory is an error here instead of a signal at the first access.
        allocate(memory, self.length)?;
        // SAFETY: the whole mapping, which belongs to `self`; its contents do not change. It can fail in
        // kernels before 5.14: then each page is mapped at its first access.
        let _ = unsafe {
            rustix::mm::madvise(
                self.start.as_ptr().cast(),
                self.length,
                rustix::mm::Advice::LinuxPopulateWrite,
            )
        };
        Ok(())
    }

    pub(super) fn new(memory: impl AsFd, length: usize) -> io::Result<Self> {
        Self::map(memory, length, MapFlags::SHARED | MapFlags::POPULATE)
    }

    fn map(memory: impl AsFd, length: usize, flags: MapFlags) -> io::Result<Self> {
        // SAFETY: the kernel chooses the address, so no existing mapping is affected.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
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

fn sealable() -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = rustix::fs::memfd_create(c"punctual", flags | MemfdFlags::NOEXEC_SEAL)
        // The last flag exists from Linux 6.3.
        .or_else(|_| rustix::fs::memfd_create(c"punctual", flags))?;
    Ok(memory)
}

fn allocate(memory: impl AsFd, length: usize) -> io::Result<()> {
    Ok(rustix::fs::fallocate(
        memory,
        FallocateFlags::empty(),
        0,
        length as u64,
    )?)
}

/// Returns the size of memory received from a peer, if the peer can no longer change the size.
pub(super) fn sealed_length(memory: BorrowedFd<'_>) -> Result<i64, SegmentError> {
    // In this order: a request for the size may already block for another kind of file.
    let seals = rustix::fs::fcntl_get_seals(memory).map_err(|_| SegmentError::NotSealed)?;
    if !seals.contains(FIXED_SIZE) {
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
#[derive(thiserror::Error)]
pub enum SegmentError {
    /// The peer could shrink the memory.
    #[error("the peer's memory is not a memfd sealed against shrinking and growing; it has been rejected")]
    NotSealed,
    /// The peer could release parts of the memory, or has sealed it so that this cannot be prevented.
    #[error("the peer's memory is not sealed against holes (Linux 5.1); it has been rejected")]
    Holes,
    /// The size is not that of a segment.
    #[error("the peer's memory has {0} octets, which is not the size of a segment; it has been rejected")]
    Size(i64),
    /// It cannot be inspected or mapped.
    #[error("the peer's memory cannot be mapped: {0}")]
    Map(#[from] io::Error),
}

punctual_types::debug_as_display!(SegmentError);

impl From<rustix::io::Errno> for SegmentError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Map(error.into())
    }
}
