// Generated from IDL by Punctual; changes here are lost.

/// `@bit_bound(8)`
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Flags(pub u8);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl Flags {
    /// IDL `Flags::READY`.
    pub const READY: Self = Self(1 << 0);
    /// Needs attention.
    /// `@position(3)`
    pub const FAULTY: Self = Self(1 << 3);
    /// Whether all flags of the other one are set here.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::BitAnd for Flags {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Sub for Flags {
    type Output = Self;
    /// The flags that are not set in the other one.
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Flags {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        let bits: ::core::option::Option<u8> = Some(self.0);
        let bits = bits
            .ok_or_else(|| {
                encoder.error(::punctual::rt::CdrErrorKind::ValueNotRepresentable)
            })?;
        ::punctual::rt::Encode::encode(&bits, encoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Flags {
    const MIN_SIZE: usize = 1;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        let bits = <u8 as ::punctual::rt::Decode>::decode(decoder)?;
        Ok(Self(bits))
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Flags {
    fn reset(&mut self) {
        *self = ::core::default::Default::default();
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Flags {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::alias(
            "IDL:Flags:1.0",
            "Flags",
            <u8 as ::punctual::rt::Typed>::describe(enclosing),
        )
    }
}
/// IDL `bitset Status`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Status {
    /// IDL `Status::level`.
    pub level: i16,
    /// IDL `Status::valid`.
    pub valid: bool,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Status {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        let bits: ::core::option::Option<u8> = Some(0_u64)
            .and_then(|bits| Some(
                bits | ::punctual::rt::pack_bits(self.level.into(), 4, true)? << 0,
            ))
            .and_then(|bits| Some(
                bits | ::punctual::rt::pack_bits(self.valid.into(), 1, false)? << 4,
            ))
            .map(|bits| bits as u8);
        let bits = bits
            .ok_or_else(|| {
                encoder.error(::punctual::rt::CdrErrorKind::ValueNotRepresentable)
            })?;
        ::punctual::rt::Encode::encode(&bits, encoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Status {
    const MIN_SIZE: usize = 1;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        let bits = <u8 as ::punctual::rt::Decode>::decode(decoder)?;
        Ok(Self {
            level: ::punctual::rt::unpack_bits(bits.into(), 0, 4, true) as i16,
            valid: ::punctual::rt::unpack_bits(bits.into(), 4, 1, false) != 0,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Status {
    fn reset(&mut self) {
        *self = ::core::default::Default::default();
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Status {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::alias(
            "IDL:Status:1.0",
            "Status",
            <u8 as ::punctual::rt::Typed>::describe(enclosing),
        )
    }
}
