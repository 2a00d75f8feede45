//! Versions of GIOP.

use core::{cmp::Ordering, fmt};

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder};

/// A version of GIOP, or of the IIOP profile that announces it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Version {
    /// Major version; 1 in all existing versions.
    pub major: u8,
    /// Minor version. Higher ones can decode all lower ones.
    pub minor: u8,
}

impl Version {
    /// GIOP 1.0: no fragments, no components in profiles, no code sets.
    pub const V1_0: Self = Self { major: 1, minor: 0 };
    /// GIOP 1.1: adds fragments and components.
    pub const V1_1: Self = Self { major: 1, minor: 1 };
    /// GIOP 1.2: adds interleaved fragments, bodies aligned to 8, and targets other than keys.
    pub const V1_2: Self = Self { major: 1, minor: 2 };

    /// Returns whether this crate supports messages of this version.
    pub const fn is_supported(self) -> bool {
        self.major == 1 && self.minor <= Self::V1_2.minor
    }

    /// Returns the version to use with a peer whose profile has this version: the lower of it and 1.2.
    ///
    /// `None` for another major version. Source: CORBA 3.3 part 2, 9.4.1.
    pub const fn negotiated(self) -> Option<Self> {
        match self {
            Self { major: 1, minor: 3.. } => Some(Self::V1_2),
            Self { major: 1, .. } => Some(self),
            _ => None,
        }
    }
}

/// The order of major, then minor version.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // As one number: a comparison of fields takes several branches, a few times per message.
        let number = |version: &Self| u16::from_be_bytes([version.major, version.minor]);
        number(self).cmp(&number(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Encode for Version {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        encoder.octets(&[self.major, self.minor])
    }
}

impl<'a> Decode<'a> for Version {
    const MIN_SIZE: usize = 2;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            major: u8::decode(decoder)?,
            minor: u8::decode(decoder)?,
        })
    }
}
