/// The order of the octets of a number, as the flags of a message or the first octet of an encapsulation say it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Endian {
    /// Most significant octet first; 0 on the wire.
    Big,
    /// Least significant octet first; 1 on the wire.
    Little,
}

impl Endian {
    /// The order of this machine, in which we send.
    pub const NATIVE: Self = if cfg!(target_endian = "big") {
        Self::Big
    } else {
        Self::Little
    };

    /// The order that bit 0 of a flags octet stands for.
    pub const fn from_flag(flags: u8) -> Self {
        if flags & 1 == 0 { Self::Big } else { Self::Little }
    }

    /// 0 or 1, as on the wire.
    pub const fn flag(self) -> u8 {
        match self {
            Self::Big => 0,
            Self::Little => 1,
        }
    }

    /// Whether numbers must be turned round on this machine.
    pub const fn is_foreign(self) -> bool {
        self.flag() != Self::NATIVE.flag()
    }
}
