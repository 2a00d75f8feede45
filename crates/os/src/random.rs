//! Unpredictable random numbers.

use std::io;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// Fills `octets` from the kernel's generator (getrandom). Waits, without a deadline, if the generator is not
/// ready yet because the system has just started.
///
/// ```
/// let (mut first, mut second) = ([0; 16], [0; 16]);
/// punctual_os::random::fill(&mut first)?;
/// punctual_os::random::fill(&mut second)?;
/// assert_ne!(first, second);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// A sandbox refuses the call.
pub fn fill(octets: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < octets.len() {
        match getrandom(&mut octets[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
