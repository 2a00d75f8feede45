// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Point`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Point {
    /// IDL `Point::x`.
    pub x: i32,
    /// IDL `Point::tag`.
    pub tag: u8,
    /// IDL `Point::y`.
    pub y: f64,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Point {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.x, encoder)?;
        ::punctual::rt::Encode::encode(&self.tag, encoder)?;
        ::punctual::rt::Encode::encode(&self.y, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Point {
    const MIN_SIZE: usize = 13;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            x: ::punctual::rt::Decode::decode(decoder)?,
            tag: ::punctual::rt::Decode::decode(decoder)?,
            y: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Point {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.x);
        ::punctual::rt::Reset::reset(&mut self.tag);
        ::punctual::rt::Reset::reset(&mut self.y);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Point {
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
                "IDL:Point:1.0",
                "Point",
                &[
                    ("x", <i32 as ::punctual::rt::Typed>::describe),
                    ("tag", <u8 as ::punctual::rt::Typed>::describe),
                    ("y", <f64 as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
