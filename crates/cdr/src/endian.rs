//! Byte order.

/// The byte order of numbers, stated by the flags of a message or the first octet of an encapsulation.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// use punctual::value::{Encode, Encoder, Endian};
///
/// let mut octets = Vec::new();
/// 1_u32.encode(&mut Encoder::new(&mut octets, Endian::Big))?;
/// assert_eq!(octets, [0, 0, 0, 1]);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Endian {
    /// Most significant octet first; 0 on the wire.
    Big,
    /// Least significant octet first; 1 on the wire.
    Little,
}

impl Endian {
    /// The byte order of this machine, which is also that of sent messages.
    pub const NATIVE: Self = if cfg!(target_endian = "big") {
        Self::Big
    } else {
        Self::Little
    };

    /// Returns the byte order that bit 0 of a flags octet states.
    pub const fn from_flag(flags: u8) -> Self {
        if flags & 1 == 0 { Self::Big } else { Self::Little }
    }

    /// Returns 0 or 1, as on the wire.
    pub const fn flag(self) -> u8 {
        match self {
            Self::Big => 0,
            Self::Little => 1,
        }
    }

    /// Returns whether numbers must be byte-swapped on this machine.
    pub const fn is_foreign(self) -> bool {
        self.flag() != Self::NATIVE.flag()
    }
}
