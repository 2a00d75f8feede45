// Generated from IDL by Punctual; changes here are lost.

/// IDL `enum Colour`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u32)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum Colour {
    /// IDL `red`.
    #[default]
    Red,
    /// IDL `green`.
    Green,
    /// IDL `blue`.
    Blue,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Colour {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&(*self as u32), encoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Colour {
    const MIN_SIZE: usize = 4;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        match <u32 as ::punctual::rt::Decode>::decode(decoder)? {
            0 => Ok(Self::Red),
            1 => Ok(Self::Green),
            2 => Ok(Self::Blue),
            _ => Err(decoder.error(::punctual::rt::CdrErrorKind::EnumOutOfRange)),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Colour {
    fn reset(&mut self) {
        *self = ::core::default::Default::default();
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Colour {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(_: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::enumeration(
            "IDL:Colour:1.0",
            "Colour",
            ["red", "green", "blue"],
        )
    }
}
