use core::fmt;

/// The id of a distributable thread: the same on every host, and no other thread's anywhere. 16 octets on the wire, the first one
/// the most significant. Source: RT-CORBA 1.2, `RTScheduling::Current::IdType`.
///
/// Ids are drawn at random, so they tell nobody how many there are, and nobody can guess one.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DistributableThreadId(pub u128);

impl DistributableThreadId {
    /// How many octets it has on the wire.
    pub const SIZE: usize = 16;

    /// As it stands on the wire.
    pub const fn to_octets(self) -> [u8; Self::SIZE] {
        self.0.to_be_bytes()
    }

    /// From what stands on the wire.
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
