//! Where the octets of values of unknown types have been copied to.

use core::ops::Range;

/// Octets of a value that have been copied together.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct CopiedOctets {
    /// Position of the tag of the value.
    pub tag: usize,
    /// Positions of the octets in the other message.
    pub octets: Range<usize>,
    /// Position at which they begin here.
    pub begin: usize,
}

impl CopiedOctets {
    /// Returns the position of the copy of what is at this position of the other message, if it is among
    /// these octets, which are in ascending order.
    pub fn find(among: &[Self], position: usize) -> Option<usize> {
        let index = among.partition_point(|copied| copied.octets.end <= position);
        let copied = among
            .get(index)
            .filter(|copied| copied.octets.contains(&position))?;
        Some(position - copied.octets.start + copied.begin)
    }
}
