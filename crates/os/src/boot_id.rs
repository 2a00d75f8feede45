//! Identification of the current boot of the kernel.

use std::{fs, io};

/// Returns the id that the kernel drew when it booted: it changes with each boot, and differs between hosts.
///
/// ```
/// assert_eq!(punctual_os::boot_id()?.len(), 36);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn boot_id() -> io::Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim_ascii_end().to_owned())
}
