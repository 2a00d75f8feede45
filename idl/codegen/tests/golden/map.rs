// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Settings`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Settings {
    /// IDL `Settings::values`.
    pub values: ::std::collections::BTreeMap<
        ::std::string::String,
        ::std::vec::Vec<f64>,
    >,
    /// IDL `Settings::few`.
    pub few: ::punctual::rt::BoundedMap<i32, ::std::string::String, 8>,
    /// IDL `Settings::small`.
    pub small: i8,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Settings {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.values, encoder)?;
        ::punctual::rt::Encode::encode(&self.few, encoder)?;
        ::punctual::rt::Encode::encode(&self.small, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Settings {
    const MIN_SIZE: usize = 9;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            values: ::punctual::rt::Decode::decode(decoder)?,
            few: ::punctual::rt::Decode::decode(decoder)?,
            small: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.values, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.few, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.small, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Settings {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.values);
        ::punctual::rt::Reset::reset(&mut self.few);
        ::punctual::rt::Reset::reset(&mut self.small);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Settings {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .structure(
                "IDL:Settings:1.0",
                "Settings",
                &[
                    (
                        "values",
                        <::std::collections::BTreeMap<
                            ::std::string::String,
                            ::std::vec::Vec<f64>,
                        > as ::punctual::rt::Typed>::describe,
                    ),
                    (
                        "few",
                        <::punctual::rt::BoundedMap<
                            i32,
                            ::std::string::String,
                            8,
                        > as ::punctual::rt::Typed>::describe,
                    ),
                    ("small", <i8 as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
