//! Constants of keys.

/// Maximum number of keys of a process; POSIX keys are limited to 1,024 in the GNU C library.
pub const MAX_KEYS: usize = 16_384;

/// Generation that no key has.
pub(super) const UNSET: u32 = 0;
