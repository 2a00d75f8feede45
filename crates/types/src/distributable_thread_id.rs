//! Ids of distributable threads.

use core::fmt;

/// The id of a distributable thread: globally unique, and the same on every host. It has 16 octets on the
/// wire, the most significant one first. Source: RTCORBA 1.2, `RTScheduling::Current::IdType`.
///
/// Ids are random, so that they cannot be guessed and do not reveal how many exist.
///
/// ```
/// # mod punctual { pub(crate) use punctual_types as rtscheduling; }
/// use punctual::rtscheduling::DistributableThreadId;
///
/// let id = DistributableThreadId(0x2a);
/// assert_eq!(id.to_string(), "0000000000000000000000000000002a");
/// assert_eq!(DistributableThreadId::from_octets(id.to_octets()), id);
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DistributableThreadId(pub u128);

impl DistributableThreadId {
    /// Size on the wire in octets.
    pub const SIZE: usize = 16;

    /// Returns the id in its wire form.
    pub const fn to_octets(self) -> [u8; Self::SIZE] {
        self.0.to_be_bytes()
    }

    /// Creates an id from its wire form.
    pub const fn from_octets(octets: [u8; Self::SIZE]) -> Self {
        Self(u128::from_be_bytes(octets))
    }
}

impl fmt::Debug for DistributableThreadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for DistributableThreadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}
