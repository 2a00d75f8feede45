// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Point`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Point {
    /// IDL `Point::x`.
    pub x: i32,
    /// IDL `Point::tag`.
    pub tag: u8,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Point {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.x, encoder)?;
        ::punctual::rt::Encode::encode(&self.tag, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Point {
    const MIN_SIZE: usize = 5;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            x: ::punctual::rt::Decode::decode(decoder)?,
            tag: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Point {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.x);
        ::punctual::rt::Reset::reset(&mut self.tag);
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
                ],
            )
    }
}
/// IDL `struct Named`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Named {
    /// IDL `Named::x`.
    pub x: i32,
    /// IDL `Named::tag`.
    pub tag: u8,
    /// IDL `Named::name`.
    pub name: ::std::string::String,
}
/// The members of the base.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<&Named> for Point {
    fn from(derived: &Named) -> Self {
        Self {
            x: derived.x.clone(),
            tag: derived.tag.clone(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Named {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.x, encoder)?;
        ::punctual::rt::Encode::encode(&self.tag, encoder)?;
        ::punctual::rt::Encode::encode(&self.name, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Named {
    const MIN_SIZE: usize = 9;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            x: ::punctual::rt::Decode::decode(decoder)?,
            tag: ::punctual::rt::Decode::decode(decoder)?,
            name: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.x, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.tag, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.name, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Named {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.x);
        ::punctual::rt::Reset::reset(&mut self.tag);
        ::punctual::rt::Reset::reset(&mut self.name);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Named {
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
                "IDL:Named:1.0",
                "Named",
                &[
                    ("x", <i32 as ::punctual::rt::Typed>::describe),
                    ("tag", <u8 as ::punctual::rt::Typed>::describe),
                    ("name", <::std::string::String as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for NamedView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Named as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Named as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Named`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct NamedView<'a> {
    /// IDL `Named::x`.
    pub x: i32,
    /// IDL `Named::tag`.
    pub tag: u8,
    /// IDL `Named::name`.
    pub name: &'a str,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for NamedView<'a> {
    const MIN_SIZE: usize = 9;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            x: ::punctual::rt::Decode::decode(decoder)?,
            tag: ::punctual::rt::Decode::decode(decoder)?,
            name: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl NamedView<'_> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Named {
        Named {
            x: ::core::clone::Clone::clone(&self.x),
            tag: ::core::clone::Clone::clone(&self.tag),
            name: ::std::string::String::from(self.name),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<NamedView<'_>> for Named {
    fn from(view: NamedView<'_>) -> Self {
        view.to_owned()
    }
}
