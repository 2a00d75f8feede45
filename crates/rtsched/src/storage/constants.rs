//! Constants of keys.

/// Maximum number of keys of a process; POSIX keys are limited to 1,024 in the GNU C library.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::MAX_KEYS;
///
/// /// Keys that the plug-ins of this program may create.
/// const PLUG_IN_KEYS: usize = 200;
/// const _: () = assert!(PLUG_IN_KEYS <= MAX_KEYS);
/// ```
pub const MAX_KEYS: usize = 16_384;

/// Generation that no key has.
pub(super) const UNSET: u32 = 0;
